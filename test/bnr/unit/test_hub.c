/* SPDX-License-Identifier: BSD-3-Clause */

/* The hub of a job's streams, alone: messages in, messages out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/stream/hub.h"
#include "bnr/core/stream/hub_stream.h"

enum {
    RANKS = 8,
    WINDOW_MAX = 4 << 20,
    A = 100, /* parties */
    B,
    C,
    D
};

/* What one end has been told. */
struct seen {
    uint64_t granted, at, shut, flushed;
    uint32_t stream, status, flush_status;
    int eofs, gaps, shuts, flushes, opened;
    char text[256];
    struct hub_message state;
};

static struct hub *hub;
static struct seen seen[8][16]; /* by party less A, by id */

static struct seen *seen_of(uint64_t party, uint32_t id)
{
    return &seen[(uint32_t)party - A][id];
}

static void note(uint64_t party, const struct hub_message *m)
{
    struct seen *s = seen_of(party, m->id);
    switch (m->kind) {
    case HUB_OPENED:
        s->opened++;
        s->status = m->status;
        break;
    case HUB_GRANT: s->granted = m->off; break;
    case HUB_SHUT:
        s->shut = m->off;
        s->shuts++;
        break;
    case HUB_FLUSHED:
        s->flushed = m->off;
        s->flush_status = m->status;
        s->flushes++;
        break;
    case HUB_STATE: s->state = *m; break;
    case HUB_FRAGMENT:
        if (m->flags & HUB_GAP)
            s->gaps++;
        else if (s->stream == m->stream)
            assert_int_equal(m->off, s->at);
        s->stream = m->stream;
        s->eofs += (m->flags & HUB_EOF) != 0;
        s->at = m->off + m->len;
        if (m->len && strlen(s->text) + m->len < sizeof(s->text))
            strncat(s->text, (const char *)m->data, m->len);
        break;
    default: fail();
    }
}

static int say(uint64_t party, struct hub_message m)
{
    struct hub_effects e = {0};
    int rc = hub_message(hub, party, &m, &e);
    for (size_t i = 0; i < e.count; i++)
        note(e.items[i].party, &e.items[i].message);
    hub_effects_fini(&e);
    return rc;
}

static void gone(uint64_t party)
{
    struct hub_effects e = {0};
    assert_int_equal(hub_party_gone(hub, party, &e), 0);
    for (size_t i = 0; i < e.count; i++)
        note(e.items[i].party, &e.items[i].message);
    hub_effects_fini(&e);
}

#define SAY(party, ...) assert_int_equal(say(party, (struct hub_message){__VA_ARGS__}), 0)

static void put(uint64_t party, uint32_t id, const char *text)
{
    SAY(party, .kind = HUB_DATA, .id = id, .data = (const uint8_t *)text,
        .len = (uint32_t)strlen(text));
}

static void publish(uint64_t party, uint32_t id, int rank, int tag)
{
    SAY(party, .kind = HUB_PUBLISH, .id = id, .rank = rank, .tag = tag);
    assert_int_equal(seen_of(party, id)->status, HUB_GOOD);
}

static void sink(uint64_t party, uint32_t id, int rank, int tag)
{
    SAY(party, .kind = HUB_PUBLISH, .id = id, .rank = rank, .tag = tag, .flags = HUB_SINK);
}

static void push(uint64_t party, uint32_t id, int rank, int tag)
{
    SAY(party, .kind = HUB_PUSH, .id = id, .rank = rank, .tag = tag);
}

static void subscribe(uint64_t party, uint32_t id, int rank, int tag, uint64_t from)
{
    SAY(party, .kind = HUB_SUBSCRIBE, .id = id, .rank = rank, .tag = tag, .off = from);
}

static void taken(uint64_t party, uint32_t id)
{
    const struct seen *s = seen_of(party, id);
    SAY(party, .kind = HUB_TAKEN, .id = id, .stream = s->stream, .off = s->at,
        .flags = s->eofs ? HUB_EOF : 0);
}

/* Write all that is granted. Returns how much. */
static uint64_t fill(uint64_t party, uint32_t id, uint64_t *written)
{
    static const uint8_t zeros[HUB_DATA_MAX];
    uint64_t before = *written;
    while (seen_of(party, id)->granted > *written) {
        uint64_t n = seen_of(party, id)->granted - *written;
        n = n < HUB_DATA_MAX ? n : HUB_DATA_MAX;
        SAY(party, .kind = HUB_DATA, .id = id, .off = seen_of(party, id)->granted, .data = zeros,
            .len = (uint32_t)n);
        *written += n;
        if (*written - before > 4 * HUB_WINDOW)
            break; /* it goes on for ever */
    }
    return *written - before;
}

static int begin(void **state)
{
    (void)state;
    memset(seen, 0, sizeof(seen));
    hub = hub_create(RANKS, 64, WINDOW_MAX);
    return !hub;
}

static int end(void **state)
{
    (void)state;
    hub_destroy(hub);
    return 0;
}

static void bytes_reach_each_reader(void **state)
{
    (void)state;
    subscribe(B, 1, HUB_ANY, HUB_ANY, HUB_FROM_NOW);
    publish(A, 1, 3, 20);
    subscribe(C, 2, 3, 20, HUB_FROM_OLDEST);
    subscribe(D, 2, 3, 21, HUB_FROM_OLDEST);
    put(A, 1, "hello ");
    put(A, 1, "world");
    SAY(A, .kind = HUB_CLOSE, .id = 1);
    assert_string_equal(seen_of(B, 1)->text, "hello world");
    assert_string_equal(seen_of(C, 2)->text, "hello world");
    assert_string_equal(seen_of(D, 2)->text, "");
    assert_int_equal(seen_of(B, 1)->eofs, 1);
    assert_false(hub_is_quiet(hub));
    taken(B, 1);
    taken(C, 2);
    assert_true(hub_is_quiet(hub));
    assert_int_equal(hub_stream_count(hub), 0);
    assert_int_equal(say(A, (struct hub_message){.kind = HUB_DATA, .id = 1}), -EPROTO);
}

static void two_writers_of_one_stream(void **state)
{
    (void)state;
    publish(A, 1, 0, 16);
    publish(B, 1, 0, 16);
    subscribe(C, 1, 0, 16, HUB_FROM_OLDEST);
    put(A, 1, "a1 ");
    put(B, 1, "b1 ");
    put(A, 1, "a2 ");
    SAY(A, .kind = HUB_CLOSE, .id = 1);
    assert_int_equal(seen_of(C, 1)->eofs, 0);
    put(B, 1, "b2");
    SAY(B, .kind = HUB_CLOSE, .id = 1);
    assert_string_equal(seen_of(C, 1)->text, "a1 b1 a2 b2");
    assert_int_equal(seen_of(C, 1)->eofs, 1);
}

static void a_silent_writer_holds_nobody_up(void **state)
{
    (void)state;
    uint64_t written = 0, total = 0;
    publish(A, 1, 0, 16);
    publish(B, 1, 0, 16);
    subscribe(C, 1, 0, 16, HUB_FROM_OLDEST);
    for (int i = 0; i < 100; i++) {
        total += fill(B, 1, &written);
        taken(C, 1);
    }
    assert_true(total >= 100 * HUB_WINDOW / 4);
}

static void a_slow_reader_bounds_the_writer(void **state)
{
    (void)state;
    uint64_t written = 0;
    publish(A, 1, 0, 16);
    subscribe(B, 1, 0, 16, HUB_FROM_OLDEST);
    assert_int_equal(fill(A, 1, &written), HUB_WINDOW);
    assert_int_equal(fill(A, 1, &written), 0);
    assert_true(hub_memory(hub) <= 2 * HUB_WINDOW);
    taken(B, 1);
    assert_int_equal(fill(A, 1, &written), HUB_WINDOW);
    assert_int_equal(seen_of(B, 1)->at, written);
    assert_int_equal(seen_of(B, 1)->gaps, 0);
}

static void a_reader_that_stops_for_ever_and_leaves(void **state)
{
    (void)state;
    uint64_t written = 0;
    publish(A, 1, 0, 16);
    subscribe(B, 1, 0, 16, HUB_FROM_OLDEST);
    fill(A, 1, &written);
    assert_int_equal(fill(A, 1, &written), 0);
    gone(B);
    assert_true(fill(A, 1, &written) > 4 * HUB_WINDOW); /* nobody reads: it goes on */
    *seen_of(B, 1) = (struct seen){0};
    subscribe(B, 1, 0, 16, HUB_FROM_NOW); /* and a new reader is served */
    put(A, 1, "news");
    assert_string_equal(seen_of(B, 1)->text, "news");
}

static void an_observer_is_told_of_a_gap(void **state)
{
    (void)state;
    uint64_t written = 0;
    publish(A, 1, 0, 16);
    SAY(B, .kind = HUB_SUBSCRIBE, .id = 1, .rank = 0, .tag = 16, .flags = HUB_OBSERVER);
    assert_true(fill(A, 1, &written) > 4 * HUB_WINDOW);
    assert_int_equal(seen_of(B, 1)->at, HUB_WINDOW); /* what it was sent before it stopped */
    taken(B, 1);
    assert_int_equal(seen_of(B, 1)->gaps, 1);
    assert_int_equal(seen_of(B, 1)->at, written);
    assert_true(hub_memory(hub) <= 4 * HUB_WINDOW);
}

/* On another node. */
static uint64_t far(uint64_t party)
{
    return (uint64_t)1 << HUB_NODE_SHIFT | party;
}

/* A writer that uses all it is granted and a reader that takes it: the most that is under way. */
static uint64_t most_under_way(uint64_t writer, uint64_t reader, uint64_t waits)
{
    uint64_t written = 0, most = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t n = fill(writer, 1, &written), at = seen_of(reader, 1)->at;
        most = n > most ? n : most;
        SAY(reader, .kind = HUB_TAKEN, .id = 1, .stream = seen_of(reader, 1)->stream, .off = at,
            .head = waits ? 0 : at);
    }
    return most;
}

static void the_window_grows_for_a_far_writer(void **state)
{
    (void)state;
    publish(far(A), 1, 0, 16);
    subscribe(B, 1, 0, 16, HUB_FROM_OLDEST);
    assert_in_range(most_under_way(far(A), B, false), 4 * HUB_WINDOW, WINDOW_MAX);
    SAY(far(A), .kind = HUB_CLOSE, .id = 1);
    taken(B, 1);
    assert_int_equal(hub->grown, 0);
}

static void the_window_grows_for_a_far_reader(void **state)
{
    (void)state;
    sink(far(B), 1, 0, 0);
    push(A, 1, 0, 0);
    assert_in_range(most_under_way(A, far(B), false), 4 * HUB_WINDOW, WINDOW_MAX);
}

static void the_window_stays_where_nothing_is_far(void **state)
{
    (void)state;
    publish(A, 1, 0, 16);
    subscribe(B, 1, 0, 16, HUB_FROM_OLDEST);
    assert_int_equal(most_under_way(A, B, false), HUB_WINDOW);
}

static void the_window_stays_where_a_far_reader_is_slow(void **state)
{
    (void)state;
    sink(far(B), 1, 0, 0);
    push(A, 1, 0, 0);
    assert_int_equal(most_under_way(A, far(B), true), HUB_WINDOW);
}

static void the_window_stays_where_a_far_writer_has_little(void **state)
{
    (void)state;
    publish(far(A), 1, 0, 16);
    subscribe(B, 1, 0, 16, HUB_FROM_OLDEST);
    for (int i = 0; i < 20000; i++) {
        SAY(far(A), .kind = HUB_DATA, .id = 1, .off = seen_of(far(A), 1)->granted,
            .data = (const uint8_t *)"a line of it\n", .len = 13);
        taken(B, 1);
    }
    assert_int_equal(hub->grown, 0);
}

static void windows_together_are_bounded(void **state)
{
    (void)state;
    uint64_t granted = 0;
    for (uint32_t w = 0; w < 16; w++) {
        uint64_t party = far(A + w % 4);
        publish(party, w / 4, (int)w / 4, 16 + (int)w % 4);
        subscribe(far(D + 1), w, (int)w / 4, 16 + (int)w % 4, HUB_FROM_OLDEST);
    }
    for (int i = 0; i < 100; i++)
        for (uint32_t w = 0; w < 16; w++) {
            struct hub_stream *s;
            for (s = hub->by_number; s; s = s->by_number.next)
                hub_stream_grow(hub, s);
        }
    for (const struct hub_stream *s = hub->by_number; s; s = s->by_number.next) {
        assert_true(hub_stream_window(hub, s) <= WINDOW_MAX);
        granted += hub_stream_window(hub, s);
    }
    assert_int_equal(hub_stream_count(hub), 16);
    assert_true(hub->grown > HUB_MEMORY / 2);
    assert_true(granted <= 2 * (uint64_t)HUB_MEMORY);
}

static void readers_of_a_stream_share_one_copy(void **state)
{
    (void)state;
    struct hub_effects e = {0};
    const struct bytes *block = NULL;
    int fragments = 0;
    const struct hub_message data = {
        .kind = HUB_DATA, .id = 1, .data = (const uint8_t *)"shared", .len = 6};
    publish(A, 1, 0, 16);
    subscribe(B, 1, 0, 16, HUB_FROM_OLDEST);
    subscribe(C, 1, 0, 16, HUB_FROM_OLDEST);
    assert_int_equal(hub_message(hub, A, &data, &e), 0);
    for (size_t i = 0; i < e.count; i++) {
        const struct hub_effect *effect = &e.items[i];
        if (effect->message.kind != HUB_FRAGMENT)
            continue;
        assert_memory_equal(effect->message.data, "shared", 6);
        assert_int_equal(effect->message.shared, 0); /* a mark is of several streams alone */
        if (fragments++)
            assert_ptr_equal(effect->block, block);
        block = effect->block;
    }
    assert_int_equal(fragments, 2);
    hub_effects_fini(&e);
}

static void the_same_bytes_for_several_are_marked(void **state)
{
    (void)state;
    struct hub_effects e = {0};
    uint64_t number = 0;
    int fragments = 0;
    sink(far(A), 1, 0, 0);
    sink(far(A), 2, 1, 0);
    push(B, 1, HUB_ANY, 0);
    for (int i = 1; i <= 2; i++) {
        const struct hub_message m = {
            .kind = HUB_DATA, .id = 1, .data = (const uint8_t *)"text", .len = 4};
        assert_int_equal(hub_message(hub, B, &m, &e), 0);
        for (size_t k = 0; k < e.count; k++) {
            const struct hub_message *f = &e.items[k].message;
            if (f->kind != HUB_FRAGMENT)
                continue;
            fragments++;
            assert_int_not_equal(f->shared, 0);
            assert_true(fragments % 2 ? f->shared != number : f->shared == number);
            number = f->shared;
        }
        hub_effects_clear(&e);
    }
    hub_effects_fini(&e);
    assert_int_equal(fragments, 4);
}

static void a_subscription_goes_on_at_an_offset(void **state)
{
    (void)state;
    publish(A, 1, 0, 16);
    put(A, 1, "0123456789");
    subscribe(B, 1, 0, 16, 4);
    assert_string_equal(seen_of(B, 1)->text, "456789");
    SAY(B, .kind = HUB_CLOSE, .id = 1);
    put(A, 1, "abc");
    subscribe(B, 2, 0, 16, 10);
    assert_string_equal(seen_of(B, 2)->text, "abc");
    subscribe(B, 3, 0, 16, 15);
    put(A, 1, "defg");
    assert_string_equal(seen_of(B, 3)->text, "fg");
    assert_int_equal(seen_of(B, 3)->gaps, 0);
}

static void bytes_that_are_not_kept_are_a_gap(void **state)
{
    (void)state;
    uint64_t written = 0;
    publish(A, 1, 0, 16);
    fill(A, 1, &written);
    subscribe(B, 1, 0, 16, 7);
    assert_int_equal(seen_of(B, 1)->gaps, 1);
    assert_int_equal(seen_of(B, 1)->at, written);
    SAY(C, .kind = HUB_PUBLISH, .id = 1, .rank = 0, .tag = 17, .policy = HUB_DROP);
    put(C, 1, "lost");
    subscribe(B, 2, 0, 17, HUB_FROM_OLDEST);
    put(C, 1, "found");
    assert_string_equal(seen_of(B, 2)->text, "found");
}

static void a_sink_goes_on_where_the_last_one_left(void **state)
{
    (void)state;
    push(A, 1, 2, 0);
    put(A, 1, "first second");
    sink(B, 1, 2, 0);
    assert_string_equal(seen_of(B, 1)->text, "first second");
    SAY(B, .kind = HUB_TAKEN, .id = 1, .stream = seen_of(B, 1)->stream, .off = 6);
    SAY(B, .kind = HUB_CLOSE, .id = 1);
    assert_int_equal(seen_of(A, 1)->shuts, 0);
    sink(C, 1, 2, 0);
    assert_string_equal(seen_of(C, 1)->text, "second");
    SAY(A, .kind = HUB_CLOSE, .id = 1);
    assert_int_equal(seen_of(C, 1)->eofs, 1);
    taken(C, 1);
    assert_int_equal(hub_stream_count(hub), 0);
}

static void a_broken_sink_tells_its_writer(void **state)
{
    (void)state;
    push(A, 1, 2, 0);
    sink(B, 1, 2, 0);
    put(A, 1, "taken lost");
    SAY(B, .kind = HUB_TAKEN, .id = 1, .stream = seen_of(B, 1)->stream, .off = 6);
    SAY(A, .kind = HUB_FLUSH, .id = 1, .off = 77);
    assert_int_equal(seen_of(A, 1)->flushes, 0);
    SAY(B, .kind = HUB_CLOSE, .id = 1, .flags = HUB_BROKEN);
    assert_int_equal(seen_of(A, 1)->shuts, 1);
    assert_int_equal(seen_of(A, 1)->shut, 6);
    assert_int_equal(seen_of(A, 1)->flushed, 77);
    assert_int_equal(seen_of(A, 1)->flush_status, HUB_LOST);
    put(A, 1, "dropped"); /* it was on its way */
    assert_int_equal(hub_stream_count(hub), 0);
}

static void a_push_to_all_goes_on_without_one(void **state)
{
    (void)state;
    uint64_t written = 0;
    push(A, 1, HUB_ANY, 0);
    sink(B, 1, 0, 0);
    sink(C, 1, 1, 0);
    assert_int_equal(fill(A, 1, &written), HUB_WINDOW);
    taken(B, 1);
    assert_int_equal(fill(A, 1, &written), 0); /* the slowest says how fast */
    gone(C);
    assert_int_equal(seen_of(A, 1)->shuts, 0);
    assert_int_equal(fill(A, 1, &written), HUB_WINDOW);
    gone(B);
    assert_int_equal(seen_of(A, 1)->shuts, 1);
    assert_int_equal(seen_of(A, 1)->shut, HUB_WINDOW);
}

/* A reader that has asked for it is told whether what it got ends within a line. */
static void open_lines_are_told(void **state)
{
    (void)state;
    struct hub_effects e = {0};
    publish(A, 1, 0, 16);
    SAY(B, .kind = HUB_SUBSCRIBE, .id = 1, .rank = 0, .tag = 16, .flags = HUB_OPEN);
    SAY(C, .kind = HUB_SUBSCRIBE, .id = 1, .rank = 0, .tag = 16);
    const struct {
        const char *text;
        uint8_t flags;
        size_t effects; /* to B, and to C where there are bytes */
    } steps[] = {{"ab\n", 0, 2}, {"cd", HUB_OPEN, 2}, {"", 0, 1}, {"", 0, 0}, {"e\n", 0, 2}};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const struct hub_message m = {.kind = HUB_DATA,
                                      .id = 1,
                                      .flags = steps[i].flags,
                                      .data = (const uint8_t *)steps[i].text,
                                      .len = (uint32_t)strlen(steps[i].text)};
        size_t fragments = 0;
        assert_int_equal(hub_message(hub, A, &m, &e), 0);
        for (size_t j = 0; j < e.count; j++) {
            if (e.items[j].message.kind != HUB_FRAGMENT)
                continue;
            fragments++;
            assert_int_equal(e.items[j].message.flags, e.items[j].party == B ? steps[i].flags : 0);
        }
        assert_int_equal(fragments, steps[i].effects);
        hub_effects_clear(&e);
    }
    hub_effects_fini(&e);
}

/* A party whose number on its node is below HUB_TRUSTED may list the sinks that it writes to. */
static void a_push_to_a_list(void **state)
{
    (void)state;
    const uint64_t daemon = (uint64_t)1 << 32;
    struct hub_effects e = {0};
    struct hub_message m = {.kind = HUB_PUSH, .id = 1, .rank = 0};
    push(A, 1, 0, 0);
    assert_int_equal(say(A, (struct hub_message){.kind = HUB_ALSO, .id = 1, .rank = 1}), -EPROTO);
    gone(A);
    assert_int_equal(hub_message(hub, daemon, &m, &e), 0);
    m.kind = HUB_ALSO;
    m.rank = 2;
    assert_int_equal(hub_message(hub, daemon, &m, &e), 0);
    assert_int_equal(hub_message(hub, daemon, &m, &e), 0); /* it is in the list once */
    sink(B, 1, 0, 0);
    sink(C, 1, 1, 0);
    sink(D, 1, 2, 0);
    hub_effects_clear(&e);
    m = (struct hub_message){.kind = HUB_DATA, .id = 1, .data = (const uint8_t *)"abc", .len = 3};
    assert_int_equal(hub_message(hub, daemon, &m, &e), 0);
    for (size_t i = 0; i < e.count; i++)
        if (e.items[i].party != daemon)
            note(e.items[i].party, &e.items[i].message);
    assert_string_equal(seen_of(B, 1)->text, "abc");
    assert_string_equal(seen_of(C, 1)->text, "");
    assert_string_equal(seen_of(D, 1)->text, "abc");
    hub_effects_clear(&e);
    gone(B);
    assert_int_equal(hub_party_gone(hub, daemon, &e), 0);
    hub_effects_fini(&e);
}

static void a_flush_waits_for_the_reliable(void **state)
{
    (void)state;
    publish(A, 1, 0, 16);
    subscribe(B, 1, 0, 16, 0);
    subscribe(C, 1, 0, 16, 0);
    SAY(D, .kind = HUB_SUBSCRIBE, .id = 1, .rank = 0, .tag = 16, .flags = HUB_OBSERVER);
    put(A, 1, "abc");
    SAY(A, .kind = HUB_FLUSH, .id = 1, .off = 5);
    taken(B, 1);
    assert_int_equal(seen_of(A, 1)->flushes, 0);
    put(A, 1, "after");
    SAY(C, .kind = HUB_TAKEN, .id = 1, .stream = seen_of(C, 1)->stream, .off = 3);
    assert_int_equal(seen_of(A, 1)->flushes, 1);
    SAY(A, .kind = HUB_FLUSH, .id = 1, .off = 6);
    taken(B, 1);
    gone(C); /* a dead subscriber is waited for no more */
    assert_int_equal(seen_of(A, 1)->flushes, 2);
    assert_int_equal(seen_of(A, 1)->flushed, 6);
    assert_int_equal(seen_of(A, 1)->flush_status, HUB_GOOD);
}

static void a_stream_begins_anew_after_its_end(void **state)
{
    (void)state;
    subscribe(B, 1, 0, HUB_ANY, HUB_FROM_NOW);
    publish(A, 1, 0, 16);
    put(A, 1, "one");
    SAY(A, .kind = HUB_CLOSE, .id = 1);
    publish(A, 2, 0, 16);
    put(A, 2, "two");
    assert_int_equal(seen_of(B, 1)->at, 3);
    assert_string_equal(seen_of(B, 1)->text, "onetwo");
    assert_int_equal(seen_of(B, 1)->eofs, 1);
}

static void rules_are_kept_to(void **state)
{
    (void)state;
    const uint8_t bytes[4] = "abc";
    publish(A, 1, 0, 16);
    subscribe(B, 1, 0, 16, 0);
    struct hub_message bad[] = {
        {.kind = HUB_DATA, .id = 1, .data = bytes, .len = HUB_WINDOW + 1},
        {.kind = HUB_DATA, .id = 9, .data = bytes, .len = 1},
        {.kind = HUB_TAKEN, .id = 1, .stream = 1},
        {.kind = HUB_PUBLISH, .id = 2, .rank = RANKS},
        {.kind = HUB_PUBLISH, .id = 2, .rank = HUB_ANY},
        {.kind = HUB_PUSH, .id = 2, .rank = -2},
        {.kind = HUB_PUBLISH, .id = 2, .tag = -1},
        {.kind = HUB_PUBLISH, .id = 2, .policy = HUB_POLICY_END},
        {.kind = HUB_GRANT, .id = 1},
        {.kind = HUB_FLUSH, .id = 9},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(say(A, bad[i]), -EPROTO);
    put(A, 1, "abc");
    assert_int_equal(
        say(B, (struct hub_message){.kind = HUB_TAKEN, .id = 1, .stream = 1, .off = 4}), -EPROTO);
    assert_int_equal(say(B, (struct hub_message){.kind = HUB_DATA, .id = 1}), -EPROTO);
    SAY(A, .kind = HUB_PUBLISH, .id = 1, .rank = 0, .tag = 17);
    assert_int_equal(seen_of(A, 1)->status, HUB_TAKEN_ID);
    for (int i = 0; i < 70; i++)
        SAY(C, .kind = HUB_PUBLISH, .id = 1, .rank = 0, .tag = 100 + i, .flags = 0);
    assert_int_equal(seen_of(C, 1)->status, HUB_TAKEN_ID);
}

/* Open so many ends. Returns how many are refused, as too many. */
static int open_many(uint64_t party, uint8_t kind, int32_t tag, uint32_t count)
{
    struct hub_effects e = {0};
    int full = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct hub_message m = {.kind = kind, .id = i, .tag = tag + (int32_t)i};
        assert_int_equal(hub_message(hub, party, &m, &e), 0);
    }
    for (size_t i = 0; i < e.count; i++)
        full += e.items[i].message.kind == HUB_OPENED && e.items[i].message.status == HUB_FULL;
    hub_effects_fini(&e);
    return full;
}

static void streams_and_ends_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(open_many(A, HUB_SUBSCRIBE, 0, HUB_ENDS_MAX + 10), 10);
    assert_int_equal(open_many(B, HUB_PUBLISH, 0, 100), 36);
    assert_int_equal(open_many(HUB_TRUSTED - 1, HUB_PUBLISH, 200, HUB_OWN_STREAMS * RANKS + 3), 3);
}

/* More bytes than 32 bits can count: offsets and the sum of all bytes are right. */
static void more_than_four_gigabytes_pass(void **state)
{
    static uint8_t block[HUB_DATA_MAX];
    uint64_t total = 9ull << 29, sum = 0, expected = 0, at = 0, granted = 0;
    struct hub_effects e = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = (uint8_t)(i * 37);
    for (size_t i = 0; i < sizeof(block); i += 512)
        expected += block[i];
    expected *= total / sizeof(block);
    hub_message(hub, B, &(struct hub_message){.kind = HUB_SUBSCRIBE, .id = 1, .rank = 0, .tag = 16},
                &e);
    hub_message(hub, A, &(struct hub_message){.kind = HUB_PUBLISH, .id = 1, .rank = 0, .tag = 16},
                &e);
    for (uint64_t sent = 0; at < total;) {
        struct hub_effects now = e;
        struct hub_message ack = {.kind = HUB_TAKEN, .id = 1};
        e = (struct hub_effects){0};
        for (size_t i = 0; i < now.count; i++) {
            const struct hub_message *m = &now.items[i].message;
            granted = m->kind == HUB_GRANT ? m->off : granted;
            if (m->kind != HUB_FRAGMENT)
                continue;
            assert_int_equal(m->off, at);
            at += m->len;
            for (uint32_t j = (uint32_t)(-m->off & 511); j < m->len; j += 512)
                sum += m->data[j];
            ack.off = at;
            ack.stream = m->stream;
        }
        hub_effects_fini(&now);
        if (ack.off)
            assert_int_equal(hub_message(hub, B, &ack, &e), 0);
        uint64_t n = sizeof(block) - sent % sizeof(block);
        n = n < granted - sent ? n : granted - sent;
        if (sent < total && n) {
            struct hub_message m = {.kind = HUB_DATA,
                                    .id = 1,
                                    .data = block + sent % sizeof(block),
                                    .len = (uint32_t)n};
            assert_int_equal(hub_message(hub, A, &m, &e), 0);
            sent += n;
        }
    }
    assert_int_equal(at, total);
    assert_int_equal(sum, expected);
    hub_effects_fini(&e);
}

/* A thousand ranks write as much as they may to a reader that takes nothing, and then takes all. */
static void a_stopped_terminal_bounds_a_thousand_ranks(void **state)
{
    enum {
        MANY = 1000,
        WANT = 50000
    };
    static uint8_t block[HUB_DATA_MAX];
    static uint64_t granted[2 * MANY], sent[2 * MANY], got[2 * MANY + 1];
    struct hub *h = hub_create(MANY, 4 * MANY, WINDOW_MAX);
    struct hub_effects e = {0};
    size_t most = 0;
    uint64_t all = 0;
    (void)state;
    hub_message(h, 1, &(struct hub_message){.kind = HUB_SUBSCRIBE, .rank = -1, .tag = -1}, &e);
    for (uint32_t i = 0; i < 2 * MANY; i++)
        hub_message(h, 0,
                    &(struct hub_message){
                        .kind = HUB_PUBLISH, .id = i, .rank = (int)i / 2, .tag = 1 + i % 2},
                    &e);
    for (int round = 0; all < 2ull * MANY * WANT && round < 10000; round++) {
        struct hub_effects now = e;
        e = (struct hub_effects){0};
        for (size_t i = 0; i < now.count; i++) {
            const struct hub_message *m = &now.items[i].message;
            if (m->kind == HUB_GRANT)
                granted[m->id] = m->off;
            if (m->kind != HUB_FRAGMENT || !m->len)
                continue;
            assert_int_equal(m->off, got[m->stream]);
            got[m->stream] += m->len;
            all += m->len;
        }
        hub_effects_fini(&now);
        for (uint32_t i = 0; i < 2 * MANY; i++) {
            uint64_t n = granted[i] - sent[i], left = WANT - sent[i];
            n = n < left ? n : left;
            if (n)
                assert_int_equal(
                    hub_message(h, 0,
                                &(struct hub_message){
                                    .kind = HUB_DATA, .id = i, .data = block, .len = (uint32_t)n},
                                &e),
                    0);
            sent[i] += n;
        }
        size_t memory = hub_memory(h);
        most = memory > most ? memory : most;
        for (uint32_t i = 1; round >= 10 && i <= 2 * MANY; i++) /* the terminal goes on */
            hub_message(h, 1, &(struct hub_message){.kind = HUB_TAKEN, .stream = i, .off = got[i]},
                        &e);
    }
    assert_int_equal(all, 2ull * MANY * WANT);
    printf("# most bytes kept: %zu\n", most);
    assert_true(most <= HUB_MEMORY);
    hub_effects_fini(&e);
    hub_destroy(h);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_reach_each_reader),
        TEST(two_writers_of_one_stream),
        TEST(a_silent_writer_holds_nobody_up),
        TEST(a_slow_reader_bounds_the_writer),
        TEST(a_reader_that_stops_for_ever_and_leaves),
        TEST(an_observer_is_told_of_a_gap),
        TEST(the_window_grows_for_a_far_writer),
        TEST(the_window_grows_for_a_far_reader),
        TEST(the_window_stays_where_nothing_is_far),
        TEST(the_window_stays_where_a_far_reader_is_slow),
        TEST(the_window_stays_where_a_far_writer_has_little),
        TEST(windows_together_are_bounded),
        TEST(readers_of_a_stream_share_one_copy),
        TEST(the_same_bytes_for_several_are_marked),
        TEST(a_subscription_goes_on_at_an_offset),
        TEST(bytes_that_are_not_kept_are_a_gap),
        TEST(a_sink_goes_on_where_the_last_one_left),
        TEST(a_broken_sink_tells_its_writer),
        TEST(a_push_to_all_goes_on_without_one),
        TEST(a_push_to_a_list),
        TEST(open_lines_are_told),
        TEST(a_flush_waits_for_the_reliable),
        TEST(a_stream_begins_anew_after_its_end),
        TEST(rules_are_kept_to),
        TEST(streams_and_ends_are_bounded),
        TEST(more_than_four_gigabytes_pass),
        TEST(a_stopped_terminal_bounds_a_thousand_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
