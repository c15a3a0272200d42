#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_win: a byte for the window, and steps as LLVMFuzzerTestOneInput() there takes them.

usage: win_corpus.py DIR
"""
import pathlib
import struct
import sys

PUT, PUT_LONG, GET, ACCUMULATE, FETCH, COMPARE, FLUSH, LOCK, UNLOCK, WHOLE = range(1, 11)
BYTES, OPERATION, DATA, EMPTY, PROGRESS, QUESTION, EPOCH, ROW = range(8)
OP_FREE, TAG_FREE, DISP_FREE, MANY, RUNS_FREE, SUM_FREE, LEN_FREE, COUNT_FREE = (1 << i for i in range(8))
FORGED = {"none": b"\0", "one": b"\1" + b"\0" + b"\4" + b"\0\0\0\0", "odd": b"\2" + b"\0\x0b" + b"\1\x10" + b"x" * 16}


def question(ask, how=0, op=b"", typ=1, tag=7, at=0, runs=b"\x10\x27", rest=b""):
    """runs: offset and length of each, as take_number() has them; 39 more than a multiple of 64 makes 40 bytes."""
    tag = struct.pack("<I", tag) if how & TAG_FREE else bytes([tag])
    return bytes([QUESTION, ask, how]) + op + bytes([typ]) + tag + (at if isinstance(at, bytes) else
                                                                   struct.pack("<H", at)) + runs + rest


def row(ask, how=0, typ=1, tag=7, at=0, offset=b"\x10", length=b"\x17", stride=b"\x18", count=b"\x64"):
    return bytes([ROW, ask, how, typ, tag]) + struct.pack("<H", at) + offset + length + stride + count


def epoch(inner, how=b"\0"):
    """A whole epoch of a question of these two."""
    return bytes([EPOCH, inner[0] == ROW]) + inner[1:] + how


def raw(ask, runs=(), data=b"", typ=0, op=0, tag=16, disp=0, length=None):
    body = struct.pack("<BBBBIIIqQ", ask, op, typ, 0, tag, len(runs), len(data), disp, sum(n for _, n in runs) % 2**64)
    body += b"".join(struct.pack("<qQ", at, n) for at, n in runs) + data
    return bytes([BYTES]) + struct.pack("<H", length or len(body)) + body


def operation(kind, count, forged="none", at=0, gaps=False):
    # count: one byte below 128, or two behind 200
    number = bytes([count]) if 14 <= count < 128 else bytes([200]) + struct.pack("<H", count)
    return bytes([OPERATION, kind + 64 * gaps]) + number + struct.pack("<H", at) + FORGED[forged]


def of_types(ask):
    return b"".join(question(ask, typ=t, runs=b"\0" + bytes([23 + t % 16])) for t in range(0, 64, 3))


every = b"".join(operation(kind, n, at=80) for kind in (0, 35, 5, 1, 2, 3, 4) for n in (20, 100, 2500) if kind < 5)
seeds = {
    "puts": b"".join(question(PUT, at=n * 100, runs=bytes([n, 60])) for n in range(14, 40)),
    "put_far": question(PUT, DISP_FREE, at=b"\x0a") + question(PUT, DISP_FREE, at=b"\x0c") +
    question(PUT, DISP_FREE, at=b"\x0b") + question(PUT, RUNS_FREE, runs=b"\x0d\1") + question(PUT, at=19990),
    "long": question(PUT_LONG, tag=3) + bytes([DATA, 0]) + question(PUT_LONG, RUNS_FREE, tag=4, runs=b"\0\5") +
    question(FLUSH, MANY, tag=5, runs=b"\0") + bytes([DATA, 0, PROGRESS]) + question(UNLOCK, MANY, tag=6, runs=b"\0"),
    "gets": question(GET, tag=9) + question(GET, MANY, tag=10, runs=b"\x20" + b"\x10\x27" * 32) +
    question(GET, RUNS_FREE, tag=11, runs=b"\0\3") + question(GET, RUNS_FREE, tag=12, runs=b"\0\x0a") +
    question(GET, MANY | RUNS_FREE, tag=13, runs=b"\x0f" + b"\0\7" * 15),
    "accumulates": of_types(ACCUMULATE),
    "fetches": of_types(FETCH) + question(FETCH, OP_FREE, op=b"\x0e", runs=b"\0\3"),
    "compares": b"".join(raw(COMPARE, [(8, n)], bytes(2 * n), typ=t) for t in range(1, 40) for n in (4, 8)),
    "locks": question(LOCK, MANY, tag=20, runs=b"\0") + question(LOCK, MANY, tag=21, runs=b"\0") +
    question(UNLOCK, MANY, tag=22, runs=b"\0") + question(LOCK, MANY | OP_FREE, op=b"\0", tag=23, runs=b"\0"),
    "lock_shared": question(LOCK, MANY | OP_FREE, op=b"\1", tag=20, runs=b"\0") + bytes([PROGRESS]) +
    question(UNLOCK, MANY | OP_FREE, op=b"\0", tag=22, runs=b"\0") + question(UNLOCK, MANY, tag=22, runs=b"\0"),
    "lock_passing": b"".join(question(LOCK, MANY | OP_FREE, op=bytes([how]), tag=20 + how, runs=b"\0") + bytes([PROGRESS]) +
                             question(UNLOCK, MANY | OP_FREE, op=b"\1", tag=30, runs=b"\0") for how in (2, 0, 2, 3, 1)),
    "rows": b"".join(row(ask, typ=t, at=ask * 8) for ask in (PUT, GET, ACCUMULATE, FETCH) for t in range(1, 24)) +
    row(PUT, stride=b"\xc8\xff\xff") + row(GET, at=19000),
    "rows_free": b"".join(row(ask, RUNS_FREE, length=b"\x0e", stride=stride, count=count) for ask in (PUT, GET, ACCUMULATE)
                          for stride in (b"\0", b"\x0d", b"\x0a", b"\x0b") for count in (b"\0", b"\x0f", b"\x0c", b"\7")) +
    raw(PUT, [(0, 8 + 2**63)], bytes(8)) + raw(GET, [(0, 8 + 2**63), (8, 2), (0, 8 + 2**63)]),
    "whole": b"".join(epoch(question(ask, typ=3, tag=ask), bytes([how])) for ask in range(1, 11) for how in range(4)) +
    b"".join(epoch(row(ask, typ=3), b"\1") for ask in (PUT, GET, ACCUMULATE)) + raw(WHOLE) + raw(WHOLE, [(0, 8)]) +
    question(LOCK, MANY, tag=20, runs=b"\0") + epoch(question(PUT)) + question(UNLOCK, MANY, tag=22, runs=b"\0"),
    "operations": every,
    "spread": b"".join(operation(kind, n, at=160, gaps=True) for kind in range(4) for n in (40, 2400)),
    "forged": b"".join(operation(kind, 100, forged) for kind in range(5) for forged in ("one", "odd")),
    "epochs": bytes([EMPTY, 0, 0, EMPTY, 1, 0, EMPTY, 1, 40]) + every[:40],
    "broken": raw(PUT, [(0, 8)], bytes(9)) + raw(0) + raw(11) + raw(PUT) + raw(GET, [(0, 0)]) +
    raw(GET, [(0, 1)], tag=3) + raw(FLUSH, tag=0) + raw(PUT, [(0, 8)], bytes(8), length=20) +
    raw(GET, [(0, 8)] * 257) + raw(GET, [(0, 2**63)] * 2) + question(GET, COUNT_FREE, rest=b"\x09") +
    question(PUT, LEN_FREE, rest=b"\x09") + question(PUT, SUM_FREE, rest=b"\x0c"),
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, steps in seeds.items():
    (out / f"win_{name}").write_bytes(bytes([2]) + steps)
    (out / f"win_{name}_dynamic").write_bytes(bytes([4]) + steps)
