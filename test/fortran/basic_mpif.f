! SPDX-License-Identifier: BSD-3-Clause
! mpif.h in fixed form. At 2 ranks.
      program basicf
      include 'mpif.h'
      integer rank, ierr, s
      double precision t
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      t = MPI_WTIME()
      call MPI_ALLREDUCE(rank, s, 1, MPI_INTEGER, MPI_MAX,
     &  MPI_COMM_WORLD, ierr)
      if (s .ne. 1) print *, 'max', s
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call MPI_FINALIZE(ierr)
      if (rank .eq. 0) print '(a)', 'ok'
      end
