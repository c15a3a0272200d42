/* SPDX-License-Identifier: BSD-3-Clause */

/* One peer: attempts, packets out, packets in; see shm.h. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "channels/shm/shm.h"
#include "os/memory/cache.h"
#include "os/log.h"
#include "os/memory/segment.h"
#include "slots.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    BATCH = 32,      /* packets received from one peer before others have their turn */
    HASTE_MAX = 1024 /* bytes of a chunk to move from cache to cache as early as can be: measured */
};

/* Wake the peer if it sleeps for the word just stored. Without fenced, the peer's heavy fence
 * orders that store before this load; only the compiler must not swap them. */
static inline void wake(struct shm_link *link, uint32_t mask, int fenced)
{
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t sleeping = atomic_load_explicit(&link->theirs->sleeping,
                                             fenced ? memory_order_seq_cst : memory_order_relaxed);
    if (UNLIKELY(sleeping & mask))
        shm_bell_ring(link, sleeping);
}

static inline void publish(struct shm_link *link, struct shm_ring_slot *slot, enum shm_kind kind,
                           size_t len, int fenced)
{
    shm_ring_publish(&link->out, slot, kind, (uint32_t)len,
                     fenced ? memory_order_seq_cst : memory_order_release);
    wake(link, ~0u, fenced);
}

int shm_link_refresh(struct shm_link *link)
{
    uint32_t limit = link->out.limit;
    if (link->broken || link->last || link->held)
        return 0;
    if (shm_ring_refresh(&link->out, &link->out_lines->credit)) {
        link->broken = -EPROTO;
        link->out.limit = link->out.sent;
        link->shm->chores = 1;
        return 0;
    }
    shm_chunk_collect(&link->shm->pool, &link->flights, link->out.limit - SHM_RING_SLOTS);
    if (link->out.limit == limit)
        return 0;
    link->shm->has_room = 1;
    return 1;
}

/* A chunk for len bytes. Looks for credit if no chunk is at hand: of this peer first, then of a few
 * others, which may hold chunks too. */
static void *find_chunk(struct shm_link *link, size_t len, struct shm_flight *flight)
{
    struct shm *shm = link->shm;
    void *chunk = shm_chunk_get(&shm->pool, &link->flights, len, 0, flight);
    if (LIKELY(chunk))
        return chunk;
    shm_link_refresh(link);
    chunk = shm_chunk_get(&shm->pool, &link->flights, len, 1, flight);
    for (uint32_t i = 0; !chunk && i < shm->contact_count && i < SHM_HOT; i++) {
        struct shm_link *other = shm->contacts[shm->turn_collect++ % shm->contact_count];
        if (other->flights.head != other->flights.tail && shm_link_refresh(other))
            chunk = shm_chunk_get(&shm->pool, &link->flights, len, 1, flight);
    }
    return chunk;
}

static int starve(struct shm_link *link)
{
    if (!link->starved) {
        link->starved = 1;
        link->shm->starved++;
    }
    return CHAN_AGAIN;
}

static void feed(struct shm_link *link)
{
    if (link->starved) {
        link->starved = 0;
        link->shm->starved--;
    }
}

static inline void fill(void *to, const struct chan_data *data)
{
    if (data->base)
        memcpy(to, data->base, data->len);
    else if (data->len)
        data->read(data, 0, to, data->len);
}

/* Everything but a small contiguous packet for a ring with room. */
static __attribute__((noinline)) int send_slow(struct shm_link *link, const struct chan_head *head,
                                               const struct chan_data *data)
{
    enum shm_kind kind = SHM_KIND_INLINE;
    if (link->broken || link->last || link->phase == SHM_GONE)
        return CHAN_AGAIN;
    if (shm_ring_full(&link->out) && !shm_link_refresh(link))
        return starve(link);
    struct shm_ring_slot *slot = shm_ring_next(&link->out);
    if (data->len <= SHM_RING_INLINE) {
        fill(slot->body, data);
    } else {
        struct shm_flight flight;
        void *chunk = find_chunk(link, data->len, &flight);
        if (!chunk)
            return starve(link);
        fill(chunk, data);
        os_cache_give(chunk, data->len < HASTE_MAX ? data->len : HASTE_MAX);
        kind = SHM_KIND_CHUNK;
        memcpy(slot->body, &flight.offset, sizeof(flight.offset));
        shm_chunk_sent(&link->shm->pool, &link->flights, &flight, link->out.sent);
        link->shm->ahead = (struct shm_ahead){link, flight.class, 0, (uint32_t)data->len};
    }
    shm_copy_head(&slot->head, head);
    if (UNLIKELY(link->starved))
        feed(link);
    publish(link, slot, kind, data->len, link->fenced);
    return 0;
}

static inline int send_small(struct chan_link *base, const struct chan_head *head,
                             const struct chan_data *data, int fenced)
{
    struct shm_link *link = (struct shm_link *)base;
    size_t len = data->len;
    const void *from = data->base;
    if (UNLIKELY(len > SHM_RING_INLINE || shm_ring_full(&link->out) || (!from && len)))
        return send_slow(link, head, data);
    struct shm_ring_slot *slot = shm_ring_next(&link->out);
    shm_copy_head(&slot->head, head);
    shm_copy_small(slot->body, from, len);
    publish(link, slot, SHM_KIND_INLINE, len, fenced);
    return 0;
}

static int send_plain(struct chan_link *base, const struct chan_head *head,
                      const struct chan_data *data)
{
    return send_small(base, head, data, 0);
}

static int send_fenced(struct chan_link *base, const struct chan_head *head,
                       const struct chan_data *data)
{
    return send_small(base, head, data, 1);
}

/* Once the peer has opened, it is known whether its heavy fence reaches us. */
static void choose_send(struct shm_link *link)
{
    const struct shm_header *theirs = link->theirs;
    link->fenced = !(link->shm->heavy && theirs->heavy &&
                     atomic_load_explicit(&theirs->state, memory_order_acquire) == SHM_OPEN);
    link->base.send = link->fenced ? send_fenced : send_plain;
}

/* Give credit, and wake the peer if it sleeps for want of it. */
static void give(struct shm_link *link)
{
    shm_ring_give(&link->in, &link->in_lines->credit,
                  link->fenced ? memory_order_seq_cst : memory_order_release);
    wake(link, SHM_SLEEP_STARVED, link->fenced);
}

static __attribute__((cold)) void break_off(struct shm_link *link, int rc)
{
    link->broken = rc;
    link->hears = 0;
    link->out.limit = link->out.sent;
    link->shm->chores = 1;
}

/* A packet that is not in one slot; or whose control word is nonsense. */
static int receive_large(struct shm_link *link, const struct shm_ring_slot *slot, uint64_t control,
                         const struct chan_head *head)
{
    const struct shm_layout *layout = &link->shm->layout;
    uint32_t offset, len = shm_ring_len(control);
    memcpy(&offset, slot->body, sizeof(offset));
    if (shm_ring_kind(control) != SHM_KIND_CHUNK || len > SHM_CHUNK_MAX ||
        offset > layout->size - layout->pool - len) {
        break_off(link, -EPROTO);
        return 0;
    }
    const unsigned char *chunk = link->their_pool + offset;
    os_cache_fetch(chunk, len < HASTE_MAX ? len : HASTE_MAX);
    link->shm->sink->arrived(link->base.peer, head, chunk, len);
    shm_ring_pop(&link->in);
    give(link);
    return 1;
}

int shm_link_receive(struct shm_link *link)
{
    const struct chan_sink *sink = link->shm->sink;
    struct shm_ring_slot *slot;
    uint64_t control;
    int upcalls = 0;

    while (shm_ring_peek(&link->in, &slot, &control)) {
        if (UNLIKELY(link->ends) && link->in.received == link->next_first) {
            link->shm->chores = 1;
            break;
        }
        struct chan_head head = slot->head;
        if (LIKELY(control >> 32 <= SHM_RING_INLINE)) {
            sink->arrived(link->base.peer, &head, slot->body, (size_t)(control >> 32));
            if (shm_ring_pop(&link->in))
                give(link);
        } else if (!receive_large(link, slot, control, &head)) {
            break;
        }
        if (++upcalls == BATCH || !link->hears)
            break;
    }
    return upcalls;
}

/* Count the peer's news up, and wake it. A peer that closes and does not see this is seen to have closed by those who
 * look at its state later; pairs with retire(). */
static void tell(struct shm_link *link)
{
    atomic_fetch_add_explicit(&link->theirs->news, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    wake(link, ~0u, 1);
}

static void init(struct shm_link *link, struct shm *shm, uint32_t index, unsigned char *region)
{
    const struct shm_layout *at = &shm->layout;
    unsigned char *mine = (unsigned char *)shm->mine;
    uint32_t me = (uint32_t)shm->env->local_rank;

    memset(link, 0, sizeof(*link));
    link->shm = shm;
    link->rank = (uint32_t)shm->env->neighbor(shm->env->device, (int)index);
    link->theirs = (struct shm_header *)region;
    link->their_pool = region + at->pool;
    link->out_lines = (struct shm_lines *)(region + at->lines) + me;
    link->in_lines = (struct shm_lines *)(mine + at->lines) + index;
    link->out.slots = (struct shm_ring_slot *)(region + at->rings) + (size_t)me * SHM_RING_SLOTS;
    link->in.slots = (struct shm_ring_slot *)(mine + at->rings) + (size_t)index * SHM_RING_SLOTS;
    /* Go on where the last record of this pair has stopped. */
    link->out.sent = atomic_load_explicit(&link->out_lines->sent, memory_order_relaxed);
    link->out.limit = link->out.sent;
    link->in.received =
        atomic_load_explicit(&link->in_lines->credit.received, memory_order_relaxed);
    link->in_number = atomic_load_explicit(&link->in_lines->credit.heard, memory_order_relaxed);
    link->base.ops = &chan_shm;
    link->base.eager_max = shm->pool.longest - 1; /* from here on a direct copy may be cheaper */
    link->base.max_data = shm->pool.longest;
}

static int make_contact(struct shm *shm, uint32_t index, struct shm_link *link)
{
    int fd;
    uint64_t offset, size;
    int rc = shm_region(shm, index, &fd, &offset, &size);
    if (rc)
        return rc;
    if (size < shm->layout.size)
        return -ENOSPC;
    unsigned char *region = os_segment_map(fd, offset, shm->layout.size, 1);
    if (!region)
        return -errno;
    init(link, shm, index, region);
    return 0;
}

static __attribute__((cold)) void note_unable(struct shm *shm, uint32_t index, int rc)
{
    shm->unable[index] = 1;
    if (shm->said_unable)
        return;
    shm->said_unable = 1;
    os_log(OS_LOG_WARN, "shm: not used with rank %d, as its memory cannot be mapped: %s",
           (int)shm->env->neighbor(shm->env->device, (int)index), strerror(-rc));
}

int shm_link_contact(struct shm *shm, uint32_t index, struct shm_link **out)
{
    if (!shm->links[index]) {
        struct shm_link *link = aligned_alloc(64, (sizeof(*link) + 63) / 64 * 64);
        if (!link)
            return -ENOMEM; /* for now; what cannot be mapped never can */
        int rc = shm->unable[index] ? -ENOTSUP : make_contact(shm, index, link);
        if (rc) {
            free(link);
            if (!shm->unable[index])
                note_unable(shm, index, rc);
            return rc == -ENOMEM ? -ENOTSUP : rc;
        }
        shm->links[index] = link;
        shm->contacts[shm->contact_count++] = link;
    }
    *out = shm->links[index];
    return 0;
}

void shm_link_destroy(struct shm_link *link)
{
    os_segment_unmap(link->theirs, link->shm->layout.size);
    free(link);
}

void shm_link_begin(struct shm_link *link, struct chan_peer *peer)
{
    struct shm_lines *lines = link->out_lines;
    uint32_t me = (uint32_t)link->shm->env->local_rank;
    uint64_t number = (atomic_load_explicit(&lines->attempt, memory_order_relaxed) >> 32) + 1;

    if (!(uint32_t)number)
        number = 1;
    link->base.peer = peer;
    link->broken = 0;
    link->phase = SHM_CALLING;
    link->out_number = (uint32_t)number;
    link->out_first = link->out.sent;
    link->held = number != 1;
    if (link->held)
        link->out.limit = link->out.sent;
    choose_send(link);
    link->shm->base.links++;
    link->shm->chores = 1;
    atomic_store_explicit(&lines->attempt, number << 32 | link->out.sent, memory_order_release);
    atomic_fetch_or_explicit(&link->theirs->called[me / 64], 1ull << me % 64, memory_order_release);
    tell(link);
}

int shm_link_may_hear(const struct shm_link *link, uint32_t first)
{
    return first - link->in.received <= SHM_RING_SLOTS;
}

void shm_link_hear(struct shm_link *link, uint32_t number, uint32_t first)
{
    struct shm *shm = link->shm;
    link->in_number = number;
    atomic_store_explicit(&link->in_lines->credit.heard, number, memory_order_relaxed);
    link->in.received = first;
    link->hears = 1;
    link->held = 0;
    choose_send(link);
    give(link);
    if (!link->listed) {
        link->listed = 1;
        shm->listening[shm->listening_count++] = link;
    }
}

void shm_link_refuse(struct shm_link *link, uint32_t number, enum chan_answer answer)
{
    link->in_number = number;
    atomic_store_explicit(&link->in_lines->credit.heard, number, memory_order_relaxed);
    atomic_store_explicit(&link->in_lines->credit.refusal, number << 8 | (uint32_t)answer,
                          memory_order_release);
    tell(link);
}

/* Its header alone is mapped, where another page was: that is enough to be told. */
void shm_link_refuse_unmapped(struct shm *shm, uint32_t index, uint32_t number)
{
    struct shm_lines *lines = (struct shm_lines *)((char *)shm->mine + shm->layout.lines) + index;
    struct shm_link link = {.shm = shm, .in_lines = lines, .theirs = shm->spare};
    int fd;
    uint64_t offset, size;
    if (atomic_load_explicit(&lines->credit.heard, memory_order_relaxed) == number)
        return;
    int rc = shm_region(shm, index, &fd, &offset, &size);
    if (!rc)
        rc = os_segment_remap(shm->spare, fd, offset, SHM_HEADER_SIZE, 1);
    if (rc)
        os_fail(rc, "shm: rank %d waits for an answer, and cannot be given one",
                (int)shm->env->neighbor(shm->env->device, (int)index));
    else
        shm_link_refuse(&link, number, CHAN_REFUSE_UNABLE);
}

enum chan_answer shm_link_answer(const struct shm_link *link)
{
    uint32_t refusal = atomic_load_explicit(&link->out_lines->credit.refusal, memory_order_acquire);
    if (refusal && refusal >> 8 == (link->out_number & 0xffffff))
        return (refusal & 0xff) > CHAN_REFUSE_FAILED ? CHAN_REFUSE_UNKNOWN
                                                     : (enum chan_answer)(refusal & 0xff);
    if (atomic_load_explicit(&link->theirs->state, memory_order_acquire) == SHM_CLOSED)
        return CHAN_REFUSE_CLOSED;
    return CHAN_ACCEPT;
}

/* The packets are still where we have put them: in the ring, and in chunks of ours. */
int shm_link_return(struct shm_link *link)
{
    struct shm_flights *flights = &link->flights;
    uint32_t count = link->out.sent - link->out_first, last = flights->head;

    if (count > SHM_RING_SLOTS)
        count = SHM_RING_SLOTS;
    for (uint32_t i = 1; i <= count && link->phase == SHM_GONE; i++) {
        uint32_t position = link->out.sent - i;
        const struct shm_ring_slot *slot = &link->out.slots[position % SHM_RING_SLOTS];
        const struct shm_flight *flight = &flights->flight[(last - 1) % SHM_RING_SLOTS];
        struct chan_head head = slot->head;
        const void *data = slot->body;
        uint32_t len = shm_ring_len(atomic_load_explicit(&slot->control, memory_order_relaxed));
        uint32_t most = SHM_RING_INLINE;
        if (last != flights->tail && flight->position == position) {
            most = link->shm->pool.classes[flight->class].size;
            data = link->shm->pool.base + flight->offset;
            last--;
        }
        link->shm->sink->returned(&link->base, &head, data, len < most ? len : most);
    }
    shm_chunk_collect(&link->shm->pool, flights, link->out.sent);
    return (int)count;
}

void shm_link_finish(struct chan_link *base)
{
    struct shm_link *link = (struct shm_link *)base;
    link->last = 1;
    link->out.limit = link->out.sent;
    link->shm->chores = 1;
}

void shm_link_end(struct chan_link *base)
{
    struct shm_link *link = (struct shm_link *)base;
    struct shm *shm = link->shm;

    atomic_store_explicit(&link->out_lines->sent, link->out.sent, memory_order_relaxed);
    give(link);
    feed(link);
    if (link->last) /* which nobody reads any more */
        shm_chunk_collect(&shm->pool, &link->flights, link->out.sent);
    if (link->ends || link->phase == SHM_GONE)
        shm->news_seen--; /* so that the peer's new attempt is looked at again */
    link->ends = 0;
    link->last = 0;
    link->hears = 0;
    shm->ahead.end = 0;
    link->phase = SHM_IDLE;
    link->broken = 0;
    shm->base.links--;
    shm->chores = 1;
}
