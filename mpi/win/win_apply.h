/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Accumulates: elements of a predefined type changed in place, each of them atomically towards all
 * other accumulates, whoever carries them out (MPI-5.0 12.7.1).
 *
 * Whole numbers at addresses that are multiples of their size are changed by the processor's atomic
 * instructions; all other elements under the lock word of the window's queue at that process. What
 * decides is the element and its address alone, so that two accumulates of one place always use the
 * same means. Where a lock of the window keeps all others away, neither is needed.
 */
#ifndef MPI_WIN_APPLY_H
#define MPI_WIN_APPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/type/op.h"
#include "mpi/type/type.h"

struct win_queue;

struct win_elements {
    const struct type *type; /* predefined */
    const struct op *op;     /* predefined: also MPI_REPLACE, MPI_NO_OP */
    struct win_queue *queue; /* of the process that has the memory */
    bool alone;              /* an exclusive lock of the target is held, by the only thread */
};

/* The predefined type that all elements of a type are of; NULL: they differ, or there are none. */
const struct type *win_basic_type(const struct type *type);

/* Whether the operation applies to elements of the type, with operands for all of them, or for none. */
bool win_may_apply(const struct win_elements *how, bool has_all, bool has_none);
/* at[i] = at[i] op from[i] for count elements, with the values before that in was unless NULL. Each
 * array has its elements one extent of the type apart; at may lie anywhere. */
void win_apply(const struct win_elements *how, void *at, const void *from, void *was, size_t count);
/* The element at becomes new where it equals compare; its value before that goes to was. */
void win_compare(const struct win_elements *how, void *at, const void *compare, const void *new,
                 void *was);

/*
 * The same for elements that lie in runs of memory, which come one after the other, and whose
 * operands, and results where out is not NULL, are packed. in may be NULL for MPI_NO_OP.
 */
struct win_spread {
    struct win_elements how;
    const char *in;
    char *out;
    size_t rest; /* bytes of an element that an earlier run began */
};
void win_spread(struct win_spread *spread, void *at, size_t len);

#endif
