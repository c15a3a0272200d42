/* SPDX-License-Identifier: BSD-3-Clause */

/* The report that --report prints when a job is over: each rank's host, processors and channels. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/diagnose/report.h"
#include "bnr/run/run_state.h"
#include "bnr/tools/options.h"

static bool cpu_is_set(const void *set, int cpu)
{
    return CPU_ISSET(cpu, (const cpu_set_t *)set);
}

void run_print_report(struct run *run)
{
    int n = run->o->nranks;
    char cpus[256] = "";
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof(set), &set))
        ranks_list(cpus, sizeof(cpus), CPU_SETSIZE, cpu_is_set, &set);
    struct report_rank *ranks = calloc((size_t)n, sizeof(*ranks));
    for (int r = 0; ranks && r < n; r++) {
        const void *text;
        ranks[r].pid = run_pid_of(run, r);
        ranks[r].cpus = cpus;
        ranks[r].host = run_host_of(run, r);
        if (run_is_elsewhere(run, r)) {
            ranks[r].cpus = "";
            ranks[r].text = run->wide->told[r].report;
            ranks[r].len = ranks[r].text ? strlen(ranks[r].text) : 0;
            continue;
        }
        struct kvs log = table_log(&run->ranks.table, table_slot(&run->ranks.table, r));
        if (!kvs_get(&log, "mpid.report", &text, &ranks[r].len))
            ranks[r].text = text;
    }
    char *table = ranks ? report_format(ranks, n) : NULL;
    if (table)
        fputs(table, stderr);
    free(table);
    free(ranks);
}
