/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives over the members of a window; see win_meet.h. */
#include "mpi/win/win_meet.h"

#include <string.h>

#include "mpi/calls/coll_run.h"
#include "mpi/coll/coll.h"
#include "mpi/type/op.h"
#include "mpi/win/win.h"

int win_meet_barrier(struct win *win)
{
    struct coll c = {.kind = COLL_BARRIER};
    return win->size > 1 ? coll_run_over(win->comm, &c) : MPI_SUCCESS;
}

int win_meet_give(struct win *win, const void *mine, void *all, size_t size)
{
    bool words = size % sizeof(uint64_t) == 0; /* numbers, which members may have in other byte orders */
    MPI_Datatype type = words ? MPI_UINT64_T : MPI_BYTE;
    MPI_Count count = (MPI_Count)(words ? size / sizeof(uint64_t) : size);
    struct coll c = {.kind = COLL_ALLGATHER,
                     .send = {.buf = (void *)(uintptr_t)mine, .count = count, .type = type},
                     .recv = {.buf = all, .count = count, .type = type}};
    if (win->size > 1)
        return coll_run_over(win->comm, &c);
    memcpy(all, mine, size);
    return MPI_SUCCESS;
}

int win_meet_agree(struct comm *comm, int error)
{
    int worst = error;
    struct coll c = {.kind = COLL_ALLREDUCE,
                     .op = op_from(MPI_MAX),
                     .send = {.buf = &error, .count = 1, .type = MPI_INT},
                     .recv = {.buf = &worst, .count = 1, .type = MPI_INT}};
    int rc = comm->size > 1 ? coll_run_over(comm, &c) : MPI_SUCCESS;
    return rc ? rc : worst;
}
