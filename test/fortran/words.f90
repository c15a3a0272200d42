! SPDX-License-Identifier: BSD-3-Clause
! What ierror says has the words of Fortran, and nothing is printed; a session tells MPI of Fortran's sizes.
program words
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Info) :: info
  character(len=MPI_MAX_ERROR_STRING) :: text
  integer :: kept(10, 10), ierror, class, length
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  if (ierror /= MPI_SUCCESS) error stop 1
  call MPI_Abi_get_fortran_info(info, ierror)
  if (ierror /= MPI_SUCCESS .or. info == MPI_INFO_NULL) error stop 2
  call MPI_Info_free(info)
  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Buffer_attach(kept(1:9:2, :), 100, ierror)
  call MPI_Error_class(ierror, class)
  if (class /= MPI_ERR_BUFFER) error stop 3
  call MPI_Error_string(ierror, text, length)
  if (index(text, 'MPI_Buffer_attach: the section of an array of rank 2 has gaps') /= 1) error stop 4
  call MPI_Buffer_attach(kept(1:9:2, 1), 100, ierror)
  call MPI_Error_string(ierror, text, length)
  if (index(text, 'an array of rank 1 has gaps') == 0) error stop 5
  call MPI_Send(kept, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
  call MPI_Error_string(ierror, text, length)
  if (index(text, 'MPI_Send: count -1') /= 1) error stop 6
  call MPI_Finalize()
  call MPI_Session_finalize(session)
end program words
