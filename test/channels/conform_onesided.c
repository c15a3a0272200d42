/* SPDX-License-Identifier: BSD-3-Clause */

/* One-sided operations; see conform_onesided.h. */
#include "test/channels/conform_onesided.h"

#include <string.h>

#include "test/channels/conform.h"
#include "test/channels/fake.h"

enum { WAIT_MS = 15000, REACHED = 3 << 20, KEY_WORDS = CHAN_KEY_MAX / 8, SIDE_WORDS = 2 * (1 + KEY_WORDS) };

/* Register memory, and tell the peer of it in the words of the world from word on. */
static struct chan_region *offer(struct fake *fake, void *base, size_t len, int word)
{
    const struct chan_onesided *onesided = fake->ops->onesided;
    uint64_t key[KEY_WORDS] = {0};
    struct chan_region *region = NULL;
    int rc = onesided->reg(fake->chan, base, len, &region);
    FAKE_CHECK(fake, !rc && region && region->ops == onesided, "reg() returned %d", rc);
    onesided->key(region, key);
    atomic_store(&fake->world->word[word], (uintptr_t)base);
    for (int i = 0; i < KEY_WORDS; i++)
        atomic_store(&fake->world->word[word + 1 + i], key[i]);
    return region;
}

static struct chan_remote offered(struct fake *fake, int word, uint64_t key[KEY_WORDS])
{
    for (int i = 0; i < KEY_WORDS; i++)
        key[i] = atomic_load(&fake->world->word[word + 1 + i]);
    return (struct chan_remote){atomic_load(&fake->world->word[word]), key};
}

/* Have an operation end, however it has begun. Returns 0 or CHAN_UNABLE. */
static int ended(struct fake *fake, int rc, const char *what)
{
    FAKE_CHECK(fake, rc == 0 || rc == CHAN_PENDING || rc == CHAN_UNABLE, "%s returned %d", what, rc);
    FAKE_CHECK(fake, rc != CHAN_PENDING || !fake->ops->onesided->at_once, "%s is pending", what);
    if (rc == CHAN_PENDING) {
        fake_until(fake, &fake->done, fake->done_due + 1, WAIT_MS, "done()");
        fake->done_due++;
        FAKE_CHECK(fake, !fake->done_rc, "%s failed: %s", what, strerror(-fake->done_rc));
    }
    return rc == CHAN_PENDING ? 0 : rc;
}

static uint8_t pattern(size_t i, int rank)
{
    return (uint8_t)(i * 31 + i / 1000 + (size_t)rank);
}

void case_onesided(struct fake *fake, const struct conform_traits *traits)
{
    int from = fake->procs == 1 ? 0 : 1 - fake->rank;
    struct fake_peer *peer = &fake->peer[from];
    const struct chan_onesided *onesided = fake->ops->onesided;
    static uint8_t source[REACHED], target[REACHED];
    uint64_t key[KEY_WORDS];
    int mine = fake->rank * SIDE_WORDS, theirs = from * SIDE_WORDS;
    if (fake->rank == 0)
        fake_link(fake, from);
    fake_until(fake, &peer->opened, 1, WAIT_MS, "opened()");
    FAKE_CHECK(fake, onesided->size >= sizeof(*onesided) && onesided->key_len <= CHAN_KEY_MAX,
               "its table has %u bytes, its keys %u", onesided->size, onesided->key_len);
    for (size_t i = 0; i < REACHED; i++)
        source[i] = pattern(i, fake->rank);
    struct chan_region *read = offer(fake, source, REACHED, mine);
    struct chan_region *written = offer(fake, target, REACHED, mine + SIDE_WORDS / 2);
    fake_barrier(fake);
    struct chan_remote remote = offered(fake, theirs, key);
    remote.address += 5;
    int rc = ended(fake, onesided->get(peer->link, target, &remote, REACHED - 9, fake), "get()");
    for (size_t i = 0; !rc && i < REACHED - 9; i++)
        FAKE_CHECK(fake, target[i] == pattern(i + 5, from), "get() damaged byte %zu", i);
    fake_barrier(fake);
    remote = offered(fake, theirs + SIDE_WORDS / 2, key);
    remote.address += 1;
    int began = onesided->put(peer->link, source + 3, &remote, REACHED - 3, fake);
    FAKE_CHECK(fake, onesided->flush(peer->link) == (began == CHAN_PENDING ? CHAN_AGAIN : 0),
               "flush() does not tell whether put() is over");
    int rc2 = ended(fake, began, "put()");
    FAKE_CHECK(fake, rc2 == rc, "put() returned %d, get() %d", rc2, rc);
    fake_barrier(fake);
    for (size_t i = 0; !rc && i < REACHED - 3; i++)
        FAKE_CHECK(fake, target[i + 1] == pattern(i + 3, from), "put() damaged byte %zu", i);
    onesided->dereg(read);
    onesided->dereg(written);
    (void)traits;
}

/* What is pending when its link is unlinked: done() tells when the memory is no longer written. */
void case_onesided_unlink(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = &fake->peer[1 - fake->rank];
    const struct chan_onesided *onesided = fake->ops->onesided;
    static uint8_t bytes[REACHED];
    uint64_t key[KEY_WORDS];
    if (fake->rank == 0)
        fake_link(fake, 1);
    fake_until(fake, &peer->opened, 1, WAIT_MS, "opened()");
    peer->may_lose = true;
    memset(bytes, fake->rank ? 'r' : '-', REACHED);
    struct chan_region *region = fake->rank ? offer(fake, bytes, REACHED, 0) : NULL;
    fake_barrier_still(fake);
    if (fake->rank == 0) { /* the other one is away meanwhile */
        struct chan_remote remote = offered(fake, 0, key);
        int rc = onesided->get(peer->link, bytes, &remote, REACHED, fake);
        FAKE_CHECK(fake, rc == 0 || rc == CHAN_PENDING || rc == CHAN_UNABLE, "get() returned %d", rc);
        fake_unlink(peer);
        fake_barrier_still(fake);
        if (rc == CHAN_PENDING)
            fake_until(fake, &fake->done, 1, WAIT_MS, "done() after unlink()");
        memset(bytes, '+', REACHED);
        fake_run(fake, 300);
        for (size_t i = 0; i < REACHED; i++)
            FAKE_CHECK(fake, bytes[i] == '+', "byte %zu is written after done()", i);
        FAKE_CHECK(fake, !fake->chan->links && fake->done == (rc == CHAN_PENDING), "a link is left");
    } else {
        fake_barrier_still(fake);
    }
    fake_barrier(fake);
    if (region)
        onesided->dereg(region);
    (void)traits;
}

enum { ADDS = 200, COUNTER_WORD = 2 * SIDE_WORDS };

/* One operation on the counter of rank 0, to its end. Returns 0 or CHAN_UNABLE. */
static int change(struct fake *fake, enum chan_atomic what, const uint64_t operands[2],
                  uint64_t *before)
{
    const struct chan_onesided *onesided = fake->ops->onesided;
    struct chan_link *link = fake->peer[0].link;
    uint64_t key[KEY_WORDS];
    struct chan_remote remote = offered(fake, COUNTER_WORD, key);
    int rc = ended(fake, onesided->atomic(link, what, operands, &remote, before, fake), "atomic()");
    FAKE_CHECK(fake, onesided->flush(link) == 0, "flush() waits for what is over");
    return rc;
}

/* Returns whether it can be done. */
static bool add_all(struct fake *fake)
{
    const uint64_t operands[2] = {3, 0};
    uint64_t last = 0, before = ~(uint64_t)0;
    fake_link(fake, 0);
    fake_until(fake, &fake->peer[0].opened, 1, WAIT_MS, "opened()");
    for (int i = 0; i < ADDS; i++) {
        int rc = change(fake, CHAN_ATOMIC_ADD, operands, &before);
        FAKE_CHECK(fake, !rc || !i, "atomic() cannot be done any more");
        if (rc)
            return false;
        FAKE_CHECK(fake, before % 3 == 0 && (i == 0 || before > last), "a sum goes back");
        last = before;
    }
    return true;
}

static void exchange_words(struct fake *fake)
{
    static const struct {
        enum chan_atomic what;
        uint64_t operands[2], before;
    } steps[] = {{CHAN_ATOMIC_COMPARE, {9, 8}, 7},
                 {CHAN_ATOMIC_COMPARE, {9, 7}, 7},
                 {CHAN_ATOMIC_SWAP, {1ull << 63, 0}, 9}};
    for (int i = 0; i < 3; i++) {
        uint64_t before = 0;
        int rc = change(fake, steps[i].what, steps[i].operands, &before);
        FAKE_CHECK(fake, !rc && before == steps[i].before, "step %d returned %d, found %llu", i, rc,
                   (unsigned long long)before);
    }
}

/* Ranks 1 and 2 change the counter of rank 0 at the same time. */
void case_atomic(struct fake *fake, const struct conform_traits *traits)
{
    static uint64_t counter;
    struct chan_region *region = NULL;
    bool alone = fake->procs == 1;
    uint64_t sum = 3 * ADDS * (alone ? 1 : 2);
    if (fake->rank == 0)
        region = offer(fake, &counter, sizeof(counter), COUNTER_WORD);
    fake_barrier(fake);
    if ((alone || fake->rank) && !add_all(fake))
        atomic_store(&fake->world->flag[0], 1);
    fake_barrier(fake);
    bool able = !atomic_load(&fake->world->flag[0]);
    if (fake->rank == 0) {
        FAKE_CHECK(fake, counter == sum || !able, "the sum is %llu", (unsigned long long)counter);
        counter = 7;
    }
    fake_barrier(fake);
    if (able && (alone || fake->rank == 1))
        exchange_words(fake);
    fake_barrier(fake);
    FAKE_CHECK(fake, fake->rank || !able || counter == 1ull << 63, "the word is %llx",
               (unsigned long long)counter);
    if (region)
        fake->ops->onesided->dereg(region);
    (void)traits;
}
