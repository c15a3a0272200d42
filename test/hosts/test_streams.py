#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Streams of jobs over many hosts. usage: test_streams.py BUILD [SECTION[=SIZE]...]

Without sections all run in a short form. The long forms, by hand:

    test_streams.py build lines=1000000    labelled lines, of 34 ranks on 17 hosts
    test_streams.py build through=5368709120    bytes, through a rank on another host
    test_streams.py build stopped=1000    ranks on 5 hosts, which write to a terminal that is stopped

Each section has hosts of its own (test/hosts/run). Status 77 where the machine does not allow
namespaces.
"""
import collections
import datetime
import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty

HERE = pathlib.Path(__file__).resolve().parent
RUN = str(HERE / "run")
NOT_ALLOWED = 77
MEMORY_KIB = 64 << 10  # that a daemon may use
MPIEXEC = '"$BUILD"/bnr/mpiexec --launcher-cmd "$HOSTS_PROGRAM enter %h" '
ON_ALL = MPIEXEC + "-host $HOSTS_LIST "
CYCLES = 200


def claim(text, holds, *told):
    if not holds:
        sys.exit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def children_of(root):
    """The processes below one, by their programs' names."""
    parents = {}
    for entry in os.listdir("/proc"):
        try:
            status = pathlib.Path(f"/proc/{int(entry)}/status").read_text(encoding="utf8")
        except (ValueError, OSError):
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        parents[int(entry)] = int(fields["PPid"]), fields["Name"], fields
    below, again = {root}, True
    while again:
        more = {pid for pid, (parent, *_) in parents.items() if parent in below} - below
        below, again = below | more, bool(more)
    return {pid: parents[pid][1:] for pid in below if pid in parents}


class World:
    """A command in the first of some hosts, and what its daemons use."""

    def __init__(self, hosts, command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, net=()):
        self.folder = tempfile.mkdtemp(prefix="streams-", dir=os.environ["BUILD"])
        env = dict(os.environ, SHARED=self.folder)
        self.process = subprocess.Popen([RUN, *net, str(hosts), "--", "sh", "-c", command],
                                        stdin=stdin, stdout=stdout, stderr=stderr, env=env)
        self.peak = collections.Counter()  # KiB, by program and process
        self.is_over = False
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def watch(self):
        while not self.is_over:
            for pid, (name, fields) in children_of(self.process.pid).items():
                if name in ("vireod", "mpiexec") and "VmHWM" in fields:
                    self.peak[name, pid] = max(self.peak[name, pid],
                                               int(fields["VmHWM"].split()[0]))
            time.sleep(0.1)

    def descriptors(self):
        found = collections.Counter()
        for pid, (name, fields) in children_of(self.process.pid).items():
            if name in ("vireod", "mpiexec"):
                found[name, pid] = len(os.listdir(f"/proc/{pid}/fd"))
        return found

    def steady_descriptors(self, wanted=None):
        """As they are wanted, or the same for a second; whatever they are after ten."""
        found = self.descriptors()
        for _ in range(10):
            if found == wanted:
                break
            time.sleep(1)
            before, found = found, self.descriptors()
            if wanted is None and found == before:
                break
        return found

    def end(self):
        status = self.process.wait(600)
        self.is_over = True
        self.watcher.join()
        told = pathlib.Path(self.folder) / "memory"  # by a rank, of its daemon
        if told.exists():
            self.peak["vireod", 0] = int(re.search(r"\d+", told.read_text())[0])
        shutil.rmtree(self.folder)
        if status == NOT_ALLOWED:
            print(self.process.stderr.read() if self.process.stderr else "")
            sys.exit(NOT_ALLOWED)
        return status

    def most(self):
        return max(self.peak.values(), default=0)


def run(hosts, command, *net):
    world = World(hosts, command, net=net)
    out, err = world.process.communicate(timeout=250)
    status = world.end()
    return status, out.decode(errors="replace"), err.decode(errors="replace"), world


def never_reads(_):
    status, out, err, _ = run(2, "yes | " + ON_ALL + """-n 4 --stdin 2 sh -c '
        if [ $BNR_RANK = 2 ]; then
            until [ $(ls "$SHARED" | wc -l) = 3 ]; do sleep 0.02; done
        else
            seq 300000; : >"$SHARED"/$BNR_RANK
        fi'""")
    lines = collections.Counter(out.split())
    claim("others write while a rank on another host never reads stdin", status == 0
          and len(lines) == 300000 and set(lines.values()) == {3}, status, err)


def dying_rank(_):
    status, out, err, _ = run(2, "head -c 20000000 /dev/zero | " + ON_ALL +
                              "-disable-auto-cleanup -n 4 --stdin all sh -c '"
                              "[ $BNR_RANK = 3 ] && head -c 5 >/dev/null && kill -9 $$; sha1sum'")
    right = hashlib.sha1(bytes(20000000)).hexdigest()
    claim("with --stdin all, the others get all though a rank on another host dies",
          status == 137 and out.split().count(right) == 3, status, out, err)


# Bytes that this host has sent.
SENT = 'sent() { awk \'$1 != "lo:" && NF > 10 { n += $10 } END { print n }\' /proc/net/dev; }\n'


def one_copy(size):
    """Eight ranks of one host read all of stdin, which goes there once."""
    status, out, err, _ = run(2, SENT + f"""
        head -c {size} /dev/zero >"$SHARED"/zeros
        before=$(sent)
        """ + MPIEXEC + """-host h1:8 -n 8 --stdin all sha1sum <"$SHARED"/zeros
        echo status $?
        echo sent $(($(sent) - before))""")
    right = hashlib.sha1(bytes(size)).hexdigest()
    sent = int(re.search(r"sent (\d+)", out)[1])
    claim("with --stdin all, eight ranks of another host get all", status == 0
          and "status 0" in out and out.count(right) == 8, status, out, err)
    claim(f"that takes {sent} bytes on the link, for {size} of stdin", sent < 2 * size)


def delayed(size):
    """Bytes out of and into a rank where the network takes 25 ms one way, by the usual window and by
    one that grows."""
    rank = MPIEXEC + """-host h1 -n 1 --stdin 0 sh -c '
        head -c 1 >/dev/null
        date +%s.%N >"$SHARED"/begin
        $1
        date +%s.%N >"$SHARED"/end
        grep VmHWM /proc/$PPID/status >"$SHARED"/memory' sh """
    took = ' awk "{ t = \\$1 - t } END { print \\"took\\", t }" "$SHARED"/begin "$SHARED"/end\n'
    zeros = f"head -c {size} /dev/zero"
    commands = {"out of": f"echo | {rank} '{zeros}' | sha1sum\n{took}",
                "into": f"(echo -n .; {zeros}) | {rank} sha1sum\n{took}"}
    right = hashlib.sha1(bytes(size)).hexdigest()
    for way, command in commands.items():
        seconds = []
        for setting in ("export VIREO_STREAM_WINDOW=64K\n", ""):
            status, out, err, world = run(2, setting + command, "--delay", "25")
            claim(f"{size} bytes go {way} a rank over a slow way unchanged", status == 0
                  and right in out, status, out, err)
            seconds.append(float(re.search(r"took ([\d.]+)", out)[1]))
        claim(f"{way}: {size / 1e6 / seconds[0]:.1f} MB/s by windows of 64 KiB, "
              f"{size / 1e6 / seconds[1]:.1f} MB/s by those that grow",
              seconds[1] < seconds[0] / 2)
        claim(f"no daemon uses 64 MiB: {world.most()} KiB", 0 < world.most() < MEMORY_KIB)


def json_time(_):
    """A line is written while mpiexec is stopped for two seconds."""
    status, out, err, _ = run(2, MPIEXEC + """-host h1 -n 1 --output json sh -c '
            echo begun
            until [ -e "$SHARED"/stopped ]; do sleep 0.02; done
            date +%s.%N; : >"$SHARED"/said' >"$SHARED"/out &
        until grep -q begun "$SHARED"/out; do sleep 0.05; done
        kill -STOP $!
        : >"$SHARED"/stopped
        until [ -e "$SHARED"/said ]; do sleep 0.05; done
        sleep 2
        kill -CONT $!
        wait $! && cat "$SHARED"/out""")
    claim("a line comes though mpiexec was stopped", status == 0, status, out, err)
    line = json.loads(out.splitlines()[1])
    read = datetime.datetime.strptime(line["time"], "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
    late = read - float(line["text"])
    claim(f"its time is when its host has read it: {late:.3f} s late", -0.001 < late < 1.5, out)


def slow_reader(_):
    """Ranks 1 and 3 are on one host. A reader of rank 1 is stopped; rank 3 writes on."""
    status, out, err, world = run(2, """
        exec 3<&0
        """ + MPIEXEC + """-host h0,h1 -n 4 --map-by node sh -c '
            until [ -e "$SHARED"/stopped ]; do echo tick; sleep 0.02; done
            case $BNR_RANK in
            1) seq 400000 ;;
            3) seq 400000 >&2; grep VmHWM /proc/$PPID/status >"$SHARED"/memory; : >"$SHARED"/done ;;
            esac' >"$SHARED"/out 2>/dev/null &
        job=$!
        until "$BUILD"/bnr/vireo ps | grep -q "$job"; do sleep 0.05; done
        "$BUILD"/bnr/vireo streams $job --rank 1 --tag stdout --from oldest --reliable >"$SHARED"/seen &
        reader=$!
        until grep -q tick "$SHARED"/seen; do sleep 0.05; done
        kill -STOP $reader
        : >"$SHARED"/stopped
        for i in $(seq 600); do [ -e "$SHARED"/done ] && break; sleep 0.05; done
        ls "$SHARED"
        kill -CONT $reader
        wait $reader
        wait $job
        echo status $?
        grep -v tick "$SHARED"/seen | sha1sum
        grep -v tick "$SHARED"/out | sha1sum""")
    right = hashlib.sha1("".join(f"{i}\n" for i in range(1, 400001)).encode()).hexdigest()
    claim("a stopped reader of one rank does not hold up others of its host",
          "done" in out.split(), out, err)
    claim("it gets all bytes when it goes on, and so does mpiexec",
          "status 0" in out and out.count(right) == 2, out, err)
    claim(f"no daemon uses 64 MiB: {world.most()} KiB", 0 < world.most() < MEMORY_KIB)


def lines(count):
    ranks, each = 34, count // 34
    begin = time.monotonic()
    world = World(17, ON_ALL + f"-n {ranks} -l seq -f 'line %.0f of many, with an end' {each}")
    reader = threading.Thread(target=world.process.stderr.read)
    reader.start()
    seen = [0] * ranks
    for line in world.process.stdout:
        found = re.fullmatch(rb"\[(\d+)\] line (\d+) of many, with an end\n", line)
        if not found or int(found[2]) != seen[int(found[1])] + 1:
            world.process.kill()
            world.end()
            sys.exit(f"not so: each line is whole: {line!r}")
        seen[int(found[1])] += 1
    status = world.end()
    reader.join()
    took = time.monotonic() - begin
    claim(f"{sum(seen)} labelled lines of {ranks} ranks on 17 hosts are whole and in order, in "
          f"{took:.1f} s", status == 0 and seen == [each] * ranks, status)
    claim(f"no daemon uses 64 MiB: {world.most()} KiB were seen", world.most() < MEMORY_KIB)


def through(size):
    """Rank 1 passes bytes on; what rank 2 writes to stderr has a reader that is stopped."""
    begin = time.monotonic()
    world = World(3, """
        exec 3<&0
        """ + ON_ALL + """-n 3 --stdin 1 sh -c '
            case $BNR_RANK in
            1) cat; grep VmHWM /proc/$PPID/status >"$SHARED"/memory; : >"$SHARED"/passed ;;
            2) yes >&2 & until [ -e "$SHARED"/passed ]; do sleep 0.1; done; kill $! ;;
            esac' <&3 2>/dev/null &
        job=$!
        exec 3<&-
        until "$BUILD"/bnr/vireo ps | grep -q "$job"; do sleep 0.05; done
        "$BUILD"/bnr/vireo streams $job --rank 2 --tag stderr --reliable >"$SHARED"/seen 2>&1 &
        reader=$!
        until [ -s "$SHARED"/seen ]; do sleep 0.05; done
        kill -STOP $reader
        : >"$SHARED"/stopped
        until [ -e "$SHARED"/passed ]; do sleep 0.1; done
        kill -KILL $reader
        wait $job""", stdin=subprocess.PIPE)
    sent = hashlib.blake2b()

    def write():
        stopped = pathlib.Path(world.folder) / "stopped"
        while not stopped.exists() and world.process.poll() is None:
            time.sleep(0.05)
        left = size
        while left:
            part = os.urandom(min(left, 1 << 20))
            sent.update(part)
            world.process.stdin.write(part)
            left -= len(part)
        world.process.stdin.close()

    writer = threading.Thread(target=write)
    writer.start()
    got, count = hashlib.blake2b(), 0
    while part := world.process.stdout.read1(1 << 20):
        got.update(part)
        count += len(part)
    writer.join()
    err = world.process.stderr.read()
    status = world.end()
    took = time.monotonic() - begin
    claim(f"{size} bytes go through a rank on another host unchanged, in {took:.1f} s", status == 0
          and count == size and got.digest() == sent.digest(), status, count, err)
    claim(f"with a reader stopped, no daemon uses 64 MiB: {world.most()} KiB",
          0 < world.most() < MEMORY_KIB)


def stopped(ranks):
    """A terminal is stopped, as by Ctrl-S, until all ranks wait to write; then it goes on."""
    numbers = 60000 # more than a pipe and a window take
    size = ranks * sum(len(str(i)) + 1 for i in range(1, numbers + 1))
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    termios.tcflow(theirs, termios.TCOOFF)
    world = World(5, ON_ALL + f"-n {ranks} --oversubscribe seq {numbers}", stdout=theirs, stderr=None)

    def waiting():
        return sum(name == "seq" and "S" in fields["State"]
                   for name, fields in children_of(world.process.pid).values())

    until = time.monotonic() + 150
    while waiting() < ranks * 9 // 10 and time.monotonic() < until and world.process.poll() is None:
        time.sleep(0.5)
    time.sleep(2)
    count = waiting()
    claim(f"{count} of {ranks} ranks on 5 hosts wait for a stopped terminal", count >= ranks * 9 // 10)
    termios.tcflow(theirs, termios.TCOON)
    os.close(theirs)
    seen, rest, came = collections.Counter(), b"", 0
    try:
        while part := os.read(ours, 1 << 16):
            *whole, rest = (rest + part).split(b"\n")
            seen.update(whole)
            came += len(part)
    except OSError: # the last who had the terminal has ended
        pass
    os.close(ours)
    status = world.end()
    claim(f"nothing of {size} bytes is lost when it goes on", status == 0 and came == size
          and len(seen) == numbers and set(seen.values()) == {ranks}, status, came)
    daemons = [kib for (name, _), kib in world.peak.items() if name == "vireod"] # and ranks that begin
    own = [kib for (name, _), kib in world.peak.items() if name == "mpiexec"]
    claim(f"no daemon uses 64 MiB: {daemons} KiB; nor 256 MiB mpiexec: {own} KiB",
          len(daemons) >= 4 and max(daemons) < MEMORY_KIB and max(own) < 4 * MEMORY_KIB)


def attach(_):
    """Inside, cycles() says when to measure."""
    world = World(5, f"exec {sys.executable} {HERE / 'test_streams.py'} --cycles", stderr=None)
    before = after = collections.Counter()
    resident = {}
    for line in world.process.stdout:
        text = line.decode().strip()
        if text in ("before", "after"):
            found = world.steady_descriptors(None if text == "before" else before)
            memory = {key: int(children_of(world.process.pid)[key[1]][1]["VmRSS"].split()[0])
                      for key in found}
            before, after = (found, after) if text == "before" else (before, found)
            resident[text] = memory
            (pathlib.Path(world.folder) / text).write_text("")
        else:
            print(text, flush=True)
    status = world.end()
    claim("the job ends well", status == 0)
    claim(f"descriptors of mpiexec and 4 daemons are constant: {sorted(before.values())}",
          len(before) == 5 and before == after, before, after)
    grown = max(resident["after"][key] - resident["before"][key] for key in before)
    claim(f"memory is constant: at most {max(0, grown)} KiB more", grown < 2000, resident)


def wait_for_file(path):
    for _ in range(3000):
        if path.exists():
            return
        time.sleep(0.02)
    sys.exit(f"not so: {path} comes within 60 s")


def cycles():
    """In the first host: look at a job of 5 hosts, again and again."""
    build, shared = os.environ["BUILD"], pathlib.Path(os.environ["SHARED"])
    script = ('i=0; until [ -e "$SHARED"/end ]; do i=$((i+1)); echo "rank $BNR_RANK line $i"; '
              'sleep 0.05; done; echo "rank $BNR_RANK end $i"')
    job = subprocess.Popen(
        [f"{build}/bnr/mpiexec", "--launcher-cmd", os.environ["HOSTS_PROGRAM"] + " enter %h",
         "-host", os.environ["HOSTS_LIST"], "-n", "5", "sh", "-c", script],
        stdout=open(shared / "out", "wb"), stdin=subprocess.DEVNULL)
    vireo = [f"{build}/bnr/vireo", "streams", str(job.pid)]

    def look(i):
        watcher = subprocess.Popen([*vireo, "--rank", str(i % 5), "--from", "oldest"],
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        first = watcher.stdout.readline().decode()
        watcher.send_signal(signal.SIGKILL if i % 2 else signal.SIGTERM)
        watcher.wait(60)
        watcher.stdout.close()
        if f"rank {i % 5} line" not in first:
            sys.exit(f"not so: look {i} shows rank {i % 5}: {first!r}")

    for _ in range(3000):
        if (shared / "out").read_bytes().count(b"line 1\n") == 5:
            break
        time.sleep(0.02)
    for i in range(10):
        look(i)
    time.sleep(0.5)
    print("before", flush=True)
    wait_for_file(shared / "before")
    for i in range(CYCLES):
        look(i)
    time.sleep(0.5)
    print("after", flush=True)
    wait_for_file(shared / "after")
    print(f"ok: {CYCLES} looks at a job of 5 hosts", flush=True)
    if os.geteuid() == 0:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            shutil.copy(vireo[0], folder)
            try:
                other = subprocess.run([f"{folder}/vireo", *vireo[1:]], capture_output=True,
                                       user=65534, group=65534, timeout=60, check=False)
                claim("another user is refused", other.returncode == 1 and not other.stdout, other)
            except PermissionError:
                print("this host has no other user", flush=True)
    (shared / "end").write_text("")
    status = job.wait(60)
    written = (shared / "out").read_text(encoding="utf8").splitlines()
    for rank in range(5):
        own = [line for line in written if line.startswith(f"rank {rank} ")]
        claim(f"rank {rank} has written as if nobody looked",
              own == [f"rank {rank} line {i}" for i in range(1, len(own))]
              + [f"rank {rank} end {len(own) - 1}"], own)
    sys.exit(status)


SECTIONS = {"never-reads": (never_reads, 0), "dying-rank": (dying_rank, 0),
            "one-copy": (one_copy, 20000000), "delayed": (delayed, 8 << 20),
            "json-time": (json_time, 0), "slow-reader": (slow_reader, 0), "lines": (lines, 34000), "through": (through, 64 << 20),
            "stopped": (stopped, 60), "attach": (attach, 0)}


def main(build, *names):
    os.environ["BUILD"] = str(pathlib.Path(build).resolve())
    # A build with the address sanitizer keeps freed memory back.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    os.environ["HOSTS_PROGRAM"] = os.environ["BUILD"] + "/test/hosts/hosts"
    for name in names or SECTIONS:
        name, _, size = name.partition("=")
        section, usual = SECTIONS[name]
        print(f"{name}:", flush=True)
        section(int(size) if size else usual)


if __name__ == "__main__":
    if sys.argv[1:] == ["--cycles"]:
        cycles()
    main(*sys.argv[1:])
