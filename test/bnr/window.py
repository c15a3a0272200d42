# SPDX-License-Identifier: BSD-3-Clause
"""Windows of a tmux of the test's own, as a person would see them."""
import os
import shutil
import signal
import subprocess
import sys
import time

NOT_HERE = 77
LIMIT_S = 60


def need_tmux():
    if not shutil.which("tmux"):
        print("left out: there is no tmux")
        sys.exit(NOT_HERE)


def same(claim, got, wanted):
    if got != wanted:
        sys.exit(f"not so: {claim}\ngot:    {got!r}\nwanted: {wanted!r}")
    print("ok:", claim, flush=True)


class Window:
    """A window of a tmux of our own, with a shell in it."""

    def __init__(self, folder):
        self.words = ["tmux", "-S", os.path.join(folder, "tmux"), "-f", "/dev/null"]
        self.call("new-session", "-d", "-s", "main", "-n", "outer", "-x", "80", "-y", "24",
                  "env", "DEBUGINFOD_URLS=", "PS1=outer: ", "ENV=", "sh")
        try:
            self.shows("outer:")
        except BaseException:
            self.end()
            raise

    def call(self, *words):
        return subprocess.run(self.words + list(words), check=True, capture_output=True, text=True,
                              timeout=LIMIT_S).stdout

    def processes(self):
        """All that run in the windows."""
        panes = subprocess.run(self.words + ["list-panes", "-a", "-F", "#{pane_pid}"], check=False,
                               capture_output=True, text=True, timeout=LIMIT_S).stdout.split()
        return subprocess.run(["ps", "-o", "pid=", "-s", ",".join(panes) or "0"], check=False,
                              capture_output=True, text=True, timeout=LIMIT_S).stdout.split()

    def end(self):
        """Leave no debugger whose test has failed: lldb does not end with its terminal."""
        left = self.processes()
        subprocess.run(self.words + ["kill-server"], check=False, capture_output=True,
                       timeout=LIMIT_S)
        for pid in left:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def lines(self, window="outer"):
        """What a window shows; nothing, where it is not there yet."""
        done = subprocess.run(self.words + ["capture-pane", "-p", "-t", f"main:={window}"],
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        return done.stdout.rstrip("\n").split("\n")

    def type(self, text, *keys, window="outer"):
        if text:
            self.call("send-keys", "-t", f"main:={window}", "-l", "--", text)
        for key in keys or ["Enter"]:
            self.call("send-keys", "-t", f"main:={window}", key)

    def shows(self, wanted, count=1, window="outer"):
        """Wait until so many lines are as wanted: a text without blanks behind it, or a test."""
        is_it = wanted if callable(wanted) else lambda line: line.rstrip() == wanted
        until = time.monotonic() + LIMIT_S
        while sum(map(is_it, self.lines(window))) < count:
            if time.monotonic() > until:
                sys.exit(f"not so: the window shows {wanted!r}\n" + "\n".join(self.lines(window)))
            time.sleep(0.02)

    def clear(self, prompt):
        self.type("clear")
        until = time.monotonic() + LIMIT_S
        while self.lines() != [prompt] and time.monotonic() < until:
            time.sleep(0.02)
        same(f"the window is clear, but for {prompt!r}", self.lines(), [prompt])
