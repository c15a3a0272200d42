/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job over several machines, at mpiexec, which is node 0: its daemons are brought up, the job is
 * sent to them, and what they tell comes back: messages to the hub of streams, and ends of ranks. Its parts have
 * headers of their own: wide_reach.h, wide_job.h, wide_orders.h, wide_words.h and wide_ends.h.
 * The fate of the job is decided elsewhere (bnr/run/).
 */
#ifndef BNR_WIDE_H
#define BNR_WIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct hub_message;
struct job_facts;
struct name_answer;
struct remote;
struct unpacking;
struct wide;
struct wide_plan;

struct wide_hooks {
    void (*say)(void *arg, const char *text); /* for people */
    void (*ready)(void *arg, bool is_good);   /* all daemons are there, or the job cannot begin */
    void (*started)(void *arg, int rank, int pid);
    void (*failed)(void *arg, int rank, int code, const char *why);
    /* On another machine; is_lost: with it. */
    void (*ended)(void *arg, int rank, const struct job_facts *facts, bool is_lost);
    void (*missed)(void *arg, int rank); /* ended without MPI_Init, which others have called */
    void (*lost)(void *arg, uint32_t node);
    void (*broken)(void *arg, int rc); /* daemons cannot be told what to do: -errno */
    void (*answer)(void *arg, int rank, struct unpacking u); /* u32 number, state, pid; text */
    void (*name)(void *arg, uint32_t node, const struct name_answer *answer);
    /* A daemon, or a process at its door, speaks to the hub; m: NULL, it is gone. */
    void (*party)(void *arg, uint32_t node, uint32_t party, const struct hub_message *m);
    void *arg;
};

/* How daemons are started and reached. */
struct wide_settings {
    const struct remote *remote; /* its daemon: NULL, beside this program */
    const char *prefix;          /* or below that folder; may be NULL */
    bool is_piped;
};

/* Make a job that is on the nodes of a plan, which passes to it; nothing is begun. Returns 0, with NULL where all ranks
 * are on this machine; or -ENOMEM. */
int wide_create(struct wide **w, struct wide_plan *plan);
/* Begin to bring the daemons up. Returns 0 or -errno. */
int wide_start(struct wide *w, uv_loop_t *loop, const struct wide_settings *settings,
               const struct wide_hooks *hooks);

/* How many machines there are, this one included. */
uint32_t wide_count(const struct wide *w);
/* Which rank is on which node. */
const struct wide_plan *wide_get_plan(const struct wide *w);
/* Whether a rank runs on another machine. */
bool wide_is_elsewhere(const struct wide *w, int rank);

/* Say something to a process at the door of a node; NULL: cut it off. */
void wide_say_party(struct wide *w, uint32_t node, uint32_t party, const struct hub_message *m);

/* End the daemons, and wait until they are gone. */
void wide_end(struct wide *w);
/* Close everything; the loop must run once more, then wide_destroy(). */
void wide_close(struct wide *w);
/* Accepts NULL. */
void wide_destroy(struct wide *w);

#endif
