! SPDX-License-Identifier: BSD-3-Clause
! Module mpi: any buffer, operations of the user, attributes, sizes. At 2 ranks.
program basic_mpi
  use mpi
  implicit none
  integer :: rank, n, ierr, i, st(MPI_STATUS_SIZE), r, x(10), s
  real(8) :: d
  character(len=3) :: cc
  external add
  integer :: op, kv
  integer(MPI_ADDRESS_KIND) :: val
  logical flag
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  d = rank
  call MPI_Allreduce(MPI_IN_PLACE, d, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (d /= n*(n-1)/2) print *, 'sum', d
  call MPI_Op_create(add, .true., op, ierr)
  call MPI_Allreduce(rank, s, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  if (s /= n*(n-1)/2) print *, 'op', s
  if (MPI_T_ERR_NOT_SUPPORTED /= 1004 .or. MPI_ERR_LASTCODE < MPI_T_ERR_INVALID_NAME) print *, 'error classes'
  call MPI_Op_free(op, ierr)
  x = 0
  if (rank == 0) x = [(i,i=1,10)]
  call MPI_Bcast(x(1:10:2), 5, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (any(x(1:10:2) /= [1,3,5,7,9])) print *, x
  cc = 'abc'
  call MPI_Bcast(cc, 3, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, kv, 0_MPI_ADDRESS_KIND, ierr)
  val = 77
  call MPI_Comm_set_attr(MPI_COMM_WORLD, kv, val, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, i, ierr)
  val = 0
  call MPI_Comm_get_attr(i, kv, val, flag, ierr)
  if (.not. flag .or. val /= 77) print *, 'attr', flag, val
  call MPI_Comm_free(i, ierr)
  call MPI_Sizeof(d, s, ierr)
  if (s /= 8) print *, 'sizeof', s
  call MPI_Finalize(ierr)
  if (rank == 0) print '(a)', 'ok'
end program
subroutine add(a, b, n, t)
  integer n, t, a(n), b(n)
  b = a + b
end subroutine
