/* SPDX-License-Identifier: BSD-3-Clause */

/* Wrong arguments and epochs are error classes; attributes, names, info, groups and error handlers
 * of windows. */
#include "windows.h"

static int handled, deleted;
static MPI_Win handled_on;

static void on_error(MPI_Win *win, int *code, ...)
{
    (void)code;
    handled_on = *win;
    handled++;
}

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void epochs(struct window *w)
{
    long v = 1;
    MPI_Win win = w->win;
    MPI_Request request;
    int flag;
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, MPI_LONG, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &flag));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_fence(0, win));
    FAILS(MPI_ERR_RMA_SYNC,
          MPI_Rput(&v, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, MPI_LONG, win, &request));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_fence(1, win));
    FAILS(MPI_ERR_LOCKTYPE, MPI_Win_lock(7, 0, 0, win));
    FAILS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, 9999, 0, win));
}

static void arguments(struct window *w)
{
    long v = 1;
    MPI_Win win = w->win;
    MPI_Datatype pair, plain;
    OK(MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RANK, MPI_Put(&v, 1, MPI_LONG, 9999, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_COUNT, MPI_Put(&v, -1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&v, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_TRUNCATE, MPI_Put(&v, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, MPI_INT, win));
    FAILS(MPI_ERR_OP,
          MPI_Accumulate(&v, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, MPI_LONG, MPI_OP_NULL, win));
    FAILS(MPI_ERR_OP,
          MPI_Accumulate(&v, 1, MPI_DOUBLE, 0, window_at(w, 0, 0), 1, MPI_DOUBLE, MPI_BXOR, win));
    OK(MPI_Accumulate(&v, 0, MPI_BYTE, 0, window_at(w, 0, 0), 0, MPI_BYTE, MPI_SUM, win));
    OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                              (MPI_Datatype[]){MPI_LONG, MPI_DOUBLE}, &pair));
    FAILS(MPI_ERR_TYPE, MPI_Put(&v, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, pair, win));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_contiguous(2, MPI_LONG, &plain));
    OK(MPI_Type_commit(&plain));
    FAILS(MPI_ERR_TYPE,
          MPI_Accumulate(&v, 2, MPI_LONG, 0, window_at(w, 0, 0), 1, pair, MPI_SUM, win));
    FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&v, &v, &v, plain, 0, window_at(w, 0, 0), win));
    FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&v, &v, &v, MPI_DOUBLE, 0, window_at(w, 0, 0), win));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&plain));
    OK(MPI_Type_contiguous(0, MPI_INT, &plain)); /* what has no bytes hides no mixture */
    OK(MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 0, 8},
                              (MPI_Datatype[]){plain, MPI_LONG, MPI_DOUBLE}, &pair));
    OK(MPI_Type_commit(&pair));
    FAILS(MPI_ERR_TYPE,
          MPI_Accumulate(&v, 2, MPI_LONG, 0, window_at(w, 0, 0), 1, pair, MPI_SUM, win));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&plain));
    FAILS(MPI_ERR_COUNT, MPI_Put_c(&v, (MPI_Count)1 << 61, MPI_LONG, 0, window_at(w, 0, 0),
                                   (MPI_Count)1 << 61, MPI_LONG, win));
    OK(MPI_Win_unlock_all(win));
}

/* Outside of the window: by the call itself, or by the one that completes it. */
static void ranges(struct window *w, int last)
{
    static const long far_away[] = {1L << 20, -1, 1L << 60};
    long v[2] = {1, 2};
    for (int i = 0; i < 3 && w->kind != WINDOW_DYNAMIC; i++) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win));
        int rc = MPI_Put(v, 2, MPI_LONG, last, far_away[i], 2, MPI_LONG, w->win);
        int at_end = MPI_Win_unlock(last, w->win);
        CHECK(check_class(rc ? rc : at_end) == MPI_ERR_RMA_RANGE);
    }
    OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win));
    int rc = MPI_Get(v, 2, MPI_LONG, last, window_at(w, last, w->count - 1), 2, MPI_LONG, w->win);
    int at_end = MPI_Win_unlock(last, w->win);
    CHECK(check_class(rc ? rc : at_end) == MPI_ERR_RMA_RANGE);
    MPI_Request request; /* its own error is not told once more */
    OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win));
    rc = MPI_Rget(v, 2, MPI_LONG, last, window_at(w, last, w->count - 1), 2, MPI_LONG, w->win,
                  &request);
    rc = rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_class(rc) == MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock(last, w->win));
}

/* A request's error goes to the window's handler, too. */
static void handled_at_wait(struct window *w, int last)
{
    long v[2] = {1, 2};
    MPI_Request request;
    MPI_Errhandler handler;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Win_create_errhandler(on_error, &handler));
    OK(MPI_Win_set_errhandler(w->win, handler));
    handled = 0;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w->win));
    int rc = MPI_Rget(v, 2, MPI_LONG, last, window_at(w, last, w->count - 1), 2, MPI_LONG, w->win,
                      &request);
    rc = rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_class(rc) == MPI_ERR_RMA_RANGE && handled == 1 && handled_on == w->win);
    OK(MPI_Win_unlock(last, w->win));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

static void objects(struct window *w)
{
    char text[MPI_MAX_OBJECT_NAME], value[200];
    int len = -1, key, flag = 0, *number;
    MPI_Aint *bytes;
    void *base;
    MPI_Errhandler handler, has;
    MPI_Info info;
    OK(MPI_Win_get_name(w->win, text, &len));
    CHECK(len == 0);
    OK(MPI_Win_set_name(w->win, "board"));
    OK(MPI_Win_get_name(w->win, text, &len));
    CHECK(len == 5 && !strcmp(text, "board"));
    OK(MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag && (w->kind == WINDOW_DYNAMIC || base == w->mine));
    OK(MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &bytes, &flag));
    CHECK(flag && (w->kind == WINDOW_DYNAMIC || *bytes == w->count * (MPI_Aint)sizeof(long)));
    OK(MPI_Win_get_attr(w->win, MPI_WIN_DISP_UNIT, &number, &flag));
    CHECK(flag && *number == (w->kind == WINDOW_DYNAMIC ? 1 : (int)sizeof(long)));
    OK(MPI_Win_get_attr(w->win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
    CHECK(flag && *number == (w->kind == WINDOW_ALLOCATE  ? MPI_WIN_FLAVOR_ALLOCATE
                              : w->kind == WINDOW_DYNAMIC ? MPI_WIN_FLAVOR_DYNAMIC
                                                          : MPI_WIN_FLAVOR_CREATE));
    OK(MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &number, &flag));
    CHECK(flag && *number == MPI_WIN_UNIFIED);
    FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(w->win, MPI_WIN_BASE, NULL));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL));
    OK(MPI_Win_set_attr(w->win, key, text));
    OK(MPI_Win_get_attr(w->win, key, &base, &flag));
    CHECK(flag && base == text);
    OK(MPI_Win_free_keyval(&key));
    OK(MPI_Win_create_errhandler(on_error, &handler));
    OK(MPI_Win_set_errhandler(w->win, handler));
    OK(MPI_Win_get_errhandler(w->win, &has));
    CHECK(has == handler);
    handled = 0;
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, w->win));
    OK(MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER));
    CHECK(handled == 2);
    OK(MPI_Errhandler_free(&has));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    OK(MPI_Win_get_info(w->win, &info));
    OK(MPI_Info_get(info, "no_locks", 100, value, &flag));
    CHECK(flag && !strcmp(value, "false"));
    OK(MPI_Info_get(info, "vireo_progress", 100, value, &flag));
    CHECK(flag && strstr(value, "put:"));
    OK(MPI_Info_free(&info));
}

static void making(void)
{
    MPI_Win win;
    long *base;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_SIZE, MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    FAILS(MPI_ERR_DISP, MPI_Win_allocate(8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    FAILS(MPI_ERR_BASE, MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    FAILS(MPI_ERR_NO_MEM,
          MPI_Win_allocate((MPI_Aint)1 << 50, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    /* One alone has no memory: the others hear of it, by the same sentence. */
    int rc = MPI_Win_allocate(check_rank(MPI_COMM_WORLD) ? 8 : (MPI_Aint)1 << 50, 1, MPI_INFO_NULL,
                              MPI_COMM_WORLD, &base, &win);
    char text[MPI_MAX_ERROR_STRING];
    int len;
    CHECK(check_class(rc) == MPI_ERR_NO_MEM);
    OK(MPI_Error_string(rc, text, &len));
    CHECK(strstr(text, " bytes on the host of rank 0, and there are "));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    FAILS(MPI_ERR_WIN, MPI_Win_fence(0, (MPI_Win)&base));
}

static void alignment(void)
{
    char *at[3], text[24];
    MPI_Info info;
    OK(MPI_Info_create(&info));
    for (long align = 64; align <= 8192; align *= 2) {
        snprintf(text, sizeof(text), "%ld", align);
        OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", text));
        for (int i = 0; i < 3; i++) {
            OK(MPI_Alloc_mem(align / 2 + 1, info, &at[i]));
            CHECK((intptr_t)at[i] % align == 0);
        }
        for (int i = 0; i < 3; i++)
            OK(MPI_Free_mem(at[i]));
    }
    OK(MPI_Info_free(&info));
}

/* Of hints, those that mean something are kept. */
static void hints(void)
{
    static const struct {
        const char *key, *value, *then; /* then: what the window says */
    } given[] = {
        {"no_locks", "perhaps", "false"},
        {"no_locks", "true", "true"},
        {"accumulate_ordering", "rar,war", "rar,war"},
        {"accumulate_ordering", "none", "none"},
        {"accumulate_ordering", "rar,", "rar,raw,war,waw"},
        {"accumulate_ordering", "rarwaw", "rar,raw,war,waw"},
        {"accumulate_ops", "same_op", "same_op"},
        {"accumulate_ops", "any_op", "same_op_no_op"},
        {"mpi_accumulate_granularity", "8", "8"},
        {"mpi_accumulate_granularity", "-1", "0"},
        {"same_size", "true", "true"},
        {"same_disp_unit", "TRUE", "false"},
        {"mpi_minimum_memory_alignment", "4096", "4096"},
        {"mpi_minimum_memory_alignment", "48", "64"},
        {"mpi_minimum_memory_alignment", "4194304", "64"},
        {"mpi_memory_alloc_kinds", "cuda", "mpi,system"},
        {"mpi_assert_memory_alloc_kinds", "system", "system"},
    };
    char value[64];
    long *base;
    int flag;
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        MPI_Info info;
        MPI_Win win;
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, given[i].key, given[i].value));
        OK(MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &base, &win));
        OK(MPI_Info_free(&info));
        OK(MPI_Win_get_info(win, &info));
        OK(MPI_Info_get(info, given[i].key, sizeof(value) - 1, value, &flag));
        CHECK(flag && !strcmp(value, given[i].then));
        OK(MPI_Info_free(&info));
        OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        if (!strcmp(given[i].key, "no_locks") && !strcmp(given[i].then, "true")) {
            FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
            FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
        }
        OK(MPI_Win_free(&win));
    }
}

/* Members that do not agree on alloc_shared_noncontig have one memory all the same. */
static void torn(void)
{
    MPI_Comm host;
    MPI_Info info;
    MPI_Win win;
    long *mine, *theirs;
    MPI_Aint bytes;
    int unit;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    int rank = check_rank(host), size = check_size(host);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", rank % 2 ? "true" : "false"));
    OK(MPI_Win_allocate_shared(16, 8, info, host, &mine, &win));
    mine[0] = mine[1] = rank + 1;
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < size; i++) {
        OK(MPI_Win_shared_query(win, i, &bytes, &unit, &theirs));
        CHECK(theirs[0] == i + 1 && theirs[1] == i + 1);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&host));
}

/* Memory that processes of one host load and store. */
static void shared(void)
{
    MPI_Comm host;
    MPI_Win win;
    long *mine, *theirs;
    MPI_Aint bytes;
    int unit;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    int rank = check_rank(host), size = check_size(host);
    OK(MPI_Win_allocate_shared(rank % 2 ? 0 : 16, 8, MPI_INFO_NULL, host, &mine, &win));
    OK(MPI_Win_lock_all(0, win));
    if (rank % 2 == 0)
        mine[0] = rank + 1;
    OK(MPI_Win_sync(win));
    OK(MPI_Barrier(host));
    OK(MPI_Win_sync(win));
    for (int i = 0; i < size; i++) {
        OK(MPI_Win_shared_query(win, i, &bytes, &unit, &theirs));
        CHECK(bytes == (i % 2 ? 0 : 16) && unit == 8);
        CHECK(i % 2 || theirs[0] == i + 1);
    }
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs));
    CHECK(bytes == 16 && theirs[0] == 1);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&host));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int size = check_size(MPI_COMM_WORLD);
    making();
    alignment();
    shared();
    hints();
    torn();
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, 64);
        OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
        objects(&w);
        epochs(&w);
        arguments(&w);
        ranges(&w, size - 1);
        handled_at_wait(&w, size - 1);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        deleted = 0;
        window_close(&w);
        CHECK(deleted == 1);
    }
    OK(MPI_Finalize());
    return 0;
}
