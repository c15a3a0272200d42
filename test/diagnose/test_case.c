/* SPDX-License-Identifier: BSD-3-Clause */

/* Cases from mpiexec: a whole one is read, and everything else refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/case.h"

static const char good[] = DIAGNOSE_HEAD "120 3\n17 (a b)\nnode7\n"
                                         "A 0 4711 6\nx\ny\n\tzE 256 0 0\nS 0 12 0\n";

static int read_copy(struct hang_case *input, char **copy, const char *text, size_t len)
{
    *copy = malloc(len + 1);
    assert_non_null(*copy);
    memcpy(*copy, text, len);
    (*copy)[len] = 0;
    return case_read(input, *copy, len);
}

static void whole(void **state)
{
    struct hang_case input;
    char *copy;
    (void)state;
    assert_int_equal(read_copy(&input, &copy, good, sizeof(good) - 1), 0);
    assert_int_equal(input.question.count, 3);
    assert_int_equal(input.question.took_ms, 120);
    assert_string_equal(input.question.job, "17 (a b)");
    assert_string_equal(input.question.host, "node7");
    assert_int_equal(input.ranks[0].state, DIAGNOSE_ANSWERED);
    assert_int_equal(input.ranks[0].pid, 4711);
    assert_int_equal(input.ranks[0].len, 6);
    assert_memory_equal(input.ranks[0].text, "x\ny\n\tz", 6);
    assert_int_equal(input.ranks[1].state, DIAGNOSE_ENDED);
    assert_int_equal(input.ranks[1].status, 256);
    assert_int_equal(input.ranks[2].state, DIAGNOSE_SILENT);
    case_free(&input);
    free(copy);
}

static void refused(const char *text, size_t len)
{
    struct hang_case input;
    char *copy;
    if (read_copy(&input, &copy, text, len) != -EPROTO)
        fail_msg("taken: %.*s", (int)len, text);
    assert_null(input.ranks);
    free(copy);
}

static void broken(void **state)
{
    static const char *const bad[] = {
        "",
        "vireo-case 2\n1 1\nj\nh\nE 0 0 0\n",
        DIAGNOSE_HEAD "1 0\nj\nh\n",
        DIAGNOSE_HEAD "1 -1\nj\nh\nE 0 0 0\n",
        DIAGNOSE_HEAD "1 99999999999999999999\nj\nh\nE 0 0 0\n",
        DIAGNOSE_HEAD "1 2000000000\nj\nh\nE 0 0 0\n",
        DIAGNOSE_HEAD "1 1 \nj\nh\nE 0 0 0\n",
        DIAGNOSE_HEAD "1 1\nj\nh\nZ 0 0 0\n",
        DIAGNOSE_HEAD "1 1\nj\nh\nE 0 3000000000 0\n",
        DIAGNOSE_HEAD "1 1\nj\nh\nE  0 0 0\n",
        DIAGNOSE_HEAD "1 1\nj\nh\nE 0 0 1\n",
        DIAGNOSE_HEAD "1 1\nj\nh\nE 0 0 9223372036854775807\n",
        DIAGNOSE_HEAD "1 1\nj\nh\nE 0 0 0\n\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refused(bad[i], strlen(bad[i]));
    for (size_t len = 0; len < sizeof(good) - 1; len++)
        refused(good, len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(broken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
