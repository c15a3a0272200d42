! SPDX-License-Identifier: BSD-3-Clause
!
! A token goes round a ring of ranks; each adds itself. The same as ring.c, with module mpi_f08.
!
!   mpifort ring_f08.f90 -o ring
!   mpiexec -n 4 ./ring
program ring
  use mpi_f08
  implicit none
  integer, parameter :: tag = 1, rounds = 3
  integer :: rank, size, next, previous, turn, token, back
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = modulo(rank + 1, size)
  previous = modulo(rank - 1, size)
  token = 0
  do turn = 1, rounds
    if (rank == 0) then
      ! The receive is posted first: a single rank sends to itself.
      call MPI_Irecv(back, 1, MPI_INTEGER, previous, tag, MPI_COMM_WORLD, request)
      call MPI_Send(token, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      token = back
      print '(a, i0, a, i0)', 'round ', turn, ': the token is ', token
    else
      call MPI_Recv(token, 1, MPI_INTEGER, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      token = token + rank
      call MPI_Send(token, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD)
    end if
  end do
  if (rank == 0 .and. token /= rounds * size * (size - 1) / 2) error stop 'ring: a wrong token'
  call MPI_Finalize()
end program ring
