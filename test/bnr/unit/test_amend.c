/* SPDX-License-Identifier: BSD-3-Clause */

/* What options change in the start of a rank, and what begins its lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bnr/core/place/start_wish.h"
#include "bnr/io/amend.h"
#include "bnr/io/place.h"
#include "bnr/stdio/prefix.h"
#include "bnr/launch/launch.h"
#include "os/log.h"

static void lists_have_ranks(void **state)
{
    static const struct {
        const char *list;
        unsigned ranks; /* of the first eight */
    } rows[] = {{"0", 1},       {"0,2-5", 0x3d}, {"all", 0xff}, {"-1", 0xff}, {"all!", 0xff},
                {"3-9!", 0xf8}, {"7,1", 0x82},   {"8", 0},      {"", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int r = 0; r < 8; r++)
            if (amend_lists(rows[i].list, r) != (rows[i].ranks >> r & 1))
                fail_msg("'%s' and %d", rows[i].list, r);
}

static void join(char *const *words, char *text)
{
    *text = 0;
    for (; *words; words++)
        sprintf(text + strlen(text), "%s%s", *text ? " " : "", *words);
}

static void starts_are_amended(void **state)
{
    static const struct {
        struct start_wish wish;
        int rank, local;
        const char *path, *argv, *envp;
    } rows[] = {
        {{.map = PLACEMENT_SLOT}, 1, 1, "/bin/true", "true x", "A=1 CUDA_VISIBLE_DEVICES=7"},
        {{.names_ranks = true}, 3, 0, "/bin/true", "true-3 x", "A=1 CUDA_VISIBLE_DEVICES=7"},
        {{.debugs = true}, 3, 0, "/sh", "gdb -q --args /bin/true x", "A=1 CUDA_VISIBLE_DEVICES=7"},
        {{.xterm = "1-2!"},
         2,
         0,
         "/sh",
         "xterm -T rank 2 -hold -e /bin/true x",
         "A=1 CUDA_VISIBLE_DEVICES=7"},
        {{.xterm = "1-2"}, 3, 0, "/bin/true", "true x", "A=1 CUDA_VISIBLE_DEVICES=7"},
        {{.limits_gpus = true, .gpus = 2},
         5,
         1,
         "/bin/true",
         "true x",
         "A=1 CUDA_VISIBLE_DEVICES=2,3 HIP_VISIBLE_DEVICES=2,3 ZE_AFFINITY_MASK=2,3"},
        {{.limits_gpus = true, .gpus = 0},
         5,
         1,
         "/bin/true",
         "true x",
         "A=1 CUDA_VISIBLE_DEVICES= HIP_VISIBLE_DEVICES= ZE_AFFINITY_MASK="},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *argv[] = {"true", "x", NULL}, *envp[] = {"A=1", "CUDA_VISIBLE_DEVICES=7", NULL};
        char around[] = "/sh", text[512];
        struct place place = {0};
        struct amend a = {.wish = &rows[i].wish, .place = &place, .path = around};
        struct launch l = {.path = "/bin/true", .argv = argv, .envp = envp};
        assert_int_equal(amend_launch(&a, rows[i].rank, rows[i].local, &l), 0);
        assert_string_equal(l.path, rows[i].path);
        join(l.argv, text);
        assert_string_equal(text, rows[i].argv);
        join(l.envp, text);
        assert_string_equal(text, rows[i].envp);
        assert_null(l.binding.cpus);
        a.path = NULL;
        amend_fini(&a);
    }
}

/* A command runs the program, within a window or debugger. */
static void agents_run_programs(void **state)
{
    const struct start_wish wishes[] = {{.agent = "env  -i"},
                                        {.agent = "env -i", .xterm = "1"},
                                        {.agent = "env -i", .xterm = "2"}};
    static const char *const words[] = {"%s -i /bin/true x", "xterm -T rank 1 -e %s -i /bin/true x",
                                        "%s -i /bin/true x"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *argv[] = {"true", "x", NULL}, why[512], text[512], wanted[512], window[] = "/xterm";
        struct start_wish wish = wishes[i];
        struct place place = {0};
        struct amend a;
        wish.xterm = NULL; /* there may be none here */
        assert_int_equal(amend_prepare(&a, &wish, &place, why), 0);
        wish.xterm = wishes[i].xterm;
        a.path = window;
        struct launch l = {.path = "/bin/true", .argv = argv};
        assert_int_equal(amend_launch(&a, 1, 0, &l), 0);
        assert_string_equal(l.path, i == 1 ? window : a.agent_path);
        snprintf(wanted, sizeof(wanted), words[i], a.agent_path);
        join(l.argv, text);
        assert_string_equal(text, wanted);
        assert_true(strstr(a.agent_path, "/env") && !access(a.agent_path, X_OK));
        a.path = NULL;
        amend_fini(&a);
    }
}

static void lines_begin_by_a_pattern(void **state)
{
    static const struct {
        const char *pattern;
        int label;
        bool is_rest;
        const char *text;
    } rows[] = {
        {"[%r] ", 3, false, "[3] "},   {"[%r] ", 15, false, "[3] "}, {"[%r] ", 3, true, "[3]+ "},
        {"%R:", 3, true, "03:+"},      {"%s ", 3, false, "stdout "}, {"%s ", 15, false, "stderr "},
        {"%g%p%% ", 3, false, "00% "}, {"", 3, false, ""},           {"", 3, true, "+"},
        {"   ", 3, true, "+   "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct prefix p = {rows[i].pattern, 12, NULL};
        char text[256];
        prefix_write(&p, rows[i].label, rows[i].is_rest, text, sizeof(text));
        assert_string_equal(text, rows[i].text);
        assert_true(prefix_is_good(rows[i].pattern));
    }
    assert_false(prefix_is_good("%"));
    assert_false(prefix_is_good("a %r %x"));
}

static void the_host_and_the_time_are_there(void **state)
{
    struct prefix p = {"%h|%T", 12, NULL};
    char text[256], small[8];
    (void)state;
    prefix_write(&p, 0, false, text, sizeof(text));
    size_t len = strlen(os_host_name());
    assert_int_equal(strncmp(text, os_host_name(), len), 0);
    assert_int_equal(strlen(text), len + 1 + strlen("2026-03-01 14:05:09"));
    p.pattern = "a long one %r";
    prefix_write(&p, 0, true, small, sizeof(small));
    assert_true(strlen(small) < sizeof(small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_ranks),
        cmocka_unit_test(starts_are_amended),
        cmocka_unit_test(agents_run_programs),
        cmocka_unit_test(lines_begin_by_a_pattern),
        cmocka_unit_test(the_host_and_the_time_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
