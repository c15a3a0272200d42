/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A call of MPI in words, for mpiexec --check: "rank 2 calls MPI_Bcast (solver.c:12)".
 */
#ifndef MPI_CALL_TEXT_H
#define MPI_CALL_TEXT_H

#include "include/mpid.h"

enum { CALL_TEXT = 200 };

/* Describe the call at site, which came from that rank. Its file is looked at only if it is that of
 * mine, a call of this process. */
void call_text(char text[CALL_TEXT], int rank, const struct mpid_call_site *site,
               const struct mpid_call_site *mine);

/* Copy text of size bytes that a peer has sent, which may lack its NUL and hold anything. */
void call_text_clean(char *to, const char *from, size_t size);

#endif
