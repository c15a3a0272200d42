! SPDX-License-Identifier: BSD-3-Clause
! Module mpi_f08: sections, large counts, statuses, handles, strings, attributes. At 2 ranks.
program basic_f08
  use mpi_f08
  implicit none
  integer :: rank, n, i, u(2), v(30)
  integer :: x(20,3), y(20,3)
  type(MPI_Status) :: st, sts(2)
  type(MPI_Request) :: r(2)
  type(MPI_Comm) :: c
  type(MPI_Datatype) :: t
  character(len=20) :: name
  logical :: flag
  integer(MPI_ADDRESS_KIND) :: val
  integer(MPI_COUNT_KIND) :: big
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  x = reshape([(i,i=1,60)],[20,3]); y = 0
  if (rank == 0) then
    call MPI_Send(x(1:20:2,:), 30, MPI_INTEGER, 1, 5, MPI_COMM_WORLD)
    call MPI_Isend(x(:,2), 20_MPI_COUNT_KIND, MPI_INTEGER, 1, 6, MPI_COMM_WORLD, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    if (r(1) /= MPI_REQUEST_NULL) print *, 'not null'
  else if (rank == 1) then
    call MPI_Irecv(y(1:20:2,:), 30, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, r(1))
    call MPI_Irecv(v, 20, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, sts)
    if (any(y(1:20:2,:) /= x(1:20:2,:))) print *, 'wrong', y
    if (any(y(2:20:2,:) /= 0)) print *, 'wrong2'
    if (any(v(1:20) /= x(:,2))) print *, 'wrong3'
    call MPI_Get_count(sts(1), MPI_INTEGER, i)
    if (i /= 30 .or. sts(1)%MPI_SOURCE /= 0) print *, 'count', i
  end if
  u = rank
  call MPI_Allreduce(MPI_IN_PLACE, u, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (u(1) /= n*(n-1)/2) print *, 'sum', u
  y = rank
  call MPI_Allreduce(MPI_IN_PLACE, y(1:20:3,1), 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (y(4,1) /= n*(n-1)/2 .or. y(2,1) /= rank) print *, 'sum2', y
  call MPI_Comm_dup(MPI_COMM_WORLD, c)
  call MPI_Comm_set_name(c, 'hello  ')
  call MPI_Comm_get_name(c, name, i)
  if (name /= 'hello' .or. i /= 5) print *, name, i
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, val, flag)
  if (.not. flag .or. val < 32767) print *, 'tagub', flag, val
  call MPI_Type_contiguous(3, MPI_INTEGER, t)
  call MPI_Type_commit(t)
  call MPI_Type_size(t, big)
  if (big /= 12) print *, big
  call MPI_Type_free(t)
  if (c == MPI_COMM_NULL) print *, 'null'
  call MPI_Comm_free(c)
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'ok'
end program
