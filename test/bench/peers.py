# SPDX-License-Identifier: BSD-3-Clause
"""The MPI implementations that are compared: how each compiles and launches.

A peer is found by the names that Debian gives its wrapper and launcher
(mpicc.mpich, mpicc.openmpi); ours by its install prefix. What a user would
have to say to a peer for the comparison to work at all (run as root, more
ranks than cores) is said here; nothing else is tuned.
"""

import dataclasses
import os
import shutil
import signal
import subprocess
import time
import uuid

TOKEN = "VIREO_BENCH_TOKEN"
SCRUBBED = ("OMPI_", "PMIX_", "PRTE_", "MPICH_", "MPIR_", "PMI_", "UCX_", "VIREO_", "HYDRA_")


@dataclasses.dataclass
class Mpi:
    """One implementation, perhaps with settings of its own."""

    name: str
    mpicc: str
    mpiexec: str
    peer: bool = True      # counts as one of the peers that ours is compared with
    options: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    tcp_options: list = dataclasses.field(default_factory=list)
    tcp_environment: dict = dataclasses.field(default_factory=dict)
    fabric_options: list = dataclasses.field(default_factory=list)
    fabric_environment: dict = dataclasses.field(default_factory=dict)
    programs: str = ""     # folder of the compiled programs
    lacks: set = dataclasses.field(default_factory=set)     # programs that do not compile with it

    def command(self, program, arguments, ranks, channel):
        """ranks 0 means without a launcher. A program may be a list: run the
        last through the others."""
        words = [os.path.join(self.programs, p) for p in program] + arguments
        if ranks == 0:
            return words
        kind, _, provider = channel.partition(" ")
        extra = {"shm": [], "tcp": self.tcp_options, "ofi": self.fabric_options}[kind]
        extra = [word.replace("PROVIDER", provider) for word in extra]
        return [self.mpiexec, *self.options, *extra, "-n", str(ranks), *words]

    def settings(self, channel):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(SCRUBBED)}
        kept.update(self.environment)
        kind, _, provider = channel.partition(" ")
        extra = {"shm": {}, "tcp": self.tcp_environment, "ofi": self.fabric_environment}[kind]
        kept.update({name: value.replace("PROVIDER", provider) for name, value in extra.items()})
        return kept

    def can_run(self, program, channel):
        """Whether it has these programs, and can be told to use this channel."""
        return not self.lacks.intersection(program) and (
            not channel.startswith("ofi ") or self.fabric_options or self.fabric_environment)


def ours(prefix):
    return Mpi("ours", os.path.join(prefix, "bin", "mpicc"), os.path.join(prefix, "bin", "mpiexec"),
               peer=False, tcp_environment={"VIREO_CHANNELS": "tcp,loopback"},
               fabric_environment={"VIREO_CHANNELS": "ofi,loopback",
                                   "VIREO_CHANNEL_PARAMS": "ofi.provider=PROVIDER"})


def before(prefix):
    """An earlier build of ours, for figures before and after a change."""
    return dataclasses.replace(ours(prefix), name="before", peer=True)


def mpich():
    return Mpi("mpich", "mpicc.mpich", "mpiexec.mpich",
               tcp_environment={"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo",
                                "MPIR_CVAR_NOLOCAL": "1"})


def openmpi():
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return Mpi("openmpi", "mpicc.openmpi", "mpiexec.openmpi", options=["--oversubscribe"],
               environment=allow,
               tcp_options=["--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                            "--mca", "btl_tcp_if_include", "lo"],
               fabric_options=["--mca", "pml", "cm", "--mca", "mtl", "ofi",
                               "--mca", "mtl_ofi_provider_include", "PROVIDER"])


def openmpi_no_cma(base):
    """Open MPI copying through shared memory only: the better peer at some sizes."""
    return dataclasses.replace(base, name="openmpi-nocma", peer=False, options=base.options + [
        "--mca", "pml", "ob1", "--mca", "btl", "vader,self",
        "--mca", "btl_vader_single_copy_mechanism", "none"])


def library(name):
    """What links a library, or []."""
    done = subprocess.run(["pkg-config", "--libs", name], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def present(mpi):
    return bool(shutil.which(mpi.mpicc) and shutil.which(mpi.mpiexec))


def build(mpi, source, folder, programs, shared):
    """Compile every program with this MPI's wrapper. Those that fail are named in mpi.lacks. Returns
    the first line of each one's error."""
    problems = []
    mpi.programs = os.path.join(folder, mpi.name)
    os.makedirs(mpi.programs, exist_ok=True)
    for program in programs:
        files = [os.path.join(source, f) for f in [program + ".c", *shared]]
        libraries = library("libfabric") if program == "fabric" else []
        done = subprocess.run([mpi.mpicc, "-std=gnu11", "-O2", "-D_GNU_SOURCE", *files,
                               "-o", os.path.join(mpi.programs, program), *libraries],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            mpi.lacks.add(program)
            errors = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
            problems.append(f"{program}: {(errors or done.stderr.splitlines() or ['no word'])[0]}")
    return problems


def kill_marked(token):
    """End every process that carries the token of one run in its environment."""
    mark = f"{TOKEN}={token}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            continue


def run(command, environment, limit):
    """Run one command. Returns (outcome, stdout, stderr, wall seconds); the
    outcome is "ok", "timeout" or "failed". Nothing it started outlives it."""
    token = uuid.uuid4().hex
    start = time.monotonic()
    with subprocess.Popen(command, env={**environment, TOKEN: token}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=limit)
            outcome = "ok" if process.returncode == 0 else "failed"
        except subprocess.TimeoutExpired:
            process.terminate()
            time.sleep(0.3)
            process.kill()
            kill_marked(token)
            out, err = process.communicate()
            outcome = "timeout"
        except BaseException:   # interrupted: take everything along
            process.kill()
            kill_marked(token)
            raise
    wall = time.monotonic() - start
    if outcome != "ok":
        kill_marked(token)
    return outcome, out, err, wall
