# SPDX-License-Identifier: BSD-3-Clause
"""Processes that listen in the name of a job. Run as: impostor.py MPIEXEC VIREO"""
import os
import resource
import signal
import socket
import subprocess
import sys
import time

mpiexec, vireo = sys.argv[1:]
SPACE = os.stat("/proc/self/ns/pid").st_ino


def claim(what, good):
    if not good:
        sys.exit(f"not so: {what}")
    print("ok:", what)


def listen(pid):
    """A socket of ours that bears the name of the job of mpiexec pid."""
    s = socket.socket(socket.AF_UNIX)
    s.bind(f"\0vireo/{SPACE}/{pid}")
    s.listen()
    s.settimeout(20)
    return s


def ask(pid):
    return subprocess.run([vireo, "report", str(pid)], capture_output=True, text=True, timeout=90)


# Another process in the name of a living one is not believed.
bystander = subprocess.Popen(["sleep", "60"])
try:
    with listen(bystander.pid):
        answer = ask(bystander.pid)
        claim("another process's words are not printed", answer.returncode and not answer.stdout)
        claim("it is said why", "listens in its name" in answer.stderr)
finally:
    bystander.kill()
    bystander.wait()

# The process itself may say what it likes, but not steer the terminal.
door = listen(os.getpid())
asker = subprocess.Popen([vireo, "report", str(os.getpid())], stdout=subprocess.PIPE, text=True)
talk, _ = door.accept()
talk.recv(4096)  # a socket with unread bytes is reset
talk.sendall(b"plain\n\033]0;title\007\033[31mred\n")
talk.close()
told = asker.communicate(timeout=90)[0]
claim("control characters are not passed on", told == "plain\n?]0;title??[31mred\n")
door.close()

# mpiexec tells that its name is taken. The process takes it before it becomes mpiexec.
code = f"""
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind("\\0vireo/{SPACE}/%d" % os.getpid())
os.set_inheritable(s.fileno(), True)
os.execv(sys.argv[1], [sys.argv[1], "-n", "1", "true"])
"""
run = subprocess.run([sys.executable, "-c", code, mpiexec], capture_output=True, text=True,
                     timeout=60)
claim("mpiexec runs without its name", run.returncode == 0)
claim("and says so", "listens in the name of this job" in run.stderr)

# Without descriptors those who ask are turned away, and mpiexec does not spin.
job = subprocess.Popen([mpiexec, "-n", "1", "sleep", "30"])
try:
    time.sleep(0.5)
    used = len(os.listdir(f"/proc/{job.pid}/fd"))
    resource.prlimit(job.pid, resource.RLIMIT_NOFILE, (used, used))
    crowd = []
    for _ in range(20):
        s = socket.socket(socket.AF_UNIX)
        s.connect(f"\0vireo/{SPACE}/{job.pid}")  # waits where others are before it
        crowd.append(s)

    def ticks():
        with open(f"/proc/{job.pid}/stat", encoding="ascii") as f:
            return sum(int(n) for n in f.read().rsplit(")", 1)[1].split()[11:13])
    time.sleep(0.5)
    before = ticks()
    time.sleep(1)
    claim("mpiexec without descriptors does not spin", ticks() - before < 20)
finally:
    job.send_signal(signal.SIGTERM)
    job.wait(20)
