#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Logins that ask for a password on the terminal, and where nobody can answer. usage: login.py MPIEXEC

A shell script stands for ssh. It asks on the terminal as ssh does, and runs the daemon here.
"""
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60
SSH = """#!/bin/sh
echo "$*" >>args
while [ "$1" != -- ]; do shift; done
case $(cat mode) in
    silent) ;;
    *) printf 'password of %s: ' "$2" >/dev/tty
       stty -echo </dev/tty
       read -r word </dev/tty
       stty echo </dev/tty
       [ "$word" = open ] || { echo "Permission denied (publickey,password)." >&2; exit 255; } ;;
esac
exec sh -c "$3"
"""


def claim(text, holds, *told):
    if not holds:
        raise SystemExit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def talk(words, answers):
    """Run words on a terminal of their own; answer each question. Returns all that came, and the status."""
    pid, fd = pty.fork()
    if not pid:
        os.execv(words[0], words)
    text, asked, until = "", 0, time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                got = os.read(fd, 4096)
            except OSError:
                got = b""
            if not got:
                break
            text += got.decode(errors="replace")
        if text.count("password of ") > asked and asked < len(answers):
            asked += 1
            time.sleep(0.3)          # it reads, or has been stopped
            os.write(fd, answers[asked - 1])
    else:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    return text, status


def main(mpiexec):
    mpiexec = os.path.abspath(mpiexec)
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        folder = pathlib.Path(name)
        (folder / "ssh").write_text(SSH)
        (folder / "ssh").chmod(0o755)
        (folder / "mode").write_text("ask")
        job = [mpiexec, "--launcher-exec", f"{name}/ssh", "-host", "there,elsewhere", "-n", "2"]
        text, status = talk(job + ["sh", "-c", "echo rank $BNR_RANK"], [b"open\n", b"open\n"])
        claim("each login asks, and the job runs", status == 0 and "rank 0" in text and "rank 1" in text
              and text.count("password of") == 2, text, status)
        claim("no login is told not to ask", "BatchMode" not in (folder / "args").read_text())
        text, status = talk(job + ["true"], [b"wrong\n", b"open\n"])
        claim("a wrong password is told, with what would help", status == 1 and "failed to authenticate" in text
              and "ssh-copy-id there" in text.replace("elsewhere", "there") and "ssh-agent" in text, text)
        text, status = talk(job + ["true"], [b"\x03"])
        claim("Ctrl-C at the question ends the job", status == 130, text, status)
        (folder / "mode").write_text("silent")
        (folder / "args").write_text("")
        done = subprocess.run(job + ["echo", "x"], start_new_session=True, capture_output=True, text=True,
                              timeout=LIMIT_S)
        claim("without a terminal logins are told not to ask", done.stdout == "x\nx\n"
              and (folder / "args").read_text().count("BatchMode=yes") == 2, done.stdout, done.stderr)


main(*sys.argv[1:])
