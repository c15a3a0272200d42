/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of ports, the words that are said there, and introductions. */
#include "os/net/port_name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mpi/make/introduction.h"

static const char good[] = "vireo1.000102030405060708090a0b0c0d0e0f.4711@10.1.2.3,fd00::7";

static void test_name(void **state)
{
    struct os_port_name name;
    char text[OS_PORT_TEXT];
    (void)state;
    assert_int_equal(os_port_name_read(&name, good), 0);
    assert_int_equal(name.port, 4711);
    assert_int_equal(name.count, 2);
    assert_int_equal(name.secret[15], 15);
    assert_int_equal(name.address[0].v4.sin_port, htons(4711));
    assert_int_equal(name.address[1].any.sa_family, AF_INET6);
    os_port_name_print(&name, text);
    assert_string_equal(text, good);
}

static void test_wrong_names(void **state)
{
    static const char *const wrong[] = {
        "", "vireo1.", "vireo2.000102030405060708090a0b0c0d0e0f.4711@10.1.2.3",
        "vireo1.000102030405060708090a0b0c0d0e0.4711@10.1.2.3",
        "vireo1.000102030405060708090A0B0C0D0E0F.4711@10.1.2.3",
        "vireo1.000102030405060708090a0b0c0d0e0f.0@10.1.2.3",
        "vireo1.000102030405060708090a0b0c0d0e0f.65536@10.1.2.3",
        "vireo1.000102030405060708090a0b0c0d0e0f.-1@10.1.2.3",
        "vireo1.000102030405060708090a0b0c0d0e0f. 1@10.1.2.3",
        "vireo1.000102030405060708090a0b0c0d0e0f.4711@",
        "vireo1.000102030405060708090a0b0c0d0e0f.4711@10.1.2.3,",
        "vireo1.000102030405060708090a0b0c0d0e0f.4711@10.1.2.3,host",
        "vireo1.000102030405060708090a0b0c0d0e0f.4711@1.1.1.1,::,::,::,::,::,::,::,::,::,::,::,::"};
    struct os_port_name name;
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(os_port_name_read(&name, wrong[i]), -EINVAL);
}

/* Addresses without room are left out, and the rest is a name. */
static void test_long_name(void **state)
{
    struct os_port_name name, again;
    char text[OS_PORT_TEXT];
    (void)state;
    assert_int_equal(os_port_name_read(&name, good), 0);
    name.count = OS_PORT_ADDRESSES;
    for (int i = 0; i < name.count; i++)
        memset(&name.address[i].v6.sin6_addr, 0xa0 + i, 16), name.address[i].v6.sin6_family = AF_INET6;
    os_port_name_print(&name, text);
    assert_int_equal(os_port_name_read(&again, text), 0);
    assert_int_equal(again.count, OS_PORT_ADDRESSES);
}

static void test_words(void **state)
{
    static const uint8_t secret[16] = "0123456789abcde", other[16] = "0123456789abcdf";
    struct os_port_talk caller = {.caller = "caller's nonce.", .owner = {0}}, owner = {.owner = "owner's nonce..", .caller = {0}};
    uint8_t hello[OS_PORT_WORD], answer[OS_PORT_WORD], proof[OS_PORT_WORD];
    (void)state;
    os_port_hello_put(hello, &caller);
    assert_true(os_port_hello_get(hello, &owner));
    os_port_answer_put(answer, &owner, secret);
    assert_true(os_port_answer_get(answer, &caller, secret));
    os_port_proof_put(proof, &caller, secret);
    assert_true(os_port_proof_get(proof, &owner, secret));
    assert_false(os_port_proof_get(proof, &owner, other));
    assert_false(os_port_answer_get(answer, &caller, other));
    uint8_t welcome[OS_PORT_WORD];
    os_port_welcome_put(welcome, &owner, secret);
    assert_true(os_port_welcome_get(welcome, &caller, secret));
    assert_false(os_port_welcome_get(welcome, &caller, other));
    assert_false(os_port_welcome_get(proof, &caller, secret));
    /* What was overheard fits no other conversation. */
    struct os_port_talk next = owner;
    next.owner[3] ^= 1;
    assert_false(os_port_proof_get(proof, &next, secret));
    /* Nor is the owner's proof the caller's. */
    uint8_t turned[OS_PORT_WORD] = {0};
    memcpy(turned, answer + OS_PORT_NONCE, 8);
    assert_false(os_port_proof_get(turned, &owner, secret));
    hello[0] ^= 1;
    assert_false(os_port_hello_get(hello, &owner));
}

static void test_introduction(void **state)
{
    const struct mpid_introduction who = {.gid = {"group"}, .rank = 7, .key = "key", .card = "a card", .host = "host"};
    struct mpid_introduction back;
    uint8_t bytes[200] = {0};
    size_t size = introduction_size(&who);
    (void)state;
    assert_int_equal(size, INTRODUCTION_MIN + 10);
    introduction_put(bytes, &who);
    assert_int_equal(introduction_get(bytes, sizeof(bytes), &back), 0);
    assert_int_equal(back.rank, 7);
    assert_string_equal(back.card, "a card");
    assert_string_equal(back.host, "host");
    introduction_free(&back);
    assert_int_equal(introduction_get(bytes, size - 1, &back), -EPROTO);
    bytes[INTRODUCTION_MIN + 2] = 0;
    assert_int_equal(introduction_get(bytes, size, &back), -EPROTO);
    bytes[16 + 16 + 4] = 0xff;
    assert_int_equal(introduction_get(bytes, size, &back), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name),  cmocka_unit_test(test_wrong_names),  cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_words), cmocka_unit_test(test_introduction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
