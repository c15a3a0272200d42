/* SPDX-License-Identifier: BSD-3-Clause */

/* The files that take the ranks' output: their names, their making, who may share one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/stdio/outfile.h"
#include "os/log.h"

static void names_come_from_patterns(void **state)
{
    static const struct {
        const char *pattern;
        int rank, ranks, rc;
        const char *name;
    } rows[] = {
        {"out", 3, 8, 0, "out"},
        {"out.%r", 3, 8, 0, "out.3"},
        {"out.%R", 3, 8, 0, "out.3"},
        {"out.%R", 3, 10, 0, "out.3"},
        {"out.%R", 3, 11, 0, "out.03"},
        {"%R", 99, 100, 0, "99"},
        {"%R", 7, 101, 0, "007"},
        {"d/%r/%t.%g%p%%", 1, 2, 0, "d/1/77.00%"},
        {"%%r", 1, 2, 0, "%r"},
        {"%", 1, 2, -EINVAL, NULL},
        {"x%d", 1, 2, -EINVAL, NULL},
        {"", 1, 2, -EINVAL, NULL},
        {"1234567890123456", 1, 2, -ENAMETOOLONG, NULL},
        {"123456789012345", 1, 2, 0, "123456789012345"},
        {"12345678901234%r", 10, 11, -ENAMETOOLONG, NULL},
    };
    char name[16], host[300];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct outfile o = {.ranks = rows[i].ranks, .begun_s = 77};
        int rc = outfile_name(&o, rows[i].pattern, rows[i].rank, name, sizeof(name));
        if (rc != rows[i].rc || (!rc && strcmp(name, rows[i].name)))
            fail_msg("%s: %d %s", rows[i].pattern, rc, name);
    }
    struct outfile o = {.ranks = 1};
    assert_int_equal(outfile_name(&o, "%h", 0, host, sizeof(host)), 0);
    assert_string_equal(host, os_host_name());
}

static void files_are_emptied_once_and_then_appended_to(void **state)
{
    char folder[] = "outfile.XXXXXX", shared[] = "all/in/one", why[300];
    struct outfile o = {.pattern = {shared, NULL}, .ranks = 3};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (int turn = 0; turn < 2; turn++) {
        struct stat st;
        assert_int_equal(outfile_prepare(&o, why, sizeof(why)), 0);
        assert_int_equal(stat(shared, &st), 0);
        assert_int_equal(st.st_size, 0);
        for (int r = 0; r < 3; r++) {
            int fd = outfile_open(&o, 0, r);
            assert_true(fd >= 0);
            assert_int_equal(write(fd, "line\n", 5), 5);
            close(fd);
        }
        assert_int_equal(stat(shared, &st), 0);
        assert_int_equal(st.st_size, 15);
    }
    o.pattern[0] = strcpy(shared, "all/in");
    assert_int_equal(outfile_prepare(&o, why, sizeof(why)), -EISDIR);
    assert_non_null(strstr(why, "stdout of rank 0 to 'all/in'"));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    o.pattern[0] = NULL;
    o.pattern[1] = strcpy(shared, "pipe");
    assert_int_equal(outfile_prepare(&o, why, sizeof(why)), -ENXIO); /* nobody reads; no wait */
    assert_non_null(strstr(why, "stderr of rank 0"));
    assert_int_equal(unlink("pipe") | unlink("all/in/one") | rmdir("all/in") | rmdir("all"), 0);
    assert_int_equal(chdir("..") | rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_from_patterns),
        cmocka_unit_test(files_are_emptied_once_and_then_appended_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
