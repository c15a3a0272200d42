/* SPDX-License-Identifier: BSD-3-Clause */

/* Hang reports of jobs, as their mpiexecs give them. */
#ifndef BNR_REPORTS_H
#define BNR_REPORTS_H

#include <stdbool.h>

/* Print the report of a job, and, unless it is to be alone, those of the jobs of ours on this host that it names, as jobs do that are
 * connected; and of those that these name. Returns the exit status. */
int reports_print(int job, bool is_alone);

#endif
