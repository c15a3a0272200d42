/* SPDX-License-Identifier: BSD-3-Clause */

/* The signals that mpiexec hears, on its loop. */
#ifndef BNR_SIGNALS_H
#define BNR_SIGNALS_H

#include <uv.h>

enum { SIGNALS_MAX = 12 };

struct signals {
    uv_signal_t handle[SIGNALS_MAX];
    int count;
    void (*heard)(void *arg, int signal);
    void *arg;
};

/* Listen for SIGCHLD and for what a user sends: INT, TERM, HUP, QUIT, TSTP, CONT,
 * USR1, USR2; for WINCH; not for those that mpiexec was started with ignored (nohup, a
 * shell's background), QUIT excepted, which only asks for a report. Returns 0 or a negative code
 * of libuv (-errno). */
int signals_start(struct signals *s, uv_loop_t *loop, void (*heard)(void *arg, int signal),
                  void *arg);

/* Close the handles; the loop must run once more. */
void signals_stop(struct signals *s);

#endif
