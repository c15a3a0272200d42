/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A search through the divisors, from the least factor to the greatest, best first: each factor
 * begins at the root of the remaining number, and goes down. The best result so far bounds the
 * greatest factor of all later ones, and so bounds the factor at hand from below. See topo_dims.h.
 */
#include "mpi/topo/topo_dims.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    DIVISORS = 1600, /* the most divisors of a number of 31 bits: 2095133040 has 1600 */
    FACTORS = 31     /* the most factors greater than 1 of a number of 31 bits */
};

struct dims_search {
    int count; /* of factors */
    int divisors;
    int64_t spread;    /* of the best way so far: greatest minus least factor */
    int primes;        /* different ones */
    int prime_list[9]; /* ascending; the product of the first ten is too large */
    int now[FACTORS];  /* the least first */
    int best[FACTORS];
    int divisor[DIVISORS]; /* ascending */
};

/* Whether base to the power of exponent is at least n. */
static int reaches(int64_t base, int exponent, int64_t n)
{
    int64_t power = 1;
    for (int i = 0; i < exponent && power < n; i++) {
        if (base <= 1)
            return n <= 1;
        power *= base; /* below 2^31 * 2^31 */
    }
    return power >= n;
}

/* All products of the divisors so far and the powers of a prime, in order. */
static void add_prime(struct dims_search *s, int prime, int times)
{
    int old = s->divisors;
    for (int i = 0; i < old * times; i++)
        s->divisor[old + i] = s->divisor[i] * prime;
    s->divisors += old * times;
    s->prime_list[s->primes++] = prime;
}

static void sort(int *list, int count)
{
    for (int gap = count / 2; gap; gap /= 2)
        for (int i = gap; i < count; i++) {
            int value = list[i], j = i;
            for (; j >= gap && list[j - gap] > value; j -= gap)
                list[j] = list[j - gap];
            list[j] = value;
        }
}

static void find_divisors(struct dims_search *s, int n)
{
    s->divisors = 1;
    s->divisor[0] = 1;
    for (int p = 2; p <= n / p; p += 1 + (p > 2)) {
        int times = 0;
        for (; n % p == 0; n /= p)
            times++;
        if (times)
            add_prime(s, p, times);
    }
    if (n > 1)
        add_prime(s, n, 1);
    sort(s->divisor, s->divisors);
}

/* Index of the greatest divisor whose power is at most n. */
static int root(const struct dims_search *s, int exponent, int64_t n)
{
    int low = 0, high = s->divisors; /* 1 is one */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (reaches(s->divisor[middle], exponent, n + 1))
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* Whether rest may have so many factors of at least least: a prime below that is no factor by
 * itself. */
static bool has_primes(const struct dims_search *s, int factors, int64_t rest, int least)
{
    int alone = 0, others = 0;
    for (int i = 0; i < s->primes; i++)
        for (; rest % s->prime_list[i] == 0; rest /= s->prime_list[i]) {
            if (s->prime_list[i] < least)
                others++;
            else
                alone++;
        }
    return least <= 1 || alone + others / 2 >= factors;
}

static void found(struct dims_search *s)
{
    memcpy(s->best, s->now, sizeof(s->best));
    s->spread = s->now[s->count - 1] - s->now[0];
}

/* Find the factors from the done-th on; rest is their product. */
static void descend(struct dims_search *s, int done, int64_t rest)
{
    int left = s->count - done, least = done ? s->now[done - 1] : 1;
    int prime =
        s->primes ? s->prime_list[s->primes - 1] : 1; /* the greatest factor is at least as large */
    if (left == 1) {
        s->now[done] = (int)rest;
        if (rest - s->now[0] < s->spread)
            found(s);
        return;
    }
    for (int i = root(s, left, rest); i >= 0 && s->divisor[i] >= least; i--) {
        int64_t factor = s->divisor[i], first = done ? s->now[0] : factor;
        int64_t most = first + s->spread - 1; /* a better way has no greater factor */
        if (most < prime || !reaches(most, left - 1, (rest + factor - 1) / factor))
            break; /* nor with a smaller factor here */
        if (rest % factor || !has_primes(s, left - 1, rest / factor, (int)factor))
            continue;
        s->now[done] = (int)factor;
        descend(s, done + 1, rest / factor);
    }
}

void topo_dims_balance(int n, int count, int *factors)
{
    struct dims_search s = {.count = count < FACTORS ? count : FACTORS, .spread = INT32_MAX};
    find_divisors(&s, n);
    descend(&s, 0, n);
    for (int i = 0; i < count; i++)
        factors[i] = i < s.count ? s.best[s.count - 1 - i] : 1;
}
