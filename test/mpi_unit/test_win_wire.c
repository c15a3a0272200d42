/* SPDX-License-Identifier: BSD-3-Clause */

/* Questions of windows in network byte order: their bytes, there and back, and any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/win/win_wire.h"
#include "os/turn.h"

/* An epoch with a put of two rows in it, and data, which stay. */
struct message {
    struct win_head epoch, put;
    struct win_run run;
    struct win_row row;
    uint8_t data[8];
};

static struct message make(void)
{
    return (struct message){{.ask = WIN_EPOCH, .op = 2, .tag = 0x01020304, .len = 72},
                            {.ask = WIN_PUT, .op = 3, .type = 9, .tag = 0, .runs = 2, .len = 8, .disp = -2, .bytes = 8},
                            {0x1112131415161718, 4 | WIN_ROW},
                            {16, 2},
                            "abcdefg"};
}

static void a_question_is_in_network_order(void **state)
{
    struct message m = make(), before = make();
    (void)state;
    win_wire_turn_question(&m, sizeof(m), true);
    assert_memory_equal(&m, &before, sizeof(m)); /* this job is of the host's order */
    os_turns = true;
    win_wire_turn_question(&m, sizeof(m), true);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    assert_memory_equal(&m.epoch, "\xa\2\0\0\1\2\3\4\0\0\0\0\0\0\0\x48", 16);
    assert_memory_equal(&m.put, "\1\3\x9\0\0\0\0\0\0\0\0\2\0\0\0\x8\xff\xff\xff\xff\xff\xff\xff\xfe\0\0\0\0\0\0\0\x8", 32);
    assert_memory_equal(&m.run, "\x11\x12\x13\x14\x15\x16\x17\x18\x80\0\0\0\0\0\0\4", 16);
    assert_memory_equal(&m.row, "\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\2", 16);
#endif
    assert_memory_equal(m.data, "abcdefg", 8);
    win_wire_turn_question(&m, sizeof(m), false);
    assert_memory_equal(&m, &before, sizeof(m));
    os_turns = false;
}

/* However many runs a head promises, nothing behind the message is touched. */
static void any_bytes_are_stood(void **state)
{
    (void)state;
    os_turns = true;
    srand(1);
    for (int i = 0; i < 20000; i++) {
        size_t len = (size_t)rand() % 128;
        unsigned char *bytes = malloc(len + 1);
        for (size_t k = 0; k < len; k++)
            bytes[k] = (unsigned char)(rand() % 5 ? rand() % 12 : rand());
        bytes[len] = 0x5a;
        win_wire_turn_question(bytes, len, rand() % 2);
        assert_int_equal(bytes[len], 0x5a);
        free(bytes);
    }
    os_turns = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_question_is_in_network_order),
                                       cmocka_unit_test(any_bytes_are_stood)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
