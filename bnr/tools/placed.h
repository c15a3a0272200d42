/* SPDX-License-Identifier: BSD-3-Clause */

/* A job as options describe it: checked, its ranks placed on hosts and processors, shown, and run there. */
#ifndef BNR_PLACED_H
#define BNR_PLACED_H

struct options;
struct survey;

/* Say where the ranks run, and run them there; paths: of programs_find(). Returns what to exit with. */
int placed_run(const struct options *o, char **paths, struct survey *survey, int argc, char **argv);

/* Ask the hosts of the job for their processors. Returns as survey_make(). */
int placed_ask_hosts(struct survey *survey, const struct options *o, char why[512]);
/* What to exit with for such a -errno, or 0. */
int placed_code(int rc);

#endif
