/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mpiexec's stdin on its way to the targets. A thread of its own reads descriptor 0, only
 * as much as is asked for, into a ring that the loop feeds to each target's pipe; the
 * slowest target bounds what is asked for.
 */
#ifndef BNR_STDIO_INPUT_H
#define BNR_STDIO_INPUT_H

#include <uv.h>

struct input;

/* Make the input for targets pipes at most. Returns 0 or -errno. */
int input_create(struct input **in, uv_loop_t *loop, int targets);

/* Feed fd (the write end of rank's stdin), which passes to the input. Returns 0 or -errno. */
int input_attach(struct input *in, int rank, int fd);
/* Every target is attached: begin to read. Returns 0 or -errno. */
int input_start(struct input *in);
/* The rank is gone: drop its target. */
void input_drop(struct input *in, int rank);

/* End the thread and release in once its handles are closed. Accepts NULL. */
void input_destroy(struct input *in);

#endif
