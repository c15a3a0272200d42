/* SPDX-License-Identifier: BSD-3-Clause */

/* Schedules themselves: tags, places, functions, failures, several runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <mpi.h>

#include "fake_p2p.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/request/request.h"
#include "mpi/type/type.h"

static struct comm comms[3];

static uint32_t draw(uint32_t below)
{
    return (uint32_t)rand() % below;
}

/* Different tags keep collectives apart that are under way at the same time; the tag never is
 * that of communicator creation, and never negative. */
static void test_tags(void **unused)
{
    struct sched s;
    comms[0] = (struct comm){.size = 1, .peers = 1, .coll_tag = 5};
    sched_init(&s, &comms[0], NULL);
    assert_int_equal(s.place.tag, 5);
    sched_init(&s, &comms[0], NULL);
    assert_int_equal(s.place.tag, 6);
    comms[0].coll_tag = 1 << 30;
    sched_init(&s, &comms[0], NULL);
    assert_int_equal(s.place.tag, 0);
    comms[0].coll_tag = UINT32_MAX;
    sched_init(&s, &comms[0], NULL);
    assert_int_equal(s.place.tag, (1 << 30) - 1);
    sched_init_kept(&s, &comms[0], NULL); /* apart from all of these */
    assert_int_equal(s.place.tag, 1 << 30);
    comms[0].coll_kept_tag = (1 << 30) - 2;
    sched_init_kept(&s, &comms[0], NULL);
    assert_int_equal(s.place.tag, COMM_AGREE_TAG - 1);
    sched_init_kept(&s, &comms[0], NULL);
    assert_int_equal(s.place.tag, 1 << 30);
    comms[0] = (struct comm){0};
}

/* A schedule whose memory does not suffice does nothing, and says so. */
static void test_no_memory(void **unused)
{
    struct sched s;
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    char byte = 1, other = 2;
    sched_copy(&s, &byte, &other, 1, MPI_BYTE);
    assert_non_null(sched_temp(&s, INT64_MAX));
    assert_int_equal(sched_run(&s), MPI_ERR_NO_MEM);
    assert_int_equal(other, 2);
}

/* What is too long is cut, told, and does not stop the rest. */
static void test_truncation(void **unused)
{
    struct sched s;
    int from[2] = {1, 2}, to = 0, copied = 0;
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    sched_send(&s, 0, from, 2, MPI_INT);
    sched_recv(&s, 0, &to, 1, MPI_INT);
    sched_wait(&s);
    sched_copy(&s, &to, &copied, 1, MPI_INT);
    assert_int_equal(sched_run(&s), MPI_ERR_TRUNCATE);
    assert_int_equal(copied, 1);
}

static int calls_made;

static int add_step(struct sched *s, void *arg)
{
    static const int two = 2;
    calls_made++;
    if (arg)
        sched_copy(s, &two, arg, 1, MPI_INT);
    return MPI_SUCCESS;
}

static int give_error(struct sched *s, void *arg)
{
    return MPI_ERR_OTHER;
}

/* A function is called in its turn, may add steps, and may fail. */
static void test_call(void **unused)
{
    struct sched s;
    int one = 1, to = 0;
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    calls_made = 0;
    sched_copy(&s, &one, &to, 1, MPI_INT);
    for (int i = 0; i < SCHED_STEPS; i++) /* so that the steps move while one of them is done */
        sched_call(&s, add_step, &to);
    assert_int_equal(sched_run(&s), MPI_SUCCESS);
    assert_int_equal(calls_made, SCHED_STEPS);
    assert_int_equal(to, 2);
    sched_init(&s, &comms[0], NULL);
    sched_call(&s, give_error, NULL);
    sched_call(&s, add_step, NULL);
    assert_int_equal(sched_run(&s), MPI_ERR_OTHER);
    assert_int_equal(calls_made, SCHED_STEPS + 1);
}

static int runs_left, last_rc;

static void run_again(struct sched *s)
{
    last_rc = sched_again(s);
    if (--runs_left)
        sched_start(s, run_again);
}

/* The same steps run three times; a failure is told by the run that has it. */
static void test_again(void **unused)
{
    struct sched s;
    int from = 1, to = 0;
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    sched_recv(&s, 0, &to, 1, MPI_INT);
    sched_send(&s, 0, &from, 1, MPI_INT);
    sched_wait(&s);
    sched_call(&s, add_step, NULL);
    calls_made = 0;
    runs_left = 3;
    sched_start(&s, run_again);
    while (runs_left)
        assert_true(fake_p2p_deliver());
    assert_int_equal(calls_made, 3);
    assert_int_equal(to, 1);
    s.error = MPI_ERR_TRUNCATE;
    assert_int_equal(sched_again(&s), MPI_ERR_TRUNCATE);
    assert_int_equal(sched_again(&s), MPI_SUCCESS);
    sched_fini(&s);
}

/* What stops at its first failure starts nothing more, and waits for nothing that it can cancel. */
static void test_stop(void **unused)
{
    struct sched s;
    int to[2] = {0, 0};
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    s.stops = true;
    sched_recv(&s, 0, &to[0], 1, MPI_INT);
    int second = sched_recv(&s, 0, &to[1], 1, MPI_INT);
    sched_wait_for(&s, second);
    sched_call(&s, add_step, NULL);
    calls_made = 0;
    assert_false(sched_advance(&s));
    assert_ptr_equal(sched_awaited(&s), &s.steps[second]);
    sched_skip(&s, MPI_ERR_PROC_ABORTED);
    assert_true(sched_advance(&s));
    assert_int_equal(sched_end(&s), MPI_ERR_PROC_ABORTED);
    assert_int_equal(calls_made, 0);
    assert_true(fake_p2p_is_empty());
}

/* What does not stop skips one message, and goes on. */
static void test_skip(void **unused)
{
    struct sched s;
    int to = 0;
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    sched_recv(&s, 0, &to, 1, MPI_INT);
    sched_wait(&s);
    sched_call(&s, add_step, NULL);
    calls_made = 0;
    assert_false(sched_advance(&s));
    sched_skip(&s, MPI_ERR_PROC_ABORTED);
    assert_int_equal(sched_run(&s), MPI_ERR_PROC_ABORTED);
    assert_int_equal(calls_made, 1);
    assert_true(fake_p2p_is_empty());
}

static void note_end(struct sched *s)
{
    runs_left--;
}

/* A rank that has lost a message, though nobody died, gives no other rank a result without it: it
 * sends nothing more where the error ends it, and otherwise what the others refuse. */
static void check_lost_message(bool is_fatal)
{
    struct sched *s[2];
    int value = 7, between = 5, result = 3, first, late;
    for (int i = 0; i < 2; i++) {
        comms[i] = (struct comm){.size = 2, .peers = 2, .rank = i, .context = 64};
        s[i] = malloc(sizeof(**s));
        sched_init(s[i], &comms[i], NULL);
    }
    sched_send(s[0], 1, &value, 1, MPI_INT);
    first = sched_recv(s[0], 1, &result, 1, MPI_INT);
    sched_await(s[0], 1);
    sched_recv(s[1], 0, &between, 1, MPI_INT);
    sched_wait(s[1]);
    late = sched_send(s[1], 0, &between, 1, MPI_INT);
    sched_signal(s[1], 0);
    runs_left = 2;
    fake_p2p_is_fatal = is_fatal;
    fake_p2p_error = MPID_NO_MEMORY;
    sched_start(s[0], note_end);
    sched_start(s[1], note_end);
    while (fake_p2p_deliver()) {
    }
    assert_int_equal(s[1]->error, MPI_ERR_OTHER);
    assert_int_equal(result, 3);
    if (is_fatal) {
        assert_null(s[1]->steps[late].request);
        assert_int_equal(runs_left, 1);
        mpid_cancel(&s[0]->steps[first].request->dev);
        mpid_cancel(&s[0]->steps[first + 1].request->dev);
    } else {
        assert_int_equal(s[0]->error, MPI_ERR_COUNT);
    }
    fake_p2p_is_fatal = false;
    assert_true(fake_p2p_is_empty());
    for (int i = 0; i < 2; i++) {
        sched_end(s[i]);
        free(s[i]);
        comms[i] = (struct comm){0};
    }
}

static void test_lost_message(void **unused)
{
    check_lost_message(true);
    check_lost_message(false);
}

/* Some ranks of a communicator, in their own order, at a context and tag of their own. */
static void test_place(void **unused)
{
    enum { MEMBERS = 3 };
    static const int ranks[MEMBERS] = {4, 0, 3};
    struct sched *s[MEMBERS];
    int values[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
        comms[i] = (struct comm){.size = 5, .peers = 5, .rank = ranks[i], .context = 64};
        s[i] = malloc(sizeof(**s));
        sched_init_at(s[i], &(struct sched_place){&comms[i], CONTEXT_GROUP, 77, ranks}, NULL);
        values[i] = i;
        int next = (i + 1) % MEMBERS;
        sched_send(s[i], next, &ranks[i], 1, MPI_INT);
        sched_recv(s[i], (i + MEMBERS - 1) % MEMBERS, &values[i], 1, MPI_INT);
        assert_int_equal(s[i]->steps[0].peer, ranks[next]);
        assert_int_equal(s[i]->steps[0].use, CONTEXT_GROUP);
    }
    runs_left = MEMBERS;
    for (int i = 0; i < MEMBERS; i++)
        sched_start(s[i], note_end);
    while (runs_left)
        assert_true(fake_p2p_deliver());
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(sched_end(s[i]), MPI_SUCCESS);
        assert_int_equal(values[i], ranks[(i + MEMBERS - 1) % MEMBERS]);
        free(s[i]);
        comms[i] = (struct comm){0};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags),       cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_truncation), cmocka_unit_test(test_call),
        cmocka_unit_test(test_again),      cmocka_unit_test(test_place),
        cmocka_unit_test(test_stop),       cmocka_unit_test(test_skip),
        cmocka_unit_test(test_lost_message),
    };
    fake_p2p_draw = draw;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
