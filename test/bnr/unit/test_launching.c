/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting daemons, racing addresses, links and liveness, as scripts with a clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/tree/dialing.h"
#include "bnr/core/launching.h"
#include "bnr/core/tree/links.h"
#include "bnr/core/tree/liveness.h"

#define MS 1000000LL

/* ---- launching ---- */

static size_t count_of(const struct launching_effects *e, enum launching_action action)
{
    size_t count = 0;
    for (size_t i = 0; i < e->count; i++)
        count += e->items[i].action == action;
    return count;
}

static void so_many_start_at_a_time(void **state)
{
    struct launching l;
    struct launching_effects e = {0};
    struct launching_settings set = {.fan_out = 3, .attempts = 2, .limit_ns = 100, .rest_ns = 10};
    assert_int_equal(launching_begin(&l, 10, &set, 0, &e), 0);
    assert_int_equal(count_of(&e, LAUNCHING_START), 3);
    for (uint32_t host = 0; host < 10; host++) {
        assert_int_equal(count_of(&e, LAUNCHING_COMPLETE), 0);
        launching_step(&l, host, LAUNCHING_DIALED, 0, 1, &e);
        assert_true(l.starting <= 3);
    }
    assert_int_equal(count_of(&e, LAUNCHING_START), 10);
    assert_int_equal(count_of(&e, LAUNCHING_COMPLETE), 1);
    assert_true(launching_next(&l) == INT64_MAX);
    launching_fini(&l);
    launching_effects_fini(&e);
}

static void failures_are_tried_again_and_told(void **state)
{
    struct launching l;
    struct launching_effects e = {0};
    struct launching_settings set = {.fan_out = 8, .attempts = 3, .limit_ns = 100, .rest_ns = 10};
    launching_begin(&l, 3, &set, 0, &e);
    e.count = 0;
    launching_step(&l, 0, LAUNCHING_REACHED, LAUNCHING_AUTHENTICATE, 5, &e);
    launching_step(&l, 0, LAUNCHING_REFUSED, 0, 5, &e); /* no second try */
    assert_int_equal(e.count, 1);
    assert_int_equal(e.items[0].action, LAUNCHING_GIVE_UP);
    assert_int_equal(e.items[0].stage, LAUNCHING_AUTHENTICATE);
    launching_step(&l, 1, LAUNCHING_ENDED, 0, 5, &e);
    assert_true(launching_next(&l) == 15);
    launching_paused(&l, 7);
    assert_true(launching_next(&l) == 22); /* no limit runs while all stand still */
    launching_paused(&l, -7);
    launching_tick(&l, 14, &e);
    assert_int_equal(e.count, 1);
    launching_tick(&l, 15, &e);
    assert_int_equal(e.items[1].action, LAUNCHING_START);
    assert_int_equal(e.items[1].attempt, 2);
    launching_tick(&l, 100, &e); /* host 2 is late */
    assert_int_equal(e.items[2].action, LAUNCHING_STOP);
    assert_int_equal(e.items[2].host, 2);
    launching_step(&l, 2, LAUNCHING_DIALED, 0, 101, &e); /* it comes after all */
    launching_tick(&l, 115, &e);
    assert_int_equal(l.hosts[1].state, LAUNCHING_RESTING);
    launching_tick(&l, 134, &e);
    assert_int_equal(l.hosts[1].state, LAUNCHING_RESTING); /* twice as long */
    launching_tick(&l, 135, &e);
    assert_int_equal(l.hosts[1].state, LAUNCHING_STARTING);
    launching_tick(&l, 235, &e);
    assert_int_equal(l.hosts[1].state, LAUNCHING_FAILED);
    assert_int_equal(count_of(&e, LAUNCHING_GIVE_UP), 2);
    assert_int_equal(count_of(&e, LAUNCHING_COMPLETE), 1);
    launching_fini(&l);
    launching_effects_fini(&e);
}

/* A daemon that is lost while others come has failed; all is complete once, and as before. */
static void a_daemon_that_does_not_stay_has_failed(void **state)
{
    struct launching l;
    struct launching_effects e = {0};
    struct launching_settings set = {.fan_out = 8, .attempts = 3, .limit_ns = 100, .rest_ns = 10};
    (void)state;
    launching_begin(&l, 2, &set, 0, &e);
    launching_step(&l, 0, LAUNCHING_LOST, LAUNCHING_STAY, 1, &e); /* it has not been there */
    assert_int_equal(l.hosts[0].state, LAUNCHING_STARTING);
    launching_step(&l, 0, LAUNCHING_DIALED, 0, 2, &e);
    launching_step(&l, 0, LAUNCHING_LOST, LAUNCHING_STAY, 3, &e);
    assert_int_equal(count_of(&e, LAUNCHING_GIVE_UP), 1);
    launching_step(&l, 0, LAUNCHING_LOST, LAUNCHING_STAY, 4, &e);
    assert_int_equal(count_of(&e, LAUNCHING_GIVE_UP), 1);
    assert_int_equal(count_of(&e, LAUNCHING_COMPLETE), 0);
    launching_step(&l, 1, LAUNCHING_DIALED, 0, 5, &e);
    assert_int_equal(count_of(&e, LAUNCHING_COMPLETE), 1);
    assert_string_equal(launching_stage_word(LAUNCHING_STAY), "stay until all hosts were there");
    launching_fini(&l);
    launching_effects_fini(&e);
}

/* A daemon that runs, and does not connect in its time, is behind a firewall: others would be, too. */
static void a_daemon_that_cannot_connect_is_not_tried_again(void **state)
{
    struct launching l;
    struct launching_effects e = {0};
    struct launching_settings set = {.fan_out = 8, .attempts = 3, .limit_ns = 100, .rest_ns = 10};
    (void)state;
    launching_begin(&l, 2, &set, 0, &e);
    launching_step(&l, 0, LAUNCHING_REACHED, LAUNCHING_DIAL_BACK, 5, &e);
    launching_step(&l, 1, LAUNCHING_REACHED, LAUNCHING_EXECUTE, 5, &e);
    launching_tick(&l, 100, &e);
    assert_int_equal(l.hosts[0].state, LAUNCHING_FAILED);
    assert_int_equal(l.hosts[1].state, LAUNCHING_RESTING);
    launching_fini(&l);
    launching_effects_fini(&e);
}

/* Whatever happens in whatever order: never more at a time, each host settles once, and what is
 * asked for makes sense. */
static void any_schedule_settles(void **state)
{
    for (unsigned seed = 1; seed < 300; seed++) {
        unsigned random = seed;
        uint32_t hosts = 1 + (uint32_t)rand_r(&random) % 20, complete = 0, given_up = 0;
        struct launching l;
        struct launching_effects e = {0};
        struct launching_settings set = {.fan_out = 1 + (uint32_t)rand_r(&random) % 5,
                                         .attempts = 1 + (uint32_t)rand_r(&random) % 3,
                                         .limit_ns = 50,
                                         .rest_ns = 5};
        int64_t now = 0;
        launching_begin(&l, hosts, &set, now, &e);
        for (int i = 0; i < 20000 && !complete; i++) {
            now += rand_r(&random) % 20;
            if (rand_r(&random) % 2)
                launching_tick(&l, now, &e);
            else
                launching_step(&l, (uint32_t)rand_r(&random) % (hosts + 1),
                               (enum launching_event)(rand_r(&random) % LAUNCHING_LATE),
                               (enum launching_stage)(rand_r(&random) % 5), now, &e);
            assert_true(l.starting <= set.fan_out);
            complete += (uint32_t)count_of(&e, LAUNCHING_COMPLETE);
            given_up += (uint32_t)count_of(&e, LAUNCHING_GIVE_UP);
            for (size_t x = 0; x < e.count; x++)
                assert_true(e.items[x].host < hosts && e.items[x].attempt <= set.attempts);
            e.count = 0;
        }
        assert_int_equal(complete, 1);
        uint32_t failed = 0;
        for (uint32_t i = 0; i < hosts; i++) {
            assert_true(l.hosts[i].state >= LAUNCHING_UP);
            failed += l.hosts[i].state == LAUNCHING_FAILED;
        }
        assert_int_equal(failed, given_up);
        launching_fini(&l);
        launching_effects_fini(&e);
    }
}

/* ---- dialing ---- */

/* Any answers at any time: one end, one winner at most, each try dropped, won or failed. */
static void any_race_ends(void **state)
{
    for (unsigned seed = 1; seed < 2000; seed++) {
        unsigned random = seed;
        struct dialing d;
        struct dialing_effects e;
        int count = rand_r(&random) % 20, open = 0, ends = 0;
        int64_t now = 0;
        dialing_begin(&d, count, now, &e);
        for (int i = 0; i < 1000 && !ends; i++) {
            for (int x = 0; x < e.count; x++) {
                enum dialing_action action = e.items[x].action;
                open +=
                    (action == DIALING_TRY) - (action == DIALING_DROP) - (action == DIALING_DONE);
                ends += action == DIALING_DONE || action == DIALING_LOST;
            }
            if (ends)
                break;
            int address = rand_r(&random) % 20;
            bool is_open = address < d.count && d.states[address] == DIALING_TRYING;
            enum dialing_event event = rand_r(&random) % 8 ? DIALING_FAILED : DIALING_CONNECTED;
            if (rand_r(&random) % 3 == 0) {
                now = dialing_next(&d);
                event = DIALING_TIME;
            }
            dialing_step(&d, event, address, now, &e);
            open -= event == DIALING_FAILED && is_open;
        }
        assert_int_equal(ends, 1);
        assert_int_equal(open, 0);
        assert_true(d.is_over);
    }
}

static void an_address_that_is_dead_costs_little(void **state)
{
    struct dialing d;
    struct dialing_effects e;
    dialing_begin(&d, 3, 0, &e);
    assert_int_equal(e.count, 1);
    assert_true(dialing_next(&d) == DIALING_STAGGER_NS);
    dialing_step(&d, DIALING_TIME, 0, DIALING_STAGGER_NS, &e);
    assert_int_equal(e.items[0].action, DIALING_TRY);
    assert_int_equal(e.items[0].address, 1);
    dialing_step(&d, DIALING_FAILED, 1, 60 * MS, &e); /* the third at once */
    assert_int_equal(e.items[0].address, 2);
    dialing_step(&d, DIALING_CONNECTED, 2, 61 * MS, &e);
    assert_int_equal(e.count, 2);
    assert_int_equal(e.items[0].action, DIALING_DROP);
    assert_int_equal(e.items[0].address, 0);
    assert_int_equal(e.items[1].action, DIALING_DONE);
    assert_int_equal(e.items[1].address, 2);
    assert_true(dialing_next(&d) == INT64_MAX);
    dialing_step(&d, DIALING_CONNECTED, 0, 62 * MS, &e); /* too late */
    assert_int_equal(e.count, 0);
}

static void where_nobody_answers_it_ends(void **state)
{
    struct dialing d;
    struct dialing_effects e;
    dialing_begin(&d, 0, 0, &e);
    assert_int_equal(e.items[0].action, DIALING_LOST);
    dialing_begin(&d, 2, 0, &e);
    dialing_step(&d, DIALING_FAILED, 0, 1, &e);
    dialing_step(&d, DIALING_FAILED, 1, 2, &e);
    assert_int_equal(e.items[0].action, DIALING_LOST);
    dialing_begin(&d, 40, 0, &e);
    int64_t now = 0;
    int tried = 1;
    for (int i = 0; i < 100 && !d.is_over; i++) {
        assert_true(dialing_next(&d) > now);
        now = dialing_next(&d);
        dialing_step(&d, DIALING_TIME, 0, now, &e);
        tried += e.items[0].action == DIALING_TRY;
    }
    assert_int_equal(tried, DIALING_ADDRESSES_MAX);
    assert_true(now == DIALING_LIMIT_NS);
    assert_int_equal(e.items[e.count - 1].action, DIALING_LOST);
    assert_int_equal(e.count, DIALING_ADDRESSES_MAX + 1);
}

/* ---- liveness ---- */

static struct node_list beats, lost;

static void tick(struct liveness *l, int64_t now)
{
    beats.count = lost.count = 0;
    assert_int_equal(liveness_tick(l, now, &beats, &lost), 0);
}

static void silence_is_noticed_in_time(void **state)
{
    struct liveness l;
    liveness_init(&l, 10000 * MS, 0);
    liveness_event(&l, LIVENESS_WATCH, 4, 0);
    for (int64_t now = 0; now < 9500 * MS; now += 500 * MS) {
        tick(&l, now);
        assert_int_equal(lost.count, 0);
    }
    tick(&l, 9500 * MS); /* another would be later than 10 s */
    assert_int_equal(lost.count, 1);
    assert_int_equal(lost.items[0], 4);
    tick(&l, 10500 * MS);
    assert_int_equal(lost.count, 0);
    liveness_fini(&l);
}

static void a_stop_of_5_s_is_no_loss(void **state)
{
    struct liveness l;
    int64_t now, limit = 6000 * MS;
    liveness_init(&l, limit, 0);
    liveness_event(&l, LIVENESS_WATCH, 4, 0);
    for (now = 0; now < 3000 * MS; now += 300 * MS) {
        liveness_event(&l, LIVENESS_HEARD, 4, now);
        tick(&l, now);
    }
    now += 5900 * MS; /* this process stands still, and has read nothing yet */
    tick(&l, now);
    assert_int_equal(lost.count, 0);
    tick(&l, now + 600 * MS);
    assert_int_equal(lost.count, 0);
    liveness_fini(&l);
}

static void beats_go_where_nothing_else_does(void **state)
{
    struct liveness l;
    size_t count = 0;
    liveness_init(&l, 10000 * MS, 0);
    liveness_event(&l, LIVENESS_WATCH, 4, 0);
    liveness_event(&l, LIVENESS_WATCH, 5, 0);
    liveness_event(&l, LIVENESS_WATCH, 6, 0);
    liveness_event(&l, LIVENESS_FORGET, 5, 0);
    for (int64_t now = 0; now <= 10000 * MS; now += 500 * MS) {
        liveness_event(&l, LIVENESS_HEARD, 4, now);
        liveness_event(&l, LIVENESS_HEARD, 6, now);
        liveness_event(&l, LIVENESS_SAID, 6, now);
        tick(&l, now);
        count += beats.count;
        for (size_t i = 0; i < beats.count; i++)
            assert_int_equal(beats.items[i], 4);
    }
    assert_int_equal(count, 4);
    liveness_fini(&l);
    node_list_fini(&beats);
    node_list_fini(&lost);
}

/* ---- links ---- */

static void links_follow_their_table(void **state)
{
    struct links l = {0};
    struct node_list nodes = {0}, come = {0}, gone = {0};
    node_list_add(&nodes, 3);
    node_list_add(&nodes, 9);
    assert_int_equal(links_replace(&l, &nodes, &come, &gone), 0);
    assert_int_equal(come.count, 2);
    assert_int_equal(links_event(&l, 3, LINK_BROKEN), LINK_NOTHING);
    assert_int_equal(links_event(&l, 3, LINK_MADE), LINK_GREET);
    assert_true(links_is_up(&l, 3));
    assert_int_equal(links_event(&l, 3, LINK_REFUSED), LINK_NOTHING); /* the other way */
    assert_int_equal(links_event(&l, 3, LINK_MADE), LINK_GREET);
    assert_int_equal(links_event(&l, 3, LINK_BROKEN), LINK_CONNECT);
    assert_false(links_is_up(&l, 3));
    assert_int_equal(links_event(&l, 3, LINK_REFUSED), LINK_LOSE);
    assert_int_equal(links_event(&l, 9, LINK_SILENT), LINK_LOSE);
    assert_int_equal(links_event(&l, 5, LINK_MADE), LINK_NOTHING);
    links_event(&l, 9, LINK_MADE);
    nodes.items[0] = 4;
    come.count = 0;
    assert_int_equal(links_replace(&l, &nodes, &come, &gone), 0);
    assert_int_equal(gone.items[0], 3);
    assert_int_equal(come.items[0], 4);
    assert_true(links_is_up(&l, 9));
    node_list_fini(&nodes);
    node_list_fini(&come);
    node_list_fini(&gone);
    links_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_start_at_a_time),
        cmocka_unit_test(failures_are_tried_again_and_told),
        cmocka_unit_test(a_daemon_that_does_not_stay_has_failed),
        cmocka_unit_test(a_daemon_that_cannot_connect_is_not_tried_again),
        cmocka_unit_test(any_schedule_settles),
        cmocka_unit_test(any_race_ends),
        cmocka_unit_test(an_address_that_is_dead_costs_little),
        cmocka_unit_test(where_nobody_answers_it_ends),
        cmocka_unit_test(silence_is_noticed_in_time),
        cmocka_unit_test(a_stop_of_5_s_is_no_loss),
        cmocka_unit_test(beats_go_where_nothing_else_does),
        cmocka_unit_test(links_follow_their_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
