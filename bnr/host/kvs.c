/* SPDX-License-Identifier: BSD-3-Clause */

/* The log engine; see kvs.h. */
#include "bnr/host/kvs.h"

#include <errno.h>
#include <string.h>

enum {
    ENTRY_HEAD = 8
};

/* Bytes of an entry; both lengths are at most 32 bits wide, so this cannot wrap. */
static uint64_t entry_size(uint64_t key_len, uint64_t value_len)
{
    return (ENTRY_HEAD + key_len + value_len + 7) & ~(uint64_t)7;
}

static uint32_t read_once(const uint8_t *at)
{
    return *(const volatile uint32_t *)(const void *)at;
}

/* Read the entry at *at, and step behind it. */
static int step(const struct kvs *log, uint64_t limit, uint64_t *at, struct kvs_entry *entry)
{
    if (limit - *at < ENTRY_HEAD)
        return -EPROTO;
    entry->key_len = read_once(log->base + *at);
    entry->value_len = read_once(log->base + *at + 4);
    uint64_t size = entry_size(entry->key_len, entry->value_len);
    if (!entry->key_len || size > limit - *at)
        return -EPROTO;
    entry->key = log->base + *at + ENTRY_HEAD;
    entry->value = log->base + *at + ENTRY_HEAD + entry->key_len;
    *at += size;
    return 0;
}

/* Find the latest entry of key below limit, which is at most the log's size. */
static int scan(const struct kvs *log, uint64_t limit, const char *key, const void **value,
                size_t *len)
{
    size_t want = strlen(key);
    int rc = KVS_ABSENT;
    for (uint64_t at = 0; at < limit;) {
        struct kvs_entry e;
        if (step(log, limit, &at, &e))
            return -EPROTO;
        if (e.key_len == want && !memcmp(e.key, key, want)) {
            *value = e.value;
            *len = e.value_len;
            rc = 0;
        }
    }
    return rc;
}

static int watermark(const struct kvs *log, uint64_t *limit)
{
    *limit = atomic_load_explicit(log->used, memory_order_acquire);
    return *limit > log->size || *limit % 8 ? -EPROTO : 0;
}

int kvs_get(const struct kvs *log, const char *key, const void **value, size_t *len)
{
    uint64_t limit;
    int rc = watermark(log, &limit);
    return rc ? rc : scan(log, limit, key, value, len);
}

int kvs_next(const struct kvs *log, uint64_t *at, struct kvs_entry *entry)
{
    uint64_t limit;
    int rc = watermark(log, &limit);
    if (rc || *at >= limit)
        return rc ? rc : KVS_ABSENT;
    return step(log, limit, at, entry);
}

int kvs_put(const struct kvs *log, const char *key, const void *value, size_t len, int replace)
{
    uint64_t at;
    const void *old;
    size_t old_len, key_len = strlen(key);
    int rc = watermark(log, &at);
    if (!rc && !replace) {
        rc = scan(log, at, key, &old, &old_len);
        rc = rc == KVS_ABSENT ? 0 : rc ? rc : KVS_EXISTS;
    }
    if (rc)
        return rc;
    if (len > UINT32_MAX || entry_size(key_len, len) > log->size - at)
        return KVS_FULL;
    uint32_t head[2] = {(uint32_t)key_len, (uint32_t)len};
    uint8_t *entry = log->base + at;
    memcpy(entry, head, sizeof(head));
    memcpy(entry + ENTRY_HEAD, key, key_len);
    if (len)
        memcpy(entry + ENTRY_HEAD + key_len, value, len);
    atomic_store_explicit(log->used, at + entry_size(key_len, len), memory_order_release);
    return 0;
}
