/* SPDX-License-Identifier: BSD-3-Clause */

/* bnr/client/presence.h: who has ended, and how. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bnr/client/presence.h"
#include "os/memory/segment.h"

enum { COUNT = 4, AT = 1 << 16, GIVE_UP_S = 30 };

static char told[COUNT + 1]; /* '.', 'w'ell or 'b'ad for each */

static void ended(int index, bool well, void *arg)
{
    (void)arg;
    assert_int_equal(told[index], '.');
    told[index] = well ? 'w' : 'b';
}

static int make(void)
{
    int fd = os_segment_create("vireo-test", AT + presence_size(COUNT), 0);
    assert_true(fd >= 0);
    memset(told, '.', COUNT);
    return fd;
}

/* A process that is there, leaves or not, says so by a byte, and stops. */
static pid_t begin(int fd, int index, bool leaves)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        struct presence *p = presence_begin(fd, AT, index, COUNT);
        if (p && leaves)
            presence_leave(p, true);
        (void)!write(ready[1], p ? "y" : "n", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Look until told is text, or for a second if it is that already. */
static void expect(struct presence *p, const char *text)
{
    bool is_late = !strcmp(told, text);
    for (int i = 0; is_late ? i < 20 : strcmp(told, text) != 0; i++) {
        presence_look(p, ended, NULL);
        usleep(50000);
    }
    assert_string_equal(told, text);
}

static void test_ends(void **state)
{
    int fd = make();
    (void)state;
    alarm(GIVE_UP_S);
    struct presence *own = presence_begin(fd, AT, 0, COUNT);
    assert_non_null(own);
    pid_t one = begin(fd, 1, false), two = begin(fd, 2, true);
    expect(own, "...."); /* those that live or are not there have not ended */
    assert_int_equal(kill(one, SIGSTOP), 0);
    expect(own, "...."); /* nor has one that is stopped */
    end(two);
    expect(own, "..w.");
    end(one);
    expect(own, ".bw.");
    free(own);
}

/* A child of a process is not that process, whichever ends first. */
static void test_fork(void **state)
{
    int fd = make(), ready[2];
    (void)state;
    alarm(GIVE_UP_S);
    struct presence *own = presence_begin(fd, AT, 0, COUNT);
    assert_int_equal(pipe(ready), 0);
    pid_t parent = fork();
    if (!parent) {
        (void)presence_begin(fd, AT, 3, COUNT);
        pid_t child = fork();
        if (!child) {
            close(fd); /* the parent is still there */
            for (;;)
                pause();
        }
        (void)!write(ready[1], &child, sizeof(child));
        for (;;)
            pause();
    }
    pid_t child;
    assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
    expect(own, "....");
    end(parent);
    expect(own, "...b");
    assert_int_equal(kill(child, SIGKILL), 0);
    free(own);
}

/* A process that comes back is not one that has left. */
static void test_back(void **state)
{
    int fd = make();
    (void)state;
    alarm(GIVE_UP_S);
    struct presence *own = presence_begin(fd, AT, 0, COUNT);
    pid_t pid = fork();
    if (!pid) {
        struct presence *p = presence_begin(fd, AT, 1, COUNT);
        presence_leave(p, true);
        presence_leave(p, false);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    expect(own, ".b..");
    free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
