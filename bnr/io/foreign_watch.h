/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rank that is a script may run a program of another MPI library; each of its processes would be
 * alone. No file tells that before: so mpiexec and its daemons look a few times, in the first seconds and ever
 * more seldom, whether the first rank here of each program has mapped such a library, until those ranks have come to
 * MPI_Init.
 */
#ifndef BNR_FOREIGN_WATCH_H
#define BNR_FOREIGN_WATCH_H

struct foreign_watch;
struct ranks;
struct uv_loop_s;

/* A rank uses such a library: a sentence about that, without its subject. It comes once at most. */
typedef void foreign_watch_hook(void *arg, int rank, const char *what);

/* Ranks are being started: look after those here. Returns NULL where memory is out, and then nothing is looked for. */
struct foreign_watch *foreign_watch_start(struct uv_loop_s *loop, const struct ranks *ranks, foreign_watch_hook *found,
                                          void *arg);
/* Look no more; the loop must run once more. Accepts NULL. */
void foreign_watch_stop(struct foreign_watch *w);

#endif
