# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of tests whose ranks fail: run one, and count those that were wrong."""
import os
import subprocess

LIMIT_S = 60  # mpiexec ends a job then


def run(mpiexec, place, ranks, words, options=(), limit_s=LIMIT_S):
    """Run a job of a program and its arguments; place: settings, and options of mpiexec. Returns how it ended, and the text
    that tells of it."""
    settings, more = place
    command = [mpiexec, *options, "--timeout", str(limit_s), *more, "-n", str(ranks), *words]
    done = subprocess.run(command, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=2 * limit_s, check=False)
    return done, f"{' '.join(command)} ({settings}): status {done.returncode}\n{done.stdout}{done.stderr}"


class Count:
    """Jobs, and those that were wrong, which are printed."""

    def __init__(self):
        self.jobs = self.failed = 0

    def add(self, wrong, name=""):
        """wrong: None, or what went wrong."""
        self.jobs += 1
        if wrong:
            self.failed += 1
            print(f"not ok{name}: {wrong}", flush=True)
