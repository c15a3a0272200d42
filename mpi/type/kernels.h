/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The result of committing a datatype: a small program of copy kernels.
 *
 * A part is some data at an offset: contiguous bytes, or a kernel. A kernel is one of
 *   LOOP      the same part count times, stride bytes apart
 *   LIST      count contiguous blocks
 *   SEQUENCE  count different parts
 * in the order of the packed bytes. Making one merges adjoining parts, so that data without gaps
 * are one part however they were described, and a nest of regular blocks is a nest of loops.
 * Every kernel knows its data bytes, and lists know the bytes before each entry: so copying can
 * start and stop at any byte after a walk down the tree.
 *
 * Kernels never change once made. They are counted, as those of a type are shared by the types
 * that are made of it.
 */
#ifndef MPI_KERNELS_H
#define MPI_KERNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct type;
struct kernel;

struct kernel_part {
    int64_t offset;
    int64_t size;          /* data bytes; 0: none at all */
    struct kernel *kernel; /* NULL: contiguous */
};

enum kernel_kind {
    KERNEL_LOOP,
    KERNEL_LIST,
    KERNEL_SEQUENCE
};

/* How a loop is run. */
enum kernel_form {
    FORM_ANY,    /* turn by turn */
    FORM_BLOCKS, /* the child is contiguous */
    FORM_GRID,   /* the child is a loop over contiguous data */
    FORM_COLUMNS /* the child is a short list of short blocks: array of struct */
};

struct kernel {
    _Atomic int32_t refs;
    uint8_t kind;       /* enum kernel_kind */
    uint8_t form;       /* loop: enum kernel_form */
    uint8_t size_class; /* copy_class() of the blocks, if all are equal */
    int64_t count;      /* turns or entries */
    int64_t stride;     /* loop */
    int64_t block;      /* list: bytes of each block; 0: not all equal */
    struct kernel_part child; /* loop */
    int64_t *starts;    /* sequence, list with unequal blocks: [count + 1] data bytes before */
    int64_t *offsets;   /* list: [count] */
    struct kernel_part *parts; /* sequence: [count] */
};

struct kernels {
    struct kernel_part root; /* one element */
    struct kernel every; /* a loop over elements; borrows from root */
    int64_t per;         /* turns of every that one element makes */
};

/* Set type->kernels, or type->dense if none are needed. The caller holds the lock of commits.
 * Returns 0 or MPI_ERR_NO_MEM. */
int kernels_build(struct type *type);
void kernels_destroy(struct kernels *kernels); /* accepts NULL */

/* Copy the data bytes [skip, skip + len) of elements at user to or from packed. */
void kernels_pack(const struct kernels *kernels, const void *user, size_t skip, void *packed,
                  size_t len);
void kernels_unpack(const struct kernels *kernels, void *user, size_t skip, const void *packed,
                    size_t len);

#endif
