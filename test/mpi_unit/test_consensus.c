/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Agreement while members die, with many members in one process. Messages between two members keep
 * their order; all else is drawn from a seed: who runs, who dies, and who learns of it when.
 *
 *     test_consensus            what the suite runs
 *     test_consensus FIRST N    so many seeds; some of thousands of members
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/comm/consensus.h"

enum { WORDS = 2, SEEDS = 20000, MEMBERS_MAX = 10000 };

struct letter {
    uint32_t from, to;
    struct consensus_message message;
    uint64_t words[WORDS];
};

struct world;

struct member {
    struct world *world;
    uint32_t rank;
    struct consensus engine;
    bool is_dead, has_result;
    uint8_t *knows; /* of each rank, whether it is known to be dead */
    uint64_t words[WORDS], result[WORDS];
    uint64_t sent;
};

struct world {
    uint64_t seed, random;
    uint32_t size, dead, deaths;
    struct member *members;
    struct letter *letters;
    size_t first, end, room; /* of letters */
    bool is_ordered;         /* the oldest letter comes first */
};

static uint64_t draw(struct world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % below;
}

static bool knows(void *arg, uint32_t rank)
{
    const struct member *m = arg;
    return m->knows[rank];
}

static void die(struct world *w, uint32_t rank)
{
    if (w->members[rank].is_dead || w->dead + 1 == w->size)
        return;
    w->members[rank].is_dead = true;
    w->dead++;
}

static void post(void *arg, uint32_t to, const struct consensus_message *message)
{
    struct member *m = arg;
    struct world *w = m->world;
    if (m->is_dead)
        return; /* it died between two messages */
    m->sent++;
    if (w->end == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->letters = realloc(w->letters, w->room * sizeof(*w->letters));
        assert_non_null(w->letters);
    }
    struct letter *letter = &w->letters[w->end++];
    *letter = (struct letter){m->rank, to, *message, {0}};
    memcpy(letter->words, message->words, sizeof(letter->words));
    if (w->dead < w->deaths && draw(w, 8) == 0)
        die(w, m->rank);
}

static void look(struct member *m)
{
    const uint64_t *result = consensus_result(&m->engine);
    if (m->is_dead || !result)
        return;
    if (m->has_result && memcmp(m->result, result, sizeof(m->result)) != 0)
        fail_msg("seed %llu: the result of %u changes", (unsigned long long)m->world->seed,
                 m->rank);
    m->has_result = true;
    memcpy(m->result, result, sizeof(m->result));
}

/* Take out the letter at index, and whatever of its pair stands before it instead. */
static struct letter take_out(struct world *w, size_t index)
{
    size_t chosen = w->first;
    while (w->letters[chosen].from != w->letters[index].from ||
           w->letters[chosen].to != w->letters[index].to)
        chosen++;
    struct letter letter = w->letters[chosen];
    memmove(w->letters + w->first + 1, w->letters + w->first,
            (chosen - w->first) * sizeof(letter));
    w->first++;
    return letter;
}

static void deliver(struct world *w)
{
    size_t skip = w->is_ordered ? 0 : draw(w, w->end - w->first);
    struct letter letter = take_out(w, w->first + skip);
    struct member *m = &w->members[letter.to];
    if (m->is_dead || (w->members[letter.from].is_dead && draw(w, 4) == 0))
        return; /* the last words of the dead may be lost */
    letter.message.words = letter.words;
    assert_int_equal(consensus_take(&m->engine, letter.from, &letter.message), 0);
    look(m);
}

static void learn(struct world *w, struct member *m, uint32_t rank)
{
    if (m->is_dead || !w->members[rank].is_dead || m->knows[rank])
        return;
    m->knows[rank] = 1;
    consensus_failed(&m->engine);
    look(m);
}

static void join(struct member *m)
{
    if (m->is_dead || m->engine.has_joined)
        return;
    consensus_join(&m->engine, m->words);
    look(m);
}

static void step(struct world *w)
{
    struct member *m = &w->members[draw(w, w->size)];
    uint64_t what = draw(w, 16);
    if (what < 8 && w->first < w->end)
        deliver(w);
    else if (what < 12)
        join(m);
    else if (what < 15)
        learn(w, m, (uint32_t)draw(w, w->size));
    else if (w->dead < w->deaths)
        die(w, draw(w, 2) ? m->engine.leader : m->rank);
}

static void make(struct world *w, uint64_t seed, uint32_t size)
{
    *w = (struct world){.seed = seed, .random = seed * 0x2545f4914f6cdd1du + 7, .size = size};
    for (int i = 0; i < 8; i++)
        (void)draw(w, 2);
    w->members = calloc(size, sizeof(*w->members));
    assert_non_null(w->members);
    for (uint32_t i = 0; i < size; i++) {
        struct member *m = &w->members[i];
        struct consensus_owner owner = {knows, post, m};
        m->world = w;
        m->rank = i;
        m->knows = calloc(size, 1);
        assert_non_null(m->knows);
        for (int word = 0; word < WORDS; word++)
            m->words[word] = draw(w, 2) ? UINT64_MAX : ~(UINT64_C(1) << draw(w, 64));
        assert_int_equal(consensus_init(&m->engine, &owner, i, size, WORDS), 0);
    }
}

/* Everybody joins, all deaths become known, all letters come. */
static void settle(struct world *w)
{
    for (uint32_t i = 0; i < w->size; i++)
        join(&w->members[i]);
    for (bool moved = true; moved;) {
        moved = w->first < w->end;
        while (w->first < w->end)
            deliver(w);
        for (uint32_t i = 0; w->dead && i < w->size; i++)
            for (uint32_t rank = 0; rank < w->size; rank++)
                learn(w, &w->members[i], rank);
        moved |= w->first < w->end;
    }
}

static void end(struct world *w)
{
    for (uint32_t i = 0; i < w->size; i++) {
        consensus_fini(&w->members[i].engine);
        free(w->members[i].knows);
    }
    free(w->members);
    free(w->letters);
}

/* All survivors have one result: within what they gave, and with no bit gone that nobody took. */
static void check(const struct world *w)
{
    const struct member *first = NULL;
    uint64_t alive[WORDS] = {UINT64_MAX, UINT64_MAX}, all[WORDS] = {UINT64_MAX, UINT64_MAX};
    for (uint32_t i = 0; i < w->size; i++) {
        const struct member *m = &w->members[i];
        for (int word = 0; word < WORDS; word++) {
            all[word] &= m->words[word];
            alive[word] &= m->is_dead ? UINT64_MAX : m->words[word];
        }
        if (m->is_dead)
            continue;
        if (!m->has_result)
            fail_msg("seed %llu: %u of %u has no result", (unsigned long long)w->seed, i, w->size);
        if (first && memcmp(first->result, m->result, sizeof(m->result)) != 0)
            fail_msg("seed %llu: %u and %u differ", (unsigned long long)w->seed, first->rank, i);
        first = first ? first : m;
    }
    assert_non_null(first);
    for (int word = 0; word < WORDS; word++)
        if (first->result[word] & ~alive[word] || all[word] & ~first->result[word])
            fail_msg("seed %llu: a result of nobody", (unsigned long long)w->seed);
}

/* Mostly few members; some seeds have hundreds, and a few up to MEMBERS_MAX. */
static uint32_t size_of(uint64_t seed)
{
    if (seed % 10000 == 0)
        return MEMBERS_MAX;
    if (seed % 2000 == 0)
        return 1 + (uint32_t)(seed / 2000 * 769 % MEMBERS_MAX / 4);
    return 1 + (uint32_t)(seed % 100 == 0 ? seed / 100 % 300 : seed % 17);
}

static void run(uint64_t seed, uint32_t size)
{
    struct world w;
    make(&w, seed, size);
    w.deaths = (uint32_t)draw(&w, w.size);
    for (uint64_t steps = draw(&w, 40 * w.size); steps; steps--)
        step(&w);
    settle(&w);
    check(&w);
    end(&w);
}

/* ---- the tests ---- */

static void agrees_while_members_die(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed, 1 + (uint32_t)(seed % 17));
}

/* Without a death nobody sends more than three messages, and all send 2 (n - 1). */
static void sends_few_messages(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 64, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct world w;
        uint64_t all = 0;
        make(&w, i + 1, sizes[i]);
        w.is_ordered = true;
        settle(&w);
        check(&w);
        for (uint32_t rank = 0; rank < sizes[i]; rank++) {
            assert_true(w.members[rank].sent <= 3);
            all += w.members[rank].sent;
        }
        assert_int_equal(all, 2 * (sizes[i] - 1));
        end(&w);
    }
}

/* Each names the member that is to speak next: of the seven 4 has not joined, 1 waits for it, and 0 for 1. */
static void tells_whom_it_awaits(void **state)
{
    static const uint32_t before[] = {1, 4, 0, 1, 1, 2, 2};
    struct world w;
    (void)state;
    make(&w, 1, 7);
    w.is_ordered = true;
    for (uint32_t rank = 0; rank < 7; rank++)
        if (rank != 4)
            join(&w.members[rank]);
    while (w.first < w.end)
        deliver(&w);
    for (uint32_t rank = 0; rank < 7; rank++)
        assert_int_equal(consensus_awaited(&w.members[rank].engine), before[rank]);
    die(&w, 1);
    for (uint32_t rank = 0; rank < 7; rank++)
        learn(&w, &w.members[rank], 1);
    assert_int_equal(consensus_awaited(&w.members[0].engine), 3); /* its word is on its way */
    while (w.first < w.end)
        deliver(&w);
    assert_int_equal(consensus_awaited(&w.members[0].engine), 4);
    assert_int_equal(consensus_awaited(&w.members[3].engine), 0);
    join(&w.members[4]);
    settle(&w);
    for (uint32_t rank = 0; rank < 7; rank++)
        assert_true(rank == 1 || consensus_awaited(&w.members[rank].engine) == rank);
    end(&w);
}

static void refuses_what_no_member_sends(void **state)
{
    struct world w;
    uint64_t words[WORDS] = {0};
    struct consensus_message m = {.words = words};
    (void)state;
    make(&w, 1, 3);
    struct consensus *c = &w.members[1].engine;
    assert_int_equal(consensus_take(c, 3, &m), -EBADMSG);
    assert_int_equal(consensus_take(c, 1, &m), -EBADMSG);
    m.ballot = 3;
    assert_int_equal(consensus_take(c, 0, &m), -EBADMSG);
    m.ballot = 0;
    m.accepted = 4;
    assert_int_equal(consensus_take(c, 0, &m), -EBADMSG);
    m.accepted = 0;
    m.is_result = true; /* before this member has given anything */
    assert_int_equal(consensus_take(c, 0, &m), -EBADMSG);
    assert_null(consensus_result(c));
    end(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_while_members_die),
        cmocka_unit_test(sends_few_messages),
        cmocka_unit_test(tells_whom_it_awaits),
        cmocka_unit_test(refuses_what_no_member_sends),
    };
    if (argc != 3)
        return cmocka_run_group_tests(tests, NULL, NULL);
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++)
        run(seed, size_of(seed));
    printf("seeds %llu to %llu: all survivors agree\n", (unsigned long long)first,
           (unsigned long long)(first + count - 1));
    return 0;
}
