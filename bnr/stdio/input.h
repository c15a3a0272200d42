/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mpiexec's stdin: a writer of the hub, to the stdin of each target. It is read as far as the hub
 * grants: the slowest target bounds that. forward.h has the rules.
 */
#ifndef BNR_STDIO_INPUT_H
#define BNR_STDIO_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/stream/hub.h"

struct fd_end;

struct input {
    struct fd_end *end; /* NULL: not begun, or over */
    void (*say)(void *arg, const struct hub_message *m);
    void *arg;
    void (*torn)(void *owner); /* it could not be read to its end */
    void *owner;
};

/* Begin to read for those of so many ranks whom a list names (amend_lists()). Returns 0 or
 * -errno. */
int input_start(struct input *in, uv_loop_t *loop, const char *list, int ranks, uint32_t id);
void input_hear(struct input *in, const struct hub_message *m);
/* The loop must run once more. */
void input_stop(struct input *in);

#endif
