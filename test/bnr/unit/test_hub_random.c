/* SPDX-License-Identifier: BSD-3-Clause */

/* The hub of a job's streams under random schedules, against a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/stream/hub.h"

enum {
    A = 100, /* the first party */
    WINDOW_MAX = 4 << 20,
    PARTIES = 5,
    IDS = 6
};

/* An end of the model. */
static struct model_end {
    bool is_open, is_writer, is_observer, is_sink, has_begun[64];
    uint64_t granted, sent;
    struct model_read {
        uint32_t stream;
        uint64_t at;
        bool is_ended;
    } reads[64];
    size_t read_count;
} ends[PARTIES][IDS];

/* The bytes of each stream, as they went in: a byte is the number of its writer's byte. */
static struct hub_effects queue;

static struct model_read *read_of(struct model_end *end, uint32_t stream)
{
    for (size_t i = 0; i < end->read_count; i++)
        if (end->reads[i].stream == stream)
            return &end->reads[i];
    assert_true(end->read_count < 64);
    end->reads[end->read_count] = (struct model_read){stream, UINT64_MAX, false};
    return &end->reads[end->read_count++];
}

/* Streams of the model have one writer each, whose bytes follow from the offset. */
static uint8_t byte_at(uint64_t off)
{
    return (uint8_t)(off * 2654435761u >> 7);
}

static void check_fragment(struct model_end *end, const struct hub_message *m)
{
    struct model_read *r = read_of(end, m->stream);
    assert_false(r->is_ended);
    if (r->at != UINT64_MAX && !(m->flags & HUB_GAP))
        assert_int_equal(r->at, m->off);
    if (m->flags & HUB_GAP)
        assert_true(end->is_observer || r->at == UINT64_MAX);
    bool is_right = true;
    for (uint32_t i = 0; i < m->len; i++)
        is_right &= m->data[i] == byte_at(m->off + i);
    assert_true(is_right);
    r->at = m->off + m->len;
    r->is_ended = m->flags & HUB_EOF;
}

/* On another node. */
static uint64_t far(uint64_t party)
{
    return (uint64_t)1 << HUB_NODE_SHIFT | party;
}

static void random_schedule(unsigned seed)
{
    struct hub *h = hub_create(2, 256, WINDOW_MAX);
    uint64_t moved = 0;
    memset(ends, 0, sizeof(ends));
    for (int step = 0; step < 3000; step++) {
        unsigned p = (unsigned)rand_r(&seed) % PARTIES, id = (unsigned)rand_r(&seed) % IDS;
        uint64_t party = p % 2 ? far(A + p) : A + p;
        struct model_end *end = &ends[p][id];
        struct hub_message m = {.id = id};
        uint8_t block[3000];
        if (rand_r(&seed) % 300 == 0) {
            hub_party_gone(h, party, &queue);
            memset(ends[p], 0, sizeof(ends[p]));
        } else if (!end->is_open) {
            /* Each writer has a stream of its own, so that its bytes are known. */
            end->is_writer = rand_r(&seed) % 2;
            end->is_observer = !end->is_writer && rand_r(&seed) % 2;
            m.kind = end->is_writer ? HUB_PUBLISH : HUB_SUBSCRIBE;
            m.flags = end->is_observer ? HUB_OBSERVER : 0;
            m.rank = rand_r(&seed) % 2;
            m.tag = end->is_writer ? (int)(p * IDS + id) : HUB_ANY;
            m.policy = end->is_writer ? rand_r(&seed) % HUB_POLICY_END : 0;
            m.off = rand_r(&seed) % 2 ? HUB_FROM_NOW : HUB_FROM_OLDEST;
            end->is_open = true;
            assert_int_equal(hub_message(h, party, &m, &queue), 0);
        } else if (rand_r(&seed) % 40 == 0) {
            m.kind = HUB_CLOSE;
            assert_int_equal(hub_message(h, party, &m, &queue), 0);
            memset(end, 0, sizeof(*end));
        } else if (end->is_writer) {
            uint64_t n = end->granted - end->sent;
            m.kind = HUB_DATA;
            m.off = end->granted;
            m.len = (uint32_t)(n < sizeof(block) ? n : sizeof(block));
            m.data = block;
            for (uint32_t i = 0; i < m.len; i++)
                block[i] = byte_at(end->sent + i);
            assert_int_equal(hub_message(h, party, &m, &queue), 0);
            end->sent += m.len;
            moved += m.len;
        } else if (end->read_count) {
            size_t at = (size_t)rand_r(&seed) % end->read_count;
            m.kind = HUB_TAKEN;
            m.stream = end->reads[at].stream;
            m.off = m.head = end->reads[at].at;
            m.flags = end->reads[at].is_ended ? HUB_EOF : 0;
            assert_int_equal(hub_message(h, party, &m, &queue), 0);
            if (end->reads[at].is_ended)
                end->reads[at] = end->reads[--end->read_count];
        }
        for (size_t i = 0; i < queue.count; i++) {
            const struct hub_message *got = &queue.items[i].message;
            struct model_end *to = &ends[(uint32_t)queue.items[i].party - A][got->id];
            if (got->kind == HUB_GRANT && to->is_writer)
                to->granted = got->off;
            if (got->kind == HUB_FRAGMENT && to->is_open)
                check_fragment(to, got);
        }
        hub_effects_clear(&queue);
    }
    assert_true(moved > 0);
    hub_destroy(h);
}

static void random_schedules(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 100; seed++)
        random_schedule(seed);
    hub_effects_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_schedules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
