/* SPDX-License-Identifier: BSD-3-Clause */

/* One-sided operations; see conform_onesided.h. */
#include "test/channels/conform_onesided.h"

#include <string.h>

#include "test/channels/conform.h"
#include "test/channels/fake.h"

enum { WAIT_MS = 15000, REACHED = 3 << 20, KEY_WORDS = CHAN_KEY_MAX / 8, SIDE_WORDS = 2 * (1 + KEY_WORDS) };

/* Register memory, and tell the peer of it in the words of the world from word on. */
static struct chan_region *offer(struct fake *fake, void *base, int word)
{
    const struct chan_onesided *onesided = fake->ops->onesided;
    uint64_t key[KEY_WORDS] = {0};
    struct chan_region *region = NULL;
    int rc = onesided->reg(fake->chan, base, REACHED, &region);
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
    struct chan_region *read = offer(fake, source, mine);
    struct chan_region *written = offer(fake, target, mine + SIDE_WORDS / 2);
    fake_barrier(fake);
    struct chan_remote remote = offered(fake, theirs, key);
    remote.address += 5;
    int rc = ended(fake, onesided->get(peer->link, target, &remote, REACHED - 9, fake), "get()");
    for (size_t i = 0; !rc && i < REACHED - 9; i++)
        FAKE_CHECK(fake, target[i] == pattern(i + 5, from), "get() damaged byte %zu", i);
    fake_barrier(fake);
    remote = offered(fake, theirs + SIDE_WORDS / 2, key);
    remote.address += 1;
    int rc2 = ended(fake, onesided->put(peer->link, source + 3, &remote, REACHED - 3, fake), "put()");
    FAKE_CHECK(fake, rc2 == rc, "put() returned %d, get() %d", rc2, rc);
    fake_barrier(fake);
    for (size_t i = 0; !rc && i < REACHED - 3; i++)
        FAKE_CHECK(fake, target[i + 1] == pattern(i + 3, from), "put() damaged byte %zu", i);
    onesided->dereg(read);
    onesided->dereg(written);
    (void)traits;
}
