/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The collective calls of one group, at one member. Without I/O.
 *
 * The members form a tree, whose edges are links. Calls have numbers, the same at all members, as all make them in
 * the same order. In each call bytes go up: a member hands on its own with those of the members below it, once it
 * has all of them. The root then decides, and its decision goes down. So nobody gets a decision without errors before
 * all have come, and all who get one get the same.
 *
 *   UP     to the parent: the call, its purpose, and the bytes of each member of the subtree
 *   DOWN   to the children: how it ended, and the root's bytes
 *   LEAVE  to the root: a member waits no longer for this call, which fails for all that it has not ended for
 *   FAIL   to all neighbours: the group is broken, as a member or a link is lost; calls fail from here on
 *
 * Links keep the order of frames, or are lost. Frames are checked.
 */
#ifndef BNR_RALLY_H
#define BNR_RALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rally_kind {
    RALLY_UP = 1,
    RALLY_DOWN,
    RALLY_LEAVE,
    RALLY_FAIL
};

enum {
    RALLY_BYTES_MAX = 16 << 20, /* of a frame */
    RALLY_AHEAD_MAX = 64,       /* calls that another member may be ahead */
    RALLY_ENTRY = 8             /* in front of a member's bytes in UP: u32 rank, u32 length */
};

/* Bytes that several frames share. */
struct rally_bytes {
    int refs;
    size_t len;
    uint8_t at[];
};

/* NULL: no memory. */
struct rally_bytes *rally_bytes_new(size_t len);
void rally_bytes_unref(struct rally_bytes *bytes); /* takes NULL */

struct rally_frame {
    enum rally_kind kind;
    uint32_t call;
    int32_t code;
    uint64_t what;              /* of UP: the purpose of the call */
    struct rally_bytes *bytes; /* NULL: none; owned by who made the frame */
};

struct rally;

struct rally_hooks {
    /* Send a frame over a link, or drop it if the link is lost. Does not call back. */
    void (*send)(void *arg, const struct rally *a, int link, const struct rally_frame *frame);
    /* A call that this member had left has ended well for others. May be NULL. */
    void (*late)(void *arg, struct rally *a, const struct rally_frame *down);
    /* The group is broken from here on. May be NULL. */
    void (*broken)(void *arg, struct rally *a);
};

enum rally_state {
    RALLY_IDLE,     /* no call is under way; the last one ended with code, and bytes */
    RALLY_GATHERS,  /* members below have not come */
    RALLY_GATHERED, /* of the root: all have come, and it is to decide; bytes has what they said */
    RALLY_WAITS     /* for the root */
};

struct rally_up;
struct rally_verdict;

struct rally {
    const struct rally_hooks *hooks;
    void *arg;
    int rank, size;
    int parent; /* a link; -1: this is the root */
    int *child, child_count;
    enum rally_state state;
    uint32_t call; /* the last one that was begun; from 1 on */
    uint64_t what;
    int code;                   /* of the last call */
    int broken;                 /* the code of all calls from here on; 0: none */
    struct rally_bytes *bytes; /* see the states; NULL: none */
    struct rally_bytes *own;   /* of this member */
    struct rally_up **up;      /* of each child, its UPs for calls that are not over, in order */
    struct rally_verdict *verdicts; /* failures of calls that are not begun here */
    int verdict_count;
};

/* Returns 0 or a BNR code. The links in child are copied. */
int rally_init(struct rally *a, int rank, int size, int parent, const int *child, int child_count);
void rally_fini(struct rally *a);

/* Begin a call. what is its purpose: another value at another member is BNR_ERR_MISMATCH for all. code is 0, or
 * makes the call fail. Returns BNR_SUCCESS, BNR_ERR_STATE (one is under way), or BNR_ERR_NOMEM. */
int rally_begin(struct rally *a, uint64_t what, int code, const void *bytes, size_t len);
/* In RALLY_GATHERED: end it, for all. */
void rally_decide(struct rally *a, int code, const void *bytes, size_t len);
/* End the call that is under way here with this code, and as far as others have not ended it, there. */
void rally_leave(struct rally *a, int code);
/* A frame has come; it takes a reference to its bytes where it keeps them. Returns 0, or BNR_ERR_PROTO: the sender breaks the rules, and its link is to be
 * closed, which is a loss. */
int rally_heard(struct rally *a, int link, const struct rally_frame *frame);
/* A link is lost. Nothing happens if it is not one of the group's. */
void rally_lost(struct rally *a, int link);
/* Break the group, for all. */
void rally_break(struct rally *a, int code);

/* Whether the link is an edge here. */
bool rally_has(const struct rally *a, int link);

/* Go through the bytes of members: *at begins at 0. Returns false at the end, or where bytes are no such list. */
bool rally_next(const struct rally_bytes *all, size_t *at, int *rank, const uint8_t **bytes, size_t *len);

#endif
