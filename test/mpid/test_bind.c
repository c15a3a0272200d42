/* SPDX-License-Identifier: BSD-3-Clause */

/* Cards and the choice of a channel, as tables; hostile cards. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpid/ground/bind.h"

/* Two toy channels: near needs equal parameters, far takes anybody. */
static struct chan_verdict match_near(const char *mine, const char *theirs)
{
    if (strcmp(mine, theirs))
        return (struct chan_verdict){CHAN_NO, 0, "other host"};
    return (struct chan_verdict){CHAN_YES, 80, NULL};
}

static struct chan_verdict match_far(const char *mine, const char *theirs)
{
    (void)mine;
    (void)theirs;
    return (struct chan_verdict){CHAN_MAYBE, 20, NULL};
}

static const struct chan_ops near = {.name = "near", .match = match_near};
static const struct chan_ops far = {.name = "far", .match = match_far};
static const struct chan_ops *const table[] = {&far, &near};

struct input {
    const char *near, *far; /* parameters, or NULL: not open */
};

static void make(char *card, struct input in)
{
    assert_int_equal(card_start(card, CARD_MAX), 0);
    if (in.near)
        assert_int_equal(card_add(card, CARD_MAX, "near", in.near), 0);
    if (in.far)
        assert_int_equal(card_add(card, CARD_MAX, "far", in.far), 0);
}

static void chooses_the_best_common_channel(void **state)
{
    static const struct {
        struct input mine, theirs;
        int rc, first, count;
        const char *claim;
    } cases[] = {
        {{"h1", "a"}, {"h1", "b"}, 0, 1, 2, "same host takes the near channel"},
        {{"h1", "a"}, {"h2", "b"}, 0, 0, 1, "another host takes the far one"},
        {{NULL, "a"}, {"h1", "b"}, 0, 0, 1, "a channel that I lack is skipped"},
        {{"h1", "a"}, {"h1", NULL}, 0, 1, 1, "a channel that the peer lacks is skipped"},
        {{"h1", NULL}, {"h2", "b"}, -EHOSTUNREACH, 0, 0, "no common channel fails"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char mine[CARD_MAX], theirs[CARD_MAX];
        struct bind_choice choice, mirror;
        print_message("%s\n", cases[i].claim);
        make(mine, cases[i].mine);
        make(theirs, cases[i].theirs);
        assert_int_equal(bind_choose(mine, theirs, table, 2, &choice), cases[i].rc);
        assert_int_equal(choice.count, cases[i].count);
        if (choice.count)
            assert_int_equal(choice.candidate[0], cases[i].first);
        bind_choose(theirs, mine, table, 2, &mirror);
        assert_int_equal(mirror.count, choice.count);
        assert_memory_equal(mirror.candidate, choice.candidate, sizeof(choice.candidate));
    }
}

static void says_why_not(void **state)
{
    char mine[CARD_MAX], theirs[CARD_MAX];
    struct bind_choice choice;
    (void)state;
    make(mine, (struct input){"h1", NULL});
    make(theirs, (struct input){"h2", "b"});
    bind_choose(mine, theirs, table, 2, &choice);
    assert_string_equal(choice.verdict[0].why, "not open here");
    assert_string_equal(choice.verdict[1].why, "other host");
    bind_choose(mine, "vireo2;arch=be16;near(h1)", table, 2, &choice);
    assert_string_equal(choice.verdict[1].why, "another architecture");
}

static void finds_whole_names_only(void **state)
{
    char card[CARD_MAX], params[CHAN_CARD_MAX];
    (void)state;
    assert_int_equal(card_start(card, CARD_MAX), 0);
    assert_int_equal(card_add(card, CARD_MAX, "via_rdma", "x=1"), 0);
    assert_int_equal(card_find(card, "via", params), -ENOENT);
    assert_int_equal(card_find(card, "via_rdma", params), 0);
    assert_string_equal(params, "x=1");
}

static void stands_hostile_cards(void **state)
{
    static const char *const cards[] = {
        "",          "vireo2",          "vireo2;arch=",      "vireo2;arch=;near",
        "vireo2;arch=le64;near(",       "vireo2;arch=le64;)", "vireo2;arch=le64;near()x",
        "vireo2;arch=le64;;;;",         "vireo2;arch=le64;(near)", "bnr1;arch=le64;near(h1)",
        "vireo2;arch=le64;near(h1",     "vireo2;arch=le64;n;e;a;r(h1)"};
    char params[CHAN_CARD_MAX], huge[CARD_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
        assert_true(card_find(cards[i], "near", params) < 0);
    memset(huge, 'a', sizeof(huge));
    memcpy(huge, "vireo2;arch=le64;near(", 22);
    memcpy(huge + sizeof(huge) - 2, ")", 2);
    assert_int_equal(card_find(huge, "near", params), -EINVAL);
    srand(1);
    for (int i = 0; i < 200000; i++) { /* any bytes */
        char card[64] = "vireo2;arch=le64;";
        for (int k = 17; k < 63; k++)
            card[k] = "near();=,\0x%"[rand() % 12];
        card[63] = 0;
        (void)card_find(card, "near", params);
    }
}

/* A card of another machine: the same but for its long double. */
static void long_double_is_told(void **state)
{
    static const char *const others[] = {"x87", "binary128", "ibm128", "binary64", "", "x", "x8", "x877"};
    char card[CARD_MAX], other[CARD_MAX], own[CHAN_CARD_MAX];
    struct bind_choice choice;
    int differ = 0;
    (void)state;
    make(card, (struct input){"a", "b"});
    assert_int_equal(card_find(card, "ld", own), 0);
    assert_false(card_has_other_long_double(card));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        size_t arch = strcspn(card, ";") + 1 + strcspn(strchr(card, ';') + 1, ";");
        const char *rest = card + arch + strlen(";ld()") + strlen(own);
        snprintf(other, sizeof(other), "%.*s;ld(%s)%s", (int)arch, card, others[i], rest);
        assert_int_equal(card_has_other_long_double(other), strcmp(others[i], own) != 0);
        differ += card_has_other_long_double(other);
        assert_int_equal(bind_choose(card, other, table, 2, &choice), 0); /* other types go as always */
    }
    assert_true(differ >= 6);
    assert_true(card_has_other_long_double("vireo2;arch=le64"));
    assert_true(card_has_other_long_double(""));
}

/* Between the two byte orders only a channel that turns heads leads, and only in a job of network order. */
static void orders_meet_in_network_order_alone(void **state)
{
    static const struct chan_ops turning = {.name = "far", .match = match_far, .turns = true};
    static const struct chan_ops *const channels[] = {&turning, &near};
    static const struct {
        const char *mine, *theirs; /* behind the channels */
        int rc;
    } cases[] = {
        {";equal(byte_order=network)", ";equal(byte_order=network)", 0},
        {";equal(eager_credit=1,byte_order=network)", ";equal(eager_credit=1,byte_order=network)", 0},
        {"", "", -EHOSTUNREACH},
        {";equal(byte_order=network)", "", -EHOSTUNREACH},
        {"", ";equal(byte_order=network)", -EHOSTUNREACH},
    };
    char mine[CARD_MAX], theirs[CARD_MAX], other[CARD_MAX];
    struct bind_choice choice;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make(mine, (struct input){"h", "a"});
        make(other, (struct input){"h", "a"});
        assert_false(card_has_other_order(other));
        other[strlen("vireo2;arch=")] ^= 'l' ^ 'b';
        assert_true(card_has_other_order(other));
        strcat(mine, cases[i].mine);
        snprintf(theirs, sizeof(theirs), "%s%s", other, cases[i].theirs);
        assert_int_equal(bind_choose(mine, theirs, channels, 2, &choice), cases[i].rc);
        assert_int_equal(choice.count, !cases[i].rc);
        assert_string_equal(choice.verdict[1].why, "the other byte order"); /* the near one never leads there */
        assert_int_equal(bind_choose(mine, theirs, table, 2, &choice), -EHOSTUNREACH);
    }
    static const char *const none[] = {"", "vireo2;arch=", "vireo2;arch=l", "vireo2;arch=xe64", "vireo2;arch=be32;",
                                       "vireo2;arch=be6", "vireo2;arch=be641", "vireo2;arch=bx64"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(card_has_other_order(none[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_the_best_common_channel),
        cmocka_unit_test(says_why_not),
        cmocka_unit_test(finds_whole_names_only),
        cmocka_unit_test(stands_hostile_cards),
        cmocka_unit_test(long_double_is_told),
        cmocka_unit_test(orders_meet_in_network_order_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
