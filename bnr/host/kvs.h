/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One process's part of the key-value space: an append-only log in memory
 * that others read while it grows. Its owner appends entries and publishes
 * them by moving the watermark; an entry never changes once published. A later
 * entry of the same key stands for the earlier one.
 *
 * Readers do not trust the bytes, which another process has written: every length is read once and
 * bounded. No call allocates, waits or does I/O.
 *
 * Entry, in the host's byte order, aligned to 8: u32 length of the key, u32
 * length of the value, the key without NUL, the value, padding to 8.
 */
#ifndef BNR_KVS_H
#define BNR_KVS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct kvs {
    uint8_t *base; /* aligned to 8 */
    size_t size;
    _Atomic uint64_t *used; /* watermark: stored with release, pairs with the readers' acquire */
};

enum kvs_outcome {
    KVS_ABSENT = 1, /* no such key below the watermark */
    KVS_FULL = 2,   /* there is no room for the entry */
    KVS_EXISTS = 3, /* the key is there already */
};

/* Append an entry. Owner only. With replace false, a key that exists gives KVS_EXISTS. Returns 0,
 * an outcome, or -EPROTO for a damaged log. */
int kvs_put(const struct kvs *log, const char *key, const void *value, size_t len, int replace);

/* Point *value at the latest value of key, *len bytes in the log. Returns 0,
 * KVS_ABSENT, or -EPROTO. */
int kvs_get(const struct kvs *log, const char *key, const void **value, size_t *len);

/* One entry, in the log. */
struct kvs_entry {
    const void *key, *value;
    size_t key_len, value_len;
};

/* Step through a log, from *at = 0. Returns 0, KVS_ABSENT at its end, or -EPROTO. */
int kvs_next(const struct kvs *log, uint64_t *at, struct kvs_entry *entry);

#endif
