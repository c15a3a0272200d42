/* SPDX-License-Identifier: BSD-3-Clause */

/* A pipe or socket at whose end the job ends; see run_keepalive.h. */
#include "bnr/run/run_keepalive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bnr/host/order.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "os/be.h"

struct run_keepalive {
    uv_poll_t poll;
    int fd, ranks;
    struct run_keepalive_hooks hooks;
    bool tells;       /* it leads to a spawner that wants to hear of the ranks */
    uint8_t *telling; /* records on the way there */
    size_t telling_len, telling_room;
    uint8_t heard[ORDER_SIGNAL_LEN]; /* of a signal from there */
    size_t heard_len;
};

static void on_event(uv_poll_t *poll, int status, int events);

/* ---- telling ---- */

/* Say what can be said now. */
static void tell(struct run_keepalive *k)
{
    while (k->telling_len) {
        ssize_t n = send(k->fd, k->telling, k->telling_len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            k->tells = false;
        if (n <= 0)
            break;
        k->telling_len -= (size_t)n;
        memmove(k->telling, k->telling + n, k->telling_len);
    }
    if (!k->tells)
        k->telling_len = 0;
}

static void watch(struct run_keepalive *k)
{
    (void)uv_poll_start(&k->poll, UV_READABLE | UV_DISCONNECT | (k->telling_len ? UV_WRITABLE : 0), on_event);
}

/* Tell a group's spawner an ORDER_TOLD_. */
static void tell_record(struct run_keepalive *k, uint32_t what, int number, int status)
{
    if (!k || !k->tells)
        return;
    if (k->telling_len + ORDER_RECORD > k->telling_room) {
        size_t room = 2 * k->telling_room + 64 * ORDER_RECORD;
        uint8_t *grown = realloc(k->telling, room);
        if (!grown)
            return;
        k->telling = grown;
        k->telling_room = room;
    }
    order_record_put(k->telling + k->telling_len, what, number, status);
    k->telling_len += ORDER_RECORD;
    tell(k);
    if (k->telling_len && uv_is_active((uv_handle_t *)&k->poll))
        watch(k);
}

void run_keepalive_tell_started(struct run *run, int count)
{
    tell_record(run->keepalive, ORDER_TOLD_STARTED, count, 0);
}

void run_keepalive_tell_exit(struct run *run, int rank, int status)
{
    tell_record(run->keepalive, ORDER_TOLD_EXIT, rank, status);
}

/* ---- hearing ---- */

/* Take one byte. Returns whether the job is to outlive its spawner. */
static bool take_byte(struct run_keepalive *k, uint8_t byte)
{
    if (!k->heard_len && (!k->tells || byte != ORDER_SIGNAL))
        return byte == ORDER_STAY;
    k->heard[k->heard_len++] = byte;
    if (k->heard_len < ORDER_SIGNAL_LEN)
        return false;
    k->heard_len = 0;
    uint32_t rank = os_be32_get(k->heard + 1), number = os_be32_get(k->heard + 5);
    if (number > 0 && number <= (uint32_t)SIGRTMAX && (rank == UINT32_MAX || rank < (uint32_t)k->ranks))
        k->hooks.signal_rank(k->hooks.arg, (int)rank, (int)number);
    return false;
}

/* Bytes that come are dropped, but for orders; the end counts as SIGTERM, unless ORDER_STAY has come before. */
static void on_event(uv_poll_t *poll, int status, int events)
{
    struct run_keepalive *k = poll->data;
    uint8_t bytes[256];
    bool stays = false;
    if (!status && events & UV_WRITABLE) {
        tell(k);
        watch(k);
    }
    if (!status && !(events & (UV_READABLE | UV_DISCONNECT)))
        return;
    ssize_t n = status ? 0 : read(k->fd, bytes, sizeof(bytes));
    for (ssize_t i = 0; i < n; i++)
        stays |= take_byte(k, bytes[i]);
    if (stays) {
        uv_poll_stop(poll);
        k->tells = false;
    }
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
        return;
    uv_poll_stop(poll);
    k->tells = false;
    k->hooks.take_signal(k->hooks.arg, SIGTERM);
}

int run_keepalive_start(struct run *run, const struct run_keepalive_hooks *hooks)
{
    int type, fd = run->plan->keepalive_fd;
    uint8_t gid[16];
    socklen_t len = sizeof(type);
    if (!run->plan->has_keepalive)
        return 0;
    struct run_keepalive *k = calloc(1, sizeof(*k));
    int rc = k ? uv_poll_init(&run->loop, &k->poll, fd) : -ENOMEM;
    if (rc) {
        free(k);
        return rc;
    }
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    k->fd = fd;
    k->ranks = run->plan->nranks;
    k->hooks = *hooks;
    k->poll.data = k;
    k->tells = !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && order_gid(gid);
    run->keepalive = k;
    return uv_poll_start(&k->poll, UV_READABLE | UV_DISCONNECT, on_event);
}

static void on_closed(uv_handle_t *poll)
{
    struct run_keepalive *k = poll->data;
    free(k->telling);
    free(k);
}

void run_keepalive_stop(struct run *run)
{
    if (run->keepalive)
        uv_close((uv_handle_t *)&run->keepalive->poll, on_closed);
    run->keepalive = NULL;
}
