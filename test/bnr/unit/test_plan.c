/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans of jobs, written by hand: no command line takes part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bnr/io/amend.h"
#include "bnr/io/place.h"
#include "bnr/launch/limit.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run.h"
#include "bnr/wide/survey.h"
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

enum { HOSTS = 4096, RANKS_EACH = 128, MOST_MS = 2000 };

static void count_hosts(const struct wide_plan *plan)
{
    uint32_t *node_of_host = calloc(plan->count, sizeof(*node_of_host)), count = 0;
    uint32_t *host_of = calloc(plan->ranks, sizeof(*host_of));
    assert_non_null(node_of_host);
    assert_non_null(host_of);
    assert_int_equal(wide_plan_hosts(plan, node_of_host, host_of, &count), 0);
    assert_int_equal(count, HOSTS);
    for (uint32_t r = 0; r < plan->ranks; r++)
        assert_int_equal(node_of_host[host_of[r]], plan->node_of[r]);
    for (uint32_t h = 0; h < HOSTS; h++)
        assert_int_equal(node_of_host[h], h + 1);
    free(node_of_host);
    free(host_of);
}

/* The processor time of a plan of many hosts does not grow as hosts times ranks. */
static void plans_many_hosts(void **state)
{
    struct plan plan;
    struct wide_plan wide = {0};
    struct survey survey = {0};
    char name[16], why[512] = "";
    (void)state;
    plan_init(&plan);
    for (int h = 0; h < HOSTS; h++) {
        snprintf(name, sizeof(name), "h%d", h);
        assert_int_equal(hosts_add_slots(&plan.hosts, name, RANKS_EACH), 0);
    }
    const struct wide_wish wish = {
        .hosts = &plan.hosts, .ranks = HOSTS * RANKS_EACH, .start = &plan.start, .survey = &survey};
    clock_t begin = clock();
    assert_int_equal(wide_plan(&wide, &wish, why), 0);
    clock_t planned = clock();
    assert_int_equal(wide.count, HOSTS + 1);
    assert_null(wide.hosts[0]);
    count_hosts(&wide);
    assert_int_equal(wide_plan_ranks_on(&wide, 0), 0);
    for (uint32_t node = 1; node < wide.count; node++)
        assert_int_equal(wide_plan_ranks_on(&wide, node), RANKS_EACH);
    clock_t end = clock();
    printf("# plan %.0f ms, hosts %.0f ms\n", (double)(planned - begin) * 1e3 / CLOCKS_PER_SEC,
           (double)(end - planned) * 1e3 / CLOCKS_PER_SEC);
    assert_true((double)(end - begin) * 1e3 / CLOCKS_PER_SEC < MOST_MS);
    wide_plan_fini(&wide);
    plan_fini(&plan);
}

/* In a process of its own, whose limit is low: the sentence names limit, need and cure. */
static void tells_of_few_files(void **state)
{
    char text[512];
    int status = 0;
    (void)state;
    int pid = fork();
    if (!pid) {
        struct rlimit few = {50, 100};
        bool good = !setrlimit(RLIMIT_NOFILE, &few);
        limit_remember();
        good &= !limit_lacks_files(84, text) && limit_lacks_files(85, text);
        good &= strstr(text, "is 100,") && strstr(text, "needs 101;") && strstr(text, "ulimit -n 101 ");
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composes_environments), cmocka_unit_test(knows_how_to_reach_hosts),
        cmocka_unit_test(runs_two_programs),     cmocka_unit_test(passes_a_failure_on),
        cmocka_unit_test(ends_late_jobs),        cmocka_unit_test(plans_many_hosts),
        cmocka_unit_test(tells_of_few_files),
    };
    char why[512];
    limit_remember();
    if (os_settings_load(why, sizeof(why)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
