#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts on this machine are what the tests take them for. usage: test_hosts.py HOSTS

HOSTS is the built program. Status 77, which Meson counts as skipped, where the machine does not
allow namespaces; in the gate that is a failure.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RUN, ENTER = str(HERE / "run"), str(HERE / "enter")
PYTHON = sys.executable
NOT_ALLOWED = 77
SPACES = ("pid", "net", "ipc", "uts", "mnt")

# Programs that hosts run. LISTEN says that it listens, then counts bytes until the end.
LISTEN = """
import socket, sys
server = socket.create_server(("", 7000), family=socket.AF_INET6, dualstack_ipv6=True)
print("listening", flush=True)
end, _ = server.accept()
count = 0
while got := end.recv(1 << 16):
    count += len(got)
print(count, flush=True)
"""
CONNECT = """
import os, socket, subprocess, sys, time
address, size = sys.argv[1], int(sys.argv[2])
enter = [os.environ["HOSTS_PROGRAM"], "enter", "h1", sys.executable, "-c", sys.argv[3]]
listener = subprocess.Popen(enter, stdout=subprocess.PIPE, text=True)
assert listener.stdout.readline() == "listening\\n"
begin = time.monotonic()
try:
    end = socket.create_connection((address, 7000), timeout=2)
except TimeoutError:
    print("timeout 0")
    listener.kill()
    sys.exit()
connected = time.monotonic()
end.settimeout(20)
end.sendall(bytes(size))
end.shutdown(socket.SHUT_WR)
assert listener.stdout.readline() == f"{size}\\n"
print(connected - begin, time.monotonic() - connected)
"""
DATAGRAMS = """
import os, socket, subprocess, sys, time
count = int(sys.argv[1])
program = '''
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
s.bind(("", 7001))
s.settimeout(1)
print("bound", flush=True)
order = []
try:
    while True:
        order.append(int(s.recv(16)))
except TimeoutError:
    print(len(order), order == sorted(order), flush=True)
'''
enter = [os.environ["HOSTS_PROGRAM"], "enter", "h1", sys.executable, "-c", program]
listener = subprocess.Popen(enter, stdout=subprocess.PIPE, text=True)
assert listener.stdout.readline() == "bound\\n"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(count):
    s.sendto(str(i).encode(), ("10.77.0.3", 7001))
    if i % 20 == 0:
        time.sleep(0.002)
print(listener.stdout.readline())
"""


def claim(text, holds, *told):
    if not holds:
        sys.exit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def run(*arguments, limit=60, **more):
    return subprocess.run([RUN, *map(str, arguments)], capture_output=True, text=True,
                          timeout=limit, **more)


def output(*arguments):
    done = run(*arguments)
    if done.returncode:
        sys.exit(f"run {arguments} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def litter():
    """What a run could leave on the machine."""
    text = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True).stdout
    return {
        "links": {line.split()[0] for line in text.splitlines()},
        "mounts": set(pathlib.Path("/proc/self/mountinfo").read_text().splitlines()),
        "run": set(os.listdir("/run")),
        "name": os.uname().nodename,
        "id": pathlib.Path("/etc/machine-id").read_text(),
    }


def processes():
    """Processes whose program is ours."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe").split(" (")[0] == os.environ["HOSTS_PROGRAM"]:
                found.append(pid)
        except OSError:
            pass
    return found


def hosts_are_apart():
    script = ("for h in $(echo $HOSTS_LIST | tr , ' '); do $HOSTS_PROGRAM enter $h sh -c '"
              "echo $(hostname) $(cat /etc/machine-id /proc/sys/kernel/random/boot_id)"
              + "".join(f" $(readlink /proc/self/ns/{s})" for s in SPACES) +
              " $(ls -A /tmp /dev/shm | wc -l) $$; echo here >/tmp/mine; echo >/dev/shm/mine'; done")
    before = set(os.listdir("/tmp"))
    rows = [line.split() for line in output(17, "--", "sh", "-c", script).splitlines()]
    claim("17 hosts have names", [r[0] for r in rows] == [f"h{i}" for i in range(17)], rows)
    for column, what in enumerate(("machine-id", "boot-id", *SPACES), start=1):
        claim(f"each has a {what} of its own", len({r[column] for r in rows}) == 17, rows)
    claim("no host sees files of others in /tmp and /dev/shm", len({r[-2] for r in rows}) == 1, rows)
    claim("pids begin anew", all(int(r[-1]) < 100 for r in rows), rows)
    claim("the machine's /tmp is not theirs", "mine" not in os.listdir("/tmp") or "mine" in before)


def programs_enter():
    def entered(*words, **more):
        return run(2, "--", "sh", "-c", '"$@"', "sh", ENTER, *words, **more)
    claim("a program's status comes back", entered("h1", "sh", "-c", "exit 5").returncode == 5)
    claim("so does its signal", entered("h1", "sh", "-c", "kill -9 $$").returncode == 137)
    claim("so does that of the first host's", run(2, "--", "sh", "-c", "exit 6").returncode == 6)
    text = "".join(f"{i}\n" for i in range(50000))
    claim("bytes go in and out", entered("h1", "cat", input=text).stdout == text)
    done = entered("h1", "sh", "-c", "echo a; echo b >&2")
    claim("streams stay apart", (done.stdout, done.stderr) == ("a\n", "b\n"), done)
    done = entered("h9", "true")
    claim("a host that is not there is named", done.returncode == 1 and "'h9'" in done.stderr, done)
    done = entered("h1", "no-such-program")
    claim("so is a program", done.returncode == 127 and "no-such-program" in done.stderr, done)
    done = entered("h1", "env", env=os.environ | {"SECRET": "x"})
    claim("the environment stays behind", "SECRET" not in done.stdout and "PATH" in done.stdout)


def words_are_checked():
    for words, part in ((["0", "--", "true"], "1 to 256"), (["2", "true"], "--"),
                        (["--loss", "x", "2", "--", "true"], "--loss"), ([], "usage"),
                        (["--firewall", "h1", "2", "--", "true"], "FROM:TO"),
                        (["2", "--", "no-such-program"], "no-such-program"),
                        (["--setup", "exit 3", "2", "--", "true"], "status")):
        done = run(*words)
        claim(f"'{' '.join(words)}' is refused", done.returncode != 0 and part in done.stderr, done)


def connect(options, size=1, address="h1"):
    words = output(*options, 2, "--", PYTHON, "-c", CONNECT, address, size, LISTEN).split()
    return words[0] if words[0] == "timeout" else (float(words[0]), float(words[1]))


def networks_are_as_asked():
    for address in ("10.77.0.3", "fd77:0::2"):
        claim(f"hosts connect to {address}", connect([], 1000, address)[0] < 1)
    claim("bytes arrive through the switch", connect(["--delay", "1"], 3000000)[1] < 30)
    took = connect(["--delay", 50], address="10.77.0.3")[0]
    claim("a delay is there and back again, also of the question for the address",
          0.19 < took < 1, took)
    took = connect(["--rate", 8], 2000000)[1]
    claim("2 MB take 2 s at 8 Mbit/s", 1.8 < took < 6, took)
    words = output("--loss", 20, 2, "--", PYTHON, "-c", DATAGRAMS, 1000).split()
    claim("a fifth is lost", 700 < int(words[0]) < 880, words)
    words = output("--delay", "5:20", 2, "--", PYTHON, "-c", DATAGRAMS, 300).split()
    claim("jitter changes the order", words[1] == "False", words)
    claim("a firewall drops", connect(["--firewall", "h0:h1"]) == "timeout")
    claim("from any host", connect(["--firewall", "*:h1"]) == "timeout")
    claim("in one direction alone", connect(["--firewall", "h1:*"])[0] < 1)
    options = ["--networks", 2, "--firewall", "*:*@0"]
    claim("in one network alone",
          connect(options, address="10.77.0.3") == "timeout" and
          connect(options, address="10.78.0.3")[0] < 1)
    done = run("--no-names", 2, "--", "getent", "hosts", "h1")
    claim("names may be missing", done.returncode != 0, done)
    done = run("--setup", "ip tuntap add dead mode tun", 2, "--", ENTER, "h1", "ip", "link")
    claim("each host is prepared", "dead" in done.stdout, done)


def ssh_serves():
    if not shutil.which("sshd", path="/usr/sbin"):
        claim("there is no sshd here, which is said",
              "openssh-server" in run("--sshd", 2, "--", "true").stderr)
        return
    text = output("--sshd", 3, "--", "sh", "-c", "ssh h1 hostname; ssh h2 'echo $(hostname)'")
    claim("ssh leads to the other hosts", text == "h1\nh2\n", text)


def nothing_is_left():
    before = litter()
    claim("no process is left", not processes(), processes())
    for name, options in (("a bridge", []), ("a switch", ["--delay", "1"])):
        held = subprocess.Popen([RUN, *options, "3", "--", "sh", "-c", "echo up; sleep 60"],
                                stdout=subprocess.PIPE, text=True)
        claim(f"with {name}, a host is up", held.stdout.readline() == "up\n")
        claim("its processes are seen", len(processes()) >= 5, processes())
        held.send_signal(signal.SIGKILL)
        held.wait()
        limit = time.monotonic() + 5
        while processes() and time.monotonic() < limit:
            time.sleep(0.02)
        claim("killed, it leaves no process", not processes(), processes())
        claim("killed, it leaves nothing else", litter() == before, litter(), before)


def it_is_fast():
    took = []
    for _ in range(5):
        begin = time.monotonic()
        output(17, "--", ENTER, "h16", "true")
        took.append(time.monotonic() - begin)
    claim("17 hosts come and go within 2 s", min(took) < 2, took)
    print(f"   in {min(took):.2f} s")
    claim("there can be 64", output(64, "--", ENTER, "h63", "hostname") == "h63\n")


def what_is_not_allowed_is_said():
    if os.geteuid() or not shutil.which("setpriv"):
        return
    done = subprocess.run(["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin",
                           RUN, "2", "--", "true"], capture_output=True, text=True, timeout=30)
    claim("a machine that does not allow hosts is told of",
          done.returncode == NOT_ALLOWED and "does not allow" in done.stderr, done)


def main(program):
    # Hosts see the tree alone of what lies in /tmp: the program lies in no such place.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOSTS_PROGRAM"] = shutil.copy(program, folder)
        done = run(1, "--", "true")
        if done.returncode == NOT_ALLOWED:
            print(done.stderr)
            return 1 if "VIREO_TEST_GATE" in os.environ else NOT_ALLOWED
        claim("a host comes and goes", done.returncode == 0, done)
        what_is_not_allowed_is_said()
        hosts_are_apart()
        programs_enter()
        words_are_checked()
        networks_are_as_asked()
        ssh_serves()
        nothing_is_left()
        it_is_fast()
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
