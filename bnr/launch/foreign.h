/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The libraries that a program's file names: of another MPI, and our own. MPICH and its kin speak PMI-1, which
 * mpiexec serves (bnr/wide/pmi_port.h). Each process of a program of Open MPI would find nobody to tell it of the
 * others, and go on as rank 0 of 1: so mpiexec does not start several of them, and ends the job in which a script has
 * started some. A program of ours that was linked before the installed tree was moved does not find its library: so
 * mpiexec tells the loader its folder.
 */
#ifndef BNR_FOREIGN_H
#define BNR_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the program at path needs an MPI library without PMI-1; then library is that library's name, cut
 * to size. A file that is no program for this machine needs none. */
bool foreign_library(const char *path, char *library, size_t size);

/* The same of a library of MPICH and its kin, which speaks PMI-1. */
bool foreign_kin(const char *path, char *library, size_t size);

/* A process that has mapped a library which does not speak it. */
struct foreign_process {
    int pid;
    char name[32], library[64]; /* its program and the library, each cut */
};

/* Whether this process, or one that it has started, has mapped such a library. Those do not count that another launcher
 * has started, one of Open MPI or another job's mpiexec (job: BNR_JOB ends so), nor Open MPI's tools that show how
 * it is built. */
bool foreign_runs(int pid, const char *job, struct foreign_process *found);

/* Whether the program at path needs this library, and no folder that its file names has it, nor one of
 * search (as in LD_LIBRARY_PATH; or NULL). */
bool foreign_lacks(const char *path, const char *library, const char *search);
/* Whether the program at path names this library itself. */
bool foreign_needs(const char *path, const char *library);

#endif
