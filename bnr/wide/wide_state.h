/* SPDX-License-Identifier: BSD-3-Clause */

/* The state of a job over several machines (wide.h): for wide.c and for the files of bnr/run that look at it. */
#ifndef BNR_WIDE_STATE_H
#define BNR_WIDE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/tree/rank_map.h"
#include "bnr/wide/bringup.h"
#include "bnr/wide/mesh_state.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_plan.h"

struct table_host;
struct wide_node;
struct wide_order;

struct wide {
    uv_loop_t *loop;
    struct wide_plan plan;
    struct wide_hooks hooks;
    struct mesh mesh;
    struct bringup bringup;
    struct bringup_host *hosts; /* nodes 1 ... */
    struct wide_node *nodes;
    struct table_host *table_hosts; /* machines with ranks */
    uint32_t *host_of;              /* by rank: which of these */
    uint32_t *node_of_host;
    uint32_t host_count;
    struct rank_map map;
    struct serve *serve; /* NULL: not yet */
    struct ranks *ranks;
    bool is_serving, is_up, is_ending, is_piped;
    struct wide_order *orders, **last_order; /* that could not be said yet */
    struct packing ended; /* ends of ranks that daemons are told of soon */
    uv_timer_t tell, reach;
    char *daemon;
    struct {
        int pid;
        char *report, *abort, *cpus;
        bool is_debugged; /* see wide_is_debugged() */
    } * told; /* by rank: what its daemon has told */
};

#endif
