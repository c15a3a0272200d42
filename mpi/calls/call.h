/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A call of a collective as its user has made it. The blocking, nonblocking and persistent
 * forms share it until an algorithm is chosen. A body in mpi/api/ fills it in, has it checked, and
 * runs or starts it.
 */
#ifndef MPI_COLL_CALL_H
#define MPI_COLL_CALL_H

#include <mpi.h>

#include "mpi/coll/coll.h"

struct sched_misfit;

struct coll_call {
    struct coll c; /* all but comm and op */
    MPI_Comm handle;
    MPI_Op op; /* only looked at in reductions and scans */
    const char *function;
};

/* Check the arguments; set comm and op. Returns MPI_SUCCESS, or the code of what it has reported.
 */
int coll_call_check(struct coll_call *call);
/* Tell that a collective has failed; misfit: of its schedule, or NULL. Returns the code. */
int coll_call_raise(struct comm *comm, int error_class, const char *function,
                    const struct sched_misfit *misfit);
/* Check it, and run it: the blocking form. Returns as coll_call_check() does. */
int coll_call_run(struct coll_call *call);

/* ---- for the bodies in mpi/api/, one for all forms of a collective ---- */

/* No data; even blocks, or one; blocks whose counts are in arrays; and their types too. */
static inline struct coll_data coll_no_data(void)
{
    return (struct coll_data){0};
}

static inline struct coll_data coll_data_of(const void *buf, MPI_Count count, MPI_Datatype type)
{
    return (struct coll_data){.buf = (void *)(uintptr_t)buf, .count = count, .type = type};
}

static inline struct coll_data coll_arrays_of(const void *buf, const MPI_Count *counts,
                                              const MPI_Aint *displs, MPI_Datatype type)
{
    return (struct coll_data){
        .buf = (void *)(uintptr_t)buf, .counts = counts, .displs = displs, .type = type};
}

static inline struct coll_data coll_typed_of(const void *buf, const MPI_Count *counts,
                                             const MPI_Aint *displs, const MPI_Datatype *types)
{
    struct coll_data data = coll_arrays_of(buf, counts, displs, MPI_DATATYPE_NULL);
    data.types = types;
    return data;
}

/* Added to a kind: counts come in arrays. */
enum { COLL_UNEVEN = 1 << 8 };

/* A call over comm; what: enum coll_kind, maybe with COLL_UNEVEN; behind the data the root and the
 * operation, if any. A macro, so that nothing is copied. */
#define COLL_CALL(what, from, to, ...)                                                             \
    {                                                                                              \
        .c = {.kind = (what) & ~COLL_UNEVEN, .uneven = (what) & COLL_UNEVEN, .send = from,         \
              .recv = to},                                                                         \
        .handle = comm, .function = __func__, __VA_ARGS__                                          \
    }

#endif
