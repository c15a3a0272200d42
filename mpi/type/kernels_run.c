/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Run kernels: whole ones by the innermost copy loops, and the first and last, which may be cut
 * anywhere, by a walk down the tree.
 *
 * User addresses are sums modulo 2^64, since a place may start at MPI_BOTTOM or have its data
 * before its address.
 */

#include "mpi/type/kernels.h"

#include <string.h>

#include "mpi/type/kernels_copy.h"

static char *moved(char *at, int64_t by)
{
    return (char *)((uintptr_t)at + (uintptr_t)by);
}

static void copy_bytes(char *user, char *packed, int64_t len, bool unpack)
{
    if (unpack)
        memcpy(user, packed, (size_t)len);
    else
        memcpy(packed, user, (size_t)len);
}

/* ---- whole ---- */

static void run_part(const struct kernel_part *part, char *user, char *packed, bool unpack);

static void run_grid(const struct kernel *loop, int64_t turns, char *user, char *packed,
                     bool unpack)
{
    const struct kernel_part *inner = &loop->child;
    struct copy_grid grid = {
        .outer = 1, .inner = turns, .inner_stride = loop->stride, .block = inner->size};

    if (loop->form == FORM_GRID) {
        const struct kernel *rows = inner->kernel;
        grid = (struct copy_grid){turns, loop->stride, rows->count, rows->stride, rows->child.size};
        user = moved(user, rows->child.offset);
    }
    copy_grid(loop->size_class, &grid, moved(user, inner->offset), packed, unpack);
}

static void run_columns(const struct kernel *loop, int64_t turns, char *user, char *packed,
                        bool unpack)
{
    const struct kernel *list = loop->child.kernel;
    const struct copy_columns columns = {.turns = turns,
                                         .stride = loop->stride,
                                         .size = loop->child.size,
                                         .block = list->block,
                                         .starts = list->starts,
                                         .offsets = list->offsets,
                                         .count = list->count};

    copy_columns(&columns, moved(user, loop->child.offset), packed, unpack);
}

/* Turns of a loop from its first on; the loop's own count of turns is not used. */
static void run_turns(const struct kernel *loop, int64_t turns, char *user, char *packed,
                      bool unpack)
{
    enum {
        FEW = 4
    }; /* too few turns for columns to pay */
    bool columns = loop->form == FORM_COLUMNS && turns > FEW;

    if (loop->form == FORM_BLOCKS || loop->form == FORM_GRID) {
        run_grid(loop, turns, user, packed, unpack);
    } else if (columns) {
        run_columns(loop, turns, user, packed, unpack);
    } else {
        for (int64_t i = 0; i < turns; i++) {
            run_part(&loop->child, user, packed, unpack);
            user = moved(user, loop->stride);
            packed += loop->child.size;
        }
    }
}

/* Entries [first, last) of a list. */
static void run_list(const struct kernel *list, int64_t first, int64_t last, char *user,
                     char *packed, bool unpack)
{
    if (list->block)
        copy_list(list->size_class, list->block, list->offsets + first, last - first, user, packed,
                  unpack);
    else
        copy_uneven_list(list->starts + first, list->offsets + first, last - first, user, packed,
                         unpack);
}

static void run_part(const struct kernel_part *part, char *user, char *packed, bool unpack)
{
    const struct kernel *kernel = part->kernel;

    user = moved(user, part->offset);
    if (!kernel) {
        copy_bytes(user, packed, part->size, unpack);
    } else if (kernel->kind == KERNEL_LOOP) {
        run_turns(kernel, kernel->count, user, packed, unpack);
    } else if (kernel->kind == KERNEL_LIST) {
        run_list(kernel, 0, kernel->count, user, packed, unpack);
    } else {
        for (int64_t i = 0; i < kernel->count; i++)
            run_part(&kernel->parts[i], user, packed + kernel->starts[i], unpack);
    }
}

/* ---- from any byte to any byte ---- */

/* The data bytes [skip, skip + len). */
struct range {
    int64_t skip, len;
};

static void cut_part(const struct kernel_part *part, struct range range, char *user, char *packed,
                     bool unpack);

static void cut_turns(const struct kernel *loop, struct range range, char *user, char *packed,
                      bool unpack)
{
    const struct kernel_part *child = &loop->child;
    int64_t turn = range.skip / child->size, skip = range.skip - turn * child->size;
    int64_t left = range.len;

    user = moved(user, turn * loop->stride);
    if (skip) {
        int64_t len = left < child->size - skip ? left : child->size - skip;
        cut_part(child, (struct range){skip, len}, user, packed, unpack);
        user = moved(user, loop->stride);
        packed += len;
        left -= len;
    }
    int64_t turns = left / child->size;
    if (turns) {
        run_turns(loop, turns, user, packed, unpack);
        user = moved(user, turns * loop->stride);
        packed += turns * child->size;
        left -= turns * child->size;
    }
    if (left)
        cut_part(child, (struct range){0, left}, user, packed, unpack);
}

static int64_t start_of(const struct kernel *kernel, int64_t i)
{
    return kernel->starts ? kernel->starts[i] : i * kernel->block;
}

/* The entry of a list or sequence that holds a byte. */
static int64_t entry_at(const struct kernel *kernel, int64_t byte)
{
    int64_t low = 0, high = kernel->count - 1;

    if (!kernel->starts)
        return byte / kernel->block;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (kernel->starts[middle] <= byte)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static struct kernel_part entry_of(const struct kernel *kernel, int64_t i)
{
    if (kernel->kind == KERNEL_SEQUENCE)
        return kernel->parts[i];
    return (struct kernel_part){kernel->offsets[i], start_of(kernel, i + 1) - start_of(kernel, i),
                                NULL};
}

static void cut_entry(const struct kernel *kernel, int64_t i, struct range range, char *user,
                      char *packed, bool unpack)
{
    const struct kernel_part entry = entry_of(kernel, i);

    cut_part(&entry, range, user, packed, unpack);
}

static void cut_entries(const struct kernel *kernel, struct range range, char *user, char *packed,
                        bool unpack)
{
    int64_t end = range.skip + range.len;
    int64_t first = entry_at(kernel, range.skip), last = entry_at(kernel, end - 1);

    if (first == last) {
        range.skip -= start_of(kernel, first);
        cut_entry(kernel, first, range, user, packed, unpack);
        return;
    }
    int64_t head = start_of(kernel, first + 1) - range.skip;
    cut_entry(kernel, first, (struct range){range.skip - start_of(kernel, first), head}, user,
              packed, unpack);
    packed += head;
    if (kernel->kind == KERNEL_LIST && first + 1 < last)
        run_list(kernel, first + 1, last, user, packed, unpack);
    for (int64_t i = first + 1; kernel->kind == KERNEL_SEQUENCE && i < last; i++)
        run_part(&kernel->parts[i], user, packed + kernel->starts[i] - kernel->starts[first + 1],
                 unpack);
    packed += start_of(kernel, last) - start_of(kernel, first + 1);
    cut_entry(kernel, last, (struct range){0, end - start_of(kernel, last)}, user, packed, unpack);
}

static void cut_part(const struct kernel_part *part, struct range range, char *user, char *packed,
                     bool unpack)
{
    if (range.len == part->size) {
        run_part(part, user, packed, unpack);
        return;
    }
    user = moved(user, part->offset);
    if (!part->kernel)
        copy_bytes(moved(user, range.skip), packed, range.len, unpack);
    else if (part->kernel->kind == KERNEL_LOOP)
        cut_turns(part->kernel, range, user, packed, unpack);
    else
        cut_entries(part->kernel, range, user, packed, unpack);
}

void kernels_pack(const struct kernels *kernels, const void *user, size_t skip, void *packed,
                  size_t len)
{
    const struct range range = {(int64_t)skip, (int64_t)len};

    if (len)
        cut_turns(&kernels->every, range, (char *)(uintptr_t)user, packed, false);
}

void kernels_unpack(const struct kernels *kernels, void *user, size_t skip, const void *packed,
                    size_t len)
{
    const struct range range = {(int64_t)skip, (int64_t)len};

    if (len)
        cut_turns(&kernels->every, range, user, (char *)(uintptr_t)packed, true);
}
