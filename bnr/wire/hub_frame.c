/* SPDX-License-Identifier: BSD-3-Clause */

/* A hub's messages as bytes; see hub_frame.h. */
#include "bnr/wire/hub_frame.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static const uint8_t request[DOOR_REQUEST_LEN] = {'V', 'd', 'o', 'o', 'r', 0, DOOR_VERSION, 0};

void door_request_pack(uint8_t at[DOOR_REQUEST_LEN], enum door_wish wish)
{
    memcpy(at, request, DOOR_REQUEST_LEN);
    at[DOOR_REQUEST_LEN - 1] = (uint8_t)wish;
}

int door_request_unpack(const uint8_t at[DOOR_REQUEST_LEN])
{
    int wish = at[DOOR_REQUEST_LEN - 1];
    bool is_good = !memcmp(at, request, DOOR_REQUEST_LEN - 1);
    return is_good && (wish == DOOR_REPORT || wish == DOOR_STREAMS) ? wish : -EPROTO;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    value = htobe32(value);
    memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    value = htobe64(value);
    memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return be32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return be64toh(value);
}

void hub_frame_head(uint8_t at[HUB_FRAME_HEAD], const struct hub_message *m)
{
    at = put32(at, HUB_FRAME_HEAD + m->len);
    *at++ = m->kind;
    *at++ = m->flags;
    *at++ = m->policy;
    *at++ = 0;
    at = put32(at, m->id);
    at = put32(at, m->stream);
    at = put32(at, m->status);
    at = put32(at, (uint32_t)m->rank);
    at = put32(at, (uint32_t)m->tag);
    at = put64(at, m->off);
    at = put64(at, m->head);
    put64(at, m->taken);
}

ptrdiff_t hub_frame_unpack(const uint8_t *at, size_t len, struct hub_message *m)
{
    uint32_t all = len >= 4 ? get32(at) : HUB_FRAME_HEAD;
    if (all < HUB_FRAME_HEAD || all > HUB_FRAME_MAX)
        return -EPROTO;
    if (len < all)
        return 0;
    *m = (struct hub_message){.kind = at[4],
                              .flags = at[5],
                              .policy = at[6],
                              .id = get32(at + 8),
                              .stream = get32(at + 12),
                              .status = get32(at + 16),
                              .rank = (int32_t)get32(at + 20),
                              .tag = (int32_t)get32(at + 24),
                              .off = get64(at + 28),
                              .head = get64(at + 36),
                              .taken = get64(at + 44),
                              .data = at + HUB_FRAME_HEAD,
                              .len = all - HUB_FRAME_HEAD};
    if (!m->kind || m->kind >= HUB_KIND_END || m->flags & ~HUB_FLAGS)
        return -EPROTO;
    return (ptrdiff_t)all;
}
