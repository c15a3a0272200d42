#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write answers as ranks give them when they are asked why they wait: usage: hang_corpus.py DIR"""
import pathlib
import sys

HEAD = "vireo-hang 1\n"
WORLD = "C\t0\t6\t{0}\t{1}\tMPI_COMM_WORLD\t0-5\t\nC\t16\t6\t{0}\t0\tother\t0-2,3-5\t\n"


def thread(function, mode="wait", ms=1200):
    return f"T\t{function}\t{mode}\t{ms}\t1a2b\t/home/user/a.out\tmain\n"


def item(what, context, peer, tag, state="posted"):
    return f"A\t{what}\t{context}\t{peer}\t{peer}\t{tag}\t100\t{state}\n"


def answers():
    """Yield (name, the answers of the ranks)."""
    ring = [thread("MPI_Recv") + item("recv", 0, (r + 1) % 6, 3) + WORLD.format(r, 0)
            for r in range(6)]
    yield "ring", ring
    coll = [thread("MPI_Barrier") + item("recv", 1, (r + 1) % 6, 2) + WORLD.format(r, 3)
            for r in range(4)]
    yield "missing", coll + ["", thread("MPI_Finalize") + item("close", 0, 1, -1, "open")
                             + WORLD.format(5, 2)]
    mixed = [thread("MPI_Bcast" if r % 3 else "MPI_Reduce") + item("recv", 1, (r + 1) % 6, 2)
             + WORLD.format(r, 3) for r in range(6)]
    yield "mixed", mixed
    near = [thread("MPI_Waitany", "some", -1) + item("recv", 0, 1, 3) + item("probe", 0, -1, -1)
            + "U\t0\t1\t1\t4\t7\t28\nU\t16\t1\t1\t3\t1\t0\nP\t0\t-1\t-1\t-1\t2\t8\n"
            + "S\t0\t2\t2\t0\t3\t1000\tasked\nX\n" + WORLD.format(0, 0)]
    yield "near", near + [thread("MPI_Test", "poll") + WORLD.format(1, 0)] + [""] * 4
    idle = [thread("MPI_Recv") + item("recv", 0, (r + 1) % 6, 3) + item("recv", 5, 2, 1)
            + f"I\t0\t{(r + 5) % 6}\t1\t3\t2\t0\tsend\nI\t0\t-1\t-1\t-1\t1\t0\trecv\n"
            + WORLD.format(r, 0) for r in range(6)]
    yield "idle", idle
    left = [thread("MPI_Barrier") + item("recv", 1, (r + 1) % 6, 3)
            + "M\t0\t1\t2\nU\t1\t5\t5\t2\t1\t8\n" + WORLD.format(r, 4) for r in range(3)]
    yield "left", left + [
        thread("MPI_Iprobe", "poll", -1) + item("probe", 0, -1, 7) + "U\t0\t1\t1\t8\t1\t4\n"
        + WORLD.format(3, 3),
        thread("MPI_Wait") + item("ready", 5, 1, 7) + item("lock", 8, 1, 2)
        + "C\t24\t2\t0\t1\t\t4-5\t\n" + WORLD.format(4, 3),
        thread("MPI_Allreduce") + item("recv", 1, 0, 2) + WORLD.format(5, 3)]


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, texts in answers():
        text = "\0".join((HEAD + t) if t else "" for t in texts)
        (folder / ("hang_" + name)).write_bytes(text.encode())


main()
