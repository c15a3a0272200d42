/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes that end, or fork; see conform_ended.h. */
#include "test/channels/conform_ended.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/settings.h"
#include "test/channels/conform.h"
#include "test/channels/fake.h"

enum { WAIT_MS = 15000, MANY = 400 };

/* The first rank links to the second one. Returns the other's record for either of them. */
static struct fake_peer *join(struct fake *fake, int from, int to)
{
    struct fake_peer *peer = &fake->peer[fake->rank == from ? to : from];
    if (fake->rank == from)
        fake_link(fake, to);
    fake_until(fake, &peer->opened, 1, WAIT_MS, "opened()");
    return peer;
}

void case_killed(struct fake *fake, const struct conform_traits *traits)
{
    fake->peer[1 - fake->rank].may_lose = true;
    struct fake_peer *peer = join(fake, 0, 1);
    fake_send(peer, 500, FAKE_PLAIN);
    fake_until_packets(fake, peer, 1, WAIT_MS);
    if (fake->rank == 1)
        raise(SIGKILL);
    uint64_t end = os_now_ns() + 2000000000u;
    while (peer->link && os_now_ns() < end) {
        fake_send(peer, 1000, FAKE_TRY | FAKE_COOKIE);
        if (peer->link)
            fake_step(fake, UINT64_MAX, "nothing");
    }
    FAKE_CHECK(fake, peer->lost == 1 || !traits->notices_death, "lost() did not come in 2 s");
    if (peer->link)
        fake_unlink(peer);
    fake->ops->close(fake->chan);
    _exit(0);
}

/* End this process, once its packets have left its memory; its links are not unlinked. */
static _Noreturn void end(struct fake *fake, const struct fake_peer *peer)
{
    uint64_t deadline_ns = os_now_ns() + WAIT_MS * 1000000ull * (uint64_t)fake_patience;
    while (fake->ops->is_out && !fake->ops->is_out(fake->chan))
        fake_step(fake, deadline_ns, "what was sent to leave this process");
    atomic_store(&fake->world->word[0], peer->out);
    _exit(0);
}

/* Send as many packets as the channel takes without the receiver, MANY at most. */
static void send_many(struct fake_peer *peer)
{
    for (int i = 0; i < MANY; i++)
        if (!fake_send(peer, i % 8 ? 40 : 30000, FAKE_TRY))
            return;
}

/* Wait until rank 1 has ended, without progress where it can end so. */
static void await_sender(struct fake *fake, const struct conform_traits *traits)
{
    uint64_t deadline_ns = os_now_ns() + WAIT_MS * 1000000ull;
    while (traits->needs_receiver && !atomic_load(&fake->world->word[0]))
        fake_step(fake, deadline_ns, "the sender to be rid of what it sent");
    fake_await_end(fake, 1);
}

/* All that the peer has sent is here before its link is lost, and nothing more is taken. */
static void await_rest(struct fake *fake, struct fake_peer *peer)
{
    uint64_t sent = atomic_load(&fake->world->word[0]);
    struct chan_head head = {{0, 0}};
    struct chan_data data = {.len = 0};
    for (int i = 0; i < 200; i++)
        FAKE_CHECK(fake, peer->link->send(peer->link, &head, &data) == CHAN_AGAIN,
                   "a packet is taken for a process that has ended");
    fake_until(fake, &peer->lost, 1, WAIT_MS, "lost()");
    FAKE_CHECK(fake, peer->in == sent, "%lu packets of %lu came before lost()",
               (unsigned long)peer->in, (unsigned long)sent);
    fake_run(fake, 20);
    FAKE_CHECK(fake, peer->lost == 1 && peer->in == sent, "upcalls after lost()");
}

void case_ended(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *first = fake->rank < 2 ? join(fake, 1, 0) : NULL;
    struct fake_peer *second = fake->rank != 1 ? join(fake, 2, 0) : NULL;
    fake_barrier_still(fake); /* from here on rank 0 waits for the end, without progress */
    if (fake->rank == 1) {
        send_many(first);
        end(fake, first);
    }
    if (fake->rank == 2) {
        while (!atomic_load(&fake->world->flag[0]))
            if (!fake_send(second, 10000, FAKE_MORE | FAKE_TRY)) /* who reads it may have gone away by now */
                fake_step(fake, UINT64_MAX, "nothing");
        _exit(0);
    }
    await_sender(fake, traits);
    await_rest(fake, first);
    FAKE_CHECK(fake, second->in > 0, "the other rank has sent nothing");
    second->may_lose = second->failed = true;
    atomic_store(&fake->world->flag[0], 1);
    fake_run(fake, 20);
    fake_await_end(fake, 2);
    fake_until(fake, &second->lost, 1, WAIT_MS, "lost()");
    fake->ops->close(fake->chan);
    _exit(0);
}

void case_ended_early(struct fake *fake, const struct conform_traits *traits)
{
    (void)traits;
    if (fake->rank == 1) {
        struct fake_peer *peer = fake_link(fake, 0);
        send_many(peer);
        end(fake, peer);
    }
    struct fake_peer *peer = &fake->peer[1];
    fake_await_end(fake, 1);
    fake_step(fake, UINT64_MAX, "nothing");
    if (atomic_load(&fake->world->word[0])) {
        FAKE_CHECK(fake, peer->opened, "the next progress() does not find what was begun");
        if (!peer->lost)
            fake_until(fake, &peer->lost, 1, WAIT_MS, "lost()");
    }
    fake_run(fake, 50);
    FAKE_CHECK(fake, peer->in == atomic_load(&fake->world->word[0]), "%lu packets of %lu came",
               (unsigned long)peer->in, (unsigned long)atomic_load(&fake->world->word[0]));
    FAKE_CHECK(fake, peer->lost == peer->opened && !fake->chan->links, "a link is left");
    fake->ops->close(fake->chan);
    _exit(0);
}

void case_ended_mute(struct fake *fake, const struct conform_traits *traits)
{
    (void)traits;
    if (fake->rank == 1)
        _exit(0);
    struct fake_peer *peer = fake_link(fake, 1);
    fake_send(peer, 8, FAKE_TRY);
    fake_await_end(fake, 1);
    fake_until(fake, &peer->refused, 1, WAIT_MS, "refused()");
    FAKE_CHECK(fake, !peer->out, "a packet does not come back");
    FAKE_CHECK(fake, !peer->opened && !fake->chan->links, "a link is left");
    fake->ops->close(fake->chan);
    _exit(0);
}

void case_ended_held(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = join(fake, 1, 0);
    fake_barrier_still(fake);
    if (fake->rank == 1) {
        if (!fork()) {
            for (int i = 0; i < 2000 && !atomic_load(&fake->world->flag[0]); i++)
                usleep(10000);
            _exit(0);
        }
        send_many(peer);
        end(fake, peer);
    }
    FAKE_CHECK(fake, !os_setting_put(OS_SETTING_CONNECT_TIMEOUT_MS, "500"), "no setting");
    await_sender(fake, traits);
    usleep(600000); /* away for longer than the channel would wait */
    await_rest(fake, peer);
    atomic_store(&fake->world->flag[0], 1);
    fake->ops->close(fake->chan);
    _exit(0);
}

/* How many sockets and the like are open, besides the standard streams. */
static int count_doors(void)
{
    int count = 0;
    for (int fd = 3; fd < 1024; fd++) {
        char path[32], to[32] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, to, sizeof(to) - 1) > 0)
            count += !strncmp(to, "socket:", 7) || !strncmp(to, "anon_inode:", 11);
    }
    return count;
}

/* One rank sleeps on its descriptor, and the other wakes it by packet number in. On a busy machine that is there before. */
static void wake_one(struct fake *fake, struct fake_peer *peer, int sleeper, uint64_t in)
{
    if (fake->rank != sleeper) {
        usleep(20000);
        fake_send(peer, 8, FAKE_PLAIN);
    } else if (peer->in < in) {
        int rc = fake->ops->arm(fake->chan, CHAN_SLEEP_FD);
        struct pollfd news = {.fd = fake->chan->fd, .events = POLLIN};
        FAKE_CHECK(fake, rc == CHAN_AGAIN || poll(&news, 1, WAIT_MS) == 1, "a wake-up was lost");
        fake->ops->disarm(fake->chan);
        fake_until_packets(fake, peer, in, WAIT_MS);
    }
    fake_barrier(fake);
}

/* A forked child that is told closes what its parent has opened, whose own goes on. */
void case_forked(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = join(fake, 0, 1);
    wake_one(fake, peer, 0, 1);
    wake_one(fake, peer, 1, 1);
    FAKE_CHECK(fake, count_doors() > 0, "no descriptor is open");
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        if (fake->ops->forked)
            fake->ops->forked(fake->chan);
        _exit(count_doors());
    }
    int status = -1;
    FAKE_CHECK(fake, waitpid(child, &status, 0) == child && (!status || traits->hides_descriptors),
               "%d descriptors are still open in the child", WEXITSTATUS(status));
    fake_barrier(fake);
    wake_one(fake, peer, 0, 2);
    wake_one(fake, peer, 1, 2);
}
