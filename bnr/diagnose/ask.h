/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The hang report, as the launcher sees it: ask_report() gives a text. mpiexec itself asks (at a
 * signal, at a time limit), and so does each process that comes in by the door (`vireo report`).
 * All that ask while a report is being made get the same one. Reports of spawned jobs stand behind it.
 *
 * The question is a count in the host table, the ranks' answers are in the host memory (table.h).
 * mpiexec does not read them: the program vireo-diagnose does (include/diagnose.h), while the loop
 * goes on.
 */
#ifndef BNR_ASK_H
#define BNR_ASK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/diagnose/below.h"
#include "bnr/diagnose/patience.h"
#include "bnr/host/table.h"
#include "include/diagnose.h"

enum {
    ASK_MAX = 8
};

/* Gets the report, or a line that says why there is none; valid during the call. */
typedef void (*ask_fn)(void *arg, const char *report);

/* The answer of a rank on another machine to the question with this number. */
struct ask_far {
    uint32_t number;
    enum diagnose_state state;
    int pid;
    char *text;
    size_t len;
};

struct ask_client;
struct filter;

struct ask {
    const struct table *table;
    char job[80];           /* "1234 (a.out)" */
    char program[PATH_MAX]; /* that makes the report */
    struct filter *filter;  /* it runs; NULL otherwise */
    struct below below;     /* the list is the caller's to set, after ask_start() */
    char *report;           /* it waits for reports of spawned jobs; NULL otherwise */
    uv_timer_t timer;
    struct ask_far *far; /* by rank; NULL: all are on this machine */
    void (*ask_far)(void *arg, uint32_t number);
    void *far_arg;
    struct patience patience;
    uint64_t deadline_ns; /* for answers; of ranks that have no processor, it is late_ns */
    uint64_t late_ns;
    uint64_t asked_ns, answered_ns; /* the last answer was seen */
    int answered;                   /* ranks that are not silent */
    struct {
        ask_fn done;
        void *arg;
    } waiting[ASK_MAX];
    int count;                  /* of the wait for answers; 0: no question is open */
    struct ask_client *clients; /* connected */
};

/* Be ready, on a loop, for a job of these programs. */
void ask_start(struct ask *a, uv_loop_t *loop, const struct table *table, const char *programs);
/* Close everything; the loop must run once more. */
void ask_stop(struct ask *a);

/* Some ranks are on other machines: have them asked by ask_far. Returns 0 or -ENOMEM. */
int ask_reach(struct ask *a, void (*ask_far)(void *arg, uint32_t number), void *arg);
/* One of them has answered; the text is copied. */
void ask_take(struct ask *a, int rank, const struct ask_far *answer);

/* Send a report to a process that has come in by the door (bnr/streams/door.h); its connection is
 * taken over. */
void ask_serve(struct ask *a, int fd);

/* Send another text in its place. */
void ask_send(struct ask *a, int fd, const char *text);

/* Make a report, and call done with it soon. Returns whether it will be called. */
bool ask_report(struct ask *a, ask_fn done, void *arg);

/* Whether some rank has called MPI_Init: otherwise there is nothing to ask. */
bool ask_has_ranks(const struct ask *a);

#endif
