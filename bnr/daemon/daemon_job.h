/* SPDX-License-Identifier: BSD-3-Clause */

/* A job begins at a daemon: it is unpacked, its programs are found and placed, and its ranks are started. */
#ifndef BNR_DAEMON_JOB_H
#define BNR_DAEMON_JOB_H

#include "bnr/core/bytes.h"

struct daemon;

/* Make what a job needs: its message, places, ranks and streams. The mesh is there. Returns 0 or -ENOMEM. */
int daemon_job_begin(struct daemon *d);

/* Take the first job that comes; u: a launch_message. */
void daemon_start_job(struct daemon *d, struct unpacking u);

#endif
