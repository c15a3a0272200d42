/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A ring of packets from one process to one other: one producer, one consumer,
 * no lock. It lies in the consumer's shared region; zero-filled memory is an
 * empty ring, so a producer may fill it before its consumer exists.
 *
 * A slot is one cache line and holds a small packet whole. Its control word,
 * written last, says that the slot is full, of what, and for which lap: a
 * producer that dies halfway leaves the slot empty. The consumer gives room back
 * through a credit line of its own, which the producer reads only when it has
 * used up what it knows of.
 *
 * Positions count packets and wrap at 2^32. Each side keeps its own position in
 * private memory; what it reads from the other is hostile until checked.
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "include/channel.h"

enum {
    SHM_RING_SLOTS = 64,  /* a power of two */
    SHM_RING_INLINE = 40, /* bytes of payload that a slot holds */
    SHM_RING_CREDIT = 16  /* small packets between two returns of credit */
};

/* What a slot's body is. */
enum shm_kind {
    SHM_KIND_INLINE = 0, /* the payload */
    SHM_KIND_CHUNK = 1   /* a uint32_t: where in the sender's pool the payload begins */
};

struct shm_ring_slot {
    _Atomic uint64_t control; /* kind 8, length 24, sequence 32; pairs with the peek */
    struct chan_head head;
    unsigned char body[SHM_RING_INLINE];
};

_Static_assert(sizeof(struct shm_ring_slot) == 64, "a slot is one cache line");

/* The line through which the consumer answers. */
struct shm_ring_credit {
    _Atomic uint32_t received; /* position up to which slots and chunks are free again: stored after they were
                                * read, pairs with shm_ring_refresh() */
    _Atomic uint32_t heard;    /* number of the caller's attempt that was answered last; its owner alone reads it */
    _Atomic uint32_t refusal;  /* number << 8 | answer of the attempt refused last; pairs with shm_link_answer() */
};

/* The producer's end, private. */
struct shm_ring_out {
    struct shm_ring_slot *slots;
    uint32_t sent;  /* position of the next packet */
    uint32_t limit; /* position that must not be used before more credit comes */
};

/* The consumer's end, private. */
struct shm_ring_in {
    struct shm_ring_slot *slots;
    uint32_t received; /* position of the next packet */
};

/* Copy len <= SHM_RING_INLINE bytes; inline, for sizes that are not known. */
static inline void shm_copy_small(void *to, const void *from, size_t len)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (len > 16) {
        uint64_t first[2], middle, last[2];
        memcpy(first, f, 16);
        memcpy(last, f + len - 16, 16);
        if (len > 32) {
            memcpy(&middle, f + 16, 8);
            memcpy(t + 16, &middle, 8);
        }
        memcpy(t, first, 16);
        memcpy(t + len - 16, last, 16);
    } else if (len >= 8) {
        uint64_t first, last;
        memcpy(&first, f, 8);
        memcpy(&last, f + len - 8, 8);
        memcpy(t, &first, 8);
        memcpy(t + len - 8, &last, 8);
    } else if (len >= 4) {
        uint32_t first, last;
        memcpy(&first, f, 4);
        memcpy(&last, f + len - 4, 4);
        memcpy(t, &first, 4);
        memcpy(t + len - 4, &last, 4);
    } else if (len) {
        unsigned char first = f[0], middle = f[len / 2], last = f[len - 1];
        t[0] = first;
        t[len / 2] = middle;
        t[len - 1] = last;
    }
}

/* Copy a head word by word. The sender has written its words just now, one by one: a
 * load of both at once would wait until those stores have left the processor, behind
 * all that went before them. */
static inline void shm_copy_head(struct chan_head *to, const struct chan_head *from)
{
    uint64_t first = __atomic_load_n(&from->word[0], __ATOMIC_RELAXED);
    uint64_t second = __atomic_load_n(&from->word[1], __ATOMIC_RELAXED);
    to->word[0] = first;
    to->word[1] = second;
}

static inline uint64_t shm_ring_control(uint32_t position, enum shm_kind kind, uint32_t len)
{
    return (uint64_t)kind << 56 | (uint64_t)len << 32 | (uint32_t)(position + 1);
}

static inline uint32_t shm_ring_len(uint64_t control)
{
    return (uint32_t)(control >> 32) & 0xffffff;
}

static inline uint32_t shm_ring_kind(uint64_t control)
{
    return (uint32_t)(control >> 56);
}

static inline int shm_ring_full(const struct shm_ring_out *out)
{
    return out->sent == out->limit;
}

/* The slot to fill next; only while the ring is not full. */
static inline struct shm_ring_slot *shm_ring_next(struct shm_ring_out *out)
{
    return &out->slots[out->sent % SHM_RING_SLOTS];
}

/* Hand over the slot that shm_ring_next() gave. order is release, or seq_cst
 * where a load that follows must not be done before. */
static inline void shm_ring_publish(struct shm_ring_out *out, struct shm_ring_slot *slot,
                                    enum shm_kind kind, uint32_t len, memory_order order)
{
    uint64_t control = shm_ring_control(out->sent, kind, len);
    out->sent++;
    atomic_store_explicit(&slot->control, control, order);
}

/* Take the consumer's credit. Returns 0, or -EPROTO if it cannot be. */
int shm_ring_refresh(struct shm_ring_out *out, const struct shm_ring_credit *credit);

/* Look for the next packet. Returns whether there is one: *slot is its place, *control its kind.
 * Everything in both is the peer's word. */
static inline int shm_ring_peek(const struct shm_ring_in *in, struct shm_ring_slot **slot,
                                uint64_t *control)
{
    uint32_t received = in->received;
    *slot = &in->slots[received % SHM_RING_SLOTS];
    *control = atomic_load_explicit(&(*slot)->control, memory_order_acquire);
    return (uint32_t)*control == received + 1;
}

/* Done with the packet that shm_ring_peek() showed. Returns whether it is time
 * to give credit. */
static inline int shm_ring_pop(struct shm_ring_in *in)
{
    return ++in->received % SHM_RING_CREDIT == 0;
}

/* Give back the room of all packets up to here, and the chunks that they named. */
static inline void shm_ring_give(const struct shm_ring_in *in, struct shm_ring_credit *credit,
                                 memory_order order)
{
    atomic_store_explicit(&credit->received, in->received, order);
}

#endif
