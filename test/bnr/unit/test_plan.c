/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans of jobs, written by hand: no command line takes part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bnr/io/amend.h"
#include "bnr/io/place.h"
#include "bnr/launch/limit.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run.h"
#include "bnr/wide/wide_plan.h"
#include "os/settings.h"

enum { APPS = 2 };

static char *const shell = "/bin/sh";

/* A list that a plan owns, of one word. */
static char **list_of(const char *word)
{
    char **list = calloc(2, sizeof(*list));
    assert_non_null(list);
    list[0] = strdup(word);
    return list;
}

/* A plan of two programs, of one process and of two, each a line of the shell. */
static void make_plan(struct plan *plan, char *const line[APPS])
{
    plan_init(plan);
    plan->start.stdin_to = NULL;
    plan->napps = APPS;
    plan->apps = calloc(APPS, sizeof(*plan->apps));
    assert_non_null(plan->apps);
    for (int a = 0; a < APPS; a++) {
        struct plan_app *app = &plan->apps[a];
        app->count = a + 1;
        plan->nranks += app->count;
        app->argv = calloc(4, sizeof(*app->argv));
        assert_non_null(app->argv);
        app->argv[0] = shell;
        app->argv[1] = "-c";
        app->argv[2] = line[a];
    }
}

/* Run it as mpiexec does. Returns the exit status. */
static int run(const struct plan *plan)
{
    struct place place = {0};
    struct amend amend = {0};
    struct wide_plan wide = {0};
    char *paths[APPS] = {shell, shell}, name[64] = "test_plan", why[512] = "";
    const struct place_job job = {.wish = &plan->start, .ranks = (uint32_t)plan->nranks};
    const struct wide_wish wish = {
        .hosts = &plan->hosts, .ranks = (uint32_t)plan->nranks, .start = &plan->start};
    assert_int_equal(wide_plan(&wide, &wish, why), 0);
    assert_int_equal(wide.count, 1);
    assert_int_equal(place_make(&place, &job, why), 0);
    assert_int_equal(amend_prepare(&amend, &plan->start, &place, why), 0);
    int code = run_job(plan, &(struct run_job){.paths = paths,
                                               .wide = &wide,
                                               .amend = &amend,
                                               .name = name,
                                               .name_size = sizeof(name)});
    wide_plan_fini(&wide);
    amend_fini(&amend);
    place_fini(&place);
    return code;
}

static void runs_two_programs(void **state)
{
    struct plan plan;
    char *const lines[APPS] = {"test \"$WORD$BNR_RANK\" = own0", "test \"$WORD\" = all -a \"$BNR_RANK\" != 0"};
    (void)state;
    make_plan(&plan, lines);
    plan.env.set = list_of("WORD=all");
    plan.apps[0].env.set = list_of("WORD=own");
    assert_int_equal(run(&plan), 0);
    plan_fini(&plan);
}

static void passes_a_failure_on(void **state)
{
    struct plan plan;
    char *const lines[APPS] = {"sleep 60", "test $BNR_RANK = 1 || exec sleep 60; exit 5"};
    (void)state;
    make_plan(&plan, lines);
    assert_int_equal(run(&plan), 5);
    plan_fini(&plan);
}

static void ends_late_jobs(void **state)
{
    struct plan plan;
    char *const lines[APPS] = {"exec sleep 60", "exit 0"};
    (void)state;
    make_plan(&plan, lines);
    plan.timeout_s = 0.2;
    assert_int_equal(run(&plan), 124);
    plan_fini(&plan);
}

static void composes_environments(void **state)
{
    struct plan plan;
    char *const lines[APPS] = {"", ""}, *const base[] = {"A=1", "B=2", "C=3", NULL};
    char *const extra[] = {"E=extra", NULL};
    (void)state;
    make_plan(&plan, lines);
    plan.settings = list_of("VIREO_CHECK=1");
    plan.env.pass = PLAN_PASS_LIST;
    plan.env.list = list_of("A");
    plan.apps[1].env.pass = PLAN_PASS_ALL;
    plan.apps[1].env.without = list_of("B*");
    plan.apps[1].env.set = list_of("C=own");
    static const char *const wanted[APPS] = {"A=1 VIREO_CHECK=1 E=extra ", "A=1 C=own VIREO_CHECK=1 E=extra "};
    for (int a = 0; a < APPS; a++) {
        char text[256] = "";
        char **env = plan_environ(&plan, &plan.apps[a], base, extra);
        assert_non_null(env);
        for (char **at = env; *at; at++)
            sprintf(text + strlen(text), "%s ", *at);
        assert_string_equal(text, wanted[a]);
        free(env);
    }
    plan_fini(&plan);
}

static void knows_how_to_reach_hosts(void **state)
{
    struct plan plan;
    (void)state;
    plan_init(&plan);
    assert_int_equal(plan_remote(&plan).kind, REMOTE_SSH);
    plan.remote.launcher = PLAN_LAUNCHER_SRUN;
    plan.remote.srun_more = "--mem=0";
    assert_int_equal(plan_remote(&plan).kind, REMOTE_SRUN);
    assert_string_equal(plan_remote(&plan).more, "--mem=0");
    plan.remote.command = "enter %h";
    assert_int_equal(plan_remote(&plan).kind, REMOTE_COMMAND);
    plan_fini(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composes_environments), cmocka_unit_test(knows_how_to_reach_hosts),
        cmocka_unit_test(runs_two_programs),     cmocka_unit_test(passes_a_failure_on),
        cmocka_unit_test(ends_late_jobs),
    };
    char why[512];
    limit_remember();
    if (os_settings_load(why, sizeof(why)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
