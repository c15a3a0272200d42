/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages as bytes; see frame.h. */
#include "bnr/wire/frame.h"

#include <errno.h>
#include <string.h>

#include "os/be.h"
#include "os/keyed_hash.h"

enum {
    HASH_AT = 16
};

/* The hash of a frame: of its body, with a key that the hash of its prefix has changed. */
static uint64_t hash_of(const struct frame_link *link, const uint8_t *frame, size_t len)
{
    uint8_t key[16];
    memcpy(key, link->key, sizeof(key));
    uint64_t prefix = os_keyed_hash(link->key, frame, HASH_AT);
    for (int i = 0; i < 8; i++)
        key[i] ^= (uint8_t)(prefix >> 8 * i);
    return os_keyed_hash(key, frame + FRAME_PREFIX_LEN, len - FRAME_PREFIX_LEN);
}

void frame_link_init(struct frame_link *link, const uint8_t key[16])
{
    memcpy(link->key, key, sizeof(link->key));
    link->sequence = 0;
}

struct bytes *frame_pack(struct frame_link *link, const struct core_message *message)
{
    size_t data_len = message->data ? message->data->len : 0;
    struct bytes *bytes = bytes_create(NULL, FRAME_HEAD_LEN + data_len);
    if (!bytes)
        return NULL;
    uint8_t *at = bytes->at;
    os_be32_put(at, (uint32_t)(FRAME_HEAD_LEN - FRAME_PREFIX_LEN + data_len));
    memcpy(at + 4, "Vnd", 3);
    at[7] = FRAME_VERSION;
    os_be64_put(at + 8, ++link->sequence);
    at[24] = message->kind;
    at[25] = message->mode;
    at[26] = message->status;
    at[27] = message->flags;
    os_be32_put(at + 28, message->origin);
    os_be32_put(at + 32, message->to);
    os_be32_put(at + 36, message->tag);
    os_be64_put(at + 40, message->group);
    os_be64_put(at + 48, message->number);
    os_be64_put(at + 56, message->other);
    if (data_len)
        memcpy(at + FRAME_HEAD_LEN, message->data->at, data_len);
    os_be64_put(at + HASH_AT, hash_of(link, at, bytes->len));
    return bytes;
}

int frame_len(const uint8_t prefix[FRAME_PREFIX_LEN], size_t *len)
{
    uint32_t body = os_be32_get(prefix);
    if (memcmp(prefix + 4, "Vnd", 3) || prefix[7] != FRAME_VERSION ||
        body < FRAME_HEAD_LEN - FRAME_PREFIX_LEN || body > FRAME_BODY_MAX)
        return -EPROTO;
    *len = FRAME_PREFIX_LEN + (size_t)body;
    return 0;
}

int frame_unpack(struct frame_link *link, const uint8_t *frame, size_t len,
                 struct core_message *message)
{
    size_t right;
    if (len < FRAME_HEAD_LEN || frame_len(frame, &right) || right != len ||
        os_be64_get(frame + 8) != link->sequence + 1 ||
        os_be64_get(frame + HASH_AT) != hash_of(link, frame, len))
        return -EPROTO;
    struct core_message got = {.kind = frame[24],
                               .mode = frame[25],
                               .status = frame[26],
                               .flags = frame[27],
                               .origin = os_be32_get(frame + 28),
                               .to = os_be32_get(frame + 32),
                               .tag = os_be32_get(frame + 36),
                               .group = os_be64_get(frame + 40),
                               .number = os_be64_get(frame + 48),
                               .other = os_be64_get(frame + 56)};
    if (!got.kind || got.kind >= MESSAGE_KIND_END)
        return -EPROTO;
    got.data = bytes_create(frame + FRAME_HEAD_LEN, len - FRAME_HEAD_LEN);
    if (!got.data)
        return -ENOMEM;
    link->sequence++;
    *message = got;
    return 0;
}
