/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory by who holds it: glibc's allocator, which counts for the one that is charged. What is freed counts
 * for who is charged then, so each block is to be freed for whom it was allocated.
 */
#include "test/sim/sim.h"

#include <malloc.h>
#include <stdlib.h>

static struct sim_heap *charged;

struct sim_heap *heap_charge(struct sim_heap *to)
{
    struct sim_heap *before = charged;
    charged = to;
    return before;
}

static void count(int64_t bytes)
{
    if (!charged)
        return;
    charged->bytes += bytes;
    if (charged->most < charged->bytes)
        charged->most = charged->bytes;
}

static int64_t len_of(void *block)
{
    return block ? (int64_t)malloc_usable_size(block) : 0;
}

/* glibc's own names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t items, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    count(len_of(block));
    return block;
}

void *calloc(size_t items, size_t size)
{
    void *block = __libc_calloc(items, size);
    count(len_of(block));
    return block;
}

void *realloc(void *old, size_t size)
{
    int64_t before = len_of(old);
    void *block = __libc_realloc(old, size);
    if (block || !size)
        count(len_of(block) - before);
    return block;
}

void free(void *block)
{
    count(-len_of(block));
    __libc_free(block);
}
