/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rank's answer to mpiexec's question why it waits: lines of fields between tabs, written by
 * mpid/tell/hang.c. The first line is HANG_TEXT_HEAD. Numbers are decimal but for offset.
 *
 *     J job                                      the job of the rank, as below
 *     T function mode ms offset module symbol    a thread in MPI, waiting for ms (-1: unknown),
 *                                                called from module + offset (hexadecimal)
 *     A what context peer rank tag bytes state   what the thread above waits for
 *     C context size rank begun name members remote   a communicator
 *     L number root function                     one of the last collectives begun on it
 *     U context peer rank tag count bytes        messages that no receive has asked for
 *     W context peer rank tag count bytes        messages that receives with a wildcard have got
 *                                                of late
 *     P context peer rank tag count bytes        posted receives
 *     S context peer rank tag count bytes state  sends that are not over
 *     I context peer rank tag count bytes what   persistent requests that are not started
 *     M computing locked asleep                  other threads, that are not in MPI
 *     X                                          there is more, for which there was no room
 *
 * mode: "wait" for all of the next lines, or "some" of them, or "poll", which only looks. what:
 * "send", "recv", "probe", "close", "ready": so many parts of a partitioned message (bytes) that
 * the program has not made ready, or "lock": that of a window at the rank tag of its communicator,
 * which peer holds, or, if that is the same rank, somebody. peer is a rank of the world, rank the same process in the
 * communicator; -1 is any, or unknown. A peer of another job is HANG_ELSEWHERE. root: as the call has it, or -1: it
 * has none. begun: how many collectives the rank has begun on the communicator. members and remote: ranks of the world,
 * as "0-3,5"; remote is empty for an intracommunicator. "@job:2-4" are ranks of another job, which is the first eight
 * digits of its id.
 *
 * context is a communicator's number plus that of a kind of message, enum hang_use.
 *
 * The text comes from another process: it is bounded, unprintable bytes become "?", and invalid
 * lines are counted and left out.
 */
#ifndef DIAGNOSE_HANG_TEXT_H
#define DIAGNOSE_HANG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "diagnose/memory.h"

#define HANG_TEXT_HEAD "vireo-hang 1"

/* As mpi/comm/context.h has them. */
enum hang_use {
    HANG_USE_PROGRAM = 0,
    HANG_USE_COLLECTIVE = 1,
    HANG_USE_GROUP = 2,  /* of leaders that greet each other */
    HANG_USE_LEADER = 3, /* of MPI_Intercomm_create */
    HANG_USE_PARTITIONED = 5,
    HANG_USE_INSIDE = 7, /* collectives that the groups of an intercommunicator do on their own */
    HANG_USE_WINDOW = 8,
    HANG_USES = 16
};
/* From here on contexts are of communicators that are being made. Their numbers say nothing. */
static const uint32_t hang_context_making = UINT32_C(1) << 31;

/* A process of another job, as a peer: no rank of this one. */
enum { HANG_ELSEWHERE = INT32_MAX - 1 };

/* The tag of a message of a collective is the collective's number; from HANG_KEPT on that of a
 * persistent request, which is not counted as begun; or HANG_NO_NUMBER: unknown. */
enum {
    HANG_KEPT = 1 << 30,
    HANG_NO_NUMBER = INT32_MAX
};

/* Tags of a window's messages, as mpi/win/win_wire.h has them; others are of answers. */
enum {
    HANG_TAG_POST = 1,
    HANG_TAG_COMPLETE = 2
};

/* The name of the communicator of a window without a name. */
#define HANG_WINDOW "window"

enum hang_what {
    HANG_SEND,
    HANG_RECV,
    HANG_PROBE,
    HANG_CLOSE,
    HANG_READY,
    HANG_LOCK
};
enum hang_mode {
    HANG_ALL,
    HANG_ANY,
    HANG_POLL
};

/* A collective that the rank has begun. */
struct hang_call {
    uint32_t number;
    int root;
    const char *function;
};

struct hang_comm {
    uint32_t context;
    int size, rank;
    uint32_t begun;
    const char *name, *members, *remote;
    int first, call_count; /* its calls */
    const struct hang_call *calls;
};

/* A message or call that a thread waits for. */
struct hang_item {
    int owner;   /* the rank that waits */
    int meeting; /* the collective it is of, as hang_graph.h has it; -1: none */
    enum hang_what what;
    uint32_t context;
    int peer, rank, tag;
    uint64_t bytes;
    const char *state;
    const struct hang_thread *thread;
    const struct hang_comm *comm; /* NULL: unknown */
    enum hang_use use;
};

struct hang_thread {
    const char *function; /* "" where unknown */
    enum hang_mode mode;
    int64_t ms;
    uint64_t offset;
    const char *module, *symbol; /* of the caller; "" where unknown */
    int first, count;            /* its items */
    const struct hang_item *items;
    int vertex; /* as hang_graph.h has it; -1: none */
};

/* Equal messages or requests. */
struct hang_queue {
    char kind; /* 'U', 'W', 'P', 'S' or 'I' */
    uint32_t context;
    int peer, rank, tag;
    uint64_t count, bytes;
    const char *state; /* of 'I': "send" or "recv" */
    const struct hang_comm *comm;
    enum hang_use use;
};

/* Threads that are not in MPI, and may call it. */
struct hang_others {
    int computing, locked, asleep;
};

struct hang_answer {
    struct hang_thread *threads;
    struct hang_item *items;
    struct hang_comm *comms;
    struct hang_call *calls;
    struct hang_queue *queues;
    int thread_count, item_count, comm_count, call_count, queue_count;
    struct hang_others others;
    const char *job; /* NULL: not told */
    int bad_lines;
    bool cut; /* there was more */
};

/* Read len bytes of rank's answer into *answer, which is empty if they are no answer. All that it
 * points to lies in memory. */
void hang_text_read(struct hang_answer *answer, struct memory *memory, int rank, const void *text,
                    size_t len);

/* How many other threads there are. */
static inline int hang_text_others(const struct hang_answer *answer)
{
    return answer->others.computing + answer->others.locked + answer->others.asleep;
}

/* Whether messages are those of a collective. */
static inline bool hang_is_collective(enum hang_use use)
{
    return use == HANG_USE_COLLECTIVE || use == HANG_USE_INSIDE;
}

/* Whether messages are the program's own, not the library's. */
static inline bool hang_is_program(enum hang_use use)
{
    return use == HANG_USE_PROGRAM || use == HANG_USE_PARTITIONED;
}

/* Step through a list of ranks, "0-3,5": set [*first, *last] to the next range and return the rest
 * behind it, or NULL at the end or for any other text, such as ranks of other jobs. Ranks are at most INT32_MAX - 1. */
const char *hang_text_range(const char *list, int *first, int *last);
/* The same, through ranges of all jobs: job is set to that of the range, or to "". */
const char *hang_text_any_range(const char *list, char job[9], int *first, int *last);
/* Whether a list has ranks of other jobs. */
static inline bool hang_text_has_others(const char *list)
{
    return strchr(list, '@') != NULL;
}

#endif
