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

/* Find the latest entry of key below limit, which is at most the log's size. */
static int scan(const struct kvs *log, uint64_t limit, const char *key, const void **value,
                size_t *len)
{
    size_t want = strlen(key);
    int rc = KVS_ABSENT;
    for (uint64_t at = 0; at < limit;) {
        if (limit - at < ENTRY_HEAD)
            return -EPROTO;
        uint32_t key_len = read_once(log->base + at);
        uint32_t value_len = read_once(log->base + at + 4);
        uint64_t size = entry_size(key_len, value_len);
        if (!key_len || size > limit - at)
            return -EPROTO;
        const uint8_t *bytes = log->base + at + ENTRY_HEAD;
        if (key_len == want && !memcmp(bytes, key, want)) {
            *value = bytes + key_len;
            *len = value_len;
            rc = 0;
        }
        at += size;
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
