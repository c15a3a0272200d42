# SPDX-License-Identifier: BSD-3-Clause
"""Looking at a running job from outside. Run as: attach.py MPIEXEC VIREO [BNR_STREAMS]"""
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

mpiexec, vireo = sys.argv[1:3]
CYCLES = 200
# The address sanitizer keeps freed memory for a while: that is no growth.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"


def claim(what, good, *more):
    if not good:
        sys.exit(f"not so: {what} {more}")
    print("ok:", what, flush=True)


def run(*words, **more):
    return subprocess.run([vireo, *words], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, **more)


def wait_for(what, truth):
    for _ in range(3000):
        if truth():
            return
        time.sleep(0.01)
    sys.exit(f"not so in 30 s: {what}")


class Job:
    """A job whose ranks write a line each time that a file grows."""

    def __init__(self, folder, ranks, *options):
        self.go = pathlib.Path(folder) / "go"
        self.go.write_text("")
        self.out = open(pathlib.Path(folder) / "out", "w+", encoding="utf8")
        script = ('tail -f --pid=$$ -n +1 ' + str(self.go) +
                  ' | while read word; do echo "rank $BNR_RANK $word"; '
                  'echo "error $BNR_RANK $word" >&2; [ "$word" = end ] && exit; done')
        self.process = subprocess.Popen([mpiexec, "-n", str(ranks), *options, "sh", "-c", script],
                                        stdout=self.out, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL)
        self.pid = self.process.pid
        wait_for("the job has a door", lambda: str(self.pid) in run("ps").stdout)

    def say(self, word):
        with self.go.open("a", encoding="utf8") as f:
            f.write(word + "\n")

    def text(self):
        self.out.seek(0)
        return self.out.read()

    def end(self):
        self.say("end")
        return self.process.wait(60)


def watch(*words):
    return subprocess.Popen([vireo, "streams", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)


def measure(pid):
    """Descriptors, and memory in KiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf8")
    rss = [line for line in status.splitlines() if line.startswith("VmRSS")][0]
    return len(os.listdir(f"/proc/{pid}/fd")), int(rss.split()[1])


def cycle(job):
    with watch(str(job.pid), "--from", "oldest", "--rank", "0") as w:
        line = w.stdout.readline()
        w.kill()
    return line


def test_attach(folder):
    job = Job(folder, 2)
    try:
        claim("vireo ps lists the job with its command", "mpiexec" in run("ps").stdout)
        job.say("one")
        wait_for("two ranks have written", lambda: job.text().count("one") == 4)
        all_of_it = watch(str(job.pid), "--from", "oldest", "--reliable")
        one = watch(str(job.pid), "--rank", "1", "--tag", "stdout", "--from", "oldest")
        far = watch(str(job.pid), "--rank", "0", "--tag", "stdout", "--from", "5")
        claim("what is kept is shown", one.stdout.readline() == "rank 1 one\n")
        claim("from an offset on", far.stdout.readline() == "0 one\n")
        job.say("two")
        claim("and what comes", one.stdout.readline() == "rank 1 two\n")
        before = measure(job.pid)
        for i in range(CYCLES):
            claim(f"attach {i}", cycle(job) == "rank 0 one\n") if i % 50 == 0 else cycle(job)
        wait_for("descriptors are as before", lambda: measure(job.pid)[0] == before[0])
        after = measure(job.pid)
        claim(f"after {CYCLES} looks memory is as before: {before[1]} KiB, then {after[1]}",
              after[1] - before[1] < 2000)
        claim("the job's status is its own", job.end() == 0)
        out, err = all_of_it.communicate(timeout=60)
        claim("a reliable reader has all", sorted(out.split("\n")) == sorted(
            [""] + [f"rank {r} {w}" for r in (0, 1) for w in ("one", "two", "end")]), out, err)
        claim("stderr is stderr", err.count("error") == 6 and out.count("error") == 0)
        claim("it ends with the job", all_of_it.returncode == 0)
        one.communicate(timeout=60)
        far.communicate(timeout=60)
        claim("mpiexec has written all", job.text().count("\n") == 12)
    finally:
        job.process.kill()
        job.process.wait()


def feed(job, rank, text):
    return subprocess.run([vireo, "streams", str(job), "--stdin", "--rank", str(rank)], input=text,
                          capture_output=True, text=True, timeout=60, check=False)


def test_stdin():
    script = 'while read word; do echo "$BNR_RANK $word"; done'
    job = subprocess.Popen([mpiexec, "-n", "3", "--stdin", "all", "sh", "-c", script],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        wait_for("the job has a door", lambda: str(job.pid) in run("ps").stdout)
        for i in range(3):
            answer = feed(job.pid, 1, f"fed {i}\n")
            claim(f"a rank is fed from outside, {i}", answer.returncode == 0, answer)
            claim("and that rank alone has it", job.stdout.readline() == f"1 fed {i}\n")
        many = "".join(f"line {i}\n" for i in range(20000))
        answer = feed(job.pid, 2, many)
        claim("much is fed", answer.returncode == 0, answer)
        claim("and comes in order", [job.stdout.readline() for _ in range(20000)]
              == ["2 " + line + "\n" for line in many.split("\n")[:-1]])
        job.stdin.write("all\n")
        job.stdin.close()
        claim("mpiexec's own stdin goes to all", sorted(job.stdout.read().split("\n"))
              == ["", "0 all", "1 all", "2 all"])
        claim("the job's status is its own", job.wait(60) == 0)
    finally:
        job.kill()
        job.wait()
    job = subprocess.Popen([mpiexec, "-n", "1", "--stdin", "none", "sleep", "20"],
                           stdin=subprocess.DEVNULL)
    try:
        wait_for("the job has a door", lambda: str(job.pid) in run("ps").stdout)
        answer = feed(job.pid, 0, "hello\n")
        claim("a rank without such a stdin is told", answer.returncode == 1
              and "gets no stdin" in answer.stderr, answer)
    finally:
        job.terminate()
        job.wait(60)


def start_writer(folder, size, *options):
    """A job of one rank that writes so many bytes when it is told to, and a reliable reader of it."""
    go = pathlib.Path(folder) / "write"
    go.unlink(missing_ok=True)
    script = f'echo ready; until [ -e {go} ]; do sleep 0.05; done; head -c {size} /dev/zero'
    job = subprocess.Popen([mpiexec, "-n", "1", *options, "sh", "-c", script],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           stdin=subprocess.DEVNULL)
    wait_for("the job has a door", lambda: str(job.pid) in run("ps").stdout)
    ends = os.pipe()
    fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
    reader = subprocess.Popen([vireo, "streams", str(job.pid), "--reliable", "--from", "oldest",
                               "--tag", "stdout"], stdout=ends[1], stdin=subprocess.DEVNULL)
    os.close(ends[1])
    claim("a reader is there", os.read(ends[0], 6) == b"ready\n")
    return job, reader, ends[0], go


def stop_all(job, reader, end):
    for process in (job, reader):
        process.kill()
        process.wait()
    os.close(end)


def test_last_bytes(folder):
    size = 200000
    job, reader, end, go = start_writer(folder, size)
    try:
        go.write_text("")
        count, begin = 0, time.monotonic()
        while part := os.read(end, 8192):
            count += len(part)
            time.sleep(0.4 * len(part) / 8192)
        claim(f"a slow reader gets all, in {time.monotonic() - begin:.1f} s", count == size, count)
        claim("the job's status is its own", job.wait(60) == 0)
        claim("nothing is said", job.stderr.read() == "")
    finally:
        stop_all(job, reader, end)
    # A reader that is stopped holds the rank up, unless its bytes fit into a window.
    job, reader, end, go = start_writer(folder, 20000, "--set", "reader_wait_ms=700")
    try:
        reader.send_signal(signal.SIGSTOP)
        go.write_text("")
        claim("one that is stopped is given up", job.wait(60) == 0)
        said = job.stderr.read()
        claim("with a line", "taken nothing for 0.7 s" in said and "stdout of rank 0" in said, said)
    finally:
        stop_all(job, reader, end)


def test_whole_lines(folder):
    """A reader that stops now and then holds rank 1 up within a line, while rank 0 writes."""
    go, count = pathlib.Path(folder) / "lines", 5000
    script = (f'echo ready; until [ -e {go} ]; do sleep 0.05; done; if [ $BNR_RANK = 1 ]; then '
              f'seq -f "%05.0f {"x" * 91}" {count}; touch {go}.over; else '
              f'until [ -e {go}.over ]; do echo tick; sleep 0.05; done; fi')
    with open(pathlib.Path(folder) / "out", "w+", encoding="utf8") as out:
        job = subprocess.Popen([mpiexec, "-l", "-n", "2", "sh", "-c", script], stdout=out,
                               stdin=subprocess.DEVNULL)
        wait_for("the job has a door", lambda: str(job.pid) in run("ps").stdout)
        reader = watch(str(job.pid), "--reliable", "--from", "oldest", "--rank", "1")
        try:
            claim("a reader is there", reader.stdout.readline() == "ready\n")
            go.write_text("")
            for _ in range(3):
                reader.send_signal(signal.SIGSTOP)
                time.sleep(1.6)
                reader.send_signal(signal.SIGCONT)
                reader.stdout.read(100000)
            claim("all comes", reader.stdout.read().endswith(f"{count:05} {'x' * 91}\n"))
            claim("the job ends well", job.wait(60) == 0)
        finally:
            stop_all(job, reader, os.dup(0))
        out.seek(0)
        lines = [line for line in out.read().splitlines() if line != "[0] tick"]
        claim("each labelled line is whole", sorted(lines) == sorted(
            ["[0] ready", "[1] ready"] + [f"[1] {i:05} {'x' * 91}" for i in range(1, count + 1)]),
            [line for line in lines if "+" in line or len(line) != 101][:5])


def test_refusals(folder):
    claim("a process that is no job", "no mpiexec" in run("streams", str(os.getppid())).stderr or
          "no job" in run("streams", str(os.getppid())).stderr)
    for words, part in ((["--rank", "x"], "0-3,7"), (["--rank", "3-1"], "0-3,7"),
                        (["--tag", "out"], "--tag takes"), (["--from", "-1"], "--from takes"),
                        (["--from"], "value"), (["12x"], "process number")):
        answer = run("streams", *words)
        claim(f"{words} is refused", answer.returncode == 2 and part in answer.stderr, answer)
    if os.geteuid():
        return
    job = Job(folder, 1)
    try:
        with tempfile.TemporaryDirectory() as open_folder:
            os.chmod(open_folder, 0o755)
            copy = pathlib.Path(open_folder) / "vireo"
            copy.write_bytes(pathlib.Path(vireo).read_bytes())
            copy.chmod(0o755)
            answer = subprocess.run([copy, "streams", str(job.pid)], capture_output=True, text=True,
                                    user=65534, group=65534, timeout=60, check=False)
            claim("another user is refused", answer.returncode == 1 and not answer.stdout, answer)
            answer = subprocess.run([copy, "ps"], capture_output=True, text=True, user=65534,
                                    group=65534, timeout=60, check=True)
            claim("and does not see the job", str(job.pid) not in answer.stdout)
        claim("the job goes on", job.end() == 0)
    finally:
        job.process.kill()
        job.process.wait()


signal.alarm(170)
with tempfile.TemporaryDirectory() as scratch:
    test_attach(scratch)
    test_stdin()
    test_last_bytes(scratch)
    test_whole_lines(scratch)
    test_refusals(scratch)
