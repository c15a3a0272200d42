/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job over several machines, at mpiexec, which is node 0: its daemons are brought up, the job is
 * sent to them, and what they tell comes back: messages to the hub of streams, and ends of ranks.
 * The fate of the job is decided elsewhere (bnr/run/).
 */
#ifndef BNR_WIDE_H
#define BNR_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <uv.h>

struct hub_message;
struct launch_message;
struct name_answer;
struct name_ask;
struct ranks;
struct remote;
struct rollup_run;
struct serve;
struct table_wide;
struct unpacking;
struct wide;
struct wide_plan;

struct wide_hooks {
    void (*say)(void *arg, const char *text); /* for people */
    void (*ready)(void *arg, bool is_good);   /* all daemons are there, or the job cannot begin */
    void (*started)(void *arg, int rank, int pid);
    void (*failed)(void *arg, int rank, int code, const char *why);
    void (*ended)(void *arg, int rank, const struct rollup_run *run); /* on another machine */
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

/* A job that is on the nodes of a plan, which passes to it. Nothing is begun. NULL: no memory. */
struct wide *wide_create(struct wide_plan *plan);
/* Begin to bring the daemons up. Returns 0 or -errno. */
int wide_start(struct wide *w, uv_loop_t *loop, const struct wide_settings *settings,
               const struct wide_hooks *hooks);

/* Which rank is on which node. */
const struct wide_plan *wide_get_plan(const struct wide *w);
/* Whether a rank runs on another machine. */
bool wide_is_elsewhere(const struct wide *w, int rank);

/* How many machines are there by now, this one included. */
uint32_t wide_up_count(const struct wide *w);
/* Whether the daemons are all there, and know of each other. */
bool wide_is_up(const struct wide *w);
/* This process has stood still for so long. */
void wide_stood_still(struct wide *w, uint64_t ns);
/* Write the numbers of the commands that daemons were started with, and that run: at most max. Returns how many run,
 * if max is 0. */
uint32_t wide_commands(const struct wide *w, pid_t *pids, uint32_t max);

/* The daemons are there: list the hosts of the job's table. Returns 0 or -ENOMEM. */
int wide_list_hosts(struct wide *w);
uint32_t wide_host_count(const struct wide *w);
/* The parts that the job's table is made of. Valid while w is. */
struct table_wide wide_table(const struct wide *w);

/* Send the job to all; the ranks of this machine are then to be started. Returns 0, -EMSGSIZE: longer
 * than XCAST_DATA_MAX; or another -errno. */
int wide_launch(struct wide *w, struct launch_message *job, struct ranks *ranks);

/* The service of the ranks here, which wide_launch() begins. */
struct serve *wide_serve(const struct wide *w);

/* A child has ended. Returns whether it was one of w's. */
bool wide_reaped(struct wide *w, int pid, int status);

/* Orders to all daemons. */
void wide_ask(struct wide *w, uint32_t number);
void wide_signal(struct wide *w, int rank, int number); /* rank -1: all */
void wide_unread(struct wide *w, int fd);
/* A letter of mpiexec's to a rank. */
void wide_tell(struct wide *w, int rank, uint32_t tag, const void *data, size_t len);
void wide_pause(struct wide *w, bool is_paused);
void wide_go(struct wide *w);
void wide_resize(struct wide *w, const struct winsize *size);

/* Pass a call about a name to all daemons. */
void wide_ask_name(struct wide *w, const struct name_ask *ask);
/* Whether a daemon will answer: it is no lost one's node. */
bool wide_answers(const struct wide *w, uint32_t node);

/* Say something to a process at the door of a node; NULL: cut it off. */
void wide_say_party(struct wide *w, uint32_t node, uint32_t party, const struct hub_message *m);

/* End the daemons, and wait until they are gone. */
void wide_end(struct wide *w);
/* Close everything; the loop must run once more, then wide_destroy(). */
void wide_close(struct wide *w);
/* Accepts NULL. */
void wide_destroy(struct wide *w);

/* Whether some rank on another machine has asked that others go on after failures, as far as its daemon has told. */
bool wide_some_tolerate(const struct wide *w);

/* Whether a rank on another machine, which waits in MPI_Init, has a debugger. */
bool wide_is_debugged(const struct wide *w, int rank);

/* The name of a rank's host. */
const char *wide_name(const struct wide *w, int rank);

/* What the daemon of a rank on another machine has told of it. */
int wide_pid(const struct wide *w, int rank);
const char *wide_cpus(const struct wide *w, int rank);   /* that it may use; NULL: not told */
const char *wide_report(const struct wide *w, int rank); /* that it has left for --report; NULL: none */
const char *wide_abort(const struct wide *w, int rank);  /* the message of its abort; "": none */

#endif
