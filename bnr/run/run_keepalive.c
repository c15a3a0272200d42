/* SPDX-License-Identifier: BSD-3-Clause */

/* A pipe or socket at whose end the job ends (--keepalive); see run_state.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "bnr/host/order.h"
#include "bnr/run/run_state.h"
#include "bnr/tools/options.h"

/* Bytes that come are dropped; the end counts as SIGTERM, unless ORDER_STAY has come before. */
static void on_event(uv_poll_t *poll, int status, int events)
{
    struct run *run = poll->data;
    char dropped[256];
    (void)events;
    ssize_t n = status ? 0 : read(run->o->keepalive_fd, dropped, sizeof(dropped));
    if (n > 0 && memchr(dropped, ORDER_STAY, (size_t)n))
        uv_poll_stop(poll);
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
        return;
    uv_poll_stop(poll);
    run->take_signal(run, SIGTERM);
}

int run_keepalive_start(struct run *run, void (*take_signal)(void *arg, int number))
{
    if (!run->o->has_keepalive)
        return 0;
    int fd = run->o->keepalive_fd, rc = uv_poll_init(&run->loop, &run->keepalive, fd);
    if (rc)
        return rc;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    run->take_signal = take_signal;
    run->keepalive.data = run;
    return uv_poll_start(&run->keepalive, UV_READABLE | UV_DISCONNECT, on_event);
}

void run_keepalive_stop(struct run *run)
{
    if (run->take_signal)
        uv_close((uv_handle_t *)&run->keepalive, NULL);
}
