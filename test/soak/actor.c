/* SPDX-License-Identifier: BSD-3-Clause */

/* Going through a script, and the bytes of messages. */
#include "actor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

enum {
    UNTOUCHED = 0xa5,
    GUARD = 64,      /* bytes behind an area that nothing may write */
    GAP_STRIDE = 2,  /* from byte to byte where they are spread */
    PREPARED = 65536 /* longer areas are not prepared as a whole */
};

void actor_fail(const struct actor *actor, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "soak: seed %llu, era %d, phase %d, lane %d (%s), rank %d of the era: %s\n",
            (unsigned long long)actor->plan->seed, actor->era, actor->phase, actor->number,
            plan_style_name(actor->lane->style), actor->me, text);
    MPI_Abort(actor->comm, 1);
    abort();
}

/* ---- bytes ---- */

static uint64_t word_of(uint64_t seed, size_t i)
{
    uint64_t x = seed + (uint64_t)i * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static uint8_t byte_of(uint64_t seed, size_t i)
{
    return (uint8_t)(word_of(seed, i / 8) >> i % 8 * 8);
}

static size_t stride_of(const struct actor_area *area)
{
    return area->spread ? GAP_STRIDE : 1;
}

static size_t extent_of(const struct actor_area *area)
{
    return area->len * stride_of(area);
}

struct actor_area actor_area(struct actor *actor, size_t len, bool spread)
{
    struct actor_area area = {.len = len, .spread = spread};
    size_t extent = extent_of(&area);
    area.bytes = malloc(extent + GUARD);
    if (!area.bytes)
        actor_fail(actor, "no memory for %zu bytes", extent);
    size_t prepared = extent <= PREPARED * GAP_STRIDE ? extent : 0;
    memset(area.bytes, UNTOUCHED, prepared);
    memset(area.bytes + extent, UNTOUCHED, GUARD);
    return area;
}

struct actor_area actor_filled(struct actor *actor, const struct plan_message *message,
                               uint64_t seed)
{
    struct actor_area area = actor_area(actor, message->len, message->send_spread);
    for (size_t i = 0; area.spread && i < area.len; i++)
        area.bytes[i * GAP_STRIDE] = byte_of(seed, i);
    if (area.spread)
        return area;
    for (size_t at = 0; at < area.len; at += 8) {
        uint64_t word = word_of(seed, at / 8);
        memcpy(area.bytes + at, &word, area.len - at < 8 ? area.len - at : 8);
    }
    return area;
}

void actor_area_drop(struct actor_area *area)
{
    if (area->bytes)
        memset(area->bytes, UNTOUCHED, extent_of(area));
    free(area->bytes);
    area->bytes = NULL;
}

/* The first byte of the message that differs, or len. */
static size_t first_wrong(const struct actor_area *area, size_t len, uint64_t seed)
{
    size_t i = 0, stride = stride_of(area);
    for (uint64_t word = word_of(seed, 0); stride == 1 && i + 8 <= len;
         word = word_of(seed, i / 8)) {
        if (memcmp(area->bytes + i, &word, 8))
            break;
        i += 8;
    }
    while (i < len && area->bytes[i * stride] == byte_of(seed, i))
        i++;
    return i;
}

/* The first byte outside of the message that was written, or the end of the area with its guard. */
static size_t first_touched(const struct actor_area *area, size_t len)
{
    size_t extent = extent_of(area), stride = stride_of(area), i = extent;
    if (extent <= PREPARED * GAP_STRIDE)
        i = 0;
    while (i < extent + GUARD &&
           (area->bytes[i] == UNTOUCHED || (i / stride < len && i % stride == 0)))
        i++;
    return i;
}

void actor_expect(struct actor *actor, const struct actor_area *area, size_t len, uint64_t seed)
{
    size_t wrong = first_wrong(area, len, seed), touched = first_touched(area, len);
    if (wrong < len)
        actor_fail(actor, "byte %zu of %zu is %d, not %d", wrong, len,
                   area->bytes[wrong * stride_of(area)], byte_of(seed, wrong));
    if (touched < extent_of(area) + GUARD)
        actor_fail(actor, "memory at %zu was written, outside of a message of %zu bytes", touched,
                   len);
}

void actor_expect_part(struct actor *actor, const struct actor_area *area, size_t at, size_t len,
                       uint64_t seed)
{
    for (size_t i = at; i < at + len; i++)
        if (area->bytes[i * stride_of(area)] != byte_of(seed, i))
            actor_fail(actor, "byte %zu is wrong in a part that has arrived, bytes %zu to %zu", i,
                       at, at + len - 1);
}

MPI_Datatype actor_type(const struct actor *actor, const struct actor_area *area)
{
    return area->spread ? actor->spread : MPI_BYTE;
}

/* ---- what is under way ---- */

void actor_started(struct actor *actor, struct actor_pending pending)
{
    actor->pending[actor->pending_count++] = pending;
}

void actor_received(struct actor *actor, struct actor_receipt *receipt, const MPI_Status *status)
{
    int count = -1, cancelled = -1;
    ACTOR_OK(actor, MPI_Get_count(status, actor_type(actor, &receipt->area), &count));
    ACTOR_OK(actor, MPI_Test_cancelled(status, &cancelled));
    if (count < 0 || cancelled)
        actor_fail(actor, "a receive ends with count %d, cancelled %d", count, cancelled);
    receipt->got_source = status->MPI_SOURCE;
    receipt->got_tag = status->MPI_TAG;
    receipt->got_len = (size_t)count;
    receipt->complete = true;
}

void actor_completed(struct actor *actor, int at, const MPI_Status *status)
{
    struct actor_pending *pending = &actor->pending[at];
    if (pending->receipt)
        actor_received(actor, pending->receipt, status);
    if (pending->persistent)
        ACTOR_OK(actor, MPI_Request_free(&pending->request));
    pending->request = MPI_REQUEST_NULL;
    actor_area_drop(&pending->area);
}

/* ---- steps ---- */

static void step_send(struct actor *actor, const struct plan_message *message)
{
    const struct send_row *row = &send_rows[message->send];
    if (row->send) {
        row->send(actor, message);
        return;
    }
    struct actor_area area = actor_filled(actor, message, message->seed);
    MPI_Datatype type = actor_type(actor, &area);
    int count = (int)area.len, to = message->to, tag = message->tag;
    if (row->now) {
        ACTOR_OK(actor, row->now(area.bytes, count, type, to, tag, actor->comm));
        actor_area_drop(&area);
        return;
    }
    struct actor_pending pending = {.area = area, .persistent = row->flags & SEND_PERSISTENT};
    ACTOR_OK(actor, row->start(area.bytes, count, type, to, tag, actor->comm, &pending.request));
    if (pending.persistent)
        ACTOR_OK(actor, MPI_Start(&pending.request));
    actor_started(actor, pending);
}

/* Room for whichever message the receive may get. */
static size_t longest_to(const struct plan_lane *lane, int to)
{
    size_t longest = 0;
    for (int i = 0; i < lane->count; i++)
        if (lane->messages[i].to == to && lane->messages[i].len > longest)
            longest = lane->messages[i].len;
    return longest;
}

static void step_recv(struct actor *actor, const struct plan_message *message)
{
    const struct send_row *row = &send_rows[message->send];
    if (row->recv) {
        row->recv(actor, message);
        return;
    }
    struct actor_receipt *receipt = &actor->receipts[actor->receipt_count++];
    enum plan_wild wild = message->exact ? PLAN_WILD_NONE : actor->lane->wild;
    bool any_source = wild == PLAN_WILD_SOURCE || wild == PLAN_WILD_BOTH;
    bool any_tag = wild == PLAN_WILD_TAG || wild == PLAN_WILD_BOTH;
    size_t room = longest_to(actor->lane, actor->me);
    bool spread = message->recv_spread && room < PREPARED;
    *receipt = (struct actor_receipt){.source = any_source ? MPI_ANY_SOURCE : message->from,
                                      .tag = any_tag ? MPI_ANY_TAG : message->tag,
                                      .area = actor_area(actor, room, spread)};
    recv_rows[message->recv].recv(actor, receipt);
}

static void step_finish(struct actor *actor, int row)
{
    if (actor->pending_count)
        finish_rows[row].finish(actor);
    actor->pending_count = 0;
}

/* One line on stderr for each step, as it begins. */
static void trace(const struct actor *actor, const struct plan_step *step)
{
    const struct plan_message *m = &actor->lane->messages[step->value];
    char text[160];
    switch (step->kind) {
    case PLAN_SEND:
        snprintf(text, sizeof(text), "%s message %d to %d, tag %d, %zu bytes",
                 send_rows[m->send].name, step->value, m->to, m->tag, m->len);
        break;
    case PLAN_RECV:
        snprintf(text, sizeof(text), "%s message %d (%s) from %d, tag %d, %zu bytes%s",
                 recv_rows[m->recv].name, step->value, send_rows[m->send].name, m->from, m->tag,
                 m->len, m->exact ? ", exact" : "");
        break;
    case PLAN_FINISH:
        snprintf(text, sizeof(text), "%s for %d requests", finish_rows[step->value].name,
                 actor->pending_count);
        break;
    case PLAN_BARRIER: snprintf(text, sizeof(text), "MPI_Barrier"); break;
    case PLAN_PAUSE:
        snprintf(text, sizeof(text), "%s after %d ms for %d ms", pause_rows[step->value].name,
                 step->after_ms, step->ms);
        break;
    }
    fprintf(stderr, "era %d, phase %d, lane %d (%s, open %d), rank %d of the era: %s\n", actor->era,
            actor->phase, actor->number, plan_style_name(actor->lane->style), actor->lane->wild,
            actor->me, text);
}

void actor_run(struct actor *actor)
{
    for (int i = 0; i < actor->script->count; i++) {
        const struct plan_step *step = &actor->script->steps[i];
        const struct plan_message *message = &actor->lane->messages[step->value];
        if (actor->traced)
            trace(actor, step);
        switch (step->kind) {
        case PLAN_SEND: step_send(actor, message); break;
        case PLAN_RECV: step_recv(actor, message); break;
        case PLAN_FINISH: step_finish(actor, step->value); break;
        case PLAN_BARRIER: ACTOR_OK(actor, MPI_Barrier(actor->comm)); break;
        case PLAN_PAUSE: pause_rows[step->value].pause(step->after_ms, step->ms); break;
        }
    }
}

/* ---- verifying ---- */

static bool accepts(const struct actor_receipt *receipt, const struct plan_message *message)
{
    return (receipt->source == MPI_ANY_SOURCE || receipt->source == message->from) &&
           (receipt->tag == MPI_ANY_TAG || receipt->tag == message->tag);
}

/* The receive that must have got the message: of those that got a message of its sender, the first
 * one in the order of posting that accepts it. What came from other senders changes nothing. */
static struct actor_receipt *receipt_of(struct actor *actor, const struct plan_message *message)
{
    for (int i = 0; i < actor->receipt_count; i++) {
        struct actor_receipt *receipt = &actor->receipts[i];
        if (receipt->complete && receipt->got_source == message->from && accepts(receipt, message))
            return receipt;
    }
    return NULL;
}

static void verify_one(struct actor *actor, int i)
{
    const struct plan_message *message = &actor->lane->messages[i];
    struct actor_receipt *receipt = receipt_of(actor, message);
    if (!receipt)
        actor_fail(actor, "message %d (%s from %d, tag %d, %zu bytes) did not come", i,
                   send_rows[message->send].name, message->from, message->tag, message->len);
    if (receipt->got_tag != message->tag || receipt->got_len != message->len)
        actor_fail(actor,
                   "where message %d (%s from %d, tag %d, %zu bytes) should be is one of tag %d, "
                   "%zu bytes",
                   i, send_rows[message->send].name, message->from, message->tag, message->len,
                   receipt->got_tag, receipt->got_len);
    actor_expect(actor, &receipt->area, receipt->got_len, message->seed);
    receipt->complete = false; /* found */
    actor->messages++;
    actor->len += message->len;
}

void actor_verify(struct actor *actor)
{
    for (int i = 0; i < actor->lane->count; i++) {
        const struct plan_message *message = &actor->lane->messages[i];
        if (message->to == actor->me && !(send_rows[message->send].flags & SEND_PAIRED))
            verify_one(actor, i);
    }
    for (int i = 0; i < actor->receipt_count; i++) {
        if (actor->receipts[i].complete)
            actor_fail(actor, "a message of rank %d, tag %d, that nobody sent",
                       actor->receipts[i].got_source, actor->receipts[i].got_tag);
        actor_area_drop(&actor->receipts[i].area);
    }
    actor->receipt_count = 0;
}
