/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sends and receives whose types do not fit, one pair for each number; mpiexec --check ends the job at
 * each. 0: many that fit.
 *
 * usage: check_types NUMBER
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LONG_COUNT = 1 << 19 };

static MPI_Comm world = MPI_COMM_WORLD;
static int rank;
static int numbers[LONG_COUNT];
static float reals[LONG_COUNT];
static double wide[64];
static long longs[64];

struct pair {
    int number;
    double value;
};
static struct pair pairs[8];

/* {int, double} where number is first, else {double, int}; without the gaps of the struct */
static MPI_Datatype pair_type(int number_first)
{
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {offsetof(struct pair, number), offsetof(struct pair, value)};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type, sized;
    if (!number_first) {
        types[0] = MPI_DOUBLE, types[1] = MPI_INT;
        at[0] = offsetof(struct pair, value), at[1] = offsetof(struct pair, number);
    }
    OK(MPI_Type_create_struct(2, lengths, at, types, &type));
    OK(MPI_Type_create_resized(type, 0, sizeof(struct pair), &sized));
    OK(MPI_Type_commit(&sized));
    OK(MPI_Type_free(&type));
    return sized;
}

static MPI_Datatype row_of(MPI_Datatype old, int vector)
{
    MPI_Datatype type;
    OK(vector ? MPI_Type_vector(4, 1, 2, old, &type) : MPI_Type_contiguous(4, old, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

/* ---- faults: rank 0 sends, rank 1 receives ---- */

static void differ_plainly(int fault)
{
    MPI_Request request;
    MPI_Datatype type;
    switch (fault) {
    case 1:
        rank ? MPI_Recv(reals, 4, MPI_FLOAT, 0, 1, world, MPI_STATUS_IGNORE)
             : MPI_Send(numbers, 4, MPI_INT, 1, 1, world);
        break;
    case 2:
        rank ? MPI_Irecv(longs, 8, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request)
             : MPI_Isend(wide, 8, MPI_DOUBLE, 1, 1, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 3:
        type = row_of(rank ? MPI_FLOAT : MPI_INT, rank);
        rank ? MPI_Recv(reals, 1, type, 0, 1, world, MPI_STATUS_IGNORE)
             : MPI_Ssend(numbers, 1, type, 1, 1, world);
        break;
    case 4: /* a long one */
        rank ? MPI_Recv(reals, LONG_COUNT, MPI_FLOAT, 0, 1, world, MPI_STATUS_IGNORE)
             : MPI_Send(numbers, LONG_COUNT, MPI_INT, 1, 1, world);
        break;
    case 5: /* the same basic types, in another order */
        type = pair_type(!rank);
        rank ? MPI_Recv(pairs, 2, type, 0, 1, world, MPI_STATUS_IGNORE)
             : MPI_Send(pairs, 2, type, 1, 1, world);
        break;
    default: /* the end of what is sent only */
        type = pair_type(1);
        rank ? MPI_Recv(numbers, 16, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE)
             : MPI_Send(pairs, 1, type, 1, 1, world);
    }
}

static void differ_otherwise(int fault)
{
    static char room[4096];
    MPI_Request request;
    MPI_Message message;
    int other = 1 - rank;
    switch (fault) {
    case 7:
        MPI_Sendrecv(numbers, 4, MPI_INT, other, 1, reals, 4, MPI_FLOAT, other, 1, world,
                     MPI_STATUS_IGNORE);
        break;
    case 8:
        rank ? MPI_Recv(reals, 4, MPI_FLOAT, 0, 1, world, MPI_STATUS_IGNORE)
             : MPI_Sendrecv_replace(numbers, 4, MPI_INT, 1, 1, MPI_PROC_NULL, 0, world,
                                    MPI_STATUS_IGNORE);
        break;
    case 9:
        if (!rank) {
            MPI_Buffer_attach(room, sizeof(room));
            MPI_Bsend(numbers, 4, MPI_INT, 1, 1, world);
        } else {
            MPI_Mprobe(0, 1, world, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(reals, 4, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
        }
        break;
    default:
        rank ? MPI_Recv_init(reals, 4, MPI_FLOAT, 0, 1, world, &request)
             : MPI_Send_init(numbers, 4, MPI_INT, 1, 1, world, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* ---- what fits ---- */

static void fit_lengths(void)
{
    MPI_Status status;
    int count;
    if (!rank) {
        OK(MPI_Send(numbers, 3, MPI_INT, 1, 1, world));
        OK(MPI_Send(NULL, 0, MPI_FLOAT, 1, 2, world));
        OK(MPI_Send(numbers, 6, MPI_INT, 1, 3, world));
        OK(MPI_Send(numbers, LONG_COUNT, MPI_INT, 1, 4, world));
        return;
    }
    OK(MPI_Probe(0, 1, world, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 3);
    OK(MPI_Recv(numbers, 9, MPI_INT, 0, 1, world, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 3);
    OK(MPI_Recv(numbers, 9, MPI_INT, 0, 2, world, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 0);
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_TRUNCATE, MPI_Recv(numbers, 5, MPI_INT, 0, 3, world, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 5);
    OK(MPI_Recv(numbers, LONG_COUNT, MPI_INT, 0, 4, world, &status));
    CHECK(numbers[LONG_COUNT - 1] == LONG_COUNT - 1);
}

static void fit_types(void)
{
    MPI_Datatype pair = pair_type(1), row = row_of(MPI_INT, 1);
    MPI_Request request;
    if (!rank) {
        pairs[1] = (struct pair){7, 0.5};
        OK(MPI_Send(pairs, 2, pair, 1, 1, world));
        OK(MPI_Send(numbers, 2, MPI_INT, 1, 2, world));
        OK(MPI_Send(numbers, 16, MPI_BYTE, 1, 3, world));
        OK(MPI_Send(numbers, 4, MPI_INT, 1, 4, world));
    } else {
        OK(MPI_Recv(pairs, 8, pair, 0, 1, world, MPI_STATUS_IGNORE));
        CHECK(pairs[1].number == 7 && pairs[1].value == 0.5);
        OK(MPI_Irecv(numbers, 1, row, 0, 2, world, &request)); /* half of one */
        OK(MPI_Type_free(&row));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(numbers[2] == 1);
        OK(MPI_Recv(numbers, 4, MPI_INT, 0, 3, world, MPI_STATUS_IGNORE));
        OK(MPI_Recv(numbers, 16, MPI_BYTE, 0, 4, world, MPI_STATUS_IGNORE));
    }
    if (!rank)
        OK(MPI_Type_free(&row));
    OK(MPI_Type_free(&pair));
}

static void fit_other_calls(void)
{
    static char room[16 + MPI_BSEND_OVERHEAD];
    void *gone;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int other = 1 - rank, size, flag, value = rank, got = -1;
    OK(MPI_Buffer_attach(room, sizeof(room)));
    OK(MPI_Bsend(numbers, 4, MPI_INT, other, 1, world)); /* fills the buffer */
    OK(MPI_Mprobe(other, 1, world, &message, &status));
    OK(MPI_Mrecv(numbers, 4, MPI_INT, &message, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&gone, &size));
    OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, other, 2, other, 2, world, &status));
    CHECK(value == other && status.MPI_SOURCE == other);
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 2, &got, 1, MPI_FLOAT, MPI_PROC_NULL, 2, world,
                    &status));
    OK(MPI_Isend(&rank, 1, MPI_INT, rank, 3, world, &request));
    OK(MPI_Recv(&got, 1, MPI_INT, rank, 3, world, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(got == rank);
    OK(MPI_Irecv(&got, 1, MPI_INT, other, 9, world, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    rank ? MPI_Recv_init(&got, 1, MPI_INT, 0, 4, world, &request)
         : MPI_Send_init(&rank, 1, MPI_INT, 1, 4, world, &request);
    for (int i = 0; i < 3; i++) {
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    int fault = argc > 1 ? atoi(argv[1]) : 0;
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(world);
    for (int i = 0; i < LONG_COUNT; i++)
        numbers[i] = i;
    CHECK(check_size(world) == 2);
    if (!fault) {
        fit_lengths();
        fit_types();
        fit_other_calls();
    } else if (fault <= 6) {
        differ_plainly(fault);
    } else {
        differ_otherwise(fault);
    }
    OK(MPI_Finalize());
    return 0;
}
