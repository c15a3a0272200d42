/* SPDX-License-Identifier: BSD-3-Clause */

/* Exchanges over a socket; see pipe.h. Each begins with four bytes, the length that follows. */
#include "mpi/comm/pipe.h"

#include <errno.h>
#include <mpi.h>
#include <sys/socket.h>

#include "include/mpid.h"
#include "os/be.h"

enum { HEAD = 4 };

struct trade {
    int fd;
    uint8_t out_head[HEAD], in_head[HEAD];
    const uint8_t *out;
    uint8_t *in;
    size_t out_len, in_len, sent, got;
    int rc;
};

/* Move what can be moved now of bytes [at, HEAD + len). Returns whether something was. */
static bool send_some(struct trade *t)
{
    bool in_head = t->sent < HEAD;
    const uint8_t *from = in_head ? t->out_head + t->sent : t->out + (t->sent - HEAD);
    size_t len = in_head ? HEAD - t->sent : t->out_len + HEAD - t->sent;
    ssize_t n = len ? send(t->fd, from, len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        t->rc = MPI_ERR_PROC_ABORTED;
    if (n > 0)
        t->sent += (size_t)n;
    return n > 0;
}

static bool receive_some(struct trade *t)
{
    bool in_head = t->got < HEAD;
    uint8_t *to = in_head ? t->in_head + t->got : t->in + (t->got - HEAD);
    size_t len = in_head ? HEAD - t->got : t->in_len + HEAD - t->got;
    ssize_t n = len ? recv(t->fd, to, len, MSG_DONTWAIT) : 0;
    if (len && (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)))
        t->rc = MPI_ERR_PROC_ABORTED;
    if (n > 0)
        t->got += (size_t)n;
    if (t->got == HEAD && in_head && os_be32_get(t->in_head) != t->in_len)
        t->rc = MPI_ERR_INTERN;
    return n > 0;
}

static bool is_traded(void *arg)
{
    struct trade *t = arg;
    while (!t->rc && send_some(t))
        ;
    while (!t->rc && receive_some(t))
        ;
    return t->rc || (t->sent == HEAD + t->out_len && t->got == HEAD + t->in_len);
}

int pipe_exchange(int fd, const void *out, size_t out_len, void *in, size_t in_len)
{
    struct trade t = {.fd = fd, .out = out, .in = in, .out_len = out_len, .in_len = in_len};
    if (out_len > UINT32_MAX || in_len > UINT32_MAX)
        return MPI_ERR_INTERN;
    os_be32_put(t.out_head, (uint32_t)out_len);
    if (is_traded(&t))
        return t.rc;
    mpid_watch_fd(fd);
    pipe_wait(is_traded, &t);
    mpid_unwatch_fd(fd);
    return t.rc;
}

void pipe_wait(bool (*is_done)(void *arg), void *arg)
{
    const struct mpid_condition done = {.is_done = is_done};
    mpid_wait_condition(&done, arg);
}
