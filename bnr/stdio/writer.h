/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Writing to a descriptor that may block, beside the loop: a thread of the writer's own does it. The
 * thread starts with the first write; where no thread can be started, writes block the loop, and
 * nothing is lost. All functions are for the loop's thread.
 */
#ifndef BNR_STDIO_WRITER_H
#define BNR_STDIO_WRITER_H

#include <stddef.h>
#include <uv.h>

struct writer;

/* Make a writer to fd. written(arg, rc) runs on the loop when a write is done; rc is 0 or -errno.
 * Returns 0 or -errno. */
int writer_create(struct writer **w, uv_loop_t *loop, int fd, void (*written)(void *arg, int rc),
                  void *arg);

/* Write all of data, which stays as it is until written() runs. One write at a time. */
void writer_start(struct writer *w, const char *data, size_t len);

/* Write all of data now, which may block. Only while no write is under way. Returns 0 or -errno. */
int writer_write_now(struct writer *w, const char *data, size_t len);

/* End a writer that writes nothing; the loop releases it. Accepts NULL. */
void writer_destroy(struct writer *w);

#endif
