/* SPDX-License-Identifier: BSD-3-Clause */

/* The lock of this process, as it is had on behalf of origins that ask for it by messages. */
#ifndef MPI_WIN_GRANT_H
#define MPI_WIN_GRANT_H

struct win_origin;
struct win_question;
struct win_server;

/* An origin asks for the lock: it gets it now, or when its turn has come. */
void win_grant_ask(const struct win_question *q);
/* An origin that may have it gives it back. */
void win_grant_back(struct win_server *server, struct win_origin *origin);
/* Give back the locks of members that die, from now on. Takes over a reference of the caller's. */
void win_grant_watch(struct win_server *server);

#endif
