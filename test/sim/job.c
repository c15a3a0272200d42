/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One large job on many hosts, part by part: its launch, first messages, a fence, an xcast, the ends of all ranks,
 * and the loss of an eighth of the hosts at once. For each part: how long it takes by the model, and what
 * it takes of the daemon that has most of it to do. The engines are the real ones; what the daemons' I/O and the ranks
 * take are constants that were measured.
 */
#include "test/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/launching.h"

/* Measured: doc/scale.md says how. */
enum {
    DELAY_NS = 50000,      /* from one host to another, with the wakeup of a process that sleeps */
    SEND_NS = 8000,        /* processor time of a daemon to write a message */
    TAKE_NS = 12000,       /* and to read one */
    COMMAND_NS = 2000000,  /* of mpiexec to start the command for a host */
    LOGIN_NS = 130000000,  /* until a daemon that ssh starts is there */
    CONTACT_NS = 1000000,   /* of mpiexec to hear of it */
    START_NS = 350000,     /* of a daemon to start a rank */
    RANK_NS = 3000000,     /* from there to the end of MPI_Init */
    ASK_NS = 5000,         /* of a daemon for a question of a rank */
    CONNECT_NS = 200000,   /* of the ranks for a first message, once the card is there */
};

#define BYTE_NS 1.6 /* processor time, and of a line of 10 Gbit/s, for a byte */

enum {
    TELL_NS = 2000000,    /* as in bnr/wide/wide.c: ends wait for so long to be told to all together */
    ENDED_LEN = 1 << 16,  /* or until they are so many bytes */
    CARD_LEN = 200,
    JOB_LEN = 8192,       /* of the message that launches a job, without its hosts */
    JOB_HOST_LEN = 210,   /* and with each */
    CONTACT_LEN = 250,    /* of a daemon's first words, and the answer */
    BULK_LEN = 1 << 20,
    TAG_JOB = XCAST_TAG_USER,
    TAG_BULK,
    TAG_ENDED,
};

enum part {
    LAUNCH,
    NEXT,
    RANDOM,
    FENCE,
    BULK,
    ENDS,
    LOSS
};

struct sim_job {
    enum part part;
    uint64_t left; /* that the part waits for */
    int64_t began, last;
    struct packing ended; /* runs that the root is to tell all */
    int64_t tell_at;      /* 0: there are none */
    uint32_t *ended_count; /* by node: ranks that have ended */
};

static uint32_t ranks_each(const struct sim *s)
{
    return s->settings.ranks_each;
}

static void note(struct sim *s, uint64_t count, int64_t at)
{
    struct sim_job *job = s->job;
    job->left = job->left > count ? job->left - count : 0;
    job->last = at > job->last ? at : job->last;
}

/* Returns 0 or XCAST_AGAIN. */
static int say_to_all(struct sim *s, uint32_t node, uint32_t tag, const void *payload, size_t len)
{
    sim_enter(s, node);
    struct bytes *data = xcast_address(NULL, 0, payload, len);
    const struct xcast_input input = {tag, XCAST_BY_SIZE, data};
    int rc = node_submit(&s->nodes[node].node, &input, s->now, &s->effects);
    bytes_unref(data);
    sim_leave(s, node, rc == XCAST_AGAIN ? 0 : rc);
    return rc;
}

/* Zeros, from a node. */
static void say_zeros(struct sim *s, uint32_t node, uint32_t tag, size_t len)
{
    void *zeros = calloc(1, len);
    if (!zeros || say_to_all(s, node, tag, zeros, len))
        sim_fail(s, node, "there is room for a message");
    free(zeros);
}

/* ---- ranks ---- */

static struct keys_name card_of(const struct sim *s, uint32_t rank)
{
    return (struct keys_name){s->group.id, rank, "card", 4};
}

static void put_cards(struct sim *s, uint32_t node)
{
    sim_work(s, node, ranks_each(s) * ASK_NS);
    for (uint32_t i = 0; i < ranks_each(s); i++) {
        const struct keys_name name = card_of(s, node * ranks_each(s) + i);
        sim_enter(s, node);
        struct bytes *card = bytes_create(NULL, CARD_LEN);
        int rc = node_put(&s->nodes[node].node, &name, card, 0, s->now, &s->effects);
        bytes_unref(card);
        sim_leave(s, node, rc);
    }
}

/* Whom a rank sends its first message. No two ranks have the same one. */
static uint32_t peer_of(const struct sim *s, uint32_t rank)
{
    uint64_t all = s->group.rank_count;
    if (s->job->part == NEXT)
        return (uint32_t)((rank + ranks_each(s)) % all);
    return (uint32_t)(rank * UINT64_C(2654435761) % all); /* a prime: nearly any other */
}

static void ask_for_cards(struct sim *s, uint32_t node)
{
    sim_work(s, node, ranks_each(s) * ASK_NS);
    for (uint32_t i = 0; i < ranks_each(s); i++) {
        const struct keys_name name = card_of(s, peer_of(s, node * ranks_each(s) + i));
        const struct node_getter getter = {i, KEYS_LATER};
        sim_enter(s, node);
        sim_leave(s, node, node_get(&s->nodes[node].node, &name, &getter, s->now, &s->effects));
    }
}

static void come_to_fence(struct sim *s, uint32_t node)
{
    const struct tree_fence_entry entry = {.number = 1, .bytes = (uint64_t)ranks_each(s) * TREE_FENCE_COLLECT + 1};
    sim_work(s, node, ranks_each(s) * ASK_NS);
    sim_enter(s, node);
    sim_leave(s, node, node_fence(&s->nodes[node].node, s->group.id, &entry, s->now, &s->effects));
}

/* One rank ends; which, has nothing to do with its number. */
static void end_rank(struct sim *s, uint32_t node)
{
    uint32_t i = (uint32_t)(s->job->ended_count[node]++ * UINT64_C(2654435761) % ranks_each(s));
    const struct rollup_run run = {node * ranks_each(s) + i, 1, 0, ROLLUP_INITIALIZED | ROLLUP_FINALIZED};
    sim_work(s, node, ASK_NS);
    sim_enter(s, node);
    sim_leave(s, node, node_ended(&s->nodes[node].node, s->group.id, &run, s->now, &s->effects));
}

/* mpiexec tells all daemons of ends. */
static void tell_ended(struct sim *s)
{
    struct sim_job *job = s->job;
    struct bytes *runs = pack_end(&job->ended);
    job->ended = (struct packing){0};
    job->tell_at = 0;
    if (say_to_all(s, NODE_ROOT, TAG_ENDED, runs->at, runs->len) == XCAST_AGAIN) {
        pack_raw(&job->ended, runs->at, runs->len);
        job->tell_at = s->now + TELL_NS;
        sim_at(s, job->tell_at, SIM_STEP, NODE_ROOT);
    }
    bytes_unref(runs);
}

static void hear_ended(struct sim *s, const struct bytes *runs)
{
    struct sim_job *job = s->job;
    struct unpacking u = unpack_begin(runs);
    struct rollup_run run;
    bool is_good = true;
    uint64_t count = 0;
    for (; rollup_unpack(&u, &run); count += run.count)
        is_good &= !(run.flags & ROLLUP_NODE_LOST);
    pack_raw(&job->ended, runs->at, runs->len);
    if (!job->tell_at) {
        job->tell_at = s->now + (is_good && job->ended.bytes->len <= ENDED_LEN ? TELL_NS : 0);
        sim_at(s, job->tell_at, SIM_STEP, NODE_ROOT);
    }
    if (job->part == ENDS)
        note(s, count, s->now);
}

static void step(struct sim *s, uint32_t node)
{
    if (node == NODE_ROOT && s->job->tell_at == s->now && s->now) {
        tell_ended(s);
        return;
    }
    switch (s->job->part) {
    case LAUNCH:
        put_cards(s, node);
        note(s, 1, s->now);
        break;
    case NEXT:
    case RANDOM: ask_for_cards(s, node); break;
    case FENCE: come_to_fence(s, node); break;
    case ENDS: end_rank(s, node); break;
    default: break;
    }
}

static void hear(struct sim *s, uint32_t node, const struct effect *effect)
{
    const struct core_message *m = &effect->message;
    switch (effect->kind) {
    case EFFECT_DELIVER:
        if (m->tag == TAG_JOB)
            sim_at(s, sim_work(s, node, (int64_t)ranks_each(s) * START_NS) + RANK_NS, SIM_STEP, node);
        else if (m->tag == TAG_BULK)
            note(s, 1, s->now);
        break;
    case EFFECT_VALUE:
        if (m->status == STATUS_GOOD)
            note(s, 1, s->now + 3 * DELAY_NS + CONNECT_NS);
        break;
    case EFFECT_RELEASED:
    case EFFECT_LOST: note(s, 1, s->now); break;
    case EFFECT_RANKS_ENDED: hear_ended(s, m->data); break;
    default: break;
    }
}

static const struct sim_acts acts = {step, hear};

/* ---- parts ---- */

static void begin_part(struct sim *s, enum part part, uint64_t left)
{
    sim_run(s, s->now + 15 * SIM_S, NULL); /* all is at rest */
    s->job->part = part;
    s->job->left = left;
    s->job->began = s->job->last = s->now;
    for (uint32_t i = 0; i < s->settings.count; i++) {
        struct sim_node *n = &s->nodes[i];
        n->sent = n->taken = (struct sim_traffic){0};
        n->heap.most = n->heap.bytes;
        n->engine_ns = 0;
    }
}

static bool is_over(const struct sim *s)
{
    return !s->job->left;
}

static void print(const struct sim *s, const char *name, double ms, const uint64_t most[4])
{
    printf("%u,%s,%.2f,%llu,%llu,%llu,%.1f\n", s->settings.count, name, ms, (unsigned long long)most[0],
           (unsigned long long)most[1], (unsigned long long)most[2], (double)most[3] / 1e6);
    fflush(stdout);
}

/* Wait until it is over, and print what it took, and most of what a node had to do. */
static void end_part(struct sim *s, const char *name)
{
    uint64_t most[4] = {0};
    sim_run(s, s->now + 600 * SIM_S, is_over);
    if (s->job->left)
        sim_fail(s, NODE_ROOT, "%s comes to its end: %llu are missing", name, (unsigned long long)s->job->left);
    for (uint32_t i = 0; i < s->settings.count; i++) {
        const struct sim_node *n = &s->nodes[i];
        const uint64_t all[4] = {n->sent.messages + n->taken.messages, n->sent.bytes + n->taken.bytes,
                                 n->heap.most > 0 ? (uint64_t)n->heap.most : 0, (uint64_t)n->engine_ns};
        for (int k = 0; k < 4; k++)
            most[k] = all[k] > most[k] ? all[k] : most[k];
    }
    print(s, name, (double)(s->job->last - s->job->began) / 1e6, most);
}

/* A turn for each host now. */
static void step_all(struct sim *s)
{
    for (uint32_t i = 0; i < s->settings.count; i++)
        sim_at(s, s->now, SIM_STEP, i);
}

/* How many ranks have their peer of this part on another host. */
static uint64_t far_pairs(const struct sim *s)
{
    uint64_t far = 0;
    for (uint32_t r = 0; r < s->group.rank_count; r++)
        far += peer_of(s, r) / ranks_each(s) != r / ranks_each(s);
    return far;
}

static void first_messages(struct sim *s, enum part part, const char *name)
{
    begin_part(s, part, 0);
    s->job->left = far_pairs(s);
    step_all(s);
    end_part(s, name);
}

/* An eighth of the hosts, from the first on, are not heard of any more. */
static void lose(struct sim *s, uint32_t first, const char *name)
{
    uint32_t count = s->settings.count / 8, live = s->settings.count - (uint32_t)s->dead_count - count;
    begin_part(s, LOSS, (uint64_t)live * count);
    for (uint32_t i = 0; i < count; i++)
        sim_kill(s, first + i, true);
    end_part(s, name);
}

static void begin(struct sim *s, uint32_t hosts, uint32_t each)
{
    const struct sim_settings settings = {.seed = 1,
                                          .count = hosts,
                                          .radix = TREE_RADIX_DEFAULT,
                                          .ranks_each = each,
                                          .liveness_ns = LIVENESS_LIMIT_NS,
                                          .choice = xcast_choice_default,
                                          .delay_ns = DELAY_NS,
                                          .send_ns = SEND_NS,
                                          .take_ns = TAKE_NS,
                                          .byte_ns = BYTE_NS,
                                          .is_counted = true,
                                          .acts = &acts};
    struct sim_job *job = calloc(1, sizeof(*job));
    sim_init(s, &settings);
    s->job = job;
    job->ended_count = calloc(hosts, sizeof(*job->ended_count));
    if (!job->ended_count)
        abort();
}

static void end(struct sim *s)
{
    sim_fini(s);
    bytes_unref(s->job->ended.bytes);
    free(s->job->ended_count);
    free(s->job);
}

static void live(struct sim *s)
{
    begin_part(s, LAUNCH, s->settings.count);
    say_zeros(s, NODE_ROOT, TAG_JOB, JOB_LEN + (size_t)JOB_HOST_LEN * s->settings.count);
    end_part(s, "launch");
    first_messages(s, NEXT, "next");
    first_messages(s, RANDOM, "random");
    begin_part(s, FENCE, s->settings.count);
    step_all(s);
    end_part(s, "fence");
    begin_part(s, BULK, s->settings.count);
    say_zeros(s, s->settings.count - 1, TAG_BULK, BULK_LEN);
    end_part(s, "xcast");
    begin_part(s, ENDS, s->group.rank_count);
    for (uint32_t r = 0; r < s->group.rank_count; r++)
        sim_at(s, s->now + (int64_t)sim_random(s, SIM_S), SIM_STEP, r / ranks_each(s));
    end_part(s, "ends");
}

/* mpiexec starts a command for each other host, so many at a time, each by a login. */
static double bring_up(uint32_t hosts)
{
    struct launching l;
    struct launching_effects effects = {0};
    int64_t busy = 0, now = 0, *there = calloc(hosts, sizeof(*there));
    uint32_t *host = calloc(hosts, sizeof(*host));
    size_t begun = 0, come = 0;
    if (!there || !host || launching_begin(&l, hosts - 1, &launching_settings_default, 0, &effects))
        abort();
    for (; come < hosts - 1; come++) {
        for (size_t i = 0; i < effects.count; i++)
            if (effects.items[i].action == LAUNCHING_START) {
                busy = (busy > now ? busy : now) + COMMAND_NS;
                host[begun] = effects.items[i].host;
                there[begun++] = busy + LOGIN_NS; /* they come in the order of their starts */
            }
        effects.count = 0;
        now = busy = (busy > there[come] ? busy : there[come]) + CONTACT_NS;
        launching_step(&l, host[come], LAUNCHING_DIALED, LAUNCHING_DIAL_BACK, now, &effects);
    }
    launching_effects_fini(&effects);
    launching_fini(&l);
    free(there);
    free(host);
    return (double)now / 1e6;
}

void job_run(uint32_t hosts, uint32_t each)
{
    struct sim s;
    const uint64_t contacts[4] = {2 * ((uint64_t)hosts - 1), 2 * ((uint64_t)hosts - 1) * CONTACT_LEN};
    begin(&s, hosts, each);
    print(&s, "logins", bring_up(hosts), contacts);
    live(&s);
    end(&s);
    begin(&s, hosts, each);
    lose(&s, hosts - hosts / 8, "loss of the last");
    lose(&s, 1, "loss of the first");
    end(&s);
}
