/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where a debugger finds the message queues of a process that it has stopped. The MPI library has
 * one constant, MPIR_queues; queues/, a library that the debugger loads, knows of the
 * process's memory what stands in them, and nothing else. All numbers are offsets in bytes.
 */
#ifndef QUEUES_H
#define QUEUES_H

#include <stdint.h>

enum {
    QUEUES_VERSION = 2, /* counted up where any struct here changes */
    QUEUES_GID_LEN = 16
};

/* What the device has. */
struct queues_device {
    const void *match;   /* struct match */
    const void *vcs;     /* struct vc *: the first, or NULL */
    struct {
        uint32_t alone;  /* struct mpid_request *, or NULL */
        uint32_t buckets, shift; /* of the table of posted receives: struct mpid_place **, and 64
                                  * less the binary logarithm of their number */
        uint32_t unexpected;     /* struct unexpected *: the first */
    } in_match;
    struct {
        uint32_t next, chain;          /* of one key, in a ring; of one bucket */
        uint32_t context, rank, tag;   /* 32 bits each; -1: any */
    } in_place;
    struct {
        uint32_t place, base, len, next;
    } in_request;
    struct {
        uint32_t next, place, total, data;
    } in_unexpected;
    struct {
        uint32_t next, gid, rank;
        uint32_t sends[4]; /* lists: struct mpid_request * */
    } in_vc;
};

/* MPIR_queues: all that is known, and what the MPI layer has. */
struct queues_layout {
    char magic[8];          /* "VIREOQ" */
    uint32_t version, size; /* of this struct */
    const struct queues_device *device;
    const void *first;  /* struct comm *: the newest, or NULL */
    const void *world;  /* the name of the process group of MPI_COMM_WORLD, 16 bytes */
    uint32_t contexts;  /* of a communicator; its messages have the first */
    uint32_t name_max;
    struct {
        uint32_t next, context, rank, group, remote, name;
    } in_comm;
    struct {
        uint32_t size, gid, first, stride;
        uint32_t ranks, gids; /* pointers to 32 bits, and 16 bytes of name, for each member; NULL: as above */
    } in_group;
};

extern const struct queues_device mpid_queues;

#endif
