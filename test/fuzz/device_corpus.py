#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_packet, steps of every kind in sensible orders, and for fuzz_card.

usage: device_corpus.py DIR
"""
import pathlib
import random
import sys

# Steps; the types of packets are theirs from 8 on: a step of 12 + n or n is of type n.
SEND, RECV, PROBE, CANCEL, LINK, TURN, PLACE = range(7)
NONE, EAGER, RTS, CTS, DATA, DONE, CANCELS, CANCELLED, CREDIT, CLOSE = range(10)


def packet(kind, *rest):
    return bytes([12 + kind if kind < 8 else kind, *rest])


def length(n):
    return bytes([128]) + n.to_bytes(2, "little")


recv_any = bytes([RECV, 0]) + length(10000) + b"\0"
recv_big = bytes([RECV, 0]) + length(32768) + b"\0"
recv_gaps = bytes([RECV, 0]) + length(10000) + b"\1"
sync_send = bytes([SEND, 0x10]) + length(9000)
seeds = {
    "eager": recv_any * 3 + b"".join(packet(EAGER, 0, 2 * i, 0, i) for i in range(12)),
    "unexpected": b"".join(packet(EAGER, 0, 0, 0, 100 + i) for i in range(9)) + recv_any * 9,
    "in_place": (bytes([PLACE, 0, 1, 0]) + length(3000) + recv_gaps + bytes([PLACE, 0])) * 4,
    "rendezvous": recv_any + packet(RTS, 0, 0, 1) + length(9000) + b"\5" +
                  b"".join(packet(DATA, 0, 150, *(i * 1000).to_bytes(2, "little"), 0, 130) +
                           (1000).to_bytes(2, "little") for i in range(9)),
    "direct": (recv_big + packet(RTS, 0, 0, 3) + length(32768) + b"\5") * 5 +
              packet(DONE, 0, 0, 2) * 2,
    "keyed": bytes([LINK, 0, 6, 6]) +
             (recv_big + packet(RTS, 0, 0, 11) + length(32768) + b"\5" + bytes([LINK, 0, 7, 1])) * 6 +
             recv_big + packet(RTS, 0, 0, 11) + length(32768) + b"\6" + bytes([LINK, 0, 3]),
    "asked": sync_send * 3 + b"".join(packet(CTS, 0, 0, 255, 0, 0, 0, 0, i * 2, i, 3) +
                                      length(9000) + length(4096) for i in range(3)) +
             bytes([TURN] * 4),
    "done": sync_send * 4 + b"".join(packet(DONE, 0, 0, i) for i in range(4)),
    "cancel": sync_send * 2 + bytes([CANCEL, 0, CANCEL, 1]) +
              packet(CANCELLED, 0, 1, 0) + packet(CANCELLED, 0, 0, 1),
    "probe": packet(RTS, 0, 0, 5) + length(20) + b"\7" + bytes([PROBE, 0, 1, PROBE, 0, 1]) +
             length(30),
    "close": packet(CLOSE, 0, 0, 0, 0) + packet(EAGER, 0, 0, 0, 20) + packet(CLOSE, 0, 1, 0, 0),
    "losses": (recv_any + bytes([LINK, 0, 3, LINK, 0, 0, LINK, 0, 1]) + sync_send) * 3,
    "pending": bytes([LINK, 0, 5, 2]) + (bytes([SEND, 0]) + length(2000)) * 5 +
               bytes([LINK, 0, 7, LINK, 0, 3]),
    "noise": random.Random(1).randbytes(4000),
    "card": b"\0vireo2;arch=le64;one(v=1,w=2);two(v=7);onetwo(v=A)",
    "card_odd": b"\0vireo2;arch=le64;one(;two);(v=1);onetwo(v=%4)",
    "card_long": b"\0vireo2;arch=le64;one(v=" + b"x" * 3000 + b");two(v=1)",
    "params": b"\1a=1,key=%41%42,a=2,key=,b",
    "value": b"\1 ;(),=%\x7f\xff plain",
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / ("device_" + name)).write_bytes(seed)
