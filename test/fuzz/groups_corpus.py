#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_groups: frames of calls, words of roots, keys, notes.

usage: groups_corpus.py DIR
"""
import pathlib
import struct
import sys

GID = b"the group of all"
OTHER = b"some other group"
WHAT = 7 # of the calls there
UP, DOWN, LEAVE, FAIL = 1, 2, 3, 4
PROC_FAILED = -12


def frame(link, kind, call, code=0, body=b"", gid=GID, what=WHAT):
    return struct.pack(">BIIIiQ", link, len(body), kind << 24, call, code, what) + gid + body


def said(*ranks):
    return b"".join(struct.pack(">II", r, 4) + b"said" for r in ranks)


def root():
    calls = b"".join(frame(1, UP, n, body=said(1, 3, 4)) + frame(2, UP, n, body=said(2, 5, 6)) for n in range(1, 6))
    return b"\0" + calls + frame(1, LEAVE, 6, PROC_FAILED) + frame(1, UP, 7, body=said(1, 3, 4))


def odd_root():
    return (b"\0" + frame(1, UP, 1, body=said(1, 3, 3)) + frame(2, UP, 1, body=said(2, 5, 6)) + frame(1, UP, 2, what=8) +
            frame(2, UP, 2) + frame(3, UP, 3, gid=OTHER) + frame(1, LEAVE, 9, PROC_FAILED) + frame(2, FAIL, 1, PROC_FAILED))


def inner():
    ups = [frame(1, UP, n, body=said(1)) + frame(2, UP, n, body=said(2)) + frame(3, DOWN, n, body=b"g" + OTHER)
           for n in range(1, 5)]
    return b"\1" + b"".join(ups) + frame(3, DOWN, 6, PROC_FAILED) + frame(3, DOWN, 5, PROC_FAILED) + frame(3, FAIL, 5, -1)


def meet(why=2, relation=0, wanted=bytes(16), door=b"vireo1.00", parts=((OTHER, 4), (b"one more of them", 2))):
    return (b"\2" + b"VireoGr1" + struct.pack(">BBHI", why, relation, len(door), len(parts)) + OTHER + wanted + GID + door +
            b"".join(g + struct.pack(">I", n) for g, n in parts))


def keys(*entries):
    def pack(pairs):
        return b"".join(struct.pack(">II", len(k), len(v)) + k + v for k, v in pairs)

    packed = [(r, pack(pairs)) for r, pairs in entries]
    return b"\3" + b"".join(struct.pack(">II", r, len(p)) + p for r, p in packed)


def main(folder):
    hexed = GID.hex().encode()
    seeds = {
        "root": root(), "root_odd": odd_root(), "inner": inner(),
        "meet": meet(), "meet_merge": meet(1, 1, b"here" + bytes(12)), "meet_twice": meet(parts=((OTHER, 4), (OTHER, 4))),
        "keys": keys((1, [(b"one", b"1"), (b"two", b"")]), (2, [(b"one", bytes(99))]), (0, [(b"own", b"1")])),
        "keys_odd": keys((5, [(b"far", b"1")]), (1, [(b"", b"1")])),
        "note": b"\4bnr1 " + hexed + b" 3 " + hexed + b" 12 vireo1.00@127.0.0.1",
    }
    for name, seed in seeds.items():
        (pathlib.Path(folder) / ("groups_" + name)).write_bytes(seed)


if __name__ == "__main__":
    main(sys.argv[1])
