/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The innermost copy loops, specialised by block size. All copy between user memory in the given
 * layout and packed bytes without gaps; unpack gives the direction.
 */
#ifndef MPI_KERNELS_COPY_H
#define MPI_KERNELS_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* outer * inner blocks of block bytes. */
struct copy_grid {
    int64_t outer, outer_stride;
    int64_t inner, inner_stride;
    int64_t block;
};

enum {
    COPY_COLUMNS_MAX = 16, /* most blocks of a struct that copy_columns takes */
    COPY_STRUCT_MAX = 64   /* and most bytes */
};

/* The class of a block size, chosen once. */
uint8_t copy_class(int64_t block);

void copy_grid(uint8_t size_class, const struct copy_grid *grid, char *user, char *packed,
               bool unpack);

/* Blocks of equal size. */
void copy_list(uint8_t size_class, int64_t block, const int64_t *offsets, int64_t count, char *user,
               char *packed, bool unpack);
/* Blocks of unequal size: starts[i + 1] - starts[i]. */
void copy_uneven_list(const int64_t *starts, const int64_t *offsets, int64_t count, char *user,
                      char *packed, bool unpack);

/* An array of structs: turns times the blocks of a list, stride apart. */
struct copy_columns {
    int64_t turns, stride;
    int64_t size;  /* packed bytes of one struct */
    int64_t block; /* of each block; 0: see starts */
    const int64_t *starts, *offsets;
    int64_t count;
};
void copy_columns(const struct copy_columns *columns, char *user, char *packed, bool unpack);

#endif
