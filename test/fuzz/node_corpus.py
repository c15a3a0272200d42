#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conversations with a daemon, as fuzz_node reads them. usage: node_corpus.py FOLDER"""
import pathlib
import struct
import sys

(ATTACH, BEAT, LOST, EXPELLED, SUBMIT, XCAST, HAVE, FENCE, GET, VALUE, ENDED) = range(1, 12)
TICK = b"\xff" + bytes(42)


def record(sender, kind, data=b"", mode=0, status=0, flags=0, origin=0, to=0, tag=0, group=0,
           number=0, other=0):
    body = bytes([kind, mode, status, flags]) + struct.pack("<III", origin, to, tag)
    body += struct.pack(">QQQ", group, number, other)
    return bytes([sender]) + body + struct.pack(">H", len(data)) + data


def words(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def xcast(number, tag, payload, mode=0, ranges=()):
    return record(0, XCAST, words(len(ranges) // 2, *ranges) + payload, mode=mode, tag=tag,
                  group=number, number=number)


RELEASE = words(0, 1, 0, 1, 0, 0)
ENTRY = words(3, 4, 5) + b"key0" + b"value"
CONVERSATIONS = {
    # the first byte says which node is spoken to
    "attach": b"\1" + record(3, ATTACH, words(8)) + record(4, ATTACH) + record(3, BEAT) + TICK * 3,
    "losses": b"\1" + record(3, LOST, words(7, 8)) + record(0, EXPELLED) + record(7, BEAT),
    "lost_parent": b"\3" + xcast(1, 1, words(1)) + record(0, LOST, words(4, 5)) + TICK * 12,
    "xcasts": b"\1" + xcast(2, 16, b"two") + xcast(1, 16, b"one") + xcast(1, 16, b"one")
              + xcast(3, 16, b"three", 1) + xcast(4, 16, b"four", 2, (3, 5)) + TICK * 3
              + record(3, HAVE, number=4, other=4) + record(4, HAVE, number=4, other=2),
    "submits": b"\0" + b"".join(record(1, SUBMIT, words(0) + b"x", origin=o, tag=20, number=n)
                                for n in (1, 2, 4, 3) for o in (1, 3))
               + record(1, HAVE, number=3, other=3) + record(2, HAVE, number=9, other=1),
    "fences": b"\1" + record(3, FENCE, ENTRY, flags=2, tag=3, group=1, number=1, other=5)
              + record(4, FENCE, ENTRY, flags=2, tag=1, group=1, number=1, other=5)
              + xcast(1, 2, RELEASE + ENTRY) + record(3, FENCE, group=1, number=2, tag=1)
              + record(3, FENCE, group=2, number=1, tag=1),
    "root_fences": b"\0" + record(1, FENCE, group=1, number=1, tag=4)
                   + record(2, FENCE, group=1, number=1, tag=4, status=2),
    "gets": b"\1" + record(0, GET, b"key", origin=5, to=1, tag=3, group=1, number=7)
            + record(0, GET, b"key", origin=5, to=4, tag=8, group=1, number=8)
            + record(3, VALUE, b"value", origin=7, to=1, number=1)
            + record(0, GET, b"none", flags=1, origin=2, to=1, tag=2, group=1, number=9),
    "ends": b"\0" + record(1, ENDED, words(2, 2, 0, 0, 6, 4, 256, 3), group=1)
            + record(2, ENDED, words(4, 2, 0, 8), group=1) + record(2, ENDED, words(17, 9, 0, 0)),
}


def main(folder):
    for name, text in CONVERSATIONS.items():
        pathlib.Path(folder, f"node_{name}").write_bytes(text)


if __name__ == "__main__":
    main(sys.argv[1])
