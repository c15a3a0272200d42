/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpiexec prints when a job is over, if options ask for it: --report, the ranks' exit codes, and the times. */
#ifndef BNR_RUN_REPORT_H
#define BNR_RUN_REPORT_H

struct run;

void run_report_print(struct run *run);

#endif
