/* SPDX-License-Identifier: BSD-3-Clause */

/* PMI-1 text: replies as Hydra 4.0.2 and Slurm 22.05 gave them, values of all lengths, and places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/client/pmi_wire.h"

static void test_fields(void **state)
{
    (void)state;
    static const char hydra[] = "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024";
    static const char slurm[] = "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024";
    char text[PMI_NAME];
    int n = 0;
    assert_true(pmi_is(hydra, "maxes") && pmi_is(slurm, "maxes"));
    assert_false(pmi_is(hydra, "max") || pmi_is(hydra, "maxes "));
    assert_true(pmi_number(hydra, "vallen_max", &n) && n == 1024);
    assert_true(pmi_number(slurm, "keylen_max", &n) && n == 64);
    assert_false(pmi_number(hydra, "len_max", &n));
    assert_true(pmi_number("cmd=universe_size size=-1", "size", &n) && n == -1);
    assert_true(pmi_text("cmd=my_kvsname kvsname=kvs_30816_0_1261617482_vm", "kvsname", text, sizeof(text)));
    assert_string_equal(text, "kvs_30816_0_1261617482_vm");
    assert_false(pmi_text("cmd=my_kvsname kvsname=long", "kvsname", text, 4));
    assert_true(pmi_text("cmd=get_result rc=0 value=(vector,(0,2,1))", "value", text, sizeof(text)));
    assert_string_equal(text, "(vector,(0,2,1))");
    assert_false(pmi_number("cmd=a rc=99999999999", "rc", &n) || pmi_number("cmd=a rc=", "rc", &n) ||
                 pmi_number("cmd=a rc=1x", "rc", &n));
}

static void test_outcomes(void **state)
{
    (void)state;
    assert_true(pmi_succeeded("cmd=barrier_out"));
    assert_true(pmi_succeeded("cmd=barrier_out rc=0"));
    assert_true(pmi_succeeded("cmd=get_result rc=0 msg=success value=w1"));
    assert_false(pmi_succeeded("cmd=get_result rc=-1 msg=key_k0_not_found value=unknown"));
    assert_false(pmi_succeeded("cmd=get_result rc=1"));
    assert_false(pmi_succeeded("cmd=publish_result info=fail"));
    assert_false(pmi_succeeded("cmd=publish_result info=ok rc=1")); /* Hydra 4.0 */
    assert_true(pmi_succeeded("cmd=publish_result info=ok"));
    assert_false(pmi_succeeded("cmd=x rc=zero"));
}

static void test_values(void **state)
{
    (void)state;
    unsigned char data[400], back[400];
    char text[600];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t len = 0; len < sizeof(data); len++) {
        size_t chars = pmi_encode(text, data, len);
        assert_int_equal(chars, strlen(text));
        assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), chars);
        assert_int_equal(pmi_decode(back, text, chars), len);
        assert_memory_equal(back, data, len);
    }
    assert_int_equal(pmi_decode(back, "AAA=", 4), -1);
    assert_int_equal(pmi_decode(back, "A", 1), -1);
    assert_int_equal(pmi_decode(back, "AB\0C", 4), -1);
}

/* A line with a full chunk is never longer than a manager reads at once. */
static void test_chunks(void **state)
{
    (void)state;
    char key[PMI_KEY], name[PMI_NAME], line[2 * PMI_LINE], data[PMI_LINE], value[2 * PMI_LINE];
    memset(data, 'x', sizeof(data));
    assert_true(pmi_chunk_key(key, 12, "card", 3));
    assert_string_equal(key, "v12.card.3");
    assert_false(pmi_chunk_key(key, 0, "a b", 0) || pmi_chunk_key(key, 0, "a=b", 0) || pmi_chunk_key(key, 0, "a;", 0));
    memset(name, 'k', 70);
    name[70] = 0;
    assert_false(pmi_chunk_key(key, 0, name, 0));
    for (size_t len = 1; len < PMI_NAME; len++) {
        memset(name, 'n', len);
        name[len] = 0;
        assert_true(pmi_chunk_key(key, 99999, "card", 17));
        size_t bytes = pmi_chunk_bytes(1024, name, key);
        assert_true(bytes > 500 && bytes < PMI_LINE);
        size_t chars = pmi_encode(value, data, bytes);
        assert_true(chars + PMI_CHUNK_HEAD <= 1023);
        int n = snprintf(line, sizeof(line), "cmd=put kvsname=%s key=%s value=%06x%s\n", name, key, 9u, value);
        assert_true(n <= PMI_LINE);
    }
    assert_int_equal(pmi_chunk_bytes(0, "a", "b"), 0);
    assert_int_equal(pmi_chunk_bytes(7, "a", "b"), 0);
}

static void check_mapping(const char *text, int size, const char *wanted)
{
    int node[16];
    char got[64] = "";
    if (pmi_mapping(text, size, node))
        for (int r = 0; r < size; r++)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d", node[r]);
    assert_string_equal(got, wanted);
}

static void test_places(void **state)
{
    (void)state;
    check_mapping("(vector,(0,1,1))", 4, "0000");
    check_mapping("(vector,(0,2,1))", 5, "01010");
    check_mapping("(vector,(0,2,2))", 6, "001100");
    check_mapping("(vector,(0,1,3),(1,2,1))", 5, "00012");
    check_mapping("(vector,(0,0,1))", 2, "");
    check_mapping("(vector,(0,1,0))", 2, "");
    check_mapping("(vector,)", 2, "");
    check_mapping("(vector,(0,1,1)", 2, "");
    check_mapping("(vector,(0,1,1))x", 2, "");
    check_mapping("(vector,(-1,1,1))", 2, "");
    check_mapping("(vector,(0,99999999999,1))", 2, "");
    check_mapping("", 2, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_outcomes), cmocka_unit_test(test_values),
        cmocka_unit_test(test_chunks), cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
