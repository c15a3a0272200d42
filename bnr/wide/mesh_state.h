/* SPDX-License-Identifier: BSD-3-Clause */

/* The state of a node among the others: for mesh.c and mesh_facts.c alone. */
#ifndef BNR_MESH_STATE_H
#define BNR_MESH_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/tree/node.h"
#include "bnr/wide/addresses.h"
#include "bnr/wide/daemon_link.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/mesh_settings.h"

struct mesh_peer;

struct mesh {
    uv_loop_t *loop;
    struct mesh_settings settings;
    struct mesh_hooks hooks;
    struct daemon_link_owner owner;
    struct node_engine node;
    bool is_begun, is_ending, is_over, is_paused, is_running;
    uv_tcp_t listener;
    bool is_listening;
    uv_timer_t tick;
    uv_prepare_t before_sleep; /* writes the sent messages */
    struct daemon_link *unsent;
    struct addresses own;
    struct addresses_networks networks;
    struct mesh_peer *peers;       /* by node */
    struct daemon_link *strangers; /* without a proof so far */
    struct daemon_link *opened;    /* by pipes, and not up yet */
    uint32_t stranger_count;
    struct effects effects; /* still to be carried out */
    size_t next_effect;
};

#endif
