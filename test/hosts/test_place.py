#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What options ask about the start of ranks holds on every host. usage: test_place.py BUILD

Each claim runs on two or three hosts of its own (test/hosts/run). Status 77 where the machine does not allow
namespaces.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

RUN = str(pathlib.Path(__file__).resolve().parent / "run")
NOT_ALLOWED = 77
MPIEXEC = 'timeout 50 "$BUILD"/bnr/mpiexec --launcher-cmd "$HOSTS_PROGRAM enter %h" '
ALLOWED = "sed -n 's/Cpus_allowed_list:[^0-9]*//p' /proc/self/status"


def run(options, hosts=2):
    """Run mpiexec. Returns the exit status and the sorted lines of both streams."""
    done = subprocess.run([RUN, str(hosts), "--", "sh", "-c", MPIEXEC + options + " 2>&1"],
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == NOT_ALLOWED:
        print(done.stderr)
        sys.exit(NOT_ALLOWED)
    return done.returncode, sorted(done.stdout.splitlines())


def holds(text, options, *wanted, hosts=2):
    status, lines = run(options, hosts)
    if status or lines != list(wanted):
        sys.exit(f"not so: {text}\ngot {status}: {lines}\nwanted {list(wanted)}")
    print(f"ok: {text}", flush=True)


def refused(text, options, part, hosts=2):
    status, lines = run(options, hosts)
    if not status or not any(part in line for line in lines):
        sys.exit(f"not so: {text}\ngot {status}: {lines}\nwanted {part}")
    print(f"ok: {text}", flush=True)


def rankfiles(folder):
    """Each rank is on the host of its line, bound to the cores that this host has."""
    def file(*lines):
        name = os.path.join(folder, f"ranks{len(os.listdir(folder))}")
        pathlib.Path(name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return f"--rankfile {name} "
    show = f"sh -c 'echo $BNR_HOST $({ALLOWED.replace(chr(39), chr(34))})'"
    _, bound = run(f"-l -n 2 --bind-to core --oversubscribe {ALLOWED}")
    first, second = (line.split(" ", 1)[1] for line in bound)
    last = 0 if first == second else 1  # where there is one core alone
    three = file("# three hosts", f"rank 2=h0 slot={last}", "rank 0=h1 slot=0:0",
                 f"rank 3=+n1 slot={last}", "", f"rank 1=h2 slot={last} # last")
    placed = (f"[0] h1 {first}", f"[1] h2 {second}", f"[2] h0 {second}", f"[3] h1 {second}")
    holds("a rankfile places and binds ranks of three hosts", f"-host h0,h1,h2 -l {three}{show}", *placed,
          hosts=3)
    holds("of which -n may start fewer", f"-host h0,h1,h2 -l -n 2 {three}{show}", *placed[:2], hosts=3)
    refused("more than its lines are an error", f"-host h0,h1,h2 -n 5 {three}true",
            "no line for rank 4; add it", hosts=3)
    refused("so is a host that is not of the job", f"-host h0,h1 {three}true",
            "line 6: a host of the job is expected, not 'h2'")
    named = file("rank 0=h1 slot=0", "rank 1=localhost slot=0", "rank 2=h1 slot=0")
    at_h1 = f"h1 {first}"
    holds("its hosts are the job's where no others are named", f"-l {named}{show}",
          f"[0] {at_h1}", f"[1] h0 {first}", f"[2] {at_h1}")
    refused("a core that a host lacks is an error, which names rank, host and line",
            "-host h0,h1 " + file("rank 0=h0 slot=0", "", "rank 1=h1 slot=0,9999") + "sleep 20",
            "line 3 of the rankfile: rank 1 is to have '9999', but h1 has")
    limits = os.path.join(folder, "hosts")
    pathlib.Path(limits).write_text("h0 slots=4\nh1 slots=1 max_slots=1\n", encoding="utf-8")
    refused("max_slots holds", f"-hostfile {limits} {named}true",
            "the rankfile puts 2 ranks on h1, which has max_slots=1")
    refused("so do slots where the user says so", f"-host h0,h1 --nooversubscribe {named}true",
            "the rankfile puts 2 ranks on h1, which has slots=1")
    status, lines = run(f"{named} --report-bindings true")
    each = [f"mpiexec: rank {r} on h{(1, 0, 1)[r]} is bound to" for r in range(3)]
    if status or len(lines) != 3 or not all(line.startswith(e) for e, line in zip(each, lines)):
        sys.exit(f"not so: bindings by a rankfile are told\n{lines}")
    print("ok: bindings by a rankfile are told")
    status, lines = run(f"{named} --do-not-launch --report-bindings true")
    known = [line for line in lines if line.startswith("mpiexec: rank")]
    if (status or len(known) != 3 or known[0] != "mpiexec: rank 0 on h1 is to have cores 0"
            or not known[1].startswith(each[1])):
        sys.exit(f"not so: what is known is shown where nothing starts\n{lines}")
    print("ok: what is known is shown where nothing starts")


def paths(folder):
    """--path holds on each host, for the program that it stands before."""
    for name in ("one", "two"):
        program = pathlib.Path(folder, name, "named_here")
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho $BNR_HOST {name}\n", encoding="utf-8")
        program.chmod(0o755)
    holds("--path is of one program on all hosts",
          f"-host h0,h1 -l --path {folder}/none:{folder}/one -n 2 named_here : "
          f"-n 2 --path {folder}/two named_here : echo x",
          "[0] h0 one", "[1] h1 one", "[2] h0 two", "[3] h1 two", "[4] x", "[5] x")
    refused("a program in none of its folders is told of", f"-host h1 --path {folder}/one nowhere",
            "nowhere")


def report():
    """--report tells the processors that each rank may use, wherever it is."""
    for options in ("", "--bind-to hwthread --map-by slot:oversubscribe "):
        _, lines = run(f"-host h0:1,h1:1 -l {options}{ALLOWED}")
        wanted = [f"{host} {line.split(' ', 1)[1]}" for host, line in zip(("h0", "h1"), lines)]
        status, lines = run(f"-host h0:1,h1:1 --report {options}true")
        got = [" ".join(line.split()[2:4]) for line in lines if line.split()[:1] in (["0"], ["1"])]
        if status or got != wanted:
            sys.exit(f"not so: processors are reported\ngot {lines}\nwanted {wanted}")
    print("ok: processors of all ranks are reported", flush=True)


def machines(folder):
    """Where ranks run may depend on the processors of all hosts, which differ."""
    launcher = pathlib.Path(folder, "launcher")
    launcher.write_text("""#!/bin/sh
host=$1; shift
echo $host >> "$COUNT"
case $host in
h1) machine="package:1 numa:1 l3:1 core:2 pu:2";;
h2) machine="package:4 core:1 pu:1";;
esac
exec "$HOSTS_PROGRAM" enter $host env HWLOC_SYNTHETIC="$machine" "$@"
""", encoding="utf-8")
    launcher.chmod(0o755)
    asked = pathlib.Path(folder, "asked")
    os.environ.update(HWLOC_SYNTHETIC="package:2 numa:1 l3:1 core:2 pu:1", COUNT=str(asked))
    cmd = f"--launcher-cmd '{launcher} %h' "
    by = cmd + "-host h0:4,h1:4,h2:4 "
    try:
        def dry(text, options, *wanted):
            start = cmd if "-host " in options else by
            status, lines = run(start + "--do-not-launch --report-bindings " + options + " true", hosts=3)
            got = [line.removeprefix("mpiexec: rank ").split(", ")[0].replace(" on ", " ").replace(
                " is bound to", "") for line in lines if line.startswith("mpiexec: rank ")]
            got.sort(key=lambda line: int(line.split()[0]))
            if status or got != [f"{r} {where}" for r, where in enumerate(wanted)]:
                sys.exit(f"not so: {text}\ngot {status}: {lines}\nwanted {wanted}")
            print(f"ok: {text}", flush=True)

        a, b = "h0 [B/B][./.]", "h0 [./.][B/B]"
        h1, c = "h1 [BB/BB]", [f"h2 [{']['.join('B' if i == k else '.' for i in range(4))}]" for k in range(4)]
        dry("ppr makes as many ranks as the hosts have objects", "--map-by ppr:1:package", a, b, h1, *c)
        dry("-n may start fewer of them", "-n 4 --map-by ppr:1:package", a, b, h1, c[0])
        dry("with pe=N each has cores", "--map-by ppr:1:package:pe=2 -host h0,h1", a, b, h1)
        dry("ranks go by the packages of all hosts", "-n 5 --map-by ppr:2:package --rank-by package:span -host h0,h1",
            a, b, h1, a, b)
        dry("by those of each host", "--map-by ppr:2:package --rank-by package -host h0,h1",
            a, b, a, b, h1, h1)
        dry("filling one after the other", "--map-by ppr:2:package --rank-by fill -host h0,h1",
            a, a, b, b, h1, h1)
        dry("or by hosts", "--map-by ppr:2:package --rank-by node -host h0,h1", a, h1, a, h1, b, b)
        dry("a mapping spans all hosts", "-n 6 --map-by package:span", a, b, h1, *c[:3])
        dry("in turn, while hosts have slots", "-n 6 --map-by package:span -host h0:4,h1:2",
            a, b, h1, a, b, h1)
        dry("what may not be used does not count", "--cpu-set 0 --map-by ppr:1:core -host h0,h1",
            "h0 [B]", "h1 [BB]")
        dry("names of this host are one", "--map-by ppr:1:package -host h0,localhost,h1", a, b, h1)
        dry("bindings of all hosts are shown where nothing starts", "-n 2 --bind-to core -host h0:1,h1:1",
            "h0 [B/.][./.]", "h1 [BB/..]")
        refused("an object that a host lacks is told of", by + "--map-by ppr:1:l3cache true",
                "host h2 tells of no such object", hosts=3)
        refused("so is it where -n says how many", by + "-n 2 --map-by ppr:1:l3cache true",
                "host h2 tells of no l3cache", hosts=3)
        refused("more than the objects are", by + "-n 8 --map-by ppr:1:package true",
                "8 ranks, but ppr:1:package makes 7 on these hosts", hosts=3)
        refused("max_slots holds", cmd + f"-hostfile {folder}/most --map-by ppr:3:package true",
                "is more than max_slots=2 of host h1", hosts=3)
        refused("slots are no objects", by + "-n 6 --map-by slot:span true", "span deals ranks out to objects",
                hosts=3)
        asked.write_text("", encoding="utf-8")
        holds("ranks run on the hosts whose objects they are", by + "-l --map-by ppr:2:package --bind-to none "
              "sh -c 'echo $BNR_HOST $MPI_LOCALNRANKS'",
              *sorted(f"[{r}] {host}" for r, host in enumerate(["h0 4"] * 4 + ["h1 2"] * 2 + ["h2 8"] * 8)),
              hosts=3)
        if sorted(asked.read_text(encoding="utf-8").split()) != ["h1", "h1", "h2", "h2"]:
            sys.exit("not so: each host is asked once, and has one daemon")
        asked.write_text("", encoding="utf-8")
        holds("a host without a rank has none", by + "-l -n 4 --map-by ppr:2:package --bind-to none "
              "sh -c 'echo $BNR_HOST'", *(f"[{r}] h0" for r in range(4)), hosts=3)
        if sorted(asked.read_text(encoding="utf-8").split()) != ["h1", "h2"]:
            sys.exit("not so: that host has no daemon")
        refused("nothing is bound to another machine", cmd + "-host h1 --map-by ppr:1:package true",
                "hwloc tells of another machine", hosts=3)
        launcher.write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
        refused("a host that does not tell is named", by + "--map-by ppr:1:core true",
                "cannot start a daemon on h1", hosts=3)
        launcher.write_text('#!/bin/sh\nexec "$HOSTS_PROGRAM" enter $1 sleep 100\n', encoding="utf-8")
        refused("--timeout holds for the answers", by + "--timeout 1 --map-by ppr:1:core true",
                "did not all tell of their processors within 1 s", hosts=3)
    finally:
        del os.environ["HWLOC_SYNTHETIC"]


def main(build):
    os.environ["BUILD"] = str(pathlib.Path(build).resolve())
    os.environ["HOSTS_PROGRAM"] = os.path.join(os.environ["BUILD"], "test/hosts/hosts")
    first, *more = sorted(os.sched_getaffinity(0))
    two = "-host h0:2,h1:2 -l "
    if more:
        second = more[0]
        holds("ranks are bound on each host", two + f"-bind-to user:{first},{second} {ALLOWED}",
              *(f"[{r}] {[first, second][r % 2]}" for r in range(4)))
    holds("one processor for all", two + f"-bind-to user:{first} {ALLOWED}",
          *(f"[{r}] {first}" for r in range(4)))
    status, lines = run(two + f"-bind-to user:{first} --report-bindings true")
    each = [f"rank {r} on h{r // 2} is bound to" for r in range(4)]
    if status or len(lines) != 4 or not all(e in line for e, line in zip(each, lines)):
        sys.exit(f"not so: bindings of all hosts are told\n{lines}")
    print("ok: bindings of all hosts are told")
    holds("ranks are numbered by hosts", two + "--rank-by node sh -c 'echo $BNR_HOST'",
          "[0] h0", "[1] h1", "[2] h0", "[3] h1")
    holds("GPUs are dealt out on each host",
          two + "-gpus-per-proc 2 sh -c 'echo $CUDA_VISIBLE_DEVICES'",
          "[0] 0,1", "[1] 2,3", "[2] 0,1", "[3] 2,3")
    holds("output is taken of some", two + "--output-from 1,2 echo x", "[1] x", "[2] x")
    holds("processes are named", "-host h0:1,h1:1 --index-argv-by-rank sh -c 'echo $0'",
          "sh-0", "sh-1")
    holds("nolocal leaves this host out", "-host h0:2,h1:2 -l --nolocal sh -c 'echo $BNR_HOST'",
          "[0] h1", "[1] h1")
    holds("the table of processes has the ranks of all hosts",
          "-host h0:2,h1:2 --output-proctable true | cut -d' ' -f1,2", "0 h0", "1 h0", "2 h1", "3 h1")
    begin = time.monotonic()
    holds("a reader that goes ends ranks elsewhere", "-host h1 yes 2>/dev/null | head -1; echo over",
          "over", "y")
    if time.monotonic() - begin > 20:
        sys.exit("not so: it ends soon")
    many = len(more) + 2
    refused("too many on the other host are refused, and it is named",
            f"-host h0:1,h1:{many} --bind-to hwthread true", f"host h1 has too few hwthreads")
    refused("slots of all hosts count", "-host h0:2,h1:2 -n 5 --nooversubscribe true",
            "5 ranks, but the hosts have 4 slots")
    with tempfile.TemporaryDirectory(dir=os.environ["BUILD"]) as folder:
        rankfiles(folder)
        paths(folder)
        report()
        pathlib.Path(folder, "most").write_text("h0:9\nh1 slots=1 max_slots=2\n", encoding="utf-8")
        machines(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
