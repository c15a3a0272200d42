/* SPDX-License-Identifier: BSD-3-Clause */

/* `mpiexec --attach-info`: the processes of a running job, for a debugger that attaches to its ranks. */
#ifndef BNR_ATTACH_INFO_H
#define BNR_ATTACH_INFO_H

#include <stdbool.h>

/* Print rank, host, process and program of each rank of a job, a line each or as JSON; job: a process
 * of it, 0: the only one. Returns what to exit with. */
int attach_info(int job, bool is_json);

#endif
