#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Speak the wire of doc/wire.md as rank 1: say hello, send an eager message, take the answer, end.

usage: wire_peer.py FILE

FILE comes from rank 0: its card, the group id and the job's secret.
"""
import os
import pathlib
import re
import socket
import struct
import sys
import time

LIMIT = 20      # seconds, for everything
MASK = (1 << 64) - 1
KIND_HELLO, KIND_CHALLENGE, KIND_PROOF, KIND_ANSWER = 1, 2, 3, 4
PACKET_EAGER, PACKET_CLOSE = 1, 9
ACCEPT = 0


def siphash(key, text):
    """SipHash-2-4."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & MASK

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    whole = text + bytes(7 - len(text) % 8) + bytes([len(text) & 255])
    for at in range(0, len(whole), 8):
        word = struct.unpack_from("<Q", whole, at)[0]
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def read_file(path):
    """Card, group id, secret; rank 0 writes them soon."""
    end = time.monotonic() + LIMIT
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.005)
    card, gid, secret = path.read_text().split("\n")[:3]
    assert card.startswith("vireo2;"), card
    return card, bytes.fromhex(gid), bytes.fromhex(secret)


class Link:
    """A connection to rank 0, as rank 1."""

    def __init__(self, card, gid, secret):
        params = re.search(r";tcp\(([^)]*)\)", card).group(1).split(",")
        pairs = [p.split("=", 1) for p in params]
        port = int(next(v for k, v in pairs if k == "p"))
        address = next(v for k, v in pairs if k == "a")
        self.order = {"little": 1, "big": 2}[sys.byteorder]
        self.words = "=QQ"
        if "byte_order=network" in card:  # then it is of a machine of the other order
            self.order, self.words = 3 - self.order, ">QQ"
        self.secret = secret
        self.socket = socket.create_connection((address, port), LIMIT)
        self.body = struct.pack(">II", 1, 0) + gid + gid + os.urandom(16)

    def prefix(self, kind, code=0):
        return b"Vchn" + bytes([1, kind, code, 0])

    def proof(self, prefix, nonce):
        return struct.pack(">Q", siphash(self.secret, prefix + self.body + nonce))

    def read(self, length):
        data = b""
        while len(data) < length:
            part = self.socket.recv(length - len(data))
            if not part:
                raise EOFError(f"{len(data)} bytes of {length} came")
            data += part
        return data

    def connect(self):
        hello = self.prefix(KIND_HELLO, self.order)
        self.socket.sendall(hello + self.body + self.proof(hello, bytes(16)))
        challenge = self.read(32)
        nonce = challenge[8:24]
        assert challenge[:8] == self.prefix(KIND_CHALLENGE), challenge
        assert challenge[24:] == self.proof(challenge[:8], nonce), "not proven: CHALLENGE"
        proof = self.prefix(KIND_PROOF)
        self.socket.sendall(proof + self.proof(proof, nonce))
        answer = self.read(16)
        assert answer[:8] == self.prefix(KIND_ANSWER, ACCEPT), answer
        assert answer[8:] == self.proof(answer[:8], nonce), "not proven: ANSWER"

    def send(self, kind, high, second, payload=b""):
        head = struct.pack(self.words, high << 32 | kind, second)
        self.socket.sendall(struct.pack(">I", len(payload)) + b"Vpk\1" + head + payload)

    def receive(self):
        header = self.read(24)
        assert header[4:8] == b"Vpk\1", header
        first, second = struct.unpack(self.words, header[8:])
        return first & 0xffffffff, first >> 32, second, self.read(struct.unpack(">I", header[:4])[0])


def main(path):
    link = Link(*read_file(pathlib.Path(path)))
    link.connect()
    world, tag, rank = 0, 4711, 1
    link.send(PACKET_EAGER, world, tag << 32 | rank, b"hello from the wire")
    kind, context, envelope, data = link.receive()
    assert (kind, context, envelope, data) == (PACKET_EAGER, world, 99 << 32 | 0, b"and back"), \
        (kind, context, envelope, data)
    link.send(PACKET_CLOSE, 0, 0)
    kind, _, closes, _ = link.receive()
    assert (kind, closes) == (PACKET_CLOSE, 0), (kind, closes)
    link.send(PACKET_CLOSE, 0, 1)
    try:
        while True:     # CLOSE(1), and then the end of its process
            kind, _, closes, _ = link.receive()
            assert (kind, closes) == (PACKET_CLOSE, 1), (kind, closes)
    except (EOFError, ConnectionResetError):
        pass


if __name__ == "__main__":
    main(sys.argv[1])
