/* SPDX-License-Identifier: BSD-3-Clause */

/* A hub's messages as bytes; see hub_frame.h. */
#include "bnr/wire/hub_frame.h"

#include <errno.h>
#include <string.h>

#include "os/be.h"

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
    return is_good && wish >= DOOR_REPORT && wish <= DOOR_JOB ? wish : -EPROTO;
}

void hub_frame_head(uint8_t at[HUB_FRAME_HEAD], const struct hub_message *m)
{
    os_be32_put(at, HUB_FRAME_HEAD + m->len);
    at[4] = m->kind;
    at[5] = m->flags;
    at[6] = m->policy;
    at[7] = 0;
    os_be32_put(at + 8, m->id);
    os_be32_put(at + 12, m->stream);
    os_be32_put(at + 16, m->status);
    os_be32_put(at + 20, (uint32_t)m->rank);
    os_be32_put(at + 24, (uint32_t)m->tag);
    os_be64_put(at + 28, m->off);
    os_be64_put(at + 36, m->head);
    os_be64_put(at + 44, m->taken);
}

ptrdiff_t hub_frame_unpack(const uint8_t *at, size_t len, struct hub_message *m)
{
    uint32_t all = len >= 4 ? os_be32_get(at) : HUB_FRAME_HEAD;
    if (all < HUB_FRAME_HEAD || all > HUB_FRAME_MAX)
        return -EPROTO;
    if (len < all)
        return 0;
    *m = (struct hub_message){.kind = at[4],
                              .flags = at[5],
                              .policy = at[6],
                              .id = os_be32_get(at + 8),
                              .stream = os_be32_get(at + 12),
                              .status = os_be32_get(at + 16),
                              .rank = (int32_t)os_be32_get(at + 20),
                              .tag = (int32_t)os_be32_get(at + 24),
                              .off = os_be64_get(at + 28),
                              .head = os_be64_get(at + 36),
                              .taken = os_be64_get(at + 44),
                              .data = at + HUB_FRAME_HEAD,
                              .len = all - HUB_FRAME_HEAD};
    if (!m->kind || m->kind >= HUB_KIND_END)
        return -EPROTO;
    return (ptrdiff_t)all;
}
