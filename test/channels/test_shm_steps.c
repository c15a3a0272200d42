/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The shared-memory channel of two processes, in every order of their steps: a reply is not lost
 * that comes right before its sender closes, nor a wake-up. The two are threads here, whose
 * channels have nothing in common but the host memory.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channels/shm/shm.h"
#include "slots.h"
#include "test/steps/steps.h"

enum {
    MEMORY = 36 << 20 /* bytes of address space per rank */
};

static int memory_fd;

/* One of the two processes. */
static struct player {
    struct chan_peer peer; /* first: the other one, as its channel knows it */
    void *slots[8]; /* of the channels: behind the peer */
    struct chan_env env;
    struct chan *chan;
    struct chan_link *link;
    char card[CHAN_CARD_MAX];
    int accepted, arrived, refused, lost, opened, sent;
} players[2];

static struct player *player_of(struct chan_peer *peer)
{
    return (struct player *)peer;
}

static void on_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                       size_t len)
{
    struct player *p = player_of(peer);
    if (head->word[0] != (uint64_t)p->arrived + 1 || len != 8 || memcmp(data, "a packet", 8))
        steps_fail("another packet has arrived");
    p->arrived++;
}

static enum chan_answer on_asked(void *device, const struct chan_ops *ops,
                                 const struct chan_gid *gid, uint32_t rank,
                                 struct chan_peer **peer)
{
    struct player *p = device;
    (void)ops, (void)gid, (void)rank;
    p->accepted++;
    *peer = &p->peer;
    return CHAN_ACCEPT;
}

static void on_opened(struct chan_link *link)
{
    struct player *p = player_of(link->peer);
    p->link = link;
    p->opened++;
}

static void on_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    struct player *p = player_of(link->peer);
    (void)answer, (void)why;
    p->refused++;
    p->link = NULL;
    link->ops->unlink(link);
}

static void on_returned(struct chan_link *link, const struct chan_head *head, const void *data,
                        size_t len)
{
    (void)link, (void)head, (void)data, (void)len;
}

static void on_lost(struct chan_link *link, int rc)
{
    struct player *p = player_of(link->peer);
    (void)rc;
    p->lost++;
    p->link = NULL;
    link->ops->unlink(link);
}

static int64_t get_neighbor(void *device, int local_rank)
{
    (void)device;
    return local_rank;
}

static int get_memory(void *device, const struct chan_gid *gid, uint32_t rank, int *fd,
                      uint64_t *offset, uint64_t *size)
{
    (void)device, (void)gid;
    *fd = memory_fd;
    *offset = (uint64_t)rank * MEMORY;
    *size = MEMORY;
    return 0;
}

static const struct chan_sink sink = {
    .arrived = on_arrived,
    .asked = on_asked,
    .opened = on_opened,
    .refused = on_refused,
    .returned = on_returned,
    .lost = on_lost,
};

/* ---- what each order begins and ends with ---- */

static void begin(void)
{
    memory_fd = memfd_create("steps", 0);
    if (memory_fd < 0 || ftruncate(memory_fd, (off_t)2 * MEMORY))
        exit(77);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct player *p = &players[rank];
        char why[256];
        *p = (struct player){.peer = {.rank = !rank}};
        p->env = (struct chan_env){.size = sizeof(p->env),
                                   .device = p,
                                   .sink = &sink,
                                   .rank = rank,
                                   .host_id = "host",
                                   .ranks = 2,
                                   .local_rank = (int)rank,
                                   .local_ranks = 2,
                                   .cpus = 2,
                                   .neighbor = get_neighbor,
                                   .memory = get_memory};
        if (chan_shm.open(&p->chan, &p->env, why, sizeof(why))) {
            printf("Bail out! %s\n", why);
            exit(1);
        }
        chan_shm.card(p->chan, p->card);
    }
}

/* The same, and the two have a link. */
static void begin_linked(void)
{
    begin();
    if (chan_shm.link(players[0].chan, &players[0].peer, players[1].card, &players[0].link))
        steps_fail("no link");
    while (!players[0].opened || !players[1].opened)
        for (int rank = 0; rank < 2; rank++)
            chan_shm.progress(players[rank].chan);
}

static void close_player(struct player *p)
{
    if (p->link)
        chan_shm.unlink(p->link);
    p->link = NULL;
    chan_shm.close(p->chan);
    p->chan = NULL;
}

static void end(void)
{
    for (int rank = 0; rank < 2; rank++)
        close_player(&players[rank]);
    close(memory_fd);
}

/* ---- moves of the players ---- */

/* Make progress; if there is none to make, the other one must. */
static void get_on(struct player *p)
{
    if (!chan_shm.progress(p->chan))
        steps_idle();
}

static void call_peer(struct player *p)
{
    if (chan_shm.link(p->chan, &p->peer, players[p->peer.rank].card, &p->link))
        p->link = NULL;
}

static bool try_send(struct player *p, uint64_t number)
{
    struct chan_head head = {{number, 0}};
    struct chan_data data = {.base = "a packet", .len = 8};
    if (p->link->send(p->link, &head, &data))
        return false;
    p->sent++;
    return true;
}

static void send_one(struct player *p, uint64_t number)
{
    if (!try_send(p, number))
        steps_fail("a packet was not taken");
}

/* ---- a reply, and then the end ---- */

/* Rank 0 calls; it is refused only by a peer that has not met it. */
static void call_and_listen(void)
{
    struct player *p = &players[0];
    call_peer(p);
    if (!p->link)
        return;
    while (!p->arrived && !p->refused)
        get_on(p);
}

/* Rank 1 looks a few times for callers, answers, and ends. */
static void answer_and_close(void)
{
    struct player *p = &players[1];
    for (int i = 0; i < 2; i++)
        chan_shm.progress(p->chan);
    if (p->link)
        send_one(p, 1);
    close_player(p);
}

static void close_only(void)
{
    close_player(&players[1]);
}

static void end_of_reply(void)
{
    if (players[1].accepted && !players[0].arrived)
        steps_fail("the reply of a peer that has closed is lost");
    if (!players[1].accepted && players[0].opened)
        steps_fail("opened by a peer that has not been asked");
    end();
}

/* Rank 1 calls, sends and ends at once; rank 0 has something to say to it, too, and calls. */
static void call_and_close(void)
{
    struct player *p = &players[1];
    call_peer(p);
    if (p->link)
        send_one(p, 1);
    close_player(p);
}

static void listen_while_calling(void)
{
    struct player *p = &players[0];
    call_peer(p);
    while (!p->arrived)
        get_on(p);
}

/* Both call at the same time: that is one link. */
static void call_and_hear(struct player *p)
{
    call_peer(p);
    if (p->link)
        send_one(p, 1);
    while (!p->arrived || !p->opened)
        get_on(p);
    if (p->refused || p->lost || p->opened > 1)
        steps_fail("two calls that cross became more than one link");
}

static void call_as_first(void)
{
    call_and_hear(&players[0]);
}

static void call_as_second(void)
{
    call_and_hear(&players[1]);
}

/* One ends its link, and calls again; the other finds its own one lost, and hears the new. */
static void call_again(void)
{
    struct player *p = &players[1];
    chan_shm.unlink(p->link);
    p->link = NULL;
    call_peer(p);
    while (!try_send(p, 1))
        get_on(p);
    while (p->opened < 2)
        get_on(p);
}

static void hear_again(void)
{
    struct player *p = &players[0];
    while (!p->arrived)
        get_on(p);
    if (p->lost != 1 || p->accepted + p->opened < 3)
        steps_fail("a new link went on as the old one");
}

/* ---- sleep ---- */

/* Make progress, or sleep until there is some to make. */
static void get_on_or_sleep(struct player *p)
{
    if (chan_shm.progress(p->chan))
        return;
    uint32_t seen = atomic_load_explicit(p->chan->word, memory_order_relaxed);
    int rc = chan_shm.arm(p->chan, CHAN_SLEEP_WORD);
    while (!rc && atomic_load_explicit(p->chan->word, memory_order_relaxed) == seen)
        steps_idle();
    chan_shm.disarm(p->chan);
}

static void sleep_and_listen(void)
{
    while (!players[0].arrived)
        get_on_or_sleep(&players[0]);
}

static void sleep_and_listen_twice(void)
{
    while (players[0].arrived < 2)
        get_on_or_sleep(&players[0]);
}

static void send_twice(void)
{
    send_one(&players[1], 1);
    send_one(&players[1], 2);
}

/* Rank 1 has filled the ring of rank 0. */
static void begin_full(void)
{
    struct player *p = &players[1];
    begin_linked();
    while (try_send(p, (uint64_t)p->sent + 1))
        continue;
}

static void sleep_and_send(void)
{
    struct player *p = &players[1];
    while (!try_send(p, (uint64_t)p->sent + 1))
        get_on_or_sleep(p);
}

static void listen_to_all(void)
{
    while (players[0].arrived <= SHM_RING_SLOTS)
        get_on(&players[0]);
}

static void call_and_send(void)
{
    struct player *p = &players[1];
    call_peer(p);
    send_one(p, 1);
    while (!p->opened)
        get_on(p);
}

/* In each a thread changes at most so many times where it need not, and so many stores are late. */
static const struct {
    const char *what;
    struct steps steps;
    bool light; /* the kernel has no heavy fence */
} rows[] = {
    {"a reply is read though its sender has closed",
     {begin, {call_and_listen, answer_and_close}, end_of_reply, 2, 0}, false},
    {"a caller is answered by one that closes", {begin, {call_and_listen, close_only}, end_of_reply, 2, 1}, false},
    {"a caller is read though it has closed",
     {begin, {listen_while_calling, call_and_close}, end, 2, 0}, false},
    {"calls that cross are one link", {begin, {call_as_first, call_as_second}, end, 2, 0}, false},
    {"a new link takes the place of the old one",
     {begin_linked, {hear_again, call_again}, end, 2, 0}, false},
    {"a sleeper is woken by a caller", {begin, {sleep_and_listen, call_and_send}, end, 2, 0}, false},
    {"also if stores are late", {begin, {sleep_and_listen, call_and_send}, end, 1, 1}, false},
    {"also without a heavy fence", {begin, {sleep_and_listen, call_and_send}, end, 1, 1}, true},
    {"a sleeper is woken by packets", {begin_linked, {sleep_and_listen_twice, send_twice}, end, 3, 0}, false},
    {"also if stores are late", {begin_linked, {sleep_and_listen_twice, send_twice}, end, 2, 1}, false},
    {"also without a heavy fence", {begin_linked, {sleep_and_listen_twice, send_twice}, end, 2, 1}, true},
    {"a sleeper is woken by room", {begin_full, {listen_to_all, sleep_and_send}, end, 2, 0}, false},
    {"also if stores are late", {begin_full, {listen_to_all, sleep_and_send}, end, 1, 1}, false},
    {"also without a heavy fence", {begin_full, {listen_to_all, sleep_and_send}, end, 1, 1}, true},
};

int main(void)
{
    int count = sizeof(rows) / sizeof(rows[0]), i = 0;
    printf("1..%d\n", count);
    for (; i < count; i++) {
        steps_light = rows[i].light;
        long orders = steps_run(&rows[i].steps);
        printf("# %ld orders\n%s %d - %s\n", orders, orders > 100 ? "ok" : "not ok", i + 1,
               rows[i].what);
        fflush(stdout);
        if (orders < 0)
            _exit(1); /* threads of a bad order stay as they are */
    }
    return 0;
}
