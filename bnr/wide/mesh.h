/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A node among the others: its engine (bnr/core/tree/node.h), its links, its clock. It listens, dials,
 * and carries out the engine's requests; messages for the host go to the hooks. Both mpiexec and
 * each daemon have one. Who makes it includes mesh_settings.h, too.
 */
#ifndef BNR_MESH_H
#define BNR_MESH_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct addresses;
struct bytes;
struct core_message;
struct effects;
struct keys_name;
struct mesh;
struct mesh_settings;
struct rank_map;
struct rollup_run;
struct tree_fence_entry;
struct unpacking;
struct xcast_input;

struct mesh_hooks {
    void (*linked)(void *arg, uint32_t node); /* the first link to a node is there */
    void (*contact)(void *arg, uint32_t node, struct unpacking u);
    void (*deliver)(void *arg, const struct core_message *message, struct unpacking payload);
    void (*answer)(void *arg, const struct core_message *message); /* a fence is over, or a get */
    void (*ranks_ended)(void *arg, const struct core_message *message);
    void (*stream)(void *arg, const struct core_message *message); /* STREAM or CREDIT */
    void (*lost)(void *arg, uint32_t node);
    void (*alone)(void *arg);
    void (*moved)(void *arg); /* a tick has passed, or a link is new: say lost messages again */
    /* Look what processes here want: an xcast may fit that did not before, or another node asks for a
     * key that they may have put since the last look. */
    void (*look)(void *arg);
    void *arg;
};

/* Be a node; nothing is begun. Returns 0 or -errno; *m can be given to mesh_close() if it is 0. */
int mesh_create(struct mesh **m, uv_loop_t *loop, const struct mesh_settings *settings,
                const struct mesh_hooks *hooks);
/* Close everything; the loop must run once more, then mesh_destroy(), which accepts NULL. */
void mesh_close(struct mesh *m);
void mesh_destroy(struct mesh *m);

/* The node's own number, and how many there are. */
uint32_t mesh_self(const struct mesh *m);
uint32_t mesh_count(const struct mesh *m);
/* The radix of the tree, and how long a node may be silent. */
uint32_t mesh_radix(const struct mesh *m);
int64_t mesh_liveness_ns(const struct mesh *m);
/* The id and the secret of the job, of 16 bytes each. */
const uint8_t *mesh_job(const struct mesh *m);
const uint8_t *mesh_secret(const struct mesh *m);
/* Whether mesh_begin() has been called. */
bool mesh_is_begun(const struct mesh *m);

/* Listen on all addresses; mesh_addresses() of the node itself says where. Returns 0 or -errno. */
int mesh_listen(struct mesh *m);

/* Learn where a node is. */
void mesh_know(struct mesh *m, uint32_t node, const struct addresses *addresses);
const struct addresses *mesh_addresses(const struct mesh *m, uint32_t node);

/* Dial a node before there is a tree. */
void mesh_dial(struct mesh *m, uint32_t node);
/* Take a link over two descriptors to a node, instead; is_dialer: this end speaks first. */
int mesh_open(struct mesh *m, uint32_t node, int in_fd, int out_fd, bool is_dialer);
/* Say something to a linked node before there is a tree. Data is taken over. */
int mesh_contact(struct mesh *m, uint32_t node, struct bytes *data);
bool mesh_is_linked(const struct mesh *m, uint32_t node);

/* The tree forms. Returns 0 or -ENOMEM. */
int mesh_begin(struct mesh *m);

/* Events of this host; the outcomes are the engine's. data and value are taken over. */
int mesh_add_group(struct mesh *m, const struct rank_map *group);
int mesh_submit(struct mesh *m, const struct xcast_input *input);
int mesh_put(struct mesh *m, const struct keys_name *name, struct bytes *value);
int mesh_get(struct mesh *m, const struct keys_name *name, uint64_t cookie, unsigned flags);
/* Whether a value is here, perhaps an old one. */
bool mesh_knows(struct mesh *m, const struct keys_name *name);
int mesh_fence(struct mesh *m, uint64_t group, const struct tree_fence_entry *entry);
int mesh_ended(struct mesh *m, uint64_t group, const struct rollup_run *run);

/* Send what a stream asks for; effects is emptied. */
void mesh_route(struct mesh *m, struct effects *effects);

/* Whether there are nodes below this one in the tree. */
bool mesh_has_children(const struct mesh *m);

/* A node is known to be gone, by other ways than its link. */
void mesh_refuse(struct mesh *m, uint32_t node);

/* Silence counts for nothing until it is told otherwise: mpiexec stands still. */
void mesh_pause(struct mesh *m, bool is_paused);

/* All nodes are about to end: one whose link breaks is dialed only some time later. */
void mesh_expect_end(struct mesh *m);

/* Tell all neighbours that this node ends the job. */
void mesh_expel_all(struct mesh *m);

/* Write now what the loop would write before it sleeps. */
void mesh_write(struct mesh *m);

/* Bytes that wait to be written to others. */
size_t mesh_waiting(const struct mesh *m);

#endif
