/* SPDX-License-Identifier: BSD-3-Clause */

/* Wrong arguments of collectives and operations are refused with their class, by all alike, and
 * the communicator works as before. */
#include <string.h>

#include "check.h"

static MPI_Comm world;
static int rank, size, a[64], b[64];

static void roots(void)
{
    FAILS(MPI_ERR_ROOT, MPI_Bcast(a, 1, MPI_INT, -1, world));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(a, 1, MPI_INT, size, world));
    FAILS(MPI_ERR_ROOT, MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, size, world));
    FAILS(MPI_ERR_ROOT, MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_ROOT, world));
    FAILS(MPI_ERR_ROOT, MPI_Scatterv(a, NULL, NULL, MPI_INT, b, 1, MPI_INT, size, world));
}

static void counts_and_types(void)
{
    int negative[64], zero[64] = {0};
    MPI_Datatype type;
    memset(negative, -1, sizeof(negative));
    FAILS(MPI_ERR_COUNT, MPI_Bcast(a, -1, MPI_INT, 0, world));
    FAILS(MPI_ERR_COUNT, MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_COUNT, MPI_Allgatherv(a, 0, MPI_INT, b, negative, zero, MPI_INT, world));
    FAILS(MPI_ERR_COUNT, MPI_Reduce_scatter(a, b, negative, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, world));
    FAILS(MPI_ERR_TYPE, MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, world));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(a, 1, type, 0, world)); /* not committed */
    OK(MPI_Type_free(&type));
    FAILS(MPI_ERR_ARG, MPI_Alltoallv(a, NULL, zero, MPI_INT, b, zero, zero, MPI_INT, world));
    FAILS(MPI_ERR_COUNT, MPI_Alltoall_c(a, INT64_MAX / 2, MPI_INT, b, 1, MPI_INT, world));
    for (int bit = 58; bit < 63; bit++) { /* more than there is memory */
        MPI_Count more = (MPI_Count)1 << bit;
        FAILS(MPI_ERR_COUNT, MPI_Allreduce_c(a, b, more, MPI_INT, MPI_SUM, world));
        FAILS(MPI_ERR_COUNT, MPI_Bcast_c(a, more, MPI_BYTE, 0, world));
        FAILS(MPI_ERR_COUNT, MPI_Reduce_local_c(a, b, more, MPI_BYTE, MPI_BAND));
        FAILS(MPI_ERR_COUNT, MPI_Reduce_local_c(a, b, more, MPI_DOUBLE_INT, MPI_MAXLOC));
    }
}

/* The other forms look at the same, and at their own arguments. */
static void other_forms(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    FAILS(MPI_ERR_COMM, MPI_Ibarrier(MPI_COMM_NULL, &request));
    FAILS(MPI_ERR_ROOT, MPI_Ibcast(a, 1, MPI_INT, size, world, &request));
    FAILS(MPI_ERR_COUNT, MPI_Iallreduce(a, b, -1, MPI_INT, MPI_SUM, world, &request));
    FAILS(MPI_ERR_OP, MPI_Iscan(a, b, 1, MPI_FLOAT, MPI_BAND, world, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Ialltoall(a, 1, MPI_INT, a, 1, MPI_INT, world, &request));
    FAILS(MPI_ERR_ARG, MPI_Ibarrier(world, NULL));
    FAILS(MPI_ERR_ROOT,
          MPI_Gather_init(a, 1, MPI_INT, b, 1, MPI_INT, -1, world, MPI_INFO_NULL, &request));
    FAILS(MPI_ERR_TYPE, MPI_Bcast_init(a, 1, MPI_DATATYPE_NULL, 0, world, MPI_INFO_NULL, &request));
    FAILS(MPI_ERR_ARG, MPI_Barrier_init(world, MPI_INFO_NULL, NULL));
    FAILS(MPI_ERR_INFO, MPI_Barrier_init(world, (MPI_Info)world, &request));
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Barrier_init(world, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&request)); /* it is active */
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* it is not: nothing to wait for */
    OK(MPI_Request_free(&request));
}

static void buffers(void)
{
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, world));
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, world));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_BUFFER, MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, world));
    int counts[64], displs[64];
    for (int i = 0; i < size; i++) {
        counts[i] = 2;
        displs[i] = 2 * i;
    }
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(a + rank, 1, MPI_INT, a, 1, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER,
          MPI_Allgatherv(a + 2 * rank + 1, 2, MPI_INT, a, counts, displs, MPI_INT, world));
    FAILS(MPI_ERR_BUFFER,
          MPI_Alltoallv(a, counts, displs, MPI_INT, a, counts, displs, MPI_INT, world));
    if (rank == 0) {
        FAILS(MPI_ERR_BUFFER, MPI_Gatherv(a, 2, MPI_INT, a, counts, displs, MPI_INT, 0, world));
        FAILS(MPI_ERR_BUFFER, MPI_Scatter(a, 1, MPI_INT, a, 1, MPI_INT, 0, world));
    }
    /* one after the other in one array */
    OK(MPI_Allgather(a, 2, MPI_INT, a + 2, 2, MPI_INT, world));
    OK(MPI_Allgatherv(a + 2 * size, 2, MPI_INT, a, counts, displs, MPI_INT, world));
    OK(MPI_Bcast(NULL, 0, MPI_INT, 0, world));
    OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, world));
}

/* The output of an exscan means nothing at the first rank; its input does. */
static void first_of_exscan(void)
{
    int one = 1, before = 0;
    MPI_Request request;
    OK(MPI_Exscan(&one, rank ? &before : NULL, 1, MPI_INT, MPI_SUM, world));
    CHECK(before == rank);
    OK(MPI_Exscan(&one, rank ? &before : &one, 1, MPI_INT, MPI_SUM, world));
    OK(MPI_Iexscan(&one, rank ? &before : NULL, 1, MPI_INT, MPI_SUM, world, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(before == rank);
    FAILS(MPI_ERR_BUFFER, MPI_Exscan(NULL, &before, 1, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_COUNT, MPI_Exscan(&one, &before, -1, MPI_INT, MPI_SUM, world));
    FAILS(MPI_ERR_TYPE, MPI_Exscan(&one, &before, 1, MPI_DATATYPE_NULL, MPI_SUM, world));
}

static void operations(void)
{
    MPI_Datatype type;
    FAILS(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, world));
    FAILS(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_FLOAT, MPI_BAND, world));
    FAILS(MPI_ERR_OP, MPI_Scan(a, b, 1, MPI_WCHAR, MPI_SUM, world));
    FAILS(MPI_ERR_OP, MPI_Reduce(a, b, 1, MPI_INT, MPI_MINLOC, 0, world));
    FAILS(MPI_ERR_OP, MPI_Exscan(a, b, 1, MPI_INT, MPI_REPLACE, world));
    OK(MPI_Type_contiguous(1, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    FAILS(MPI_ERR_OP, MPI_Allreduce(a, b, 1, type, MPI_SUM, world));
    OK(MPI_Type_free(&type));
}

/* The request of an active collective cannot be freed, and goes on being of use. */
static void active(void)
{
    MPI_Request request, kept;
    int me = check_rank(world), members = check_size(world), flag = 0, word = 0;
    OK(MPI_Barrier_init(world, MPI_INFO_NULL, &kept));
    if (me) /* the others begin once the first has tried to free them */
        OK(MPI_Recv(&word, 1, MPI_INT, 0, 7, world, MPI_STATUS_IGNORE));
    OK(MPI_Ibarrier(world, &request));
    OK(MPI_Start(&kept));
    if (!me && members > 1) {
        FAILS(MPI_ERR_REQUEST, MPI_Request_free(&request));
        FAILS(MPI_ERR_REQUEST, MPI_Request_free(&kept));
        CHECK(request != MPI_REQUEST_NULL && kept != MPI_REQUEST_NULL);
    }
    for (int i = 1; !me && i < members; i++)
        OK(MPI_Send(&word, 1, MPI_INT, i, 7, world));
    OK(MPI_Wait(&kept, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&kept));
    CHECK(kept == MPI_REQUEST_NULL);
    while (!flag)
        OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request)); /* it is complete */
    CHECK(request == MPI_REQUEST_NULL);
}

/* Of no elements a type may be null, in messages and where each block has its type, as in other libraries. */
static void no_type(void)
{
    enum { MOST = 16 };
    int me = check_rank(world), members = check_size(world);
    int right = (me + 1) % members, left = (me + members - 1) % members;
    int counts[MOST] = {0}, displs[MOST] = {0}, in = 5 + me, out = -1;
    MPI_Datatype types[MOST];
    MPI_Request request;
    MPI_Status status;
    CHECK(members <= MOST);
    for (int i = 0; i < members; i++)
        types[i] = MPI_DATATYPE_NULL;
    counts[me] = 1;
    types[me] = MPI_INT;
    OK(MPI_Alltoallw(&in, counts, displs, types, &out, counts, displs, types, world));
    CHECK(out == in);
    out = -1;
    OK(MPI_Ialltoallw(&in, counts, displs, types, &out, counts, displs, types, world, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(out == in);
    OK(MPI_Sendrecv(NULL, 0, MPI_DATATYPE_NULL, right, 8, NULL, 0, MPI_DATATYPE_NULL, left, 8, world, &status));
    CHECK(status.MPI_SOURCE == left);
    OK(MPI_Recv_init(NULL, 0, MPI_DATATYPE_NULL, left, 9, world, &request));
    OK(MPI_Start(&request));
    OK(MPI_Send(NULL, 0, MPI_DATATYPE_NULL, right, 9, world));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Request_free(&request));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(&in, 0, MPI_DATATYPE_NULL, 0, world));
    counts[me] = 0;
    counts[right] = 1;
    types[right] = MPI_DATATYPE_NULL;
    FAILS(MPI_ERR_TYPE, MPI_Alltoallw(&in, counts, displs, types, &out, counts, displs, types, world));
}

/* The text says what is wrong. */
static void says(int code, const char *function, const char *what)
{
    char string[MPI_MAX_ERROR_STRING];
    int len;
    OK(MPI_Error_string(code, string, &len));
    CHECK(strstr(string, function) && strstr(string, what));
}

static void text(void)
{
    MPI_Request request;
    says(MPI_Bcast(a, 1, MPI_INT, size + 4, world), "MPI_Bcast", "root");
    says(MPI_Ibcast(a, 1, MPI_INT, size + 4, world, &request), "MPI_Ibcast", "root");
}

/* Data that are too long for their place are told where they arrive, and only there. */
static void truncation(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count = rank == 0 ? 2 : 1;
    int code = MPI_Bcast(a, count, MPI_INT, 0, world);
    OK(MPI_Ibcast(a, count, MPI_INT, 0, world, &requests[0]));
    OK(MPI_Bcast_init(a, count, MPI_INT, 0, world, MPI_INFO_NULL, &requests[1]));
    if (rank == 0) {
        OK(code);
        OK(MPI_Start(&requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else {
        FAILS(MPI_ERR_TRUNCATE, code);
        says(code, "MPI_Bcast", "rank 0 has more than the 4 bytes");
        code = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        FAILS(MPI_ERR_TRUNCATE, code);
        says(code, "MPI_Ibcast", "more than the 4 bytes");
        OK(MPI_Start(&requests[1]));
        FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, requests, statuses));
        FAILS(MPI_ERR_TRUNCATE, statuses[1].MPI_ERROR);
        says(statuses[1].MPI_ERROR, "MPI_Bcast_init", "another count");
    }
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    OK(MPI_Request_free(&requests[1]));
}

/* Data that are too short are told where they arrive, by whom they were sent, and how many were due. */
static void short_of(int code, const char *function, int count)
{
    char what[80];
    snprintf(what, sizeof(what), "rank %d has %d bytes where %d are due", !rank, 4 * count,
             8 * count);
    FAILS(MPI_ERR_COUNT, code);
    says(code, function, what);
}

static void too_short(int count)
{
    static int in[1 << 16], out[1 << 16];
    MPI_Datatype pairs; /* with gaps */
    MPI_Request request;
    int more = rank == 0 ? count : 2 * count; /* this process asks for more than rank 0 sends */
    int mine = rank == 0 ? 2 * count : count;
    int code = MPI_Bcast(in, more, MPI_INT, 0, world);
    rank ? short_of(code, "MPI_Bcast", count) : OK(code);
    OK(MPI_Ibcast(in, more, MPI_INT, 0, world, &request));
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    rank ? short_of(code, "MPI_Ibcast", count) : OK(code);
    OK(MPI_Bcast_init(in, more, MPI_INT, 0, world, MPI_INFO_NULL, &request));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(&request));
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        rank ? short_of(code, "MPI_Bcast_init", count) : OK(code);
    }
    OK(MPI_Request_free(&request));
    OK(MPI_Type_vector(count, 1, 2, MPI_INT, &pairs));
    OK(MPI_Type_commit(&pairs));
    code = MPI_Bcast(in, more / count, pairs, 0, world);
    rank ? short_of(code, "MPI_Bcast", count) : OK(code);
    code = MPI_Scatter(in, more, MPI_INT, out, more, MPI_INT, 0, world);
    rank ? short_of(code, "MPI_Scatter", count) : OK(code);
    code = MPI_Gather(in, mine, MPI_INT, out, mine, MPI_INT, 0, world);
    rank ? OK(code) : short_of(code, "MPI_Gather", count);
    code = MPI_Reduce(in, out, mine, MPI_INT, MPI_SUM, 0, world);
    rank ? OK(code) : short_of(code, "MPI_Reduce", count);
    code = MPI_Alltoall(in, mine, MPI_INT, out, mine, MPI_INT, world);
    if (rank)
        FAILS(MPI_ERR_TRUNCATE, code);
    else
        short_of(code, "MPI_Alltoall", count);
    OK(MPI_Type_free(&pairs));
}

/* Members that are counted do not know who made another call: then all are told that somebody has. */
static void one_of_three(void)
{
    int code = MPI_Allreduce(a, b, rank == 1 ? 2 : 1, MPI_INT, MPI_SUM, world);
    CHECK(rank != 1 || code);
    if (code)
        says(code, "MPI_Allreduce", "another member gave another count");
}

int main(int argc, char **argv)
{
    int sum = 0, one = 1;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    rank = check_rank(world);
    size = check_size(world);
    FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    roots();
    counts_and_types();
    other_forms();
    buffers();
    first_of_exscan();
    operations();
    active();
    no_type();
    text();
    if (size == 2) {
        truncation();
        too_short(1);
        too_short(10);
        too_short(1 << 13);
    }
    if (size == 3)
        one_of_three();
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world));
    CHECK(sum == size);
    OK(MPI_Comm_free(&world));
    OK(MPI_Finalize());
    return 0;
}
