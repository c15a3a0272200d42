/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes that sleep until there is news; see conform_sleep.h. */
#include "test/channels/conform_sleep.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/futex.h"
#include "test/channels/conform.h"
#include "test/channels/fake.h"

enum { WAIT_MS = 15000 };

/* Sleep until news, as the device does; a sleep of 3 s is a lost wake-up. */
static void sleep_once(struct fake *fake, enum chan_sleep how)
{
    struct chan *chan = fake->chan;
    uint32_t seen = how == CHAN_SLEEP_WORD ? atomic_load(chan->word) : 0;
    int rc = fake->ops->arm(chan, how);
    FAKE_CHECK(fake, rc == 0 || rc == CHAN_AGAIN, "arm() returned %d", rc);
    if (!rc && how == CHAN_SLEEP_FD) {
        struct pollfd p = {.fd = chan->fd, .events = POLLIN};
        FAKE_CHECK(fake, poll(&p, 1, 3000) != 0, "a wake-up was lost (fd)");
    } else if (!rc) {
        FAKE_CHECK(fake, os_futex_wait(chan->word, seen, 3000000000u) != -ETIMEDOUT,
                   "a wake-up was lost (word)");
    }
    fake->ops->disarm(chan);
    fake_step(fake, UINT64_MAX, "nothing");
}

/* Whether there is a descriptor to sleep on; a channel may make it when first armed. */
static bool has_fd(struct fake *fake)
{
    fake->ops->arm(fake->chan, CHAN_SLEEP_FD);
    fake->ops->disarm(fake->chan);
    return fake->chan->fd >= 0;
}

/* in: packets that the peer has sent before this; it may have begun already. */
static void ping_pong_asleep(struct fake *fake, struct fake_peer *peer, enum chan_sleep how,
                             uint64_t in)
{
    unsigned seed = (unsigned)fake->rank + 5;
    for (int i = 0; i < 1500; i++) {
        if (fake->rank == 0)
            fake_send(peer, i % 50 ? 8 : 30000, i % 3 ? FAKE_PLAIN : FAKE_COOKIE);
        for (int spins = rand_r(&seed) % 40; spins && i % 2; spins--)
            os_pause();
        for (in++; peer->in < in;)
            sleep_once(fake, how);
        if (fake->rank == 1)
            fake_send(peer, 40, FAKE_PLAIN);
    }
    while (fake->pending)
        sleep_once(fake, how);
    fake_barrier(fake);
}

/* While nothing comes, sleep ends at the looks of each millisecond at most. */
static void sleep_on(struct fake *fake)
{
    uint64_t began_ns = os_now_ns(), now_ns = began_ns, wakes = 0;
    for (; now_ns - began_ns < 200000000; now_ns = os_now_ns(), wakes++) {
        struct pollfd p = {.fd = fake->chan->fd, .events = POLLIN};
        if (!fake->ops->arm(fake->chan, CHAN_SLEEP_FD))
            (void)poll(&p, 1, 100);
        fake->ops->disarm(fake->chan);
        fake->ops->progress(fake->chan);
    }
    FAKE_CHECK(fake, wakes <= 20 + 2 * (now_ns - began_ns) / 1000000,
               "%llu wake-ups in %llu ms, without news", (unsigned long long)wakes,
               (unsigned long long)((now_ns - began_ns) / 1000000));
    fake_barrier(fake);
}

void case_sleep(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = fake_join(fake);
    if (fake->procs == 1) {
        fake_step(fake, UINT64_MAX, "nothing");
        fake_send(peer, 10, FAKE_PLAIN);
        FAKE_CHECK(fake, fake->ops->arm(fake->chan, CHAN_SLEEP_FD) == CHAN_AGAIN,
                   "arm() overlooks a packet that waits");
        fake->ops->disarm(fake->chan);
        return;
    }
    FAKE_CHECK(fake, has_fd(fake) || fake->chan->word, "no way to sleep is offered");
    if (has_fd(fake)) {
        ping_pong_asleep(fake, peer, CHAN_SLEEP_FD, 0);
        sleep_on(fake);
    }
    if (fake->chan->word)
        ping_pong_asleep(fake, peer, CHAN_SLEEP_WORD, has_fd(fake) ? 1500 : 0);
}

/* Bulk data moves although both sides sleep whenever they may. */
static void stream_asleep(struct fake *fake, struct fake_peer *peer, enum chan_sleep how,
                          uint64_t in)
{
    for (int i = 0; i < 40; i++) {
        while (!fake_send(peer, fake_largest(peer) / 8, FAKE_TRY | (i % 2 ? FAKE_COOKIE : 0)))
            sleep_once(fake, how);
        for (int j = 0; j < 10; j++)
            while (!fake_send(peer, 64, FAKE_TRY | FAKE_MORE))
                sleep_once(fake, how);
    }
    while (peer->in < in + 440 || fake->pending)
        sleep_once(fake, how);
    fake_barrier(fake);
}

void case_sleep_stream(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = fake_join(fake);
    if (has_fd(fake))
        stream_asleep(fake, peer, CHAN_SLEEP_FD, 0);
    if (fake->chan->word)
        stream_asleep(fake, peer, CHAN_SLEEP_WORD, has_fd(fake) ? 440 : 0);
}

/* A stranger who links wakes a process that sleeps without any link. */
void case_sleep_accept(struct fake *fake, const struct conform_traits *traits)
{
    enum chan_sleep how = has_fd(fake) ? CHAN_SLEEP_FD : CHAN_SLEEP_WORD;
    struct fake_peer *peer = &fake->peer[fake_other(fake)];
    if (fake->rank == 0) {
        usleep(100000);
        fake_link(fake, 1);
    }
    while (!peer->open)
        sleep_once(fake, how);
    if (fake->rank == 0)
        fake_send(peer, 8, FAKE_PLAIN);
    while (peer->in < (uint64_t)fake->rank)
        sleep_once(fake, how);
}

/* While one thread sleeps another may arm, find news, and go away without a look at them. */
void case_sleep_rearmed(struct fake *fake, const struct conform_traits *traits)
{
    enum { ROUNDS = 300 };
    struct fake_peer *peer = fake_join(fake);
    struct pollfd p = {.fd = has_fd(fake) ? fake->chan->fd : -1, .events = POLLIN};
    for (uint32_t round = 1; round <= ROUNDS && p.fd >= 0; round++) {
        fake_barrier(fake);
        if (fake->rank == 1) {
            while (atomic_load(&fake->world->flag[0]) < round)
                fake_step(fake, UINT64_MAX, "nothing");
            fake_send(peer, 8, FAKE_PLAIN);
            fake_until_idle(fake, WAIT_MS);
            atomic_store(&fake->world->flag[1], round);
            continue;
        }
        while (fake->ops->arm(fake->chan, CHAN_SLEEP_FD))
            fake_step(fake, UINT64_MAX, "nothing");
        atomic_store(&fake->world->flag[0], round);
        while (!fake->ops->arm(fake->chan, CHAN_SLEEP_FD) && atomic_load(&fake->world->flag[1]) < round)
            os_pause();
        FAKE_CHECK(fake, poll(&p, 1, 3000) > 0, "a wake-up was lost as another thread had armed");
        fake->ops->disarm(fake->chan);
        fake_until_packets(fake, peer, round, WAIT_MS);
    }
}
