/* SPDX-License-Identifier: BSD-3-Clause */

/* Run a job on this host, from its plan to its exit status. */
#ifndef BNR_RUN_H
#define BNR_RUN_H

#include <stddef.h>

struct plan;
struct amend;
struct debugger;
struct wide_plan;

/* The parts of a job beside its plan. */
struct run_job {
    char *const *paths;  /* each program's file, as launch_resolve() found it */
    struct wide_plan *wide; /* which ranks are elsewhere; passes to the job */
    struct amend *amend; /* how ranks are started */
    const struct debugger *debugger; /* one for each rank, in a window; or NULL */
    int records_fd;      /* takes the ranks' 1 and 2; 0: mpiexec's own do */
    char *name;          /* of name_size bytes; see wardens_start() */
    size_t name_size;
};

/* Run it, once limit_remember() has been called. Returns what mpiexec is to exit with. */
int run_job(const struct plan *plan, const struct run_job *what);

#endif
