/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state of a job over several machines (wide.h): for wide.c and the other files of its parts. As comments say, each
 * part is made and changed by one of them.
 */
#ifndef BNR_WIDE_STATE_H
#define BNR_WIDE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/bytes.h"
#include "bnr/host/host.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_plan.h"

struct bringup;
struct bringup_host;
struct mesh;
struct party_link;
struct rank_map;
struct serve;
struct stream_in;
struct table_host;
struct wide_order;

/* A node as far as it is known. */
struct wide_node {
    struct wide *wide;
    uint32_t node, cpus;
    char id[HOST_ID_MAX], name[256];
    bool is_known, is_lost, is_big_endian;
    bool is_tolerant; /* some rank there goes on after failures, or did when it was lost */
    bool is_found; /* we know its address, and dial it if it does not dial us */
};

struct wide {
    uv_loop_t *loop;
    struct wide_plan plan;
    struct wide_hooks hooks;
    struct mesh *mesh;          /* wide_tree.c */
    struct bringup *bringup;    /* wide_reach.c */
    struct bringup_host *hosts; /* nodes 1 ...; likewise */
    struct wide_node *nodes;
    struct party_link *parties; /* by node: messages between its ends and the hub; wide_tree.c */
    struct stream_in *words;    /* by node: what its daemon tells; wide_words.c */
    uint8_t job[16], secret[16];
    struct table_host *table_hosts; /* machines with ranks; this and the following: wide_job.c */
    uint32_t *host_of;              /* by rank: which of these */
    uint32_t *node_of_host;
    uint32_t host_count;
    struct rank_map *map;
    struct serve *serve; /* NULL: not yet */
    struct ranks *ranks;
    bool is_serving, is_up, is_ending, is_piped;
    struct wide_order *orders, **last_order; /* that could not be said yet; wide_orders.c */
    struct packing ended; /* ends of ranks that daemons are told of soon; wide_ends.c */
    uv_timer_t tell, reach;
    char *daemon;
    struct {
        int pid;
        char *report, *abort, *cpus;
        bool is_debugged; /* see wide_is_debugged() */
    } * told; /* by rank: what its daemon has told */
};

#endif
