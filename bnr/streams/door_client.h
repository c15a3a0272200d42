/* SPDX-License-Identifier: BSD-3-Clause */

/* A process that has come in by the door: its connection, and the descriptors that are served for
 * it. */
#ifndef BNR_DOOR_CLIENT_H
#define BNR_DOOR_CLIENT_H

#include "bnr/core/hash.h"

#include "bnr/streams/door.h"

enum {
    DOOR_CLIENTS_MAX = 4096
};

struct door {
    uv_loop_t *loop;
    struct door_hooks hooks;
    uv_poll_t listener;
    int fd, spare; /* spare: released for a moment where descriptors have run out */
    uint64_t last_party;
    struct door_client *clients; /* by party */
};

struct door_client {
    uint64_t party;
    UT_hash_handle hh;
    struct door *door;
    uv_poll_t poll;
    int fd;
    uv_poll_t life; /* of the process: a child of its may hold the connection, and knows nothing of it */
    int pidfd;      /* -1: the kernel does not tell */
    uv_timer_t last; /* never started: the memory goes when the loop has closed all handles */
    int handles;
    bool is_deaf;                /* nothing of it is listened for any more */
    bool is_gone;                /* the connection is closed; descriptors may still be served */
    bool is_released;            /* taken out of the door */
    int wish;                    /* 0: not heard yet */
    struct door_end *ends;       /* descriptors, by id */
    struct door_own *own;        /* what the process reads and writes itself, by id */
    int passed[8], passed_count; /* that have come, and belong to no message yet */
    uint8_t *in, *out;
    size_t in_len, out_len, out_room, out_at;
};

/* Serve a connection, which is taken over. */
void door_client_create(struct door *d, int fd);
void door_client_hear(struct door_client *c, const struct hub_message *m);
/* The connection is over; what it has brought is served to its end. */
void door_client_leave(struct door_client *c);
/* Close all at once. */
void door_client_destroy(struct door_client *c);

#endif
