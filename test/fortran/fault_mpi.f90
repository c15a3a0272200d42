! SPDX-License-Identifier: BSD-3-Clause
! Fault tolerance in mpi, without a fault: agree, revoke, shrink.
program fault_mpi
  use mpi
  use mpi_ext
  implicit none
  integer :: comm, small
  integer, asynchronous :: later
  integer :: group
  integer :: request
  integer :: rank, size, flag, acked, ierror, class
  integer, asynchronous :: agreed
  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_rank(comm, rank, ierror)
  call MPI_Comm_size(comm, size, ierror)
  flag = ior(1, ishft(1, rank + 1))
  call MPIX_Comm_agree(comm, flag, ierror)
  if (flag /= merge(1, flag, size > 1)) error stop 'agree'
  agreed = ior(2, ishft(1, rank + 2))
  call MPIX_Comm_iagree(comm, agreed, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  if (agreed /= merge(2, agreed, size > 1)) error stop 'iagree'
  call MPIX_Comm_get_failed(comm, group, ierror)
  call MPI_Group_size(group, flag, ierror)
  if (flag /= 0) error stop 'get_failed'
  call MPI_Group_free(group, ierror)
  call MPIX_Comm_ack_failed(comm, 0, acked, ierror)
  if (acked /= 0) error stop 'ack_failed'
  call MPIX_Comm_failure_ack(comm, ierror)
  call MPIX_Comm_failure_get_acked(comm, group, ierror)
  call MPI_Group_free(group, ierror)
  call MPIX_Comm_is_revoked(comm, flag, ierror)
  if (flag /= 0) error stop 'is_revoked, before'
  call MPI_Barrier(comm, ierror)
  call MPIX_Comm_revoke(comm, ierror)
  call MPIX_Comm_is_revoked(comm, flag, ierror)
  if (flag /= 1) error stop 'is_revoked'
  call MPI_Barrier(comm, ierror)
  call MPI_Error_class(ierror, class, flag)
  if (class /= MPIX_ERR_REVOKED) error stop 'revoked'
  call MPIX_Comm_shrink(comm, small, ierror)
  call MPI_Comm_size(small, flag, ierror)
  if (flag /= size) error stop 'shrink'
  call MPIX_Comm_ishrink(comm, later, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Comm_size(later, flag, ierror)
  if (flag /= size) error stop 'ishrink'
  call MPI_Comm_free(small, ierror)
  call MPI_Comm_free(later, ierror)
  call MPI_Comm_free(comm, ierror)
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize(ierror)
end program fault_mpi
