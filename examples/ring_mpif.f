! SPDX-License-Identifier: BSD-3-Clause
!
! The largest rank, found round a ring, with mpif.h in fixed form.
!
!   mpifort ring_mpif.f -o ring
!   mpiexec -n 4 ./ring
      program ring
      implicit none
      include 'mpif.h'
      integer rank, size, step, ierr, status(MPI_STATUS_SIZE)
      integer mine, got, next, previous

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      next = mod(rank + 1, size)
      previous = mod(rank + size - 1, size)
      mine = rank
      do 10 step = 1, size - 1
        call MPI_SENDRECV(mine, 1, MPI_INTEGER, next, 0, got, 1,
     &      MPI_INTEGER, previous, 0, MPI_COMM_WORLD, status, ierr)
        mine = max(mine, got)
 10   continue
      if (mine .ne. size - 1) call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      if (rank .eq. 0) print '(a, i0)', 'the largest rank is ', mine
      call MPI_FINALIZE(ierr)
      end
