/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The pipes of the ranks of this host, as ends of the hub's streams: a rank's output is a source
 * with the tag of its descriptor, its stdin is a sink with tag 0. mpiexec and each daemon have one.
 *
 * Each rank has a source for stdout and one for stderr, even without a pipe: that one ends at once.
 * So a reader of all knows how many ends will come.
 */
#ifndef BNR_PIPES_H
#define BNR_PIPES_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct hub_message;
struct pipe_end;

struct pipes {
    uv_loop_t *loop;
    void (*say)(void *arg, const struct hub_message *m); /* to the hub */
    void *arg;
    struct pipe_end *ends; /* by id: three of each rank */
    bool *is_attached;     /* by rank */
};

/* For a job of so many ranks. Returns 0 or -ENOMEM. */
int pipes_start(struct pipes *p, uv_loop_t *loop, uint32_t ranks,
                void (*say)(void *arg, const struct hub_message *m), void *arg);
/* Close all; the loop must run once more. */
void pipes_close(struct pipes *p);

/* Take over our ends of a rank's pipes, which are O_CLOEXEC: in_fd to write, out_fd and err_fd to read;
 * -1: none. They become non-blocking, and are closed here, also on failure. Returns 0 or -errno. */
int pipes_attach(struct pipes *p, int rank, int in_fd, int out_fd, int err_fd);
/* The rank was not started: it writes nothing. One that was attached is left alone. */
void pipes_skip(struct pipes *p, int rank);

/* The rank has ended: its pipes are read to their end; if others still hold them after 200 ms, the
 * bytes in them then are read. */
void pipes_rank_ended(struct pipes *p, int rank);

/* The reader of the ranks' fd has gone: they get SIGPIPE. */
void pipes_unread(struct pipes *p, int fd);

/* The hub says something to one of these ends. */
void pipes_hear(struct pipes *p, const struct hub_message *m);

#endif
