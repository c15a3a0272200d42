/* SPDX-License-Identifier: BSD-3-Clause */

/* The report's table: what each set of lines becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/diagnose/report.h"

enum {
    RANKS = 4
};

static const struct {
    const char *claim;
    const char *text[RANKS];
    const char *expect[4]; /* each must stand in the report; blanks count as one */
} cases[] = {
    {"all to all is one row",
     {"1\tshm\ttcp: slower\n2\tshm\ttcp: slower\n3\tshm\ttcp: slower\n",
      "0\tshm\ttcp: slower\n2\tshm\ttcp: slower\n3\tshm\ttcp: slower\n",
      "0\tshm\ttcp: slower\n1\tshm\ttcp: slower\n3\tshm\ttcp: slower\n",
      "0\tshm\ttcp: slower\n1\tshm\ttcp: slower\n2\tshm\ttcp: slower\n"},
     {"\n 0-3 each other shm tcp: slower\n"}},
    {"many to one is one row, and back another",
     {"1\tshm\t\n2\tshm\t\n3\tshm\t\n", "0\tshm\t\n", "0\tshm\t\n", "0\tshm\t\n"},
     {"\n 1-3 0 shm \n", "\n 0 1-3 shm \n"}},
    {"messages to oneself are one row",
     {"0\tloopback\t\n", "1\tloopback\t\n", "2\tloopback\t\n", "3\tloopback\t\n"},
     {"\n 0-3 itself loopback \n"}},
    {"pairs that differ are told apart",
     {"1\tshm\t\n2\ttcp\tshm: other host\n", "0\tshm\t\n", "0\ttcp\tshm: other host\n", ""},
     {"\n 0-1 each other shm \n", "\n 0,2 each other tcp shm: other host\n"}},
    {"each reason has a line",
     {"1\tshm\ttcp: slower; ofi: not built\n", "", "", ""},
     {"\n 0 1 shm tcp: slower\n ofi: not built\n"}},
    {"silent ranks are named",
     {"3\tshm\t\n", NULL, NULL, "0\tshm\t\n"},
     {"\n\n No report came from ranks 1-2: no connection, or no MPI_Finalize.\n\n",
      "\n 0,3 each other shm \n"}},
    {"lines that are none are counted",
     {"x\tshm\t\n4\tshm\t\n1\tshm\n\n-1\tshm\t\n99999999999\tshm\t\n1\tshm\t\n", "", "", ""},
     {"\n 0 1 shm \n", " 5 lines of"}},
    {"calls of collectives are told by algorithm",
     {"bcast\ttree\t3\nbarrier\ttree\t1\n", "bcast\ttree\t5\nbcast\tring\t1\n", "",
      "bcast\tring\tx\n"},
     {"\n barrier tree 1 1\n bcast ring 1 1\n bcast tree 2 3 to 5\n", " 1 lines of"}},
    {"unprintable bytes do not reach the terminal",
     {"1\ts\033[2Jhm\tbad\001\n", "", "", ""},
     {"s?[2Jhm bad?\n"}},
    {"a line twice counts once", {"1\tshm\t\n1\tshm\t", "", "", ""}, {"\n 0 1 shm \n"}},
    {"nothing sent is said, once",
     {NULL, NULL, NULL, NULL},
     {" 3 103 0-1\n\n No connections: no rank sent to another and reached MPI_Finalize.\n$"}},
    {"also where reports are empty",
     {"", "", NULL, ""},
     {" 3 103 0-1\n\n No connections: no rank"}},
};

/* Make runs of blanks one blank. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || to == text || to[-1] != ' ')
            *to++ = *from;
    *to = 0;
}

static void cases_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct report_rank ranks[RANKS] = {0};
        for (int r = 0; r < RANKS; r++)
            ranks[r] = (struct report_rank){.pid = 100 + r,
                                            .host = "here",
                                            .cpus = "0-1",
                                            .text = cases[i].text[r],
                                            .len = cases[i].text[r] ? strlen(cases[i].text[r]) : 0};
        char *text = report_format(ranks, RANKS);
        assert_non_null(text);
        squeeze(text);
        size_t len = strlen(text);
        text = realloc(text, len + 2);
        strcpy(text + len, "$"); /* the end */
        assert_non_null(strstr(text, "4 ranks on here"));
        assert_non_null(strstr(text, "\n 3 103 0-1\n"));
        for (int e = 0; e < 4 && cases[i].expect[e]; e++)
            if (!strstr(text, cases[i].expect[e]))
                fail_msg("%s: no \"%s\" in\n%s", cases[i].claim, cases[i].expect[e], text);
        free(text);
    }
}

static void several_hosts_have_a_column(void **state)
{
    (void)state;
    struct report_rank ranks[RANKS];
    for (int r = 0; r < RANKS; r++)
        ranks[r] =
            (struct report_rank){.pid = 100 + r, .host = r < 3 ? "here" : "there", .cpus = "0-1"};
    char *text = report_format(ranks, RANKS);
    assert_non_null(text);
    squeeze(text);
    assert_non_null(strstr(text, "Report: 4 ranks\n\n rank pid host processors\n"));
    assert_non_null(strstr(text, "\n 2 102 here 0-1\n 3 103 there 0-1\n"));
    free(text);
}

static void sentences_are_shown_once(void **state)
{
    static const char text[] = "note\tit is so\t1\nnote\tit is so\t1\n";
    struct report_rank ranks[RANKS];
    (void)state;
    for (int r = 0; r < RANKS; r++)
        ranks[r] = (struct report_rank){.pid = 1, .host = "here", .text = r ? text : NULL, .len = 18};
    char *all = report_format(ranks, RANKS);
    assert_non_null(all);
    assert_non_null(strstr(all, "  Rank 1 and 2 more: it is so\n"));
    free(all);
}

static void random_bytes_are_harmless(void **state)
{
    (void)state;
    srand(11);
    for (int i = 0; i < 300; i++) {
        char noise[RANKS][400];
        struct report_rank ranks[RANKS];
        for (int r = 0; r < RANKS; r++) {
            for (size_t j = 0; j < sizeof(noise[r]); j++)
                noise[r][j] = (char)(rand() % 3 ? "0123\t\t\n;"[rand() % 8] : rand() % 256);
            ranks[r] = (struct report_rank){
                .pid = 1, .host = "here", .cpus = "", .text = noise[r], .len = sizeof(noise[r])};
        }
        char *text = report_format(ranks, RANKS);
        assert_non_null(text);
        for (const char *c = text; *c; c++)
            assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_hold),
        cmocka_unit_test(several_hosts_have_a_column),
        cmocka_unit_test(sentences_are_shown_once),
        cmocka_unit_test(random_bytes_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
