/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ranks' waits as one graph of ANDs and ORs, and the vertices that can go on.
 *
 * A vertex is one of four things: a rank, which can go on if one of its threads can; a thread,
 * which waits for all of a list or for one of it; the ranks that a wildcard stands for, one of them
 * being enough; or a collective that no member leaves before all have come. Edges lead to the
 * awaited vertices. A vertex that cannot go on is dead. The cause lies in a strongly connected part
 * of the dead vertices from which no edge leads out.
 */
#ifndef DIAGNOSE_HANG_GRAPH_H
#define DIAGNOSE_HANG_GRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "diagnose/hang.h"
#include "diagnose/hang_text.h"

enum node_kind {
    NODE_WAITS,
    NODE_FREE, /* it may do anything yet: it computes, polls, or has not started */
    NODE_GONE, /* it will send nothing more: ended, or in MPI_Finalize or behind it */
};

/* A rank. */
struct node {
    enum node_kind kind;
    bool finalizing; /* in MPI_Finalize; may still wait for its sends to be received */
    bool meets;      /* waits in a collective */
    struct hang_answer answer;
    /* what the verdict has found */
    bool culprit;
    bool named;     /* some line tells of it */
    bool explained; /* some line tells why it waits */
};

struct vertex {
    int owner;                        /* the rank of a thread, or -1 */
    const struct hang_thread *thread; /* or NULL */
    int needed;        /* so many of those that it waits for must come; INT_MAX: it stays */
    int missing;       /* of these */
    bool live;         /* it can go on */
    int part;          /* that it belongs to; -1: none */
    int first, count;  /* its edges */
    int waiters;       /* the last edge that leads here, or -1 */
    int next, back, order, low; /* for the search of parts; order: when it was met, from 1 on */
};

struct edge {
    int from, to;
    int waiters; /* the edge before this one that leads to the same vertex, or -1 */
};

/* The ranks that a wildcard on a communicator stands for. */
struct wild {
    const struct hang_comm *comm;
    int vertex;
};

enum member_state {
    MEMBER_IN,
    MEMBER_LATE, /* has not come */
    MEMBER_PAST,
    MEMBER_UNKNOWN
};

/* A member of the communicator of a meeting. */
struct member {
    int rank;
    enum member_state state;
    const char *call; /* what it has called there: a function, or NULL: unknown */
    int root;         /* of that, or -1 */
};

/* A collective that ranks wait in. */
struct meeting {
    const struct hang_comm *comm;
    int number;                       /* on the communicator, or HANG_NO_NUMBER */
    const struct hang_item **entries; /* one of each thread that waits in it */
    struct member *members;           /* by rank */
    int count, member_count, late_count;
    bool is_of_all; /* it goes on when all that are late have come, and not before */
    bool told;      /* some line tells why it does not end */
};

struct hang {
    const struct hang_question *question;
    const struct hang_rank *ranks;
    struct memory memory;
    struct node *nodes;
    struct hang_item **items; /* of all ranks, in their order */
    struct meeting *meetings; /* by communicator and number */
    struct vertex *vertices;  /* the ranks, the meetings, then others */
    struct edge *edges;       /* those of threads before those of meetings and wildcards */
    struct wild *wilds;
    bool *leaves; /* [part_count], whether edges lead out of a part */
    bool *set;    /* [count], the ranks that a line names */
    int *path;    /* [vertex_count] */
    int count, item_count, meeting_count, vertex_count, edge_count, wild_count, part_count;
    int stuck;   /* ranks */
    bool strict; /* threads that sleep outside MPI count for nothing; if not strict, they may call
                  * it yet */
    bool tells_job; /* some line names another job */
    bool terse;  /* communicators without a name are written without their members */
    FILE *to;
};

/* Read the answers and find the vertices that can go on. If only threads that sleep outside MPI can
 * end the waits, search again without them, and set strict. */
void graph_init(struct hang *h, const struct hang_question *question);
void graph_fini(struct hang *h);

/* Whether a thread looks, or has begun to wait since the question was asked. */
static inline bool graph_goes_on(const struct hang *h, const struct hang_thread *thread)
{
    return thread->mode == HANG_POLL || thread->ms < h->question->took_ms;
}

static inline bool graph_is_stuck(const struct hang *h, int rank)
{
    return h->nodes[rank].kind == NODE_WAITS && !h->vertices[rank].live;
}

/* Whether it will send nothing more, and receive nothing. */
static inline bool graph_is_gone(const struct hang *h, int rank)
{
    return h->nodes[rank].kind == NODE_GONE || h->nodes[rank].finalizing;
}

static inline bool graph_is_rank(const struct hang *h, int rank)
{
    return rank >= 0 && rank < h->count;
}

/* Whether two vertices wait for each other. */
static inline bool graph_is_one_part(const struct hang *h, int a, int b)
{
    return h->vertices[a].part >= 0 && h->vertices[a].part == h->vertices[b].part;
}

/* The part that a thread belongs to, or -1. */
static inline int graph_part_of(const struct hang *h, const struct hang_thread *thread)
{
    return thread->vertex < 0 ? -1 : h->vertices[thread->vertex].part;
}

/* Whether a message that a rank waits for, or looks for, may come though the rank itself stands
 * still. */
bool graph_may_come_alone(struct hang *h, const struct hang_item *item);

/* ---- hang_meeting.c ---- */

/* One of the two groups of a communicator, in an order that all its members agree on. */
const char *graph_group(const struct hang_comm *comm, bool second);
/* Put the ranks of a list into set. Returns how many. */
int graph_list(const struct hang *h, const char *list, bool *set);
/* Find the collectives that ranks wait in, and which members have not come. */
void graph_meet(struct hang *h);

#endif
