/* SPDX-License-Identifier: BSD-3-Clause */

/* The signals that mpiexec hears, on its loop. */
#ifndef BNR_SIGNALS_H
#define BNR_SIGNALS_H

#include <uv.h>

enum { SIGNALS_MAX = 12 };

struct signals {
    uv_signal_t handle[SIGNALS_MAX];
    uv_idle_t again; /* while a signal is to be heard once more */
    int count, again_number;
    void (*heard)(void *arg, int signal);
    void *arg;
};

/* Listen for SIGCHLD and for what a user sends: INT, TERM, HUP, QUIT, TSTP, CONT,
 * USR1, USR2; for WINCH, and XCPU, by which batch systems warn; not for those that mpiexec was started with ignored (nohup, a
 * shell's background), QUIT excepted, which only asks for a report. Returns 0 or a negative code
 * of libuv (-errno). */
int signals_start(struct signals *s, uv_loop_t *loop, void (*heard)(void *arg, int signal),
                  void *arg);

/* Have heard() called with a signal once more, after the loop has heard of all else; not before, even
 * where the signal comes again. For one signal. */
void signals_again(struct signals *s, int number);

/* Close the handles; the loop must run once more. */
void signals_stop(struct signals *s);

#endif
