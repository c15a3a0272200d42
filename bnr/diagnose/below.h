/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reports of the jobs that this one has spawned. The program vireo asks the mpiexec of each, all at the same time. A spawned
 * job adds the reports of the jobs that it has spawned itself.
 */
#ifndef BNR_BELOW_H
#define BNR_BELOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum { BELOW_MAX = 16 }; /* jobs that are asked */

struct below {
    /* The mpiexecs of spawned jobs. Writes their process numbers to pids, unless that is NULL, and returns how many. */
    uint32_t (*list)(const void *arg, pid_t *pids);
    const void *arg;
    uv_loop_t *loop;
    void (*done)(void *arg); /* all have answered, or will not */
    void *done_arg;
    struct below_one {
        struct below *below;
        struct filter *filter; /* it is asked; NULL otherwise */
        pid_t pid;
        char *text; /* NULL: none has come */
    } one[BELOW_MAX];
    int count, open; /* open: are asked */
    uint32_t more;   /* jobs that are not */
};

/* Ask them. Where below_is_open() says so behind it, done will be called. */
void below_ask(struct below *b);
bool below_is_open(const struct below *b);
/* A report, and behind it theirs: to be freed. NULL: no memory. */
char *below_join(const struct below *b, const char *report);
/* Forget what has come, and ask no more. */
void below_stop(struct below *b);

#endif
