/* SPDX-License-Identifier: BSD-3-Clause */

/* Whom a job ends where processes that live have lost each other; see parted.h. */

#include <stdlib.h>

#include "mpid/peers/parted.h"

static int compare(const void *left, const void *right)
{
    const struct parted_pair *a = left, *b = right;
    if (a->by != b->by)
        return a->by < b->by ? -1 : 1;
    return a->of == b->of ? 0 : a->of < b->of ? -1 : 1;
}

static bool has(const struct parted_pair *pairs, size_t count, struct parted_pair pair)
{
    return bsearch(&pair, pairs, count, sizeof(*pairs), compare) != NULL;
}

/* Sort, and leave each once. */
static size_t tidy(struct parted_pair *pairs, size_t count)
{
    size_t left = 0;
    qsort(pairs, count, sizeof(*pairs), compare);
    for (size_t i = 0; i < count; i++)
        if (!left || compare(&pairs[i], &pairs[left - 1]))
            pairs[left++] = pairs[i];
    return left;
}

/* What is known of a rank. */
struct parted_mark {
    uint32_t pairs; /* that are left of it */
    bool complains;
};

/* Whether a is to end rather than b, a lower rank. */
static bool comes_first(const struct parted_mark *a, const struct parted_mark *b)
{
    if (a->pairs != b->pairs)
        return a->pairs > b->pairs;
    return b->complains || !a->complains;
}

/* Of two complaints by both of a pair, one counts. */
static void count_pairs(struct parted_mark *marks, const struct parted_pair *pairs, size_t count, const bool *is_out)
{
    for (size_t i = 0; i < count; i++) {
        struct parted_pair pair = pairs[i], back = {pair.of, pair.by};
        bool is_second = pair.by > pair.of && has(pairs, count, back);
        if (is_second || is_out[pair.by] || is_out[pair.of])
            continue;
        marks[pair.by].pairs++;
        marks[pair.of].pairs++;
    }
}

size_t parted_choose(struct parted_pair *pairs, size_t count, uint32_t size, bool *is_out)
{
    struct parted_mark *marks = calloc(size, sizeof(*marks));
    size_t chosen = 0;
    count = marks ? tidy(pairs, count) : 0;
    for (size_t i = 0; i < count; i++)
        marks[pairs[i].by].complains = true;
    while (count) {
        uint32_t most = 0;
        for (uint32_t i = 0; i < size; i++)
            marks[i].pairs = 0;
        count_pairs(marks, pairs, count, is_out);
        for (uint32_t i = 1; i < size; i++)
            if (comes_first(&marks[i], &marks[most]))
                most = i;
        if (!marks[most].pairs)
            break;
        is_out[most] = true;
        chosen++;
    }
    free(marks);
    return chosen;
}
