! SPDX-License-Identifier: BSD-3-Clause
! Fault tolerance in mpi_f08, without a fault: agree, revoke, shrink.
program fault_f08
  use mpi_f08
  use mpi_f08_ext
  implicit none
  type(MPI_Comm) :: comm, small
  type(MPI_Comm), asynchronous :: later
  type(MPI_Group) :: group
  type(MPI_Request) :: request
  integer :: rank, size, flag, acked, ierror, class
  integer, asynchronous :: agreed
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, size)
  flag = ior(1, ishft(1, rank + 1))
  call MPIX_Comm_agree(comm, flag)
  if (flag /= merge(1, flag, size > 1)) error stop 'agree'
  agreed = ior(2, ishft(1, rank + 2))
  call MPIX_Comm_iagree(comm, agreed, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (agreed /= merge(2, agreed, size > 1)) error stop 'iagree'
  call MPIX_Comm_get_failed(comm, group)
  call MPI_Group_size(group, flag)
  if (flag /= 0) error stop 'get_failed'
  call MPI_Group_free(group)
  call MPIX_Comm_ack_failed(comm, 0, acked)
  if (acked /= 0) error stop 'ack_failed'
  call MPIX_Comm_failure_ack(comm)
  call MPIX_Comm_failure_get_acked(comm, group)
  call MPI_Group_free(group)
  call MPIX_Comm_is_revoked(comm, flag)
  if (flag /= 0) error stop 'is_revoked, before'
  call MPI_Barrier(comm)
  call MPIX_Comm_revoke(comm)
  call MPIX_Comm_is_revoked(comm, flag)
  if (flag /= 1) error stop 'is_revoked'
  call MPI_Barrier(comm, ierror)
  call MPI_Error_class(ierror, class)
  if (class /= MPIX_ERR_REVOKED) error stop 'revoked'
  call MPIX_Comm_shrink(comm, small)
  call MPI_Comm_size(small, flag)
  if (flag /= size) error stop 'shrink'
  call MPIX_Comm_ishrink(comm, later, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Comm_size(later, flag)
  if (flag /= size) error stop 'ishrink'
  call MPI_Comm_free(small)
  call MPI_Comm_free(later)
  call MPI_Comm_free(comm)
  if (rank == 0) print '(a)', 'ok'
  call MPI_Finalize()
end program fault_f08
