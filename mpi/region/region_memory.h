/* SPDX-License-Identifier: BSD-3-Clause */

/* The layout of a region's memory, which all members of a communicator share; see region.h. */
#ifndef MPI_COLL_REGION_MEMORY_H
#define MPI_COLL_REGION_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    REGION_DEPTH = 8,      /* chunks of a member */
    REGION_PLACES = 128,   /* places of a member for small parts */
    REGION_SMALL = 240,    /* bytes beside a word */
    REGION_SHELF = 2048,   /* bytes of a shelf, at most */
    REGION_CHUNK = 32768,  /* bytes of other places, at most */
    REGION_CHUNK_OF_TWO = 266240, /* the same of two members: no power of 2, or all would share a few cache sets */
    REGION_RESULT = 8192,  /* bytes of what a last one computes for all */
    REGION_MEMBERS = 512,  /* of a communicator, at most */
    REGION_AHEAD = 32,     /* tasks that have begun, at most */
    REGION_CALL_KIND = 24, /* the bytes of a call are below this bit, its kind above */
    REGION_ELSEWHERE = (1 << REGION_CALL_KIND) - 1 /* in place of the bytes: it goes by messages */
};

/* In the region. Pairs of cache lines, as processors fetch them in pairs. */
struct region_place {
    _Alignas(128) _Atomic uint64_t number; /* of the operation whose part is here: stored with release after it, pairs
                                            * with region_await() */
    uint32_t call; /* which call that is: see struct region */
    _Alignas(16) unsigned char bytes[REGION_SMALL]; /* as the widest elements are */
};

/* The process of a member: a random number of its own, and its address in the process's memory. */
struct region_owner {
    uint64_t proof, proof_at;
    int64_t pid;
};

struct region_member {
    _Alignas(128) _Atomic uint64_t done; /* operations; behind by less than the depth. Stored with release after the
                                          * parts were read; pairs with learn(), before they are written again */
    _Alignas(128) _Atomic uint64_t sleeps; /* stored before the head's sleepers are counted; see region_wait.c */
    _Atomic uint64_t waits; /* the operation in which it last waited, and on which processor; a hint, so relaxed */
    _Atomic uint64_t call;  /* a blocking one that it has waited in, or that goes by messages, and its number above;
                             * alone, and looked at again */
    struct region_owner owner; /* written once */
    _Atomic uint64_t taken_back; /* operation whose blocks the owner does not keep any more: take_back() pairs with
                                  * is_taken_back(), each by a full fence */
    struct region_place places[REGION_PLACES];
};

/* Where members count themselves at synchronizing operations. */
struct region_sync {
    /* In all: members that have come, and above them the sum of their calls. The last one sees, by acquire, the parts
     * of all others. */
    _Alignas(128) _Atomic uint64_t arrived;
    _Alignas(128) _Atomic uint64_t released; /* such operations that are over: stored with release after all below,
                                              * pairs with region_released() */
    uint64_t mixed;   /* the last of them in which the members made different calls */
    uint64_t arrivals; /* the word arrived at its end */
    _Alignas(128) unsigned char result[REGION_RESULT];
};

struct region_head {
    _Alignas(128) _Atomic uint32_t sleepers; /* counted up before the sleeper's fence; pairs with wake() */
    struct region_sync sync;
};

#endif
