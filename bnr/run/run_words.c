/* SPDX-License-Identifier: BSD-3-Clause */

/* Words about ranks; see run_words.h. */
#include "bnr/run/run_words.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bnr/io/mpir.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/limit.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/stdio/forward.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_job.h"
#include "bnr/wide/wide_words.h"
#include "bnr/wide/wide_plan.h"
#include "os/clock.h"

struct run_words {
    bool *is_over;  /* by rank: it has ended; NULL: all ranks run here, and the table says so */
    bool has_tolerated; /* a rank that has ended had asked that others go on after failures */
    int lost_node;  /* the last that was lost; its ranks end with it */
    char *failures; /* see run_failures() */
    char last[TABLE_MESSAGE_MAX + 512]; /* to be said at the next turn of the loop */
};

int run_words_begin(struct run *run)
{
    run->words = calloc(1, sizeof(*run->words));
    if (!run->words)
        return -ENOMEM;
    run->words->lost_node = -1;
    if (run->wide)
        run->words->is_over = calloc((size_t)run->plan->nranks, sizeof(*run->words->is_over));
    return run->wide && !run->words->is_over ? -ENOMEM : 0;
}

void run_words_free(struct run *run)
{
    free(run->words->is_over);
    free(run->words->failures);
    free(run->words);
}

/* ---- where ranks are ---- */

bool run_is_elsewhere(void *arg, int rank)
{
    const struct run *run = arg;
    return run->wide && wide_is_elsewhere(run->wide, rank);
}

const char *run_host_of(struct run *run, int rank)
{
    return run->wide ? wide_name(run->wide, rank) : table_host(&run->ranks->table, rank)->name;
}

int run_pid_of(struct run *run, int rank)
{
    return run_is_elsewhere(run, rank) ? wide_pid(run->wide, rank)
                                       : run->ranks->table.rank[rank].pid;
}

bool run_some_tolerate(const struct run *run)
{
    return ranks_some_tolerate(run->ranks) || (run->wide && wide_some_tolerate(run->wide));
}

bool run_has_tolerated(const struct run *run)
{
    return run->words->has_tolerated;
}

void run_note_over(struct run *run, int rank, bool is_tolerant)
{
    run->words->has_tolerated |= is_tolerant;
    if (run->words->is_over)
        run->words->is_over[rank] = true;
}

void run_note_lost(struct run *run, uint32_t node)
{
    run->words->lost_node = (int)node;
}

static bool is_running(const void *set, int rank)
{
    const struct run *run = set;
    return run->wide ? !run->words->is_over[rank] : ranks_lives(&run->ranks->table, rank);
}

void run_list_running(struct run *run, char *text, size_t size)
{
    ranks_list(text, size, run->plan->nranks, is_running, run);
}

bool run_is_over(const struct run *run, int rank)
{
    return !is_running(run, rank);
}

/* ---- ends ---- */

void run_say_killed(struct run *run, uint64_t asked_ns)
{
    char ranks[200];
    int number = run->job.user_signal;
    bool are_many = run->job.alive > 1;
    run_list_running(run, ranks, sizeof(ranks));
    stdio_say(run->stdio, "mpiexec: %s %s did not end within %.3g s after SIG%s, and %s killed\n",
              are_many ? "ranks" : "rank", ranks, (double)(os_now_ns() - asked_ns) / 1e9,
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
    table_abort_message(&run->ranks->table, table_slot(&run->ranks->table, rank), text);
    return text;
}

/* Have the report say that a rank has failed: what, and when. Without memory the report lacks it. */
static void note_failure(struct run *run, const char *what)
{
    static const char who[] = "mpiexec: ";
    struct run_words *words = run->words;
    char *more;
    double after_s = (double)(os_now_ns() - run->started_ns) / 1e9;
    what += strncmp(what, who, sizeof(who) - 1) ? 0 : sizeof(who) - 1;
    if (!run->plan->report ||
        asprintf(&more, "%s  after %.2f s: %s\n", words->failures ? words->failures : "", after_s, what) < 0)
        return;
    free(words->failures);
    words->failures = more;
}

void run_explain_end(struct run *run, int rank, const struct job_facts *f, enum job_cause cause)
{
    char *text = run->words->last, buffer[TABLE_MESSAGE_MAX];
    const char *message;
    size_t size = sizeof(run->words->last);
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
            wide_get_plan(run->wide)->node_of[rank] == (uint32_t)run->words->lost_node) {
            snprintf(text, size, "was lost with its host, of which nothing is heard any more");
            break;
        }
        snprintf(text, size, "was killed by signal %d (%s)%s", WTERMSIG(f->status),
                 strsignal(WTERMSIG(f->status)),
                 limit_of_signal(WTERMSIG(f->status), run->ranks->table.memory_fd));
        break;
    case JOB_CAUSE_CODE: snprintf(text, size, "exited with code %d", WEXITSTATUS(f->status)); break;
    case JOB_CAUSE_UNFINALIZED: snprintf(text, size, "exited without MPI_Finalize"); break;
    case JOB_CAUSE_UNINITIALIZED:
        snprintf(text, size, "exited without MPI_Init, which other ranks have called");
        break;
    }
    size_t len = strlen(run->words->last);
    if (f->tolerant && run->job.state == JOB_RUNNING && !run->plan->goes_on) /* no option says so */
        snprintf(run->words->last + len, sizeof(run->words->last) - len, "; the job goes on");
    note_failure(run, run->words->last);
    mpir_abort(run->words->last);
}

bool run_has_last_words(const struct run *run)
{
    return run->words->last[0] != 0;
}

void run_say_last_words(struct run *run)
{
    stdio_say(run->stdio, "%s\n", run->words->last);
    run->words->last[0] = 0;
}

const char *run_failures(const struct run *run)
{
    return run->words->failures;
}
