/* SPDX-License-Identifier: BSD-3-Clause */

/* The memory of a collective whose outcome is compared with that of a naive one. */
#ifndef TEST_MPI_BUFFERS_H
#define TEST_MPI_BUFFERS_H

#include <stdlib.h>

#include "check.h"

struct buffers {
    size_t bytes;
    char *in, *want, *got;
};

static inline void buffers_make(struct buffers *b, size_t bytes)
{
    *b = (struct buffers){bytes, malloc(bytes), malloc(bytes), malloc(bytes)};
    CHECK(b->in && b->want && b->got);
}

static inline void buffers_free(struct buffers *b)
{
    free(b->in);
    free(b->want);
    free(b->got);
}

/* What they hold before a call; start differs by call, rank and run. */
static inline void buffers_fill(const struct buffers *b, char *out, unsigned start)
{
    unsigned *in = (unsigned *)(void *)b->in, *to = (unsigned *)(void *)out;
    for (size_t i = 0; i < b->bytes / sizeof(*in); i++) {
        in[i] = start + (unsigned)i * 2246822519u;
        to[i] = in[i] * 3;
    }
}

#endif
