/* SPDX-License-Identifier: BSD-3-Clause */

/* Windows of every kind over the same long numbers, so that a test runs on each. */
#ifndef TEST_MPI_WINDOWS_H
#define TEST_MPI_WINDOWS_H

#include <stdlib.h>
#include <string.h>

#include "../check.h"

enum window_kind {
    WINDOW_ALLOCATE,
    WINDOW_CREATE, /* over memory of malloc() */
    WINDOW_ALLOC,  /* over memory of MPI_Alloc_mem */
    WINDOW_DYNAMIC,
    WINDOW_KINDS
};

struct window {
    enum window_kind kind;
    MPI_Win win;
    long *mine;     /* [count], 0 at first */
    MPI_Aint *base; /* [size] what displacements begin with */
    int count;
};

/* The displacement of a number at a rank. */
static inline MPI_Aint window_at(const struct window *w, int rank, int i)
{
    return w->kind == WINDOW_DYNAMIC ? MPI_Aint_add(w->base[rank], i * (MPI_Aint)sizeof(long)) : i;
}

static inline struct window window_open_with(MPI_Comm comm, enum window_kind kind, int count,
                                             MPI_Info hints)
{
    struct window w = {.kind = kind, .count = count};
    MPI_Aint bytes = count * (MPI_Aint)sizeof(long), address = 0;
    int size = check_size(comm);
    w.base = calloc((size_t)size, sizeof(*w.base));
    CHECK(w.base);
    if (kind == WINDOW_ALLOCATE) {
        OK(MPI_Win_allocate(bytes, sizeof(long), hints, comm, &w.mine, &w.win));
        return w;
    }
    if (kind == WINDOW_ALLOC)
        OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &w.mine));
    else
        w.mine = malloc((size_t)bytes);
    CHECK(w.mine);
    memset(w.mine, 0, (size_t)bytes);
    if (kind != WINDOW_DYNAMIC) {
        OK(MPI_Win_create(w.mine, bytes, sizeof(long), hints, comm, &w.win));
        return w;
    }
    OK(MPI_Win_create_dynamic(hints, comm, &w.win));
    OK(MPI_Win_attach(w.win, w.mine, bytes));
    OK(MPI_Get_address(w.mine, &address));
    OK(MPI_Allgather(&address, 1, MPI_AINT, w.base, 1, MPI_AINT, comm));
    return w;
}

static inline struct window window_open(MPI_Comm comm, enum window_kind kind, int count)
{
    return window_open_with(comm, kind, count, MPI_INFO_NULL);
}

static inline void window_close(struct window *w)
{
    if (w->kind == WINDOW_DYNAMIC)
        OK(MPI_Win_detach(w->win, w->mine));
    OK(MPI_Win_free(&w->win));
    CHECK(w->win == MPI_WIN_NULL);
    if (w->kind == WINDOW_ALLOC)
        OK(MPI_Free_mem(w->mine));
    else if (w->kind != WINDOW_ALLOCATE)
        free(w->mine);
    free(w->base);
}

#endif
