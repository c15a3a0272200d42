#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists of hosts, as fuzz_hosts reads them. usage: hosts_corpus.py FOLDER"""
import pathlib
import struct
import sys

FILE = b"# ranks\nrank 1=a slot=1:0-1\nrank 0=+n0 slot=0,2;1:*\n"


def some(text):
    return struct.pack(">II", 1, len(text)) + text


# 12 flags, 9 numbers, 16 words of 64 bits, and the texts and numbers between, as wish_message.c has them
WISH = (struct.pack(">21I", *[1] * 21) + bytes(8 * 16) + some(b"0-3") + bytes(12)
        + struct.pack(">II", 24, 80) + bytes(20) + some(FILE))


def text(words):
    return struct.pack(">I", len(words)) + words


# Two ranks of a program on a host: numbers, limits, the host, runs of programs and hosts, the program
JOB = (struct.pack(">6I", 2, 1, 1, 2, 0o22, 0) + text(b"") + bytes(8 * 8)
       + struct.pack(">II", 1, 4) + text(b"id") + text(b"a") + struct.pack(">4I", 2, 0, 2, 0)
       + text(b"prog") + text(b"/") + some(b"/bin:x") + bytes(4)
       + struct.pack(">I", 1) + text(b"prog") + struct.pack(">I", 1) + text(b"A=1") + WISH)

TEXTS = {
    "list": b"a:4,n[1-3,07]:2,[fd00::1]:8,10.0.0.1,x",
    "file": b"# hosts\na slots=4 max_slots=8\nroot@b:2\n\nfd00::1 max-slots=3\nc # last\n",
    "batch": b"a 4 q\nb 2 q\n",
    "slurm": b"n[1-3,07],m\0004(x3),2,1",
    "ranks": FILE,
    "wish": WISH,
    "job": JOB,
    # Node 1 of 3, radix 2, liveness, job and secret, and two flags
    "order": struct.pack(">3IQ", 1, 3, 2, 10**9) + bytes(range(32)) + struct.pack(">2I", 0, 1),
    # This host, two packages of two cores: the number and the borders of each, the last one near
    "machine": struct.pack(">4I", 0, 1, 0x60, 4) + struct.pack(">8I", 0, 0x1ff, 1, 0x1f, 2, 0x11f, 3, 0x21f),
    "cpus": b"0,2-3",
    # Number 5: to publish; and its answer, an errno and a text
    "name": struct.pack(">2I", 5, 1) + text(b"service") + text(b"vireo1.x"),
    "name_answer": struct.pack(">2I", 5, 17) + text(b"h1"),
    "hello": b"Vlnk\1\1\0\0" + bytes(range(56)),
}


def main(folder):
    for name, text in TEXTS.items():
        pathlib.Path(folder, f"hosts_{name}").write_bytes(text)


if __name__ == "__main__":
    main(sys.argv[1])
