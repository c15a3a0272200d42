/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All groups of a process that have collective calls: frames that come find theirs by its id. Without I/O.
 *
 * A frame may be here before its group is: the others have heard first that it has been made. So frames of unknown
 * groups wait while a call is under way here that may make one. Otherwise the sender is told that this process is
 * not of the group any more, or never was: the group is broken for it.
 */
#ifndef BNR_RALLIES_H
#define BNR_RALLIES_H

#include "bnr/group/rally.h"
#include "include/bnr.h"

enum {
    RALLIES_HEAD = 40,                /* of a frame on the wire */
    RALLIES_HELD_MAX = 1024,          /* frames of unknown groups that wait */
    RALLIES_HELD_BYTES_MAX = 64 << 20
};

/* The head of a frame on the wire, in network byte order: u32 length of the bytes behind it, u8 kind, 3 zero, u32
 * call, u32 code, u64 what, 16 bytes of the group's id. */
void rallies_put_head(uint8_t head[RALLIES_HEAD], const BNR_Gid *gid, const struct rally_frame *frame);
/* Read one, but for the bytes. Returns the length of these, or -1: it is none. */
long rallies_get_head(const uint8_t head[RALLIES_HEAD], BNR_Gid *gid, struct rally_frame *frame);

struct rallies;

struct rallies_member {
    struct rallies_member *next;
    struct rallies *all;
    BNR_Gid gid;
    struct rally rally;
    struct rallies_member *base; /* NULL: none, or it is gone */
};

struct rallies_held;

struct rallies {
    struct rallies_member *first;
    int making; /* calls under way that may make groups */
    struct rallies_held *held, **held_end;
    int held_count;
    size_t held_bytes;
    struct rally_hooks hooks;
    void *arg;
    /* Tell a neighbour that the group of this id is broken. */
    void (*refuse)(void *arg, int link, const BNR_Gid *gid);
};

/* hook broken is its own. */
void rallies_init(struct rallies *all, const struct rally_hooks *hooks, void *arg);
void rallies_fini(struct rallies *all);

struct rallies_member *rallies_find(struct rallies *all, const BNR_Gid *gid);
/* The group of which this is a part. */
struct rallies_member *rallies_of(const struct rally *a);

/* Add a group, at which rally has been initialized; it is moved. Frames that wait for it are heard. NULL: no memory,
 * and then rally is finished. */
struct rallies_member *rallies_add(struct rallies *all, const BNR_Gid *gid, struct rally *rally,
                                   struct rallies_member *base);
/* Forget a group; says nothing to others. */
void rallies_remove(struct rallies *all, struct rallies_member *member);

/* This process has left the call by which others have made a group on this base, or could not make it: they are told. */
void rallies_shun(struct rallies *all, const struct rallies_member *base, const BNR_Gid *gid);

/* A call has begun (1) or ended (-1) that may make a group. */
void rallies_make(struct rallies *all, int more);

/* As rally_heard(), for the group with this id. */
int rallies_heard(struct rallies *all, int link, const BNR_Gid *gid, const struct rally_frame *frame);
void rallies_lost(struct rallies *all, int link);

#endif
