! SPDX-License-Identifier: BSD-3-Clause
! Each rank receives what nobody sends.
program hang
  use mpi_f08
  implicit none
  integer :: buffer, rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Recv(buffer, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Finalize()
end program hang
