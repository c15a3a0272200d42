#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_ofi: lists of messages.

usage: ofi_corpus.py DIR
"""
import pathlib
import struct
import sys

HELLO, CHALLENGE, PROOF, WELCOME, REFUSED, DATA, CREDIT, LAST, BYE = range(1, 10)
CALLING, OPEN, STRANGER, NOBODY = range(4)


def message(which, kind, body=b"", credit=0, number=0, value=0, to=7):
    frame = struct.pack("=QHHIII16s", to, kind, credit, len(body), number, value, b"h" * 16) + body
    return struct.pack(">BH", which, len(frame)) + frame


def hello(address=b"a" * 16):
    body = struct.pack("=16sIIQQ16sQ", b"g" * 16, 1, len(address), 99, 1, b"n" * 16, 5) + address
    return message(NOBODY, HELLO, body, to=0)


challenge = struct.pack("=Q16sQ", 5, b"n" * 16, 1)
seeds = {
    "ofi_calls": hello() + message(STRANGER, PROOF, struct.pack("=Q", 1)) + hello(b"b" * 15) + hello(b""),
    "ofi_answers": message(CALLING, CHALLENGE, challenge) + message(CALLING, WELCOME, struct.pack("=Q", 3)),
    "ofi_welcome": message(CALLING, WELCOME, struct.pack("=Q", 3)) + message(CALLING, DATA, b"x" * 100),
    "ofi_refused": message(CALLING, REFUSED, value=2) + message(CALLING, DATA),
    "ofi_packets": b"".join(message(OPEN, DATA, b"y" * (i * 37), number=i) for i in range(80)),
    "ofi_order": message(OPEN, DATA, b"1") + message(OPEN, DATA, b"3", number=2) + message(OPEN, DATA),
    "ofi_credit": message(OPEN, CREDIT, credit=1) + message(OPEN, CREDIT, credit=64),
    "ofi_end": message(OPEN, LAST) + message(OPEN, BYE) + message(OPEN, DATA),
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / name).write_bytes(seed)
