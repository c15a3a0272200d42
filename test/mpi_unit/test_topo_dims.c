/* SPDX-License-Identifier: BSD-3-Clause */

/* The balancing of MPI_Dims_create: against all ways where they are few, and for time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "mpi/topo/topo_dims.h"

enum {
    MOST = 40
};

/* All ways to write rest with the factors from the i-th on, the greatest first. */
struct ways {
    int count;
    int now[MOST], best[MOST];
    bool any;
};

/* Whether a is the better way. */
static bool is_better(const int *a, const int *b, int count)
{
    int spread_a = a[0] - a[count - 1], spread_b = b[0] - b[count - 1];
    if (spread_a != spread_b)
        return spread_a < spread_b;
    for (int i = count - 1; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] > b[i];
    return false;
}

static void try_all(struct ways *w, int i, int rest, int most)
{
    if (i == w->count) {
        if (rest == 1 && (!w->any || is_better(w->now, w->best, w->count))) {
            memcpy(w->best, w->now, sizeof(w->best));
            w->any = true;
        }
        return;
    }
    for (int factor = 1; factor <= most && factor <= rest; factor++)
        if (rest % factor == 0) {
            w->now[i] = factor;
            try_all(w, i + 1, rest / factor, factor);
        }
}

static void test_all_ways(void **state)
{
    (void)state;
    for (int n = 1; n <= 720; n++)
        for (int count = 1; count <= 7; count++) {
            struct ways ways = {.count = count};
            int factors[MOST];
            try_all(&ways, 0, n, n);
            topo_dims_balance(n, count, factors);
            assert_memory_equal(factors, ways.best, (size_t)count * sizeof(*factors));
        }
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Returns the time. */
static int64_t balance(int n, int count)
{
    int factors[MOST];
    int64_t product = 1, start = now_ns();
    topo_dims_balance(n, count, factors);
    int64_t time = now_ns() - start;
    for (int i = 0; i < count; i++) {
        product *= factors[i];
        assert_true(i == 0 || factors[i] <= factors[i - 1]);
    }
    assert_int_equal(product, n);
    return time;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The best of three times, since others use the machine too. */
static void check_time(int n, int count)
{
    int64_t time = balance(n, count);
    for (int i = 0; i < 2 && time > 2000000; i++)
        time = least(time, balance(n, count));
    if (time > 10000000)
        fail_msg("%d in %d factors took %lld ns", n, count, (long long)time);
}

static void test_large(void **state)
{
    (void)state;
    static const int large[] = {
        INT32_MAX,              /* a prime */
        2095133040, 1396755360, /* most divisors */
        1 << 30,    1162261467,    1220703125,    223092870,  1929727800,
        1857492000, 46337 * 45360, 46337 * 46327, 1000000000, INT32_MAX - 1,
    };
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
        for (int count = 1; count <= MOST; count++)
            check_time(large[i], count);
}

/* Products of random small primes, as near to 2^31 as they go. */
static void test_random(void **state)
{
    (void)state;
    static const int primes[] = {2, 2, 2, 3, 3, 5, 5, 7, 7, 11, 13, 17, 19, 23, 29, 31, 37, 997};
    srand(1);
    for (int round = 0; round < 3000; round++) {
        int64_t n = 1;
        int kinds = 1 + rand() % (int)(sizeof(primes) / sizeof(primes[0]));
        for (int i = 0; i < 50; i++) {
            int prime = primes[rand() % kinds];
            n *= n * prime <= INT32_MAX ? prime : 1;
        }
        check_time((int)n, 2 + rand() % 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ways),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
