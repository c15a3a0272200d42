/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a job, as the ranks here start them, and the table of its ranks (bnr/host/table.h). */
#ifndef BNR_RUN_TABLE_H
#define BNR_RUN_TABLE_H

struct ranks_hooks;
struct run;
struct table;

/* Prepare the start of each program. Returns 0 or -errno. */
int run_table_prepare(struct run *run);
/* Make the table; the hosts of a job on several machines are known. Returns 0, or -errno with the failed step. */
int run_table_make(struct run *run, const struct ranks_hooks *hooks, const char **step);
void run_table_free(struct run *run);
/* Give all programs a variable more, NAME=VALUE, which stays, where they have none of that name. Returns 0 or -ENOMEM. */
int run_table_set(struct run *run, char *variable);

/* The table, which is empty before run_table_make(). */
const struct table *run_table(const struct run *run);
/* The program of a rank, as the user wrote it. */
const char *run_table_program(const struct run *run, int rank);

#endif
