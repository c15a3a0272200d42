! SPDX-License-Identifier: BSD-3-Clause
! A send to a rank that is not there.
program wrong
  use mpi_f08
  implicit none
  integer :: buffer = 1
  call MPI_Init()
  call MPI_Send(buffer, 1, MPI_INTEGER, 99, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
end program wrong
