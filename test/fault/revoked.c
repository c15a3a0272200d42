/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Windows and files are revoked: what waits in them ends, and so does what begins later; they can be freed, and the
 * communicator that they were made of is as before.
 *
 * usage: revoked SCENARIO KIND
 *
 * SCENARIO is one of scenarios[] at the end; KIND: of the window, a number of enum window_kind, or a path for a
 * file. Prints "ok" from each survivor.
 */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "../mpi/win/windows.h"

enum { GIVE_UP_S = 30 };

static struct window w;
static const char *kind;
static MPI_Group others; /* in the window */
static int rank, size;

#define ENDS(code) FAILS(MPIX_ERR_REVOKED, code)

static void open_window(void)
{
    MPI_Group all;
    w = window_open(MPI_COMM_WORLD, (enum window_kind)atoi(kind), 16);
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    OK(MPI_Win_get_group(w.win, &all));
    OK(MPI_Group_excl(all, 1, &rank, &others));
    OK(MPI_Group_free(&all));
}

/* Rank 0 revokes it once the others wait. */
static void revoke_late(void)
{
    usleep(200 * 1000);
    OK(MPIX_Win_revoke(w.win));
}

/* Nothing works in it any more, and it can be freed. */
static void close_window(void)
{
    long v = rank;
    ENDS(MPI_Win_fence(0, w.win));
    ENDS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    ENDS(MPI_Win_lock_all(0, w.win));
    ENDS(MPI_Win_start(others, 0, w.win));
    ENDS(MPI_Put(&v, 1, MPI_LONG, 0, window_at(&w, 0, 0), 1, MPI_LONG, w.win));
    OK(MPIX_Win_revoke(w.win));
    OK(MPI_Group_free(&others));
    window_close(&w);
}

static void fence(void)
{
    open_window();
    if (!rank)
        revoke_late();
    ENDS(MPI_Win_fence(0, w.win));
    close_window();
}

/* Rank 0 exposes nothing. */
static void start(void)
{
    open_window();
    if (!rank)
        revoke_late();
    ENDS(MPI_Win_start(others, 0, w.win));
    close_window();
}

/* Rank 0 never completes. */
static void wait_epoch(void)
{
    open_window();
    if (rank)
        OK(MPI_Win_post(others, 0, w.win));
    else
        revoke_late();
    if (rank)
        ENDS(MPI_Win_wait(w.win));
    close_window();
}

/* Rank 0 has a lock that the others want, and keeps it. One of another host is asked for with the epoch's end. */
static void lock(void)
{
    long v = 0;
    open_window();
    if (!rank) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
        OK(MPI_Put(&v, 1, MPI_LONG, 1, window_at(&w, 1, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(1, w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!rank) {
        revoke_late();
    } else {
        int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win);
        ENDS(rc ? rc : MPI_Win_unlock(1, w.win));
    }
    close_window();
}

/* It is freed in an epoch, whose lock may have been asked for by nobody yet; the next lock is of another window. */
static void open_epoch(void)
{
    long v = rank + 1;
    int next = (rank + 1) % size;
    open_window();
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w.win));
    OK(MPI_Accumulate(&v, 1, MPI_LONG, next, window_at(&w, next, 0), 1, MPI_LONG, MPI_SUM, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPIX_Win_revoke(w.win));
    close_window();
    open_window();
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w.win));
    OK(MPI_Accumulate(&v, 1, MPI_LONG, next, window_at(&w, next, 0), 1, MPI_LONG, MPI_SUM, w.win));
    OK(MPI_Win_unlock(next, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(w.mine[0] == (rank + size - 1) % size + 1);
    OK(MPIX_Win_revoke(w.win));
    close_window();
}

/* All may access all, until they hear of it. */
static void operations(void)
{
    long v = rank;
    int rc = MPI_SUCCESS;
    open_window();
    OK(MPI_Win_lock_all(0, w.win));
    if (!rank)
        revoke_late();
    for (int i = 0; !rc; i++) {
        rc = MPI_Put(&v, 1, MPI_LONG, i % size, window_at(&w, i % size, rank), 1, MPI_LONG, w.win);
        if (!rc)
            rc = MPI_Win_flush(i % size, w.win);
    }
    ENDS(rc);
    ENDS(MPI_Put(&v, 1, MPI_LONG, rank, window_at(&w, rank, rank), 1, MPI_LONG, w.win));
    ENDS(MPI_Win_unlock_all(w.win));
    close_window();
}

/* Rank 1 is dead: the window tells it. */
static void failed(void)
{
    MPI_Group group, all;
    int count = 0, where = -1, zero = 0;
    open_window();
    if (rank != 1)
        OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    for (int i = 1; rank == 1 && i < size; i++) /* all have the window */
        OK(MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 1)
        raise(SIGKILL);
    while (!count) {
        OK(MPIX_Win_get_failed(w.win, &group));
        OK(MPI_Group_size(group, &count));
        if (!count)
            OK(MPI_Group_free(&group));
    }
    CHECK(count == 1);
    OK(MPI_Win_get_group(w.win, &all));
    OK(MPI_Group_translate_ranks(group, 1, &zero, all, &where));
    CHECK(where == 1);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    int class = check_class(MPI_Win_fence(0, w.win));
    CHECK(class == MPIX_ERR_PROC_FAILED || (class == MPIX_ERR_REVOKED && size > 2)); /* by another one */
    OK(MPIX_Win_revoke(w.win));
    close_window();
}

/* Rank 0 does not come to a collective access. */
static void file(void)
{
    MPI_File f;
    MPI_Request request;
    int v[4] = {rank, rank, rank, rank};
    MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof(v);
    OK(MPI_File_open(MPI_COMM_WORLD, kind, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &f));
    OK(MPI_File_write_at_all(f, at, v, 4, MPI_INT, MPI_STATUS_IGNORE));
    if (!rank) {
        usleep(200 * 1000);
        OK(MPIX_File_revoke(f));
    }
    ENDS(MPI_File_write_at_all(f, at, v, 4, MPI_INT, MPI_STATUS_IGNORE));
    ENDS(MPI_File_read_at(f, at, v, 4, MPI_INT, MPI_STATUS_IGNORE));
    ENDS(MPI_File_iwrite_at(f, at, v, 4, MPI_INT, &request));
    ENDS(MPI_File_set_size(f, 0));
    ENDS(MPI_File_sync(f));
    OK(MPIX_File_revoke(f));
    OK(MPI_File_close(&f));
}

/* A rank dies amid collective accesses of pieces that interleave: they end at the others, and accesses alone go on. */
static void dead_file(void)
{
    MPI_File f;
    MPI_Datatype pieces;
    static int v[1 << 16];
    int rc = MPI_SUCCESS;
    OK(MPI_File_open(MPI_COMM_WORLD, kind, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &f));
    OK(MPI_Type_vector(1 << 13, 8, 8 * size, MPI_INT, &pieces));
    OK(MPI_Type_commit(&pieces));
    OK(MPI_File_set_view(f, (MPI_Offset)rank * 32, MPI_INT, pieces, "native", MPI_INFO_NULL));
    if (rank == 1)
        ualarm(300 * 1000, 0);
    for (int i = 0; !rc; i++)
        rc = i % 2 ? MPI_File_read_at_all(f, 0, v, 1 << 16, MPI_INT, MPI_STATUS_IGNORE)
                   : MPI_File_write_at_all(f, 0, v, 1 << 16, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(check_class(rc) == MPIX_ERR_PROC_FAILED);
    OK(MPI_File_write_at(f, 0, v, 10, MPI_INT, MPI_STATUS_IGNORE));
    (void)MPI_File_close(&f); /* whose processes agree on errors */
    CHECK(f == MPI_FILE_NULL);
    OK(MPI_Type_free(&pieces));
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {{"fence", fence},           {"start", start},   {"wait", wait_epoch}, {"lock", lock},
                 {"open_epoch", open_epoch},
                 {"operations", operations}, {"failed", failed}, {"file", file},
                 {"dead_file", dead_file}};

int main(int argc, char **argv)
{
    int is_dead, there = 0;
    OK(MPI_Init(&argc, &argv));
    CHECK(argc == 3);
    kind = argv[2];
    alarm(GIVE_UP_S);
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    is_dead = !strcmp(argv[1], "failed") || !strcmp(argv[1], "dead_file");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (strcmp(argv[1], scenarios[i].name) != 0)
            continue;
        scenarios[i].run();
        there = 1;
    }
    CHECK(there);
    if (!is_dead)
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* of which the window or file was made */
    printf("ok\n");
    OK(MPI_Finalize());
    return 0;
}
