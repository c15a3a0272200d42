/* SPDX-License-Identifier: BSD-3-Clause */

/* The distance of words, and what is taken for a misspelling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "os/cpu/nearest.h"
#include "os/settings.h"

static void distances_are_counted(void **state)
{
    static const struct {
        const char *a, *b;
        int distance;
    } rows[] = {
        {"", "", 0},
        {"tcp", "tcp", 0},
        {"", "tcp", 3},
        {"tcp", "tpc", 1},
        {"form", "from", 1},
        {"ca", "abc", 3},
        {"chanels", "channels", 1},
        {"channnels", "channels", 1},
        {"log", "dog", 1},
        {"kitten", "sitting", 3},
        {"abc", "xyz", 3},
        {"timeot", "timeout", 1},
        {"a", "bbbbbb", 6},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *a = rows[i].a, *b = rows[i].b;
        assert_int_equal(os_nearest_distance(a, strlen(a), b, strlen(b)), rows[i].distance);
        assert_int_equal(os_nearest_distance(b, strlen(b), a, strlen(a)), rows[i].distance);
    }
    assert_int_equal(os_nearest_distance("abXX", 2, "abYYYY", 2), 0); /* bytes after are not read */
}

static void long_words_are_far(void **state)
{
    char text[OS_NEAREST_LEN + 1];
    memset(text, 'a', sizeof(text));
    assert_int_equal(os_nearest_distance(text, OS_NEAREST_LEN, text, OS_NEAREST_LEN), 0);
    assert_int_equal(os_nearest_distance(text, OS_NEAREST_LEN, text, 0), OS_NEAREST_LEN);
    assert_int_equal(os_nearest_distance(text, sizeof(text), text, 1), OS_NEAREST_FAR);
    assert_int_equal(os_nearest_distance(text, 1, text, sizeof(text)), OS_NEAREST_FAR);
}

static void settings_use_it(void **state)
{
    char why[256], name[200];
    assert_true(os_setting_check("chanels", "", why, sizeof(why)) < 0);
    assert_non_null(strstr(why, "did you mean 'channels'"));
    assert_true(os_setting_check("timeout", "", why, sizeof(why)) < 0);
    assert_null(strstr(why, "did you mean"));
    assert_non_null(strstr(why, "--help=settings"));
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    assert_true(os_setting_check(name, "", why, sizeof(why)) < 0);
    assert_null(strstr(why, "''"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_counted),
        cmocka_unit_test(long_words_are_far),
        cmocka_unit_test(settings_use_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
