/* SPDX-License-Identifier: BSD-3-Clause */

/* The order of ends; see exits.h. */
#include "bnr/io/exits.h"

#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

/* The word of an event: the descriptor above the rank. */
static uint64_t pack(int rank, int pidfd)
{
    return (uint64_t)(uint32_t)pidfd << 32 | (uint32_t)rank;
}

void exits_init(struct exits *e)
{
    e->queue = epoll_create1(EPOLL_CLOEXEC);
}

void exits_fini(struct exits *e)
{
    if (e->queue >= 0)
        close(e->queue);
}

void exits_add(struct exits *e, int rank, int pidfd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = pack(rank, pidfd)};
    if (pidfd >= 0 && (e->queue < 0 || epoll_ctl(e->queue, EPOLL_CTL_ADD, pidfd, &event)))
        close(pidfd);
}

int exits_next(struct exits *e)
{
    struct epoll_event event;
    if (e->queue < 0 || epoll_wait(e->queue, &event, 1, 0) != 1)
        return -1;
    int pidfd = (int)(event.data.u64 >> 32);
    epoll_ctl(e->queue, EPOLL_CTL_DEL, pidfd, NULL);
    close(pidfd);
    return (int)(uint32_t)event.data.u64;
}
