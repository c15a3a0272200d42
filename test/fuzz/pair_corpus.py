#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_pair: words at the pair channel's socket, and records of a ring.

usage: pair_corpus.py DIR
"""
import pathlib
import struct
import sys

GROUP = b"group" + bytes(11)


def record(length, data=b""):
    whole = struct.pack("=Q", length) + bytes(16) + data
    return whole + bytes(-len(whole) % 64)


seeds = {
    "hello": b"\1" + struct.pack("=II", 0x52494156, 1) + b"c" * 16 + GROUP + struct.pack("=II", 0, 3) + bytes(range(16)),
    "challenge": b"\1" + bytes(32),
    "proof": b"\1" + bytes(16),
    "answer": b"\1" + struct.pack("=II", 0x52494156, 2),
    "records": b"\0" + record(9, b"12345678") + record(1) + record(101, b"x" * 100),
    "skip": b"\0" + record(9, b"12345678") + record((1 << 64) - 1),
    "long": b"\0" + record((64 << 10) + 2),
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / f"pair_{name}").write_bytes(seed)
