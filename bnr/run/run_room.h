/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Room for a job that a rank spawns: slots of hosts, and processors of this host, that neither this job nor the
 * running ones that it has spawned use. If there is not enough, the new job shares all of them.
 */
#ifndef BNR_RUN_ROOM_H
#define BNR_RUN_ROOM_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;

/* What a job takes. */
struct run_room {
    uint32_t count; /* of processes */
    uint32_t *on;   /* of them, by host of this job's options; NULL: unknown */
    char *hosts;    /* what it may use, as option -host takes it; NULL: there is no list */
    bool has_cpus;  /* it is bound to those of this host that are free, ... */
    cpu_set_t cpus; /* ... these */
};

/* Find room for the job with these words, each with its 0; they may name hosts of their own. Returns 0 or -ENOMEM. */
int run_room_take(struct run *run, struct run_room *room, const uint8_t *words, size_t len);
/* The job has ended, or was not started. */
void run_room_leave(struct run *run, struct run_room *room);
/* No job has room any more. */
void run_room_stop(struct run *run);

#endif
