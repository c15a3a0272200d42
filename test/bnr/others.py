#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of other MPI libraries: mpiexec and its daemons serve PMI-1.

usage: others.py MPIEXEC WORK FOLDER
       others.py hosts MPIEXEC FOLDER WORD...     in a network of hosts: WORDs reach them
       others.py rank TASK [WORD...]              as a rank

Ranks that speak PMI-1 by themselves, well and badly; and programs of Debian's MPICH, and of Open MPI, where these are
installed. WORK is test/bnr/work.c; programs are compiled in FOLDER.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

LIMIT = 60 # seconds
SELF = os.path.abspath(__file__)


# ---- as a rank ----

class Pmi:
    def __init__(self):
        self.socket = socket.socket(fileno=os.dup(int(os.environ["PMI_FD"])))
        self.rank, self.size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
        self.bytes = b""
        assert self.ask("init pmi_version=1 pmi_subversion=1")["rc"] == "0"
        self.space = self.ask("get_my_kvsname")["kvsname"]

    def say(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def hear(self):
        while b"\n" not in self.bytes:
            more = self.socket.recv(4096)
            if not more:
                sys.exit("mpiexec has hung up")
            self.bytes += more
        line, self.bytes = self.bytes.split(b"\n", 1)
        return dict(word.partition("=")[::2] for word in line.decode().split(" "))

    def ask(self, text):
        self.say("cmd=" + text)
        return self.hear()

    def put(self, key, value):
        assert self.ask(f"put kvsname={self.space} key={key} value={value}")["rc"] == "0"

    def get(self, key):
        told = self.ask(f"get kvsname={self.space} key={key}")
        return told["value"] if told["rc"] == "0" else None

    def barrier(self):
        told = self.ask("barrier_in")
        assert told["cmd"] == "barrier_out"
        return told.get("rc", "0")

    def finalize(self):
        assert self.ask("finalize")["cmd"] == "finalize_ack"


def value_of(rank, number):
    return f"{rank}.{number}." + "x" * (880 if number else 5)


def keys():
    """Each rank finds what each has put: short values, and some that no fence carries."""
    pmi = Pmi()
    for number in range(3):
        pmi.put(f"k{pmi.rank}.{number}", value_of(pmi.rank, number))
    assert pmi.barrier() == "0"
    for rank in range(pmi.size):
        for number in range(3):
            assert pmi.get(f"k{rank}.{number}") == value_of(rank, number), (rank, number)
    assert pmi.get("none") is None
    mapping = pmi.get("PMI_process_mapping")
    assert pmi.barrier() == "0"
    pmi.finalize()
    print(f"rank {pmi.rank} of {pmi.size} {mapping}")


class Pmi2:
    def __init__(self):
        self.socket = socket.socket(fileno=os.dup(int(os.environ["PMI_FD"])))
        self.socket.sendall(b"cmd=init pmi_version=2 pmi_subversion=0\n")
        assert self.take(60).endswith(b"rc=0\n")
        told = self.ask("fullinit;pmijobid=0;pmirank=0;threaded=FALSE")
        self.rank, self.size = int(told["rank"]), int(told["size"])

    def take(self, count):
        data = b""
        while len(data) < count and not data.endswith(b"rc=0\n"):
            data += self.socket.recv(count - len(data)) or sys.exit("mpiexec has hung up")
        return data

    def ask(self, text):
        request = f"cmd={text};".encode()
        self.socket.sendall(b"%6d" % len(request) + request)
        return dict(f.partition("=")[::2] for f in self.take(int(self.take(6))).decode().split(";"))


def frames():
    """PMI-2: keys of the job and of a host."""
    pmi = Pmi2()
    node = pmi.ask("info-getjobattr;key=PMI_process_mapping")
    assert pmi.ask(f"kvs-put;key=k{pmi.rank};value={value_of(pmi.rank, 1)}")["rc"] == "0"
    if int(os.environ["MPI_LOCALRANKID"]) == 0:
        time.sleep(0.2)
        assert pmi.ask(f"info-putnodeattr;key=n;value={pmi.rank}")["rc"] == "0"
    told = pmi.ask("info-getnodeattr;key=n;wait=TRUE")
    assert int(told["value"]) == min(r for r in range(pmi.size) if host_of(node["value"], r) == host_of(node["value"], pmi.rank))
    assert pmi.ask("kvs-fence")["rc"] == "0"
    for rank in range(pmi.size):
        assert pmi.ask(f"kvs-get;jobid=;srcid=-1;key=k{rank}")["value"] == value_of(rank, 1)
    assert pmi.ask("kvs-get;jobid=;srcid=-1;key=none")["found"] == "FALSE"
    assert pmi.ask("kvs-fence")["rc"] == "0"
    assert pmi.ask("finalize")["rc"] == "0"
    print(f"rank {pmi.rank} of {pmi.size}")


def host_of(mapping, rank):
    """By PMI_process_mapping."""
    for block in mapping[len("(vector,("):-2].split("),("):
        first, nodes, ranks = map(int, block.split(","))
        if rank < nodes * ranks:
            return first + rank // ranks
        rank -= nodes * ranks
    raise SystemExit("the mapping is too short")


def names():
    pmi = Pmi()
    service = f"others.{os.environ['BNR_JOB']}"
    if pmi.rank == pmi.size - 1:
        assert pmi.ask(f"publish_name service={service} port=tag#1$x=y$")["rc"] == "0"
        assert pmi.ask(f"publish_name service={service} port=p")["rc"] == "1"
    pmi.barrier()
    told = pmi.ask(f"lookup_name service={service}")
    assert told["rc"] == "0" and told["port"] == "tag#1$x=y$", told
    assert pmi.ask("lookup_name service=none")["rc"] == "1"
    pmi.barrier()
    if pmi.rank == pmi.size - 1:
        assert pmi.ask(f"unpublish_name service={service}")["rc"] == "0"
    pmi.finalize()
    print(f"rank {pmi.rank} of {pmi.size}")


def order_spawn(pmi, count, *words, more=("preput_num=0",)):
    arguments = [SELF, "rank", *words]
    lines = ["mcmd=spawn", f"nprocs={count}", f"execname={sys.executable}", "totspawns=1", "spawnssofar=1",
             *(f"arg{i}={word}" for i, word in enumerate(arguments, 1)), f"argcnt={len(arguments)}", *more, "info_num=0",
             "endcmd"]
    pmi.say("\n".join(lines))
    assert pmi.hear()["rc"] == "0"


def tied():
    """A job that this one has spawned aborts."""
    pmi = Pmi()
    if os.environ["PMI_SPAWNED"] == "1":
        time.sleep(0.5)
        pmi.say("cmd=abort exitcode=9")
    else:
        order_spawn(pmi, 1, "tied")
    time.sleep(LIMIT)


def spawn(*words):
    """The last rank spawns two children, which find what it has left for them."""
    pmi = Pmi()
    if "PMI_SPAWNED" in os.environ and os.environ["PMI_SPAWNED"] == "1":
        port = pmi.get("PARENT_ROOT_PORT_NAME")
        pmi.barrier()
        print(f"child {pmi.rank} of {pmi.size} {port} {' '.join(words)} {os.getcwd()}", flush=True)
    elif pmi.rank == pmi.size - 1:
        os.chdir("/usr")
        order_spawn(pmi, 2, "spawn", "a b", more=("preput_num=1", "preput_key_0=PARENT_ROOT_PORT_NAME",
                                                  "preput_val_0=tag#0$x=y$"))
    pmi.finalize()


def again():
    """A process that begins again, after another one of its rank has ended."""
    for word in "ab":
        subprocess.run([sys.executable, SELF, "rank", "once", word], check=True, close_fds=False)


def once(word):
    pmi = Pmi()
    if pmi.rank == 0 and word == "a":
        pmi.put("once", "a")
    pmi.barrier()
    assert pmi.get("once") == ("a" if word == "a" else None)
    pmi.barrier()
    pmi.finalize()
    print(f"{word} {pmi.rank}", flush=True)


def leave():
    pmi = Pmi()
    if pmi.rank == 1:
        sys.exit(0)
    time.sleep(LIMIT)


def miss():
    """A fence that a rank does not come to."""
    pmi = Pmi()
    if pmi.rank == 1:
        pmi.finalize()
    else:
        assert pmi.barrier() == "-1"
        pmi.finalize()


def wait():
    """A fence whose end this does not heed, as MPICH does not."""
    Pmi().barrier()
    time.sleep(LIMIT)


def abort():
    pmi = Pmi()
    pmi.barrier()
    if pmi.rank == 1:
        pmi.say("cmd=abort exitcode=7 message=no way out")
    time.sleep(LIMIT)


def bad(how):
    """Rank 0 breaks the rules, and then behaves."""
    endpoint = socket.socket(fileno=os.dup(int(os.environ["PMI_FD"])))
    endpoint.settimeout(20)
    if os.environ["PMI_RANK"] == "0":
        data = {"long": b"x" * 1000000, "nul": b"\0" * 100 + b"\n" + b"cmd=\n" * 30, "random": os.urandom(200000),
                "many": b"cmd=init pmi_version=1 pmi_subversion=1\ncmd=finalize\n" * 4000,
                "spawn": b"cmd=init pmi_version=1 pmi_subversion=1\nmcmd=spawn\n" + b"arg1=xxxxxxx\n" * 60000}[how]
        try:
            endpoint.sendall(data)
            endpoint.shutdown(socket.SHUT_WR)
            while endpoint.recv(4096):
                pass
        except OSError:
            pass # it is hung up on
        print("rank 0 is there", flush=True)
    else:
        keys()


# ---- around ranks ----

def claim(text, holds, *told):
    if not holds:
        raise SystemExit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def start(mpiexec, *words):
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("BNR_", "PMI_", "VIREO_")) or
                   n.startswith("VIREO_TEST_")}
    return subprocess.run(["timeout", "-k", "5", str(LIMIT), *mpiexec, *words], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)


def rank(*words):
    return (sys.executable, SELF, "rank", *words)


def check_good(mpiexec, places):
    """What must hold wherever ranks are: places are rows of name, options, ranks, mapping."""
    for name, options, ranks, mapping in places:
        done = start(mpiexec, *options, "-n", str(ranks), *rank("keys"))
        claim(f"{name}: keys and fences", done.returncode == 0 and sorted(done.stdout.splitlines()) ==
              [f"rank {r} of {ranks} {mapping}" for r in range(ranks)], done.stdout, done.stderr)
        done = start(mpiexec, *options, "-n", str(ranks), *rank("names"))
        claim(f"{name}: names", done.returncode == 0 and len(done.stdout.splitlines()) == ranks, done.stdout, done.stderr)
        done = start(mpiexec, *options, "-n", str(ranks), *rank("spawn"))
        claim(f"{name}: a spawned job", done.returncode == 0 and sorted(done.stdout.splitlines()) ==
              [f"child {r} of 2 tag#0$x=y$ a b /usr" for r in range(2)], done.stdout, done.stderr)
        done = start(mpiexec, *options, "-n", str(ranks), *rank("frames"))
        claim(f"{name}: PMI-2", done.returncode == 0 and len(done.stdout.splitlines()) == ranks, done.stdout, done.stderr)
        done = start(mpiexec, *options, "-n", str(ranks), *rank("again"))
        claim(f"{name}: a script of several programs", done.returncode == 0 and len(done.stdout.splitlines()) == 2 * ranks,
              done.stdout, done.stderr)


def check_ends(mpiexec):
    done = start(mpiexec, "-n", "3", *rank("leave"))
    claim("a rank may not leave without finalize", done.returncode == 1 and "exited without MPI_Finalize" in done.stderr,
          done.returncode, done.stderr)
    done = start(mpiexec, "-n", "3", *rank("miss"))
    claim("a fence is over when a rank cannot come", done.returncode == 0, done.returncode, done.stderr)
    done = start(mpiexec, "-n", "1", *rank("tied"))
    claim("a job ends with one that it has spawned", done.returncode == 9 and "is connected with this one" in done.stderr,
          done.returncode, done.stderr)
    done = start(mpiexec, "-n", "3", *rank("abort"))
    claim("an abort ends the job with its code and message", done.returncode == 7 and "no way out" in done.stderr,
          done.returncode, done.stderr)


def check_missed(mpiexec, places, *program):
    """A rank that is no MPI program has ended before the others begin, or before they all have."""
    for name, options, *_ in places:
        for other in (("true",), ("sleep", "0.3")):
            both = ["-n", "2", *program], ["-n", "1", *other]
            for number, (first, second) in ((2, both), (0, both[::-1])):
                done = start(mpiexec, "--timeout", "20", *options, *first, ":", *second)
                line = rf"mpiexec: rank {number} on .* exited without MPI_Init, which other ranks have called\n"
                claim(f"{name}: rank {number} exits without MPI_Init, {' '.join(other)}", done.returncode == 1 and
                      re.fullmatch(line, done.stderr), done.returncode, done.stderr)


def check_missed_on(mpiexec, name, options):
    """The same in a job that goes on when ranks fail."""
    for other in (("true",), ("sh", "-c", "sleep 0.3; exit 3"), ("sh", "-c", "kill -9 $$")):
        done = start(mpiexec, "--timeout", "20", "-continuous", *options, "-n", "1", *rank("wait"), ":", "-n", "1", *other)
        claim(f"{name}: a rank that ends without MPI_Init ends a job that goes on, {' '.join(other)}",
              done.returncode not in (0, 124) and "rank 1 has ended without MPI_Init" in done.stderr, done.returncode, done.stderr)


def check_bad(mpiexec):
    for how in ("long", "nul", "random", "many", "spawn"):
        done = start(mpiexec, "-n", "1", *rank("bad", how))
        claim(f"bytes that break the rules: {how}", "rank 0 is there" in done.stdout and done.returncode in (0, 1) and
              "Traceback" not in done.stderr, done.returncode, done.stdout, done.stderr)


def check_own(mpiexec, work):
    done = start(mpiexec, "-n", "1", "sh", "-c", "echo $PMI_RANK $PMI_SIZE $PMI_SPAWNED")
    claim("a script has the variables of PMI-1", done.stdout == "0 1 0\n", done.stdout, done.stderr)
    job = subprocess.Popen([*mpiexec, "-v", "-n", "1", work, "init", "sleep=60000"], stdin=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    for line in job.stderr:
        if ", pid " in line:
            break
    pid = line.split(", pid ")[1].split()[0]
    variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    job.terminate()
    job.wait()
    claim("a program of ours has none, nor a socket", not [v for v in variables if v.startswith(b"PMI_FD=")], variables)


PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d, sum %d\n", rank, size, sum);
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "sleep"))
        sleep(20);
    else if (argc > 1 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    else if (argc > 1)
        MPI_Recv(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


def compile_for(mpicc, folder):
    if not shutil.which(mpicc):
        print(f"{mpicc} is not tried: it is not there", flush=True)
        return None
    source, program = pathlib.Path(folder) / "others_program.c", pathlib.Path(folder) / f"others.{mpicc}"
    source.write_text(PROGRAM)
    subprocess.run([mpicc, "-o", str(program), str(source)], check=True)
    return str(program)


def check_mpich(mpiexec, folder, places, tries=0):
    """tries: how often a job whose ranks do not come out of MPI_Finalize is tried again."""
    program = compile_for("mpicc.mpich", folder)
    for name, options, ranks, _ in places if program else ():
        done = start(mpiexec, "--timeout", "15", *options, "-n", str(ranks), program)
        for _ in range(tries):
            if done.returncode != 124 or len(done.stdout.splitlines()) < ranks:
                break
            done = start(mpiexec, "--timeout", "15", *options, "-n", str(ranks), program)
        claim(f"MPICH, {name}", done.returncode == 0 and sorted(done.stdout.splitlines()) ==
              [f"rank {r} of {ranks}, sum {ranks * (ranks - 1) // 2}" for r in range(ranks)], done.stdout, done.stderr)
    if program:
        check_missed(mpiexec, places, program)
    if program and not tries:
        done = start(mpiexec, "-n", "3", program, "abort")
        claim("MPICH, an abort", done.returncode == 9 and "aborted with code 9" in done.stderr, done.returncode, done.stderr)


def check_mixed(mpiexec, work, folder):
    """Programs of this library and others in one job would wait for each other for ever."""
    def start_both(*words):
        return start(mpiexec, "--timeout", "15", "-n", "1", *words)

    line = r"rank {} .* aborted with code 126: rank {} speaks PMI.* and rank {} has this library"
    done = start_both(work, "init", "sleep=20000", ":", "-n", "1", *rank("keys"))
    claim("one job has one library", done.returncode == 126 and re.search(line.format(1, 1, 0), done.stderr),
          done.returncode, done.stderr)
    done = start_both(*rank("keys"), ":", "-n", "1", "sh", "-c", f"sleep 1; exec {work} init sleep=20000")
    claim("whichever begins first", done.returncode == 126 and re.search(line.format(0, 0, 1), done.stderr),
          done.returncode, done.stderr)
    done = start_both("--pretend-hosts", "2", "sh", "-c", f"{work} init finalize", ":", "-n", "1", *rank("keys"))
    claim("also where ours has ended", done.returncode == 126, done.returncode, done.stderr)
    program = compile_for("mpicc.mpich", folder)
    if program:
        done = start_both(work, "init", ":", "-n", "1", program)
        claim("programs of two libraries are refused", done.returncode == 126 and program in done.stderr and
              work in done.stderr and len(done.stderr.splitlines()) == 1, done.returncode, done.stderr)
        done = start(mpiexec, "-n", "2", "sh", "-c", f"{program}; {work} init finalize")
        claim("but one after another they are started", done.returncode == 0 and len(done.stdout.splitlines()) == 2,
              done.returncode, done.stdout, done.stderr)


def refuses_open_mpi(text, done):
    claim(f"Open MPI is refused with a line that names its launcher: {text}", done.returncode == 126 and not done.stdout and
          "Open MPI's mpirun" in done.stderr and len(done.stderr.splitlines()) == 1, done.returncode, done.stdout, done.stderr)


def ends_open_mpi(text, done):
    claim(f"Open MPI ends the job: {text}", done.returncode == 126 and "with another MPI library" in done.stderr,
          done.returncode, done.stdout, done.stderr)


def check_open_mpi(mpiexec, folder):
    program = compile_for("mpicc.openmpi", folder)
    if program:
        refuses_open_mpi("one host", start(mpiexec, "-n", "2", program))
        ends_open_mpi("a wrapper", start(mpiexec, "-n", "2", "env", program, "sleep"))
        ends_open_mpi("a script", start(mpiexec, "-n", "2", "sh", "-c", f"{program} sleep; true"))
        own = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe -n 2"
        done = start(mpiexec, "-n", "2", "sh", "-c", f"{own} {program}")
        claim("Open MPI's own launcher may start them", done.returncode == 0 and sorted(done.stdout.splitlines()) ==
              ["rank 0 of 2, sum 1"] * 2 + ["rank 1 of 2, sum 1"] * 2, done.returncode, done.stdout, done.stderr)


def check_open_mpi_elsewhere(mpiexec, folder, enter):
    """No rank is on mpiexec's own host, and its file there is the same, or another."""
    program = compile_for("mpicc.openmpi", folder)
    if not program:
        return
    refuses_open_mpi("other hosts", start(mpiexec, "-host", "h1,h2", "-n", "2", program))
    script = pathlib.Path(folder) / "others.script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    other = f"""{enter} unshare -m sh -c 'mount --bind {program} {script} && exec "$@"' sh"""
    done = start(mpiexec[:1], "--launcher-cmd", other, "-host", "h1,h2", "-n", "2", str(script))
    refuses_open_mpi("another file there", done)
    ends_open_mpi("a wrapper there", start(mpiexec, "-host", "h1,h2", "-n", "2", "env", program, "sleep"))


def main(mpiexec, work, folder):
    mpiexec = (mpiexec,)
    places = (("one host", (), 3, "(vector,(0,1,3))"), ("pretended hosts", ("--pretend-hosts", "2"), 4, "(vector,(0,2,2))"))
    check_own(mpiexec, work)
    check_good(mpiexec, places)
    check_ends(mpiexec)
    check_missed(mpiexec, places, *rank("wait"))
    check_missed_on(mpiexec, "one host", ())
    check_bad(mpiexec)
    check_mpich(mpiexec, folder, places)
    check_mixed(mpiexec, work, folder)
    check_open_mpi(mpiexec, folder)


def hosts(mpiexec, folder, *words):
    mpiexec = (mpiexec, *words)
    places = (("two hosts", ("-host", "h0:2,h1:2"), 4, "(vector,(0,2,2))"),
              ("by turns", ("-host", "h0:2,h1:2", "-map-by", "node"), 4, "(vector,(0,2,1),(0,2,1))"),
              ("five hosts", ("-host", "h0,h1,h2,h3,h4"), 5, "(vector,(0,5,1))"))
    check_good(mpiexec, places)
    check_missed(mpiexec, places, *rank("wait"))
    check_missed_on(mpiexec, "two hosts", ("-host", "h0,h1"))
    check_open_mpi_elsewhere(mpiexec, folder, words[-1])
    check_mpich(mpiexec, folder, places, 3) # between hosts its MPI_Finalize hangs now and then, as under Hydra


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "rank":
        globals()[sys.argv[2]](*sys.argv[3:])
    elif len(sys.argv) > 3 and sys.argv[1] == "hosts":
        hosts(*sys.argv[2:])
    elif len(sys.argv) == 4:
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
