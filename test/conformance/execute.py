# SPDX-License-Identifier: BSD-3-Clause
"""Run one test under a launcher and judge it as the suite's own runner does.

This process becomes the reaper of orphans (prctl), so that whatever a test leaves behind
is found, counted against the test, and ended before the next one starts.
"""
import ctypes
import functools
import os
import re
import signal
import subprocess
import tempfile
import time

GRACE = 5          # seconds that mpiexec gets beyond the limit to end a job itself
LEFTOVER_WAIT = 2  # seconds within which nothing of a finished job may remain
OUTPUT_MAX = 1 << 20
PR_SET_CHILD_SUBREAPER = 36
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)

STAYS = "no errors, but it does not leave MPI_Finalize"
NO_ERRORS = re.compile(r"^\s*No [Ee]rrors\s*$")
# Open MPI's mpirun may lose a race with a command that it starts on another host.
HARMLESS = re.compile(r"^\s*(Test Passed\s*|\[\S+\] plm:rsh: Warning: setpgid\(.*)?$")
# mpiexec tells of ranks that have died, which is right where a test is about that.
OF_THE_DEAD = re.compile(r"^mpiexec: rank \d+ on \S+ \(pid \d+\) (was killed by signal|exited with(out| code)) .*$")


def become_reaper():
    """Have orphans of every later child become children of this process."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(test, binary, launcher, seconds, end=None):
    """Run test by the words of launcher, which "-n" and its ranks follow; return (reason it failed or None,
    seconds taken). A job that has found no errors and is not at its end so many seconds later is ended: STAYS."""
    if test.mpiexec_args and not takes((*launcher, *test.mpiexec_args)):
        return f"{launcher[0]} does not take {' '.join(test.mpiexec_args)}", 0.0
    limit = test.limit(seconds)
    # Both launchers' families read this as their own limit on the job.
    environment = {**os.environ, **test.env, "MPIEXEC_TIMEOUT": str(max(1, round(limit)))}
    command = [*launcher, "-n", str(test.ranks), *test.mpiexec_args, "./" + os.path.basename(binary), *test.args]
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(command, cwd=os.path.dirname(binary), env=environment,
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        except OSError as error:
            return f"{command[0]}: {error.strerror}", 0.0
        stays = end is not None and _stays(child, output, limit, end)
        status = None if stays else _wait(child, max(0, begin + limit - time.monotonic()))
        taken = time.monotonic() - begin
        left = _end_leftovers()
        lines = _lines(output)
    if stays:
        return STAYS, taken
    if status is None:
        return _with_first(f"timeout after {limit:.0f} s", lines), taken
    reason = _judge(test.result_test, status, lines)
    if reason and taken >= limit:
        reason = _with_first(f"timeout after {limit:.0f} s", lines)
    if not reason and left:
        reason = f"left {left} processes behind"
    return reason, taken


@functools.lru_cache(maxsize=None)
def takes(launcher):
    """Tell whether the words of launcher run at all: a refusal must not pass for the failure that some tests are
    meant to end in."""
    command = [*launcher, "-n", "1", "true"]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _lines(output):
    """What a job has written so far; the place at which it writes on stays."""
    return os.pread(output.fileno(), OUTPUT_MAX, 0).decode(errors="replace").splitlines()


def _stays(child, output, limit, end):
    """End child where it has said that it found no errors, and stays for so many seconds; tell whether that was so."""
    begin, said = time.monotonic(), None
    while child.poll() is None and time.monotonic() - begin < limit:
        lines = _lines(output)
        if said is None and len(lines) == 1 and NO_ERRORS.match(lines[0]):
            said = time.monotonic()
        if said is not None and time.monotonic() - said > end:
            _end(child)
            return True
        time.sleep(0.1)
    return False


def _wait(child, limit):
    """Return the exit status of child, or None when it had to be ended."""
    try:
        return child.wait(limit + GRACE)
    except subprocess.TimeoutExpired:
        _end(child)
        return None
    except BaseException:  # this run is being ended: so is the test
        _end(child)
        _end_leftovers()
        raise


def _end(child):
    child.terminate()
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _judge(how, status, lines):
    """Return why the outcome is a failure, or None."""
    if how in ("TestStatus", "TestErrFatal"):  # these must end in failure; any output will do
        if status in (126, 127) or -status in CRASHES or status - 128 in CRASHES:
            return _with_first(_status_text(status), lines)
        return None if status else "exit code 0 where a failure is due"
    if how not in (None, "TestStatusNoErrors"):
        return f"unknown resultTest {how}"
    odd = [line for line in lines if not NO_ERRORS.match(line) and not HARMLESS.match(line) and
           not (how == "TestStatusNoErrors" and OF_THE_DEAD.match(line))]
    clean = any(NO_ERRORS.match(line) for line in lines)
    if how == "TestStatusNoErrors" and status == 0:
        return "exit code 0 where a failure is due"
    if how is None and status != 0:
        return _with_first(_status_text(status), odd)
    if odd:
        return "unexpected output: " + odd[0].strip()[:160]
    return None if clean else "no 'No Errors' in the output"


def _status_text(status):
    number = -status if status < 0 else status - 128
    if 0 < number < 65:
        try:
            return f"exit code {status} ({signal.Signals(number).name})"
        except ValueError:
            pass
    return f"exit code {status}"


def _with_first(text, lines):
    first = next((line.strip() for line in lines if line.strip()), "")
    return f"{text}: {first[:160]}" if first else text


def _end_leftovers():
    """Wait a little for what a job left to go by itself; kill the rest; return how many."""
    deadline = time.monotonic() + LEFTOVER_WAIT
    while _reap() and time.monotonic() < deadline:
        time.sleep(0.02)
    left = _reap()
    rounds = 0
    while _reap() and rounds < 100:
        for pid in _reap():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
        rounds += 1
    return len(left)


def _reap():
    """Collect dead children; return the live ones."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return []
        if pid == 0:
            break
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # a kernel built without it: leftovers stay unseen
        return []
