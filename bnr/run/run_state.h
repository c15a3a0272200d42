/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job while it runs: what was asked for, where it stands, and its parts. Each part is made, changed and freed by one
 * module of bnr/run, as the comments here say; others see it by that module's functions. Everything runs in the loop's
 * thread.
 */
#ifndef BNR_RUN_STATE_H
#define BNR_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/job.h"

struct run {
    /* As it was asked for; see run.h. */
    const struct plan *plan;
    char *const *paths;
    struct amend *amend;
    const struct debugger *debugger;
    int records_fd;

    uv_loop_t loop;
    struct job job;
    int null_fd;
    uint64_t begun_ns, started_ns;
    bool has_table; /* the ranks have their numbers, and may be signalled */
    bool drained;   /* all that ranks have written is out */
    bool abandoned; /* the user does not want to wait for that */
    bool holds;     /* ranks wait for a debugger, ... */
    bool is_published; /* ... which has been told of them */

    /* Parts that several modules use. */
    struct ranks *ranks;    /* those here, and the table of all: run_table.c */
    struct ranks_app *apps; /* run_table.c */
    struct serve *serve;    /* for the ranks here, once they are served: run_ranks.c, or run_send.c */
    struct stdio *stdio;    /* run_output.c */
    struct pipes *pipes;    /* of the ranks here: run_streams.c */
    struct wide *wide;      /* the other machines; NULL: all ranks run here: run_wide.c */
    struct ask *ask;        /* the hang report; NULL: not yet: run_ask.c */

    /* Parts that only their module knows. */
    struct run_end *end;
    struct run_interrupt *interrupt;
    struct run_keepalive *keepalive; /* NULL: there is no --keepalive */
    struct run_output *output;
    struct run_streams *streams;
    struct run_daemons *daemons; /* run_wide.c */
    struct run_processes *processes;
    struct run_look *look;       /* run_debugger.c; NULL: no rank is awaited */
    struct foreign_watch *foreign; /* run_foreign.c; NULL: nothing is looked for */
    struct run_names *names;
    struct run_spawns *spawns;
    struct run_taken *taken;     /* run_room.c; NULL: they take nothing */
    struct run_words *words;
    int typed_to; /* living ranks whose terminals get typed keys: run_terminal.c */
};

#endif
