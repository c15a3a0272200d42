#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a job over several hosts takes to start and end, beside other launchers.

usage: launch.py BUILD [--shapes 5x1,17x1,4x8] [--rounds N] [--only NAME,...] [--sshd]

Runs itself again on hosts of its own (test/hosts/run). All launchers are given one cheap command to
start their daemons (test/hosts/rsh.c); "bare" runs that command alone, with a program that does
nothing, on all hosts at once; "raw" has a shell there start the ranks: what all processes that must be
cost without a launcher; "least" has a process on each host that connects back and starts the ranks
(launch_least.c): what a launcher with daemons costs at least. With --sshd the daemons are started by
ssh, and the hosts are others than that of the launcher, so that each takes a login.

Rounds are interleaved. Prints medians: wall time, and the CPU time of all processes on all hosts,
which a busy machine disturbs less; the latter where a cpuacct group may be made.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
GROUPS = pathlib.Path("/sys/fs/cgroup/cpuacct")


def cpu_ms(group):
    return int((group / "cpuacct.usage").read_text()) / 1e6 if group else 0


def on_all(by, hosts, line):
    """A command that has a shell on each host run a line, on all at once."""
    return ["sh", "-c", "".join(f"{by} {host} '{line}' & " for host in hosts) + "wait"]


def commands(build, by, hosts, each):
    """The command lines by name, of those launchers that are there."""
    program = shutil.which("true")
    slots = ",".join(f"{host}:{each}" for host in hosts)
    ranks = str(len(hosts) * each)
    command = ["-launcher", "ssh", "-launcher-exec", shutil.which(by)]
    found = {
        "bare": on_all(by, hosts, "true"),
        "raw": on_all(by, hosts, f"{program} & " * each + "wait"),
        "least": [f"{build}/test/bench/launch_least", by, str(each), program, *hosts],
        "vireo": [f"{build}/bnr/mpiexec", *command, "-host", slots, "-n", ranks, "true"],
        "hydra": ["mpiexec.hydra", *command, "-hosts", slots, "-n", ranks, "true"],
        "mpirun": ["mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", by, "--mca",
                   "plm_rsh_no_tree_spawn", "1", "--oversubscribe", "-host", slots, "-n", ranks,
                   "true"]}
    return {name: words for name, words in found.items() if shutil.which(words[0])}


def once(words, group, tries):
    """One launch's wall and CPU time; of a launcher that fails now and then, the first good one's."""
    for left in reversed(range(tries)):
        before, begin = cpu_ms(group), time.perf_counter()
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)
        wall = (time.perf_counter() - begin) * 1e3
        time.sleep(0.05)  # until daemons that outlive their launcher have ended
        if not done.returncode:
            return wall, cpu_ms(group) - before
        if not left:
            sys.exit(f"launch: {' '.join(words)} failed: {done.stderr}")


def measure(given):
    is_ssh = os.environ["LAUNCH_BY"] == "ssh"
    hosts = os.environ["HOSTS_LIST"].split(",")[is_ssh:]
    group = pathlib.Path(os.environ["LAUNCH_GROUP"]) if os.environ.get("LAUNCH_GROUP") else None
    tried = commands(given.build, os.environ["LAUNCH_BY"], hosts, given.each)
    if is_ssh:
        del tried["least"]  # it runs ranks where it is started
    tried = {name: tried[name] for name in tried if not given.only or name in given.only.split(",")}
    taken = {name: [] for name in tried}
    for number in range(given.rounds + 1):
        for name, words in tried.items():
            # Hydra loses a race with programs that end at once, in one of ten jobs on 17 hosts.
            pair = once(words, group, 5 if name == "hydra" else 1)
            if number:  # the first warms caches
                taken[name].append(pair)
    for name, pairs in taken.items():
        wall, cpu = (statistics.median(column) for column in zip(*pairs))
        least = min(wall for wall, _ in pairs)
        print(f"{len(hosts):3} x {given.each:<3} {name:7} {wall:8.1f} ms, at best {least:8.1f}, "
              f"CPU {cpu:8.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--shapes", default="5x1,17x1,4x8")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--sshd", action="store_true")
    parser.add_argument("--each", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.build = os.path.abspath(given.build)
    if given.each:
        measure(given)
        return
    os.environ["HOSTS_PROGRAM"] = f"{given.build}/test/hosts/hosts"
    os.environ["LAUNCH_BY"] = "ssh" if given.sshd else f"{given.build}/test/hosts/rsh"
    options = ["--sshd"] if given.sshd else []
    group = GROUPS / f"vireo-launch-{os.getpid()}"
    try:
        group.mkdir()
        os.environ["LAUNCH_GROUP"] = str(group)
    except OSError:
        group = None
    try:
        for shape in given.shapes.split(","):
            hosts, each = map(int, shape.split("x"))
            subprocess.run([str(HERE.parent.parent / "hosts/run"), *options, str(hosts + given.sshd), "--",
                            sys.executable, str(HERE), given.build, "--rounds", str(given.rounds), "--only",
                            given.only, "--each", str(each)], check=True,
                           preexec_fn=(lambda: (group / "tasks").write_text(str(os.getpid())))
                           if group else None)
    finally:
        if group:
            time.sleep(0.2)
            group.rmdir()


main()
