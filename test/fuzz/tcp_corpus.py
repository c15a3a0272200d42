#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_tcp_wire: streams of packets, messages of the handshake, cards.

usage: tcp_corpus.py DIR
"""
import pathlib
import struct
import sys

STREAM, HANDSHAKE, CARD = b"\0", b"\1", b"\2"


def packet(length, sent=None):
    payload = bytes(i * 7 & 255 for i in range(length if sent is None else sent))
    return struct.pack(">I", length) + b"Vpk\1" + b"head" * 4 + payload


def hello(kind, length):
    return (b"Vchn\1" + bytes([kind, 1, 0]) + bytes(range(64)))[:length]


seeds = {
    "small": STREAM + b"\xff" + b"".join(packet(n) for n in (0, 8, 1, 56, 1000) * 8),
    "bytewise": STREAM + b"\0" + b"".join(packet(n) for n in (0, 8, 40)),
    "large": STREAM + b"\xff" + packet(50000) + packet(8) + packet(30000),
    "mixed": STREAM + b"\x40" + packet(16384) + packet(16385) + packet(5) + packet(16000),
    "cut": STREAM + b"\xff" + packet(60000, 100),
    "longest": STREAM + b"\xff" + packet(4 << 20, 10),
    "too_long": STREAM + b"\xff" + packet((4 << 20) + 1, 10),
    "turned": b"\x81\xff" + packet(50000) + packet(8) + packet(30000),  # in a job of network byte order
    "hello": HANDSHAKE + hello(1, 72),
    "challenge": HANDSHAKE + hello(2, 32),
    "proof": HANDSHAKE + hello(3, 16),
    "answer": HANDSHAKE + hello(4, 16),
    "card": CARD + b"n=00ff,p=4711,host=h,a=10.0.0.1,a=fd00::1,a=127.0.0.1",
    "card_odd": CARD + b"p=1,a=%31.2.3.4,n=%,a=::ffff:1.2.3.4,,=",
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / name).write_bytes(seed)
