/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpiexec prints when a job is over; see run_report.h. */
#include "bnr/run/run_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/diagnose/report.h"
#include "bnr/io/amend.h"
#include "bnr/io/place.h"
#include "bnr/io/ranks.h"
#include "bnr/io/tell.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_words.h"
#include "bnr/wide/wide_words.h"
#include "os/clock.h"
#include "os/settings.h"

enum {
    CPUS_LEN = 256 /* of a list of processors */
};

/* Each rank's host, processors and channels. */
static void print_report(struct run *run)
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
        place_list(run->amend->place, (int)run->ranks->table.rank[r].local_rank, cpus[r], CPUS_LEN);
        struct kvs log = table_log(&run->ranks->table, table_slot(&run->ranks->table, r));
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
    if (run_failures(run))
        fprintf(stderr, "Failures:\n%s", run_failures(run));
    free(table);
    free(ranks);
    free(cpus);
}

void run_report_print(struct run *run)
{
    if (run->plan->report && run->has_table)
        print_report(run);
    if (run->plan->tells_codes)
        tell_codes(&run->ranks->table);
    if (run->plan->tells_times)
        fprintf(stderr, "mpiexec: %d ranks were started in %.3f s, and ran for %.3f s\n",
                run->plan->nranks, (double)(run->started_ns - run->begun_ns) / 1e9,
                (double)(os_now_ns() - run->started_ns) / 1e9);
}
