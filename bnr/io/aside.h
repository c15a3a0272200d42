/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls that may block, beside the loop: on files, whose server may be away, and on what cannot be told
 * not to wait. A thread makes each call, and the loop hears when it is done. There is one set of threads
 * for the process, which grows as calls block; where no thread can be started, the call blocks the loop.
 * All functions are for the loop's thread.
 */
#ifndef BNR_IO_ASIDE_H
#define BNR_IO_ASIDE_H

#include <uv.h>

struct aside_work {
    void (*run)(struct aside_work *work);  /* in a thread */
    void (*done)(struct aside_work *work); /* on the loop, later */
    struct aside_work *next;
};

/* Have the work done. It stays as it is until done() runs. Pending work does not keep the loop alive. */
void aside_start(uv_loop_t *loop, struct aside_work *work);

/* The loop is about to be closed, and must run once more. done() of work under way never runs. */
void aside_stop(void);

#endif
