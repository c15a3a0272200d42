/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The life of a job, and what mpiexec exits with. Pure: no I/O, no clock.
 *
 *     RUNNING --interrupt--> INTERRUPTED
 *        |                        | grace, or another signal
 *        +--failure, terminate--> TERMINATING --grace, interrupt--> KILLING
 *        |                        | another signal, abort            |
 *        +--leave---------------> LEAVING ------long grace-----------+
 *     every state --last rank gone--> ENDED
 *
 * A batch system that is about to end the job asks it to leave, and gives it long: ranks may write a
 * checkpoint meanwhile. Another signal says that this is too long.
 *
 * The first failure decides the exit status: the rank's exit code, 128 + its
 * signal, the code of its abort. A rank that dies of a signal that the user
 * sent through mpiexec is no news: the status is then 128 + the user's signal.
 *
 * Where the job goes on after failures, each of them is news, and only an abort ends it. So it is too
 * with the failure of a rank that had asked for that, unless the user wants otherwise.
 */
#ifndef BNR_JOB_H
#define BNR_JOB_H

#include <stdbool.h>
#include <stdint.h>

enum job_state {
    JOB_RUNNING,
    JOB_INTERRUPTED,
    JOB_LEAVING,
    JOB_TERMINATING,
    JOB_KILLING,
    JOB_ENDED
};

enum job_event {
    JOB_FAILURE,   /* a rank ended badly */
    JOB_INTERRUPT, /* SIGINT came */
    JOB_LEAVE,     /* SIGTERM or SIGHUP came */
    JOB_TERMINATE, /* time is up */
    JOB_GRACE,     /* the timer has run out */
    JOB_BROKEN,    /* not all ranks could be started */
    JOB_LAST,      /* no rank is left */
};

/* Why a rank's end is a failure. */
enum job_cause {
    JOB_CAUSE_NONE,
    JOB_CAUSE_ABORT,
    JOB_CAUSE_SIGNAL,
    JOB_CAUSE_CODE,
    JOB_CAUSE_UNFINALIZED, /* exit 0, but initialized and not finalized */
    JOB_CAUSE_UNINITIALIZED, /* exit 0, but never initialized, and others wait for it */
};

/* The facts of a rank that has ended. */
struct job_facts {
    int status; /* as wait() gives it */
    bool initialized, finalized, aborted;
    int abort_code;
    bool is_missed; /* another rank that lives has initialized and not finalized */
    bool tolerant;  /* it had asked that others go on when ranks fail */
};

/* How long ranks have from now on. */
enum job_grace {
    JOB_GRACE_SAME, /* as long as before */
    JOB_GRACE_SHORT,
    JOB_GRACE_LONG
};

/* The next step. */
struct job_step {
    int signal;           /* to every rank that lives; 0: none */
    enum job_grace grace; /* start the timer, or have it run out sooner */
};

struct job {
    enum job_state state;
    int alive;
    bool goes_on;  /* only an abort ends the others; set it after job_init() */
    bool is_strict; /* any failure does, though the rank had asked for something else; likewise */
    bool has_code; /* exit_code is decided */
    int exit_code;
    int user_signal; /* the first that should end the job; 0: none */
    uint64_t sent;   /* bit per signal that mpiexec sent to end ranks */
};

void job_init(struct job *job, int ranks);

/* Move on. */
struct job_step job_event(struct job *job, enum job_event event);

/* A signal of the user came: SIGINT, or one that ends the job. */
struct job_step job_signal(struct job *job, int signal);

/* End the job for a reason of mpiexec's own (JOB_TERMINATE: time is up;
 * JOB_BROKEN): the status is code, whatever the ranks say. */
struct job_step job_end(struct job *job, enum job_event event, int code);

/* A rank has ended. *cause: why the user is told; NONE if not: it ended well, it is not the first,
 * or the user asked for it. */
struct job_step job_rank_ended(struct job *job, const struct job_facts *facts,
                               enum job_cause *cause);

/* A rank that has ended well is missed by others: it has not called MPI_Init, and they have. */
struct job_step job_missed(struct job *job, enum job_cause *cause);

/* Why an end is a failure, and its exit code. */
enum job_cause job_judge(const struct job_facts *facts, int *code);

#endif
