/* SPDX-License-Identifier: BSD-3-Clause */

/* Words about a rank: its place, and why its end is a failure; see run_state.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "bnr/launch/limit.h"
#include "bnr/io/mpir.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_plan.h"
#include "bnr/plan/plan.h"
#include "os/clock.h"

bool run_is_elsewhere(void *arg, int rank)
{
    const struct run *run = arg;
    return run->wide && wide_is_elsewhere(run->wide, rank);
}

const char *run_host_of(struct run *run, int rank)
{
    return run->wide ? wide_name(run->wide, rank) : table_host(&run->ranks.table, rank)->name;
}

int run_pid_of(struct run *run, int rank)
{
    return run_is_elsewhere(run, rank) ? wide_pid(run->wide, rank)
                                       : run->ranks.table.rank[rank].pid;
}

static bool is_running(const void *set, int rank)
{
    const struct run *run = set;
    return run->wide ? !run->is_over[rank] : ranks_lives(&run->ranks.table, rank);
}

void run_list_running(struct run *run, char *text, size_t size)
{
    ranks_list(text, size, run->plan->nranks, is_running, run);
}

void run_say_killed(struct run *run)
{
    char ranks[200];
    int number = run->job.user_signal;
    bool are_many = run->job.alive > 1;
    run_list_running(run, ranks, sizeof(ranks));
    stdio_say(run->stdio, "mpiexec: %s %s did not end within %.3g s after SIG%s, and %s killed\n",
              are_many ? "ranks" : "rank", ranks, (double)(os_now_ns() - run->asked_ns) / 1e9,
              number == SIGINT    ? "INT"
              : number == SIGTERM ? "TERM"
                                  : "HUP",
              are_many ? "are" : "is");
}

/* The message of an aborting rank. */
static const char *abort_message(struct run *run, int rank, char text[TABLE_MESSAGE_MAX])
{
    if (run_is_elsewhere(run, rank))
        return wide_abort(run->wide, rank);
    table_abort_message(&run->ranks.table, table_slot(&run->ranks.table, rank), text);
    return text;
}

void run_explain_end(struct run *run, int rank, const struct job_facts *f, enum job_cause cause)
{
    char *text = run->last_words, buffer[TABLE_MESSAGE_MAX];
    const char *message;
    size_t size = sizeof(run->last_words);
    bool is_unread = cause == JOB_CAUSE_SIGNAL && WTERMSIG(f->status) == SIGPIPE &&
                     (stdio_is_unread(run->stdio, 1) || stdio_is_unread(run->stdio, 2));
    if (cause == JOB_CAUSE_NONE || is_unread) /* as a shell says nothing of it */
        return;
    if (text[0]) /* of another rank, in a job that goes on */
        stdio_say(run->stdio, "%s\n", text);
    int n = snprintf(text, size, "mpiexec: rank %d on %s (pid %d) ", rank, run_host_of(run, rank),
                     run_pid_of(run, rank));
    text += n;
    size -= (size_t)n;
    switch (cause) {
    case JOB_CAUSE_NONE: break;
    case JOB_CAUSE_ABORT:
        message = abort_message(run, rank, buffer);
        snprintf(text, size, "aborted with code %d%s%s", f->abort_code, message[0] ? ": " : "",
                 message);
        break;
    case JOB_CAUSE_SIGNAL:
        if (run_is_elsewhere(run, rank) &&
            wide_get_plan(run->wide)->node_of[rank] == (uint32_t)run->lost_node) {
            snprintf(text, size, "was lost with its host, of which nothing is heard any more");
            break;
        }
        snprintf(text, size, "was killed by signal %d (%s)%s", WTERMSIG(f->status),
                 strsignal(WTERMSIG(f->status)),
                 limit_of_signal(WTERMSIG(f->status), run->ranks.table.memory_fd));
        break;
    case JOB_CAUSE_CODE: snprintf(text, size, "exited with code %d", WEXITSTATUS(f->status)); break;
    case JOB_CAUSE_UNFINALIZED: snprintf(text, size, "exited without MPI_Finalize"); break;
    case JOB_CAUSE_UNINITIALIZED:
        snprintf(text, size, "exited without MPI_Init, which other ranks have called");
        break;
    }
    size_t len = strlen(run->last_words);
    if (f->tolerant && run->job.state == JOB_RUNNING && !run->plan->goes_on) /* no option says so */
        snprintf(run->last_words + len, sizeof(run->last_words) - len, "; the job goes on");
    run_note_failure(run, run->last_words);
    mpir_abort(run->last_words);
}
