/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How connections of the tcp channel end, and how they do not: a peer that is slow or stopped
 * keeps its connection and gets every byte, one whose host is gone loses it, and a forked child
 * that has the same descriptors changes nothing.
 *
 * The system calls below stand before those of the C library, so that time limits of the kernel
 * are short, and rare failures come when a case asks for them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/tcp/link.h"
#include "os/clock.h"
#include "include/channel_help.h"
#include "test/channels/cases.h"

extern const struct chan_ops chan_tcp;

enum {
    WAIT_MS = 15000,
    USER_TIMEOUT_MS = 1000, /* what any TCP_USER_TIMEOUT becomes */
    FASTER = 10,            /* how much faster a connection that waits grows old */
    LARGE = 1 << 20
};

static bool no_changes; /* epoll_ctl() cannot change what is watched for */

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    int less = USER_TIMEOUT_MS;
    if (level == IPPROTO_TCP && name == TCP_USER_TIMEOUT)
        value = &less;
    return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    if (no_changes && op == EPOLL_CTL_MOD) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    int rc = (int)syscall(SYS_getsockopt, fd, level, name, value, len);
    struct tcp_info *info = value;
    if (!rc && level == IPPROTO_TCP && name == TCP_INFO) {
        info->tcpi_last_ack_recv *= FASTER;
        info->tcpi_total_retrans *= FASTER;
    }
    return rc;
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

/* Send until nothing more is taken. Returns the number of packets. */
static uint64_t fill(struct fake *fake, struct fake_peer *peer)
{
    for (int idle = 0; idle < 50; idle++)
        if (fake_send(peer, LARGE, FAKE_PLAIN | FAKE_TRY))
            idle = 0;
        else
            fake_run(fake, 1);
    return peer->out;
}

/* All that was taken arrives, though the sender closes long before the receiver looks. */
static void case_late_reader(struct fake *fake)
{
    struct fake_peer *peer = joined(fake);
    struct fake_world *world = fake->world;
    if (fake->rank == 0) {
        atomic_store(&world->word[0], fill(fake, peer));
        fake_unlink(peer);
        fake->ops->close(fake->chan);
        _exit(0);
    }
    while (!atomic_load(&world->word[0]))
        usleep(1000);
    usleep(2500000);
    fake_until_packets(fake, peer, atomic_load(&world->word[0]), WAIT_MS);
    fake_until(fake, &peer->lost, 1, WAIT_MS, "lost()");
    fake->ops->close(fake->chan);
    _exit(0);
}

/* A receiver that computes, or is stopped, for longer than any patience. */
static void case_slow_receiver(struct fake *fake)
{
    struct fake_peer *peer = joined(fake);
    struct fake_world *world = fake->world;
    peer->may_lose = false;
    if (fake->rank == 0) {
        uint64_t count = fill(fake, peer);
        fake_run(fake, 5 * USER_TIMEOUT_MS);
        atomic_store(&world->word[0], count);
        fake_barrier(fake);
    } else {
        while (!atomic_load(&world->word[0]))
            usleep(1000);
        fake_until_packets(fake, peer, atomic_load(&world->word[0]), WAIT_MS);
        fake_barrier(fake);
    }
}

/* From one moment on nothing reaches the receiver's host any more. */
static void case_lost_host(struct fake *fake)
{
    struct fake_peer *peer = joined(fake);
    fake_barrier(fake);
    if (fake->rank == 0) {
        fake_barrier_still(fake);
        fake_send(peer, 1000, FAKE_PLAIN);
        fake_until(fake, &peer->lost, 1, WAIT_MS, "lost()");
    } else {
        struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
        struct sock_fprog program = {1, &nothing};
        FAKE_CHECK(fake,
                   !setsockopt(link_of(&peer->base)->sock.fd, SOL_SOCKET, SO_ATTACH_FILTER,
                               &program, sizeof(program)),
                   "SO_ATTACH_FILTER: %s", strerror(errno));
        fake_barrier_still(fake);
    }
    fake_barrier(fake);
}

/* Nobody answers, not even with a refusal: how long that may take is set by the user alone. */
static void case_connect_timeout(struct fake *fake)
{
    if (fake->rank == 0) {
        struct sockaddr_in at = {.sin_family = AF_INET};
        socklen_t len = sizeof(at);
        int door = socket(AF_INET, SOCK_STREAM, 0), in[8];
        char *card = fake->world->card[1], port[16];
        FAKE_CHECK(fake,
                   inet_pton(AF_INET, "127.0.0.9", &at.sin_addr) == 1 &&
                       !bind(door, (struct sockaddr *)&at, sizeof(at)) && !listen(door, 0) &&
                       !getsockname(door, (struct sockaddr *)&at, &len),
                   "cannot listen: %s", strerror(errno));
        for (int i = 0; i < 8; i++) { /* until no room is left, and the kernel says nothing */
            in[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            (void)connect(in[i], (struct sockaddr *)&at, sizeof(at));
        }
        snprintf(port, sizeof(port), "%u", ntohs(at.sin_port));
        card[0] = 0;
        FAKE_CHECK(fake,
                   !chan_params_add(card, CHAN_CARD_MAX, "n", "1") &&
                       !chan_params_add(card, CHAN_CARD_MAX, "p", port) &&
                       !chan_params_add(card, CHAN_CARD_MAX, "a", "127.0.0.9"),
                   "no room in the card");
        uint64_t from = os_now_ns();
        struct fake_peer *peer = fake_link(fake, 1);
        fake_until(fake, &peer->refused, 1, WAIT_MS, "refused()");
        long ms = (long)((os_now_ns() - from) / 1000000u);
        FAKE_CHECK(fake, ms >= 4000 && ms < 8000, "given up after %ld ms", ms);
    }
    fake_barrier(fake);
}

static const struct fake_case cases[] = {
    {"the link of a process with a forked child ends for good", case_forked_events, NULL, NULL,
     NULL},
    {"a forked child does not keep its parent's links open", case_forked_closes, NULL, NULL, NULL},
    {"a link that ends while it is hot leaves nothing behind", case_cool, NULL, NULL, NULL},
    {"a receiver that looks late gets all, though the sender has closed", case_late_reader, NULL,
     NULL, NULL},
    {"a receiver that computes for long keeps its connection", case_slow_receiver, NULL, NULL,
     NULL},
    {"a sender whose receiver's host is gone loses the connection", case_lost_host, NULL, NULL,
     NULL},
    {"the time to connect is what the user says", case_connect_timeout,
     "VIREO_CONNECT_TIMEOUT_MS", "4000", NULL},
};

int main(void)
{
    return cases_run(&chan_tcp, cases, sizeof(cases) / sizeof(cases[0])) != 0;
}
