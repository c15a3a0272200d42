/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Replaces ROMIO's own mpio.h, which its configure makes: the whole interface is in mpi.h. Besides
 * that this header has names that MPI has removed, and the names of ROMIO's functions, since MPI's
 * own names belong to libmpi_abi.
 */
#ifndef MPIO_INCLUDE
#define MPIO_INCLUDE

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Removed from MPI; values that no handle and no combiner has. */
typedef int MPI_Fint;
#define MPI_LB ((MPI_Datatype)(intptr_t)-1)
#define MPI_UB ((MPI_Datatype)(intptr_t)-2)
#define MPI_COMBINER_HVECTOR_INTEGER (-1001)
#define MPI_COMBINER_HINDEXED_INTEGER (-1002)
#define MPI_COMBINER_STRUCT_INTEGER (-1003)

#define MPIO_USES_MPI_REQUEST
#define MPIO_REQUEST_DEFINED
#define MPIO_Request MPI_Request
#define MPIO_REQUEST_NULL MPI_REQUEST_NULL
#define MPIO_Wait PMPI_Wait
#define MPIO_Test PMPI_Test

/* The functions of ROMIO's that are built. */
#define PMPI_File_open ROMIO_File_open
#define PMPI_File_close ROMIO_File_close
#define PMPI_File_sync ROMIO_File_sync
#define PMPI_File_get_byte_offset ROMIO_File_get_byte_offset
#define PMPI_File_get_info ROMIO_File_get_info
#define PMPI_File_get_size ROMIO_File_get_size
#define PMPI_File_preallocate ROMIO_File_preallocate
#define PMPI_File_set_atomicity ROMIO_File_set_atomicity
#define PMPI_File_set_info ROMIO_File_set_info
#define PMPI_File_set_size ROMIO_File_set_size
#define PMPI_File_set_view ROMIO_File_set_view
#define PMPI_File_read ROMIO_File_read
#define PMPI_File_read_c ROMIO_File_read_c
#define PMPI_File_read_all ROMIO_File_read_all
#define PMPI_File_read_all_c ROMIO_File_read_all_c
#define PMPI_File_read_at ROMIO_File_read_at
#define PMPI_File_read_at_c ROMIO_File_read_at_c
#define PMPI_File_read_at_all ROMIO_File_read_at_all
#define PMPI_File_read_at_all_c ROMIO_File_read_at_all_c
#define PMPI_File_write ROMIO_File_write
#define PMPI_File_write_c ROMIO_File_write_c
#define PMPI_File_write_all ROMIO_File_write_all
#define PMPI_File_write_all_c ROMIO_File_write_all_c
#define PMPI_File_write_at ROMIO_File_write_at
#define PMPI_File_write_at_c ROMIO_File_write_at_c
#define PMPI_File_write_at_all ROMIO_File_write_at_all
#define PMPI_File_write_at_all_c ROMIO_File_write_at_all_c
/* ROMIO looks at no code of these, and would go on with counts and requests that are not there. Where one fails, as a process
 * is gone or the file is revoked, romio_checked() leaves the whole access. */
int romio_checked(int rc);
#define PMPI_Isend(...) romio_checked(PMPI_Isend(__VA_ARGS__))
#define PMPI_Irecv(...) romio_checked(PMPI_Irecv(__VA_ARGS__))
#define PMPI_Send(...) romio_checked(PMPI_Send(__VA_ARGS__))
#define PMPI_Recv(...) romio_checked(PMPI_Recv(__VA_ARGS__))
#define PMPI_Alltoall(...) romio_checked(PMPI_Alltoall(__VA_ARGS__))
#define PMPI_Alltoallw(...) romio_checked(PMPI_Alltoallw(__VA_ARGS__))
#define PMPI_Allgather(...) romio_checked(PMPI_Allgather(__VA_ARGS__))
#define PMPI_Allreduce(...) romio_checked(PMPI_Allreduce(__VA_ARGS__))
#define PMPI_Bcast(...) romio_checked(PMPI_Bcast(__VA_ARGS__))
#define PMPI_Gather(...) romio_checked(PMPI_Gather(__VA_ARGS__))
#define PMPI_Gatherv(...) romio_checked(PMPI_Gatherv(__VA_ARGS__))
#define PMPI_Barrier(...) romio_checked(PMPI_Barrier(__VA_ARGS__))
#define PMPI_Wait(...) romio_checked(PMPI_Wait(__VA_ARGS__))
#define PMPI_Waitall(...) romio_checked(PMPI_Waitall(__VA_ARGS__))
#define PMPI_Waitany(...) romio_checked(PMPI_Waitany(__VA_ARGS__))
#define PMPI_Testall(...) romio_checked(PMPI_Testall(__VA_ARGS__))

/* ROMIO drops the error handler of a file that it closes; here it has none. */
#define PMPI_File_set_errhandler ROMIO_File_set_errhandler
int ROMIO_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler);
/* ROMIO only asks whether a type is predefined, and never about types with large counts. */
#define PMPI_Type_get_envelope ROMIO_Type_get_envelope
int ROMIO_Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types,
                            int *combiner);
#define PMPI_Type_contiguous ROMIO_Type_contiguous
int ROMIO_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype *made);

/* Extended generalized requests: the parts of ROMIO that use them are not built. */
typedef struct romio_request_class *MPIX_Grequest_class;
typedef int(MPIX_Grequest_poll_function)(void *extra_state, MPI_Status *status);
typedef int(MPIX_Grequest_wait_function)(int count, void **array_of_states, double timeout,
                                         MPI_Status *status);

#endif
