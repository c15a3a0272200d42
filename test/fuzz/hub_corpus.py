#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the corpus of fuzz_hub: what processes send to the hub of a job's streams.

usage: hub_corpus.py FOLDER
"""
import pathlib
import struct
import sys

(PUBLISH, PUSH, SUBSCRIBE, DATA, TAKEN, CLOSE, FLUSH, STAT) = range(1, 9)
SINK, OBSERVER, EOF, GAP, BROKEN = 1, 2, 4, 8, 16
NOW, OLDEST = 2**64 - 1, 2**64 - 2


def say(party, kind, number, flags=0, policy=0, stream=0, rank=0, tag=16, off=0, data=b""):
    """One message of a party."""
    return struct.pack(">BIBBBBIIIiiQQQ", party, 52 + len(data), kind, flags, policy, 0, number,
                       stream, 0, rank, tag, off, 0, 0) + data


SEEDS = {
    "source": [say(0, PUBLISH, 1), say(1, SUBSCRIBE, 1, off=OLDEST), say(0, DATA, 1, data=b"abc" * 9),
               say(1, TAKEN, 1, stream=1, off=27), say(0, FLUSH, 1, off=3), say(0, STAT, 1),
               say(0, CLOSE, 1), say(1, TAKEN, 1, EOF, stream=1, off=27)],
    "observers": [say(1, SUBSCRIBE, 1, OBSERVER, rank=-1, tag=-1, off=NOW)] +
                 [say(0, PUBLISH, i, rank=i % 4, tag=i) for i in range(5)] +
                 [say(0, DATA, i, data=b"x" * 4000) for i in range(5)] +
                 [say(1, TAKEN, 1, stream=2, off=4000), say(1, CLOSE, 1)],
    "sink": [say(0, PUSH, 1, tag=0), say(0, DATA, 1, data=b"first second"),
             say(1, PUBLISH, 1, SINK, tag=0), say(1, TAKEN, 1, stream=1, off=6), say(1, CLOSE, 1),
             say(2, PUBLISH, 1, SINK, tag=0), say(0, FLUSH, 1, off=1), say(2, CLOSE, 1, BROKEN)],
    "push_all": [say(0, PUSH, 1, rank=-1, tag=0), say(1, PUBLISH, 1, SINK, rank=1, tag=0),
                 say(2, PUBLISH, 1, SINK, rank=2, tag=0), say(0, DATA, 1, data=b"to all"),
                 say(1, CLOSE, 1, BROKEN), say(0, CLOSE, 1), say(2, TAKEN, 1, EOF, stream=2, off=6)],
    "policies": [say(0, PUBLISH, i, policy=i, tag=i) for i in range(4)] +
                [say(0, DATA, i, data=b"y" * 4096) for i in range(4)] +
                [say(1, SUBSCRIBE, i, tag=i, off=100) for i in range(4)] +
                [say(0, DATA, i, data=b"z") for i in range(4)],
    "odd": [say(0, PUBLISH, 1, rank=9), say(1, DATA, 1), say(2, SUBSCRIBE, 1, off=7),
            say(2, SUBSCRIBE, 1), say(0, PUBLISH, 1), say(0, DATA, 1, data=b"w" * 5000)],
}


def main(folder):
    for name, messages in SEEDS.items():
        (pathlib.Path(folder) / f"hub_{name}").write_bytes(b"".join(messages))


main(sys.argv[1])
