/* SPDX-License-Identifier: BSD-3-Clause */

/* The exit status rule and the ladder of signals, as tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>

#include "bnr/core/job.h"

#define EXITED(code) ((code) << 8)
#define KILLED(sig)  (sig)

static void the_end_of_a_rank_is_judged(void **state)
{
    static const struct {
        struct job_facts facts;
        enum job_cause cause;
        int code;
    } rows[] = {
        {{EXITED(0), false, false, false, 0, false, false}, JOB_CAUSE_NONE, 0},
        {{EXITED(0), true, true, false, 0, false, false}, JOB_CAUSE_NONE, 0},
        {{EXITED(0), true, false, false, 0, false, false}, JOB_CAUSE_UNFINALIZED, 1},
        {{EXITED(3), true, true, false, 0, false, false}, JOB_CAUSE_CODE, 3},
        {{KILLED(9), true, false, false, 0, false, false}, JOB_CAUSE_SIGNAL, 137},
        {{KILLED(11 | 0x80), true, false, false, 0, false, false}, JOB_CAUSE_SIGNAL, 139},
        {{EXITED(5), true, false, true, 5, false, false}, JOB_CAUSE_ABORT, 5},
        {{KILLED(9), true, false, true, 5, false, false}, JOB_CAUSE_ABORT, 5},
        {{EXITED(1), true, false, true, 0, false, false}, JOB_CAUSE_ABORT, 1},
        {{EXITED(1), true, false, true, 256, false, false}, JOB_CAUSE_ABORT, 1},
        {{EXITED(255), true, false, true, -1, false, false}, JOB_CAUSE_ABORT, 255},
        {{EXITED(0), false, false, false, 0, true, false}, JOB_CAUSE_UNINITIALIZED, 1},
        {{EXITED(0), true, true, false, 0, true, false}, JOB_CAUSE_NONE, 0},
        {{KILLED(9), true, false, false, 0, false, true}, JOB_CAUSE_SIGNAL, 137},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int code;
        assert_int_equal(job_judge(&rows[i].facts, &code), rows[i].cause);
        assert_int_equal(code, rows[i].code);
    }
}

/* A script of what happens: 'e' a rank exits with n, 'a' aborts with n, 'k' a rank is killed by n,
 * 'K' the same of one that had asked the others to go on, 's' the user sends n, 'g' the grace is over,
 * 't' time is up; then what is sent and what is told.
 */
struct happening {
    char what;
    int n;
    int signal;
    enum job_cause cause;
};

static void play(const struct happening *script, int ranks, bool goes_on, int exit_code,
                 const char *claim)
{
    struct job job;
    job_init(&job, ranks);
    job.goes_on = goes_on;
    for (const struct happening *h = script; h->what; h++) {
        struct job_facts facts = {0};
        struct job_step step = {0, JOB_GRACE_SAME};
        enum job_cause cause = JOB_CAUSE_NONE;
        facts.status = h->what == 'k' || h->what == 'K' ? KILLED(h->n) : EXITED(h->n);
        facts.tolerant = h->what == 'K';
        facts.aborted = h->what == 'a';
        facts.abort_code = h->n;
        switch (h->what) {
        case 's': step = job_signal(&job, h->n); break;
        case 'g': step = job_event(&job, JOB_GRACE); break;
        case 't': step = job_end(&job, JOB_TERMINATE, 124); break;
        default: step = job_rank_ended(&job, &facts, &cause); break;
        }
        if (step.signal != h->signal || cause != h->cause)
            fail_msg("%s: step %d: signal %d, cause %d", claim, (int)(h - script), step.signal,
                     (int)cause);
    }
    if (job.state != JOB_ENDED || job.exit_code != exit_code)
        fail_msg("%s: state %d, code %d", claim, (int)job.state, job.exit_code);
}

static void jobs_end_as_told(void **state)
{
    static const struct {
        const char *claim;
        int ranks, code;
        struct happening script[8];
    } rows[] = {
        {"all well", 2, 0, {{'e', 0, 0, 0}, {'e', 0, 0, 0}}},
        {"the first failure decides",
         3,
         3,
         {{'e', 3, SIGTERM, JOB_CAUSE_CODE}, {'k', 15, 0, 0}, {'e', 4, 0, 0}}},
        {"a kill, and a stubborn rank",
         2,
         137,
         {{'k', 9, SIGTERM, JOB_CAUSE_SIGNAL}, {'g', 0, SIGKILL, 0}, {'k', 9, 0, 0}}},
        {"interrupted ranks die quietly",
         2,
         130,
         {{'s', SIGINT, SIGINT, 0}, {'k', SIGINT, 0, 0}, {'k', SIGINT, 0, 0}}},
        {"a rank's own code after an interrupt",
         2,
         7,
         {{'s', SIGINT, SIGINT, 0}, {'e', 7, 0, JOB_CAUSE_CODE}, {'k', SIGINT, 0, 0}}},
        {"ranks that shrug an interrupt off", 1, 0, {{'s', SIGINT, SIGINT, 0}, {'e', 0, 0, 0}}},
        {"three interrupts",
         1,
         130,
         {{'s', SIGINT, SIGINT, 0},
          {'s', SIGINT, SIGTERM, 0},
          {'s', SIGINT, SIGKILL, 0},
          {'k', 9, 0, 0}}},
        {"one dies of the interrupt, one hangs",
         2,
         130,
         {{'s', SIGINT, SIGINT, 0},
          {'k', SIGINT, 0, 0},
          {'g', 0, SIGTERM, 0},
          {'g', 0, SIGKILL, 0},
          {'k', 9, 0, 0}}},
        {"terminated", 1, 143, {{'s', SIGTERM, SIGTERM, 0}, {'k', SIGTERM, 0, 0}}},
        {"terminated, and stubborn",
         1,
         143,
         {{'s', SIGTERM, SIGTERM, 0}, {'g', 0, SIGKILL, 0}, {'k', 9, 0, 0}}},
        {"hung up", 1, 129, {{'s', SIGHUP, SIGTERM, 0}, {'k', SIGTERM, 0, 0}}},
        {"time is up", 1, 124, {{'t', 0, SIGTERM, 0}, {'k', SIGTERM, 0, 0}}},
        {"time is up after a failure",
         2,
         3,
         {{'e', 3, SIGTERM, JOB_CAUSE_CODE}, {'t', 0, 0, 0}, {'e', 0, 0, 0}}},
        {"a crash beside an interrupt is told",
         2,
         139,
         {{'s', SIGINT, SIGINT, 0}, {'k', 11, 0, JOB_CAUSE_SIGNAL}, {'k', 2, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        play(rows[i].script, rows[i].ranks, false, rows[i].code, rows[i].claim);
}

static void who_is_asked_from_outside_has_long(void **state)
{
    static const struct {
        const char *claim;
        int ranks, code;
        struct happening script[8];
    } rows[] = {
        {"a second one hurries",
         1,
         143,
         {{'s', SIGTERM, SIGTERM, 0},
          {'s', SIGTERM, SIGTERM, 0},
          {'g', 0, SIGKILL, 0},
          {'k', 9, 0, 0}}},
        {"so does an interrupt, and a third signal",
         1,
         143,
         {{'s', SIGTERM, SIGTERM, 0},
          {'s', SIGINT, SIGTERM, 0},
          {'s', SIGINT, SIGKILL, 0},
          {'k', 9, 0, 0}}},
        {"who dies of it leaves the others their time",
         2,
         143,
         {{'s', SIGTERM, SIGTERM, 0}, {'k', SIGTERM, 0, 0}, {'e', 0, 0, 0}}},
        {"an abort leaves them less",
         2,
         5,
         {{'s', SIGTERM, SIGTERM, 0}, {'a', 5, SIGTERM, JOB_CAUSE_ABORT}, {'k', SIGTERM, 0, 0}}},
    };
    struct job job;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        play(rows[i].script, rows[i].ranks, false, rows[i].code, rows[i].claim);
    job_init(&job, 2);
    assert_int_equal(job_signal(&job, SIGTERM).grace, JOB_GRACE_LONG);
    assert_int_equal(job_signal(&job, SIGTERM).grace, JOB_GRACE_SHORT);
    job_init(&job, 2);
    assert_int_equal(job_signal(&job, SIGINT).grace, JOB_GRACE_SAME); /* as they take */
    assert_int_equal(job_signal(&job, SIGTERM).grace, JOB_GRACE_SHORT);
    job_init(&job, 2);
    assert_int_equal(job_end(&job, JOB_TERMINATE, 124).grace, JOB_GRACE_SHORT);
}

static void a_job_may_go_on_after_failures(void **state)
{
    static const struct {
        const char *claim;
        int ranks, code;
        struct happening script[8];
    } rows[] = {
        {"each failure is told, the first decides",
         3,
         137,
         {{'k', 9, 0, JOB_CAUSE_SIGNAL}, {'e', 3, 0, JOB_CAUSE_CODE}, {'e', 0, 0, 0}}},
        {"an abort ends it",
         3,
         3,
         {{'e', 3, 0, JOB_CAUSE_CODE}, {'a', 5, SIGTERM, JOB_CAUSE_ABORT}, {'k', 15, 0, 0}}},
        {"so does the time limit",
         2,
         3,
         {{'e', 3, 0, JOB_CAUSE_CODE}, {'t', 0, SIGTERM, 0}, {'e', 4, 0, 0}}},
        {"so does the user, also of who shrugs it off",
         3,
         3,
         {{'e', 3, 0, JOB_CAUSE_CODE},
          {'s', SIGINT, SIGINT, 0},
          {'k', SIGINT, 0, 0},
          {'g', 0, SIGTERM, 0},
          {'k', SIGTERM, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        play(rows[i].script, rows[i].ranks, true, rows[i].code, rows[i].claim);
}

static void a_rank_may_ask_the_others_to_go_on(void **state)
{
    static const struct {
        const char *claim;
        int ranks, code;
        struct happening script[8];
    } rows[] = {
        {"each failure is told, the first decides",
         4,
         137,
         {{'K', 9, 0, JOB_CAUSE_SIGNAL}, {'e', 0, 0, 0}, {'K', 11, 0, JOB_CAUSE_SIGNAL}, {'e', 0, 0, 0}}},
        {"one that has not asked ends the job",
         3,
         137,
         {{'K', 9, 0, JOB_CAUSE_SIGNAL}, {'k', 11, SIGTERM, JOB_CAUSE_SIGNAL}, {'k', 15, 0, 0}}},
        {"so does an abort",
         3,
         137,
         {{'K', 9, 0, JOB_CAUSE_SIGNAL}, {'a', 5, SIGTERM, JOB_CAUSE_ABORT}, {'k', 15, 0, 0}}},
        {"after an interrupt it is no news",
         2,
         130,
         {{'s', SIGINT, SIGINT, 0}, {'K', SIGINT, 0, 0}, {'K', SIGINT, 0, 0}}},
    };
    struct job job;
    enum job_cause cause;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        play(rows[i].script, rows[i].ranks, false, rows[i].code, rows[i].claim);
    job_init(&job, 2);
    job.is_strict = true;
    const struct job_facts facts = {.status = KILLED(9), .initialized = true, .tolerant = true};
    assert_int_equal(job_rank_ended(&job, &facts, &cause).signal, SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_rank_is_judged),
        cmocka_unit_test(jobs_end_as_told),
        cmocka_unit_test(who_is_asked_from_outside_has_long),
        cmocka_unit_test(a_job_may_go_on_after_failures),
        cmocka_unit_test(a_rank_may_ask_the_others_to_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
