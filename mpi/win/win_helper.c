/* SPDX-License-Identifier: BSD-3-Clause */

/* A thread that makes progress for windows; see win_helper.h. */
#include "mpi/win/win_helper.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "include/mpid.h"
#include "mpi/world.h"
#include "os/lock.h"
#include "os/log.h"
#include "os/settings.h"

/* Guards the rest. */
static struct os_lock lock = OS_LOCK_INIT;
static int windows; /* that need it */
static bool runs;
static pthread_t thread;
static _Atomic bool stops;

static bool is_over(void *arg)
{
    (void)arg;
    return atomic_load_explicit(&stops, memory_order_acquire);
}

static void tell_none(void *arg, struct mpid_wait_report *report)
{
    (void)arg;
    mpid_tell_none(report);
}

static void *help(void *arg)
{
    static const struct mpid_condition condition = {is_over, NULL, tell_none};
    mpid_wait_aside(&condition, NULL);
    return arg;
}

/* Locked. Signals are for the program's threads. */
static void start(void)
{
    sigset_t all, before;
    world_use_threads();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&stops, false);
    runs = !pthread_create(&thread, NULL, help, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!runs)
        os_log(OS_LOG_WARN, "windows: no thread can be started, so that one that is locked by "
                            "messages waits for calls of MPI at its target");
}

/* Locked. */
static void stop(void)
{
    if (!runs)
        return;
    atomic_store_explicit(&stops, true, memory_order_release);
    mpid_wake();
    pthread_join(thread, NULL);
    runs = false;
}

void win_helper_begin(void)
{
    os_lock_slow(&lock);
    if (!windows++ && os_setting(OS_SETTING_RMA_THREAD))
        start();
    os_unlock_slow(&lock);
}

void win_helper_end(void)
{
    os_lock_slow(&lock);
    if (windows && !--windows) /* none are left of those before win_helper_stop() */
        stop();
    os_unlock_slow(&lock);
}

bool win_helper_runs(void)
{
    os_lock_slow(&lock);
    bool is = runs;
    os_unlock_slow(&lock);
    return is;
}

void win_helper_stop(void)
{
    os_lock_slow(&lock);
    windows = 0;
    stop();
    os_unlock_slow(&lock);
}
