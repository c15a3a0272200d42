/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that a datatype describes, as stretches: pieces of one length at equal distances. */
#ifndef MPI_TYPE_STRETCH_H
#define MPI_TYPE_STRETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/type/type.h"

struct stretch {
    uint64_t at, len; /* of the first piece */
    uint64_t step;    /* from one piece to the next, len or more; not used where there is one */
    uint64_t count;
};

/* Behind its last byte. */
static inline uint64_t stretch_end(const struct stretch *s)
{
    return s->at + (s->count - 1) * s->step + s->len;
}

/* The stretches of count elements of a committed type at an address, most of them at most: those
 * behind that are left out. Returns their number. */
int type_stretches(const struct type *type, MPI_Count count, uint64_t at, struct stretch *to,
                   int most);
/* The first byte that both have: in *at, with how many bytes follow in the same two pieces. */
bool stretch_meets(const struct stretch *a, const struct stretch *b, uint64_t *at, uint64_t *len);
/* Whether all of inner is in outer, as far as one can see at once. */
bool stretch_covers(const struct stretch *outer, const struct stretch *inner);
/* Add what adjoins or repeats: returns whether to has grown to hold it, or held it before. */
bool stretch_grow(struct stretch *to, const struct stretch *more);

#endif
