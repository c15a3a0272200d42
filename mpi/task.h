/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tasks: nonblocking operations that take several messages one after the other. A task goes on
 * whenever some thread is in a call that makes progress, be it for another request. It is
 * advanced by one thread at a time, in which no lock is held.
 */
#ifndef MPI_TASK_H
#define MPI_TASK_H

#include <stdbool.h>

struct task {
    struct task *next; /* task.c's */
    /* Go on as far as possible without waiting. Returns whether the task is at its end: then it
     * is not touched again, and may have freed itself. */
    bool (*advance)(struct task *task);
};

/* Begin: advance it now, and, where that was not all, in the background. */
void task_start(struct task *task);

#endif
