/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs that leave something behind at MPI_Finalize, one for each number; mpiexec --check names
 * it. 0: a correct one.
 *
 * usage: check_left NUMBER
 */
#include <stdlib.h>

#include "check.h"

enum { FAULTS = 14 };

static int in[1 << 16], out[1 << 16];

static void leave_request(int fault, int rank, int size)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request, other;
    switch (fault) {
    case 1: /* complete, and never waited for */
        OK(MPI_Irecv(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Send(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
        break;
    case 2:
        OK(MPI_Issend(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Recv(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        break;
    case 3:
        OK(MPI_Send_init(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request));
        break;
    case 4:
        OK(MPI_Recv_init(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Irecv(in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &other));
        OK(MPI_Send(out, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
        OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
        break;
    default:
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void leave_comm(int fault, int rank, int size)
{
    MPI_Comm comm, half;
    MPI_Group group;
    switch (fault) {
    case 6: OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); break;
    case 7: OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm)); break;
    case 8:
        OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
        OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
        OK(MPI_Group_free(&group));
        break;
    default:
        OK(MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half));
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 0, &comm));
        OK(MPI_Comm_free(&half));
    }
    (void)size;
}

static void leave_type(int fault)
{
    MPI_Datatype type;
    int length = 2, at = 3;
    if (fault == 10)
        OK(MPI_Type_contiguous(3, MPI_INT, &type));
    else if (fault == 11)
        OK(MPI_Type_dup(MPI_DOUBLE, &type));
    else
        OK(MPI_Type_indexed(1, &length, &at, MPI_INT, &type));
    if (fault > 10)
        OK(MPI_Type_commit(&type));
}

static void leave_message(int fault, int rank, int size)
{
    MPI_Comm comm;
    if (fault == 13 && rank == 0)
        OK(MPI_Send(out, 4, MPI_INT, size - 1, 77, MPI_COMM_WORLD));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (fault == 14 && rank == 0)
        OK(MPI_Send(out, 4, MPI_INT, size - 1, 78, comm));
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
}

/* All is given back, some of it while it is used. */
static void correct(int rank, int size)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request, kept;
    MPI_Datatype type;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_vector(4, 2, 3, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Irecv(in, 1, type, left, 1, comm, &request));
    OK(MPI_Send_init(out, 1, type, right, 1, comm, &kept));
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Start(&kept));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&kept, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&kept));
    OK(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type));
    OK(MPI_Isend(out, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Recv(in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int fault = argc > 1 ? atoi(argv[1]) : 0;
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    CHECK(fault <= FAULTS && size > 1);
    correct(rank, size);
    if (fault > 12)
        leave_message(fault, rank, size);
    else if (fault > 9)
        leave_type(fault);
    else if (fault > 5)
        leave_comm(fault, rank, size);
    else if (fault > 0)
        leave_request(fault, rank, size);
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* or a peer may have gone that another sends to */
    OK(MPI_Finalize());
    return 0;
}
