/* SPDX-License-Identifier: BSD-3-Clause */

/* From a seed to a plan.
 *
 * Why each plan ends: in the style "ordered" every rank follows one order of all messages, and a
 * receive names its source and tag, so the rank that is least far has a partner that is there
 * already. In the other styles no receive that was posted, and no send that was started, waits for
 * anything but the other side, which comes: sends only start something before the first receive
 * that waits (wild), or have a thread of their own (split), or find all receives posted (ready).
 * Where a receive that waits might take what another one was meant for, each receive of the lane
 * accepts everything, or all sends have been started. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "kinds.h"

enum { MANY_RANKS = 8 }; /* from here on more messages are planned */

struct maker {
    struct plan *plan;
    struct plan_limits limits;
    uint64_t dice;
    int patience_ms; /* what pauses may still take */
    bool failed;     /* no memory */
};

/* ---- memory ---- */

static void *list_room(struct maker *m, int count, size_t len)
{
    void *list = calloc(count ? (size_t)count : 1, len);
    m->failed |= !list;
    return list;
}

static struct plan_step *step_add(struct maker *m, struct plan_script *script,
                                  enum plan_step_kind kind, int value)
{
    static struct plan_step nowhere;
    if (script->count == script->room) {
        int room = script->room ? 2 * script->room : 16;
        void *steps = realloc(script->steps, (size_t)room * sizeof(*script->steps));
        if (!steps) {
            m->failed = true;
            return &nowhere;
        }
        script->steps = steps;
        script->room = room;
    }
    script->steps[script->count] = (struct plan_step){.kind = kind, .value = value};
    return &script->steps[script->count++];
}

/* ---- messages ---- */

struct size_row {
    int weight, least, most;
};

/* The borders of the library's ways to send are among them. */
static const struct size_row sizes[] = {
    {10, 0, 0},           {20, 1, 16},           {20, 17, 256},      {15, 257, 4096},
    {10, 4000, 4200},     {10, 8000, 20000},     {10, 60000, 70000}, {8, 100000, 300000},
    {5, 300000, 1500000}, {2, 1500000, 6000000},
};

static size_t choose_len(struct maker *m, size_t *left)
{
    int total = 0, at = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        total += sizes[i].weight;
    int point = dice_below(&m->dice, total);
    while (point >= sizes[at].weight)
        point -= sizes[at++].weight;
    size_t len = (size_t)dice_between(&m->dice, sizes[at].least, sizes[at].most);
    if (len > *left)
        len %= 4096;
    *left -= len < *left ? len : *left;
    return len;
}

static int choose_send(struct maker *m, unsigned forbidden, unsigned needed)
{
    for (;;) {
        int row = dice_below(&m->dice, send_row_count);
        unsigned flags = send_rows[row].flags;
        if (!(flags & forbidden) && (flags & needed) == needed)
            return row;
    }
}

static int choose_recv(struct maker *m, unsigned needed)
{
    for (;;) {
        int row = dice_below(&m->dice, recv_row_count);
        if ((recv_rows[row].flags & needed) == needed)
            return row;
    }
}

/* ---- scripts ---- */

static void add_finish(struct maker *m, struct plan_script *script)
{
    step_add(m, script, PLAN_FINISH, dice_below(&m->dice, finish_row_count));
}

/* Sometimes short, seldom as long as may be. */
static void add_pause(struct maker *m, struct plan_script *script, int percent)
{
    if (!dice_chance(&m->dice, percent) || m->patience_ms <= 0)
        return;
    int most = m->limits.pause_ms, row = dice_below(&m->dice, pause_row_count);
    most = dice_chance(&m->dice, 70) && most > 20 ? 20 : most;
    most = most < m->patience_ms ? most : m->patience_ms;
    struct plan_step *step = step_add(m, script, PLAN_PAUSE, row);
    step->ms = dice_between(&m->dice, 1, most);
    step->after_ms = dice_below(&m->dice, 20);
    m->patience_ms -= step->ms;
}

static void set_up(struct maker *m, struct plan_lane *lane, int i, unsigned forbidden,
                   unsigned recv_needed)
{
    struct plan_message *message = &lane->messages[i];
    message->send = choose_send(m, forbidden, 0);
    message->recv = choose_recv(m, recv_needed);
}

static void script_ordered(struct maker *m, struct plan_lane *lane, int members)
{
    for (int i = 0; i < lane->count; i++) {
        struct plan_message *message = &lane->messages[i];
        set_up(m, lane, i, SEND_READY, 0);
        if (message->from == message->to)
            message->send = choose_send(m, SEND_READY | SEND_PAIRED, SEND_STARTS);
        struct plan_script *someone = lane->scripts[dice_below(&m->dice, members)];
        add_pause(m, someone, 8);
        if (dice_chance(&m->dice, 15))
            add_finish(m, someone);
        step_add(m, lane->scripts[message->from], PLAN_SEND, i);
        step_add(m, lane->scripts[message->to], PLAN_RECV, i);
    }
}

/* Add one rank's receives: the exact ones, then those that start (a pass) or wait (another). */
static void add_receives(struct maker *m, struct plan_lane *lane, int member, int starting)
{
    for (int pass = starting ? 0 : 1; pass < 2; pass++) {
        for (int i = 0; i < lane->count; i++) {
            const struct plan_message *message = &lane->messages[i];
            bool starts = recv_rows[message->recv].flags & RECV_STARTS;
            if (message->to != member || starts != starting ||
                (starting && message->exact != (pass == 0)))
                continue;
            add_pause(m, &lane->scripts[member][0], 3);
            step_add(m, &lane->scripts[member][0], PLAN_RECV, i);
        }
    }
}

static void add_sends(struct maker *m, struct plan_lane *lane, int member, int script)
{
    for (int i = 0; i < lane->count; i++) {
        if (lane->messages[i].from != member)
            continue;
        add_pause(m, &lane->scripts[member][script], 3);
        step_add(m, &lane->scripts[member][script], PLAN_SEND, i);
        if (script == 1 && dice_chance(&m->dice, 10))
            add_finish(m, &lane->scripts[member][script]);
    }
}

static void script_wild(struct maker *m, struct plan_lane *lane, int members)
{
    for (int i = 0; i < lane->count; i++)
        set_up(m, lane, i, SEND_READY | SEND_PAIRED, lane->messages[i].exact ? RECV_STARTS : 0);
    for (int i = 0; i < lane->count; i++)
        lane->messages[i].send = choose_send(m, SEND_READY | SEND_PAIRED, SEND_STARTS);
    for (int r = 0; r < members; r++) {
        bool early = dice_chance(&m->dice, 50);
        if (early)
            add_receives(m, lane, r, true);
        add_sends(m, lane, r, 0);
        add_pause(m, lane->scripts[r], 20);
        if (!early)
            add_receives(m, lane, r, true);
        add_receives(m, lane, r, false);
    }
}

static void script_split(struct maker *m, struct plan_lane *lane, int members)
{
    unsigned needed = lane->wild == PLAN_WILD_BOTH || dice_chance(&m->dice, 50) ? 0 : RECV_STARTS;
    if (lane->wild == PLAN_WILD_SOURCE || lane->wild == PLAN_WILD_TAG)
        needed = RECV_STARTS;
    for (int i = 0; i < lane->count; i++)
        set_up(m, lane, i, SEND_READY | SEND_PAIRED,
               lane->messages[i].exact ? RECV_STARTS : needed);
    for (int r = 0; r < members; r++) {
        add_sends(m, lane, r, 1);
        if (lane->wild != PLAN_WILD_NONE) {
            add_receives(m, lane, r, true);
            add_receives(m, lane, r, false);
        }
        for (int i = 0; i < lane->count && lane->wild == PLAN_WILD_NONE; i++)
            if (lane->messages[i].to == r)
                step_add(m, lane->scripts[r], PLAN_RECV, i);
        add_finish(m, &lane->scripts[r][1]);
    }
}

static void script_ready(struct maker *m, struct plan_lane *lane, int members)
{
    for (int i = 0; i < lane->count; i++)
        set_up(m, lane, i, SEND_PAIRED, RECV_STARTS);
    for (int r = 0; r < members; r++) {
        add_receives(m, lane, r, true);
        step_add(m, lane->scripts[r], PLAN_BARRIER, 0);
        add_sends(m, lane, r, 0);
    }
}

/* ---- styles ---- */

struct style_row {
    const char *name;
    void (*script)(struct maker *, struct plan_lane *, int members);
    bool wild;    /* receives may leave source and tag open */
    bool threads; /* two scripts a rank */
    bool alone;   /* the communicator has to be the lane's own, whatever is left open */
};

static const struct style_row styles[] = {
    {"ordered", script_ordered, false, false, false},
    {"wild", script_wild, true, false, false},
    {"split", script_split, true, true, false},
    {"ready", script_ready, true, false, true},
};

enum {
    STYLE_WILD = 1,
    STYLE_COUNT = sizeof(styles) / sizeof(*styles)
};

const char *plan_style_name(int style)
{
    return styles[style].name;
}

/* ---- lanes ---- */

static bool needs_comm(const struct plan_lane *lane)
{
    return styles[lane->style].alone || lane->wild >= PLAN_WILD_TAG;
}

/* Pairs of a lane: any; if some ranks leave, these send to those that stay. */
static void choose_ends(struct maker *m, const struct plan_era *era, bool farewell,
                        struct plan_message *message)
{
    do {
        message->from = dice_below(&m->dice, era->count);
        message->to = dice_below(&m->dice, era->count);
    } while (farewell && (!era->leaves[message->from] || era->leaves[message->to]));
}

static void make_messages(struct maker *m, const struct plan_era *era, struct plan_lane *lane,
                          bool farewell)
{
    size_t left = m->limits.lane_len;
    int number = dice_below(&m->dice, 4), tags = dice_between(&m->dice, 1, 4);
    for (int i = 0; i < lane->count; i++) {
        struct plan_message *message = &lane->messages[i];
        choose_ends(m, era, farewell, message);
        message->tag = number * 1000 + dice_below(&m->dice, tags);
        message->len = choose_len(m, &left);
        message->exact = lane->wild != PLAN_WILD_NONE && dice_chance(&m->dice, 25);
        message->send_spread = message->len < 70000 && dice_chance(&m->dice, 10);
        message->recv_spread = message->len < 70000 && dice_chance(&m->dice, 10);
        message->seed = dice_next(&m->dice);
    }
}

static void make_scripts(struct maker *m, const struct plan_era *era, struct plan_lane *lane,
                         bool farewell)
{
    for (int r = 0; farewell && r < era->count; r++)
        if (!era->leaves[r])
            add_pause(m, lane->scripts[r], 70);
    styles[lane->style].script(m, lane, era->count);
    for (int r = 0; r < era->count; r++)
        add_finish(m, lane->scripts[r]);
}

static void make_lane(struct maker *m, const struct plan_era *era, struct plan_lane *lane,
                      bool farewell)
{
    do {
        lane->style = farewell ? STYLE_WILD : dice_below(&m->dice, STYLE_COUNT);
    } while (styles[lane->style].threads && !m->plan->threaded);
    if (styles[lane->style].wild)
        lane->wild = (enum plan_wild)dice_below(&m->dice, PLAN_WILD_COUNT);
    int count = dice_between(&m->dice, 1, m->limits.messages);
    lane->messages = list_room(m, count, sizeof(*lane->messages));
    lane->count = m->failed ? 0 : count;
    make_messages(m, era, lane, farewell);
}

/* Tags of lanes that share a communicator must differ. */
static void part_tags(struct plan_lane *lane, int number)
{
    for (int i = 0; i < lane->count; i++)
        lane->messages[i].tag += 10 * number;
}

/* Communicators are used again after a fence only. Returns the next one that is free. */
static int make_phase(struct maker *m, const struct plan_era *era, struct plan_phase *phase,
                      int comm, bool farewell)
{
    bool shared = dice_chance(&m->dice, 60);
    phase->lane_count = m->plan->threaded && !farewell ? dice_between(&m->dice, 1, PLAN_LANES) : 1;
    phase->fence = (enum plan_fence)dice_below(&m->dice, PLAN_FENCE_COUNT);
    for (int i = 0; i < phase->lane_count; i++) {
        struct plan_lane *lane = &phase->lanes[i];
        make_lane(m, era, lane, farewell);
        part_tags(lane, i);
        make_scripts(m, era, lane, farewell);
        bool joins = i && shared && !needs_comm(lane) && !needs_comm(&phase->lanes[0]);
        lane->comm = joins ? phase->lanes[0].comm : comm++;
    }
    if (comm + PLAN_LANES > PLAN_COMMS) {
        comm = 0;
        phase->fence = PLAN_FENCE_BARRIER;
    }
    if (farewell)
        phase->fence = PLAN_FENCE_NONE;
    return comm;
}

/* ---- eras ---- */

static void make_era(struct maker *m, struct plan_era *era, const bool *gone)
{
    bool farewell = false;
    int comm = 0, count = dice_between(&m->dice, 1, m->limits.phases);
    for (int r = 0; r < m->plan->ranks; r++)
        if (!gone[r])
            era->members[era->count++] = r;
    for (int r = 0; r < era->count && dice_chance(&m->dice, 40); r++) {
        int leaver = dice_below(&m->dice, era->count), left = 0;
        for (int k = 0; k < era->count; k++)
            left += era->leaves[k];
        if (left < era->count - 1)
            era->leaves[leaver] = farewell = true;
    }
    era->phases = list_room(m, count + farewell, sizeof(*era->phases));
    for (int i = 0; !m->failed && i < count + farewell; i++) {
        comm = make_phase(m, era, &era->phases[i], comm, farewell && i == count);
        era->phase_count++;
    }
}

struct plan *plan_create(uint64_t seed, int ranks, const struct plan_limits *limits)
{
    bool gone[PLAN_RANKS] = {false};
    struct maker m = {
        .limits = *limits, .dice = seed ^ (uint64_t)ranks << 56, .patience_ms = limits->pauses_ms};
    m.plan = list_room(&m, 1, sizeof(*m.plan));
    if (m.failed)
        return NULL;
    *m.plan = (struct plan){.seed = seed,
                            .ranks = ranks,
                            .world = dice_chance(&m.dice, 25),
                            .threaded = dice_chance(&m.dice, 60) && !limits->alone};
    if (dice_chance(&m.dice, 60))
        m.patience_ms /= 20; /* most programs are done soon */
    int count = dice_between(&m.dice, 1, limits->eras);
    if (ranks > MANY_RANKS)
        m.limits.messages *= ranks / (MANY_RANKS / 2);
    m.plan->eras = list_room(&m, count, sizeof(*m.plan->eras));
    for (int e = 0; !m.failed && e < count; e++) {
        struct plan_era *era = &m.plan->eras[e];
        make_era(&m, era, gone);
        m.plan->era_count++;
        for (int r = 0; r < era->count; r++)
            gone[era->members[r]] |= era->leaves[r];
    }
    if (!m.failed)
        return m.plan;
    plan_destroy(m.plan);
    return NULL;
}

void plan_destroy(struct plan *plan)
{
    for (int e = 0; plan && e < plan->era_count; e++) {
        for (int p = 0; p < plan->eras[e].phase_count; p++) {
            struct plan_phase *phase = &plan->eras[e].phases[p];
            for (int i = 0; i < phase->lane_count; i++) {
                for (int r = 0; r < PLAN_RANKS; r++)
                    for (int s = 0; s < PLAN_SCRIPTS; s++)
                        free(phase->lanes[i].scripts[r][s].steps);
                free(phase->lanes[i].messages);
            }
        }
        free(plan->eras[e].phases);
    }
    if (plan)
        free(plan->eras);
    free(plan);
}
