/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How a process sleeps until the ofi channel has news: on the descriptors of the completion queue,
 * and on a timer for what these do not tell. Descriptors are watched during sleep alone, since the kernel
 * tells all watchers of each message.
 */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "channels/ofi/link.h"
#include "include/channel_help.h"

_Static_assert((int)POLLIN == (int)EPOLLIN && (int)POLLOUT == (int)EPOLLOUT, "events of both kinds");

enum {
    SETTLES = 16, /* waits of a millisecond */
    FUTILE = 16,  /* times that descriptors tell of news, without any */
    FUTILE_OF_SET = 1024, /* the same of a set of connections, which tell of each part of a long message */
    LOOKS = 6,    /* after each, the time until the next one doubles */
    GLANCES = 6   /* likewise, where nothing tells of any news */
};
static const uint64_t soon_ns = 1000000; /* until another look at what nothing tells of */

void ofi_sleep_close(struct ofi *ofi)
{
    if (ofi->epoll >= 0)
        close(ofi->epoll);
    if (ofi->timer >= 0)
        close(ofi->timer);
    ofi_sockets_close(ofi);
}

static void set_timer(struct ofi *ofi, uint64_t at_ns)
{
    struct itimerspec once = {{0, 0}, {0, 0}};
    if (at_ns != UINT64_MAX) {
        at_ns += !at_ns; /* 0 would stop it */
        once.it_value = (struct timespec){(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    }
    (void)timerfd_settime(ofi->timer, TFD_TIMER_ABSTIME, &once, NULL);
}

/* The descriptors of the completion queue. Returns their number; 0: it has none, or too many. */
static int descriptors(struct ofi *ofi, struct pollfd all[OFI_WATCHED])
{
    struct fi_wait_pollfd list = {.nfds = OFI_WATCHED, .fd = all};
    all[0] = (struct pollfd){.fd = ofi->socket, .events = POLLIN};
    if (ofi->socket >= 0)
        return 1;
    if (ofi->wait == FI_WAIT_FD)
        return !fi_control(&ofi->cq->fid, FI_GETWAIT, &all[0].fd);
    if (ofi->wait == FI_WAIT_POLLFD && !fi_control(&ofi->cq->fid, FI_GETWAIT, &list))
        return (int)list.nfds;
    return 0;
}

/* A list of descriptors is complete once the provider has waited for the queue a while. Messages that come meanwhile
 * are of strangers, as this process's address is not published yet: their buffers are posted anew. */
static void settle(struct ofi *ofi)
{
    struct fi_cq_msg_entry entry;
    struct pollfd all[OFI_WATCHED];
    bool settled = ofi->wait != FI_WAIT_POLLFD;
    for (int i = 0; i < SETTLES && !settled; i++) {
        if (fi_cq_sread(ofi->cq, &entry, 1, NULL, 1) == 1)
            ofi_fabric_done(ofi, entry.op_context);
        settled = !poll(all, (nfds_t)descriptors(ofi, all), 0);
    }
}

int ofi_sleep_open(struct ofi *ofi)
{
    struct epoll_event event = {.events = EPOLLIN};
    ofi->epoll = epoll_create1(EPOLL_CLOEXEC);
    ofi->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (ofi->epoll < 0 || ofi->timer < 0 ||
        epoll_ctl(ofi->epoll, EPOLL_CTL_ADD, ofi->timer, &event))
        return -ENODEV;
    settle(ofi);
    return 0;
}

static void unwatch(struct ofi *ofi)
{
    for (; ofi->watched_count; ofi->watched_count--)
        (void)epoll_ctl(ofi->epoll, EPOLL_CTL_DEL, ofi->watched_fds[ofi->watched_count - 1], NULL);
}

/* Watch the completion queue's descriptors. Returns 0 if they will tell of news; CHAN_AGAIN if they
 * tell of some already, also to a thread that sleeps; CHAN_UNABLE if they are not reliable, such as
 * descriptors that always tell of news. */
static int watch(struct ofi *ofi)
{
    struct pollfd all[OFI_WATCHED];
    int count = descriptors(ofi, all);
    unwatch(ofi);
    if (!count || ofi->futile > (ofi->is_set ? FUTILE_OF_SET : FUTILE))
        return CHAN_UNABLE;
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = (uint16_t)all[i].events};
        if (epoll_ctl(ofi->epoll, EPOLL_CTL_ADD, all[i].fd, &event))
            return CHAN_UNABLE;
        ofi->watched_fds[ofi->watched_count++] = all[i].fd;
    }
    if (poll(all, (nfds_t)count, 0)) {
        ofi->futile += ofi->socket < 0 || ofi->is_set; /* a datagram is there, if announced */
        (void)ofi_sockets_take(ofi);
        return CHAN_AGAIN;
    }
    return 0;
}

/* Whether the queue's descriptors will tell of news; as watch(). */
static int arm_queue(struct ofi *ofi)
{
    struct fid *queue = &ofi->cq->fid;
    if (ofi->socket >= 0) {
        ofi_alive_hear(ofi); /* otherwise the socket would tell of that for ever */
        return ofi->more ? CHAN_AGAIN : watch(ofi);
    }
    if (ofi->wait == FI_WAIT_NONE)
        return CHAN_UNABLE;
    int rc = fi_trywait(ofi->fabric, &queue, 1);
    return rc == -FI_EAGAIN ? CHAN_AGAIN : rc ? CHAN_UNABLE : watch(ofi);
}

/* When to look although nothing tells of news; UINT64_MAX: never. */
static uint64_t next_look(struct ofi *ofi, bool soon)
{
    if (soon) { /* sleep about as long as there was no news, so that an answer is not awaited for much longer */
        uint64_t glance_ns = soon_ns >> (GLANCES - ofi->glances);
        ofi->glances += ofi->glances < GLANCES;
        return chan_now_ns() + glance_ns;
    }
    if (!ofi->untold)
        return UINT64_MAX;
    uint64_t after_ns = soon_ns << ofi->looks;
    ofi->looks += ofi->looks < LOOKS;
    return chan_now_ns() + after_ns;
}

int ofi_sleep_arm(struct chan *chan, enum chan_sleep how)
{
    struct ofi *ofi = (struct ofi *)chan;
    (void)how;
    ofi_enter(ofi);
    int rc = arm_queue(ofi);
    ofi_leave(ofi);
    if (rc == CHAN_AGAIN)
        return rc;
    uint64_t at_ns = ofi_link_deadline(ofi);
    uint64_t next_ns = next_look(ofi, ofi->chores || ofi->again || rc);
    set_timer(ofi, next_ns < at_ns ? next_ns : at_ns);
    return 0;
}

void ofi_sleep_disarm(struct chan *chan)
{
    struct ofi *ofi = (struct ofi *)chan;
    uint64_t times;
    unwatch(ofi);
    ofi->has_looked = read(ofi->timer, &times, sizeof(times)) > 0;
    set_timer(ofi, UINT64_MAX); /* which is silent, too, if it has just gone off */
}
