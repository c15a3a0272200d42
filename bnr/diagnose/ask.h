/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Asking the ranks what they wait for: for mpiexec itself (a signal, a time limit), and for those
 * who connect to its socket (`vireo report`). All who ask while an answer is being gathered
 * get the same one.
 *
 * The question is a count in the host table, the answers are in the host memory (table.h). Ranks
 * that have not answered in time are looked up in /proc.
 */
#ifndef BNR_ASK_H
#define BNR_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/host/table.h"

enum {
    ASK_MAX = 8
};

/* Gets the report, valid during the call; NULL: memory is out. */
typedef void (*ask_fn)(void *arg, const char *report);

struct ask_client;

struct ask {
    const struct table *table;
    char job[80]; /* "1234 (a.out)" */
    uv_timer_t timer;
    uv_poll_t listener;
    int fd; /* -1: nobody can connect */
    uint64_t deadline_ns;
    uint64_t asked_ns;
    struct {
        ask_fn done;
        void *arg;
    } waiting[ASK_MAX];
    int count;                  /* of waiting; 0: no question is out */
    struct ask_client *clients; /* connected */
};

/* Be ready, on a loop, for a job of these programs. Nobody can connect where that fails: it is no
 * error. */
void ask_start(struct ask *a, uv_loop_t *loop, const struct table *table, const char *programs);
/* Close everything; the loop must run once more. */
void ask_stop(struct ask *a);

/* Have done called with a report, soon. Returns whether it will be. */
bool ask_report(struct ask *a, ask_fn done, void *arg);

/* Whether some rank has called MPI_Init: otherwise there is nothing to ask. */
bool ask_has_ranks(const struct ask *a);

#endif
