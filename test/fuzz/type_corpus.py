#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_type: steps that make datatypes of every kind, small and hostile.

usage: type_corpus.py DIR
"""
import pathlib
import random
import sys

(BASIC, _, CONTIGUOUS, VECTOR, HVECTOR, INDEXED, HINDEXED, BLOCKS, HBLOCKS, STRUCT, RESIZED,
 SUBARRAY, DARRAY, OTHER) = range(14)
BYTE, SHORT, INT, DOUBLE, LONG, UNSIGNED_LONG, LONG_DOUBLE, WCHAR = range(8)
SMALL, HOSTILE = b"\0", b"\1"


def stack(*types):
    return b"".join(bytes([BASIC, t]) for t in types)


def wide(value):
    """An argument of hostile inputs."""
    if value < 0:
        return bytes([8 + 7]) + (~value).to_bytes(7, "big")
    return bytes([7]) + value.to_bytes(7, "big")


HUGE = bytes([16 + 7 * 32 + 1, 0x7f])   # 0x7f << 56
cuts = bytes(range(1, 60)) * 3
records = stack(INT, DOUBLE, BYTE) + bytes([STRUCT, 3, 0, 1, 50, 1, 1, 58, 2, 3, 66])
noise = random.Random(1)
seeds = {
    "vector": SMALL + stack(DOUBLE) + bytes([VECTOR, 5, 2, 9]) + cuts,
    "negative": SMALL + stack(SHORT) + bytes([HVECTOR, 4, 1, 20]) + cuts,
    "records": SMALL + records + bytes([CONTIGUOUS, 5]) + cuts,
    "nested": SMALL + stack(INT) + bytes([VECTOR, 3, 1, 7, HVECTOR, 3, 2, 150, VECTOR, 2, 1, 7]) + cuts,
    "lists": SMALL + stack(WCHAR) + bytes([INDEXED, 4, 2, 11, 1, 14, 3, 20, 0, 10,
                                           HBLOCKS, 3, 1, 60, 100, 170]) + cuts,
    "arrays": SMALL + stack(LONG) + bytes([SUBARRAY, 2, 1, 3, 1, 1, 4, 2, 0, 5, 3, 1,
                                           DARRAY, 1, 0, 7, 1, 3, 0, 8, 2, 2, 1, 1, 2]) + cuts,
    "resized": SMALL + stack(LONG_DOUBLE) + bytes([RESIZED, 20, 90, VECTOR, 3, 2, 8, OTHER, 1]) + cuts,
    "empty": SMALL + stack(BYTE) + bytes([CONTIGUOUS, 0, VECTOR, 3, 0, 7, STRUCT, 1, 0, 2, 9]) + cuts,
    "huge": HOSTILE + stack(DOUBLE) + bytes([CONTIGUOUS]) + wide(1 << 50) + bytes([VECTOR]) +
            wide(3) + wide(1) + wide(1 << 40) + bytes([RESIZED]) + HUGE + wide(-1),
    "far": HOSTILE + stack(BYTE) + bytes([HINDEXED, 3]) + wide(1) + wide(-(1 << 54)) + wide(1) + HUGE +
           wide(0) + HUGE,
    "refused": HOSTILE + stack(INT) + bytes([VECTOR]) + wide(-1) + wide(2) + wide(3) +
               bytes([SUBARRAY, 1, 1]) + wide(4) + wide(9) + wide(-2) + wide(0) + wide(1) + wide(1),
    "noise": SMALL + noise.randbytes(400),
    "noise_hostile": HOSTILE + noise.randbytes(400),
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / ("type_" + name)).write_bytes(seed)
