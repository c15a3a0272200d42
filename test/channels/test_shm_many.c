/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The shared-memory channel with more ranks than it looks at each time, all in
 * one process, so that what happens when is decided here; and what it does
 * when a peer writes nonsense where it may write.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/shm/shm.h"
#include "os/memory/segment.h"

enum {
    RANKS = 24,
    MEMORY = 32 << 20,
    PACKETS = 20000
};

struct rank;

struct peer {
    struct chan_peer base;
    void *slots[8]; /* of the channels: behind the peer */
    struct rank *of;
    struct chan_link *link;
    uint64_t out, in; /* packets */
    int opened, lost, ended, refused; /* lost to nonsense; to an end */
    enum chan_answer answer;
};

struct rank {
    struct chan *chan;
    struct chan_env env;
    struct peer peer[RANKS];
    int fd;
    int blind; /* this many of the next calls of memory() fail */
};

static struct rank ranks[RANKS];
static char cards[RANKS][CHAN_CARD_MAX];
static int wrong, failures, cases;

/* The rank in the group of the process with this index on the host, where others are, too. */
static uint32_t number_of(int index)
{
    return 1000 - 7 * (uint32_t)index;
}

static int index_of(uint32_t number)
{
    return (int)(1000 - number) / 7;
}

static void claim(int truth, const char *what)
{
    cases++;
    failures += !truth;
    printf("%s %d - %s\n", truth ? "ok" : "not ok", cases, what);
}

static void on_arrived(struct chan_peer *base, const struct chan_head *head, const void *data,
                       size_t len)
{
    struct peer *peer = (struct peer *)base;
    const unsigned char *bytes = data;
    wrong += head->word[0] != peer->in++ || head->word[1] != len;
    for (size_t i = 0; i < len; i++)
        wrong += bytes[i] != (unsigned char)(head->word[0] + i);
}

static enum chan_answer on_asked(void *device, const struct chan_ops *ops,
                                 const struct chan_gid *gid, uint32_t from, struct chan_peer **peer)
{
    *peer = &((struct rank *)device)->peer[index_of(from)].base;
    return CHAN_ACCEPT;
}

static void on_opened(struct chan_link *link)
{
    struct peer *peer = (struct peer *)link->peer;
    peer->link = link;
    peer->opened++;
}

static void on_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    struct peer *peer = (struct peer *)link->peer;
    peer->refused++;
    peer->answer = answer;
    peer->link = NULL;
    link->ops->unlink(link);
}

static void on_returned(struct chan_link *link, const struct chan_head *head, const void *data,
                        size_t len)
{
    struct peer *peer = (struct peer *)link->peer;
    const unsigned char *bytes = data;
    wrong += head->word[0] != --peer->out || head->word[1] != len;
    for (size_t i = 0; i < len; i++)
        wrong += bytes[i] != (unsigned char)(head->word[0] + i);
}

static void on_lost(struct chan_link *link, int rc)
{
    struct peer *peer = (struct peer *)link->peer;
    peer->lost += rc == -EPROTO;
    peer->ended += rc == -ECONNRESET;
    peer->link = NULL;
    link->ops->unlink(link);
}

static const struct chan_sink sink = {.arrived = on_arrived,
                                      .asked = on_asked,
                                      .opened = on_opened,
                                      .refused = on_refused,
                                      .returned = on_returned,
                                      .lost = on_lost};

static int64_t on_neighbor(void *device, int local_rank)
{
    (void)device;
    return number_of(local_rank);
}

static int on_memory(void *device, const struct chan_gid *gid, uint32_t of, int *fd,
                     uint64_t *offset, uint64_t *size)
{
    struct rank *rank = device;
    wrong += memcmp(gid, &rank->env.gid, sizeof(*gid)) != 0;
    if (rank->blind) {
        rank->blind--;
        return -ENOMEM;
    }
    *fd = rank->fd;
    *offset = (uint64_t)index_of(of) * MEMORY;
    *size = MEMORY;
    return 0;
}

static void start(int count)
{
    int fd = os_segment_create("test_shm_many", (uint64_t)count * MEMORY, 0);
    if (fd < 0)
        exit(1);
    memset(ranks, 0, sizeof(ranks));
    for (int r = 0; r < count; r++) {
        struct rank *rank = &ranks[r];
        char why[200];
        rank->fd = fd;
        rank->env = (struct chan_env){.size = sizeof(rank->env),
                                      .device = rank,
                                      .sink = &sink,
                                      .rank = number_of(r),
                                      .host_id = "h",
                                      .local_rank = r,
                                      .local_ranks = count,
                                      .cpus = 1,
                                      .neighbor = on_neighbor,
                                      .memory = on_memory};
        for (int p = 0; p < count; p++)
            rank->peer[p] = (struct peer){.base = {.rank = number_of(p)}, .of = rank};
        if (chan_shm.open(&rank->chan, &rank->env, why, sizeof(why)) ||
            chan_shm.card(rank->chan, cards[r]))
            exit(1);
    }
}

static void progress_all(int count)
{
    for (int r = 0; r < count; r++)
        chan_shm.progress(ranks[r].chan);
}

static void stop(int count)
{
    for (int r = 0; r < count; r++) {
        for (int p = 0; p < count; p++)
            if (ranks[r].peer[p].link)
                chan_shm.unlink(ranks[r].peer[p].link);
        wrong += ranks[r].chan->links != 0;
        chan_shm.close(ranks[r].chan);
    }
    close(ranks[0].fd);
}

static struct peer *connect_to(int from, int to)
{
    struct peer *peer = &ranks[from].peer[to];
    if (!peer->link && chan_shm.link(ranks[from].chan, &peer->base, cards[to], &peer->link))
        exit(1);
    return peer;
}

static int send_to(struct peer *peer, size_t len)
{
    static unsigned char bytes[SHM_CHUNK_MAX];
    struct chan_head head = {{peer->out, len}};
    struct chan_data data = {.base = bytes, .len = len};
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(peer->out + i);
    int rc = peer->link->send(peer->link, &head, &data);
    peer->out += !rc;
    return rc;
}

static void test_many(void)
{
    unsigned seed = 1;
    int links = 0, missing = 0;
    start(RANKS);
    for (int i = 0; i < PACKETS; i++) {
        int from = rand_r(&seed) % RANKS, to = rand_r(&seed) % RANKS;
        size_t len = (size_t)rand_r(&seed) % (rand_r(&seed) % 8 ? 100 : SHM_CHUNK_MAX + 1);
        if (from == to)
            continue;
        while (send_to(connect_to(from, to), len) == CHAN_AGAIN)
            progress_all(RANKS);
        if (i % 64 == 0)
            chan_shm.progress(ranks[rand_r(&seed) % RANKS].chan);
    }
    for (int i = 0; i < 400; i++)
        progress_all(RANKS);
    for (int a = 0; a < RANKS; a++)
        for (int b = 0; b < RANKS; b++) {
            missing += ranks[a].peer[b].out != ranks[b].peer[a].in;
            links += ranks[a].peer[b].opened;
        }
    claim(!missing && !wrong, "24 ranks get all that each sent them, in order");
    claim(links == RANKS * (RANKS - 1), "each pair has one link");
    stop(RANKS);
    claim(!wrong, "no link is left");
}

/* A pair of ranks, linked; rank 0 then writes nonsense for rank 1. */
static struct shm_link *pair(void)
{
    start(2);
    connect_to(0, 1);
    for (int i = 0; i < 4; i++)
        progress_all(2);
    return (struct shm_link *)ranks[0].peer[1].link;
}

static void test_slots(void)
{
    static const struct {
        uint32_t kind, len, offset;
        const char *what;
    } bad[] = {
        {0, SHM_RING_INLINE + 1, 0, "an inline length beyond a slot"},
        {1, SHM_CHUNK_MAX + 1, 0, "a chunk longer than any"},
        {1, 0xffffff, 0, "the longest length"},
        {1, 100, 0xffffffff, "an offset beyond the region"},
        {1, 100, MEMORY - 50, "a chunk that ends beyond the region"},
        {2, 0, 0, "a kind that is none"},
        {255, 0xffffff, 0xffffffff, "ones"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct shm_link *link = pair();
        struct shm_ring_slot *slot = shm_ring_next(&link->out);
        memcpy(slot->body, &bad[i].offset, sizeof(bad[i].offset));
        shm_ring_publish(&link->out, slot, (enum shm_kind)bad[i].kind, bad[i].len,
                         memory_order_release);
        progress_all(2);
        progress_all(2);
        claim(ranks[1].peer[0].lost == 1 && !ranks[1].peer[0].in, bad[i].what);
        stop(2);
    }
}

static void test_words(void)
{
    struct shm_link *link = pair();
    atomic_store(&((struct shm *)ranks[0].chan)->links[1]->out_lines->credit.received, 1000);
    for (int i = 0; i < 200 && ranks[0].peer[1].link; i++) {
        send_to(&ranks[0].peer[1], 8);
        chan_shm.progress(ranks[0].chan);
    }
    claim(ranks[0].peer[1].lost == 1, "credit that cannot be loses the link");
    stop(2);

    start(2);
    struct shm_link *victim;
    if (shm_link_contact((struct shm *)ranks[0].chan, 1, &link) ||
        shm_link_contact((struct shm *)ranks[1].chan, 0, &victim))
        exit(1);
    atomic_store(&link->out_lines->attempt, 1ull << 32 | 500);
    for (int i = 0; i < 64; i++)
        atomic_store(&link->theirs->called[i], ~0ull);
    atomic_fetch_add(&link->theirs->news, 7);
    chan_shm.progress(ranks[1].chan);
    claim(!ranks[1].peer[0].opened && !victim->hears, "an attempt at a wild position is refused");
    stop(2);
}

/* A rank that cannot map its caller says no, and the packets go back. */
static void test_blind(void)
{
    struct chan_link *link;
    start(2);
    ranks[1].blind = 1;
    connect_to(0, 1);
    for (size_t len = 0; len < 40000; len += 1000)
        send_to(&ranks[0].peer[1], len > 16000 ? 16000 : len);
    claim(ranks[0].peer[1].out > 20, "many packets are taken before the peer has answered");
    for (int i = 0; i < 4; i++)
        progress_all(2);
    claim(ranks[0].peer[1].refused == 1 && ranks[0].peer[1].answer == CHAN_REFUSE_UNABLE &&
              !ranks[1].peer[0].opened,
          "a peer that cannot map our memory refuses");
    claim(!ranks[0].peer[1].out && !wrong, "and all packets come back, the newest first");
    claim(chan_shm.link(ranks[1].chan, &ranks[1].peer[0].base, cards[0], &link) < 0,
          "nor does it call us, although it could by now");
    connect_to(0, 1);
    for (int i = 0; i < 4; i++)
        progress_all(2);
    claim(ranks[0].peer[1].refused == 2, "and who calls again is refused again");
    stop(2);
}

/* All have sent, more of them than one call looks at, and then ended one after the other: each
 * ring is read empty, and then its link is lost. */
static void test_ended(void)
{
    int missing = 0, early = 0;
    start(RANKS);
    for (int r = 1; r < RANKS; r++)
        connect_to(r, 0);
    for (int i = 0; i < 4; i++)
        progress_all(RANKS);
    for (int r = 1; r < RANKS; r++)
        for (int i = 0; i < SHM_RING_SLOTS; i++)
            missing += send_to(&ranks[r].peer[0], i % 4 ? 40 : 3000) != 0;
    for (int r = RANKS - 1; r > 0; r--) {
        struct peer *peer = &ranks[0].peer[r];
        chan_shm.finish(peer->link);
        early += send_to(peer, 8) != CHAN_AGAIN;
        for (int i = 0; i < 4 && peer->link; i++)
            chan_shm.progress(ranks[0].chan);
        missing += peer->in != SHM_RING_SLOTS || peer->ended != 1;
    }
    claim(!missing && !wrong, "what each of 23 processes that end has left in its ring arrives");
    claim(!early, "nothing is taken for them any more");
    claim(!ranks[0].chan->links, "and their links end");
    stop(RANKS);
}

static void test_cards(void)
{
    static const char *const bad[] = {"",         "index=",   "index=2",
                                      "index=3",  "index=0",  "index=-1",
                                      "index=1x", "rank=1",   "index=99999999999999999999"};
    struct chan_link *link;
    int rc = 0;
    start(3);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        rc += chan_shm.link(ranks[0].chan, &ranks[0].peer[1].base, bad[i], &link) < 0;
    claim(rc == (int)(sizeof(bad) / sizeof(bad[0])), "cards without the peer's index make no link");
    stop(3);
}

static void test_layout(void)
{
    struct shm_layout layout;
    claim(!shm_layout_plan(&layout, 1000, MEMORY) && layout.size <= MEMORY,
          "1000 ranks fit into 32 MiB");
    claim(shm_layout_plan(&layout, 9000, MEMORY) == -ENOSPC, "9000 ranks do not");
    claim(!shm_layout_plan(&layout, 2, MEMORY) && layout.size < MEMORY / 2,
          "two ranks map less than there is");
}

int main(void)
{
    test_layout();
    test_many();
    test_slots();
    test_words();
    test_blind();
    test_ended();
    test_cards();
    printf("1..%d\n", cases);
    return failures ? 1 : 0;
}
