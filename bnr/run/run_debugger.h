/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks that wait until a debugger has attached to each (--debugger, --stop-in-init), or lets it go on
 * (--stop-on-exec). */
#ifndef BNR_RUN_DEBUGGER_H
#define BNR_RUN_DEBUGGER_H

struct run;

/* All ranks have been started, and wait: open the windows of their debuggers, or say how to debug
 * them. The ranks go on when each has its own. */
void run_debugger_start(struct run *run);
/* The user has ranks go on that wait for debuggers. */
void run_debugger_go_on(struct run *run);
/* Look no more; the loop must run once more. */
void run_debugger_stop(struct run *run);

#endif
