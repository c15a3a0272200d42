/* SPDX-License-Identifier: BSD-3-Clause */

/* Rings of letters in shared memory: bytes come as they were written, round the end too. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/host/mail.h"
#include "os/be.h"

static uint8_t memory[64];
static struct mail_words words;
static const struct mail ring = {&words, memory, sizeof(memory)};

static void begin(uint64_t count)
{
    atomic_store(&words.put, count);
    atomic_store(&words.taken, count);
}

static void bytes_come_in_order_round_the_end(void **state)
{
    unsigned seed = 3;
    uint8_t out[80], in[80], put = 0, taken = 0;
    begin(UINT64_MAX - 1000); /* the counts go round, too */
    for (int turn = 0; turn < 10000; turn++) {
        size_t len = (size_t)rand_r(&seed) % sizeof(out), waiting = (size_t)mail_waiting(&ring);
        for (size_t i = 0; i < len; i++)
            out[i] = (uint8_t)(put + i);
        long written = mail_write(&ring, out, len);
        assert_int_equal(written, len < 64 - waiting ? len : 64 - waiting);
        put = (uint8_t)(put + written);
        len = (size_t)rand_r(&seed) % sizeof(in);
        long read = mail_read(&ring, in, len);
        assert_true(read >= 0 && (size_t)read <= len);
        for (long i = 0; i < read; i++)
            assert_int_equal(in[i], taken++);
    }
    assert_int_equal((uint8_t)(put - taken), mail_waiting(&ring));
}

static void counts_that_do_not_fit_are_refused(void **state)
{
    uint8_t byte = 0;
    begin(0);
    atomic_store(&words.put, 65);
    assert_int_equal(mail_write(&ring, &byte, 1), -EPROTO);
    assert_int_equal(mail_read(&ring, &byte, 1), -EPROTO);
    atomic_store(&words.put, 0);
    atomic_store(&words.taken, 1);
    assert_int_equal(mail_write(&ring, &byte, 1), -EPROTO);
    assert_int_equal(mail_read(&ring, &byte, 1), -EPROTO);
}

static void numbers_are_in_network_order(void **state)
{
    uint8_t bytes[4];
    os_be32_put(bytes, 0x01020304);
    assert_memory_equal(bytes, "\1\2\3\4", 4);
    assert_int_equal(os_be32_get(bytes), 0x01020304);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_in_order_round_the_end),
        cmocka_unit_test(counts_that_do_not_fit_are_refused),
        cmocka_unit_test(numbers_are_in_network_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
