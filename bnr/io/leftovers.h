/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Process groups that outlive the first process of their rank: a filter that a script has started,
 * as in exec > >(tee log), still has output of the rank in its pipe.
 *
 * A group may live on while one of its processes holds the rank's stdout or stderr, for a limited
 * time. Where a signal has asked the rank to end, the group has as long as whoever sent the signal
 * gives. Afterwards the group is killed, and the rank is over. A zombie keeps no group.
 */
#ifndef BNR_IO_LEFTOVERS_H
#define BNR_IO_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

struct leftovers_group;

struct leftovers {
    struct leftovers_group *groups; /* by rank */
    int ranks, count;
    uv_timer_t timer;
    bool is_watching;
    uint64_t hold_ns, pause_ms;
    void (*over)(void *arg, int rank, int status);
    void *arg;
};

/* For so many ranks. over(arg, rank, status) runs when the group of a rank is gone or killed; status
 * is that of the rank's process. Returns 0 or -ENOMEM. */
int leftovers_init(struct leftovers *l, int ranks, void (*over)(void *arg, int rank, int status),
                   void *arg);
void leftovers_fini(struct leftovers *l);

/* Look after groups by this loop's timer from now on, and give those that hold output so long.
 * Without that, they are killed at once. */
void leftovers_watch(struct leftovers *l, uv_loop_t *loop, uint64_t hold_ms);
/* The loop must run once more. */
void leftovers_unwatch(struct leftovers *l);

/* The rank starts with descriptor fd as its stdout (i 0) or stderr (i 1). */
void leftovers_note_output(struct leftovers *l, int rank, int i, int fd);

/* The rank's process was reaped, and others of its group are there. is_in_grace: a signal has asked
 * them to end. over() may run before this returns. */
void leftovers_add(struct leftovers *l, int rank, pid_t pid, int status, bool is_in_grace);
bool leftovers_has(const struct leftovers *l, int rank);
/* Children have been reaped: groups may have become empty. */
void leftovers_look(struct leftovers *l);

#endif
