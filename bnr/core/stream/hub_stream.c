/* SPDX-License-Identifier: BSD-3-Clause */

/* How bytes flow in a hub; see hub_stream.h. */
#include "bnr/core/stream/hub_stream.h"

#include <stdlib.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- effects ---- */

void hub_effects_clear(struct hub_effects *e)
{
    for (size_t i = 0; i < e->count; i++)
        bytes_unref(e->items[i].block);
    e->count = 0;
}

void hub_effects_fini(struct hub_effects *e)
{
    hub_effects_clear(e);
    free(e->items);
    *e = (struct hub_effects){0};
}

void hub_send(const struct hub_end *end, const struct hub_message *m, struct bytes *block,
              struct hub_effects *e)
{
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 8;
        struct hub_effect *items = realloc(e->items, room * sizeof(*items));
        if (!items) {
            e->failed = true;
            return;
        }
        e->items = items;
        e->room = room;
    }
    struct hub_effect *effect = &e->items[e->count++];
    *effect = (struct hub_effect){end->key.party, *m, bytes_ref(block)};
    effect->message.id = end->key.id;
    effect->message.data = block ? block->at : NULL;
    effect->message.len = block ? block->len : 0;
}

/* ---- links ---- */

void hub_link_add(struct hub_link *link)
{
    struct hub_link **of_end = &link->end->links, **of_stream = &link->stream->links;
    link->next_of_end = *of_end;
    link->next_of_stream = *of_stream;
    if (*of_end)
        (*of_end)->at_end = &link->next_of_end;
    if (*of_stream)
        (*of_stream)->at_stream = &link->next_of_stream;
    link->at_end = of_end;
    link->at_stream = of_stream;
    *of_end = *of_stream = link;
}

void hub_link_destroy(struct hub_link *link)
{
    *link->at_end = link->next_of_end;
    *link->at_stream = link->next_of_stream;
    if (link->next_of_end)
        link->next_of_end->at_end = link->at_end;
    if (link->next_of_stream)
        link->next_of_stream->at_stream = link->at_stream;
    free(link);
}

void hub_stream_unname(struct hub *h, struct hub_stream *s)
{
    if (s->is_named)
        HASH_DELETE(by_name, h->by_name, s);
    s->is_named = false;
}

/* The window of a stream that has not grown, a power of two. */
static uint64_t usual_window(const struct hub *h)
{
    uint64_t window = HUB_WINDOW;
    while (window > HUB_WINDOW_MIN && window * HASH_CNT(by_number, h->by_number) > HUB_MEMORY)
        window /= 2;
    return window;
}

uint64_t hub_stream_window(const struct hub *h, const struct hub_stream *s)
{
    return usual_window(h) + s->grown;
}

void hub_stream_grow(struct hub *h, struct hub_stream *s)
{
    uint64_t window = hub_stream_window(h, s);
    if (2 * window > h->window_max || h->grown + window > HUB_MEMORY)
        return;
    s->grown += window;
    h->grown += window;
}

/* ---- to readers ---- */

/* Whether these bytes of a stream are what its writer has just put. */
static bool is_passing(const struct hub *h, const struct hub_stream *s, uint64_t off, size_t len)
{
    return h->passing && len && len == h->passing->len && off + len == s->ring.head;
}

/* A copy of bytes of a stream; of those that pass, one for all readers. NULL: no memory. */
static struct bytes *copy_of(struct hub *h, const struct hub_stream *s, uint64_t off, size_t len)
{
    if (is_passing(h, s, off, len)) {
        if (!h->passing_block)
            h->passing_block = bytes_create(h->passing->data, len);
        return bytes_ref(h->passing_block);
    }
    struct bytes *block = bytes_create(NULL, len);
    if (block)
        byte_ring_copy(&s->ring, off, block->at, len);
    return block;
}

static void send_fragment(struct hub *h, struct hub_link *link, uint64_t off, size_t len,
                          uint8_t flags, struct hub_effects *e)
{
    const struct hub_stream *s = link->stream;
    bool is_shared = h->is_passing_shared && is_passing(h, s, off, len);
    struct bytes *block = len ? copy_of(h, s, off, len) : NULL;
    if (len && !block) {
        e->failed = true;
        return;
    }
    const struct hub_message m = {.kind = HUB_FRAGMENT,
                                  .flags = flags,
                                  .stream = s->number,
                                  .rank = s->name.rank,
                                  .tag = s->name.tag,
                                  .off = off,
                                  .head = s->read_ns,
                                  .shared = is_shared ? h->passing_number : 0};
    hub_send(link->end, &m, block, e);
    bytes_unref(block);
}

/* Bytes that are on their way to a reader. */
static uint64_t in_flight(const struct hub_link *link)
{
    uint64_t bytes = link->sent > link->taken ? link->sent - link->taken : 0;
    uint64_t left_out = link->taken < link->gap_end ? link->gap : 0;
    return bytes > left_out ? bytes - left_out : 0;
}

/* Leave out the bytes that are not kept any more. Returns whether the reader may get more. */
static bool skip_gap(struct hub_link *link, uint8_t *flags)
{
    const struct byte_ring *r = &link->stream->ring;
    if (link->sent >= r->tail)
        return true;
    if (link->taken < link->gap_end)
        return false; /* one gap at a time */
    link->gap = r->tail - link->sent;
    link->gap_end = link->sent = r->tail;
    *flags = HUB_GAP;
    return true;
}

static void deliver(struct hub *h, struct hub_link *link, struct hub_effects *e)
{
    const struct hub_stream *s = link->stream;
    uint64_t window = hub_stream_window(h, s);
    while (link->sent < s->ring.head && in_flight(link) < window) {
        uint8_t flags = 0;
        if (!skip_gap(link, &flags))
            return;
        uint64_t n = least(window - in_flight(link), s->ring.head - link->sent);
        n = least(n, HUB_DATA_MAX);
        link->is_open = link->end->wants_lines && (link->sent + n < s->ring.head || s->is_open);
        send_fragment(h, link, link->sent, (size_t)n, flags | (link->is_open ? HUB_OPEN : 0), e);
        link->sent += n;
    }
    if (link->is_open && !s->is_open && link->sent == s->ring.head && !s->is_ended) {
        link->is_open = false;
        send_fragment(h, link, link->sent, 0, 0, e);
    }
    if (!s->is_ended || link->is_told || link->sent < s->ring.head)
        return;
    link->is_told = true;
    send_fragment(h, link, s->ring.head, 0, HUB_EOF | (s->is_torn ? HUB_BROKEN : 0), e);
}

/* ---- kept bytes ---- */

/* The offset from which bytes are kept for reliable readers. */
static void set_keep(struct hub_stream *s)
{
    uint64_t keep = s->ring.head;
    bool has_reader = false;
    for (const struct hub_link *l = s->links; l; l = l->next_of_stream) {
        if (l->end->is_writer || l->end->is_observer)
            continue;
        keep = least(keep, l->taken);
        has_reader = true;
    }
    if (has_reader || s->policy != HUB_HOLD)
        s->keep = keep > s->ring.tail ? keep : s->ring.tail;
}

/* Forget bytes that need not be kept once len bytes have come. */
static void trim(const struct hub *h, struct hub_stream *s, size_t len)
{
    uint64_t head = s->ring.head + len, history = s->policy == HUB_RING ? usual_window(h) : 0;
    uint64_t old = least(s->keep, s->ring.head);
    byte_ring_drop(&s->ring, least(old, head > history ? head - history : 0));
}

int hub_stream_put(struct hub *h, struct hub_stream *s, const void *data, size_t len)
{
    trim(h, s, len);
    return byte_ring_put(&s->ring, data, len);
}

/* ---- to writers ---- */

void hub_grant(struct hub *h, struct hub_end *w, struct hub_effects *e)
{
    uint64_t window = w->links ? UINT64_MAX : 0, room = window;
    for (const struct hub_link *l = w->links; l; l = l->next_of_end) {
        uint64_t backlog = l->stream->ring.head - l->stream->keep;
        uint64_t of_stream = hub_stream_window(h, l->stream);
        window = least(window, of_stream);
        room = least(room, backlog < of_stream ? of_stream - backlog : 0);
    }
    uint64_t most = w->got + (w->granted ? room : least(room, HUB_WINDOW_MIN));
    if (most <= w->granted || (w->granted > w->got && most - w->granted < window / 4))
        return;
    w->granted = most;
    hub_send(w, &(struct hub_message){.kind = HUB_GRANT, .off = most}, NULL, e);
}

void hub_check_flush(struct hub_end *w, struct hub_effects *e)
{
    if (!w->is_flushing)
        return;
    for (const struct hub_link *l = w->links; l; l = l->next_of_end)
        if (l->stream->keep < l->target)
            return;
    w->is_flushing = false;
    const struct hub_message m = {
        .kind = HUB_FLUSHED, .off = w->flush, .status = w->has_lost ? HUB_LOST : HUB_GOOD};
    hub_send(w, &m, NULL, e);
}

/* ---- the whole ---- */

static bool is_over(const struct hub_stream *s)
{
    return s->is_ended && !s->links && !s->is_named;
}

void hub_stream_flow(struct hub *h, struct hub_stream *s, struct hub_effects *e)
{
    bool is_told = false;
    for (struct hub_link *l = s->links; l; l = l->next_of_stream) {
        if (!l->end->is_writer)
            deliver(h, l, e);
        is_told |= l->is_told;
    }
    if (s->is_ended && (is_told || !s->name.is_sink))
        hub_stream_unname(h, s);
    set_keep(s);
    trim(h, s, 0);
    if (s->is_ended && !s->links && s->keep == s->ring.head) /* nothing waits for a sink */
        hub_stream_unname(h, s);
    for (struct hub_link *l = s->links; l; l = l->next_of_stream) {
        if (!l->end->is_writer)
            continue;
        hub_grant(h, l->end, e);
        hub_check_flush(l->end, e);
    }
    if (!is_over(s))
        return;
    HASH_DELETE(by_number, h->by_number, s);
    h->grown -= s->grown;
    byte_ring_fini(&s->ring);
    free(s);
}
