#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Our programs under Debian's Hydra on several hosts, by a descriptor and by a port. usage: run N -- hydra.py WORK

WORK is test/bnr/work.c. Status 77 where Hydra is not installed.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ACTS = ("init", "hello", "ring", "barrier=3", "allreduce=3", "message=65536", "message=1048576", "colls", "finalize")
# Hydra calls it as ssh: options, the host, words of a command.
LAUNCHER = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec "$HOSTS_PROGRAM" enter "$host" sh -c "$*"
"""


def claim(text, holds, *told):
    if not holds:
        raise SystemExit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def main(work):
    if not shutil.which("mpiexec.hydra"):
        print("Hydra is not tried: it is not there; the package is mpich")
        sys.exit(77)
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("BNR_", "PMI_", "VIREO_")) or
                   n.startswith("VIREO_TEST_")}
    with tempfile.TemporaryDirectory() as folder:
        launcher = pathlib.Path(folder) / "launcher"
        launcher.write_text(LAUNCHER)
        launcher.chmod(0o755)

        def start(hosts, each, *words):
            listed = ",".join(f"h{i}:{each}" for i in range(hosts))
            return subprocess.run(["timeout", "-k", "5", "60", "mpiexec.hydra", "-launcher", "ssh", "-launcher-exec",
                                   str(launcher), "-hosts", listed, *words], env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace", check=False)

        for hosts, each, options in ((2, 1, ()), (2, 2, ()), (2, 2, ("-pmi-port",)), (5, 1, ()), (5, 2, ())):
            ranks = hosts * each
            done = start(hosts, each, *options, "-n", str(ranks), work, *ACTS)
            claim(f"{ranks} ranks on {hosts} hosts{' by a port' if options else ''}", done.returncode == 0 and
                  sorted(done.stdout.splitlines()) == sorted(f"rank {r} of {ranks}" for r in range(ranks)),
                  done.returncode, done.stdout, done.stderr)
        done = start(2, 2, "-n", "4", work, "init", "barrier", "abort=9", "sleep=60000")
        claim("an abort ends all", done.returncode == 9, done.returncode, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
