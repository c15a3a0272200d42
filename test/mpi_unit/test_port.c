/* SPDX-License-Identifier: BSD-3-Clause */

/* Meeting at a port, where the progress loop asks more often than it must. */
#include "mpi/dynamic/port.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "include/mpid.h"
#include "mpi/comm/pipe.h"

void mpid_watch_fd(int fd)
{
    (void)fd;
}

void mpid_unwatch_fd(int fd)
{
    (void)fd;
}

void mpid_wake(void)
{
}

/* Another thread may make progress, too, and asks again. */
void pipe_wait(bool (*is_done)(void *arg), void *arg)
{
    while (!is_done(arg))
        usleep(100);
    assert_true(is_done(arg));
    assert_true(is_done(arg));
}

static void *call(void *name)
{
    return (void *)(intptr_t)port_call(name, 20);
}

static void the_one_who_calls_is_met(void **state)
{
    char name[MPI_MAX_PORT_NAME];
    const char *step;
    (void)state;
    assert_int_equal(port_open(name, &step), 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *theirs;
        assert_int_equal(pthread_create(&thread, NULL, call, name), 0);
        int own = port_accept(name, NULL, NULL);
        assert_int_equal(pthread_join(thread, &theirs), 0);
        assert_true(own >= 0);
        assert_true((intptr_t)theirs >= 0);
        close(own);
        close((int)(intptr_t)theirs);
    }
    assert_int_equal(port_close(name), 0);
    assert_int_equal(port_accept(name, NULL, NULL), -ENOENT);
    assert_true(port_call(name, 20) < 0);
    assert_int_equal(port_call("no name", 20), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_one_who_calls_is_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
