/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ranks' waits as one graph, and what can go on in it.
 *
 * A vertex is a rank, or a collective in which ranks wait (a meeting). A rank waits for the ranks
 * whose messages it awaits, or for the meeting that it is in; a meeting waits for the members that
 * have not come. Ranks that cannot go on are stuck. The strongly connected parts of the stuck ranks
 * say where to look for the cause: in a part from which no wait leads out.
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

struct node {
    enum node_kind kind;
    bool finalizing; /* in MPI_Finalize; may still wait for its sends to be received */
    bool live;       /* it can go on, or what it waits for can come */
    int meeting;     /* the collective that it waits in: an index of meetings; or -1 */
    struct hang_answer answer;
    /* what the verdict has found */
    bool culprit;
    bool named;     /* some line tells of it */
    bool explained; /* some line tells why it waits */
};

/* A collective that ranks wait in. */
struct meeting {
    const struct hang_comm *comm;
    int number;                       /* on the communicator, or HANG_NO_NUMBER */
    const struct hang_item **entries; /* one of each thread that waits in it */
    int count;
    int *late, *awaited;              /* members that have not come; those it waits for */
    int late_count, awaited_count;
    bool is_of_all; /* it goes on when all that are late have come, and not before */
    int live;       /* so many of awaited from the first on can go on */
};

struct hang {
    const struct hang_question *question;
    const struct hang_rank *ranks;
    struct memory memory;
    struct node *nodes;
    struct hang_item **items; /* of all ranks, in their order */
    struct meeting *meetings;       /* by communicator and number */
    int *part;    /* [count + meeting_count], the part of a vertex; -1: it is in none */
    bool *leaves; /* [part_count], whether waits lead out of a part */
    bool *set;    /* [count], the ranks that a line names */
    bool *late;   /* [count], the ranks that a part of the verdict is about */
    int *path;    /* [count], for a walk along waits */
    int count, item_count, meeting_count, part_count;
    int still;   /* a rank that stays where it is, while it is asked what would come then; or -1 */
    int stuck;   /* ranks */
    bool strict; /* threads that sleep outside MPI count for nothing; else they may call it yet */
    bool terse;  /* communicators without a name are written without their members */
    FILE *to;
};

/* Read the answers and find what can go on. Where all may hang by threads that sleep outside MPI,
 * find what could go on without them, and set strict. */
void graph_init(struct hang *h, const struct hang_question *question);
void graph_fini(struct hang *h);

/* Whether a thread looks, or has begun to wait since the question was asked. */
static inline bool graph_goes_on(const struct hang *h, const struct hang_thread *thread)
{
    return thread->mode == HANG_POLL || thread->ms < h->question->took_ms;
}

static inline bool graph_is_stuck(const struct hang *h, int rank)
{
    return h->nodes[rank].kind == NODE_WAITS && !h->nodes[rank].live;
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
    return h->part[a] >= 0 && h->part[a] == h->part[b];
}

/* The ranks that could end the wait for an item: for (t = graph_targets(); graph_next(&t);) */
struct targets {
    int rank; /* the one at hand */
    const char *list;
    int next, last, count, self;
};

struct targets graph_targets(const struct hang *h, const struct hang_item *item);
bool graph_next(struct targets *targets);

/* Whether one of those that could end a wait is so. */
bool graph_any(const struct hang *h, const struct hang_item *item,
               bool (*is)(const struct hang *h, int rank));

/* Whether a message that a rank waits for, or looks for, may come though the rank itself stays
 * where it is. */
bool graph_may_come_alone(struct hang *h, const struct hang_item *item);

/* A stuck rank in the same part that a rank waits for by a message, or -1. */
int graph_next_in_part(const struct hang *h, int rank);

/* ---- hang_meeting.c ---- */

/* One of the two groups of a communicator, in an order that all its members agree on. */
const char *graph_group(const struct hang_comm *comm, bool second);
/* Put the members of a communicator into set. Returns how many. */
int graph_members(const struct hang *h, const struct hang_comm *comm, bool *set);
/* Find the collectives that ranks wait in, and for whom they wait. */
void graph_meet(struct hang *h);
/* Whether a rank waits in a collective. */
bool graph_is_in(const struct hang *h, const struct meeting *m, int rank);
/* Whether a member has gone past a collective, by what it says. */
bool graph_is_past(const struct hang *h, const struct meeting *m, int rank);
/* The call that a member has made as this collective, or makes there: its function and, where it
 * has one, *root; -1: none. NULL: unknown. */
const char *graph_call(const struct hang *h, const struct meeting *m, int rank, int *root);

#endif
