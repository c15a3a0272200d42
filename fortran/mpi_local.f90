! SPDX-License-Identifier: BSD-3-Clause
! What a compiler's LOGICALs are: libmpifort_abi reads this block of the program.
BLOCK DATA mpi_fortran_local
  LOGICAL :: truth(2)
  COMMON /MPI_FORTRAN_LOGICALS/ truth
  DATA truth /.TRUE., .FALSE./
END BLOCK DATA mpi_fortran_local
