/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whether this program goes on after failures: then mpiexec does not end the job when a rank fails. It does
 * once it has called a function of fault tolerance. A program that has such functions calls them after
 * the first failure only; so it also counts that it has them, and an error handler that returns.
 */
#ifndef MPI_ASKED_H
#define MPI_ASKED_H

#include <stdbool.h>

/* It has called one. */
void asked_call(void);
/* It has set an error handler of a communicator. */
void asked_handler(bool returns);

#endif
