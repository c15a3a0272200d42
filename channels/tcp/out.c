/* SPDX-License-Identifier: BSD-3-Clause */

/* Bytes that wait for a socket; see out.h. */
#include "channels/tcp/out.h"

#include <stdlib.h>
#include <string.h>

#include "channels/tcp/wire.h"

bool out_room(struct out *out, size_t len, bool grow)
{
    if (out->tail + len <= out->room)
        return true;
    size_t used = out->tail - out->head;
    if (out->head && used + len <= out->room) {
        memmove(out->bytes, out->bytes + out->head, used);
        out->head = 0;
        out->tail = used;
        return true;
    }
    if (out->room >= OUT_LEN && !grow)
        return false;
    size_t room = used + len > OUT_LEN ? used + len : OUT_LEN;
    if (room > OUT_LEN && !grow)
        return false;
    uint8_t *bytes = malloc(room);
    if (!bytes)
        return false;
    if (used)
        memcpy(bytes, out->bytes + out->head, used);
    free(out->bytes);
    *out = (struct out){.bytes = bytes, .room = room, .tail = used};
    return true;
}

size_t out_copy_rest(struct out *out, const uint8_t *header, const struct chan_data *data,
                     size_t gone)
{
    size_t start = out->tail, room = out->room - out->tail;
    if (gone < WIRE_HEADER_LEN) {
        size_t part = WIRE_HEADER_LEN - gone < room ? WIRE_HEADER_LEN - gone : room;
        memcpy(out->bytes + out->tail, header + gone, part);
        out->tail += part;
        room -= part;
        gone += part;
    }
    if (gone < WIRE_HEADER_LEN)
        return out->tail - start;
    size_t offset = gone - WIRE_HEADER_LEN;
    size_t part = data->len - offset < room ? data->len - offset : room;
    if (part && data->base)
        memcpy(out->bytes + out->tail, (const uint8_t *)data->base + offset, part);
    else if (part)
        data->read(data, offset, out->bytes + out->tail, part);
    out->tail += part;
    return out->tail - start;
}

size_t out_drop(struct out *out, size_t n)
{
    size_t used = out->tail - out->head;
    if (n > used)
        n = used;
    out->head += n;
    if (out->head == out->tail)
        out->head = out->tail = 0;
    return n;
}

void out_trim(struct out *out)
{
    if (out->room > OUT_LEN && out->head == out->tail) {
        free(out->bytes);
        *out = (struct out){0};
    }
}
