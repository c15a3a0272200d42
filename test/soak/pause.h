/* SPDX-License-Identifier: BSD-3-Clause */

/* Being away from MPI, and what happens to a process meanwhile. */
#ifndef TEST_SOAK_PAUSE_H
#define TEST_SOAK_PAUSE_H

/* Sleep. */
void pause_asleep(int after_ms, int ms);

/* Keep a processor busy, for a while. */
void pause_computing(int after_ms, int ms);

/* Be stopped by a signal after a time, wherever the process is then, and go on later. */
void pause_stopped(int after_ms, int ms);

/* Have a child that holds all descriptors, and ends after a multiple of the time. */
void pause_fork(int after_ms, int ms);

#endif
