/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpiexec --report shows of this process's connections. */
#ifndef MPID_REPORT_H
#define MPID_REPORT_H

/* Tell mpiexec which channel each peer was bound to, and why not another. */
void report_put(void);

#endif
