/* SPDX-License-Identifier: BSD-3-Clause */

/* A ring of packets; see ring.h. */
#include "channels/pair/ring.h"

#include <errno.h>
#include <string.h>

enum { FRONT = sizeof(uint64_t) + sizeof(struct chan_head) };

static _Atomic uint64_t *word_at(struct pair_ring *ring, uint64_t at)
{
    return (_Atomic uint64_t *)(void *)(ring->bytes + at % PAIR_RING);
}

static uint64_t size_of(size_t len)
{
    return (FRONT + len + PAIR_STEP - 1) / PAIR_STEP * PAIR_STEP;
}

/* Whether so many bytes, and the word behind them, have room. What the reader says is checked: it can have read no more
 * than there was. */
static bool fits(struct pair_ring_out *out, uint64_t size)
{
    if (out->written - out->read + size + PAIR_STEP <= PAIR_RING)
        return true;
    uint64_t read = atomic_load_explicit(&out->ring->read, memory_order_acquire);
    if (read - out->read <= out->written - out->read)
        out->read = read;
    return out->written - out->read + size + PAIR_STEP <= PAIR_RING;
}

static void publish(struct pair_ring_out *out, uint64_t size, uint64_t word)
{
    _Atomic uint64_t *at = word_at(out->ring, out->written);
    out->written += size;
    atomic_store_explicit(word_at(out->ring, out->written), 0, memory_order_relaxed);
    atomic_store_explicit(at, word, memory_order_release);
}

bool pair_ring_put(struct pair_ring_out *out, const struct chan_head *head, const struct chan_data *data)
{
    uint64_t size = size_of(data->len), left = PAIR_RING - out->written % PAIR_RING;
    if (!fits(out, left < size ? left + size : size))
        return false;
    if (left < size)
        publish(out, left, PAIR_SKIP);
    unsigned char *at = out->ring->bytes + out->written % PAIR_RING + sizeof(uint64_t);
    memcpy(at, head, sizeof(*head));
    if (data->base)
        memcpy(at + sizeof(*head), data->base, data->len);
    else if (data->len)
        data->read(data, 0, at + sizeof(*head), data->len);
    publish(out, size, (uint64_t)data->len + 1);
    return true;
}

bool pair_ring_has_room(struct pair_ring_out *out)
{
    return fits(out, 2 * size_of(PAIR_DATA_MAX));
}

int64_t pair_ring_peek(struct pair_ring_in *in, struct chan_head *head, const void **data, size_t *len)
{
    uint64_t word = atomic_load_explicit(word_at(in->ring, in->read), memory_order_acquire);
    if (word == PAIR_SKIP) {
        in->read += PAIR_RING - in->read % PAIR_RING;
        word = atomic_load_explicit(word_at(in->ring, in->read), memory_order_acquire);
    }
    if (!word)
        return 0;
    uint64_t left = PAIR_RING - in->read % PAIR_RING;
    if (word - 1 > PAIR_DATA_MAX || size_of((size_t)word - 1) > left)
        return -EPROTO;
    const unsigned char *at = in->ring->bytes + in->read % PAIR_RING + sizeof(uint64_t);
    *len = (size_t)word - 1;
    memcpy(head, at, sizeof(*head));
    *data = at + sizeof(*head);
    return (int64_t)size_of(*len);
}

void pair_ring_pop(struct pair_ring_in *in, int64_t size)
{
    in->read += (uint64_t)size;
}

bool pair_ring_tell(struct pair_ring_in *in, bool at_once)
{
    uint32_t starved = atomic_load_explicit(&in->ring->starved, memory_order_relaxed);
    if (in->read == in->told || (!at_once && !starved && in->read - in->told < PAIR_TELL))
        return false;
    in->told = in->read;
    atomic_store_explicit(&in->ring->read, in->read, memory_order_seq_cst);
    return atomic_load_explicit(&in->ring->starved, memory_order_seq_cst) &&
           atomic_exchange_explicit(&in->ring->starved, 0, memory_order_relaxed);
}
