#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The list of source files, from the first sentence of each.

usage: gen_files.py [--check] [SOURCE]

Writes doc/files.md, or with --check fails where that file is not what would be written. A header
and the source of the same name share a row, which has the header's sentence. FOLDERS has a line
for each folder; one that is not there is an error.
"""
import pathlib
import re
import sys

FOLDERS = {
    "include": "The contracts.",
    "mpi": "The MPI layer: what every part of it needs.",
    "mpi/api": "The bodies of MPI's functions, a file a chapter: check, then one call.",
    "mpi/request": "Point-to-point communication and requests.",
    "mpi/type": "Datatypes, and operations on them.",
    "mpi/comm": "Communicators, groups and sessions, and the errors that are raised on them.",
    "mpi/make": "Communicators that their members make together.",
    "mpi/coll": "Algorithms of collectives, the choice among them, and the schedules that they make.",
    "mpi/region": "Collectives through memory that the members of a communicator share.",
    "mpi/calls": "Collectives as programs call them: checked, then run by a schedule or through a region.",
    "mpi/topo": "Virtual topologies.",
    "mpi/dynamic": "Jobs that connect, and jobs that are spawned.",
    "mpi/start": "The start and the end of the library.",
    "mpi/win": "Windows, and one-sided communication.",
    "mpi/ft": "Fault tolerance: failures, and what survivors do.",
    "mpi/tool": "The tool interface.",
    "mpi/io": "Files as MPI has them; `romio/` reads and writes them, behind `mpi/hooks.h`.",
    "romio": "The library for files: ROMIO, unchanged, and what is around it.",
    "profile": "What `mpiexec --summary` and `--trace` preload: a profiling tool.",
    "queues": "What debuggers load to show message queues.",
    "mpid/ground": "The device's state, and the tables in it.",
    "mpid/wait": "Progress, waiting and completion.",
    "mpid/conn": "Connections, and the channels that are open.",
    "mpid/peers": "Peers that are lost or out of reach, and what they are told.",
    "mpid/message": "Sending and receiving.",
    "mpid/memory": "Memory that the processes of a host share.",
    "mpid/tell": "What a rank says of itself: to mpiexec, to debuggers, to tools.",
    "mpid/start": "From `mpid_init()` to the end.",
    "channels": "What all channels share.",
    "channels/loopback": "Messages of a process to itself.",
    "channels/shm": "Shared memory.",
    "channels/pair": "Memory that two processes of two jobs share.",
    "channels/tcp": "TCP.",
    "channels/ofi": "Fabrics, by libfabric: a module.",
    "bnr/core": "Engines that know no file, process or loop.",
    "bnr/core/tree": "Engines of the tree of daemons.",
    "bnr/core/stream": "Engines of streams: the hub, and lines.",
    "bnr/core/place": "Where the processes of a job go.",
    "bnr/core/pmi": "PMI, as a daemon answers it.",
    "bnr/wire": "Bytes from the network and from files to values, and back; no I/O.",
    "bnr/group": "Groups of processes that were not started together, without I/O.",
    "bnr/host": "What the processes of one host share: in the library and in mpiexec.",
    "bnr/client": "BNR in the MPI library.",
    "bnr/launch": "Programs, processes, and their end.",
    "bnr/io": "The processes of one host on the event loop: their start, their signals, their end.",
    "bnr/stdio": "The standard streams of a job, at mpiexec.",
    "bnr/streams": "Streams on the event loop: the door of a job, descriptors, and the way to the hub.",
    "bnr/wide": "Jobs over several hosts: mpiexec's part, and what it shares with the daemons.",
    "bnr/daemon": "Jobs over several hosts: the daemon.",
    "bnr/run": "A job from launch to end, at mpiexec.",
    "bnr/diagnose": "What mpiexec does for `--report` and the hang report.",
    "bnr/plan": "A job: its programs, hosts, environments, output.",
    "bnr/options": "The command line of mpiexec, which makes a plan.",
    "bnr/tools": "The commands.",
    "diagnose": "The program vireo-diagnose: answers of ranks in, the hang report out.",
    "os": "What the system has, and what every layer needs.",
    "os/cpu": "The processors of this host.",
    "os/memory": "Memory: shared, pooled, in one stretch.",
    "os/net": "Addresses, ports, and who is at the other end.",
    "tools": "Generators, wrappers, checks of the tree.",
    "tools/package": "Packages of other systems; `debian/` is what `./bootstrap deb` builds by.",
    "examples": "Programs for users to read.",
    "examples/functions": "Programs for the functions that are used most; manual pages show them.",
}
SOURCES = (".c", ".h", ".py", ".sh", ".in", ".tsv", ".inc")
COMMENT = re.compile(r"/\*+\s*(.*?)\*/", re.S)


def sentence(path):
    """The first sentence of a file's first comment that is not its license."""
    text = path.read_text(errors="replace")
    if path.suffix == ".py":
        found = re.search(r'"""(.*?)"""', text, re.S)
        words = found.group(1) if found else ""
    elif comments := [c for c in COMMENT.findall(text) if "SPDX" not in c]:
        words = re.sub(r"^ ?\* ?", "", comments[0], flags=re.M)
    else:
        lines = re.match(r"(?:#.*\n)*", text).group(0).splitlines()
        words = " ".join(line.lstrip("# ") for line in lines
                         if not line.startswith("#!") and "SPDX" not in line)
    first = re.split(r"\n\s*\n", words.strip())[0]
    return re.split(r"(?<=[\w)`'\"])\.(?:\s|$)", " ".join(first.split()))[0].rstrip(".:")


def rows(folder):
    """Yield (names, sentence) of a folder's files, in order."""
    files = sorted(p for p in folder.iterdir() if p.suffix in SOURCES and p.is_file())
    stems = {}
    for path in files:
        pair = path.suffix in (".c", ".h")
        stems.setdefault(path.stem if pair else path.name, []).append(path)
    for paths in stems.values():
        header = paths[-1]
        name = paths[0].name + "".join("/" + p.suffix for p in paths[1:])
        yield name, sentence(header)


def sections(root):
    """Yield the text of each folder."""
    for name, line in FOLDERS.items():
        table = [f"| `{names}` | {words} |" for names, words in rows(root / name)]
        if table:
            yield "\n".join([f"## `{name}/`", "", line, "", "| file | what it is |", "|---|---|",
                             *table])


def unknown(root):
    """The folders with source files that FOLDERS lacks; tests have no list."""
    tops = {name.split("/")[0] for name in FOLDERS}
    with_sources = {p.parent for top in tops for p in (root / top).rglob("*")
                    if p.suffix in SOURCES}
    return sorted({str(p.relative_to(root)) for p in with_sources} - set(FOLDERS))


def main(root, check):
    if missing := unknown(root):
        print("tools/gen_files.py has no line for " + ", ".join(missing))
        return 1
    text = "\n\n".join([
        "<!-- Made by tools/gen_files.py from the first sentence of each file. -->\n# Source files",
        *sections(root)]) + "\n"
    page = root / "doc/files.md"
    if not check:
        page.write_text(text)
    elif not page.exists() or page.read_text() != text:
        print("doc/files.md is not up to date: run tools/gen_files.py")
        return 1
    return 0


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    sys.exit(main(pathlib.Path(arguments[0] if arguments else "."), "--check" in sys.argv))
