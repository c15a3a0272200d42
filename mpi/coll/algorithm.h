/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Algorithms of collectives, by name: what each needs, and how often each has run.
 * doc/collectives.md says how each works.
 */
#ifndef MPI_COLL_ALGORITHM_H
#define MPI_COLL_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/coll/coll.h"

/* What an algorithm needs of a call: what all processes of the call know alike. */
enum algorithm_needs {
    NEEDS_EQUAL = 1u << 0,       /* blocks of equal size */
    NEEDS_COMMUTATIVE = 1u << 1, /* the operation */
    NEEDS_POWER_OF_2 = 1u << 2,  /* the number of processes */
    NEEDS_EVEN = 1u << 3,        /* the number of processes */
    NEEDS_PEERS = 1u << 4,       /* more than one process */
    NEEDS_HOSTS = 1u << 5,       /* known ones, several */
    NEEDS_ORDER = 1u << 6,       /* commutative, or the ranks of each host follow each other */
    NEEDS_ROWS = 1u << 7         /* the ranks of each host follow each other */
};

#define A(kind, name, ...) ALGORITHM_##kind##_##name,
enum algorithm_id {
#include "mpi/coll/algorithms.inc"
    ALGORITHM_COUNT
};
#undef A

#define A(kind, name, word, needs, ...) ALGORITHM_NEEDS_##kind##_##name = needs,
enum {
#include "mpi/coll/algorithms.inc"
};
#undef A

struct algorithm {
    const char *name;
    coll_fn run;
    enum coll_kind kind;
    unsigned needs;
};

extern const struct algorithm algorithms[ALGORITHM_COUNT];

/* The name of a collective: "reduce_scatter". */
const char *algorithm_kind_name(enum coll_kind kind);
/* One by its name, of len bytes; ALGORITHM_COUNT: there is none. */
enum algorithm_id algorithm_find(enum coll_kind kind, const char *name, size_t len);
/* The properties of a call that algorithms need. */
unsigned algorithm_offers(const struct coll *c);

/* Count one run, for mpiexec --report. Any thread. */
void algorithm_count(enum algorithm_id id);
void algorithm_count_region(enum coll_kind kind);
/* Have the device tell them. Once. */
void algorithm_report(void);

#endif
