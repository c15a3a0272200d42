/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The signals that a program of ours was started with: those that were blocked, and those that were
 * ignored. Batch systems and other launchers start programs so. The program itself hears what it
 * listens for all the same; the processes that it starts get what it was given.
 */
#ifndef BNR_START_SIGNALS_H
#define BNR_START_SIGNALS_H

#include <stdint.h>

enum {
    START_SIGNALS_HEARD = 11
};

/* Launcher and daemons listen for these signals. */
extern const int start_signals_heard[START_SIGNALS_HEARD];

/* Sets of signals: bit N - 1 is signal N. */
struct start_signals {
    uint64_t blocked, ignored;
};

/* Remember them, and unblock what launcher and daemons listen for. Call it first in main(). */
void start_signals_take(void);

struct start_signals start_signals_get(void);

/* Have processes start with these instead, which come from another host. */
void start_signals_set(struct start_signals wanted);

/* In a child that is to execute a program, with all signals blocked: set its signals so. It is in a
 * process group of its own already, and a signal to stop that it got before that is dropped: the
 * parent waits for this child, and could not have it go on. */
void start_signals_restore(void);

#endif
