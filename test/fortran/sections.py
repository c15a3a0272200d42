#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sections with gaps, of rank 1 to 5, as every choice buffer of mpi_f08 that takes one.

usage: sections.py BUILD TOOLS TABLE API.c...

Each call stands in a procedure for each rank of its buffers. The first gets arrays without gaps, then each
gets sections: the results must be the same, and the elements between must stay. Where there is a
form with large counts, it is called, too. Calls that keep a buffer must refuse such sections. Two ranks.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
build, tools, table, *api = (os.path.abspath(a) for a in sys.argv[1:])

sys.path.insert(0, tools)
import gen_fortran as gf    # noqa: E402
import gen_interface        # noqa: E402

# Blocking, then nonblocking and persistent ones. k and c, d are counts, places: see HEAD.
TWO = {
    "Allgather": "s, k4, T, r, k4, T, W", "Allgatherv": "s, k4, T, r, c4, d, T, W",
    "Alltoall": "s, k4, T, r, k4, T, W", "Alltoallv": "s, c4, d, T, r, c4, d, T, W",
    "Alltoallw": "s, c4, d4, ts, r, c4, d4, ts, W",
    "Allreduce": "s, r, k8, T, MPI_SUM, W", "Reduce": "s, r, k8, T, MPI_SUM, 0, W",
    "Scan": "s, r, k8, T, MPI_SUM, W", "Exscan": "s, r, k8, T, MPI_SUM, W",
    "Reduce_scatter": "s, r, c4, T, MPI_SUM, W",
    "Reduce_scatter_block": "s, r, k4, T, MPI_SUM, W",
    "Gather": "s, k4, T, r, k4, T, 0, W", "Gatherv": "s, k4, T, r, c4, d, T, 0, W",
    "Scatter": "s, k4, T, r, k4, T, 0, W", "Scatterv": "s, c4, d, T, r, k4, T, 0, W",
    "Neighbor_allgather": "s, k4, T, r, k4, T, ring",
    "Neighbor_allgatherv": "s, k4, T, r, c4, d, T, ring",
    "Neighbor_alltoall": "s, k4, T, r, k4, T, ring",
    "Neighbor_alltoallv": "s, c4, d, T, r, c4, d, T, ring",
    "Neighbor_alltoallw": "s, c4, a4, ts, r, c4, a4, ts, ring",
    "Bcast": "r, k8, T, 0, W",
}
LARGE = re.compile(r"\b(k4|k8|k128|c4|d|d4|position)\b")  # which the other form has in another kind
RANKS = {1: ("(64)", "(1:64:2)"), 2: ("(8, 8)", "(1:8:2, :)"), 3: ("(4, 4, 4)", "(:, 1:4:2, :)"),
         4: ("(4, 2, 4, 2)", "(4:1:-2, :, :, :)"), 5: ("(2, 2, 4, 2, 2)", "(:, :, 2:4:2, :, :)")}

WAIT, WAIT2 = "MPI_Wait(q, st)", "MPI_Wait(q2, st)"
FREE, FREE2 = "MPI_Request_free(q)", "MPI_Request_free(q2)"
FENCE = "MPI_Win_fence(0, win)"
SEEK, SEEK_SHARED = "MPI_File_seek(fh, at, MPI_SEEK_SET)", "MPI_File_seek_shared({}, at0, MPI_SEEK_SET)"


def collectives():
    for name, args in TWO.items():
        yield [f"MPI_{name}({args})"]
        yield [f"MPI_I{name.lower()}({args}, q)", WAIT]
        yield [f"MPI_{name}_init({args}, MPI_INFO_NULL, q)", "MPI_Start(q)", WAIT, "MPI_Start(q)", WAIT, FREE]
    yield ["MPI_Reduce_local(s, r, k8, T, MPI_SUM)"]


def messages():
    yield ["MPI_Sendrecv(s, k8, T, peer, 1, r, k8, T, peer, 1, W, st)"]
    yield ["MPI_Isendrecv(s, k8, T, peer, 1, r, k8, T, peer, 1, W, q)", WAIT]
    yield ["MPI_Sendrecv_replace(r, k8, T, peer, 1, peer, 1, W, st)"]
    yield ["MPI_Isendrecv_replace(r, k8, T, peer, 1, peer, 1, W, q)", WAIT]
    for mode in ("", "s", "r", "b"):
        receive = ["MPI_Irecv(r, k8, T, peer, 2, W, q)", "MPI_Barrier(W)"]
        args = "(s, k8, T, peer, 2, W"
        yield receive + [f"MPI_{(mode + 'send').capitalize()}{args})", WAIT]
        yield receive + [f"MPI_I{mode}send{args}, q2)", WAIT2, WAIT]
        yield ["MPI_Recv_init(r, k8, T, peer, 2, W, q)",
               f"MPI_{(mode + 'send').capitalize()}_init{args}, q2)", "MPI_Start(q)", "MPI_Barrier(W)",
               "MPI_Start(q2)", WAIT2, FREE2, WAIT, FREE]
    send, probe = "MPI_Isend(s, k8, T, peer, 3, W, q2)", "MPI_Mprobe(peer, 3, W, m, st)"
    yield [send, "MPI_Recv(r, k8, T, peer, 3, W, st)", WAIT2]
    yield [send, probe, "MPI_Mrecv(r, k8, T, m, st)", WAIT2]
    yield [send, probe, "MPI_Imrecv(r, k8, T, m, q)", WAIT2, WAIT]
    yield ["MPI_Pack(s, k8, T, r, k128, position, W)"]
    yield ["MPI_Unpack(s, k128, position, r, k8, T, W)"]
    yield ["MPI_Pack_external('external32', s, k8, T, r, a128, place)"]
    yield ["MPI_Unpack_external('external32', s, a128, place, r, k8, T)"]
    for ready in (["MPI_Pready(0, q2)", "MPI_Pready(1, q2)"], ["MPI_Pready_range(0, 1, q2)"],
                  ["MPI_Pready_list(2, parts, q2)"]):
        yield ["MPI_Psend_init(s, 2, n4, T, peer, 5, W, MPI_INFO_NULL, q2)",
               "MPI_Precv_init(r, 2, n4, T, peer, 5, W, MPI_INFO_NULL, q)", "MPI_Start(q)", "MPI_Start(q2)",
               *ready, WAIT2, WAIT, FREE, FREE2]


def windows():
    both, got = "peer, n0, k8, T", "MPI_Get(r, k8, T, peer, n0, k8, T, win)"
    yield [FENCE, f"MPI_Put(s, k8, T, {both}, win)", FENCE, got, FENCE]
    yield [FENCE, f"MPI_Accumulate(s, k8, T, {both}, MPI_SUM, win)", FENCE, got, FENCE]
    yield [FENCE, f"MPI_Get_accumulate(s, k8, T, r, k8, T, {both}, MPI_SUM, win)", FENCE]
    yield [FENCE, "MPI_Fetch_and_op(s, r, T, peer, n0, MPI_SUM, win)", FENCE]
    yield [FENCE, "MPI_Compare_and_swap(s, s, r, T, peer, n0, win)", FENCE]
    for call in (f"MPI_Rput(s, k8, T, {both}, win, q)", f"MPI_Raccumulate(s, k8, T, {both}, MPI_SUM, win, q)",
                 f"MPI_Rget_accumulate(s, k8, T, r, k8, T, {both}, MPI_SUM, win, q)"):
        yield [FENCE, "MPI_Win_lock_all(0, win)", call, WAIT, "MPI_Win_flush(peer, win)", "MPI_Barrier(W)",
               f"MPI_Rget(r, k8, T, {both}, win, q)", WAIT, "MPI_Win_unlock_all(win)", FENCE]


def files():
    """What is written is read back. Each rank has a place of its own, or in files of its own."""
    for all_ in ("", "_all"):
        for at, seek in (("", [SEEK]), ("_at", [])):
            args = "(fh, at, " if at else "(fh, "
            for i in ("", "i"):
                end, wait = ("q)", [WAIT]) if i else ("st)", [])
                yield [*seek, f"MPI_File_{i}write{at}{all_}{args}s, k8, T, {end}", *wait, *seek,
                       f"MPI_File_{i}read{at}{all_}{args}r, k8, T, {end}", *wait]
            if all_:
                yield [*seek, f"MPI_File_write{at}_all_begin{args}s, k8, T)",
                       f"MPI_File_write{at}_all_end(fh, s, st)", *seek,
                       f"MPI_File_read{at}_all_begin{args}r, k8, T)",
                       f"MPI_File_read{at}_all_end(fh, r, st)"]
    seek, own = SEEK_SHARED.format("fh"), SEEK_SHARED.format("own")
    yield [own, "MPI_File_write_shared(own, s, k8, T, st)", own, "MPI_File_read_shared(own, r, k8, T, st)"]
    yield [own, "MPI_File_iwrite_shared(own, s, k8, T, q)", WAIT, own,
           "MPI_File_iread_shared(own, r, k8, T, q)", WAIT]
    yield [seek, "MPI_File_write_ordered(fh, s, k8, T, st)", seek, "MPI_File_read_ordered(fh, r, k8, T, st)"]
    yield [seek, "MPI_File_write_ordered_begin(fh, s, k8, T)", "MPI_File_write_ordered_end(fh, s, st)",
           seek, "MPI_File_read_ordered_begin(fh, r, k8, T)", "MPI_File_read_ordered_end(fh, r, st)"]


# Buffers of these are kept, or are no more than an address.
KEPT = {"MPI_Buffer_attach", "MPI_Comm_attach_buffer", "MPI_Session_attach_buffer", "MPI_Win_create",
        "MPI_Win_attach", "MPI_Win_detach", "MPI_Get_address", "MPI_Free_mem"}


def calls():
    """Lists of calls; those with counts also with large ones."""
    for lines in [*collectives(), *messages(), *windows(), *files()]:
        yield lines
        large = [LARGE.sub(r"\1_c", line) for line in lines]
        if large != lines:
            yield large


def check_complete():
    """Each procedure with a buffer is called."""
    called = {re.match(r"\w+", line)[0].lower() for lines in calls() for line in lines}
    for p in gf.procedures(gen_interface.read_table(table), api):
        name = p.name[:-2] if p.large else p.name
        if p.buffers and name not in KEPT and name.lower() not in called:
            sys.exit(f"{name}: no call of it here")


HEAD = """module calls
  use mpi_f08
  implicit none
  integer, parameter :: AK = MPI_ADDRESS_KIND, CK = MPI_COUNT_KIND
  type(MPI_Datatype), parameter :: T = MPI_INTEGER
  type(MPI_Comm), parameter :: W = MPI_COMM_WORLD
  integer, parameter :: k4 = 4, k8 = 8, k128 = 128, c4(2) = 4, d(2) = [0, 4], d4(2) = [0, 16], parts(2) = [1, 0]
  integer(CK), parameter :: n4 = 4, k4_c = 4, k8_c = 8, k128_c = 128, c4_c(2) = 4
  integer(AK), parameter :: n0 = 0, a128 = 128, d_c(2) = [0, 4], d4_c(2) = [0, 16], a4(2) = [0, 16]
  integer(MPI_OFFSET_KIND), parameter :: at0 = 0
  integer(MPI_OFFSET_KIND) :: at
  type(MPI_Datatype) :: ts(2)
  type(MPI_Request) :: q, q2
  type(MPI_Message) :: m
  type(MPI_Comm) :: ring
  type(MPI_Win) :: win
  type(MPI_File) :: fh, own
  integer :: rank, peer, bad = 0, buffer(4096)
  integer, asynchronous :: memory(64)
contains
"""

# flang 19 has no procedures whose dummies are of assumed rank.
CALL = """  subroutine do_call_{rank}(number, s, r)
    integer, intent(in) :: number
    integer, asynchronous :: s({colons}), r({colons})
    type(MPI_Status) :: st
    integer :: position
    integer(CK) :: position_c
    integer(AK) :: place
    position = 0; position_c = 0; place = 0
    select case (number)
"""

CALL_END = """    end select
  end subroutine do_call_{rank}
"""

MAIN = """  subroutine wrong(what, number)
    character(*), intent(in) :: what
    integer, intent(in) :: number
    print '(a, a, a, i0)', 'wrong: ', what, ' ', number
    bad = bad + 1
  end subroutine wrong
  subroutine expect_refused(what, ierror)
    character(*), intent(in) :: what
    integer, intent(in) :: ierror
    integer :: class
    call MPI_Error_class(ierror, class)
    if (class /= MPI_ERR_BUFFER) call wrong(what, class)
  end subroutine expect_refused
  subroutine try_refusals()
    type(MPI_Win) :: none, dynamic
    type(MPI_Datatype) :: pair
    integer :: ierror
    integer(AK) :: address, address2
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Buffer_attach(buffer(1:4096:2), 4096, ierror)
    call expect_refused('MPI_Buffer_attach', ierror)
    call MPI_Comm_attach_buffer(W, buffer(1:4096:2), 4096, ierror)
    call expect_refused('MPI_Comm_attach_buffer', ierror)
    call MPI_Win_create(memory(1:64:2), 128_AK, 4, MPI_INFO_NULL, W, none, ierror)
    call expect_refused('MPI_Win_create', ierror)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, W, dynamic)
    call MPI_Win_attach(dynamic, memory(1:64:2), 128_AK, ierror)
    call expect_refused('MPI_Win_attach', ierror)
    call MPI_Win_free(dynamic)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Win_fence(0, win)
    call MPI_Put(buffer(1:64:2), 4, pair, peer, n0, 4, pair, win, ierror)
    call expect_refused('MPI_Put of pairs', ierror)
    call MPI_Win_fence(0, win)
    call MPI_Type_free(pair)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    call MPI_Get_address(buffer(3:64:2), address)
    call MPI_Get_address(buffer(3), address2)
    if (address /= address2) call wrong('MPI_Get_address', 0)
  end subroutine try_refusals
  ! What is put into a partition after the start, and what is read before the end.
  subroutine try_partitions()
    integer, asynchronous :: a(8, 8), b(8, 8)
    type(MPI_Status) :: st
    logical :: flag
    integer :: i, round
    a = 0; b = 0
    ! A partition ends within a column.
    call MPI_Psend_init(a(1:8:2, :), 4, 6_CK, T, peer, 6, W, MPI_INFO_NULL, q2)
    call MPI_Precv_init(b(2:8:2, :), 4, 6_CK, T, peer, 6, W, MPI_INFO_NULL, q)
    do round = 1, 2
      call MPI_Start(q)
      call MPI_Start(q2)
      a(1:8:2, :) = reshape([(i + 100 * round, i = 1, 32)], [4, 8])
      call MPI_Pready(3, q2)
      do
        call MPI_Parrived(q, 3, flag)
        if (flag) exit
      end do
      if (any([b(6, 5), b(8, 5), b(2, 6)] /= 100 * round + [19, 20, 21])) call wrong('partition', b(6, 5))
      call MPI_Pready_range(0, 2, q2)
      call MPI_Wait(q2, st)
      call MPI_Wait(q, st)
      if (any(reshape(b(2:8:2, 1:6), [24]) /= [(i + 100 * round, i = 1, 24)])) call wrong('partitions', round)
      if (any(b(1:8:2, :) /= 0) .or. any(b(:, 7:) /= 0)) call wrong('beside partitions', round)
    end do
    call MPI_Request_free(q)
    call MPI_Request_free(q2)
  end subroutine try_partitions
  ! Elements of several numbers, and counts that end within one, or within a column.
  subroutine try_origins()
    type two
      integer :: n(2)
    end type two
    type(two) :: a(4, 6), b(4, 6)
    integer :: i, count, flat(24)
    do count = 1, 23
      do i = 1, 24
        a(1 + mod(i - 1, 4), 1 + (i - 1) / 4)%n = [2 * i, 2 * i + 1]
      end do
      b = two([7, 7])
      memory = 0
      call MPI_Win_fence(0, win)
      call MPI_Put(a(1:3, 1:6:2), min(count, 18), T, peer, n0, min(count, 18), T, win)
      call MPI_Win_fence(0, win)
      call MPI_Get(b(2:4, 6:1:-2)%n(2), min(count, 9), T, peer, n0, min(count, 9), T, win)
      call MPI_Win_fence(0, win)
      flat(1:18) = [(2 * i, 2 * i + 1, i = 1, 3), (2 * i, 2 * i + 1, i = 9, 11), &
        (2 * i, 2 * i + 1, i = 17, 19)]
      if (any(memory(:min(count, 18)) /= flat(:min(count, 18)))) call wrong('MPI_Put', count)
      if (any(memory(min(count, 18) + 1:) /= 0)) call wrong('beside MPI_Put', count)
      do i = 1, 9
        if (b(2 + mod(i - 1, 3), 6 - 2 * ((i - 1) / 3))%n(2) /= merge(flat(i), 7, i <= count)) &
          call wrong('MPI_Get', count)
      end do
      if (any(b%n(1) /= 7) .or. any(b(1, :)%n(2) /= 7) .or. any(b(:, 1:5:2)%n(2) /= 7)) &
        call wrong('beside MPI_Get', count)
    end do
  end subroutine try_origins
end module calls

program sections
  use calls
  implicit none
  integer :: i, n
  integer :: s(32), r(32)
"""


def program():
    """The text of the program, and how many calls it makes."""
    text = [HEAD]
    for rank in RANKS:
        text.append(CALL.format(rank=rank, colons=", ".join(":" * rank)))
        for count, lines in enumerate(calls()):
            text.append(f"    case ({count})")
            text += [f"      call {line}" for line in lines]
        text.append(CALL_END.format(rank=rank))
    text.append(MAIN)
    for rank, (shape, _) in RANKS.items():
        text.append(f"  integer :: s{rank}{shape}, r{rank}{shape}, was{rank}{shape}")
    text.append(f"""  call MPI_Init()
  call MPI_Comm_rank(W, rank)
  peer = 1 - rank
  at = rank * 1000
  ts = T
  call MPI_Cart_create(W, 1, [2], [.true.], .false., ring)
  call MPI_Buffer_attach(buffer, 16384)
  call MPI_Win_create(memory, 256_AK, 4, MPI_INFO_NULL, W, win)
  call MPI_File_open(W, 'both', ior(MPI_MODE_RDWR, MPI_MODE_CREATE), MPI_INFO_NULL, fh)
  call MPI_File_open(MPI_COMM_SELF, 'own' // achar(48 + rank), ior(MPI_MODE_RDWR, MPI_MODE_CREATE), &
    MPI_INFO_NULL, own)
  do n = 0, {count}
    s = [(rank * 100 + i, i = 1, 32)]
    r = -[(rank * 100 + i, i = 1, 32)]
    memory = 5
    call MPI_Barrier(W)
    call do_call_1(n, s, r)
    call MPI_Barrier(W)""")
    for rank, (_, section) in RANKS.items():
        a, b = f"s{rank}{section}", f"r{rank}{section}"
        text.append(f"""    s{rank} = 7777; r{rank} = 8888; memory = 5
    {a} = reshape([(rank * 100 + i, i = 1, 32)], shape({a}))
    {b} = reshape(-[(rank * 100 + i, i = 1, 32)], shape({b}))
    call MPI_Barrier(W)
    call do_call_{rank}(n, {a}, {b})
    call MPI_Barrier(W)
    if (any(reshape({b}, [32]) /= r)) call wrong('call, rank {rank}', n)
    was{rank} = r{rank}; was{rank}{section} = 8888
    if (any(was{rank} /= 8888)) call wrong('beside, rank {rank}', n)""")
    text.append("""  end do
  call try_refusals()
  call try_partitions()
  call try_origins()
  call MPI_File_close(fh)
  call MPI_File_close(own)
  call MPI_Win_free(win)
  call MPI_Comm_free(ring)
  call MPI_Finalize()
  if (bad == 0 .and. rank == 0) print '(a)', 'ok'
end program sections""")
    return "\n".join(text) + "\n", count + 1


def main():
    compilers = [c for c in ("gfortran", "gfortran-11", "flang-new-19") if shutil.which(c)]
    if not compilers:
        sys.exit(77)
    check_complete()
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
            ran = subprocess.run([f"{build}/bnr/mpiexec", "-n", "2", f"{folder}/x"], cwd=folder, env=env,
                                 capture_output=True, text=True, check=False, timeout=60,
                                 stdin=subprocess.DEVNULL)
            good = ran.returncode == 0 and ran.stdout.strip() == "ok"
            print(f"{'ok' if good else 'not ok'}: {count} calls, of rank 1 to 5, {compiler}")
            if not good:
                print(ran.returncode, ran.stdout[:3000], ran.stderr[:3000])
                numbers = {int(n) for n in re.findall(r"rank -?\d+ (\d+)", ran.stdout)}
                print("\n".join(f"{i}: {c}" for i, c in enumerate(calls()) if i in numbers))
                bad = 1
    sys.exit(bad)


main()
