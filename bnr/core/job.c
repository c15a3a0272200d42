/* SPDX-License-Identifier: BSD-3-Clause */

/* The life of a job; see job.h. */
#include "bnr/core/job.h"

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

struct transition {
    enum job_state from;
    enum job_event event;
    enum job_state to;
    int signal;
    enum job_grace grace;
};

/* An event that is not in the table changes nothing. */
static const struct transition transitions[] = {
    {JOB_RUNNING, JOB_FAILURE, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_RUNNING, JOB_INTERRUPT, JOB_INTERRUPTED, SIGINT, JOB_GRACE_SAME},
    {JOB_RUNNING, JOB_LEAVE, JOB_LEAVING, SIGTERM, JOB_GRACE_LONG},
    {JOB_RUNNING, JOB_TERMINATE, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_RUNNING, JOB_BROKEN, JOB_KILLING, SIGKILL, JOB_GRACE_SAME},
    {JOB_INTERRUPTED, JOB_FAILURE, JOB_INTERRUPTED, 0, JOB_GRACE_SHORT},
    {JOB_INTERRUPTED, JOB_INTERRUPT, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_INTERRUPTED, JOB_LEAVE, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_INTERRUPTED, JOB_TERMINATE, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_INTERRUPTED, JOB_GRACE, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_INTERRUPTED, JOB_BROKEN, JOB_KILLING, SIGKILL, JOB_GRACE_SAME},
    {JOB_LEAVING, JOB_INTERRUPT, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_LEAVING, JOB_LEAVE, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_LEAVING, JOB_TERMINATE, JOB_TERMINATING, SIGTERM, JOB_GRACE_SHORT},
    {JOB_LEAVING, JOB_GRACE, JOB_KILLING, SIGKILL, JOB_GRACE_SAME},
    {JOB_LEAVING, JOB_BROKEN, JOB_KILLING, SIGKILL, JOB_GRACE_SAME},
    {JOB_TERMINATING, JOB_INTERRUPT, JOB_KILLING, SIGKILL, JOB_GRACE_SAME},
    {JOB_TERMINATING, JOB_GRACE, JOB_KILLING, SIGKILL, JOB_GRACE_SAME},
    {JOB_TERMINATING, JOB_BROKEN, JOB_KILLING, SIGKILL, JOB_GRACE_SAME},
    {JOB_RUNNING, JOB_LAST, JOB_ENDED, 0, JOB_GRACE_SAME},
    {JOB_INTERRUPTED, JOB_LAST, JOB_ENDED, 0, JOB_GRACE_SAME},
    {JOB_LEAVING, JOB_LAST, JOB_ENDED, 0, JOB_GRACE_SAME},
    {JOB_TERMINATING, JOB_LAST, JOB_ENDED, 0, JOB_GRACE_SAME},
    {JOB_KILLING, JOB_LAST, JOB_ENDED, 0, JOB_GRACE_SAME},
};

void job_init(struct job *job, int ranks)
{
    *job = (struct job){.state = JOB_RUNNING, .alive = ranks};
}

struct job_step job_event(struct job *job, enum job_event event)
{
    struct job_step step = {0, JOB_GRACE_SAME};
    for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
        const struct transition *t = &transitions[i];
        if (t->from != job->state || t->event != event)
            continue;
        job->state = t->to;
        step.signal = t->signal;
        step.grace = t->grace;
        if (step.signal)
            job->sent |= (uint64_t)1 << step.signal;
        break;
    }
    return step;
}

struct job_step job_signal(struct job *job, int signal)
{
    if (job->state != JOB_ENDED && !job->user_signal)
        job->user_signal = signal;
    return job_event(job, signal == SIGINT ? JOB_INTERRUPT : JOB_LEAVE);
}

struct job_step job_end(struct job *job, enum job_event event, int code)
{
    if (!job->has_code) {
        job->has_code = true;
        job->exit_code = code;
    }
    return job_event(job, event);
}

enum job_cause job_judge(const struct job_facts *facts, int *code)
{
    if (facts->aborted) {
        int low = facts->abort_code & 0xff;
        *code = low ? low : 1; /* never that of a success */
        return JOB_CAUSE_ABORT;
    }
    if (WIFSIGNALED(facts->status)) {
        *code = 128 + WTERMSIG(facts->status);
        return JOB_CAUSE_SIGNAL;
    }
    *code = WEXITSTATUS(facts->status);
    if (*code)
        return JOB_CAUSE_CODE;
    if (facts->initialized && !facts->finalized) {
        *code = 1;
        return JOB_CAUSE_UNFINALIZED;
    }
    if (!facts->initialized && facts->is_missed) {
        *code = 1;
        return JOB_CAUSE_UNINITIALIZED;
    }
    return JOB_CAUSE_NONE;
}

/* Whether a rank died because mpiexec told it to. */
static bool is_our_doing(const struct job *job, enum job_cause cause, int status)
{
    return cause == JOB_CAUSE_SIGNAL && (job->sent >> WTERMSIG(status) & 1) != 0;
}

/* The step that follows from a cause, which is set to NONE if the user need not learn it. */
static struct job_step blame(struct job *job, enum job_cause *cause, int code, bool is_ours,
                             bool tolerant)
{
    struct job_step step = {0, JOB_GRACE_SAME};
    bool goes_on = (job->goes_on || (tolerant && !job->is_strict)) && job->state == JOB_RUNNING;
    bool is_tolerated = goes_on && *cause != JOB_CAUSE_ABORT;
    bool is_news = !job->has_code || job->state == JOB_RUNNING;
    if (!is_news || is_ours)
        *cause = JOB_CAUSE_NONE;
    if (!job->has_code) {
        job->has_code = true;
        job->exit_code = code;
    }
    if (is_tolerated)
        return step;
    bool gives_up = job->state == JOB_LEAVING && *cause == JOB_CAUSE_ABORT;
    return job_event(job, gives_up ? JOB_TERMINATE : JOB_FAILURE);
}

struct job_step job_missed(struct job *job, enum job_cause *cause)
{
    *cause = JOB_CAUSE_UNINITIALIZED;
    return blame(job, cause, 1, false, false);
}

struct job_step job_rank_ended(struct job *job, const struct job_facts *facts,
                               enum job_cause *cause)
{
    struct job_step step = {0, JOB_GRACE_SAME};
    int code;
    *cause = job_judge(facts, &code);
    job->alive--;
    if (*cause != JOB_CAUSE_NONE) {
        bool is_ours = is_our_doing(job, *cause, facts->status);
        if (is_ours && job->user_signal)
            code = 128 + job->user_signal;
        step = blame(job, cause, code, is_ours, facts->tolerant);
    }
    if (!job->alive)
        step = job_event(job, JOB_LAST);
    return step;
}
