/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two ranks on machines whose long double differs: types that hold it are refused between them, by name, and all
 * others go as always. Run by cross.sh. With an argument the machines are alike, and nothing is refused.
 */
#include <string.h>

#include "check.h"

static MPI_Comm world;
static int rank, peer, alike;

static void due(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    if (alike) {
        OK(code);
        return;
    }
    FAILS(MPI_ERR_TYPE, code);
    OK(MPI_Error_string(code, text, &len));
    CHECK(strstr(text, "holds long double, which has another format") != NULL);
}

/* Calls that send; where they may, their messages are received. */
static void sends(MPI_Datatype type, int count)
{
    static char buf[256], in[256], room[4096];
    MPI_Request request;
    void *detached;
    int len;
    due(MPI_Sendrecv(buf, count, type, peer, 0, in, count, type, peer, 0, world, MPI_STATUS_IGNORE));
    due(MPI_Sendrecv_replace(buf, count, type, peer, 0, peer, 0, world, MPI_STATUS_IGNORE));
    if (alike)
        return;
    due(MPI_Send(buf, count, type, peer, 0, world));
    due(MPI_Ssend(buf, count, type, peer, 0, world));
    due(MPI_Isend(buf, count, type, peer, 0, world, &request));
    due(MPI_Send_init(buf, count, type, peer, 0, world, &request));
    due(MPI_Psend_init(buf, 1, count, type, peer, 0, world, MPI_INFO_NULL, &request));
    OK(MPI_Buffer_attach(room, sizeof(room)));
    due(MPI_Bsend(buf, count, type, peer, 0, world));
    OK(MPI_Buffer_detach(&detached, &len));
}

static void collectives(MPI_Datatype type)
{
    static char buf[256], in[1024];
    MPI_Request request = MPI_REQUEST_NULL;
    due(MPI_Bcast(buf, 1, type, 0, world));
    due(MPI_Gather(buf, 1, type, in, 1, type, 0, world));
    due(MPI_Alltoall(buf, 1, type, in, 1, type, world));
    due(MPI_Iallgather(buf, 1, type, in, 1, type, world, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void reductions(void)
{
    long double in = 1, out = 0;
    due(MPI_Allreduce(&in, &out, 1, MPI_LONG_DOUBLE, MPI_SUM, world));
    CHECK(out == (alike ? 2 : 0));
    due(MPI_Scan(&in, &out, 1, MPI_LONG_DOUBLE, MPI_SUM, world));
}

static void windows(void)
{
    static long double memory[4];
    long double one = 1;
    MPI_Win win;
    OK(MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, world, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_fence(0, win));
    due(MPI_Put(&one, 1, MPI_LONG_DOUBLE, peer, 0, 1, MPI_LONG_DOUBLE, win));
    due(MPI_Accumulate(&one, 1, MPI_LONG_DOUBLE, peer, 16, 1, MPI_LONG_DOUBLE, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memory[0] == alike && memory[1] == alike);
    due(MPI_Get(&one, 1, MPI_LONG_DOUBLE, peer, 0, 1, MPI_LONG_DOUBLE, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

/* What holds none, and what stays in this process. */
static void others(void)
{
    double in = 1.5, out = 0;
    long double own = 2.5L, back = 0;
    OK(MPI_Sendrecv(&in, 1, MPI_DOUBLE, peer, 0, &out, 1, MPI_DOUBLE, peer, 0, world, MPI_STATUS_IGNORE));
    CHECK(out == in);
    OK(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, world));
    CHECK(out == 3);
    OK(MPI_Sendrecv(&own, 1, MPI_LONG_DOUBLE, rank, 0, &back, 1, MPI_LONG_DOUBLE, rank, 0, world, MPI_STATUS_IGNORE));
    CHECK(back == own);
    OK(MPI_Allreduce(&own, &back, 1, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_SELF));
    CHECK(back == own);
}

int main(int argc, char **argv)
{
    MPI_Datatype vector, nested, pair;
    OK(MPI_Init(&argc, &argv));
    alike = argc > 1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    rank = check_rank(world);
    peer = !rank;
    OK(MPI_Type_vector(2, 1, 2, MPI_C_LONG_DOUBLE_COMPLEX, &vector));
    OK(MPI_Type_commit(&vector));
    OK(MPI_Type_create_resized(vector, 0, 128, &nested));
    OK(MPI_Type_commit(&nested));
    sends(MPI_LONG_DOUBLE, 2);
    sends(MPI_LONG_DOUBLE_INT, 1);
    OK(MPI_Type_get_value_index(MPI_LONG_DOUBLE, MPI_LONG, &pair));
    sends(pair, 1);
    sends(vector, 1);
    sends(nested, 1);
    collectives(MPI_LONG_DOUBLE);
    collectives(nested);
    reductions();
    windows();
    others();
    OK(MPI_Type_free(&vector));
    OK(MPI_Type_free(&nested));
    OK(MPI_Comm_free(&world));
    OK(MPI_Finalize());
    return 0;
}
