#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over many hosts do what jobs on one do. usage: test_jobs.py BUILD [SECTION...]

Runs each section on hosts of its own (test/hosts/run). Status 77 where the machine does not allow
namespaces.
"""
import collections
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
RUN = str(HERE / "run")
NOT_ALLOWED = 77
MPIEXEC = 'timeout 50 "$BUILD"/bnr/mpiexec --launcher-cmd "$HOSTS_PROGRAM enter %h" '
ON_ALL = MPIEXEC + "-host $HOSTS_LIST "


def claim(text, holds, *told):
    if not holds:
        sys.exit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def run(hosts, command, *options, stdin=None, text=True):
    """Run a shell's command in the first of some hosts."""
    done = subprocess.run([RUN, *options, str(hosts), "--", "sh", "-c", command], input=stdin,
                          capture_output=True, text=text, timeout=120)
    if done.returncode == NOT_ALLOWED:
        print(done.stderr)
        sys.exit(NOT_ALLOWED)
    return done


def where():
    spaces = "pid net uts ipc"
    show = "echo $BNR_RANK $(for n in %s; do readlink /proc/self/ns/$n; done)" % spaces
    done = run(17, ON_ALL + f"-n 34 sh -c '{show}'")
    lines = [line.split() for line in done.stdout.splitlines()]
    claim("34 ranks run on 17 hosts", sorted(int(line[0]) for line in lines) == list(range(34)),
          done.stdout, done.stderr)
    for number, space in enumerate(spaces.split(), 1):
        each = collections.Counter(line[number] for line in lines)
        claim(f"17 different {space} namespaces, of two ranks each",
              sorted(each.values()) == [2] * 17, each)


def ring():
    done = run(2, MPIEXEC + '-host h0:2,h1:2 -n 4 --report "$BUILD"/examples/ring')
    claim("a ring of four ranks on two hosts ends well",
          done.returncode == 0 and "round 3: the token is 18" in done.stdout, done.stdout,
          done.stderr)
    claim("shm inside of hosts, tcp between",
          re.search(r"0-1 +each other +shm", done.stderr)
          and re.search(r"1-2 +each other +tcp", done.stderr), done.stderr)
    done = run(3, MPIEXEC + '-host h1,h2 -n 2 "$BUILD"/examples/ring')
    claim("mpiexec's own host may have no rank", done.returncode == 0, done.stderr)
    done = run(2, ON_ALL + '-n 2 "$BUILD"/examples/ring : -n 2 "$BUILD"/examples/ring')
    claim("two programs are one job", "the token is 18" in done.stdout, done.stderr)


def ends():
    done = run(2, ON_ALL + "-n 4 sh -c '[ $BNR_RANK = 3 ] && exit 7; exec sleep 20'")
    claim("an exit code comes from another host", done.returncode == 7, done.stderr)
    claim("with a line that names rank and host",
          re.search(r"rank 3 on h1 \(pid \d+\) exited with code 7", done.stderr), done.stderr)
    done = run(2, ON_ALL + "-n 4 sh -c '[ $BNR_RANK = 1 ] && kill -9 $$; exec sleep 20'")
    claim("so does a signal", done.returncode == 137 and "killed by signal 9" in done.stderr,
          done.stderr)
    begin = time.monotonic()
    done = run(2, ON_ALL + "--timeout 1 -n 4 sleep 20")
    claim("--timeout ends the job everywhere", done.returncode == 124
          and "ranks 0-3 of 4" in done.stderr and time.monotonic() - begin < 8, done.stderr)
    done = run(2, ON_ALL + '-n 4 sh -c \'trap "echo $BNR_RANK; exit 0" TERM; sleep 20 & wait\' & '
                  "sleep 1; kill -TERM $(pidof mpiexec); wait $!; echo rc $?")
    claim("SIGTERM reaches ranks on all hosts", set("0123") <= set(done.stdout.split()),
          done.stdout, done.stderr)
    for first, second in (("sleep 1", '"$BUILD"/test/bnr/mpi_work init sleep=15000 finalize'),
                          ('"$BUILD"/test/bnr/mpi_work init sleep=15000 finalize', "sleep 1")):
        begin = time.monotonic()
        done = run(2, ON_ALL + f"-n 1 {first} : -n 1 {second}")
        claim("a rank that exits without MPI_Init is told of, though others compute on another host",
              done.returncode == 1 and time.monotonic() - begin < 12 and re.search(
                  r"rank [01] on h[01] \(pid \d+\) exited without MPI_Init", done.stderr), done.stderr)
    done = run(2, ON_ALL + "-continuous -n 4 sh -c '[ $BNR_RANK = 1 ] && exit 3; echo $BNR_RANK'")
    claim("others go on where that is wanted", sorted(done.stdout.split()) == ["0", "2", "3"]
          and done.returncode == 3, done.stdout, done.stderr)


def many():
    """A start of many ranks takes longer than the time in which a host that says nothing is lost."""
    soon = MPIEXEC + "--set liveness_ms=1000 -host "
    done = run(2, soon + "h1:3000 -n 3000 true")
    claim("a host that starts many ranks is not lost", done.returncode == 0, done.stderr)
    done = run(2, soon + "h0:3000,h1:1 -n 3001 true")
    claim("nor is mpiexec's own", done.returncode == 0, done.stderr)
    begin = time.monotonic()
    done = run(2, soon + "h1:3000 -n 3000 sh -c '[ $BNR_RANK = 5 ] && exit 3; exec sleep 100'")
    claim("a rank that fails ends the start of the others", done.returncode == 3, done.stderr)
    done = run(2, "timeout -s TERM 1 " + MPIEXEC + "-host h0:500,h1:3000 -n 3500 sleep 100; echo $?")
    claim("so does a signal", done.stdout == "124\n", done.stdout, done.stderr)
    claim("within seconds", time.monotonic() - begin < 60)


def long_orders():
    """Values that programs share reach daemons once, and long ones in parts."""
    share = "big=$(head -c 118000 /dev/zero | tr '\\0' x); for i in $(seq 12); do export BIG$i=$big; done; "
    done = run(2, share + ON_ALL + " : ".join(["-n 1 sh -c 'echo ${#BIG12}'"] * 14))
    claim("fourteen programs share a long environment", done.stdout.split() == ["118000"] * 14,
          done.stdout, done.stderr)
    write = ("f=$(mktemp); for i in $(seq 150); do echo \"-n 1 -env BIG $(head -c 119000 /dev/zero | tr "
             "'\\0' x) sh -c 'echo \\${#BIG}'\"; done >$f; ")
    done = run(2, write + ON_ALL + "-configfile $f; rm $f")
    claim("150 programs have long texts of their own", done.stdout.split() == ["119000"] * 150,
          done.stdout[-300:], done.stderr[-300:])


def reports():
    work = ON_ALL + '-n 4 "$BUILD"/test/bnr/mpi_work init %s'
    done = run(2, work.replace("%s", "barrier abort=5 barrier finalize"))
    claim("MPI_Abort on another host ends all, with its message", done.returncode == 5 and re.search(
        r"rank 3 on h1 \(pid \d+\) aborted with code 5: MPI_Abort", done.stderr), done.stderr)
    done = run(2, work.replace("%s", "allreduce colls p2p message=300000 finalize"))
    claim("collectives and long messages cross hosts", done.returncode == 0, done.stderr)
    done = run(2, ON_ALL + '--timeout 1.5 -n 4 "$BUILD"/test/fault/deadlock ring_tag')
    claim("a job that hangs over hosts is explained", done.returncode == 124
          and "4 ranks on 2 hosts" in done.stderr and "Culprit: rank 1 (a deadlock)" in done.stderr
          and re.search(r"rank 1: waits in MPI_Sendrecv .*\n +at deadlock.c:\d+", done.stderr),
          done.stderr)


def xcasts():
    for hosts, ranks in ((2, 4), (5, 5)):
        done = run(hosts, ON_ALL + f'-n {ranks} "$BUILD"/test/bnr/bnr_probe init xcasts=20 xcast_some '
                                   "finalize")
        claim(f"{ranks} ranks on {hosts} hosts take what each sends to all in one order, in every shape",
              done.returncode == 0, done.stdout, done.stderr)
    done = run(2, ON_ALL + '-n 4 "$BUILD"/test/bnr/bnr_probe init calm_gets=200 finalize')
    claim("no handler runs in a get that does not wait", done.returncode == 0, done.stderr)
    done = run(2, ON_ALL + '-n 2 "$BUILD"/test/bnr/bnr_probe init xcast_missing finalize')
    claim("a rank that takes nothing holds nobody up", done.returncode == 0, done.stdout, done.stderr)
    done = run(3, ON_ALL + '--set liveness_ms=2000 -n 3 "$BUILD"/test/bnr/bnr_probe init xcast_long '
                           "finalize", "--rate", "20")
    claim("a message that takes longer than the time of liveness is a sign of life",
          done.returncode == 0, done.stdout, done.stderr)
    for mode in ("direct", "linear", "binomial", "radix", "binary"):
        done = run(4, ON_ALL + f'--set xcast_mode={mode} -n 8 "$BUILD"/examples/ring')
        claim(f"orders go to all in the shape {mode}", "the token is" in done.stdout, done.stderr)


def losses():
    done = run(3, f"{sys.executable} {HERE}/../fault/survivors.py $BUILD/bnr/mpiexec "
                  "$BUILD/test/fault/survivors 1 7")
    claim("whoever waits for a killed rank on another host gets an error, and goes on",
          re.search(r"[1-9]\d* jobs, .*: 0 failed", done.stdout), done.stdout, done.stderr)


def logins():
    if not os.path.exists("/usr/sbin/sshd"):
        print("there is no sshd here: ssh is not tried")
        return
    job = "timeout 50 $BUILD/bnr/mpiexec -hostfile $HOSTS_FILE "
    done = run(3, job + "-n 6 \"$BUILD\"/examples/ring", "--sshd")
    claim("daemons are started by ssh", "the token is 45" in done.stdout, done.stderr)
    done = run(2, job + "-n 2 sh -c 'env; cat /proc/*/cmdline | tr \"\\0\" \" \"'", "--sshd")
    claim("by a command that is the same for every job", done.returncode == 0
          and "exec '" in done.stdout, done.stdout[-3000:], done.stderr)


def maps():
    """--display-map shows the hosts that have ranks, by names that tell them apart."""
    done = run(3, MPIEXEC + "-host h0:3,h1:2,h2 -n 4 --display-map true")
    claim("a map shows the hosts of the job alone", [line for line in done.stderr.splitlines()
          if "slots" in line] == ["mpiexec: host h0: 3 slots, 3 ranks", "mpiexec: host h1: 2 slots, 1 ranks"],
          done.stderr)
    done = run(3, MPIEXEC + "-host h1:2,h2 -n 2 --do-not-launch true")
    claim("and no other where nothing starts", done.stderr.splitlines() == [
        "mpiexec: host h1: 2 slots, 2 ranks", "mpiexec: rank 0 on h1", "mpiexec: rank 1 on h1"], done.stderr)
    done = run(3, "for h in h1 h2; do $HOSTS_PROGRAM enter $h hostname box; done; " + MPIEXEC
               + "-host h1,h2 -n 2 --report-bindings -prepend-pattern '%h %r ' sh -c "
               "'echo $BNR_HOST; [ $BNR_RANK = 1 ] || exec touch $BUILD/box; "
               "until [ -e $BUILD/box ]; do sleep .01; done; rm $BUILD/box; exit 3'")
    claim("hosts that call themselves alike have the names that the user gives them",
          sorted(done.stdout.splitlines()) == ["h1 0 h1", "h2 1 h2"]
          and "rank 0 on h1 is not bound" in done.stderr
          and "rank 1 on h2 is not bound" in done.stderr
          and re.search(r"rank 1 on h2 \(pid \d+\) exited with code 3", done.stderr),
          done.stdout, done.stderr)


def allocations():
    """Hosts that a batch system tells, and how they are reached."""
    files = ("f=$(mktemp -d); cd $f; printf 'h0\\nh1\\nh1\\nh2\\n' >nodes; "
             "printf 'h0 1 q UNDEFINED\\nh1 2 q UNDEFINED\\nh2 1 q UNDEFINED\\n' >rows; "
             "printf '#!/bin/sh\\nexec %s enter \"$@\"\\n' \"$HOSTS_PROGRAM\" >blaunch; "
             "chmod +x blaunch; PATH=$PATH:$f; ")
    for variables, words in (
            ("PBS_NODEFILE=nodes", '--launcher-cmd "$HOSTS_PROGRAM enter %h"'),
            ("PE_HOSTFILE=rows", '-rmk sge --launcher-cmd "$HOSTS_PROGRAM enter %h"'),
            ("LSB_MCPU_HOSTS='h0 1 h1 2 h2 1'", ""),
            ("OMPI_MCA_plm_rsh_agent=no.such:$BUILD/test/hosts/rsh", "-host h0,h1:2,h2"),
            ("HYDRA_LAUNCHER_EXEC=$BUILD/test/hosts/rsh", "-host h0,h1:2,h2")):
        done = run(3, f"{files} export {variables}; timeout 50 $BUILD/bnr/mpiexec -wdir / {words} uname -n; "
                      "cd /; rm -r $f")
        claim(f"ranks run where {variables.split('=')[0]} says", sorted(done.stdout.split())
              == ["h0", "h1", "h1", "h2"], done.stdout, done.stderr)


def streams():
    data = os.urandom(20 << 20)
    done = run(2, ON_ALL + "-n 2 -stdin 1 sh -c '[ $BNR_RANK = 0 ] || cat'", stdin=data, text=False)
    claim("20 MiB go through a rank on another host unchanged",
          hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest(), done.stderr)
    done = run(3, ON_ALL + "-n 6 -stdin all sha256sum", stdin=data, text=False)
    right = hashlib.sha256(data).hexdigest().encode()
    claim("stdin reaches all ranks", done.stdout.split().count(right) == 6, done.stdout,
          done.stderr)
    done = run(2, "yes | " + ON_ALL + "-n 2 -stdin 1 sh -c '[ $BNR_RANK = 0 ] || head -c 9'")
    claim("a reader that ends early is no error", done.returncode == 0, done.stderr)
    done = run(17, ON_ALL + "-n 34 -l sh -c 'i=0; while [ $i -lt 500 ]; do "
                            "echo $BNR_RANK line $i end; i=$((i+1)); done'")
    right = {f"[{r}] {r} line {i} end" for r in range(34) for i in range(500)}
    claim("17000 labelled lines of 34 ranks on 17 hosts come whole", len(right) == 17000
          and sorted(done.stdout.splitlines()) == sorted(right), done.stdout[:500], done.stderr)
    done = run(2, "mkdir $BUILD/out; " + ON_ALL + "-n 4 --outfile-pattern $BUILD/out/%r sh -c "
                  "'echo this is $BNR_RANK; echo loud >&2'; cat $BUILD/out/*; rm -r $BUILD/out")
    claim("files take what ranks on all hosts write", done.stdout.splitlines()
          == [f"this is {r}" for r in range(4)] and done.stderr.count("loud") == 4, done.stdout,
          done.stderr)
    done = run(2, ON_ALL + "-n 2 sh -c 'echo out; echo err >&2' 2>/dev/null")
    claim("stdout and stderr stay apart", done.stdout == "out\nout\n", done.stdout)


def named_streams():
    for case, ranks in (("two-writers", 3), ("slow-reader", 2), ("stops-for-ever", 3),
                        ("at-an-offset", 2), ("after-unpublish", 2), ("sinks", 2), ("pulls", 2),
                        ("iof-names", 2)):
        # Some count queued data: windows that do not grow.
        done = run(3, "VIREO_STREAM_WINDOW=64K " + MPIEXEC + "-host h1,h2,h0 "
                   f"-n {ranks} $BUILD/test/bnr/bnr_streams {case}")
        claim(f"streams of ranks on {ranks} hosts: {case}", done.returncode == 0, done.stdout,
              done.stderr)
    for case in ("dies-mid-line", "flush-and-death"):
        done = run(3, MPIEXEC + "-host h1,h2 -disable-auto-cleanup "
                   f"-n 2 $BUILD/test/bnr/bnr_streams {case}")
        claim(f"and where one is killed: {case}", done.returncode == 137
              and "streams:" not in done.stderr, done.stdout, done.stderr)


def surroundings():
    done = run(2, "cd \"$BUILD\"; umask 027; ulimit -n 77; export SOME=thing; " + ON_ALL +
               "-n 4 -x OTHER=word -wdir examples sh -c 'echo $SOME $OTHER $(umask) $(ulimit -n) "
               "${PWD##*/}'")
    claim("variables, umask, limits and folder are those of mpiexec",
          done.stdout.splitlines() == ["thing word 0027 77 examples"] * 4, done.stdout, done.stderr)


def few_files():
    made = "printf '#!/bin/sh\\nulimit -n 60\\nexec \"$@\"\\n' >$BUILD/few; chmod +x $BUILD/few; "
    few = 'timeout 50 "$BUILD"/bnr/mpiexec --launcher-cmd "$HOSTS_PROGRAM enter %h $BUILD/few" '
    done = run(2, made + few + "-host h0:1,h1:30 -n 31 true; code=$?; rm $BUILD/few; exit $code")
    claim("a host whose limit of open files is too low says so before it starts a rank",
          done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "h1" in done.stderr
          and "the limit of 60 open files is too low" in done.stderr and "ulimit -n" in done.stderr,
          done.stdout, done.stderr)
    done = run(2, made + few + "-host h0:1,h1:4 -n 5 true; code=$?; rm $BUILD/few; exit $code")
    claim("and one that has enough says nothing", done.returncode == 0 and not done.stderr, done.stdout, done.stderr)


def errors():
    done = run(2, MPIEXEC + "-host h0,nohost -n 2 true")
    claim("a host that is not there is named, with the command and what it said",
          done.returncode == 1 and "cannot start a daemon on nohost: failed to execute"
          in done.stderr and "the command was: /run/hosts/hosts enter nohost" in done.stderr
          and "it said: hosts: there is no host 'nohost'" in done.stderr, done.stderr)
    done = run(2, ON_ALL + "--prefix /no/where -n 2 true")
    claim("where there is no daemon, the cure is said",
          "there is no daemon /no/where/bin/vireod" in done.stderr and "--prefix" in done.stderr,
          done.stderr)
    done = run(2, "mkdir -p $BUILD/other/bin; printf '#!/bin/sh\\necho vireod 0.0.7\\nsleep 1\\n' "
                  ">$BUILD/other/bin/vireod; chmod +x $BUILD/other/bin/vireod; " + ON_ALL +
                  "--prefix $BUILD/other -n 2 true; rm -r $BUILD/other")
    claim("a daemon of another version is refused by name",
          "the daemon there is version 0.0.7" in done.stderr, done.stderr)
    done = run(2, "mkdir /tmp/only; printf '#!/bin/sh\\n' >/tmp/only/here; chmod +x /tmp/only/here; "
               + ON_ALL + "-n 4 /tmp/only/here")
    there = run(2, "$HOSTS_PROGRAM enter h1 sh -c 'cp /bin/true /tmp/there'; " + MPIEXEC +
                "-host h1 -n 2 /tmp/there")
    claim("a program need not be where no rank is", there.returncode == 0, there.stderr)
    claim("a program that another host lacks is named, with the host", done.returncode == 127
          and "there is no program '/tmp/only/here' on h1" in done.stderr, done.stderr)
    done = run(2, ON_ALL + "--launcher-cmd \"sh -c 'exec sleep 60' %h\" --set launch_limit_ms=300 -n 2 true")
    ended = run(2, ON_ALL + "--launcher-cmd 'true %h' -n 2 true")
    claim("of a launcher's command that runs no daemon it is said what it has to do", ended.returncode
          == 1 and "no daemon ran: it has to run what stands behind it" in ended.stderr, ended.stderr)
    claim("a daemon that does not come in time is given up", done.returncode == 1
          and "nothing was heard of the daemon in time" in done.stderr, done.stderr)


BRIDGE = "ip link add docker0 type bridge && ip addr add 172.17.0.1/16 dev docker0 && " \
         "ip link set docker0 up"
TUN = "ip tuntap add tun0 mode tun && ip addr add 192.0.2.1/24 dev tun0 && ip link set tun0 up"
V6 = "for i in $(ls /sys/class/net); do ip -4 addr flush dev $i; done 2>/dev/null"


def networks():
    # A rank asks for a key by way of mpiexec's host, and its host for an address on the network;
    # then come TCP's handshake, and ours of two round trips: six, of 0.4 s each.
    for name, most, options in (
            ("nothing special", 3, []),
            ("the same docker0 on every host", 3, ["--setup", BRIDGE]),
            ("a tunnel that leads nowhere", 3, ["--setup", TUN]),
            ("a firewall before the first interface", 3, ["--networks", "2", "--firewall", "*:*@0"]),
            ("IPv6 only", 3, ["--setup", V6]),
            ("no names", 3, ["--no-names"]),
            ("5 % loss", 8, ["--loss", "5"]),
            ("a firewall before the last host", 3, ["--firewall", "*:h3"]),
            ("a firewall before the first host", 3, ["--firewall", "*:h0"]),
            ("a firewall between all, in one direction",
             3, sum((["--firewall", f"h{b}:h{a}"] for a in range(4) for b in range(a)), [])),
            ("a delay of 200 ms", 6 * 0.4 + 1, ["--delay", "200"])):
        done = run(4, ON_ALL + '-n 4 "$BUILD"/test/hosts/connect', *options)
        took = re.search(r"6 connections, the slowest in ([\d.]+) s", done.stdout)
        claim(f"with {name}, all ranks connect, the slowest in {took and took[1]} s",
              done.returncode == 0 and took and float(took[1]) < most, done.stdout, done.stderr)
    done = run(4, ON_ALL + "-n 4 sh -c 'VIREO_TCP_ADDRESSES=192.0.2.$((BNR_RANK+1)),"
               "10.77.0.$((BNR_RANK+2)) exec \"$BUILD\"/test/hosts/connect'", "--setup", TUN)
    claim("also where the tunnel is listed first", "6 connections" in done.stdout, done.stderr)
    for words in ("-iface eth0", "-iface 10.77.0.0/16", "--mca btl_tcp_if_exclude lo"):
        done = run(3, ON_ALL + words + ' -n 3 "$BUILD"/test/hosts/connect')
        claim(f"with {words} each host uses its own addresses", "3 connections" in done.stdout,
              done.stderr)
    done = run(2, ON_ALL + '-iface no.such7 -n 2 "$BUILD"/test/hosts/connect')
    claim("a host that lacks the interface says so", done.returncode and "tcp_addresses holds 'no.such7'"
          in done.stderr, done.stderr)
    begin = time.monotonic()
    done = run(2, ON_ALL + "--daemon-link stdio --set connect_timeout_ms=500 "
               '-n 2 "$BUILD"/test/hosts/connect', "--firewall", "*:*")
    claim("where no rank can dial another, the error comes soon, and says it",
          done.returncode and "cannot be reached: tcp: no connection in time" in done.stderr
          and time.monotonic() - begin < 10, done.stdout, done.stderr)
    for name, rule in (("to", "h0:*"), ("from", "*:h0")):
        done = run(4, ON_ALL + "-n 8 echo there", "--firewall", rule)
        claim(f"they start though nobody can connect {name} {'others' if name == 'to' else 'them'}",
              done.stdout.count("there") == 8, done.stderr)
    done = run(4, ON_ALL + "--daemon-link stdio -n 8 cat", "--firewall", "*:*")
    claim("or over the launcher's own pipe, where nobody can", done.returncode == 0, done.stderr)
    done = run(4, ON_ALL + '--daemon-link stdio -n 4 "$BUILD"/test/bnr/bnr_probe init xcast_long finalize',
               "--firewall", "*:*")
    claim("by which the longest message comes, too", done.returncode == 0, done.stderr)


def killing():
    done = subprocess.run([RUN, "5", "--", sys.executable, str(HERE / "kill.py"),
                           os.environ["BUILD"], "--rounds", "8", "--seed", "100"],
                          capture_output=True, text=True, timeout=200)
    claim("nothing is left after kills", done.returncode == 0
          and "nothing is left after 8 kills" in done.stdout, done.stdout, done.stderr)


def standing():
    stop = "sleep 1; v=$($HOSTS_PROGRAM enter h1 pidof vireod); " \
           "$HOSTS_PROGRAM enter h1 kill -STOP $v; sleep %s; $HOSTS_PROGRAM enter h1 kill -CONT $v; "
    job = ON_ALL + "--set liveness_ms=LIMIT -n 2 sh -c 'sleep 4; echo well' & "
    done = run(2, job.replace("LIMIT", "4000") + stop % 2 + "wait $!; echo rc $?")
    claim("a daemon may stand still for half the time of liveness",
          done.stdout.split() == ["well", "well", "rc", "0"], done.stdout, done.stderr)
    down = "$HOSTS_PROGRAM enter h1 ip link set eth0 "
    five = ON_ALL + "-n 2 sh -c 'sleep 8; echo well' & sleep 1; "
    for what, command in (("a daemon stands still", stop.removeprefix("sleep 1; ") % 5),
                          ("a link is down", f"{down} down; sleep 5; {down} up; ")):
        done = run(2, five + command + "wait $!; echo rc $?")
        claim(f"for 5 s {what}, and the job goes on", done.stdout.split() == ["well", "well", "rc", "0"],
              done.stdout, done.stderr)
    done = run(2, MPIEXEC + "-host h0,h1 --set liveness_ms=500 -n 2 sleep 15 & sleep 1; "
               "kill -STOP $(pidof mpiexec); sleep 2; kill -CONT $(pidof mpiexec); wait $!; echo rc $?")
    claim("a job whose daemons have lost mpiexec ends", "rc 137" in done.stdout, done.stdout, done.stderr)
    begin = time.monotonic()
    done = run(2, job.replace("LIMIT", "1000") + "sleep 1; $HOSTS_PROGRAM enter h1 ip link set eth0 down; wait $!; "
               "echo rc $?")
    claim("a host that vanishes is noticed, and said", "rank 1 on h1" in done.stderr
          and "was lost with its host" in done.stderr and "rc 137" in done.stdout
          and time.monotonic() - begin < 8, done.stdout, done.stderr)


def stopped():
    """mpiexec stands still by Ctrl-Z, while ranks on another host write, and send messages to all."""
    rss = "$HOSTS_PROGRAM enter h1 sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$v/status; "
    for what, ranks in (("write", "-host h1:100 -n 100 yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
                        ("send messages to all",
                         '-host h1:2 -n 2 "$BUILD"/test/bnr/bnr_probe init xcast_on')):
        for _ in range(3): # what was on its way when it stopped may still come, on a busy machine
            done = run(2, MPIEXEC.removeprefix("timeout 50 ") + ranks + " >/dev/null & m=$!; "
                          "sleep 2; v=$($HOSTS_PROGRAM enter h1 pidof vireod); "
                          f"kill -TSTP $m; sleep 1; {rss} sleep 3; {rss} kill -CONT $m; sleep 0.5; "
                          "kill -TERM $m; sleep 0.2; kill -TERM $m; wait $m")
            sizes = [int(word) for word in done.stdout.split()]
            if len(sizes) == 2 and sizes[1] - sizes[0] < 4000:
                break
        claim(f"a daemon needs no more memory while mpiexec is stopped and ranks {what}",
              len(sizes) == 2 and sizes[1] - sizes[0] < 4000, f"KiB: {sizes}", done.stderr)


def idles():
    """Wake-ups of mpiexec and of a daemon in 3 s: signs of life alone, two ticks a second."""
    count = "for p in 0:$m 1:$v; do $HOSTS_PROGRAM enter h${p%:*} sh -c " \
            "\"sed -n 's/^voluntary.*:.//p' /proc/${p#*:}/status\"; done; "
    job = ON_ALL.removeprefix("timeout 50 ") + "-n 2 sleep 50 & m=$!; "
    done = run(2, f"{job} until $HOSTS_PROGRAM enter h1 pidof sleep; do sleep 0.1; done >&2; sleep 1; "
                  f"v=$($HOSTS_PROGRAM enter h1 pidof vireod); {count} sleep 3; {count} kill $m; wait $m")
    counts = [int(word) for word in done.stdout.split()]
    claim("an idle job hardly wakes up mpiexec and a daemon", len(counts) == 4
          and max(counts[2] - counts[0], counts[3] - counts[1]) <= 20, done.stdout, done.stderr)


def keys():
    done = run(3, ON_ALL + '-n 6 "$BUILD"/test/bnr/bnr_probe init fences=5 replaced=12 later finalize')
    claim("keys of ranks on other hosts come later", done.returncode == 0, done.stdout, done.stderr)
    done = run(2, MPIEXEC + '-host h0:1,h1:10 -n 11 "$BUILD"/test/hosts/early 2', "--delay", "50")
    claim("no call waits for keys of ten ranks that end 50 ms away", done.returncode == 0
          and float(done.stdout) < 400, done.stdout, done.stderr)
    done = run(2, MPIEXEC + '-host h0:7,h1:7 -n 14 "$BUILD"/test/hosts/first')
    claim("a process that sleeps hears of a first message from another host", done.returncode == 0
          and float(done.stdout) < 25, done.stdout, done.stderr)


def crowd():
    """32 ranks on 4 hosts call each other at once. 384 pairs are apart. A machine that is busy has hosts that are."""
    tries = []
    opens = "opens() { for h in $HOSTS_LIST; do $HOSTS_PROGRAM enter $h grep '^Tcp: [0-9]' /proc/net/snmp; done; }; "
    places = ",".join(f"h{i}:8" for i in range(4))
    while len(tries) < 3 and (not tries or tries[-1] >= 2 * 384):
        done = run(4, f'IFS=", "; {opens} opens; ' + MPIEXEC + f'-host {places} -n 32 "$BUILD"/test/hosts/crowd; '
                      "code=$?; opens; exit $code", "--delay", "1")
        made = [int(n) for n in re.findall(r"^Tcp: (?:-?\d+ ){4}(\d+)", done.stdout, re.M)]
        claim("ranks that call each other at once hear each other", done.returncode == 0 and len(made) == 8
              and sum(made[4:]) - sum(made[:4]) >= 384, done.stdout, done.stderr)
        tries.append(sum(made[4:]) - sum(made[:4]))
    claim("they hardly make more than one connection a pair", tries[-1] < 2 * 384, f"{tries} connects for 384 pairs")


BESIDE = (standing, errors)  # they sleep most of the time: in processes of their own, while others run
SECTIONS = (where, ring, idles, ends, many, long_orders, reports, xcasts, losses, logins, maps, allocations,
            streams, named_streams, surroundings, few_files, networks, stopped, killing, crowd)
ALONE = (keys,)  # it measures milliseconds


def main(build, *names):
    os.environ["BUILD"] = os.path.abspath(build)
    os.environ["HOSTS_PROGRAM"] = os.path.join(os.environ["BUILD"], "test/hosts/hosts")
    if names:
        for section in BESIDE + SECTIONS + ALONE:
            if section.__name__ in names:
                section()
        return
    beside = [subprocess.Popen([sys.executable, __file__, build, section.__name__]) for section in BESIDE]
    try:
        for section in SECTIONS:
            section()
    finally:
        codes = [process.wait() for process in beside]
    if any(codes):
        sys.exit(max(codes))
    for section in ALONE:
        section()


main(*sys.argv[1:])
