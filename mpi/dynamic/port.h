/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ports of MPI_Open_port (os/net/port.h), by their names, and waits at them that make progress.
 */
#ifndef MPI_PORT_H
#define MPI_PORT_H

#include <mpi.h>
#include <stdbool.h>

/* Open a port, and write its name. Returns 0 or -errno, with the failed step in *step. */
int port_open(char name[MPI_MAX_PORT_NAME], const char **step);
/* Close it. Returns 0, or -ENOENT: this process has none of that name. */
int port_close(const char *name);

/* Wait for a caller at a port of this process, or until is_over(arg) (may be NULL) says that none will come.
 * Returns a socket, -ENOENT, -ECANCELED (it is over), or -EBADF: another thread has closed the port. */
int port_accept(const char *name, bool (*is_over)(void *arg), void *arg);

/* Call a port, and wait until its owner accepts. Returns a socket, -EINVAL: the name is none;
 * -ECONNREFUSED: no address has such a port; -ETIMEDOUT after so many seconds, unless that is 0; or another
 * -errno. */
int port_call(const char *name, double limit_s);

#endif
