/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Faulty collective calls, one for each number; mpiexec --check ends the job at each. 0: correct ones.
 *
 * usage: check_faults NUMBER
 */
#include <stdlib.h>

#include "check.h"

enum { FAULTS = 26 };

static int in[64], out[64];

static void user(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)from;
    (void)to;
    (void)count;
    (void)type;
}

/* odd: whether this rank is the faulty one of a pair */
static void differ_in_call(int fault, int odd, MPI_Comm comm)
{
    MPI_Request request;
    switch (fault) {
    case 1: odd ? MPI_Barrier(comm) : MPI_Bcast(in, 1, MPI_INT, 0, comm); break;
    case 2: odd ? MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm)
                : MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, comm); break;
    case 3: odd ? MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, comm)
                : MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, comm); break;
    case 4: odd ? MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm)
                : MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm); break;
    case 5: /* the same two in another order */
        odd ? MPI_Barrier(comm) : MPI_Bcast(in, 1, MPI_INT, 0, comm);
        odd ? MPI_Bcast(in, 1, MPI_INT, 0, comm) : MPI_Barrier(comm);
        break;
    case 6: /* a form that does not block matches none that does */
        odd ? MPI_Ibarrier(comm, &request) : MPI_Barrier(comm);
        odd ? MPI_Wait(&request, MPI_STATUS_IGNORE) : 0;
        break;
    case 7:
        odd ? MPI_Ibarrier(comm, &request) : MPI_Ibcast(in, 1, MPI_INT, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default: odd ? MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm)
                 : MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm); break;
    }
}

static void differ_in_root_or_op(int fault, int odd, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Op op;
    switch (fault) {
    case 9: MPI_Bcast(in, 1, MPI_INT, odd, comm); break;
    case 10: MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, odd, comm); break;
    case 11: MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, odd, comm); break;
    case 12: MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, odd, comm); break;
    case 13: MPI_Allreduce(in, out, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, comm); break;
    case 14: MPI_Scan(in, out, 1, MPI_INT, odd ? MPI_MIN : MPI_MAX, comm); break;
    case 15:
        OK(MPI_Op_create(user, 1, &op));
        MPI_Allreduce(in, out, 1, MPI_INT, odd ? op : MPI_SUM, comm);
        break;
    default:
        MPI_Ibcast(in, 1, MPI_INT, odd, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void differ_in_data(int fault, int odd, MPI_Comm comm)
{
    static const int counts[2][8] = {{1, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 1, 1, 1, 1, 1, 1}};
    static const int displs[8] = {0, 2, 4, 6, 8, 10, 12, 14};
    MPI_Datatype odd_type = odd ? MPI_FLOAT : MPI_INT, pair;
    MPI_Request request;
    switch (fault) {
    case 17: MPI_Bcast(in, 1 + odd, MPI_INT, 0, comm); break;
    case 18: MPI_Bcast(in, 1, odd_type, 0, comm); break; /* as long, but of another type */
    case 19: MPI_Allreduce(in, out, 1 + odd, MPI_INT, MPI_SUM, comm); break;
    case 20: MPI_Allgather(in, 1, odd_type, out, 1, odd_type, comm); break;
    case 21: MPI_Gather(in, 1 + odd, MPI_INT, out, 1, MPI_INT, 0, comm); break;
    case 22: MPI_Alltoall(in, 1 + odd, MPI_INT, out, 1 + odd, MPI_INT, comm); break;
    case 23: MPI_Allgatherv(in, counts[odd][check_rank(comm)], MPI_INT, out, counts[odd], displs,
                            MPI_INT, comm); break;
    case 24: MPI_Reduce_scatter_block(in, out, 1, odd_type, MPI_SUM, comm); break;
    case 25:
        OK(MPI_Type_contiguous(2, MPI_INT, &pair));
        OK(MPI_Type_commit(&pair));
        MPI_Bcast(in, odd ? 2 : 1, pair, 0, comm);
        break;
    default:
        MPI_Bcast_init(in, 1 + odd, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* The same data said in other words is no fault. */
static void correct(MPI_Comm comm)
{
    int odd = check_rank(comm) % 2;
    MPI_Datatype pair, gap;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_vector(2, 1, 3, MPI_INT, &gap));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_commit(&gap));
    OK(MPI_Bcast(in, odd ? 2 : 1, odd ? MPI_INT : pair, 0, comm));
    OK(MPI_Bcast(in, odd ? 4 : 2, odd ? MPI_INT : gap, 0, comm));
    OK(MPI_Allgather(in, 1, pair, out, 2, MPI_INT, comm));
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, odd ? 2 : 1, odd ? MPI_INT : pair, comm));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&gap));
}

int main(int argc, char **argv)
{
    int fault = argc > 1 ? atoi(argv[1]) : 0;
    OK(MPI_Init(&argc, &argv));
    int odd = check_rank(MPI_COMM_WORLD) == 1;
    CHECK(fault <= FAULTS && check_size(MPI_COMM_WORLD) <= 8);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    correct(MPI_COMM_WORLD);
    if (fault > 16)
        differ_in_data(fault, odd, MPI_COMM_WORLD);
    else if (fault > 8)
        differ_in_root_or_op(fault, odd, MPI_COMM_WORLD);
    else if (fault > 0)
        differ_in_call(fault, odd, MPI_COMM_WORLD);
    OK(MPI_Finalize());
    return 0;
}
