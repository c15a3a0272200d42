#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print doc/launcher-options.md: what becomes here of each spelling of other launchers.

usage: gen_launcher_options.py MPIEXEC LIST [FILE]

LIST is tools/launcher_options.txt. Its values are not what happens anyway, so that a word that decides
something and is dropped does not pass for one that is obeyed. Each spelling is tried, so a row tells what mpiexec does: one that
is refused has mpiexec's own reason, and one that is accepted has run a program. Those about processors
are worked out on a machine that hwloc makes up, and start nothing. With FILE, fail instead where it
holds anything else.
"""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import gen_page

HEAD = """\
<!-- Printed by tools/gen_launcher_options.py from tools/launcher_options.txt, by trying each spelling;
a test compares. -->
# Options of other launchers

What becomes of each option of MPICH's mpiexec (Hydra), of Open MPI 4's mpirun, and of Open MPI 5's
(prterun). One dash or two is all the same here. *Same*: it does here what it does there. *Nothing*: it
is accepted, as what it asks for happens anyway, or is about something that is not here. *Differs*: it
does something else, as the launchers are not of one mind. *Refused*: mpiexec says why, and starts
nothing. `mpiexec --help=all` tells what each does.

"""
FILES = {"hosts": "localhost slots=4\n", "ranks": "rank 0=localhost slot=0\n",
         "programs": "-n 1 true\n-n 1 true\n", "parameters": "orte_tag_output = 1\n"}
LAUNCHERS = {"M": "MPICH", "4": "Open MPI 4", "5": "Open MPI 5"}
DEVICE_MACHINE = pathlib.Path(__file__).resolve().parent / "launcher_machine.xml"
MACHINE = "package:2 numa:1 l5:1 l4:1 l3:1 l2:2 l1:1 core:1 pu:2"
DEVICES = re.compile(r"pci:|gpu:|ib:|hfi:|eth0|device=")
PLACED = re.compile(r"bind|map-?by|rank-?by|rankfile|cpu|npersocket|membind|nolocal|skip-launch|ppr|-rf\b|MAPPING|BINDING|oversub")
WINDOWS = re.compile(r"xterm|debugger gdb")
STAND_INS = ("gdb", "tmux", "xterm", "totalview")
UNKNOWN_PARAMETER = ("ignored", "It tunes a part that is not here, or chooses among such.")
READ = ("MPIEXEC_TIMEOUT", *(f"HYDRA_{name}" for name in (
    "HOST_FILE", "BINDING", "MAPPING", "MEMBIND", "IFACE", "LAUNCHER", "BOOTSTRAP", "LAUNCHER_EXEC",
    "BOOTSTRAP_EXEC", "RMK")))
HELD = re.compile(r"stop-(on|in)-")


def classes(mpiexec):
    """What mpiexec tells of each name: how it takes it, and its sentence."""
    said = subprocess.run([mpiexec, "--help=table"], check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    return {name: (how, about) for names, how, about in rows for name in names.split()}


def run(mpiexec, words, folder):
    """Try a spelling. Returns the exit status and the output."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OMPI_", "PRTE_", "PMIX_", "HYDRA_", "VIREO_", "SLURM_", "HWLOC_", "MPI", "PBS_", "LSB_",
                                "PE", "LOADL_", "COBALT_", "OAR_"))}
    env.update(PATH=f"{folder}/bin:{env['PATH']}", TMUX="here")
    options = words.replace("HERE", platform.machine()).split(" ")
    if re.match(r"[A-Z]+\w*=", words):
        name, value = words.split("=", 1)
        env[name] = value
        options = []
    if PLACED.search(words) or WINDOWS.search(words):
        if DEVICES.search(words):
            env["HWLOC_XMLFILE"] = str(DEVICE_MACHINE)
        else:
            env["HWLOC_SYNTHETIC"] = MACHINE
        options = ["--do-not-launch", *options]
    if HELD.search(words):
        options = ["--do-not-launch", *options]
    done = subprocess.run([mpiexec, *options, "true"], cwd=folder, env=env, timeout=60, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stderr.strip().removeprefix("mpiexec: ")


def judge(mpiexec, table, words, folder):
    """The class of a spelling, and why."""
    status, said = run(mpiexec, words, folder)
    if status:
        said = said.splitlines()[0] if said else f"status {status}"
        return "refused", re.sub(rf"\b{re.escape(platform.node())}\b", "HOST", said)
    parameter = re.match(r"(?:-+(?:\w*mca)|(?:OMPI|PRTE|PMIX)_MCA)[ _](\w+)", words)
    if parameter:
        how, about = table.get(f"mca:{parameter[1]}", UNKNOWN_PARAMETER)
    elif re.match(r"[A-Z]+\w*=", words):
        known = words.split("=")[0] in READ
        return ("same", "Read from the environment.") if known else ("nothing", "It is not read.")
    else:
        how, about = table[words.split(" ")[0].lstrip("-").split("=")[0]]
    return ("nothing" if how == "ignored" else "same"), about


def page(mpiexec, path):
    table, text = classes(mpiexec), []
    counts = {key: dict.fromkeys(("same", "nothing", "differs", "refused"), 0) for key in LAUNCHERS}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            (pathlib.Path(folder) / name).write_text(content)
        (pathlib.Path(folder) / "bin").mkdir()
        for name in STAND_INS:
            program = pathlib.Path(folder) / "bin" / name
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
        for line in pathlib.Path(path).read_text().splitlines():
            if line.startswith("## "):
                text.append(f"\n## {line[3:]}\n\n| spelling | of | here | what |\n|---|---|---|---|\n")
            if not line or line.startswith("#"):
                continue
            whose, words, *differs = line.split("\t")
            how, about = judge(mpiexec, table, words, folder)
            if differs and how != "refused":
                how, about = "differs", differs[0]
            for key in whose:
                counts[key][how] += 1
            shown = words.replace("HERE", "NAME").replace("|", "\\|")
            text.append(f"| `{shown}` | {', '.join(LAUNCHERS[k] for k in whose)} | {how} | "
                        f"{about.replace('|', chr(92) + '|')} |\n")
    summary = ["| launcher | same | nothing | differs | refused |\n|---|---|---|---|---|\n"]
    for key, name in LAUNCHERS.items():
        summary.append(f"| {name} | " + " | ".join(str(n) for n in counts[key].values()) + " |\n")
    return HEAD + "".join(summary) + "".join(text)


def main(mpiexec, path, old_path=None):
    return gen_page.print_or_compare(
        page(str(pathlib.Path(mpiexec).resolve()), path), old_path, "what mpiexec does",
        "tools/gen_launcher_options.py MPIEXEC LIST > doc/launcher-options.md")


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
