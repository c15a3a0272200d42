/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ring and the chunks of the shared-memory channel, between two threads: what is
 * sent arrives once, whole and in order, through full and empty rings and the
 * wrap of positions; credit that cannot be is seen.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/shm/chunk.h"
#include "channels/shm/ring.h"

enum {
    PACKETS = 60000,
    POOL = 1 << 20
};

static int failures, cases;

static void claim(int truth, const char *what)
{
    cases++;
    failures += !truth;
    printf("%s %d - %s\n", truth ? "ok" : "not ok", cases, what);
}

/* What both threads share, as two processes would. */
struct wire {
    _Alignas(64) struct shm_ring_slot slots[SHM_RING_SLOTS];
    _Alignas(128) struct shm_ring_credit credit;
    _Alignas(64) unsigned char pool[POOL];
    uint32_t start; /* first position */
    unsigned seed;
    int slow;   /* the receiver dawdles */
    int errors; /* the receiver's */
};

static uint32_t pick_len(unsigned *seed)
{
    static const uint32_t bounds[] = {9, 41, 1025, SHM_CHUNK_MAX + 1};
    return (uint32_t)rand_r(seed) % bounds[rand_r(seed) % (rand_r(seed) % 8 ? 2 : 4)];
}

static unsigned char byte_of(uint64_t number, size_t i)
{
    return (unsigned char)(number * 131 + i * 7 + (i >> 8));
}

/* Returns whether the packet was taken. */
static int push(struct shm_ring_out *out, struct shm_chunk_pool *pool, struct shm_flights *flights,
                const struct chan_head *head, const unsigned char *bytes)
{
    uint32_t len = (uint32_t)head->word[1];
    if (shm_ring_full(out))
        return 0;
    struct shm_ring_slot *slot = shm_ring_next(out);
    slot->head = *head;
    if (len <= SHM_RING_INLINE) {
        shm_copy_small(slot->body, bytes, len);
        shm_ring_publish(out, slot, SHM_KIND_INLINE, len, memory_order_release);
        return 1;
    }
    struct shm_flight flight;
    void *chunk = shm_chunk_get(pool, flights, len, 1, &flight);
    if (!chunk)
        return 0;
    memcpy(chunk, bytes, len);
    memcpy(slot->body, &flight.offset, sizeof(flight.offset));
    shm_chunk_sent(pool, flights, &flight, out->sent);
    shm_ring_publish(out, slot, SHM_KIND_CHUNK, len, memory_order_seq_cst);
    return 1;
}

static void *produce(void *arg)
{
    struct wire *wire = arg;
    struct shm_ring_out out = {wire->slots, wire->start, wire->start};
    static struct shm_chunk_pool pool;
    static struct shm_flights flights;
    unsigned seed = wire->seed;
    unsigned char bytes[SHM_CHUNK_MAX];
    intptr_t errors = 0;

    memset(&flights, 0, sizeof(flights));
    shm_chunk_init(&pool, wire->pool, POOL, 1);
    for (uint64_t number = 0; number < PACKETS; number++) {
        struct chan_head head = {{number, pick_len(&seed)}};
        for (size_t i = 0; i < head.word[1]; i++)
            bytes[i] = byte_of(number, i);
        while (!push(&out, &pool, &flights, &head, bytes)) {
            errors += shm_ring_refresh(&out, &wire->credit) != 0;
            if (!shm_chunk_collect(&pool, &flights, out.limit - SHM_RING_SLOTS))
                sched_yield();
        }
    }
    while (out.limit - SHM_RING_SLOTS != out.sent)
        errors += shm_ring_refresh(&out, &wire->credit) != 0;
    shm_chunk_collect(&pool, &flights, out.sent);
    for (int c = 0; c < SHM_CHUNK_CLASSES; c++)
        errors += flights.held[c] || pool.classes[c].free_count != pool.classes[c].touched;
    return (void *)errors;
}

static void check(struct wire *wire, const struct chan_head *head, uint64_t number,
                  const unsigned char *bytes, uint32_t len)
{
    wire->errors += head->word[0] != number || head->word[1] != len;
    for (size_t i = 0; i < len; i++)
        wire->errors += bytes[i] != byte_of(number, i);
}

static void consume(struct wire *wire)
{
    struct shm_ring_in in = {wire->slots, wire->start};
    unsigned seed = wire->seed, naps = 5;
    for (uint64_t number = 0; number < PACKETS;) {
        struct shm_ring_slot *slot;
        uint64_t control;
        if (!shm_ring_peek(&in, &slot, &control)) {
            sched_yield();
            continue;
        }
        if (wire->slow && rand_r(&naps) % 128 == 0)
            sched_yield();
        struct chan_head head = slot->head;
        uint32_t len = shm_ring_len(control), offset;
        int give = 1;
        wire->errors += len != pick_len(&seed);
        if (shm_ring_kind(control) == SHM_KIND_CHUNK) {
            memcpy(&offset, slot->body, sizeof(offset));
            check(wire, &head, number, wire->pool + offset, len);
            shm_ring_pop(&in);
        } else {
            check(wire, &head, number, slot->body, len);
            give = shm_ring_pop(&in);
        }
        if (give)
            shm_ring_give(&in, &wire->credit, memory_order_release);
        number++;
    }
    shm_ring_give(&in, &wire->credit, memory_order_release);
}

static void run(uint32_t start, unsigned seed, int slow, const char *what)
{
    struct wire *wire = aligned_alloc(128, sizeof(*wire));
    pthread_t producer;
    void *errors = NULL;
    if (!wire)
        abort();
    memset(wire, 0, sizeof(*wire));
    wire->start = start;
    wire->seed = seed;
    wire->slow = slow;
    atomic_store(&wire->credit.received, start);
    if (pthread_create(&producer, NULL, produce, wire))
        abort();
    consume(wire);
    pthread_join(producer, &errors);
    claim(!wire->errors && !errors, what);
    free(wire);
}

static void test_copy_small(void)
{
    unsigned char from[64], to[64];
    int wrong = 0;
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char)(i + 1);
    for (size_t len = 0; len <= SHM_RING_INLINE; len++) {
        memset(to, 0, sizeof(to));
        shm_copy_small(to + 3, from, len);
        for (size_t i = 0; i < sizeof(to); i++)
            wrong += to[i] != (i >= 3 && i < 3 + len ? from[i - 3] : 0);
    }
    claim(!wrong, "small copies touch what they should");
}

static void test_credit(void)
{
    struct shm_ring_credit credit = {0};
    struct shm_ring_out out = {NULL, 10, SHM_RING_SLOTS + 4};
    atomic_store(&credit.received, 11);
    claim(shm_ring_refresh(&out, &credit) == -EPROTO, "credit for what was not sent is refused");
    atomic_store(&credit.received, 3);
    claim(shm_ring_refresh(&out, &credit) == -EPROTO, "credit taken back is refused");
    atomic_store(&credit.received, 10);
    claim(!shm_ring_refresh(&out, &credit) && out.limit == SHM_RING_SLOTS + 10,
          "credit for all that was sent is taken");
}

static void test_share(void)
{
    static unsigned char memory[POOL];
    static struct shm_chunk_pool pool;
    static struct shm_flights one, two;
    struct shm_flight flight;
    uint32_t taken = 0;
    shm_chunk_init(&pool, memory, sizeof(memory), 4);
    for (; taken < SHM_CHUNK_COUNT; taken++) {
        if (!shm_chunk_get(&pool, &one, SHM_CHUNK_MAX, 1, &flight))
            break;
        shm_chunk_sent(&pool, &one, &flight, taken);
    }
    claim(taken == pool.classes[SHM_CHUNK_CLASSES - 1].share &&
              shm_chunk_get(&pool, &two, SHM_CHUNK_MAX, 1, &flight),
          "one receiver cannot hold the chunks of all");
    claim(shm_chunk_collect(&pool, &one, 2) == 2 && shm_chunk_collect(&pool, &one, 2) == 0,
          "chunks come back as far as credit goes");
    claim(!shm_chunk_plan(1000, 1), "too little room makes no pool");
}

/* Room for a pool, and receivers: more than there are shares for. Those that are away, all but one, take what they can,
 * and leave a chunk of each size to the other. */
static void test_away(uint32_t room, int peers)
{
    static struct shm_chunk_pool pool;
    struct shm_flights *flights = calloc((size_t)peers, sizeof(*flights)), *last = &flights[peers - 1];
    unsigned char *memory = malloc(room);
    struct shm_flight flight;
    uint32_t served = 0, sizes = 0, held = 0, longest;
    uint32_t planned = shm_chunk_plan(room, peers);
    shm_chunk_init(&pool, memory, planned, peers);
    longest = pool.longest;
    for (uint32_t len = longest; len >= 1024; len /= 2, sizes++)
        for (int i = 0; i < peers - 1; i++)
            for (uint32_t n = 0; shm_chunk_get(&pool, &flights[i], len, 1, &flight); n++)
                shm_chunk_sent(&pool, &flights[i], &flight, n);
    for (int i = 0; i < peers - 1; i++)
        held += flights[i].head;
    for (uint32_t n = 0; n < 1000 * sizes; n++) {
        if (!shm_chunk_get(&pool, last, longest >> n % sizes, 1, &flight))
            break;
        memset(memory + flight.offset, 1, longest >> n % sizes);
        shm_chunk_sent(&pool, last, &flight, n);
        served += shm_chunk_collect(&pool, last, n + 1) == 1;
    }
    claim(planned && planned <= room && pool.size == planned, "a pool takes no more than its room");
    claim(held >= (uint32_t)peers - 1 && (peers > 200 || held > (uint32_t)peers),
          "those that are away hold what there is");
    claim(sizes && served == 1000 * sizes, "one that answers is served, however many are away");
    for (int i = 0; i < peers; i++)
        shm_chunk_collect(&pool, &flights[i], SHM_RING_SLOTS);
    int back = 1;
    for (int c = 0; c < SHM_CHUNK_CLASSES; c++)
        back &= pool.classes[c].free_count == pool.classes[c].touched &&
                (!pool.classes[c].count || pool.classes[c].without == (uint32_t)peers);
    claim(back, "all come back");
    free(memory);
    free(flights);
}

int main(void)
{
    test_copy_small();
    test_credit();
    test_share();
    test_away(13 << 20, 200);
    test_away(13 << 20, 511);
    test_away(58 << 20, 513);
    test_away(58 << 20, 2000);
    test_away(2 << 20, 200);
    test_away(4 << 20, 1000);
    claim(!shm_chunk_plan(1 << 20, 2000), "too little room for a chunk for each makes no pool");
    run(0, 1, 0, "packets of all sizes arrive whole and in order");
    run(0, 2, 1, "a slow receiver stops the sender and loses nothing");
    run(0u - 1000, 3, 0, "positions wrap at 2^32");
    printf("1..%d\n", cases);
    return failures ? 1 : 0;
}
