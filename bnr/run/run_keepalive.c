/* SPDX-License-Identifier: BSD-3-Clause */

/* A pipe or socket at whose end the job ends (--keepalive); see run_state.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bnr/host/order.h"
#include "bnr/run/run_state.h"
#include "bnr/plan/plan.h"
#include "os/be.h"

static void on_event(uv_poll_t *poll, int status, int events);

/* ---- telling ---- */

/* Say what can be said now. */
static void tell(struct run *run)
{
    while (run->telling_len) {
        ssize_t n = send(run->plan->keepalive_fd, run->telling, run->telling_len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            run->tells = false;
        if (n <= 0)
            break;
        run->telling_len -= (size_t)n;
        memmove(run->telling, run->telling + n, run->telling_len);
    }
    if (!run->tells)
        run->telling_len = 0;
}

static void watch(struct run *run)
{
    (void)uv_poll_start(&run->keepalive, UV_READABLE | UV_DISCONNECT | (run->telling_len ? UV_WRITABLE : 0), on_event);
}

void run_keepalive_tell(struct run *run, uint32_t what, int rank, int status)
{
    if (!run->tells)
        return;
    if (run->telling_len + ORDER_RECORD > run->telling_room) {
        size_t room = 2 * run->telling_room + 64 * ORDER_RECORD;
        uint8_t *grown = realloc(run->telling, room);
        if (!grown)
            return;
        run->telling = grown;
        run->telling_room = room;
    }
    order_record_put(run->telling + run->telling_len, what, rank, status);
    run->telling_len += ORDER_RECORD;
    tell(run);
    if (run->telling_len && uv_is_active((uv_handle_t *)&run->keepalive))
        watch(run);
}

/* ---- hearing ---- */

/* Take one byte. Returns whether the job is to outlive its spawner. */
static bool take_byte(struct run *run, uint8_t byte)
{
    if (!run->heard_len && (!run->tells || byte != ORDER_SIGNAL))
        return byte == ORDER_STAY;
    run->heard[run->heard_len++] = byte;
    if (run->heard_len < ORDER_SIGNAL_LEN)
        return false;
    run->heard_len = 0;
    uint32_t rank = os_be32_get(run->heard + 1), number = os_be32_get(run->heard + 5);
    if (number > 0 && number <= (uint32_t)SIGRTMAX && (rank == UINT32_MAX || rank < (uint32_t)run->plan->nranks))
        run->signal_rank(run, (int)rank, (int)number);
    return false;
}

/* Bytes that come are dropped, but for orders; the end counts as SIGTERM, unless ORDER_STAY has come before. */
static void on_event(uv_poll_t *poll, int status, int events)
{
    struct run *run = poll->data;
    uint8_t bytes[256];
    bool stays = false;
    if (!status && events & UV_WRITABLE) {
        tell(run);
        watch(run);
    }
    if (!status && !(events & (UV_READABLE | UV_DISCONNECT)))
        return;
    ssize_t n = status ? 0 : read(run->plan->keepalive_fd, bytes, sizeof(bytes));
    for (ssize_t i = 0; i < n; i++)
        stays |= take_byte(run, bytes[i]);
    if (stays) {
        uv_poll_stop(poll);
        run->tells = false;
    }
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
        return;
    uv_poll_stop(poll);
    run->tells = false;
    run->take_signal(run, SIGTERM);
}

int run_keepalive_start(struct run *run, void (*take_signal)(void *arg, int number))
{
    if (!run->plan->has_keepalive)
        return 0;
    int fd = run->plan->keepalive_fd, rc = uv_poll_init(&run->loop, &run->keepalive, fd);
    if (rc)
        return rc;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    run->take_signal = take_signal;
    run->keepalive.data = run;
    int type;
    uint8_t gid[16];
    socklen_t len = sizeof(type);
    run->tells = !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && order_gid(gid);
    return uv_poll_start(&run->keepalive, UV_READABLE | UV_DISCONNECT, on_event);
}

void run_keepalive_stop(struct run *run)
{
    if (run->take_signal)
        uv_close((uv_handle_t *)&run->keepalive, NULL);
    free(run->telling);
    run->telling = NULL;
    run->tells = false;
}
