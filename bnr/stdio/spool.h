/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files of ranks' output that mpiexec itself writes: those of ranks on other hosts, and copies. The
 * bytes wait in memory until a thread has appended them (bnr/io/aside.h), so a file whose server is
 * away, or a named pipe that nobody reads, holds up its own ranks alone. Bytes for one file stay in
 * their order, whichever ranks and streams they are of.
 */
#ifndef BNR_STDIO_SPOOL_H
#define BNR_STDIO_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "bnr/stdio/outfile.h"

struct spool;

struct spool_hooks {
    /* All that was put for this stream, fd 1 or 2 of a rank, is written, or lost. */
    void (*written)(void *arg, int rank, int fd);
    /* The file of this stream, and perhaps of others, cannot be written: its bytes are dropped.
     * Runs once for a file, before written(). */
    void (*failed)(void *arg, int rank, int fd, int rc);
    void *arg;
};

/* Files as they are named there. Returns 0 or -ENOMEM. */
int spool_create(struct spool **s, uv_loop_t *loop, const struct outfile *files,
                 const struct spool_hooks *hooks);
/* A thread may still write; waiting bytes are dropped. Accepts NULL. */
void spool_destroy(struct spool *s);

/* Append bytes to the file of this stream. written() follows. Returns 0 or -errno: they are lost. */
int spool_put(struct spool *s, int rank, int fd, const void *data, size_t len);

/* Whether bytes of this stream wait; accepts NULL. */
bool spool_has(const struct spool *s, int rank, int fd);
/* Whether none of any wait; accepts NULL. */
bool spool_is_idle(const struct spool *s);

#endif
