/* SPDX-License-Identifier: BSD-3-Clause */

/* Parts of long xcasts; see xcast_join.h. */
#include "bnr/core/tree/xcast_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/hash.h"


struct xcast_part {
    struct bytes *data;
    size_t len; /* of the payload, at the end of the data */
};

struct xcast_join {
    uint32_t origin;
    struct xcast_part *parts;
    size_t count, room, len; /* len: of all payloads */
    UT_hash_handle hh;
};

static struct xcast_join *find(struct xcast_join *all, uint32_t origin)
{
    struct xcast_join *join;
    HASH_FIND(hh, all, &origin, sizeof(origin), join);
    return join;
}

static void drop(struct xcast_join **all, struct xcast_join *join)
{
    HASH_DEL((*all), join);
    for (size_t i = 0; i < join->count; i++)
        bytes_unref(join->parts[i].data);
    free(join->parts);
    free(join);
}

static struct xcast_join *find_or_add(struct xcast_join **all, uint32_t origin)
{
    struct xcast_join *join = find(*all, origin);
    if (join || !(join = calloc(1, sizeof(*join))))
        return join;
    join->origin = origin;
    HASH_ADD(hh, (*all), origin, sizeof(join->origin), join);
    return join;
}

static int keep(struct xcast_join *join, const struct core_message *message, size_t len)
{
    if (join->count == join->room) {
        size_t room = join->room ? 2 * join->room : 16;
        struct xcast_part *parts = realloc(join->parts, room * sizeof(*parts));
        if (!parts)
            return -ENOMEM;
        join->parts = parts;
        join->room = room;
    }
    join->parts[join->count++] = (struct xcast_part){bytes_ref(message->data), len};
    join->len += len;
    return 0;
}

/* The addresses of the first part, and the payloads of all. */
static struct bytes *put_together(const struct xcast_join *join)
{
    const struct xcast_part *first = &join->parts[0];
    size_t head = first->data->len - first->len;
    struct bytes *whole = bytes_create(NULL, head + join->len);
    uint8_t *at = whole ? whole->at + head : NULL;
    if (whole && head)
        memcpy(whole->at, first->data->at, head);
    for (size_t i = 0; whole && i < join->count; i++) {
        const struct xcast_part *part = &join->parts[i];
        memcpy(at, part->data->at + part->data->len - part->len, part->len);
        at += part->len;
    }
    return whole;
}

int xcast_join_take(struct xcast_join **all, const struct core_message *part, size_t len,
                    struct bytes **whole)
{
    bool is_last = !(part->flags & MESSAGE_MORE);
    struct xcast_join *join = is_last ? find(*all, part->origin) : find_or_add(all, part->origin);
    *whole = NULL;
    if (!join && is_last) {
        *whole = bytes_ref(part->data);
        return 0;
    }
    if (!join)
        return -ENOMEM;
    if (part->data->len + join->len > XCAST_DATA_MAX)
        return -EPROTO;
    int rc = keep(join, part, len);
    if (rc || !is_last)
        return rc;
    *whole = put_together(join);
    drop(all, join);
    return *whole ? 0 : -ENOMEM;
}

void xcast_join_forget(struct xcast_join **all, uint32_t origin)
{
    struct xcast_join *join = find(*all, origin);
    if (join)
        drop(all, join);
}

void xcast_join_fini(struct xcast_join **all)
{
    while (*all)
        drop(all, *all);
}
