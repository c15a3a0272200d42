/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread that sleeps until a message comes, and makes progress then: so windows that get messages
 * are served while the program computes. There is one for all windows of a process, as long as one
 * of them may be locked by others that do not map its memory. VIREO_RMA_THREAD=0 switches it off;
 * then such a window is served in calls of MPI alone.
 */
#ifndef MPI_WIN_HELPER_H
#define MPI_WIN_HELPER_H

#include <stdbool.h>

/* One more window needs it; one no longer does. */
void win_helper_begin(void);
void win_helper_end(void);

/* At the end of MPI, where windows were not freed. */
bool win_helper_runs(void);
void win_helper_stop(void);

#endif
