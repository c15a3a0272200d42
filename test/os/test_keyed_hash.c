/* SPDX-License-Identifier: BSD-3-Clause */

/* The keyed hash has the values that its authors published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/keyed_hash.h"

/* The key is 0, 1, ... 15, the text 0, 1, ... len - 1. */
static void it_has_the_published_values(void **state)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } rows[] = {
        {0, 0x726fdb47dd0e0e31u},  {1, 0x74f839c593dc67fdu},  {2, 0x0d6c8009d9a94f5au},
        {3, 0x85676696d7fb7e2du},  {7, 0xab0200f58b01d137u},  {8, 0x93f5f5799a932462u},
        {15, 0xa129ca6149be45e5u}, {63, 0x958a324ceb064572u},
    };
    uint8_t key[16], text[64];
    for (int i = 0; i < 64; i++)
        text[i] = (uint8_t)i;
    memcpy(key, text, sizeof(key));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_true(os_keyed_hash(key, text, rows[i].len) == rows[i].hash);
    key[3] ^= 1;
    assert_false(os_keyed_hash(key, text, 15) == rows[6].hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_the_published_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
