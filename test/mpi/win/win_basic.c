/* SPDX-License-Identifier: BSD-3-Clause */

/* Each operation in each kind of epoch, on each kind of window. */
#include "windows.h"

enum {
    COUNT = 4096
};

static int rank, size, right, left;

static void fences(struct window *w)
{
    long v[3] = {rank + 1, rank + 2, rank + 3}, got[3] = {0};
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    OK(MPI_Put(v, 3, MPI_LONG, right, window_at(w, right, 5), 3, MPI_LONG, w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 3; i++)
        CHECK(w->mine[5 + i] == left + 1 + i);
    OK(MPI_Get(got, 3, MPI_LONG, left, window_at(w, left, 5), 3, MPI_LONG, w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 3; i++)
        CHECK(got[i] == (left + size - 1) % size + 1 + i);
    for (int i = 0; i < size; i++)
        OK(MPI_Accumulate(v, 1, MPI_LONG, i, window_at(w, i, 0), 1, MPI_LONG, MPI_SUM, w->win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK(w->mine[0] == (long)size * (size + 1) / 2);
    w->mine[0] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A long put and a strided one, both read back. */
static void long_ones(struct window *w)
{
    static long v[COUNT], got[COUNT];
    MPI_Datatype stride;
    for (int i = 0; i < COUNT; i++)
        v[i] = rank * 100000L + i;
    OK(MPI_Type_vector(COUNT / 2, 1, 2, MPI_LONG, &stride));
    OK(MPI_Type_commit(&stride));
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Put(v, COUNT, MPI_LONG, right, window_at(w, right, 0), COUNT, MPI_LONG, w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < COUNT; i++)
        CHECK(w->mine[i] == left * 100000L + i);
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Put(v, COUNT / 2, MPI_LONG, right, window_at(w, right, 1), 1, stride, w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < COUNT; i++)
        CHECK(w->mine[i] == left * 100000L + (i % 2 ? i / 2 : i));
    OK(MPI_Get(got, 1, stride, right, window_at(w, right, 1), 1, stride, w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < COUNT; i += 2)
        CHECK(got[i] == rank * 100000L + i / 2);
    OK(MPI_Win_fence(0, w->win)); /* all have read theirs */
    memset(w->mine, 0, COUNT * sizeof(long));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    OK(MPI_Type_free(&stride));
}

/* Rows of blocks, from the last one to the first, which are put, accumulated and fetched; and of a put of fewer numbers
 * than the target's type describes, the first ones. */
static void rows(struct window *w)
{
    enum { BLOCKS = 700, BLOCK = 3, STEP = -5, AT = COUNT - 10, ALL = BLOCKS * BLOCK, LESS = ALL - 4 };
    static long v[ALL], got[ALL];
    MPI_Datatype type;
    for (int i = 0; i < ALL; i++)
        v[i] = rank * 10000L + i;
    OK(MPI_Type_vector(BLOCKS, BLOCK, STEP, MPI_LONG, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Put(v, LESS, MPI_LONG, right, window_at(w, right, AT), 1, type, w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < ALL; i++)
        CHECK(w->mine[AT + i / BLOCK * STEP + i % BLOCK] == (i < LESS ? left * 10000L + i : 0));
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Accumulate(v, ALL, MPI_LONG, right, window_at(w, right, AT), 1, type, MPI_SUM, w->win));
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Get_accumulate(v, ALL, MPI_LONG, got, ALL, MPI_LONG, right, window_at(w, right, AT), 1, type, MPI_REPLACE,
                          w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < ALL; i++) {
        CHECK(got[i] == (i < LESS ? 2 : 1) * v[i]);
        CHECK(w->mine[AT + i / BLOCK * STEP + i % BLOCK] == left * 10000L + i);
    }
    for (int i = 0; i < COUNT - 10; i++)
        CHECK((AT + BLOCK - 1 - i) % -STEP < BLOCK || !w->mine[i]);
    OK(MPI_Win_fence(0, w->win));
    memset(w->mine, 0, COUNT * sizeof(long));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    OK(MPI_Type_free(&type));
}

static void post_and_start(struct window *w)
{
    MPI_Group all, to, from;
    long v = rank + 7;
    int flag = 0;
    OK(MPI_Win_get_group(w->win, &all));
    OK(MPI_Group_incl(all, 1, &right, &to));
    OK(MPI_Group_incl(all, 1, &left, &from));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Win_post(from, 0, w->win));
        OK(MPI_Win_start(to, 0, w->win));
        OK(MPI_Put(&v, 1, MPI_LONG, right, window_at(w, right, 9 + round), 1, MPI_LONG, w->win));
        OK(MPI_Win_complete(w->win));
        for (flag = round == 1; !flag;)
            OK(MPI_Win_test(w->win, &flag));
        if (round == 1)
            OK(MPI_Win_wait(w->win));
        CHECK(w->mine[9 + round] == left + 7);
    }
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
}

static void locks(struct window *w)
{
    long one = 1, was = -1, zero = 0, got = -1, v = rank + 1;
    MPI_Request requests[3];
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 50; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        OK(MPI_Get(&got, 1, MPI_LONG, 0, window_at(w, 0, 20), 1, MPI_LONG, w->win));
        OK(MPI_Win_flush(0, w->win));
        got++;
        OK(MPI_Put(&got, 1, MPI_LONG, 0, window_at(w, 0, 20), 1, MPI_LONG, w->win));
        OK(MPI_Win_unlock(0, w->win));
    }
    OK(MPI_Win_lock_all(0, w->win));
    OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, right, window_at(w, right, 21), MPI_SUM, w->win));
    OK(MPI_Win_flush(right, w->win));
    CHECK(was == 0);
    OK(MPI_Compare_and_swap(&v, &zero, &was, MPI_LONG, 0, window_at(w, 0, 22), w->win));
    OK(MPI_Rput(&v, 1, MPI_LONG, right, window_at(w, right, 23), 1, MPI_LONG, w->win,
                &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_flush_all(w->win));
    CHECK(was >= 0 && was <= size);
    OK(MPI_Rget(&got, 1, MPI_LONG, right, window_at(w, right, 23), 1, MPI_LONG, w->win,
                &requests[0]));
    OK(MPI_Raccumulate(&one, 1, MPI_LONG, right, window_at(w, right, 24), 1, MPI_LONG, MPI_SUM,
                       w->win, &requests[1]));
    OK(MPI_Rget_accumulate(NULL, 0, MPI_LONG, &was, 1, MPI_LONG, right, window_at(w, right, 25), 1,
                           MPI_LONG, MPI_NO_OP, w->win, &requests[2]));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK(got == rank + 1 && was == 0);
    OK(MPI_Win_unlock_all(w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    CHECK(rank || (w->mine[20] == 50L * size && w->mine[22] > 0));
    CHECK(w->mine[21] == 1 && w->mine[23] == left + 1 && w->mine[24] == 1);
    OK(MPI_Win_unlock(rank, w->win));
}

static void nobody(struct window *w)
{
    long v = 1;
    MPI_Request request;
    OK(MPI_Put(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w->win));
    OK(MPI_Rget(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w->win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, w->win));
    OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
}

/* Elements that no instruction changes: pairs, complex numbers, and those of a struct. */
static void pairs(struct window *w)
{
    struct {
        double value;
        int where;
    } pair = {rank == size - 1 ? 100.0 : rank, rank};
    struct {
        short value;
        int where;
    } small[2] = {{(short)rank, rank}, {(short)(rank + 1), rank}};
    double _Complex z = 1.0 + 2.0 * __extension__ 1.0i;
    int disp = w->kind == WINDOW_DYNAMIC;
    (void)disp;
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, window_at(w, 0, 30), 1, MPI_DOUBLE_INT,
                      MPI_MAXLOC, w->win));
    OK(MPI_Accumulate(small, 2, MPI_SHORT_INT, 0, window_at(w, 0, 34), 2, MPI_SHORT_INT, MPI_MAXLOC,
                      w->win));
    OK(MPI_Accumulate(&z, 1, MPI_C_DOUBLE_COMPLEX, 0, window_at(w, 0, 40), 1, MPI_C_DOUBLE_COMPLEX,
                      MPI_SUM, w->win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    if (rank == 0) {
        memcpy(&pair, &w->mine[30], sizeof(pair));
        CHECK(pair.value == 100.0 && pair.where == size - 1);
        memcpy(small, &w->mine[34], sizeof(small));
        CHECK(small[0].value == size - 1 && small[0].where == size - 1);
        CHECK(small[1].value == size && small[1].where == size - 1);
        memcpy(&z, &w->mine[40], sizeof(z));
        CHECK(__real__ z == size && __imag__ z == 2 * size);
    }
}

/* So many elements of two pieces that they go in several messages. */
static void many_pairs(void)
{
    enum { PAIRS = 1500 };
    static struct { short value; int where; } theirs[PAIRS], mine[PAIRS];
    MPI_Win win;
    memset(theirs, 0, sizeof(theirs));
    for (int i = 0; i < PAIRS; i++) {
        mine[i].value = (short)(rank + i % 1000 + 1);
        mine[i].where = rank;
    }
    OK(MPI_Win_create(theirs, sizeof(theirs), sizeof(*theirs), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(mine, PAIRS, MPI_SHORT_INT, right, 0, PAIRS, MPI_SHORT_INT, MPI_MAXLOC, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < PAIRS; i++)
        CHECK(theirs[i].value == left + i % 1000 + 1 && theirs[i].where == left);
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    many_pairs();
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, COUNT);
        fences(&w);
        long_ones(&w);
        rows(&w);
        post_and_start(&w);
        locks(&w);
        nobody(&w);
        pairs(&w);
        window_close(&w);
    }
    OK(MPI_Finalize());
    return 0;
}
