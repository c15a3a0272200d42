/* SPDX-License-Identifier: BSD-3-Clause */

/* A rank that is away. Children of processes with threads make system calls only. */
#include "pause.h"

#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum {
    LIVES_ON = 4,   /* times the pause */
    BUSY_MOST = 200 /* ms; others need the processors, too */
};

static void sleep_ms(int ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

void pause_asleep(int after_ms, int ms)
{
    (void)after_ms;
    sleep_ms(ms);
}

void pause_computing(int after_ms, int ms)
{
    struct timespec now, end;
    (void)after_ms;
    int busy = ms < BUSY_MOST ? ms : BUSY_MOST;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += busy * 1000000L;
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec < end.tv_nsec);
    sleep_ms(ms - busy);
}

/* The thread sanitizer does not know children of processes with threads. */
#ifdef __SANITIZE_THREAD__
void pause_stopped(int after_ms, int ms)
{
    pause_asleep(after_ms, ms);
}

void pause_fork(int after_ms, int ms)
{
    pause_asleep(after_ms, ms);
}
#else
void pause_stopped(int after_ms, int ms)
{
    pid_t parent = getpid();
    if (fork())
        return;
    sleep_ms(after_ms);
    if (getppid() == parent && !kill(parent, SIGSTOP)) {
        sleep_ms(ms);
        kill(parent, SIGCONT);
    }
    _exit(0);
}

void pause_fork(int after_ms, int ms)
{
    if (fork())
        return;
    sleep_ms(after_ms + LIVES_ON * ms);
    _exit(0);
}
#endif
