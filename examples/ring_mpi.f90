! SPDX-License-Identifier: BSD-3-Clause
!
! The sum of all ranks goes round a ring, with module mpi: handles are INTEGERs, and each call has
! its ierror.
!
!   mpifort ring_mpi.f90 -o ring
!   mpiexec -n 4 ./ring
program ring
  use mpi
  implicit none
  integer :: rank, size, next, previous, step, ierr, status(MPI_STATUS_SIZE)
  integer :: mine, got, total

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = modulo(rank + 1, size)
  previous = modulo(rank - 1, size)
  mine = rank
  total = rank
  do step = 1, size - 1
    call MPI_Sendrecv(mine, 1, MPI_INTEGER, next, 0, got, 1, MPI_INTEGER, previous, 0, &
                      MPI_COMM_WORLD, status, ierr)
    mine = got
    total = total + got
  end do
  if (total /= size * (size - 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  if (rank == 0) print '(a, i0)', 'the ranks are together ', total
  call MPI_Finalize(ierr)
end program ring
