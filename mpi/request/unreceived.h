/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages that a program does not receive until MPI_Finalize, for mpiexec --check. */
#ifndef MPI_UNRECEIVED_H
#define MPI_UNRECEIVED_H

/* Write a line to stderr for each message between two ranks, if objects are watched (mpi/left.h). */
void unreceived_tell(void);

#endif
