/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mpiexec's stdin on its way to the targets. A thread of its own reads descriptor 0, only
 * as much as is asked for, into a ring that the loop feeds to each target's pipe; the
 * slowest target bounds what is asked for.
 */
#ifndef BNR_STDIO_INPUT_H
#define BNR_STDIO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct input;

struct input_hooks {
    void (*taken)(void *arg, int rank);   /* all of input_put() is written */
    void (*dropped)(void *arg, int rank); /* the rank gets no more */
    void *arg;
};

/* Make the input for targets pipes at most. Returns 0 or -errno. */
int input_create(struct input **in, uv_loop_t *loop, int targets,
                 const struct input_hooks *hooks);

/* Feed fd (the write end of rank's stdin), which passes to the input. Returns 0 or -errno. */
int input_attach(struct input *in, int rank, int fd);
/* Write bytes that are not mpiexec's stdin to rank, behind what it has of that by now. Returns whether
 * it is a target. */
bool input_put(struct input *in, int rank, const void *data, size_t len);

/* Every target is attached: begin to read. Returns 0 or -errno. */
int input_start(struct input *in);
/* The rank is gone: drop its target. */
void input_drop(struct input *in, int rank);

/* End the thread and release in once its handles are closed. Accepts NULL. */
void input_destroy(struct input *in);

#endif
