#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of somebody who is new here: each does what it says, or ends with one line that tells the cure.

    newcomer.py MPIEXEC WORK [-v]

Each line runs in a folder of its own, whose name has a blank, by sh; M is mpiexec and W the program work.c. It has
LIMIT seconds, and leaves no process. -v prints the output of each.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 40   # seconds
AT_ONCE = 4
FAKE = ("mkdir bin; printf '#!/bin/sh\\n%s\\n' >bin/ssh; chmod +x bin/ssh; "
        "PATH=$PWD/bin:$PATH M -host away -n 1 true")

# What is typed; its exit status; what stdout is, or None: not looked at; and a part of the one line on stderr, or
# "": there is none. A list of parts: as many lines. None: stderr is not looked at.
LINES = [
    # hosts
    ("M -host no-such-host.invalid -n 2 true", 1, "", "no-such-host.invalid"),
    (FAKE % "echo Permission denied >&2; exit 255", 1, "", "ssh-copy-id"),
    (FAKE % "echo Host key verification failed. >&2; exit 255", 1, "", "Host key verification failed"),
    (FAKE % "echo Connection refused >&2; exit 255", 1, "", "Connection refused"),
    (FAKE.replace("M -host", "M --set launch_limit_ms=1000 -host") % "exec sleep 60", 1, "", "in time"),
    ("PATH=/none M -host away -n 1 /bin/true", 1, "", "ssh"),
    ("M --launcher-cmd 'false %h' -host away -n 1 true", 1, "", "away"),
    ("M --launcher-cmd 'no-such-shell %h' -host away -n 1 true", 1, "", "no-such-shell"),
    ("M --launcher-cmd 'env A=%h' -host localhost,elsewhere -n 2 echo x", 0, "x\nx\n", ""),
    ("echo 'h1 slots=many' >hosts; M -hostfile hosts -n 1 true", 2, "", "slots"),
    (": >hosts; M -hostfile hosts -n 1 true", 2, "", "hosts"),
    ("M -hostfile / -n 1 true", 2, "", "directory"),
    ("M -host '' -n 1 true", 2, "", "host"),
    ("PBS_NODEFILE=none PBS_JOBID=1 M -n 1 echo x", 2, "", "PBS_NODEFILE"),
    # numbers of ranks
    ("M -n 0 true", 2, "", "-n"),
    ("M -n -1 true", 2, "", "-n"),
    ("M -n two true", 2, "", "two"),
    ("M -n 99999999999 true", 2, "", "99999999999"),
    ("M -n", 2, "", "-n"),
    # programs
    ("M -n 2", 2, "", "program"),
    ("M", 2, "", "program"),
    ("M -n 2 no-such-program", 127, "", "no-such-program"),
    ("M -n 2 ./no-such-program", 127, "", "no-such-program"),
    ("mkdir a; M -n 2 ./a", 126, "", "is a folder"),
    ("echo 'echo x' >a; M -n 2 ./a", 126, "", "chmod"),
    ("printf '\\177ELF no program' >a; chmod +x a; M -n 2 ./a", 126, "", "./a"),
    ("echo '#!/no/interpreter' >a; chmod +x a; M -n 2 ./a", 127, "", "/no/interpreter"),
    ("echo 'echo x' >a; chmod +x a; M -n 2 ./a", 0, "x\nx\n", ""),
    ("cp /bin/echo 'an echo'; M -n 2 './an echo' 'a b'", 0, "a b\na b\n", ""),
    ("W init hello finalize >out", 0, "", ""),
    ("M -n 2 true :", 2, "", "program"),
    # folders and surroundings
    ("M -wdir none -n 2 true", 2, "", "none"),
    ("mkdir 'x y'; M -wdir 'x y' -n 1 sh -c 'basename \"$PWD\"'", 0, "x y\n", ""),
    ("TMPDIR=/no/folder M -n 2 W init ring finalize", 0, "", ""),
    ("TMPDIR=/proc M -n 2 W init ring finalize", 0, "", ""),
    ("mkdir 't m'; TMPDIR=\"$PWD/t m\" M -n 2 W init ring finalize; ls 't m'", 0, "", ""),
    ("TMPDIR= M -n 2 W init ring finalize", 0, "", ""),
    ("unset HOME; M -n 2 W init ring finalize", 0, "", ""),
    ("unset PATH; M -n 2 /bin/echo x", 0, "x\nx\n", ""),
    ("env -i M -n 2 /bin/echo x", 0, "x\nx\n", ""),
    ("umask 777; M -n 2 W init ring finalize", 0, "", ""),
    ("ulimit -n 16; M -n 2 echo x", 1, "", "raise it, by ulimit -n"),
    ("ulimit -n 64; M -n 2 echo x", 0, "x\nx\n", ""),
    ("ulimit -n 5; M -n 2 echo x", 1, "", "ulimit -n"),
    ("ulimit -s 64; M -n 2 echo x", 0, "x\nx\n", ""),
    ("ulimit -c 0; M -n 2 W init ring finalize", 0, "", ""),
    ("trap '' PIPE HUP; M -n 2 W init ring finalize", 0, "", ""),
    ("trap '' CHLD; M -n 2 W init ring finalize", 0, "", ""),
    ("trap '' TERM INT; M -n 2 W init ring finalize", 0, "", ""),
    ("taskset -c $(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//') M -n 4 W init ring finalize", 0, "", ""),
    # streams
    ("M -n 2 W init ring finalize <&-", 0, "", ""),
    ("M -n 2 W init ring finalize >&-", 0, "", ""),
    ("M -n 2 W init ring finalize 2>&-", 0, "", ""),
    ("M -n 2 W init ring finalize <&- >&- 2>&-", 0, "", ""),
    ("M -n 2 echo x >/dev/full", 1, "", "No space left on device"),
    ("M -outfile-pattern /dev/full -n 1 echo x", 1, "", ["No space left on device", "exited with code 1"]),
    ("M -outfile-pattern made/%r -n 1 echo x; cat made/0", 0, "x\n", ""),
    ("mkfifo a; M -outfile-pattern a -n 1 yes", 1, "", "cannot write stdout of rank 0 to 'a'"),
    ("mkfifo a; exec 3<>a; M --timeout 1 -outfile-pattern a -n 1 yes 3<&-", 124, "", "did not end within 1 s"),
    ("M -n 1 cat </", 1, "", ["Is a directory", "exited with code 1"]),
    ("M -n 2 yes | head -n 1", 0, "y\n", ""),
    # words
    ("M --nn 2 true", 2, "", "--nn"),
    ("M --timeout soon -n 1 true", 2, "", "soon"),
    ("M --timeout 1 -n 1 sleep 30", 124, "", "did not end within 1 s"),
    ("MPIEXEC_TIMEOUT=soon M -n 1 true", 2, "", "MPIEXEC_TIMEOUT"),
    ("M -configfile none", 2, "", "none"),
    ("echo '-n 1 --nn true' >a; M -configfile a", 2, "", "--nn"),
    ("M -x NO_SUCH_VARIABLE -n 1 echo x", 0, "x\n", "NO_SUCH_VARIABLE"),
    ("M --bind-to nothing -n 1 true", 2, "", "nothing"),
    ("VIREO_CHANNELS=no-such M -n 1 W init finalize", 16, "", "the channels are"),
    ("VIREO_SPIN_US=long M -n 2 W init finalize", 2, "", "it takes a number of us"),
    ("M --version | wc -l", 0, "1\n", ""),
    # ends
    ("M -n 2 sh -c 'exit 3'", 3, "", "exited with code 3"),
    ("M -n 2 sh -c 'kill -9 $$'", 137, "", "killed by signal 9"),
    ("unshare -fp --mount-proc true || exit 0; unshare -fp --mount-proc M -n 2 W init ring finalize", 0, None, None),
    ("timeout --preserve-status -s INT 1 M -n 2 sleep 30", 130, "", None),
    ("M -n 2 W init ring finalize & M -n 2 W init ring finalize && wait $!", 0, "", ""),
]


def are_in(told, lines):
    parts = [told] if isinstance(told, str) else told
    return len(lines) == len(parts) and all(part in line for part, line in zip(parts, lines))


def run(line, environment):
    """Returns the fault, or None, and the output."""
    typed, status, stdout, told = line
    with tempfile.TemporaryDirectory(prefix="a newcomer ") as folder:
        script = re.sub(r"\bM\b(?= |$)", '"$MPIEXEC"', re.sub(r"\bW\b", '"$WORK"', typed))
        done = subprocess.run(["timeout", "-k", "5", str(LIMIT), "sh", "-c", script], cwd=folder,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", check=False)
    said = f"status {done.returncode}\n{done.stdout}{done.stderr}"
    lines = done.stderr.splitlines()
    wrong = None
    if done.returncode != status:
        wrong = f"status {done.returncode}, not {status}"
    elif stdout is not None and done.stdout != stdout:
        wrong = f"stdout is not {stdout!r}"
    elif told == "" and lines:
        wrong = "it says something"
    elif told and not are_in(told, lines):
        wrong = f"not just {told!r}"
    return wrong, said


def main(mpiexec, work, *options):
    environment = {name: text for name, text in os.environ.items()
                   if not name.startswith(("VIREO_", "MPIEXEC_", "BNR_"))}
    environment |= {"MPIEXEC": str(pathlib.Path(mpiexec).resolve()), "WORK": str(pathlib.Path(work).resolve()),
                    "LC_ALL": "C"}
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for line, (wrong, said) in zip(LINES, pool.map(lambda line: run(line, environment), LINES)):
            print(f"{'not so' if wrong else 'ok'}: {line[0]}" + (f": {wrong}" if wrong else ""))
            failed += wrong is not None
            if wrong or "-v" in options:
                print("    " + said.replace("\n", "\n    "))
    print(f"{len(LINES)} lines, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
