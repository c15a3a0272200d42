/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where the ranks of this host run: what the options ask for, worked out by core/place/placement.h on
 * the processors of launch/hardware.h. Nothing is read where nothing is asked.
 */
#ifndef BNR_PLACE_H
#define BNR_PLACE_H

#include <stddef.h>
#include <stdio.h>

#include "bnr/core/place/placement.h"
#include "bnr/launch/hardware.h"
#include "bnr/launch/launch.h"

struct hosts;
struct start_wish;

/* The request of a placement, without its hosts and ranks, where processors are known. */
struct placement_request place_request(const struct start_wish *wish);

/* The ranks of this host. */
struct place_job {
    const struct start_wish *wish;
    const char *host;          /* its name in the job, as mpiexec has told; NULL: its own */
    const struct hosts *hosts; /* that options name; NULL: none */
    uint32_t ranks;            /* here */
    const uint32_t *number_of; /* in the job; NULL: they are all of it */
};

struct place {
    struct hardware hardware;
    struct placement placement; /* of these ranks; none unless asked for */
    unsigned char *sets;        /* a cpu_set_t of set_len bytes for each */
    size_t set_len;
    unsigned long nodes[16]; /* of memory */
};

/* Work it out. Returns 0, or -errno with a sentence in why; *p can be given to place_fini(). */
int place_make(struct place *p, const struct place_job *job, char why[512]);

/* The processors and memory that a rank, by its number on this host, is bound to. */
struct launch_binding place_of(const struct place *p, const struct start_wish *wish,
                               int local_rank);

/* Write the processors that this rank may use, as 0-3,7: those that it is bound to, or all that
 * this process may use; and who has set them, if anybody. Nothing if unknown. */
void place_list(const struct place *p, int local_rank, char *text, size_t size);

/* A rank, as people are told of it. */
struct place_line {
    uint32_t number; /* of the rank in the job */
    const char *host;
    const struct placement_machine *machine; /* NULL: it is not known */
    const struct placement_rank *rank;
};
/* Write the rank's place. */
void place_show_rank(const struct place_line *line, FILE *to);

/* Write what the options ask to see. */
void place_show(const struct place *p, const struct place_job *job, FILE *to);

void place_fini(struct place *p);

#endif
