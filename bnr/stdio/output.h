/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One output of mpiexec: a descriptor of its own, the line assembler before it, and the
 * bytes that wait. One write is under way at a time, in the writer's thread (writer.h);
 * bytes that come meanwhile are written next, in one piece.
 */
#ifndef BNR_STDIO_OUTPUT_H
#define BNR_STDIO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct output;
struct lines_labels;

/* Make an output to fd for sources with these labels (lines.h). moved(arg) runs on
 * the loop after each write. Returns 0 or -errno. */
int output_create(struct output **o, uv_loop_t *loop, int fd, int sources, const int *label_of,
                  void (*moved)(void *arg), void *arg);

/* Have lines begin as these labels say; they must stay as long as o. */
void output_set_labels(struct output *o, const struct lines_labels *labels);

/* Its descriptor is a terminal that does not return at a newline, if it is one. */
void output_set_returns(struct output *o, bool is_on);

/* Take bytes of a source. They are dropped once the output is broken. */
void output_put(struct output *o, int source, const char *data, size_t len);
/* When what the source brings next was read (lines_stamp()). */
void output_stamp(struct output *o, int source, uint64_t read_ns);
/* Whether the rest of its unfinished line is on its way (lines_expect()). */
void output_expect(struct output *o, int source, bool is_coming);
/* The source brings no more. */
void output_end(struct output *o, int source);

/* So much waits that no more should be brought until moved(). Unfinished lines of who
 * asks and is told so do not come out before their source was asked again. */
bool output_is_full(struct output *o);
/* Nothing waits and no write is under way. */
bool output_is_idle(const struct output *o);
/* 0, or what the first failed write said (-errno, never -EPIPE). */
int output_error(const struct output *o);

/* Its reader has gone: bytes are dropped. */
bool output_is_unread(const struct output *o);

/* As output_put(), but written before it returns, which may block. Only while the
 * output is idle. */
void output_say(struct output *o, int source, const char *data, size_t len);

/* Release o once its write and its timer are done. Accepts NULL. */
void output_destroy(struct output *o);

#endif
