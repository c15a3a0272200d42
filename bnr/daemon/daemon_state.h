/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state of a daemon, and its parts. Each part is made and freed by one module of bnr/daemon, as the
 * comments here say; others use it by the part's own header. Everything runs in the loop's thread.
 */
#ifndef BNR_DAEMON_STATE_H
#define BNR_DAEMON_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct daemon {
    uv_loop_t loop;
    uv_timer_t deadline; /* to reach mpiexec: daemon_reach.c */
    uv_timer_t late;     /* mpiexec is not reached yet: daemon_reach.c */
    uv_timer_t watch;    /* for debuggers of ranks that wait in MPI_Init: daemon_start.c */
    uv_idle_t starting;  /* while ranks are to be started, and nothing else is to be done: daemon_start.c */
    int out_fd;          /* the stdout of the command that has started this program */
    int null_fd;
    char *name; /* for the wardens */
    size_t name_size;
    struct mesh *mesh;           /* daemon.c */
    struct words *words;         /* daemon_events.c */
    struct answers *answers;     /* daemon_events.c */
    struct signals *signals;     /* daemon_events.c */
    struct launch_message *job;  /* zero before it comes: daemon_job.c */
    struct rank_map *map;        /* of all ranks: daemon_job.c */
    struct serve *serve;         /* once the ranks are served: daemon_job.c */
    struct ranks *ranks;         /* daemon_ranks.c */
    struct ranks_app *apps;      /* daemon_place.c */
    struct place *place;         /* daemon_place.c */
    struct amend *amend;         /* daemon_place.c */
    struct pipes *pipes;         /* daemon_streams.c */
    struct party_link *parties;  /* daemon_streams.c */
    struct door *door;           /* NULL: none; daemon_streams.c */
    uint32_t next;               /* the first rank that was not started, or given up */
    uint32_t cpus;               /* of this machine, once they were counted */
    bool has_job, has_groups;
    bool is_tolerant; /* some rank here goes on after failures, as mpiexec was told */
    bool is_over;     /* the loop ends */
    int code;
};

#endif
