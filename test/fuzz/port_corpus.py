#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_port: names of ports, words at a port, introductions.

usage: port_corpus.py DIR
"""
import pathlib
import struct
import sys

NAME = b"vireo1.000102030405060708090a0b0c0d0e0f.4711@"


def introduction(card, host, more=b""):
    return b"\2" + b"g" * 16 + b"k" * 16 + struct.pack(">III", 3, len(card), len(host)) + card + host + more


seeds = {
    "name": b"\0" + NAME + b"10.0.0.1,fd00::2,127.0.0.1,::1",
    "name_odd": b"\0" + NAME + b"10.0.0.1,,::ffff:1.2.3.4",
    "hello": b"\1" + b"VireoPt1" + bytes(range(24)),
    "proof": b"\1" + bytes(32),
    "known": introduction(b"vireo2;arch=le64;tcp(n=1,p=4711,host=x,a=10.0.0.1)", b"node-1", bytes(40)),
    "known_short": introduction(b"card", b"")[:-2],
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / f"port_{name}").write_bytes(seed)
