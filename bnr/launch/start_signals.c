/* SPDX-License-Identifier: BSD-3-Clause */

/* The signals that a program of ours was started with; see start_signals.h. */
#include "bnr/launch/start_signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    SIGNALS = 64
};

const int start_signals_heard[START_SIGNALS_HEARD] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                                      SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2, SIGWINCH, SIGXCPU};

/* Our programs ignore these as well. */
static const int used[] = {SIGPIPE, SIGXFSZ};

static struct start_signals start;

static uint64_t bit(int number)
{
    return 1ull << (number - 1);
}

void start_signals_take(void)
{
    sigset_t mask, heard;
    start = (struct start_signals){0, 0};
    sigemptyset(&heard);
    for (size_t i = 0; i < START_SIGNALS_HEARD; i++)
        sigaddset(&heard, start_signals_heard[i]);
    sigprocmask(SIG_UNBLOCK, &heard, &mask);
    for (int s = 1; s <= SIGNALS; s++) {
        struct sigaction now;
        if (sigismember(&mask, s) == 1)
            start.blocked |= bit(s);
        if (!sigaction(s, NULL, &now) && now.sa_handler == SIG_IGN)
            start.ignored |= bit(s);
    }
}

struct start_signals start_signals_get(void)
{
    return start;
}

static void set_action(int number, bool is_ignored)
{
    struct sigaction initial;
    memset(&initial, 0, sizeof(initial));
    initial.sa_handler = is_ignored ? SIG_IGN : SIG_DFL;
    sigaction(number, &initial, NULL);
}

static bool is_ours(int number)
{
    bool is = false;
    for (size_t i = 0; i < START_SIGNALS_HEARD; i++)
        is |= start_signals_heard[i] == number;
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        is |= used[i] == number;
    return is;
}

void start_signals_set(struct start_signals wanted)
{
    for (int s = 1; s <= SIGNALS; s++)
        if (!is_ours(s) && s != SIGKILL && s != SIGSTOP)
            set_action(s, (wanted.ignored & bit(s)) != 0);
    start = wanted;
}

void start_signals_restore(void)
{
    sigset_t mask;
    for (size_t i = 0; i < START_SIGNALS_HEARD; i++) {
        int s = start_signals_heard[i];
        if (s == SIGTSTP)
            set_action(s, true); /* which drops one that waits */
        set_action(s, (start.ignored & bit(s)) != 0);
    }
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        set_action(used[i], (start.ignored & bit(used[i])) != 0);
    sigemptyset(&mask);
    for (int s = 1; s <= SIGNALS; s++)
        if (start.blocked & bit(s))
            sigaddset(&mask, s);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}
