/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A descriptor that the loop reads, or writes, without ever waiting for it.
 *
 * One that is this process's alone becomes non-blocking. The mode of one that others share stays as it
 * is: a pipe or a terminal is opened anew if that is allowed, a socket is told for each call not to
 * wait, and so is any other if the kernel can. A thread reads and writes the rest, above all files
 * (aside.h).
 */
#ifndef BNR_IO_FD_PORT_H
#define BNR_IO_FD_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum {
    FD_PORT_MAX = 1 << 16 /* bytes of a call */
};

struct fd_port;

struct fd_port_spec {
    int fd;        /* taken over, also on failure */
    bool writes;   /* it is written; otherwise read */
    bool is_own;   /* no other process has it */
    void (*ready)(void *arg); /* it may be worth a try */
    void *arg;
};

/* Returns 0 or -errno. */
int fd_port_open(struct fd_port **port, uv_loop_t *loop, const struct fd_port_spec *spec);
/* Accepts NULL. ready() runs no more. An operation that a thread has begun is still carried out. */
void fd_port_close(struct fd_port *port);

/* Whether ready() is to be called. */
void fd_port_want(struct fd_port *port, bool is_wanted);

/* Returns how many bytes, 0 at the end, -EAGAIN if there are none now, -EINPROGRESS while a thread
 * is at it: then the same call again, after ready(), brings the result; or -errno. */
ssize_t fd_port_read(struct fd_port *port, void *at, size_t len);
ssize_t fd_port_write(struct fd_port *port, const void *at, size_t len);

/* A thread is at it. */
bool fd_port_is_busy(const struct fd_port *port);
/* Bytes that can be read now. Not while it is busy. */
uint64_t fd_port_readable(const struct fd_port *port);

/* It is always ready. is_regular: and has an end. */
bool fd_port_is_file(const struct fd_port *port);
bool fd_port_is_regular(const struct fd_port *port);
/* It is the terminal of this process, which is not in its foreground. */
bool fd_port_is_in_background(const struct fd_port *port);

int fd_port_fd(const struct fd_port *port);

#endif
