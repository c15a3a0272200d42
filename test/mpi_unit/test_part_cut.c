/* SPDX-License-Identifier: BSD-3-Clause */

/* How partitioned messages are cut: every cut holds every byte once, what is said is what is
 * heard, and no words of a peer make a cut that no sender makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mpi/request/part_cut.h"

struct claim {
    int partitions;
    uint64_t len;
    int group, chunks;
    const char *claim;
};

static const struct claim claims[] = {
    {0, 8, 1, 0, "nothing is no chunk"},
    {1, 0, 1, 1, "an empty partition is a chunk"},
    {10, 4, 1, 10, "a few small ones go alone"},
    {64, 1, 1, 64, "as many as there may be"},
    {65, 1, 2, 33, "one more, and two go together"},
    {1000, 8, 16, 63, "many small ones in groups"},
    {1000, 0, 16, 63, "empty ones too"},
    {1000, 65536, 1, 1000, "large ones go alone, however many"},
    {1000, 65535, 2, 500, "groups are no larger than makes them long"},
    {1000, 10000, 7, 143, "or as large as makes them long"},
    {INT32_MAX, 1, 65536, 32768, "the most there are"},
    {INT32_MAX, (uint64_t)1 << 31, 1, INT32_MAX, "and the longest"},
};

enum {
    CLAIMS = sizeof(claims) / sizeof(claims[0])
};

static void test_table(void **state)
{
    for (int i = 0; i < CLAIMS; i++) {
        struct part_cut cut, heard;
        int64_t words[PART_CUT_WORDS];
        int group = part_cut_make(&cut, claims[i].partitions, claims[i].len);
        if (group != claims[i].group || cut.chunks != claims[i].chunks)
            fail_msg("%s: %d chunks of %d", claims[i].claim, cut.chunks, group);
        assert_int_equal(cut.total, claims[i].len * (uint64_t)claims[i].partitions);
        cut.tag = INT32_MAX - cut.chunks;
        part_cut_say(&cut, words);
        if (!part_cut_hear(&heard, words))
            fail_msg("%s: it is not understood", claims[i].claim);
        assert_int_equal(heard.tag, cut.tag);
        assert_int_equal(heard.chunks, cut.chunks);
        assert_int_equal(heard.chunk_len, cut.chunk_len);
        assert_int_equal(heard.total, cut.total);
    }
}

/* The chunks of any bytes begin and end around them. */
static void test_find(void **state)
{
    srand(7);
    for (int round = 0; round < 20000; round++) {
        struct part_cut cut;
        int first = -1, end = -1;
        part_cut_make(&cut, 1 + rand() % 300, (uint64_t)(rand() % 3000));
        uint64_t start = cut.total ? (uint64_t)rand() % cut.total : 0,
                 len = (uint64_t)rand() % 9000;
        part_cut_find(&cut, start, len, &first, &end);
        assert_true(first >= 0 && first <= end && end <= cut.chunks);
        if (!len || !cut.total) {
            assert_true(first == 0 && end == cut.chunks);
            continue;
        }
        uint64_t last = start + len < cut.total ? start + len - 1 : cut.total - 1;
        assert_true((uint64_t)first * cut.chunk_len <= start);
        assert_true(((uint64_t)first + 1) * cut.chunk_len > start);
        assert_true(((uint64_t)end - 1) * cut.chunk_len <= last);
        assert_true((uint64_t)end * cut.chunk_len > last);
    }
}

static int64_t any_word(void)
{
    static const int64_t words[] = {0,
                                    1,
                                    -1,
                                    2,
                                    63,
                                    64,
                                    65,
                                    65535,
                                    65536,
                                    INT32_MAX,
                                    INT64_MAX,
                                    INT64_MIN,
                                    (int64_t)INT32_MAX + 1};
    if (rand() % 3)
        return words[(size_t)rand() % (sizeof(words) / sizeof(words[0]))];
    return rand() % 200000;
}

/* What is accepted keeps what part.h builds on: tags that exist, and bytes for every chunk. */
static void test_hostile(void **state)
{
    int accepted = 0;
    srand(8);
    for (int round = 0; round < 1000000; round++) {
        struct part_cut cut;
        int64_t words[PART_CUT_WORDS];
        for (int i = 0; i < PART_CUT_WORDS; i++)
            words[i] = any_word();
        if (!part_cut_hear(&cut, words))
            continue;
        accepted++;
        assert_true(cut.tag >= 0 && cut.chunks >= 0 && cut.chunks <= INT32_MAX - cut.tag);
        assert_true(cut.chunks <= PART_CHUNKS || cut.chunk_len >= PART_CHUNK_LEN);
        assert_true(cut.total <= INT64_MAX && cut.chunk_len <= INT64_MAX);
        if (cut.total)
            assert_true((uint64_t)(cut.chunks - 1) * cut.chunk_len < cut.total);
    }
    assert_true(accepted > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
