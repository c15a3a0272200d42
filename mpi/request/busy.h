/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Buffers of the program that one-sided operations use until they are complete here, for
 * mpiexec --check: a call of MPI that writes to one of them, or reads one that is being written, ends
 * the job with both calls and lines.
 */
#ifndef MPI_BUSY_H
#define MPI_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/type/type_stretch.h"

enum { BUSY_STRETCHES = 64 }; /* of one buffer; the bytes behind them are not watched */

/* Elements of a committed type, and what the call does with them. */
struct busy_place {
    const void *buf; /* MPI_IN_PLACE: none */
    MPI_Count count;
    const struct type *type; /* not read where count is 0 */
    bool writes;
};

/* What a buffer is used for. */
struct busy_use {
    const void *window;
    int target;
    const void *request; /* NULL: it is complete by a call on the window alone */
};

/* The stretches of a place; returns their number. */
int busy_stretches(const struct busy_place *place, struct stretch *to);

/* The call at site is about to use a place: it may end the job. */
void busy_claim(const struct busy_place *place, const struct mpid_call_site *site);
/* An operation uses it from now on. */
void busy_add(const struct busy_place *place, const struct mpid_call_site *site,
              const struct busy_use *use);
/* Operations of a window at a target are complete here; target -1: at all. */
void busy_end(const void *window, int target);
/* Those of a request are. */
void busy_end_request(const void *request);

/* The call at site uses a place now, and is done with it in step (mpi/known.h): what busy_on_touch()
 * has set hears of that. */
void busy_touch(const struct busy_place *place, const struct mpid_call_site *site, uint32_t step);
void busy_on_touch(void (*heard)(const struct busy_place *place, const struct mpid_call_site *site,
                                 uint32_t step));

#endif
