/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The target's side: it carries out what origins ask by messages, in any call that makes progress.
 * One question is handled at a time, by one thread.
 */
#ifndef MPI_WIN_SERVE_H
#define MPI_WIN_SERVE_H

struct win;

/* Answer questions to a window from now on. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int win_serve_begin(struct win *win);
/* No question comes any more. The window is not used after this returns. */
void win_serve_end(struct win *win);

#endif
