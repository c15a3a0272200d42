/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that run on this host, as the mpiexecs that listen at their doors (bnr/host/door_address.h). */
#ifndef BNR_JOBS_H
#define BNR_JOBS_H

#include <stdio.h>

#include "bnr/client/door_link.h"

enum {
    JOBS_MAX = 256,
    JOBS_ID_LEN = 8 /* digits of a job's id by which hang reports call it */
};

/* Write the beginning of the job's id; "": its mpiexec does not answer soon. */
void jobs_id(int job, char id[JOBS_ID_LEN + 1]);

/* The mpiexecs of our user, for root all; those that a job has started stand behind it, with a depth of one more. Returns how
 * many. */
int jobs_find(int jobs[JOBS_MAX], int depth[JOBS_MAX]);

/* The only job of ours, apart from those that it has spawned; or 0, after saying which there are; who: the program that says
 * so. */
int jobs_only(const char *who);

/* A link to the mpiexec with this number, or to that above a process of its job. Returns 0 or
 * -errno, which jobs_explain() puts into words. */
int jobs_connect(struct door_link *link, int job, enum door_wish wish);
void jobs_explain(const char *who, int job, int rc);

/* Print a line: the job's number, the beginning of its id, the depth, and its command, cut to width. */
void jobs_print(FILE *to, int pid, int depth);

#endif
