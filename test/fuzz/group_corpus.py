#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_group: groups as group_pack() has them.

usage: group_corpus.py DIR
"""
import pathlib
import struct
import sys

WORLD = b"w".ljust(16, b"\0")
OTHER = b"o" * 16


def image(first, stride, size, members=()):
    head = WORLD + struct.pack("=qqiI", first, stride, size, bool(members))
    return head + b"".join(gid + struct.pack("=I", rank) for gid, rank in members)


seeds = {
    "range": image(0, 1, 100),
    "turned": image(2**32 - 1, -7, 300_000_000),
    "whole": image(0, 2, 2**31 - 1),
    "one": image(17, 1, 1),
    "empty": image(0, 1, 0),
    "list": image(0, 1, 20, [(WORLD if i % 3 else OTHER, 7 * i % 20) for i in range(20)]),
    "twice": image(0, 1, 3, [(WORLD, 4), (WORLD, 9), (WORLD, 4)]),
    "outside": image(2**32, 1, 2),
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / f"group_{name}").write_bytes(seed)
