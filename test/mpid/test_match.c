/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matching against a naive model: two plain lists searched from the front. Random
 * schedules of posts, arrivals, probes and cancels, from a printed seed; then the
 * claim that the cost of a match does not grow with the number that wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpid/ground/match.h"
#include "os/clock.h"

enum { MOST = 400, STEPS = 20000 };

/* What the model holds, in order of posting or arrival. */
struct list {
    void *item[MOST];
    struct mpid_envelope env[MOST];
    int count;
};

static uint64_t seed;

static unsigned dice(unsigned sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % sides;
}

static bool fits(const struct mpid_envelope *want, const struct mpid_envelope *env)
{
    return want->context == env->context && (want->rank == MPID_ANY || want->rank == env->rank) &&
           (want->tag == MPID_ANY || want->tag == env->tag);
}

static void *drop(struct list *list, int i)
{
    void *item = list->item[i];
    list->count--;
    memmove(&list->item[i], &list->item[i + 1], (size_t)(list->count - i) * sizeof(void *));
    memmove(&list->env[i], &list->env[i + 1], (size_t)(list->count - i) * sizeof(list->env[0]));
    return item;
}

static void add(struct list *list, void *item, const struct mpid_envelope *env)
{
    list->item[list->count] = item;
    list->env[list->count++] = *env;
}

static struct mpid_envelope any_message(void)
{
    static const uint32_t contexts[] = {0, 1, MPID_CONTEXT_STEP, /* and one in the first's lane */
                                        MATCH_LANES * MPID_CONTEXT_STEP};
    return (struct mpid_envelope){contexts[dice(4)], (int32_t)dice(4), (int32_t)dice(4)};
}

static struct mpid_envelope any_want(void)
{
    struct mpid_envelope env = any_message();
    if (!dice(3))
        env.rank = MPID_ANY;
    if (!dice(3))
        env.tag = MPID_ANY;
    return env;
}

static int first_unexpected(const struct list *arrived, const struct mpid_envelope *want)
{
    for (int i = 0; i < arrived->count; i++)
        if (fits(want, &arrived->env[i]))
            return i;
    return -1;
}

static void post_one(struct match *match, struct list *posted, struct list *arrived)
{
    struct mpid_request *request = calloc(1, sizeof(*request));
    struct mpid_envelope want = any_want();
    request->place.env = want;
    int i = first_unexpected(arrived, &want);
    struct unexpected *u = match_recv_foa(match, request);
    if (i >= 0) {
        assert_ptr_equal(u, arrived->item[i]);
        drop(arrived, i);
        match_forget(match, u);
        free(request);
    } else {
        assert_null(u);
        assert_non_null(request->place.next);
        add(posted, request, &want);
    }
}

static void arrive_one(struct match *match, struct list *posted, struct list *arrived)
{
    struct mpid_envelope env = any_message();
    struct unexpected *u = NULL;
    struct mpid_request *request = match_wire_foa(match, &env, &u);
    for (int i = 0; i < posted->count; i++) {
        if (!fits(&posted->env[i], &env))
            continue;
        assert_ptr_equal(request, posted->item[i]);
        free(drop(posted, i));
        return;
    }
    assert_null(request);
    assert_non_null(u);
    add(arrived, u, &env);
}

static void probe_one(struct match *match, struct list *arrived)
{
    struct mpid_envelope want = any_want();
    int i = first_unexpected(arrived, &want);
    struct unexpected *u = match_peek(match, &want);
    assert_ptr_equal(u, i < 0 ? NULL : arrived->item[i]);
    if (u && dice(2)) {
        match_take(match, u);
        match_forget(match, u);
        drop(arrived, i);
    }
}

static void cancel_one(struct match *match, struct list *posted)
{
    if (!posted->count)
        return;
    struct mpid_request *request = drop(posted, (int)dice((unsigned)posted->count));
    assert_true(match_unpost(match, request));
    assert_false(match_unpost(match, request));
    free(request);
}

static void run_schedule(uint64_t from)
{
    struct match match;
    static struct list posted, arrived;
    posted.count = arrived.count = 0;
    seed = from;
    assert_int_equal(match_init(&match), 0);
    unsigned bias = dice(5); /* towards posts or arrivals, so that either piles up */
    for (int step = 0; step < STEPS; step++) {
        unsigned what = dice(12);
        if (what < 3 + bias && posted.count < MOST)
            post_one(&match, &posted, &arrived);
        else if (what < 10 && arrived.count < MOST)
            arrive_one(&match, &posted, &arrived);
        else if (what < 11)
            probe_one(&match, &arrived);
        else
            cancel_one(&match, &posted);
        assert_int_equal(match.posted_total, posted.count);
        assert_int_equal(match.arrived_total, arrived.count);
    }
    while (posted.count)
        cancel_one(&match, &posted);
    match_fini(&match);
}

static void follows_the_naive_model(void **state)
{
    (void)state;
    for (uint64_t s = 1; s <= 25; s++) {
        print_message("seed %llu\n", (unsigned long long)s);
        run_schedule(s * 7919);
    }
}

/* Post depth receives of a class with different tags or sources, and match them from the
 * last to the first. Returns ns a match. */
static double match_in_reverse(int depth, bool any_source)
{
    struct match match;
    struct mpid_request *requests = calloc((size_t)depth, sizeof(*requests));
    assert_int_equal(match_init(&match), 0);
    for (int i = 0; i < depth; i++) {
        requests[i].place.env = (struct mpid_envelope){0, any_source ? MPID_ANY : 1, i};
        assert_null(match_recv_foa(&match, &requests[i]));
    }
    uint64_t began = os_now_ns();
    for (int i = depth - 1; i >= 0; i--) {
        struct mpid_envelope env = {0, 1, i};
        struct unexpected *u;
        assert_ptr_equal(match_wire_foa(&match, &env, &u), &requests[i]);
    }
    double ns = (double)(os_now_ns() - began) / depth;
    match_fini(&match);
    free(requests);
    return ns;
}

static void does_not_slow_down_with_depth(void **state)
{
    (void)state;
    for (int any = 0; any < 2; any++) {
        double few = 1e9, many = 1e9;
        for (int i = 0; i < 5; i++) {
            double a = match_in_reverse(1000, any), b = match_in_reverse(100000, any);
            few = a < few ? a : few;
            many = b < many ? b : many;
        }
        print_message("%s: %.0f ns at 1000, %.0f ns at 100000\n", any ? "any source" : "exact",
                      few, many);
        assert_true(many < 10000); /* a list would walk 50,000 entries a match: 50 us at least */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_naive_model),
        cmocka_unit_test(does_not_slow_down_with_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
