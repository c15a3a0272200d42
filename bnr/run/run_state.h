/* SPDX-License-Identifier: BSD-3-Clause */

/* A job, and the reactions to its events: for run.c, run_streams.c and run_wide.c. */
#ifndef BNR_RUN_STATE_H
#define BNR_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/job.h"
#include "bnr/core/stream/lines.h"
#include "bnr/host/order.h"
#include "bnr/diagnose/ask.h"
#include "bnr/stdio/prefix.h"
#include "bnr/io/ranks.h"
#include "bnr/io/signals.h"
#include "bnr/io/tell.h"
#include "bnr/stdio/forward.h"
#include "bnr/stdio/progress.h"
#include "bnr/streams/exchange.h"
#include "bnr/streams/pipes.h"

struct amend;
struct debugger;
struct hub_message;
struct name_answer;
struct plan;
struct run_name;
struct run_name_call;
struct run_spawned;
struct serve;
struct wide;

struct run {
    const struct plan *plan;
    char *const *paths;
    struct amend *amend;
    uint64_t begun_ns, started_ns;
    uint64_t asked_ns; /* when the user has first asked the job to end; 0: not yet */
    struct prefix prefix;
    struct lines_labels labels;
    uv_loop_t loop;
    uv_timer_t grace, timeout, reminder;
    uv_poll_t keepalive;                        /* of --keepalive */
    void (*take_signal)(void *arg, int number); /* at its end; NULL: there is none */
    void (*signal_rank)(struct run *run, int rank, int number); /* wherever it runs; rank -1: all */
    bool tells; /* it leads to a spawner that wants to hear of the ranks */
    uint8_t *telling;                           /* records on the way there */
    size_t telling_len, telling_room;
    uint8_t heard[ORDER_SIGNAL_LEN];            /* of a signal from there */
    size_t heard_len;
    struct signals signals;
    struct ask ask;
    struct exchange exchange;
    uint64_t linger_ns; /* until then a reader of streams is waited for; 0: not yet */
    uint64_t linger_count; /* bytes that readers had taken when that was set (hub_taken_count()) */
    struct tell_process *processes; /* by rank; pid 0: it has not been started yet */
    int started_count;
    bool is_telling; /* of them, to a file */
    bool holds, is_published; /* ranks wait for a debugger; it has been told of them */
    const struct debugger *debugger; /* of --debugger, or NULL */
    uv_timer_t look;                 /* for that */
    int looks;
    uv_timer_t foreign_look; /* for another MPI library */
    int foreign_looks;
    struct progress progress;
    int typed_to;       /* living ranks whose terminals get typed keys */
    bool is_late;       /* --timeout has passed */
    struct stdio *stdio;
    struct pipes pipes; /* of the ranks here */
    struct ranks ranks;
    struct ranks_app *apps;
    struct job job;
    struct wide *wide;  /* NULL: all ranks run here */
    struct serve *serve; /* of the ranks here, once they are served; wide's, if there is one */
    int records_fd;         /* of XML; or 0 */
    bool is_ready, is_good; /* of its daemons: all have been heard of; all are there */
    bool has_table, has_ask;
    bool *is_over;                            /* by rank: it has ended */
    bool has_tolerated;                       /* a rank that has ended had asked that others go on after failures */
    struct run_name *names;                   /* that ranks have published */
    struct run_name_call *name_calls;         /* that wait for answers of daemons */
    uint32_t name_number;                     /* of the last such call */
    struct run_spawned *spawned;              /* jobs that ranks have started, and that run, ... */
    uint32_t *taken;                          /* ... and their processes: by host of the options (NULL: none), ... */
    uint32_t taken_cpus;                      /* ... and those that are bound to free processors here */
    int lost_node;                            /* the last that was lost; its ranks end with it */
    char *failures; /* lines of the report: who has failed, how, and when; malloc'ed, or NULL */
    char last_words[TABLE_MESSAGE_MAX + 512]; /* to be said at the next turn of the loop */
    bool drained;
    bool abandoned; /* the user does not want to wait for the output */
    int null_fd;
};

/* Whether a rank runs on another machine; arg is the run. */
bool run_is_elsewhere(void *arg, int rank);
/* Whether some rank has asked that others go on after failures. */
bool run_some_tolerate(const struct run *run);
/* The name of a rank's host. */
const char *run_host_of(struct run *run, int rank);

int run_pid_of(struct run *run, int rank);
/* Put into words why a rank's end is a failure. They are said after what the rank wrote. */
void run_explain_end(struct run *run, int rank, const struct job_facts *f, enum job_cause cause);
/* The ranks that run, wherever they do, as 0-3,7. */
void run_list_running(struct run *run, char *text, size_t size);
/* The user has sent a signal, and ranks have not ended: say that they are killed. */
void run_say_killed(struct run *run);
/* Print what --report asks for. */
void run_print_report(struct run *run);
/* Have the report say that a rank has failed: what, and when. */
void run_note_failure(struct run *run, const char *what);

/* Do what a step of the job says. */
void run_follow(struct run *run, struct job_step step);
/* A rank has ended, wherever it was. */
void run_take_end(struct run *run, int rank, const struct job_facts *facts);
/* One that had ended well is missed by others. */
void run_take_missed(struct run *run, int rank);

/* ---- run_processes.c ---- */

/* Before the first rank is started: whether they are to wait for a debugger. Returns 0 or -ENOMEM. */
int run_processes_begin(struct run *run);
/* A rank has been started. */
void run_processes_note(struct run *run, int rank);
/* Tell debuggers and users of all processes, once all ranks have been started. */
void run_processes_publish(struct run *run);

/* ---- run_debugger.c ---- */

/* All ranks have been started, and wait: open the windows of their debuggers, or say how to debug
 * them. The ranks go on when each has its own. */
void run_debugger_start(struct run *run);
/* The user has ranks go on that wait for debuggers. */
void run_debugger_go_on(struct run *run);

/* ---- run_keepalive.c ---- */

/* End the job, by take_signal, when the pipe of --keepalive ends. Returns 0 or -errno. */
int run_keepalive_start(struct run *run, void (*take_signal)(void *arg, int number));
void run_keepalive_stop(struct run *run);
/* Tell a group's spawner an ORDER_TOLD_. */
void run_keepalive_tell(struct run *run, uint32_t what, int rank, int status);

/* ---- run_spawn.c ---- */

/* Ranks are served: take their orders to start jobs. */
void run_spawn_begin(struct run *run);
/* A child has ended. Returns whether it was the mpiexec of such a job; *failed: the code with which this job is to
 * end for that, or 0. */
bool run_spawn_reaped(struct run *run, int pid, int status, int *failed);
/* Signal all of them. */
void run_spawn_signal(struct run *run, int number);
/* How many there are; pids (may be NULL): which. */
uint32_t run_spawn_pids(const struct run *run, pid_t *pids);
/* Those that are left end, too. */
void run_spawn_stop(struct run *run);

/* ---- run_orders.c ---- */

/* Answer a rank's order. */
void run_orders_answer(struct run *run, int rank, uint32_t id, int status, const char *text);

/* ---- run_names.c ---- */

/* An order about a name: ORDER_PUBLISH, ORDER_UNPUBLISH or ORDER_LOOKUP; its words end with NULL, or are NULL. */
struct run_named {
    uint32_t kind, id;
    char **words;
};
/* Take one of a rank: the name is published on all hosts of the job, and looked for on all. */
void run_names_take(struct run *run, int rank, const struct run_named *order);
/* A daemon has answered; arg is the run. */
void run_names_answer(void *arg, uint32_t node, const struct name_answer *answer);
/* A node is lost, and will not answer. */
void run_names_lost(struct run *run, uint32_t node);
/* A rank has ended: its names go. */
void run_names_rank_ended(struct run *run, int rank);
/* All names go. */
void run_names_stop(struct run *run);

/* ---- run_apps.c ---- */

/* Prepare the start of each program. Returns 0 or -errno. */
int run_apps_prepare(struct run *run);
void run_apps_free(struct run *run);

/* ---- run_foreign.c ---- */

/* The ranks have been started: look whether the first one here uses another MPI library. */
void run_foreign_start(struct run *run);
void run_foreign_stop(struct run *run);

/* ---- run_terminal.c ---- */

/* Whether a rank has a terminal of its own; arg is the run. */
bool run_has_terminal(void *arg, int rank);
/* The ranks have been started: typed keys go to those with a terminal. */
void run_terminal_begin(struct run *run);
/* A rank has ended. */
void run_terminal_ended(struct run *run, int rank);
/* Have mpiexec's terminal back while it stands still; have it as it was. */
void run_terminal_pause(struct run *run);
void run_terminal_go_on(struct run *run);
/* mpiexec's terminal has another size. */
void run_terminal_resize(struct run *run);

/* ---- run_streams.c ---- */

/* Be ready for requests of a report. */
void run_ask_start(struct run *run);
/* Open the door, and begin to exchange streams. Returns 0 or -ENOMEM. */
int run_streams_start(struct run *run);
/* Say something to the hub, as mpiexec itself; arg is the run. */
void run_streams_say(void *arg, const struct hub_message *m);

/* Open the file of a rank's stdout (0) or stderr (1) while the loop goes on. Returns a descriptor,
 * -ECANCELED where the job ends meanwhile, or -errno. */
int run_open_file(struct run *run, int stream, int rank);
/* A file of what a rank writes to fd cannot be written: the job ends; arg is the run. */
void run_file_failed(void *arg, int rank, int fd, int rc);
/* The reader of the ranks' fd has gone; arg is the run. */
void run_streams_unread(void *arg, int fd);

/* A process at the door of another node says something, or is gone; arg is the run. */
void run_streams_far(void *arg, uint32_t node, uint32_t party, const struct hub_message *m);
/* Whether to wait for readers of streams, though all ranks have ended: as long as they take bytes,
 * and for a while if they do not. */
bool run_streams_linger(struct run *run);

/* ---- run_wide.c ---- */

/* Bring the daemons up, and wait for them. Returns whether they are there. */
bool run_wide_bring_up(struct run *run);
/* Send the job to the daemons. Returns 0 or -errno. */
int run_wide_send(struct run *run);
/* Ask ranks on other machines what they wait for; arg is the run. */
void run_wide_ask(void *arg, uint32_t number);

#endif
