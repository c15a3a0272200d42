#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank with a terminal of its own (mpiexec --pty) behaves as on a terminal.

usage: terminal.py MPIEXEC [--over OPTIONS]

mpiexec runs in a window of tmux, which shows what a person would see. With --over the options are
given to mpiexec, too: they may have the rank run on another host. Status 77 where there is no tmux.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from window import LIMIT_S, Window, need_tmux, same


def check_shell(window, start, folder):
    """A shell in the rank's terminal."""
    window.type(start)
    window.shows("inner:")
    window.type("stty size")
    window.shows("24 80")
    window.call("resize-window", "-x", "100", "-y", "30")
    window.type("while [ \"$(stty size)\" != '30 100' ]; do sleep 0.1; done; stty size")
    window.shows("30 100")
    print("ok: the terminal has the window's size, and follows it", flush=True)

    window.clear("inner:")
    window.type("bash -c 'read -s -p word? word; echo; echo ${#word} letters'")
    window.shows("word?")       # bash asks when the terminal echoes no more
    window.type("secret")
    window.shows("6 letters")
    same("what read -s reads is not shown", [l for l in window.lines() if "secret" in l], [])

    window.clear("inner:")
    window.type("sh -c 'echo sleeps; exec sleep 1000'")
    window.shows("sleeps")
    window.type("", "C-c")
    window.shows("inner:")
    window.type("echo code $?")
    window.shows("code 130")
    print("ok: Ctrl-C ends the command, and not the job", flush=True)

    window.type("cat >typed")
    window.type("one")
    window.type("", "C-d")
    window.shows("inner:") # what is typed ahead of it stands before it
    window.type("wc -l <typed")
    window.shows("1")
    print("ok: Ctrl-D ends the input of a command", flush=True)

    if shutil.which("vi"):
        window.clear("inner:")
        window.type("TERM=ansi vi -u NONE text" if "vim" in os.path.realpath(shutil.which("vi"))
                    else "vi text")
        window.shows("~", 20)
        window.type("ifirst", "Enter")
        window.type("second", "Escape")
        window.type(":wq")
        window.shows("inner:")
        with open(os.path.join(folder, "text"), encoding="ascii") as file:
            same("vi shows its screen, and writes its file", file.read(), "first\nsecond\n")


def check_others(window, folder):
    """What other ranks write begins at the left, though the terminal is raw."""
    window.clear("inner:")
    with open(os.path.join(folder, "go"), "w", encoding="ascii"):
        pass
    window.shows("two")
    same("lines of another rank begin at the left", window.lines()[:2], ["inner: one", "two"])


def check_end(window):
    window.type("exit 7")
    window.shows("outer:")
    window.type("echo status $?; stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo -e isig | wc -l")
    window.shows(lambda line: line.endswith("status 7"))
    window.shows("3")
    print("ok: the status is the rank's, and the terminal is as it was", flush=True)


def check_stop(window, mpiexec):
    """While mpiexec is stopped, the shell has its terminal, whose size changes."""
    window.call("resize-window", "-x", "80", "-y", "24")
    window.clear("outer:")
    window.type("set -m")
    window.type(f"PS1='inner: ' {mpiexec} --pty -n 1 sh")
    window.shows("inner:")
    window.type("kill -TSTP $PPID")
    window.shows(lambda line: "Stopped" in line)
    window.type("stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo -e isig | wc -l")
    window.shows("3")
    window.call("resize-window", "-x", "90", "-y", "20")
    window.type("while [ \"$(stty size)\" != '20 90' ]; do sleep 0.1; done; fg")
    window.type("while [ \"$(stty size)\" != '20 90' ]; do sleep 0.1; done; stty size")
    window.shows("20 90")
    window.type("exit")
    window.shows("outer:")
    print("ok: mpiexec that is stopped gives the terminal back, and goes on with it", flush=True)


def modes_of(terminal):
    return subprocess.run(["stty", "-a", "-F", terminal], capture_output=True, text=True,
                          timeout=LIMIT_S, check=True).stdout.replace(";", "").split()


def check_killed(window, mpiexec):
    """mpiexec that is killed leaves its terminal as it was."""
    window.clear("outer:")
    window.type(f"PS1='inner: ' {mpiexec} --pty -n 1 sh")
    window.shows("inner:")
    window.type("kill -KILL $PPID")
    window.shows(lambda line: line.startswith("outer:"))
    terminal = window.call("display-message", "-p", "-t", "main:outer", "#{pane_tty}").strip()
    until = time.monotonic() + LIMIT_S
    while {"icanon", "echo", "isig"} - set(modes_of(terminal)):
        if time.monotonic() > until:
            sys.exit("not so: mpiexec that is killed leaves its terminal as it was\n" +
                     " ".join(modes_of(terminal)))
        time.sleep(0.02)
    print("ok: mpiexec that is killed leaves its terminal as it was", flush=True)


def check_pipes(mpiexec):
    """Where stdin is no terminal."""
    def run(*words, text=""):
        done = subprocess.run([mpiexec, *words], input=text.encode(), capture_output=True,
                              timeout=LIMIT_S, check=False, start_new_session=True)
        return done.returncode, done.stdout.decode()

    ask = "test -t 0 && test -t 1 && test -t 2 && echo $OMPI_COMM_WORLD_RANK"
    same("rank 0 has a terminal, if nothing is said",
         run("--pty", "-n", "3", "sh", "-c", ask + " || true"), (0, "0\r\n"))
    code, text = run("--pty=1-2", "-n", "4", "sh", "-c", ask + " || true")
    same("or those that are named", (code, sorted(text.split())), (0, ["1", "2"]))
    same("a terminal without one around it is 24 lines of 80",
         run("--pty", "-n", "1", "stty", "size"), (0, "24 80\r\n"))
    code, text = run("--pty=1", "-n", "2", "sh", "-c",
                     "[ $OMPI_COMM_WORLD_RANK = 0 ] || { stty -echo; echo ready; cat; }",
                     text="some\nlines")
    same("stdin goes to the rank with the terminal, and ends there",
         (code, text.replace("ready\r\n", "").endswith("some\r\nlines")), (0, True))
    for words, part in ((["--output", "json"], "--output json"), (["--pty=5"], "last rank is 0")):
        done = subprocess.run([mpiexec, "--pty", *words, "true"], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        same(f"--pty {words} is refused", (done.returncode, part in done.stderr), (2, True))


def main():
    mpiexec = os.path.abspath(sys.argv[1])
    over = sys.argv[3] if len(sys.argv) == 4 else ""
    need_tmux()
    # Other hosts of test/hosts have a /tmp of their own.
    place = os.path.dirname(mpiexec) if over else None
    with tempfile.TemporaryDirectory(prefix="vireo-term-", dir=place) as folder:
        os.chdir(folder)
        with open("second", "w", encoding="ascii") as file:
            file.write("[ $OMPI_COMM_WORLD_RANK != 0 ] || exec env -u ENV PS1='inner: ' sh\n"
                       "while [ ! -e go ]; do sleep 0.05; done; printf 'one\\ntwo\\n'\n")
        window = Window(folder)
        try:
            check_shell(window, f"{mpiexec} {over} --pty -n 2 sh second", folder)
            check_others(window, folder)
            check_end(window)
            if not over:
                check_stop(window, mpiexec)
                check_killed(window, mpiexec)
        finally:
            window.end()
        if not over:
            check_pipes(mpiexec)


main()
