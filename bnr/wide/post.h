/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The letters of BNR_Xcast at the daemon of a machine, or at mpiexec: taken from the rings of the
 * ranks here, handed to the node's engine as xcasts, and put into the rings of those that they are
 * for. In a job on one machine there is no engine: letters go from ring to ring.
 *
 * A letter to a daemon, behind its length: u32 mode (enum mail_mode), u32 tag, u32 count of ranges,
 * u32 first and last rank of each, data. As an xcast: u32 its rank, and the same from the tag on.
 * To a rank: u32 from, u32 tag, data; from UINT32_MAX: of mpiexec; with tag 0, u32 number of letters that are
 * missing. A letter of mode MAIL_ORDER is for mpiexec: its tag is 0, and it has no ranges.
 *
 * A rank that takes nothing holds nobody up: excess letters are dropped, and it is told.
 */
#ifndef BNR_POST_H
#define BNR_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "bnr/core/bytes.h"

enum {
    POST_WAITING_MAX = 32 << 20 /* bytes that wait for a rank */
};

struct post_rank;
struct rank_map;
struct ranks;
struct xcast_input;

struct post {
    struct ranks *ranks;
    const struct rank_map *map; /* NULL: all ranks are here */
    /* Hand an xcast to the engine: 0, XCAST_AGAIN or a fatal one. Takes the data over. */
    int (*submit)(void *arg, const struct xcast_input *input);
    void *arg;
    /* At mpiexec: a rank gives it an order (bnr/host/order.h). NULL: orders are dropped. */
    void (*order)(void *arg, int rank, const uint8_t *data, size_t len);
    void *order_arg;
    /* mpiexec answers an order of a rank here, by this letter. Returns whether it has been taken; NULL: letters go
     * to the rings. */
    bool (*told)(void *arg, int rank, const uint8_t *letter, size_t len);
    void *told_arg;
    uint32_t tag; /* of the xcasts */
    struct post_rank *all;
    uint32_t count;
};

/* Serve the ranks of the table that are here; what the owner sets is set. Returns 0 or -ENOMEM. */
int post_start(struct post *p);
void post_stop(struct post *p);

/* Look at all rings. Returns whether there is more to take, after others have had their turn. */
bool post_look(struct post *p);
/* The same for the rank at this place among those that run here. */
bool post_look_at(struct post *p, uint32_t at);

/* An xcast has come: origin, and the part of data behind its addresses. */
void post_deliver(struct post *p, uint32_t origin, struct bytes *data, struct unpacking u);

/* The same of an xcast with an order. */
void post_order(struct post *p, uint32_t origin, struct unpacking u);

/* Give mpiexec an order in the name of a rank that runs here. Returns 0, -EAGAIN or another -errno. */
int post_say_order(struct post *p, int rank, const void *data, size_t len);

/* Pack a letter of mpiexec's to a rank, as post_deliver() takes it. */
void post_pack(struct packing *p, int rank, uint32_t tag, const void *data, size_t len);

#endif
