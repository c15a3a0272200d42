/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Answers of ranks about why they wait: any bytes. The report is made, is text for a terminal, and
 * is not much longer than what it was made from. The input is split at bytes of 0: an answer each.
 *
 * usage: fuzz_hang FILE...
 */
#include <ctype.h>

#include "diagnose/hang.h"
#include "diagnose/hang_text.h"
#include "test/fuzz/main.h"

enum {
    RANKS = 6
};

static struct hang_rank next_rank(const uint8_t **at, size_t *left, int number)
{
    struct hang_rank rank = {.state = DIAGNOSE_ANSWERED, .run_state = 'S', .wchan = "somewhere"};
    size_t len = strnlen((const char *)*at, *left);
    rank.text = (const char *)*at;
    rank.len = len;
    if (!len)
        rank.state = (enum diagnose_state) "SNFE"[number % 4];
    len += len < *left;
    *at += len;
    *left -= len;
    return rank;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct hang_rank ranks[RANKS];
    struct hang_answer answer;
    for (int i = 0; i < RANKS; i++)
        ranks[i] = next_rank(&bytes, &len, i);
    for (int i = 0; i < RANKS; i++) {
        struct memory memory = {0};
        hang_text_read(&answer, &memory, i, ranks[i].text, ranks[i].len);
        for (int t = 0; t < answer.thread_count; t++)
            require(answer.threads[t].first >= 0 &&
                        answer.threads[t].first + answer.threads[t].count <= answer.item_count,
                    "items out of bounds");
        memory_free(&memory);
    }
    struct hang_question question = {.ranks = ranks, .count = RANKS, .host = "host"};
    char *report = hang_format(&question);
    require(report != NULL, "no report");
    for (const char *c = report; *c; c++)
        require(*c == '\n' || isprint((unsigned char)*c), "a byte that is no text");
    free(report);
    return 0;
}
