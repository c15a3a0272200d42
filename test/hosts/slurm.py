#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec in an allocation of Slurm starts a daemon a node by srun; srun starts ranks itself.

usage: slurm.py BUILD
       slurm.py BUILD NODES COMMAND...    run a command beside a Slurm of so many nodes

Starts a Slurm of its own, with two nodes on this machine, then with five, and ends it. Status 77 where Slurm is not
installed, or this user is not root.
"""
import collections
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

NOT_ALLOWED = 77
NEEDED = ("slurmctld", "slurmd", "srun", "salloc", "sbatch", "sinfo", "munged")
CONFIGURATION = """
ClusterName=t
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
MpiDefault=none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
{nodes}
PartitionName=p Nodes=n[1-{count}] Default=YES OverSubscribe=FORCE:8 State=UP
"""


def claim(text, holds, *told):
    if not holds:
        raise SystemExit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def skip(why):
    print(f"Slurm is not tried: {why}")
    sys.exit(NOT_ALLOWED)


def free_ports(count):
    ends = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [end.getsockname()[1] for end in ends]
    for end in ends:
        end.close()
    return ports


class Slurm:
    """A controller and some nodes, with a munge daemon, in a folder of their own."""

    def __init__(self, folder, count):
        self.count = count
        self.folder, self.processes = pathlib.Path(folder), []
        self.environment = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}

    def run(self, *words, **more):
        self.processes.append(subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL, **more))

    def start_munge(self):
        user, folder = pwd.getpwnam("munge"), self.folder / "munge"
        os.chmod(self.folder, 0o755)
        folder.mkdir()
        (folder / "key").write_bytes(os.urandom(128))
        for path, mode in ((folder, 0o755), (folder / "key", 0o400)):
            os.chmod(path, mode)
            os.chown(path, user.pw_uid, user.pw_gid)
        self.run("munged", "-F", "--key-file", str(folder / "key"), "--socket", str(folder / "socket"),
                 "--pid-file", str(folder / "pid"), "--log-file", str(folder / "log"), "--seed-file",
                 str(folder / "seed"), user=user.pw_uid, group=user.pw_gid, extra_groups=[])

    def start(self):
        (self.folder / "state").mkdir()
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + self.count)
        nodes = "\n".join(f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[i]} CPUs=2"
                          for i in range(1, 1 + self.count))
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=self.folder, ports=ports, count=self.count, nodes=nodes))
        self.start_munge()
        until = time.monotonic() + 60
        while not (self.folder / "munge/socket").exists() and time.monotonic() < until:
            time.sleep(0.05)
        self.run("slurmctld", "-D")
        for node in (f"n{i}" for i in range(1, 1 + self.count)):
            (self.folder / node).mkdir()
            self.run("slurmd", "-D", "-N", node)
        while time.monotonic() < until:
            told = subprocess.run(["sinfo", "-h", "-o", "%D %t"], env=self.environment, timeout=60,
                                  capture_output=True, text=True).stdout
            if told.split() == [str(self.count), "idle"]:
                return
            time.sleep(0.2)
        raise SystemExit("the nodes of Slurm do not come up:\n" + "".join(
            path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log")))

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self.steps(): # whose slurmd ended as they did
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def steps(self):
        """Slurm's processes of steps, which are no children of slurmd's."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes(), (path / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].startswith(b"slurmstepd") and f"SLURM_CONF={self.folder}/slurm.conf".encode() in words[1]:
                found.append(int(path.name))
        return found

    def plugins(self):
        """Those by which srun starts ranks of MPI."""
        listed = self.run_step("--mpi=list")
        return ["pmi2"] + (["pmix"] if "pmix" in listed.stdout + listed.stderr else [])

    def allocate(self, *words):
        """Run a command in an allocation of all nodes."""
        return subprocess.run(["salloc", "--quiet", f"-N{self.count}", *words], env=self.environment, timeout=90,
                              capture_output=True, text=True)

    def run_step(self, *words):
        """Run a command by srun, without an allocation."""
        environment = {n: v for n, v in self.environment.items() if not n.startswith("VIREO_")}
        return subprocess.run(["srun", "--quiet", "--kill-on-bad-exit=1", *words], env=environment, timeout=90,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)


def check(slurm, build):
    # A rank's parent is the daemon of its node, to which Slurm has told the node's name.
    node_of = "echo $BNR_RANK $(tr '\\0' '\\n' </proc/$PPID/environ | grep SLURMD_NODENAME) $PPID"
    done = slurm.allocate("--ntasks-per-node=2", f"{build}/bnr/mpiexec", "sh", "-c", node_of)
    lines = [line.split() for line in done.stdout.splitlines()]
    claim("without -n, a job has the ranks that are allocated", len(lines) == 4, done.stdout,
          done.stderr)
    claim("both nodes have two of them, in order", sorted((int(rank), node) for rank, node, _ in lines)
          == [(r, f"SLURMD_NODENAME=n{1 + r // 2}") for r in range(4)], done.stdout)
    claim("of one daemon each",
          sorted(collections.Counter(pid for _, _, pid in lines).values()) == [2, 2], done.stdout)
    done = slurm.allocate(f"{build}/bnr/mpiexec", "-host", "n2,n1", "sh", "-c", node_of)
    lines = [line.split()[:2] for line in done.stdout.splitlines()]
    claim("nodes of the allocation that -host names are reached by srun, too",
          sorted(lines) == [["0", "SLURMD_NODENAME=n2"], ["1", "SLURMD_NODENAME=n1"]], done.stdout,
          done.stderr)
    done = slurm.allocate(f"{build}/bnr/mpiexec", "-n", "2", f"{build}/examples/ring")
    claim("MPI works between them", done.returncode == 0 and "the token is" in done.stdout,
          done.stdout, done.stderr)
    done = slurm.allocate(f"{build}/bnr/mpiexec", "-n", "2", "sh", "-c",
                          "[ $BNR_RANK = 1 ] && exit 7; exec sleep 30")
    claim("an exit code comes back", done.returncode == 7, done.returncode, done.stderr)


def check_srun(slurm, build):
    """Ranks that srun starts, without mpiexec."""
    work = f"{build}/test/bnr/mpi_work"
    said = [f"rank {r} of 4" for r in range(4)]
    srun = ("-N2", "--ntasks-per-node=2", work)
    acts = ("init", "hello", "ring", "barrier=3", "allreduce=3", "message=1048576", "colls", "finalize")
    done = slurm.run_step("--mpi=pmi2", *srun, *acts)
    claim("srun --mpi=pmi2 starts four ranks on two nodes",
          done.returncode == 0 and sorted(done.stdout.splitlines()) == said, done.stdout, done.stderr)
    done = slurm.run_step("--mpi=pmi2", "-N1", "-n1", work, "init", "hello", "finalize")
    claim("and one alone", done.returncode == 0 and done.stdout == "rank 0 of 1\n", done.stdout, done.stderr)
    if "pmix" in slurm.plugins(): # two nodes of one machine cannot share its server's name
        done = slurm.run_step("--mpi=pmix", "-N1", "-n2", work, *acts)
        claim("srun --mpi=pmix starts two ranks on a node",
              done.returncode == 0 and sorted(done.stdout.splitlines()) == ["rank 0 of 2", "rank 1 of 2"],
              done.stdout, done.stderr)
    else:
        print("--mpi=pmix is not tried: Slurm has no such plugin")
    done = slurm.run_step("--mpi=none", *srun, *acts)
    claim("srun --mpi=none ends with a line of each that names the cure",
          done.returncode != 0 and "--mpi=pmi2" in done.stderr and not done.stdout, done.stdout, done.stderr)
    done = slurm.run_step("--mpi=pmi2", *srun, "init", "abort=9", "sleep=30000")
    claim("an abort ends all", done.returncode != 0, done.returncode, done.stderr)
    done = slurm.run_step("--mpi=pmi2", *srun, "init", "barrier")
    claim("a rank that leaves without MPI_Finalize fails the step",
          done.returncode != 0, done.returncode, done.stderr)


def check_others(slurm, build):
    """Managers of others in an allocation: their daemons are a step of one task a node, whose variables ranks inherit.
    mpirun starts daemons on nodes without ranks, too."""
    work = f"{build}/test/bnr/mpi_work"
    for manager in (("mpiexec.hydra",), ("mpirun.openmpi", "--allow-run-as-root")):
        if not shutil.which(manager[0]):
            print(f"{manager[0]} is not tried: it is not there")
            continue
        # two nodes of one machine cannot share the name of Open MPI's server
        for ranks in (4, 1) if manager[0] == "mpiexec.hydra" else (2, 1):
            done = slurm.allocate("--ntasks-per-node=2", *manager, "-n", str(ranks), work, "init", "hello", "finalize")
            claim(f"{manager[0]} -n {ranks} in an allocation of two nodes",
                  done.returncode == 0 and sorted(done.stdout.splitlines()) == [f"rank {r} of {ranks}" for r in range(ranks)],
                  done.stdout, done.stderr)
    if shutil.which("mpiexec.hydra"):
        step = f"srun --quiet --mpi=none -n4 --ntasks-per-node=2 --overlap {work} init hello finalize 2>&1"
        done = slurm.allocate("--ntasks-per-node=2", "mpiexec.hydra", "-n", "1", "sh", "-c", step)
        claim("a step that a rank of Hydra starts is no worlds of one",
              "srun meant 4 processes" in done.stdout and "rank 0" not in done.stdout, done.stdout, done.stderr)


def check_ends(slurm, build):
    """Ranks that end badly below srun."""
    ends = pathlib.Path(__file__).resolve().parent.parent / "bnr/manager_ends.py"
    ways = [way + on for way in slurm.plugins() for on in ("", "-on")]
    done = subprocess.run([sys.executable, str(ends), f"{build}/test/bnr/mpi_work", "2", *ways],
                          env=slurm.environment, capture_output=True, text=True, timeout=200)
    claim("each bad end has a status and a line, and leaves nothing", done.returncode == 0, done.stdout, done.stderr)


def check_many(slurm, build):
    """More nodes, by all ways."""
    work = f"{build}/test/bnr/mpi_work"
    acts = ("init", "hello", "ring", "barrier=3", "allreduce=3", "message=1048576", "colls", "finalize")
    ranks = 2 * slurm.count
    said = [f"rank {r} of {ranks}" for r in range(ranks)]
    done = slurm.run_step("--mpi=pmi2", f"-N{slurm.count}", "--ntasks-per-node=2", work, *acts)
    claim(f"srun --mpi=pmi2 on {slurm.count} nodes", done.returncode == 0 and sorted(done.stdout.splitlines()) == sorted(said),
          done.stdout, done.stderr)
    done = slurm.allocate("--ntasks-per-node=2", f"{build}/bnr/mpiexec", work, *acts)
    claim(f"salloc and mpiexec on {slurm.count} nodes", done.returncode == 0 and
          sorted(done.stdout.splitlines()) == sorted(said), done.stdout, done.stderr)
    told = slurm.folder / "sbatch.out"
    done = subprocess.run(["sbatch", "--wait", "--quiet", f"-N{slurm.count}", "--ntasks-per-node=2", "-o", str(told),
                           "--wrap", f"{build}/bnr/mpiexec {work} {' '.join(acts)}; echo status $?"],
                          env=slurm.environment, capture_output=True, text=True, timeout=90)
    claim(f"sbatch and mpiexec on {slurm.count} nodes", done.returncode == 0 and
          sorted(told.read_text().splitlines()) == sorted([*said, "status 0"]), done.stderr, told.read_text())


def check_variables(slurm, build):
    """A step's variables do not reach ranks of mpiexec's daemons, and processors stay as the manager has set them."""
    show = "env | grep -E '^SLURM_(CPU_BIND|PROCID|STEP_|TASK_PID|LOCALID|NODEID)'; true"
    done = slurm.allocate(f"{build}/bnr/mpiexec", "-n", str(slurm.count), "--map-by", "node", "sh", "-c", show)
    claim("ranks of mpiexec's have no variables of the daemons' step", done.returncode == 0 and
          "SLURM_" not in done.stdout, done.stdout, done.stderr)
    # The mask of a rank that a manager has set, as MPI_Init leaves it: each rank waits for the other one's look.
    look = 'taskset -c 1 "$0" init sleep=2000 finalize & sleep 1; grep Cpus_allowed_list /proc/$!/status; wait $!'
    done = slurm.run_step("--mpi=pmi2", "-N1", "-n2", "sh", "-c", look, f"{build}/test/bnr/mpi_work")
    claim("a mask that the manager sets stays", done.returncode == 0 and
          [line.split()[-1] for line in done.stdout.splitlines()] == ["1", "1"], done.stdout, done.stderr)


def run_beside(build, count, command):
    """Returns the status of a command that finds a Slurm of so many nodes."""
    with tempfile.TemporaryDirectory(prefix="vireo-slurm-") as folder:
        slurm = Slurm(folder, count)
        try:
            slurm.start()
            return subprocess.run(command, env=slurm.environment).returncode
        finally:
            slurm.stop()


def main(build, count=None, *command):
    missing = [name for name in NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        skip(f"there is no {missing[0]}; the packages are slurm-wlm and munge")
    if os.getuid():
        skip("this user is not root")
    os.environ["PATH"] += ":/usr/sbin"
    if command:
        sys.exit(run_beside(build, int(count), command))
    build = os.path.abspath(build)
    for count, checks in ((2, (check, check_srun, check_others, check_variables, check_ends)), (5, (check_many,))):
        with tempfile.TemporaryDirectory(prefix="vireo-slurm-") as folder:
            slurm = Slurm(folder, count)
            try:
                slurm.start()
                for one in checks:
                    one(slurm, build)
            finally:
                slurm.stop()


main(*sys.argv[1:])
