/* SPDX-License-Identifier: BSD-3-Clause */

/* The report that --report prints when a job is over: each rank's host, processors and channels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/diagnose/report.h"
#include "bnr/io/amend.h"
#include "bnr/io/place.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/wide.h"
#include "bnr/plan/plan.h"
#include "os/clock.h"
#include "os/settings.h"

enum {
    CPUS_LEN = 256 /* of a list of processors */
};

/* Without memory the report lacks it. */
void run_note_failure(struct run *run, const char *what)
{
    static const char who[] = "mpiexec: ";
    char *more;
    double after_s = (double)(os_now_ns() - run->started_ns) / 1e9;
    what += strncmp(what, who, sizeof(who) - 1) ? 0 : sizeof(who) - 1;
    if (!run->plan->report ||
        asprintf(&more, "%s  after %.2f s: %s\n", run->failures ? run->failures : "", after_s, what) < 0)
        return;
    free(run->failures);
    run->failures = more;
}

void run_print_report(struct run *run)
{
    int n = run->plan->nranks;
    struct report_rank *ranks = calloc((size_t)n, sizeof(*ranks));
    char(*cpus)[CPUS_LEN] = calloc((size_t)n, sizeof(*cpus));
    for (int r = 0; ranks && cpus && r < n; r++) {
        const void *text;
        ranks[r].pid = run_pid_of(run, r);
        ranks[r].cpus = cpus[r];
        ranks[r].host = run_host_of(run, r);
        if (run_is_elsewhere(run, r)) {
            ranks[r].cpus = wide_cpus(run->wide, r);
            ranks[r].text = wide_report(run->wide, r);
            ranks[r].len = ranks[r].text ? strlen(ranks[r].text) : 0;
            continue;
        }
        place_list(run->amend->place, (int)run->ranks.table.rank[r].local_rank, cpus[r], CPUS_LEN);
        struct kvs log = table_log(&run->ranks.table, table_slot(&run->ranks.table, r));
        if (!kvs_get(&log, "mpid.report", &text, &ranks[r].len))
            ranks[r].text = text;
    }
    char *table = ranks && cpus ? report_format(ranks, n) : NULL;
    if (table)
        fputs(table, stderr);
    fprintf(stderr, "Deaths: mpiexec tells all ranks of each that dies");
    if (run->wide)
        fprintf(stderr, ", and of hosts that are silent for %g s", (double)os_setting(OS_SETTING_LIVENESS_MS) / 1000);
    fputs("\n", stderr);
    if (run->failures)
        fprintf(stderr, "Failures:\n%s", run->failures);
    free(run->failures);
    run->failures = NULL;
    free(table);
    free(ranks);
    free(cpus);
}
