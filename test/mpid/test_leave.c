/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two processes let their connection go, by the rules of leave.h and the table of states, in every
 * order: either asks whenever the connection is idle, sends short and long messages, receives late,
 * has no room for an answer, and closes in the end. Whatever the order, each message arrives once
 * and in turn, nothing is under way when a link ends, and neither is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpid/conn/leave.h"

enum {
    PIPE = 16, /* packets under way in one direction, at most */
    SEEN = 1 << 22
};

enum item_kind {
    ITEM_SHORT, /* a message, which is complete for its sender at once; value: its number */
    ITEM_LONG,  /* one that its receiver answers */
    ITEM_DONE,  /* the answer */
    ITEM_LEAVE, /* value: the step */
    ITEM_CLOSE  /* value: 0 or 1 */
};

struct item {
    uint8_t kind, value;
};

struct pipe {
    uint8_t count;
    struct item item[PIPE];
};

/* A process: its state, and the rest of its work. */
struct side {
    uint8_t state; /* enum vc_state */
    uint8_t sends, asks,
        fulls;               /* it may still send a message, ask, and have no room for an answer */
    uint8_t queued;          /* messages that wait for the link */
    uint8_t number, got;     /* messages sent, and those that came */
    uint8_t asked;           /* long ones that are not answered */
    uint8_t kept, kept_long; /* messages that came and are not received */
    uint8_t ends;            /* it has called MPI_Finalize */
};

struct world {
    struct side side[2];
    struct pipe pipe[2]; /* from each */
};

static int total; /* messages that each sends */
static uint64_t *seen;
static uint64_t seen_count, ends_count, let_go_count;

/* Returns whether it is new. */
static bool note(const struct world *world)
{
    const uint8_t *bytes = (const uint8_t *)world;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof(*world); i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u | 1;
    size_t at = (size_t)(hash >> 20) % SEEN;
    while (seen[at] && seen[at] != hash)
        at = (at + 1) % SEEN;
    if (seen[at])
        return false;
    assert_true(++seen_count < SEEN / 2);
    seen[at] = hash;
    return true;
}

static void push(struct world *world, int from, enum item_kind kind, int value)
{
    struct pipe *pipe = &world->pipe[from];
    assert_true(pipe->count < PIPE);
    pipe->item[pipe->count++] = (struct item){(uint8_t)kind, (uint8_t)value};
}

static struct item pop(struct world *world, int from)
{
    struct pipe *pipe = &world->pipe[from];
    struct item item = pipe->item[0];
    pipe->count--;
    memmove(pipe->item, pipe->item + 1, sizeof(item) * pipe->count);
    pipe->item[pipe->count] = (struct item){0};
    return item;
}

static void go_on(struct side *side, enum vc_event event)
{
    enum vc_state next = vc_after((enum vc_state)side->state, event);
    assert_int_not_equal(next, VC_STATES);
    side->state = (uint8_t)next;
}

static bool is_idle(const struct side *side)
{
    return !side->queued && !side->asked && !side->kept && !side->kept_long && !side->ends;
}

/* Messages that wait go out, if they may. */
static void drain(struct world *world, int i)
{
    struct side *side = &world->side[i];
    while (side->queued && side->state == VC_OPEN) {
        bool is_long = (side->number + i) % 2;
        side->queued--;
        push(world, i, is_long ? ITEM_LONG : ITEM_SHORT, side->number++);
        side->asked += is_long;
    }
}

static void forget(struct world *world, int i)
{
    struct side *side = &world->side[i];
    assert_int_equal(world->pipe[1 - i].count, 0); /* nothing comes any more */
    assert_int_equal(side->asked + side->kept + side->kept_long, 0);
    let_go_count++;
}

static void take_leave(struct world *world, int i, struct item item, bool is_full)
{
    struct side *side = &world->side[i];
    struct leave_turn turn;
    assert_true(leave_heard((enum vc_state)side->state, (enum leave_step)item.value, is_idle(side),
                            i == 1, &turn));
    if (is_full && (turn.say == LEAVE_YES || turn.say == LEAVE_END))
        leave_put_off((enum vc_state)side->state, &turn);
    if (turn.say != LEAVE_NONE)
        push(world, i, ITEM_LEAVE, turn.say);
    if (turn.event != VC_EVENTS)
        go_on(side, turn.event);
    if (turn.event == VC_FORGET)
        forget(world, i);
}

static void take_close(struct world *world, int i, int acked)
{
    struct side *side = &world->side[i];
    bool was_closing = side->state == VC_LOCAL_CLOSE;
    go_on(side, acked ? VC_CLOSE_1 : VC_CLOSE_0);
    if (was_closing)
        push(world, i, ITEM_CLOSE, 1);
}

static void take(struct world *world, int i, bool is_full)
{
    struct side *side = &world->side[i];
    struct item item = pop(world, 1 - i);
    assert_int_not_equal(side->state, VC_UNBOUND);
    switch ((enum item_kind)item.kind) {
    case ITEM_SHORT:
    case ITEM_LONG:
        assert_int_equal(item.value, side->got++);
        assert_int_not_equal(side->state, VC_LEFT);
        *(item.kind == ITEM_LONG ? &side->kept_long : &side->kept) += 1;
        break;
    case ITEM_DONE:
        assert_true(side->asked > 0);
        side->asked--;
        break;
    case ITEM_LEAVE: take_leave(world, i, item, is_full); break;
    case ITEM_CLOSE: take_close(world, i, item.value); break;
    }
    drain(world, i);
}

/* The next step of a process, by number; returns whether it can. */
enum {
    ACT_SEND,
    ACT_ASK,
    ACT_TAKE,
    ACT_TAKE_FULL,
    ACT_RECEIVE,
    ACT_RECEIVE_LONG,
    ACT_END,
    ACT_CLOSE,
    ACT_CONNECT,
    ACTS
};

static bool act(struct world *world, int i, int which)
{
    struct side *side = &world->side[i], *other = &world->side[1 - i];
    switch (which) {
    case ACT_SEND:
        if (!side->sends)
            return false;
        side->sends--;
        side->queued++;
        drain(world, i);
        return true;
    case ACT_ASK:
        if (!side->asks || side->state != VC_OPEN || !is_idle(side))
            return false;
        side->asks--;
        push(world, i, ITEM_LEAVE, LEAVE_ASK);
        go_on(side, VC_LEAVE);
        return true;
    case ACT_TAKE_FULL:
        if (!side->fulls)
            return false;
        side->fulls--;
        if (!world->pipe[1 - i].count || world->pipe[1 - i].item[0].kind != ITEM_LEAVE)
            return false;
        take(world, i, true);
        return true;
    case ACT_TAKE:
        if (!world->pipe[1 - i].count)
            return false;
        take(world, i, false);
        return true;
    case ACT_RECEIVE:
        if (!side->kept)
            return false;
        side->kept--;
        return true;
    case ACT_RECEIVE_LONG:
        if (!side->kept_long)
            return false;
        side->kept_long--;
        assert_true(side->state == VC_OPEN || side->state == VC_LEAVING ||
                    side->state == VC_REMOTE_CLOSE);
        push(world, i, ITEM_DONE, 0);
        return true;
    case ACT_END:
        if (side->ends || side->sends || side->queued || side->asked || side->kept ||
            side->kept_long || side->got != total)
            return false;
        side->ends = 1;
        return true;
    case ACT_CLOSE:
        if (!side->ends || (side->state != VC_OPEN && side->state != VC_REMOTE_CLOSE))
            return false;
        push(world, i, ITEM_CLOSE, side->state == VC_REMOTE_CLOSE);
        go_on(side, VC_CLOSE);
        return true;
    default: /* the peer lets it in once its older link has ended */
        if (side->state != VC_UNBOUND || other->state != VC_UNBOUND || !side->queued)
            return false;
        side->state = other->state = VC_OPEN;
        drain(world, 0);
        drain(world, 1);
        return true;
    }
}

/* Nothing is left to be done. */
static void check_end(const struct world *world)
{
    for (int i = 0; i < 2; i++) {
        const struct side *side = &world->side[i];
        assert_int_equal(side->got, total);
        assert_int_equal(side->number, total);
        assert_int_equal(side->queued + side->asked + side->kept + side->kept_long, 0);
        assert_true(side->state == VC_CLOSED || side->state == VC_UNBOUND);
        assert_int_equal(world->pipe[i].count, 0);
    }
    assert_int_equal(world->side[0].state, world->side[1].state);
    ends_count++;
}

static void explore(const struct world *world)
{
    bool any = false;
    if (!note(world))
        return;
    for (int i = 0; i < 2; i++)
        for (int which = 0; which < ACTS; which++) {
            struct world next = *world;
            if (!act(&next, i, which))
                continue;
            any = true;
            explore(&next);
        }
    if (!any)
        check_end(world);
}

static void play(int messages, int asks, int fulls)
{
    struct world world;
    memset(&world, 0, sizeof(world));
    total = messages;
    for (int i = 0; i < 2; i++) {
        world.side[i].state = VC_OPEN;
        world.side[i].sends = (uint8_t)messages;
        world.side[i].asks = (uint8_t)asks;
        world.side[i].fulls = (uint8_t)fulls;
    }
    seen = calloc(SEEN, sizeof(*seen));
    assert_non_null(seen);
    seen_count = ends_count = let_go_count = 0;
    explore(&world);
    print_message("%d messages, %d questions: %llu states, %llu ends\n", messages, asks,
                  (unsigned long long)seen_count, (unsigned long long)ends_count);
    assert_true(ends_count > 0 && (!asks || let_go_count > 0));
    free(seen);
}

static void test_orders(void **state)
{
    (void)state;
    play(1, 2, 1);
    play(2, 1, 0);
    play(2, 2, 1);
    play(3, 2, 1);
    play(3, 3, 0);
}

/* Steps that break the rules, in each state. */
static void test_rules(void **state)
{
    (void)state;
    for (int s = 0; s < VC_STATES; s++)
        for (int step = 0; step <= LEAVE_STEPS; step++) {
            struct leave_turn turn;
            bool good = leave_heard((enum vc_state)s, (enum leave_step)step, true, false, &turn);
            bool should = step == LEAVE_ASK ? s == VC_OPEN || s == VC_LEAVING || s == VC_LOCAL_CLOSE
                          : step == LEAVE_YES ? s == VC_LEAVING
                          : step == LEAVE_NO  ? true
                          : step == LEAVE_END ? s == VC_LEFT
                                              : false;
            assert_int_equal(good, should);
            if (good && turn.event != VC_EVENTS)
                assert_int_not_equal(vc_after((enum vc_state)s, turn.event), VC_STATES);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
