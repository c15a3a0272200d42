#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sections with gaps, of rank 1 to 5, as every choice buffer of mpi_f08 that takes one.

usage: sections.py BUILD TOOLS TABLE API.c...

For each procedure with a sendbuf and a recvbuf on a communicator, or a buf that goes from one rank to
the other, a program gives it a section of each rank and compares it with what the same call does with
arrays that have no gaps; the elements between must stay. Two ranks.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
build, tools, table, *api = (os.path.abspath(a) for a in sys.argv[1:])

# Blocking, then nonblocking or persistent ones: how the buffers s (or both) and r are given.
TWO = {
    "Allgather": "{s}, 4, T, {r}, 4, T, W", "Allgatherv": "{s}, 4, T, {r}, c4, d, T, W",
    "Alltoall": "{s}, 4, T, {r}, 4, T, W", "Alltoallv": "{s}, c4, d, T, {r}, c4, d, T, W",
    "Alltoallw": "{s}, c4, d4, ts, {r}, c4, d4, ts, W",
    "Allreduce": "{s}, {r}, 8, T, MPI_SUM, W", "Reduce": "{s}, {r}, 8, T, MPI_SUM, 0, W",
    "Scan": "{s}, {r}, 8, T, MPI_SUM, W", "Exscan": "{s}, {r}, 8, T, MPI_SUM, W",
    "Reduce_scatter": "{s}, {r}, c4, T, MPI_SUM, W",
    "Reduce_scatter_block": "{s}, {r}, 4, T, MPI_SUM, W",
    "Gather": "{s}, 4, T, {r}, 4, T, 0, W", "Gatherv": "{s}, 4, T, {r}, c4, d, T, 0, W",
    "Scatter": "{s}, 4, T, {r}, 4, T, 0, W", "Scatterv": "{s}, c4, d, T, {r}, 4, T, 0, W",
}
RANKS = {1: ("(64)", "(1:64:2)"), 2: ("(8, 8)", "(1:8:2, :)"), 3: ("(4, 4, 4)", "(:, 1:4:2, :)"),
         4: ("(4, 2, 4, 2)", "(4:1:-2, :, :, :)"), 5: ("(2, 2, 4, 2, 2)", "(:, :, 2:4:2, :, :)")}


def calls():
    """(text of a call with {s} and {r}, whether there is a request, whether it is persistent)"""
    for name, args in TWO.items():
        yield f"MPI_{name}({args})", None
        yield f"MPI_I{name.lower()}({args}, q)", "wait"
        yield f"MPI_{name}_init({args}, MPI_INFO_NULL, q)", "start"
    yield "MPI_Bcast({r}, 8, T, 0, W)", None
    yield "MPI_Ibcast({r}, 8, T, 0, W, q)", "wait"
    yield "MPI_Bcast_init({r}, 8, T, 0, W, MPI_INFO_NULL, q)", "start"
    yield "MPI_Sendrecv({s}, 8, T, peer, 1, {r}, 8, T, peer, 1, W, st)", None
    yield "MPI_Isendrecv({s}, 8, T, peer, 1, {r}, 8, T, peer, 1, W, q)", "wait"
    yield "MPI_Sendrecv_replace({r}, 8, T, peer, 1, peer, 1, W, st)", None
    yield "MPI_Isendrecv_replace({r}, 8, T, peer, 1, peer, 1, W, q)", "wait"
    yield "MPI_Reduce_local({s}, {r}, 8, T, MPI_SUM)", None
    for mode in ("", "S", "R", "B"):
        send = f"MPI_{mode}send({{s}}, 8, T, peer, 2, W)" if mode else "MPI_Send({s}, 8, T, peer, 2, W)"
        first = "call MPI_Irecv({r}, 8, T, peer, 2, W, q); call MPI_Barrier(W); call "
        yield first + send, "wait"
        yield first + f"MPI_I{mode.lower()}send({{s}}, 8, T, peer, 2, W, q2); call MPI_Wait(q2, st)", "wait"
        yield "call MPI_Recv_init({r}, 8, T, peer, 2, W, q); call " \
            f"MPI_{mode + 's' if mode else 'S'}end_init({{s}}, 8, T, peer, 2, W, q2); " \
            "call MPI_Start(q); call MPI_Barrier(W); call MPI_Start(q2); call MPI_Wait(q2, st); " \
            "call MPI_Request_free(q2)", "free"
    yield "call MPI_Isend({s}, 8, T, peer, 3, W, q); call MPI_Recv({r}, 8, T, peer, 3, W, st)", "wait"
    yield "call MPI_Isend({s}, 8, T, peer, 3, W, q); call MPI_Mprobe(peer, 3, W, m, st); " \
        "call MPI_Mrecv({r}, 8, T, m, st)", "wait"
    yield "call MPI_Isend({s}, 8, T, peer, 3, W, q2); call MPI_Mprobe(peer, 3, W, m, st); " \
        "call MPI_Imrecv({r}, 8, T, m, q); call MPI_Wait(q2, st)", "wait"
    yield "position = 0; call MPI_Pack({s}, 8, T, {r}, 128, position, W)", None
    yield "position = 0; call MPI_Unpack({s}, 128, position, {r}, 8, T, W)", None
    for kind in ("MPI_Neighbor_", "MPI_Ineighbor_"):
        for name in ("allgather", "alltoall"):
            end, what = (", q", "wait") if "I" in kind[4:] else ("", None)
            yield f"{kind}{name}({{s}}, 4, T, {{r}}, 4, T, ring{end})", what


def statement(call, what, s, r):
    text = call.format(s=s, r=r)
    lines = [(line if line.startswith(("call", "position")) else "call " + line)
             for line in text.split("; ")]
    if what == "start":
        lines += ["call MPI_Start(q)", "call MPI_Wait(q, st)", "call MPI_Request_free(q)"]
    elif what == "free":
        lines += ["call MPI_Wait(q, st)", "call MPI_Request_free(q)"]
    elif what:
        lines.append("call MPI_Wait(q, st)")
    return ["  " + line for line in lines]


HEAD = """program sections
  use mpi_f08
  implicit none
  type(MPI_Datatype), parameter :: T = MPI_INTEGER
  type(MPI_Comm), parameter :: W = MPI_COMM_WORLD
  integer, parameter :: c4(2) = 4, d(2) = [0, 4], d4(2) = [0, 16]
  type(MPI_Datatype) :: ts(2)
  type(MPI_Status) :: st
  type(MPI_Request) :: q, q2
  type(MPI_Message) :: m
  type(MPI_Comm) :: ring
  integer :: rank, peer, i, position, bad = 0, count = 0
  integer :: s(32), r(32), buffer(4096)
"""


def program():
    text, count = [HEAD], 0
    for rank, (shape, _) in RANKS.items():
        text.append(f"  integer :: s{rank}{shape}, r{rank}{shape}, was{rank}{shape}")
    text.append("""  call MPI_Init()
  call MPI_Comm_rank(W, rank)
  peer = 1 - rank
  ts = T
  call MPI_Cart_create(W, 1, [2], [.true.], .false., ring)
  call MPI_Buffer_attach(buffer, 16384)""")
    for call, what in calls():
        text.append(f"  s = [(rank * 100 + i, i = 1, 32)]\n  r = -[(rank * 100 + i, i = 1, 32)]")
        text += statement(call, what, "s", "r")
        for rank, (shape, section) in RANKS.items():
            a, b = f"s{rank}{section}", f"r{rank}{section}"
            text += [f"  s{rank} = 7777; r{rank} = 8888",
                     f"  {a} = reshape([(rank * 100 + i, i = 1, 32)], shape({a}))",
                     f"  {b} = reshape(-[(rank * 100 + i, i = 1, 32)], shape({b}))"]
            text += statement(call, what, a, b)
            text += [f"  if (any(reshape({b}, [32]) /= r)) call wrong({count}, {rank})",
                     f"  was{rank} = r{rank}; was{rank}{section} = 8888",
                     f"  if (any(was{rank} /= 8888)) call wrong({count}, -{rank})",
                     "  count = count + 1"]
        count += 1
    text.append("""  call MPI_Finalize()
  if (bad == 0 .and. rank == 0) print '(a)', 'ok'
contains
  subroutine wrong(number, of_rank)
    integer, intent(in) :: number, of_rank
    print '(a, i0, a, i0)', 'wrong: call ', number, ' rank ', of_rank
    bad = bad + 1
  end subroutine wrong
end program sections""")
    return "\n".join(text) + "\n", count


def main():
    compilers = [c for c in ("gfortran", "flang-new-19") if shutil.which(c)]
    if not compilers:
        sys.exit(77)
    bad, (text, count) = 0, program()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "sections.f90").write_text(text)
        for compiler in compilers:
            env = {**os.environ, "VIREO_FC": compiler}
            env.pop("LD_LIBRARY_PATH", None)
            made = subprocess.run([f"{build}/tools/mpifort", "-O0", "-g", "sections.f90", "-o", "x"],
                                  cwd=folder, env=env, capture_output=True, text=True, check=False)
            if made.returncode:
                sys.exit(f"{compiler}: {made.stdout[:3000]}{made.stderr[:3000]}")
            ran = subprocess.run([f"{build}/bnr/mpiexec", "-n", "2", "./x"], cwd=folder, env=env,
                                 capture_output=True, text=True, check=False, timeout=60,
                                 stdin=subprocess.DEVNULL)
            good = ran.returncode == 0 and ran.stdout.strip() == "ok"
            print(f"{'ok' if good else 'not ok'}: {count} calls, of rank 1 to 5, {compiler}")
            if not good:
                print(ran.returncode, ran.stdout[:3000], ran.stderr[:3000])
                print("\n".join(f"{i}: {c}" for i, (c, _) in enumerate(calls())))
                bad = 1
    sys.exit(bad)


main()
