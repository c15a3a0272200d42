/* SPDX-License-Identifier: BSD-3-Clause */

/* The ranks of a machine: many that end at once are reaped in slices, between which the loop goes
 * on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bnr/core/job.h"
#include "bnr/io/ranks.h"
#include "bnr/io/ranks_pipes.h"
#include "bnr/io/signals.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/start_signals.h"

enum {
    RANKS = 60,
    END_MS = 5, /* that follow from an end */
    TICK_MS = 5
};

static struct ranks ranks;
static struct signals signals;
static int ended, ticks;

static int open_null(void *arg, int rank, struct ranks_pipes *pipes)
{
    pipes->in = 0;
    int rc = ranks_pipes_open(pipes, 1, RANKS_OUTPUT_NONE);
    return rc ? rc : ranks_pipes_open(pipes, 2, RANKS_OUTPUT_NONE);
}

static int attach_none(void *arg, int rank, const struct ranks_pipes *pipes)
{
    return 0;
}

static void on_ended(void *arg, int rank, const struct job_facts *facts)
{
    assert_int_equal(facts->status, 0);
    ended++;
    usleep(END_MS * 1000);
}

static void on_other(void *arg, int pid, int status)
{
    fail_msg("process %d is no rank", pid);
}

static void on_signal(void *arg, int number)
{
    if (number == SIGCHLD && ranks_reap(&ranks))
        signals_again(&signals, number);
}

static void on_tick(uv_timer_t *timer)
{
    ticks += ended > 0 && ended < RANKS;
}

static void start(void)
{
    static const int apps[RANKS];
    static char *const argv[] = {"true", NULL};
    static char *environment[] = {NULL};
    static const struct ranks_app app = {
        .path = "/bin/true", .argv = argv, .environment = environment};
    const struct table_spec spec = {.world_size = RANKS, .app_count = 1, .cpus = 1, .apps = apps};
    const struct ranks_hooks hooks = {
        .open = open_null, .attach = attach_none, .ended = on_ended, .other_ended = on_other};
    const char *step;
    siginfo_t info;
    assert_int_equal(ranks_create(&ranks, &spec, &hooks, &step), 0);
    ranks.apps = &app;
    start_signals_take();
    limit_remember();
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(ranks_start(&ranks, r, &step), 0);
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(waitid(P_PID, (id_t)ranks.table.rank[r].pid, &info, WEXITED | WNOWAIT), 0);
}

static void the_loop_goes_on_while_many_end(void **state)
{
    uv_loop_t loop;
    uv_timer_t timer;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(signals_start(&signals, &loop, on_signal, NULL), 0);
    start();
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_tick, TICK_MS, TICK_MS);
    while (ended < RANKS)
        uv_run(&loop, UV_RUN_ONCE);
    assert_true(ticks >= 5);
    signals_stop(&signals);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    close(ranks.table.head_fd);
    close(ranks.table.memory_fd);
    ranks_destroy(&ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loop_goes_on_while_many_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
