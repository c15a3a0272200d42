/* SPDX-License-Identifier: BSD-3-Clause */

/* Descriptors that wake sleepers; see watched.h. Where there is no set, sleepers look up now and then. */
#include "mpid/wait/watched.h"

#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 16 };

static int set = -1, count;

int watched_fd(void)
{
    return set;
}

bool watched_take(void)
{
    struct epoll_event events[EVENTS];
    bool any = false;
    for (int n = EVENTS; n == EVENTS && set >= 0;) {
        n = epoll_wait(set, events, EVENTS, 0);
        any |= n > 0;
    }
    return any;
}

void watched_forget(void)
{
    if (set >= 0)
        close(set);
    set = -1;
    count = 0;
}

void watched_add(int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
    if (set < 0)
        set = epoll_create1(EPOLL_CLOEXEC);
    count++;
    (void)epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

void watched_remove(int fd)
{
    (void)epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
    if (!--count)
        watched_forget();
}
