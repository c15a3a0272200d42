# SPDX-License-Identifier: BSD-3-Clause
"""How fast launchers pass on what ranks write. usage: output.py MPIEXEC [ROUNDS [RANKS [MIB]]]

Each rank writes a file of lines to stdout at full speed, and a pipe takes what the launcher writes.
Ours, Hydra's and Open MPI's take turns, as they are found here; told are the median of the rounds
and the least, and the processor time of launcher and ranks, which a loaded machine changes little.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SCRUBBED = ("OMPI_", "PMIX_", "PRTE_", "MPICH_", "PMI_", "VIREO_", "HYDRA_", "BNR_")


def launchers(own):
    """Name, command, and the option by which lines get labels."""
    found = [("ours", [own], ["-l"])]
    hydra = shutil.which("mpiexec.hydra")
    if hydra:
        found.append(("Hydra", [hydra], ["-prepend-rank"]))
    openmpi = shutil.which("mpirun.openmpi")
    if openmpi:
        options = ["--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
        found.append(("Open MPI", [openmpi, *options], ["--tag-output"]))
    return found


def run(command, environment):
    """Returns seconds, processor seconds, and how many bytes came."""
    begin, count = time.monotonic(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, env=environment) as process:
        while part := os.read(process.stdout.fileno(), 1 << 20):
            count += len(part)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command} ended with {process.returncode}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, count


def main(own, rounds=5, ranks=16, mib=8):
    line = b"a line of what a rank writes, as long as they often are, 0123456789\n"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(SCRUBBED)}
    with tempfile.NamedTemporaryFile() as file:
        file.write(line * ((mib << 20) // len(line)))
        file.flush()
        size = os.path.getsize(file.name) * ranks
        took = {}
        for _ in range(rounds):
            for name, command, label in launchers(own):
                for kind, more in (("plain", []), ("labels", label)):
                    wall, used, count = run([*command, *more, "-n", str(ranks), "cat", file.name],
                                            environment)
                    is_whole = count == size if kind == "plain" else count > size
                    if not is_whole:
                        print(f"{name}, {kind}: {count} bytes came, of {size}")
                    took.setdefault((kind, name), []).append((wall, used))
    print(f"{ranks} ranks write {size / 1e6:.0f} MB, {rounds} rounds, "
          f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")
    print("| lines | launcher | median, MB/s | best, MB/s | processor time, median, s |")
    print("|---|---|---|---|---|")
    for (kind, name), all_of_it in sorted(took.items(), key=lambda item: item[0][0], reverse=True):
        walls = [wall for wall, _ in all_of_it]
        print(f"| {kind} | {name} | {size / 1e6 / statistics.median(walls):.0f} "
              f"| {size / 1e6 / min(walls):.0f} "
              f"| {statistics.median(used for _, used in all_of_it):.2f} |")


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in sys.argv[2:]))
