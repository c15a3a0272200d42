/* SPDX-License-Identifier: BSD-3-Clause */

/* The hardware as text: it comes back as it was, and a text that is cut is refused. */
#include "bnr/launch/hardware_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hardware describe(void)
{
    struct hardware h = {.is_own = true};
    h.machine.lacks = 96;
    h.machine.count = 3;
    h.machine.cpus = h.cpus = calloc(3, sizeof(*h.cpus));
    for (uint32_t i = 0; i < 3; i++) {
        h.cpus[i].os_index = 7 * i;
        h.cpus[i].is_near = i == 1;
        for (uint32_t level = 0; level < PLACEMENT_NODE; level++)
            h.cpus[i].object[level] = 10 * i + level;
    }
    return h;
}

static char *text_of(const struct hardware *h, int rc, const char *why, size_t *len)
{
    char *text;
    FILE *to = open_memstream(&text, len);
    hardware_put(h, rc, why, to);
    assert_int_equal(fclose(to), 0);
    return text;
}

static int read_text(struct hardware *h, char *text, size_t len, char why[512])
{
    FILE *from = fmemopen(text, len, "r");
    int rc = hardware_get(h, from, why);
    fclose(from);
    return rc;
}

static void comes_back(void **state)
{
    struct hardware before = describe(), after;
    char why[512];
    size_t len;
    char *text = text_of(&before, 0, NULL, &len);
    (void)state;
    assert_int_equal(read_text(&after, text, len, why), 0);
    assert_true(after.is_own);
    assert_int_equal(after.machine.lacks, 96);
    assert_int_equal(after.machine.count, 3);
    assert_memory_equal(after.machine.cpus, before.cpus, 3 * sizeof(*before.cpus));
    hardware_fini(&after);
    for (size_t cut = 1; cut + 2 < len; cut++) {
        assert_int_equal(read_text(&after, text, cut, why), -EPROTO);
        assert_null(after.cpus);
    }
    hardware_fini(&before);
    free(text);
}

static void tells_of_failure(void **state)
{
    struct hardware none = {0}, after;
    char why[512];
    size_t len;
    char *text = text_of(&none, -ENOENT, "there is no hwloc here", &len);
    (void)state;
    assert_int_equal(read_text(&after, text, len, why), -ENOENT);
    assert_string_equal(why, "there is no hwloc here");
    free(text);
}

static void refuses_others(void **state)
{
    static const char *const texts[] = {"\n", "has", "has 4000000000 0 1\n", "has -1 0 1\n", "has 2 0\n",
                                        "fails 0 x\n", "fails -2 x\n", "had 1 0 1\n"};
    struct hardware after;
    char why[512], text[64];
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        snprintf(text, sizeof(text), "%s", texts[i]);
        assert_int_equal(read_text(&after, text, strlen(text), why), -EPROTO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(tells_of_failure),
        cmocka_unit_test(refuses_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
