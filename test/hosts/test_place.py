#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What options ask about the start of ranks holds on every host. usage: test_place.py BUILD

Each claim runs on two hosts of its own (test/hosts/run). Status 77 where the machine does not allow
namespaces.
"""
import os
import pathlib
import subprocess
import sys
import time

RUN = str(pathlib.Path(__file__).resolve().parent / "run")
NOT_ALLOWED = 77
MPIEXEC = 'timeout 50 "$BUILD"/bnr/mpiexec --launcher-cmd "$HOSTS_PROGRAM enter %h" '
ALLOWED = "sed -n 's/Cpus_allowed_list:[^0-9]*//p' /proc/self/status"


def run(options):
    """Run mpiexec. Returns the exit status and the sorted lines of both streams."""
    done = subprocess.run([RUN, "2", "--", "sh", "-c", MPIEXEC + options + " 2>&1"],
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == NOT_ALLOWED:
        print(done.stderr)
        sys.exit(NOT_ALLOWED)
    return done.returncode, sorted(done.stdout.splitlines())


def holds(text, options, *wanted):
    status, lines = run(options)
    if status or lines != list(wanted):
        sys.exit(f"not so: {text}\ngot {status}: {lines}\nwanted {list(wanted)}")
    print(f"ok: {text}", flush=True)


def refused(text, options, part):
    status, lines = run(options)
    if not status or not any(part in line for line in lines):
        sys.exit(f"not so: {text}\ngot {status}: {lines}\nwanted {part}")
    print(f"ok: {text}", flush=True)


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
    refused("what is not known on several hosts is refused", "-host h0,h1 --map-by ppr:1:core true",
            "say ppr:N:node, or -n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
