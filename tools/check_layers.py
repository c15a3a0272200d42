#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where a file includes what its layer may not see.

usage: check_layers.py [SOURCE]

MAY_SEE is the architecture: for each layer the contract headers of the layers below. A file
always sees its own folder; a channel is a folder of its own, and so is each part of bnr/ and mpid/. The rooms of mpi/
have an order, MPI_ROOMS, and see those before them.
A project header is named by its whole path from the top, "mpid/conn/vc.h", so that a line of #include says what it crosses; what is
made at build time for one file has a bare name that ends in .gen.h. Only mpi.h is <mpi.h>, since
programs and ROMIO see it so. THIRD_PARTY says who alone may include a library's headers.
Changing a table changes the architecture: do it in a commit of its own.
"""
import pathlib
import re
import sys

MAY_SEE = {
    "include": ["bnr.h"],                       # bnr_iof.h, which is installed beside it
    "os": [],
    "channels": ["include/channel.h", "include/channel_help.h", "slots.h", "os/"],
    "diagnose": ["include/diagnose.h", "os/"],
    "bnr": ["include/bnr.h", "os/"],
    "bnr/core": ["os/"],
    "bnr/wire": ["bnr/core/", "os/"],
    "bnr/group": ["include/bnr.h", "os/"],
    "bnr/host": ["include/bnr.h", "bnr/core/", "bnr/wire/", "os/"],
    "bnr/client": ["include/bnr.h", "bnr/core/", "bnr/group/", "bnr/host/", "bnr/wire/", "os/"],
    "bnr/launch": ["bnr/core/", "bnr/wire/", "bnr/host/", "os/"],
    "bnr/diagnose": ["include/diagnose.h", "bnr/host/", "bnr/io/filter.h", "os/"],
    "bnr/io": ["bnr/core/", "bnr/wire/", "bnr/host/", "bnr/launch/", "os/"],
    "bnr/plan": ["bnr/core/", "bnr/wire/", "bnr/launch/remote.h", "bnr/stdio/outfile.h", "os/"],
    "bnr/stdio": ["bnr/core/", "bnr/host/", "bnr/io/", "bnr/streams/", "os/"],
    "bnr/streams": ["bnr/core/", "bnr/wire/", "bnr/host/", "bnr/io/", "os/"],
    "bnr/wide": ["bnr/core/", "bnr/wire/", "bnr/host/", "bnr/launch/", "bnr/diagnose/", "bnr/io/",
                 "bnr/streams/", "os/"],
    "bnr/daemon": ["bnr/core/", "bnr/wire/", "bnr/host/", "bnr/launch/", "bnr/diagnose/", "bnr/io/",
                   "bnr/streams/", "bnr/wide/", "os/"],
    "bnr/run": ["bnr/core/", "bnr/wire/", "bnr/host/", "bnr/launch/", "bnr/diagnose/", "bnr/io/",
                "bnr/stdio/", "bnr/streams/", "bnr/wide/", "bnr/plan/plan.h", "os/"],
    "bnr/options": ["bnr/core/", "bnr/wire/", "bnr/launch/", "bnr/plan/plan.h", "bnr/io/amend.h",
                    "bnr/stdio/prefix.h", "os/"],
    "bnr/tools": ["bnr/", "os/"],
    "mpid": ["include/mpid.h", "include/queues.h", "include/channel.h", "include/channel_help.h", "include/bnr.h",
             "slots.h", "os/"],
    "mpi": ["include/mpid.h", "include/mpi-ext.h", "include/queues.h", "os/"],
    "fortran": [],
    "romio": ["mpi/hooks.h"],
    "profile": ["os/"],
    "queues": ["include/queues.h"],
    "examples": [],
}
# The rooms of the device, from the ground up: each sees those before it.
ROOMS = ["ground", "wait", "conn", "peers", "message", "memory", "tell", "start"]
for number, room in enumerate(ROOMS):
    MAY_SEE["mpid/" + room] = MAY_SEE["mpid"] + [f"mpid/{below}/" for below in ROOMS[:number]]
# Those of the MPI layer likewise: its ground, which has no room of its own, and what stands on it. All see the ground.
MPI_ROOMS = ["", "type", "comm", "request", "coll", "region", "calls", "make", "topo", "dynamic", "ft", "win", "io",
             "tool", "start", "api"]
LAYERS = [name for name in MAY_SEE if "/" not in name]
EVERYONE = ["include/version.h"]                # made at build time, as slots.h is
MPI_H = {"mpi", "fortran", "romio", "profile", "examples"} # who includes <mpi.h>
THIRD_PARTY = {                                 # header: the only files that may name it
    r"hwloc(/|\.h)": r"(mpi/comm|bnr/launch)/hardware\.c",
    r"rdma/": r"channels/ofi/.*",
    r"jansson\.h": r"(profile/summary|bnr/stdio/json_lines|bnr/tools/attach_info)\.c",
    r"uthash\.h": r"(os/hash|bnr/core/hash)\.h|profile/messages\.c",
    r"uv\.h": r"bnr/(io|stdio|streams|wide|daemon|run|diagnose)/.*",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def unit(path):
    """The folder whose files see each other: of channels, bnr/ and mpid/, a part."""
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] in ("channels", "bnr", "mpid") and len(parts) > 2 else parts[0]


def floor(name):
    """The number of the room of mpi/ in which a file lies; of a folder that has none: -1."""
    parts = name.split("/")
    room = parts[1] if len(parts) > 2 else ""
    return MPI_ROOMS.index(room) if room in MPI_ROOMS else -1


def wrong(root, path):
    """Yield a message for each include that is not allowed."""
    layer, here = path.parts[0], unit(path)
    for quote, name in INCLUDE.findall((root / path).read_text(errors="replace")):
        if quote == '"':
            seen = name.startswith(tuple([here + "/"] + MAY_SEE.get(here, MAY_SEE[layer]) +
                                         EVERYONE))
            # An example also compiles alone, where it lies: it names its own header as it is.
            seen = seen or (layer == "examples" and (root / layer / name).is_file())
            if layer == "mpi" and name.startswith("mpi/") and not -1 < floor(name) <= floor(str(path)):
                yield f"{path}: \"{name}\" is in no room of mpi/ below it"
            if not seen and not ("/" not in name and name.endswith(".gen.h")):
                yield f"{path}: {here} may not include \"{name}\""
        elif name == "mpi.h" and layer not in MPI_H and path.name not in ("mpi_compat.h", "mpi-ext.h"):
            yield f"{path}: {here} may not include <mpi.h>"
        elif any((root / folder / name).exists() for folder in [".", here, "include"]):
            yield f"{path}: <{name}> is ours: \"path/from/the/top.h\""
        for header, who in THIRD_PARTY.items():
            if quote == "<" and re.match(header, name) and not re.fullmatch(who, str(path)):
                yield f"{path}: <{name}> is only for {who}"


def main(root):
    paths = [p.relative_to(root) for layer in LAYERS for p in (root / layer).rglob("*.[ch]")]
    bad = [message for path in sorted(paths) for message in wrong(root, path)]
    print("\n".join(bad) or f"layers ok: {len(paths)} files")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
