/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Who waits for whom: the ranks' answers as a graph, and what can go on in it. Shared by the parts
 * of hang.h: hang_why.c, hang_message.c and hang_coll.c (why the others cannot), hang.c (the
 * report).
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
    bool leads;     /* from it waits lead to a culprit */
    bool named;     /* some line tells of it */
    bool explained; /* some line tells why it waits */
    bool sure;      /* and that is sure, whoever else it may wait for */
    bool weak;      /* of two parts that wait for each other it is in the smaller one */
};

/* A rank that waits in a collective. */
struct entry {
    int rank;
    const struct hang_comm *comm;
    const struct hang_thread *thread;
    int number; /* of the collective on the communicator, or HANG_NO_NUMBER */
};

/* A collective that ranks wait in. */
struct meeting {
    const struct hang_comm *comm;
    int number;
    const struct entry *entries;
    int count;
    int first_late, late_count; /* of hang.late: members that have not come */
    int live;                   /* so many of these from the first on can go on */
};

struct hang {
    const struct hang_question *question;
    const struct hang_rank *ranks;
    struct node *nodes;
    struct entry *entries; /* by communicator, number, rank */
    struct meeting *meetings;
    int *late;  /* ranks, of the meetings */
    bool *set;  /* [count], for whoever composes a list of ranks */
    int *path;  /* [count], for whoever walks along waits */
    bool *seen; /* [count], of graph_depends() */
    int count, entry_count, meeting_count, late_count, late_room;
    int still;   /* a rank that stays where it is, while it is asked what would come then; or -1 */
    int stuck;   /* ranks */
    bool strict; /* threads that sleep outside MPI count for nothing; else they may call it yet */
    FILE *to;
};

/* Read the answers and find what can go on. Where all may hang by threads that sleep outside MPI,
 * find what could go on without them, and set strict. Returns 0 or -ENOMEM. */
int graph_init(struct hang *h, const struct hang_question *question);
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

/* The ranks that could end the wait for an item, one after the other. */
struct targets {
    const char *list;
    int next, last, count, self;
};

struct targets graph_targets(const struct hang *h, int rank, const struct hang_item *item);
int graph_next(struct targets *targets); /* -1: no more */

/* Whether one of those that could end a wait is so. */
bool graph_any(const struct hang *h, int rank, const struct hang_item *item,
               bool (*is)(const struct hang *h, int rank));
/* The same for all that a rank waits for. */
bool graph_any_of_all(const struct hang *h, int rank, bool (*is)(const struct hang *h, int rank));

/* The communicator of whose collectives messages with this context are, or NULL. */
const struct hang_comm *graph_collective(const struct hang_answer *answer, uint32_t context);

/* Whether messages with this context are the program's own, not the library's. */
bool graph_is_users(const struct hang_answer *answer, uint32_t context);

/* Whether a message that this rank waits for, or looks for, may come though the rank itself stays
 * where it is. */
bool graph_may_come_alone(struct hang *h, int rank, const struct hang_item *item);

/* Whether a rank waits, in the end, for another one. */
bool graph_depends(struct hang *h, int rank, int on);

/* Mark every rank from which stuck waits lead to a culprit. */
void graph_mark_leads(struct hang *h);

/* ---- hang_meeting.c ---- */

/* The groups of a communicator, in an order that all of its members agree on. */
const char *graph_group(const struct hang_comm *comm, bool second);
/* Whether it is the same communicator: 0; or the order of two. */
int graph_compare_comms(const struct hang_comm *a, const struct hang_comm *b);
/* A communicator as another member knows it, or NULL. */
const struct hang_comm *graph_same_comm(const struct hang_answer *answer,
                                        const struct hang_comm *comm);
/* Put the members of a communicator into set. Returns how many. */
int graph_members(const struct hang *h, const struct hang_comm *comm, bool *set);

/* Find the collectives that ranks wait in, and the members that have not come. Returns 0 or
 * -ENOMEM. */
int graph_meet(struct hang *h);
/* The collective of a thread, if nobody leaves it before all have come; or NULL. */
struct meeting *graph_meeting_of_all(const struct hang *h, int rank,
                                     const struct hang_thread *thread);

/* ---- hang_why.c ---- */

/* Write the verdict, and mark the culprits. Returns 0 or -ENOMEM. */
int why_write(struct hang *h);

/* Whether a request that is not started is what rank waits for. */
bool why_is_idle_match(int rank, const struct hang_item *item, const struct hang_queue *queue);

/* ---- words, in hang_words.c ---- */

/* "rank 3" or "ranks 0-2,5": those of set. Returns how many. */
int words_ranks(FILE *to, const bool *set, int count);
/* The same where a sentence begins. */
int words_ranks_begin(FILE *to, const bool *set, int count);
/* The same without the word. */
void words_list(FILE *to, const bool *set, int count);
/* What a rank does: "waits in MPI_Recv for a message from rank 1 (tag 5, MPI_COMM_WORLD)". */
void words_state(FILE *to, const struct hang *h, int rank);
/* The same; brief: without its messages and times. */
void words_brief(FILE *to, const struct hang *h, int rank, bool brief);
/* "waits in MPI_Recv" */
void words_does(FILE *to, const struct hang_thread *thread);

/* A kind of wait. */
struct words_wait {
    const char *form;     /* @: the peer; #: how many; $: an s where they are several */
    const char *missing;  /* what the other did not call */
    const char *not_done; /* what it did not do */
};

const struct words_wait *words_wait(const struct hang_answer *answer, const struct hang_item *item);
/* What is awaited: "a message from rank 1 (tag 5, MPI_COMM_WORLD)". peer: in place of the rank, or
 * NULL. */
void words_item(FILE *to, const struct hang_answer *answer, const struct hang_item *item,
                const char *peer, bool whole);
/* Why a send is not over, by what its sender says of it: "on the way". */
const char *words_send(const char *state);
/* " on MPI_COMM_WORLD (its collective number 5)", of a thread that is in one. Returns whether it
 * is. */
bool words_collective(FILE *to, const struct hang_answer *answer, const struct hang_thread *thread,
                      bool whole);
const char *words_function(const struct hang_thread *thread);
/* Where it has no name, whole says of which ranks it is. */
void words_comm(FILE *to, const struct hang_answer *answer, uint32_t context, bool whole);
void words_name(FILE *to, const struct hang_comm *comm, bool whole);
/* " (tag 5, MPI_COMM_WORLD)" */
void words_envelope(FILE *to, const struct hang_answer *answer, int tag, uint32_t context,
                    bool whole);
void words_tag(FILE *to, int tag);
bool words_is_partitioned(const struct hang_answer *answer, uint32_t context);
/* "message", or "partitioned message". */
const char *words_kind(const struct hang_answer *answer, uint32_t context);
/* " (its collective number 3)": counted from 1; nothing where it is unknown. */
void words_number(FILE *to, int number);
/* "has 2 other threads outside MPI, 1 computing and 1 asleep" */
void words_others(FILE *to, const struct hang_answer *answer);
/* Write text, wrapped. In place of a blank WORDS_BREAK may stand once a line: where it is parted
 * if it is too long. */
#define WORDS_BREAK '\v'
void words_wrap(FILE *to, const char *text);

#endif
