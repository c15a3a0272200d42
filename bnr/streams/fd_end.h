/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A descriptor that a daemon serves as one end of a stream: its bytes go to the hub as far as that
 * grants, or the hub's bytes are written to it.
 *
 * The descriptor may be shared with another process, which keeps its mode, and neither a file nor a
 * terminal holds the loop up (fd_port.h). A terminal is read only while this process is in its
 * foreground.
 */
#ifndef BNR_FD_END_H
#define BNR_FD_END_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/stream/hub.h"

struct fd_end;

enum fd_end_kind {
    FD_END_WRITER,
    FD_END_READER, /* of one stream: closes with it */
    FD_END_READER_OF_MANY,
    /* Of a pipe or terminal that no other process shares: */
    FD_END_LINES, /* a writer, which says where lines are open */
    FD_END_FEED,  /* a reader of one stream */
};

struct fd_end_hooks {
    /* To the hub. */
    void (*say)(void *arg, const struct hub_message *m);
    /* The end has closed, and is gone when this returns. */
    void (*over)(void *arg, uint32_t id);
    void *arg;
};

/* Serve fd, which is taken over in any case. Returns 0 or -errno. */
int fd_end_create(struct fd_end **end, uv_loop_t *loop, uint32_t id, int fd, enum fd_end_kind kind,
                  const struct fd_end_hooks *hooks);

/* GRANT, FRAGMENT, SHUT or FLUSHED has come for it. */
void fd_end_hear(struct fd_end *end, const struct hub_message *m);

/* A writer: take the bytes readable now, and close. A reader: close at once. */
void fd_end_close(struct fd_end *end);
/* The process that owns the descriptor is gone. A writer is read to its end, which others may put
 * off for a while only, unless it is a file; a reader is broken. */
void fd_end_orphan(struct fd_end *end);

/* Flush with this number, once the bytes readable now have been sent. */
void fd_end_flush(struct fd_end *end, uint64_t number);

/* Close without a word to the hub. over() is not called. */
void fd_end_destroy(struct fd_end *end);

#endif
