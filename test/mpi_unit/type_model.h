/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Datatypes as MPI-5.0 5.1 defines them, without any cleverness: a list of basic elements and
 * where each lies. The reference that the real ones are tested against.
 */
#ifndef TYPE_MODEL_H
#define TYPE_MODEL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MODEL_MAX = 4000
}; /* most elements */

struct model_entry {
    int64_t at;
    int size, align;
    int external; /* bytes in external32; negative: a signed number */
};

struct model {
    int n;
    bool overflown; /* more than MODEL_MAX elements were added */
    bool marked;    /* lb and ub were set with resized */
    int64_t mark_lb, mark_ub;
    struct model_entry entry[MODEL_MAX];
};

/* Bounds, calculated from the list. */
struct model_bounds {
    int64_t size, lb, extent, true_lb, true_extent;
};
struct model_bounds model_bounds(const struct model *model);

/* Append len elements of from, the first at a displacement. */
void model_add(struct model *model, const struct model *from, int64_t len, int64_t at);

/* An array of which a part is taken: sizes, and for each dimension which indices are mine. */
struct model_grid {
    int ndims, order;
    int sizes[3];
    bool mine[3][12];
};
/* Append every element of the array that is mine, in the array's order. */
void model_add_grid(struct model *made, const struct model *old, const struct model_grid *grid);

/* Whether two basic elements of count elements of the type share a byte. */
bool model_overlaps(const struct model *model, int count);

/* First and last byte that count elements touch, relative to the buffer; last < first: none. */
void model_reach(const struct model *model, int count, int64_t *first, int64_t *last);

/* Copy count elements at user from or to packed. */
void model_copy(const struct model *model, int count, char *user, char *packed, bool unpack);

/* Turn each number of packed data around. */
void model_turn(const struct model *model, int count, char *packed);

/* Packed data to external32, which may be of other sizes. Returns its bytes. */
int64_t model_externalize(const struct model *model, int count, const char *packed, char *external);

/* Basic elements in a number of bytes, or MPI_UNDEFINED. */
MPI_Count model_elements(const struct model *model, int64_t bytes);

#endif
