/* SPDX-License-Identifier: BSD-3-Clause */

/* Orders to start jobs: the words of mpiexec, and the key soft. Info objects are a few pairs here. */
#include "mpi/dynamic/order.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "mpi/info.h"

struct info {
    const char *pairs[9]; /* key, value, ... NULL */
};

const char *info_get(const struct info *info, const char *key)
{
    for (int i = 0; info->pairs[i]; i += 2)
        if (!strcmp(info->pairs[i], key))
            return info->pairs[i + 1];
    return NULL;
}

void info_lock(const struct info *info)
{
    (void)info;
}

void info_unlock(const struct info *info)
{
    (void)info;
}

static int count(const char *soft, int max)
{
    const struct info info = {{"soft", soft, NULL}};
    return order_count(&info, max);
}

static void test_soft(void **state)
{
    (void)state;
    assert_int_equal(order_count(NULL, 5), 5);
    assert_int_equal(count("3", 5), 3);
    assert_int_equal(count("7", 5), -1);
    assert_int_equal(count("0:100", 5), 5);
    assert_int_equal(count("2:100:2", 5), 4);
    assert_int_equal(count("1,3,9", 8), 3);
    assert_int_equal(count("9:1:-3", 5), 3);
    assert_int_equal(count("0", 5), 0);
    assert_int_equal(count("1:2:0", 5), -1);
    assert_int_equal(count("x", 5), -1);
    assert_int_equal(count("1:", 5), -1);
    assert_int_equal(count("1 2", 5), -1);
    assert_int_equal(count("99999999999999999999", 5), -1);
}

static void test_keys(void **state)
{
    (void)state;
    assert_true(order_has_key("wdir") && order_has_key("add-host") && order_has_key("mapper") && order_has_key("file"));
    assert_false(order_has_key("arch") || order_has_key("wd ir") || order_has_key("") || order_has_key("host hosts"));
    assert_false(order_has_key("ost") || order_has_key("by"));
}

/* The words as one text. */
static void claim_words(const struct order *order, const char *all)
{
    char text[1000] = "";
    for (size_t i = 0; i < order->count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? "|" : "", order->words[i]);
    assert_string_equal(text, all);
}

static void test_words(void **state)
{
    char *words[] = {"a b", "-n", NULL};
    const struct info first = {{"wdir", "/tmp", "host", "a,b", NULL}};
    const struct info second = {{"wdir", "/", "env", "A=1\nwrong\nB=x y", "unknown", "1", NULL}};
    struct order order = {0};
    (void)state;
    order_add(&order, &(struct order_program){.command = "one", .argv = words, .info = &first}, 2);
    order_add(&order, &(struct order_program){.command = "two", .info = &second}, 1);
    assert_int_equal(order_end(&order), 0);
    claim_words(&order, "-host|a,b|-bind-to|none|-n|2|-wdir|/tmp|one|a b|-n|:|-n|1|-wdir|/|-x|A=1|-x|B=x y|two");
    order_free(&order);
}

static void test_flags(void **state)
{
    const struct info info = {{"wdir", "/", "pernode", "true", "npersocket", "2", "display_map", "TRUE", NULL}};
    const struct info none = {{"wdir", "/", "pernode", "false", "display_map", "0", NULL}};
    struct order order = {0};
    (void)state;
    order_add(&order, &(struct order_program){.command = "one", .info = &info}, 2);
    assert_int_equal(order_end(&order), 0);
    claim_words(&order, "-npersocket|2|-display-map|-n|2|-wdir|/|-npernode|1|one");
    order_free(&order);
    order = (struct order){0};
    order_add(&order, &(struct order_program){.command = "one", .info = &none}, 2);
    assert_int_equal(order_end(&order), 0);
    claim_words(&order, "-bind-to|none|-n|2|-wdir|/|one");
    order_free(&order);
}

static void test_refused(void **state)
{
    char *words[] = {":", NULL};
    const struct info info = {{"wdir", "/", "bind_to", "core", NULL}};
    struct order order = {0};
    (void)state;
    order_add(&order, &(struct order_program){.command = "one", .argv = words, .info = &info}, 1);
    assert_int_equal(order_end(&order), -EINVAL);
    assert_non_null(strstr(order.why, "':'"));
    order_free(&order);
    order = (struct order){0};
    order_add(&order, &(struct order_program){.command = "-n", .info = &info}, 1);
    assert_int_equal(order_end(&order), -EINVAL);
    order_free(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys), cmocka_unit_test(test_soft),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
