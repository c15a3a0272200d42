/* SPDX-License-Identifier: BSD-3-Clause */

/* The job as the daemons on other machines get it: its programs, environments, limits, and which rank runs which. */
#ifndef BNR_RUN_SEND_H
#define BNR_RUN_SEND_H

struct run;

/* Send it to all, and have the ranks here served; the table is made. Returns 0, -EMSGSIZE: it is too long; or another
 * -errno. */
int run_send_job(struct run *run);

#endif
