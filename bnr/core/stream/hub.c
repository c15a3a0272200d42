/* SPDX-License-Identifier: BSD-3-Clause */

/* The hub of a job's streams; see hub.h. This file hears messages, and makes and ends links. */
#include "bnr/core/stream/hub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/stream/hub_stream.h"

struct hub *hub_create(int32_t ranks, size_t streams_max, uint64_t window_max)
{
    struct hub *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->ranks = ranks;
    h->streams_max = streams_max;
    h->window_max = window_max;
    return h;
}

size_t hub_stream_count(const struct hub *h)
{
    return HASH_CNT(by_number, h->by_number);
}

size_t hub_memory(const struct hub *h)
{
    size_t bytes = 0;
    const struct hub_stream *s, *next;
    for (s = h->by_number; s; s = next) {
        next = s->by_number.next;
        bytes += s->ring.room;
    }
    return bytes;
}

bool hub_is_quiet(const struct hub *h)
{
    for (const struct hub_stream *s = h->by_number; s; s = s->by_number.next) {
        if (s->name.is_sink)
            continue;
        for (const struct hub_link *l = s->links; l; l = l->next_of_stream)
            if (l->end->is_writer || !l->end->is_observer)
                return false;
    }
    return true;
}

uint64_t hub_untaken(const struct hub *h, int32_t *rank, int32_t *tag)
{
    uint64_t bytes = 0;
    for (const struct hub_stream *s = h->by_number; s; s = s->by_number.next) {
        bool has_reader = false;
        for (const struct hub_link *l = s->links; l; l = l->next_of_stream)
            has_reader |= !l->end->is_writer && !l->end->is_observer;
        if (s->name.is_sink || !has_reader || s->keep == s->ring.head)
            continue;
        bytes += s->ring.head - s->keep;
        *rank = s->name.rank;
        *tag = s->name.tag;
    }
    return bytes;
}

uint64_t hub_taken_count(const struct hub *h)
{
    return h->taken_count;
}

static bool is_trusted(uint64_t party)
{
    return (uint32_t)party < HUB_TRUSTED;
}

/* ---- links ---- */

static bool matches(const struct hub_name *match, const struct hub_name *name)
{
    return (match->rank == HUB_ANY || match->rank == name->rank) &&
           (match->tag == HUB_ANY || match->tag == name->tag) && match->is_sink == name->is_sink;
}

static bool is_wild(const struct hub_name *name)
{
    return name->rank == HUB_ANY || name->tag == HUB_ANY;
}

/* Where a reader begins in a stream that is there already. */
static uint64_t begin_at(const struct hub_end *end, const struct hub_stream *s)
{
    if (s->name.is_sink)
        return s->keep;
    if (end->from == HUB_FROM_NOW)
        return s->ring.head;
    return end->from == HUB_FROM_OLDEST ? s->ring.tail : end->from;
}

static int link_to(struct hub_end *end, struct hub_stream *s, uint64_t from)
{
    struct hub_link *link = calloc(1, sizeof(*link));
    if (!link)
        return -ENOMEM;
    *link = (struct hub_link){.end = end, .stream = s, .sent = from, .taken = from};
    hub_link_add(link);
    s->writers += end->is_writer;
    s->is_own |= end->is_writer && is_trusted(end->key.party);
    s->is_ended &= !end->is_writer;
    return 0;
}

static struct hub_stream *find_stream(struct hub *h, const struct hub_name *name)
{
    struct hub_stream *s;
    HASH_FIND(by_name, h->by_name, name, sizeof(*name), s);
    return s;
}

/* The ends that wait for streams of this name find a new one. */
static int link_waiting(struct hub *h, struct hub_stream *s)
{
    for (struct hub_end *end = h->waiting; end; end = end->next_waiting)
        if (!end->is_shut && matches(&end->match, &s->name) && link_to(end, s, 0))
            return -ENOMEM;
    return 0;
}

/* The stream of this name, made if missing. */
static int take_stream(struct hub *h, const struct hub_name *name, enum hub_policy policy,
                       struct hub_stream **found)
{
    struct hub_stream *s = find_stream(h, name);
    *found = s;
    if (s)
        return 0;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->name = *name;
    s->number = ++h->last_number;
    s->policy = policy ? policy : name->is_sink ? HUB_HOLD : HUB_RING;
    s->is_named = true;
    HASH_ADD(by_number, h->by_number, number, sizeof(s->number), s);
    HASH_ADD(by_name, h->by_name, name, sizeof(s->name), s);
    *found = s;
    return link_waiting(h, s);
}

/* ---- ends ---- */

static struct hub_end *find_end(struct hub *h, uint64_t party, uint32_t id)
{
    struct hub_key key;
    struct hub_end *end;
    memset(&key, 0, sizeof(key));
    key.party = party;
    key.id = id;
    HASH_FIND(hh, h->ends, &key, sizeof(key), end);
    return end;
}

static struct hub_party *take_party(struct hub *h, uint64_t number)
{
    struct hub_party *p;
    HASH_FIND(hh, h->parties, &number, sizeof(number), p);
    if (p)
        return p;
    p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->number = number;
    HASH_ADD(hh, h->parties, number, sizeof(p->number), p);
    return p;
}

/* Put an end into the list of its party and, if it waits, into that of waiting ends. */
static void add_end(struct hub *h, struct hub_end *end)
{
    struct hub_party *p = end->party;
    bool waits = end->is_writer ? is_wild(&end->match) : !end->match.is_sink;
    HASH_ADD(hh, h->ends, key, sizeof(end->key), end);
    p->count++;
    end->next_of_party = p->ends;
    if (p->ends)
        p->ends->at_party = &end->next_of_party;
    end->at_party = &p->ends;
    p->ends = end;
    if (!waits)
        return;
    end->next_waiting = h->waiting;
    if (h->waiting)
        h->waiting->at_waiting = &end->next_waiting;
    end->at_waiting = &h->waiting;
    h->waiting = end;
}

static struct hub_end *create_end(struct hub *h, struct hub_party *p, const struct hub_message *m)
{
    struct hub_end *end = calloc(1, sizeof(*end));
    if (!end)
        return NULL;
    end->key.party = p->number;
    end->key.id = m->id;
    end->party = p;
    end->is_writer = m->kind == HUB_PUSH || (m->kind == HUB_PUBLISH && !(m->flags & HUB_SINK));
    end->is_observer = m->kind == HUB_SUBSCRIBE && (m->flags & HUB_OBSERVER);
    end->wants_lines = m->kind == HUB_SUBSCRIBE && (m->flags & HUB_OPEN);
    end->match.rank = m->rank;
    end->match.tag = m->tag;
    end->match.is_sink = m->kind == HUB_PUSH || (m->kind == HUB_PUBLISH && !end->is_writer);
    end->from = m->kind == HUB_SUBSCRIBE ? m->off : HUB_FROM_OLDEST;
    add_end(h, end);
    return end;
}

static void destroy_end(struct hub *h, struct hub_end *end)
{
    *end->at_party = end->next_of_party;
    if (end->next_of_party)
        end->next_of_party->at_party = end->at_party;
    if (end->at_waiting)
        *end->at_waiting = end->next_waiting;
    if (end->next_waiting)
        end->next_waiting->at_waiting = end->at_waiting;
    end->party->count--;
    HASH_DELETE(hh, h->ends, end);
    free(end);
}

/* The last sink of a stream will never take more: its writers need not send. */
static void shut_stream(struct hub *h, struct hub_stream *s, struct hub_effects *e)
{
    bool has_lost = s->keep < s->ring.head;
    hub_stream_unname(h, s);
    for (struct hub_link *l = s->links, *next; l; l = next) {
        struct hub_end *w = l->end;
        next = l->next_of_stream;
        w->has_lost |= has_lost;
        hub_link_destroy(l);
        w->is_shut = !w->links;
        if (w->is_shut)
            hub_send(w, &(struct hub_message){.kind = HUB_SHUT, .off = s->keep}, NULL, e);
        hub_check_flush(w, e);
        hub_grant(h, w, e);
    }
    s->writers = 0;
    s->is_ended = true;
}

static bool has_reader(const struct hub_stream *s)
{
    for (const struct hub_link *l = s->links; l; l = l->next_of_stream)
        if (!l->end->is_writer)
            return true;
    return false;
}

static void unlink_end(struct hub *h, struct hub_end *end, bool is_broken, struct hub_effects *e)
{
    struct hub_link *l = end->links;
    struct hub_stream *s = l->stream;
    bool is_writer = end->is_writer;
    hub_link_destroy(l);
    s->writers -= is_writer;
    s->is_open &= !is_writer;
    if (is_writer && !s->writers)
        s->is_ended = true;
    if (!is_writer && s->name.is_sink && is_broken && !has_reader(s))
        shut_stream(h, s, e);
    hub_stream_flow(h, s, e);
}

static void note_torn(struct hub_end *w)
{
    for (struct hub_link *l = w->links; l; l = l->next_of_end)
        l->stream->is_torn |= is_trusted(w->key.party) || !l->stream->is_own;
}

static void close_end(struct hub *h, struct hub_end *end, bool is_broken, struct hub_effects *e)
{
    while (end->links)
        unlink_end(h, end, is_broken, e);
    destroy_end(h, end);
}

/* ---- opening ---- */

/* Link a new end to its streams. */
static int link_end(struct hub *h, struct hub_end *end, enum hub_policy policy)
{
    struct hub_stream *s, *next;
    if (end->is_writer || end->match.is_sink) {
        int rc = is_wild(&end->match) ? 0 : take_stream(h, &end->match, policy, &s);
        if (rc || !is_wild(&end->match))
            return rc ? rc : link_to(end, s, begin_at(end, s));
    } else if (!is_wild(&end->match)) {
        s = find_stream(h, &end->match);
        return s ? link_to(end, s, begin_at(end, s)) : 0;
    }
    HASH_ITER(by_number, h->by_number, s, next)
    if (s->is_named && matches(&end->match, &s->name) && link_to(end, s, begin_at(end, s)))
        return -ENOMEM;
    return 0;
}

static void flow_end(struct hub *h, struct hub_end *end, struct hub_effects *e)
{
    for (struct hub_link *l = end->links, *next; l; l = next) {
        next = l->next_of_end;
        hub_stream_flow(h, l->stream, e);
    }
}

static bool is_good_name(const struct hub *h, const struct hub_message *m)
{
    bool may_be_any = m->kind != HUB_PUBLISH;
    return (m->rank >= 0 || (may_be_any && m->rank == HUB_ANY)) && m->rank < h->ranks &&
           (m->tag >= 0 || (may_be_any && m->tag == HUB_ANY)) && m->policy < HUB_POLICY_END;
}

/* Whether a party may make another stream. No stranger takes the room of the ranks' own: three of
 * each, and where a host is lost, two that stand for those. */
static bool has_room(const struct hub *h, uint64_t party)
{
    size_t own = is_trusted(party) ? HUB_OWN_STREAMS * (size_t)h->ranks : 0;
    return hub_stream_count(h) < h->streams_max + own;
}

static int open_end(struct hub *h, struct hub_party *p, const struct hub_message *m,
                    struct hub_effects *e)
{
    enum hub_status status = HUB_GOOD;
    if (!is_good_name(h, m))
        return -EPROTO;
    if ((!is_trusted(p->number) && p->count >= HUB_ENDS_MAX) ||
        (m->kind != HUB_SUBSCRIBE && !has_room(h, p->number)))
        status = HUB_FULL;
    if (find_end(h, p->number, m->id))
        status = HUB_TAKEN_ID;
    const struct hub_message answer = {.kind = HUB_OPENED, .status = status};
    struct hub_end stranger = {.key = {.party = p->number, .id = m->id}};
    hub_send(&stranger, &answer, NULL, e);
    if (status)
        return 0;
    struct hub_end *end = create_end(h, p, m);
    if (!end || link_end(h, end, (enum hub_policy)m->policy))
        return -ENOMEM;
    flow_end(h, end, e);
    return 0;
}

/* A writer gets one stream more. */
static int add_sink(struct hub *h, struct hub_end *w, const struct hub_message *m,
                    struct hub_effects *e)
{
    const struct hub_name name = {m->rank, m->tag, true};
    struct hub_stream *s;
    if (!is_trusted(w->key.party) || !is_good_name(h, m) || is_wild(&name) ||
        !w->is_writer || !w->match.is_sink)
        return -EPROTO;
    if (!has_room(h, w->key.party))
        return 0;
    int rc = take_stream(h, &name, HUB_POLICY_DEFAULT, &s);
    for (const struct hub_link *l = w->links; !rc && l; l = l->next_of_end)
        if (l->stream == s)
            return 0;
    if (!rc)
        rc = link_to(w, s, 0);
    if (!rc)
        hub_stream_flow(h, s, e);
    return rc;
}

/* ---- the other messages ---- */

static bool is_far(const struct hub_end *end)
{
    return end->key.party >> HUB_NODE_SHIFT != 0;
}

/* Whether a far writer, whose data are about to be put, has had to wait for grants on their way to
 * it: it has used all that it knew of, and what it has written before is taken. */
static bool waits_for_grants(const struct hub *h, const struct hub_end *w,
                             const struct hub_stream *s, uint64_t known)
{
    uint64_t window = hub_stream_window(h, s);
    return is_far(w) && known == w->got && w->got >= window &&
           s->ring.head - s->keep <= window / 2;
}

static int put_data(struct hub *h, struct hub_end *w, const struct hub_message *m,
                    struct hub_effects *e)
{
    for (struct hub_link *l = w->links, *next; l; l = next) {
        next = l->next_of_end;
        if (waits_for_grants(h, w, l->stream, m->off))
            hub_stream_grow(h, l->stream);
        if (hub_stream_put(h, l->stream, m->data, m->len))
            return -ENOMEM;
        l->stream->is_open = m->flags & HUB_OPEN;
        l->stream->read_ns = m->head;
        hub_stream_flow(h, l->stream, e);
    }
    return 0;
}

static int take_data(struct hub *h, struct hub_end *w, const struct hub_message *m,
                     struct hub_effects *e)
{
    if (!w->is_writer || m->len > w->granted - w->got)
        return -EPROTO;
    w->got += m->len;
    h->passing = m;
    h->is_passing_shared = m->len && w->links && w->links->next_of_end;
    h->passing_number += h->is_passing_shared;
    int rc = put_data(h, w, m, e);
    bytes_unref(h->passing_block);
    h->passing_block = NULL;
    h->passing = NULL;
    return rc;
}

/* Whether a far reader that takes more has had to wait for it: all that it could be sent was on its
 * way, and all that has come is taken. */
static bool waits_for_bytes(const struct hub *h, const struct hub_link *link,
                            const struct hub_message *m)
{
    uint64_t window = hub_stream_window(h, link->stream);
    return is_far(link->end) && m->head == m->off && m->off > link->taken &&
           link->sent - link->taken >= window - window / 4;
}

static int take_taken(struct hub *h, struct hub_end *end, const struct hub_message *m,
                      struct hub_effects *e)
{
    struct hub_stream *s;
    HASH_FIND(by_number, h->by_number, &m->stream, sizeof(m->stream), s);
    struct hub_link *link = s ? s->links : NULL;
    while (link && link->end != end)
        link = link->next_of_stream;
    if (!link || end->is_writer)
        return end->is_writer ? -EPROTO : 0; /* the stream may have been shut meanwhile */
    bool is_end = (m->flags & HUB_EOF) != 0;
    if (m->off > link->sent || (is_end && !link->is_told))
        return -EPROTO;
    h->taken_count += !end->is_observer;
    if (!end->is_observer && waits_for_bytes(h, link, m))
        hub_stream_grow(h, s);
    if (m->off > link->taken)
        link->taken = m->off;
    if (is_end)
        hub_link_destroy(link);
    hub_stream_flow(h, s, e);
    return 0;
}

static void flush(struct hub_end *end, const struct hub_message *m, struct hub_effects *e)
{
    end->flush = m->off;
    end->is_flushing = true;
    for (struct hub_link *l = end->links; l; l = l->next_of_end)
        l->target = end->is_writer ? l->stream->ring.head : 0;
    hub_check_flush(end, e);
}

static void tell_state(const struct hub_end *end, const struct hub_message *m,
                       struct hub_effects *e)
{
    const struct hub_link *own = end->links;
    struct hub_message state = {.kind = HUB_STATE, .off = m->off, .head = end->got};
    if (own) {
        state.head = own->stream->ring.head;
        state.taken = end->is_writer ? own->stream->keep : own->taken;
        for (const struct hub_link *l = own->stream->links; l; l = l->next_of_stream)
            state.status += !l->end->is_writer;
    }
    hub_send(end, &state, NULL, e);
}

static int dispatch(struct hub *h, struct hub_party *p, const struct hub_message *m,
                    struct hub_effects *e)
{
    struct hub_end *end = find_end(h, p->number, m->id);
    if (m->kind == HUB_PUBLISH || m->kind == HUB_PUSH || m->kind == HUB_SUBSCRIBE)
        return open_end(h, p, m, e);
    if (!end)
        return -EPROTO;
    switch (m->kind) {
    case HUB_DATA: return take_data(h, end, m, e);
    case HUB_TAKEN: return take_taken(h, end, m, e);
    case HUB_CLOSE:
        if (end->is_writer && (m->flags & HUB_BROKEN))
            note_torn(end);
        close_end(h, end, m->flags & HUB_BROKEN, e);
        return 0;
    case HUB_FLUSH: flush(end, m, e); return 0;
    case HUB_STAT: tell_state(end, m, e); return 0;
    case HUB_ALSO: return add_sink(h, end, m, e);
    default: return -EPROTO;
    }
}

int hub_message(struct hub *h, uint64_t party, const struct hub_message *m, struct hub_effects *e)
{
    struct hub_party *p = take_party(h, party);
    int rc = p ? dispatch(h, p, m, e) : -ENOMEM;
    return rc ? rc : e->failed ? -ENOMEM : 0;
}

int hub_party_gone(struct hub *h, uint64_t party, struct hub_effects *e)
{
    struct hub_party *p;
    HASH_FIND(hh, h->parties, &party, sizeof(party), p);
    if (!p)
        return 0;
    while (p->ends)
        close_end(h, p->ends, true, e);
    HASH_DELETE(hh, h->parties, p);
    free(p);
    return e->failed ? -ENOMEM : 0;
}

bool hub_find_party(const struct hub *h, uint64_t first, uint64_t last, uint64_t *party)
{
    for (const struct hub_party *p = h->parties; p; p = p->hh.next) {
        if (p->number < first || p->number > last)
            continue;
        *party = p->number;
        return true;
    }
    return false;
}

void hub_destroy(struct hub *h)
{
    struct hub_effects e = {0};
    struct hub_stream *s, *next;
    struct hub_party *p, *next_party;
    if (!h)
        return;
    HASH_ITER(hh, h->parties, p, next_party)
    (void)hub_party_gone(h, p->number, &e);
    HASH_ITER(by_number, h->by_number, s, next)
    {
        hub_stream_unname(h, s);
        HASH_DELETE(by_number, h->by_number, s);
        byte_ring_fini(&s->ring);
        free(s);
    }
    hub_effects_fini(&e);
    free(h);
}
