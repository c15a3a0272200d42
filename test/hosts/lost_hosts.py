#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs over several hosts go on when whole hosts are lost. usage: run 5 -- lost_hosts.py BUILD [JOBS [FIRST]]

Each seed is a job of ulfm_random.c, in which ranks die and, at a random instant, one or two of the hosts: all of their
processes are killed, or the daemon alone, or their link is down. mpiexec's own host stays. Another host may be slow meanwhile: all
of its processes are stopped for half of the time after which it would be lost, or its link is down for a fifth. All survivors must
have the same number, no rank of a slow host is lost, mpiexec must name each rank that was lost and end in time, and nothing may be left on any host.
"""
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ENTER = os.environ["HOSTS_PROGRAM"]
HOSTS = os.environ["HOSTS_LIST"].split(",")
LIVENESS_MS = 3000
SOON_S = 16    # from the loss of a host to the end of the job; a connection with a host that is gone stands for 20 s
LIMIT_S = 60   # mpiexec ends a job then
BEGIN_S = 40   # until all ranks are there
LEFT_S = 8     # until nothing is left on a host that was lost
ROUNDS = 12
WAYS = ("killed", "daemon", "silent", "link")
SLOW = {"stopped": ("kill -STOP $(pidof vireod ulfm_random)", LIVENESS_MS / 2000, "kill -CONT $(pidof vireod ulfm_random)"),
        "unplugged": ("ip link set eth0 down", LIVENESS_MS / 5000, "ip link set eth0 up")}
LOOK = "ps -eo pid=,stat=,args= | grep -v ' Z' | grep -E 'vireod|ulfm_random' | grep -v grep"
END = re.compile(r"mpiexec: rank (\d+) on (\S+) \(pid \d+\) (was killed by signal 9 \(Killed\)|exited with code [31]|was lost with its "
                 r"host, of which nothing is heard any more)(?:; the job goes on$|$(?!(?s:.*)^mpiexec: rank \d+ on ))", re.M)


def enter(host, *words):
    done = subprocess.run([ENTER, "enter", host, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout


def lose(host, way):
    """Lose a host."""
    if way in ("silent", "link"):
        enter(host, "ip", "link", "set", "eth0", "down")
    if way == "daemon":
        enter(host, "sh", "-c", "kill -9 $(pidof vireod)")
    elif way != "link":
        enter(host, "sh", "-c", "kill -9 $(pidof vireod ulfm_random)")


def slow_down(host, way):
    """Slow a host down for a while."""
    begin, seconds, end = SLOW[way]
    enter(host, "sh", "-c", begin)
    time.sleep(seconds)
    enter(host, "sh", "-c", end)


def left(hosts):
    """The processes that are left on some hosts, once there was time to end."""
    until = time.monotonic() + LEFT_S
    while True:
        found = {host: text for host in hosts if (text := enter(host, "sh", "-c", LOOK))}
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.2)


def await_begin(job, path):
    until = time.monotonic() + BEGIN_S
    while job.poll() is None and time.monotonic() < until:
        if "begun" in path.read_text():
            return
        time.sleep(0.01)


def judge(job, ranks, lost, said, told):
    """Returns None, or the fault."""
    ends = END.findall(told)
    died = {int(rank): how for rank, _, how in ends}
    numbers = [line for line in said.splitlines() if line.startswith("ok ")]
    if job.returncode == 124 or job.returncode is None:
        return "it hangs"
    if len(set(numbers)) != 1:
        return "the survivors do not agree"
    if len(numbers) + len(died) < ranks or len(numbers) > ranks:
        return f"{len(numbers)} ranks are done, {len(died)} have died, of {ranks}"
    if strange := {host for _, host, how in ends if "lost" in how and host not in lost}:
        return f"lost, too: {strange}"
    first = ends[0][2] if ends else ""
    status = 0 if not ends else int(first[-1]) if "exited" in first else 137
    return None if job.returncode == status else f"the status is {job.returncode}, not {status}"


def play(build, seed, folder):
    """One job. Returns its description, and None or the fault."""
    dice = random.Random(seed)
    hosts = HOSTS[dice.choice([0, 0, 1]):]  # mpiexec's own may have no rank
    each = dice.randint(1, 3)
    ranks, deaths = each * len(hosts), dice.choice([0, 0, 1, 3])
    lost = {host: dice.choice(WAYS) for host in dice.sample(HOSTS[1:], dice.choice([1, 1, 2]))}
    waits = [dice.choice([0, 0.05, 0.3, 1]) * dice.random() for _ in lost]
    slow = {dice.choice([h for h in HOSTS[1:] if h not in lost]): dice.choice([*SLOW])} if dice.random() < 0.5 else {}
    name = f"seed {seed}: {ranks} ranks on {hosts[0]}-{hosts[-1]}, {deaths} deaths, {lost}, {[round(w, 3) for w in waits]} s, slow {slow}"
    out, err = folder / "out", folder / "err"
    command = [f"{build}/bnr/mpiexec", "--launcher-cmd", f"{ENTER} enter %h", "--set", f"liveness_ms={LIVENESS_MS}", "--timeout",
               str(LIMIT_S), "-host", ",".join(f"{host}:{each}" for host in hosts), "-n", str(ranks),
               f"{build}/test/fault/ulfm_random", str(seed), str(deaths), str(ROUNDS)]
    with out.open("w") as to, err.open("w") as say:
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=to, stderr=say)
        await_begin(job, err)
        for wait, (host, way) in zip(waits, lost.items()):
            time.sleep(wait)
            lose(host, way)
        for host, way in slow.items():
            slow_down(host, way)
        begin = time.monotonic()
        try:
            job.wait(LIMIT_S + 20)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGKILL)
            job.wait()
            job.returncode = None
    took = time.monotonic() - begin
    wrong = judge(job, ranks, lost, out.read_text(), err.read_text())
    if not wrong and took > LIVENESS_MS / 1000 + SOON_S:
        wrong = f"the survivors have taken {took:.1f} s"
    for host, way in lost.items():
        if way in ("silent", "link"):
            wrong = wrong or (f"left: {found}" if (found := left([host])) else None)
        enter(host, "ip", "link", "set", "eth0", "up")
    rest = left(HOSTS)
    wrong = wrong or (f"left: {rest}" if rest else None)
    for host in rest:
        enter(host, "sh", "-c", "kill -9 $(pidof vireod ulfm_random)")
    if wrong:
        wrong += f"\n{' '.join(command)}: status {job.returncode}\n{out.read_text()}{err.read_text()}"
    return name, wrong


def play_late(build, folder):
    """All ranks of a host are named that is lost when the rank that asked for failures has ended. Returns as play()."""
    err = folder / "err"
    with err.open("w") as say:
        job = subprocess.Popen([f"{build}/bnr/mpiexec", "--launcher-cmd", f"{ENTER} enter %h", "--set", f"liveness_ms={LIVENESS_MS}",
                                "--timeout", str(LIMIT_S), "-host", f"{HOSTS[0]}:1,{HOSTS[1]}:2", "-n", "3",
                                f"{build}/test/fault/lost_late"], stdin=subprocess.DEVNULL, stderr=say)
        await_begin(job, err)
        enter(HOSTS[1], "sh", "-c", "kill -9 $(pidof vireod lost_late)")
        job.wait(LIMIT_S + 20)
    named = sorted(int(rank) for rank, _, _ in END.findall(err.read_text()))
    return "late", None if named == [1, 2] and job.returncode == 137 else f"status {job.returncode}, {named}: {err.read_text()}"


def main(build, jobs=6, first=None):
    first = random.randrange(1 << 30) if first is None else int(first)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        name, wrong = play_late(build, pathlib.Path(folder))
        failed += wrong is not None
        print(f"{'not ok' if wrong else 'ok'}: {name}" + (f": {wrong}" if wrong else ""), flush=True)
        for seed in range(first, first + int(jobs)):
            begin = time.monotonic()
            name, wrong = play(build, seed, pathlib.Path(folder))
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'}: {name}; {time.monotonic() - begin:.1f} s" + (f": {wrong}" if wrong else ""), flush=True)
    print(f"{jobs} jobs, seeds {first} to {first + int(jobs) - 1}: {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
