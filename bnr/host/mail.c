/* SPDX-License-Identifier: BSD-3-Clause */

/* A ring of bytes in shared memory; see mail.h. */
#include "bnr/host/mail.h"

#include <errno.h>
#include <string.h>

/* How many of len bytes lie before the ring's end, from a count on; the others lie at its begin. */
static size_t before_end(const struct mail *m, uint64_t at, size_t len)
{
    size_t left = m->size - (size_t)(at & (m->size - 1));
    return left < len ? left : len;
}

long mail_write(const struct mail *m, const void *data, size_t len)
{
    uint64_t put = atomic_load_explicit(&m->words->put, memory_order_relaxed);
    uint64_t taken = atomic_load_explicit(&m->words->taken, memory_order_acquire);
    if (put - taken > m->size)
        return -EPROTO;
    size_t room = m->size - (size_t)(put - taken);
    len = len < room ? len : room;
    if (!len)
        return 0;
    size_t first = before_end(m, put, len);
    memcpy(m->base + (put & (m->size - 1)), data, first);
    memcpy(m->base, (const uint8_t *)data + first, len - first);
    atomic_store_explicit(&m->words->put, put + len, memory_order_release);
    return (long)len;
}

long mail_read(const struct mail *m, void *data, size_t len)
{
    uint64_t taken = atomic_load_explicit(&m->words->taken, memory_order_relaxed);
    uint64_t put = atomic_load_explicit(&m->words->put, memory_order_acquire);
    if (put - taken > m->size)
        return -EPROTO;
    size_t there = (size_t)(put - taken);
    len = len < there ? len : there;
    if (!len)
        return 0;
    size_t first = before_end(m, taken, len);
    memcpy(data, m->base + (taken & (m->size - 1)), first);
    memcpy((uint8_t *)data + first, m->base, len - first);
    atomic_store_explicit(&m->words->taken, taken + len, memory_order_release);
    return (long)len;
}

/* Two full fences: either the writer sees the room, when it tries once more, or the reader sees that it waits. */
void mail_say_full(const struct mail *m)
{
    atomic_store_explicit(&m->words->is_full, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

bool mail_has_waiter(const struct mail *m)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&m->words->is_full, memory_order_relaxed) && atomic_exchange(&m->words->is_full, 0);
}

uint64_t mail_waiting(const struct mail *m)
{
    return atomic_load_explicit(&m->words->put, memory_order_acquire) -
           atomic_load_explicit(&m->words->taken, memory_order_relaxed);
}
