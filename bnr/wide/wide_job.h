/* SPDX-License-Identifier: BSD-3-Clause */

/* A job over several machines (wide.h) once its daemons are there: the hosts of its table, and how daemons get it. */
#ifndef BNR_WIDE_JOB_H
#define BNR_WIDE_JOB_H

#include <stdint.h>

struct launch_message;
struct ranks;
struct serve;
struct table_wide;
struct wide;

/* The daemons are there: list the hosts of the job's table. Returns 0 or -ENOMEM. */
int wide_list_hosts(struct wide *w);
uint32_t wide_host_count(const struct wide *w);
/* The parts that the job's table is made of. Valid while w is. */
struct table_wide wide_table(const struct wide *w);

/* Send the job to all; the ranks of this machine are then to be started. Returns 0, -EMSGSIZE: longer
 * than XCAST_DATA_MAX; or another -errno. */
int wide_launch(struct wide *w, struct launch_message *job, struct ranks *ranks);

/* The service of the ranks here, which wide_launch() begins. */
struct serve *wide_serve(const struct wide *w);

/* For wide_destroy(): free what is of the job. */
void wide_job_free(struct wide *w);

/* The name of a rank's host. */
const char *wide_name(const struct wide *w, int rank);

#endif
