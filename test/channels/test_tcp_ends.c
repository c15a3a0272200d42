/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How connections of the tcp channel end: for good, and to be seen by the peer, although a forked
 * child has the same descriptors. epoll_ctl() here stands before that of the C library, to fail when a
 * case asks for it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/tcp/tcp.h"
#include "os/clock.h"
#include "test/channels/cases.h"

extern const struct chan_ops chan_tcp;

enum {
    WAIT_MS = 15000
};

static bool no_changes; /* epoll_ctl() cannot change what is watched for */

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    if (no_changes && op == EPOLL_CTL_MOD) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}

static struct fake_peer *joined(struct fake *fake)
{
    struct fake_peer *peer = &fake->peer[1 - fake->rank];
    if (fake->rank == 0)
        fake_link(fake, 1);
    fake_until(fake, &peer->opened, 1, WAIT_MS, "opened()");
    peer->may_lose = true;
    return peer;
}

/* How often progress() is called for in some time. */
static int count_wakes(struct fake *fake, int ms)
{
    struct pollfd door = {.fd = fake->chan->fd, .events = POLLIN};
    int wakes = 0;
    for (uint64_t end = os_now_ns() + (uint64_t)ms * 1000000u; os_now_ns() < end;) {
        wakes += poll(&door, 1, 20) > 0;
        fake_run(fake, 1);
    }
    return wakes;
}

static pid_t fork_sleeper(struct fake *fake, bool as_told)
{
    pid_t child = fork();
    FAKE_CHECK(fake, child >= 0, "fork() fails");
    if (!child) {
        alarm(WAIT_MS / 1000);
        if (as_told)
            fake->ops->forked(fake->chan);
        for (;;)
            pause();
    }
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* A child that lives on holds the connection open, but here it is over. */
static void case_forked_events(struct fake *fake)
{
    struct fake_peer *peer = joined(fake);
    pid_t child = fake->rank == 1 ? fork_sleeper(fake, false) : 0;
    fake_barrier(fake);
    if (fake->rank == 0) {
        fake_unlink(peer);
    } else {
        fake_until(fake, &peer->lost, 1, WAIT_MS, "lost()");
        int wakes = count_wakes(fake, 300);
        FAKE_CHECK(fake, wakes < 5, "%d times awake for a link that is gone", wakes);
        end_child(child);
    }
    fake_barrier(fake);
}

/* A child that is told closes its descriptors, and the peer sees the end. */
static void case_forked_closes(struct fake *fake)
{
    struct fake_peer *peer = joined(fake);
    if (fake->rank == 0) {
        fake_until(fake, &peer->lost, 1, WAIT_MS, "the end of the parent's link");
    } else {
        pid_t child = fork_sleeper(fake, true);
        fake_run(fake, 100);
        fake_unlink(peer);
        fake_barrier(fake);
        end_child(child);
        return;
    }
    fake_barrier(fake);
}

/* The hot link ends while epoll cannot be told to watch it again. */
static void case_cool(struct fake *fake)
{
    struct fake_peer *peer = joined(fake);
    struct tcp *tcp = (struct tcp *)fake->chan;
    for (int i = 0; i < 100; i++)
        if (fake->rank == 0) {
            fake_send(peer, 8, FAKE_PLAIN);
            fake_until_packets(fake, peer, (uint64_t)i + 1, WAIT_MS);
        } else {
            fake_until_packets(fake, peer, (uint64_t)i + 1, WAIT_MS);
            fake_send(peer, 8, FAKE_PLAIN);
        }
    if (fake->rank == 1) {
        FAKE_CHECK(fake, tcp->heat > 0, "the link is not hot");
        no_changes = true;
        fake_unlink(peer);
        no_changes = false;
        FAKE_CHECK(fake, !tcp->dirty, "a link that is freed waits for progress()");
        fake_run(fake, 10);
    } else {
        fake_until(fake, &peer->lost, 1, WAIT_MS, "lost()");
    }
    fake_barrier(fake);
}

static const struct fake_case cases[] = {
    {"the link of a process with a forked child ends for good", case_forked_events, NULL, NULL,
     NULL},
    {"a forked child does not keep its parent's links open", case_forked_closes, NULL, NULL, NULL},
    {"a link that ends while it is hot leaves nothing behind", case_cool, NULL, NULL, NULL},
};

int main(void)
{
    return cases_run(&chan_tcp, cases, sizeof(cases) / sizeof(cases[0])) != 0;
}
