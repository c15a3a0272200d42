/* SPDX-License-Identifier: BSD-3-Clause */

/* The distance of two words; see nearest.h. */
#include "os/nearest.h"

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* One row of the table of prefixes' distances at a time: row[j] is that of the first i
 * characters of a and the first j of b. */
int os_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int row[OS_NEAREST_LEN + 1];
    if (a_len > OS_NEAREST_LEN || b_len > OS_NEAREST_LEN)
        return OS_NEAREST_FAR;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= a_len; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_len; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[b_len];
}
