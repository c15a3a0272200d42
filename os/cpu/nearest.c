/* SPDX-License-Identifier: BSD-3-Clause */

/* The distance of two words; see nearest.h. */
#include "os/cpu/nearest.h"

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Rows of the table of prefixes' distances: now[j] is that of the first i characters of a and the
 * first j of b; before and long_before are the two rows above it. */
int os_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int rows[3][OS_NEAREST_LEN + 1] = {{0}};
    if (a_len > OS_NEAREST_LEN || b_len > OS_NEAREST_LEN)
        return OS_NEAREST_FAR;
    for (size_t i = 0; i <= a_len; i++) {
        const int *before = rows[(i + 2) % 3], *long_before = rows[(i + 1) % 3];
        int *now = rows[i % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= b_len; j++) {
            if (!i) {
                now[j] = (int)j;
                continue;
            }
            now[j] = least(before[j - 1] + (a[i - 1] != b[j - 1]), before[j] + 1, now[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], long_before[j - 2] + 1, now[j]);
        }
    }
    return rows[a_len % 3][b_len];
}

bool os_nearest_is_near(int distance, size_t a_len, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    if (len < 3) /* most words of two letters differ by one from each other */
        return distance <= (a_len != b_len);
    return distance <= (len < 5 ? 1 : len < 9 ? 2 : 3);
}
