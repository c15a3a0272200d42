/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Who waits for whom: the ranks' answers as a graph. Shared by the parts of hang.h: hang_graph.c
 * (what can go on), hang_why.c and hang_coll.c (why the others cannot), hang.c (the report).
 */
#ifndef BNR_HANG_GRAPH_H
#define BNR_HANG_GRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "bnr/hang.h"
#include "bnr/hang_text.h"

enum node_kind {
    NODE_WAITS,
    NODE_FREE, /* it may do anything yet: it computes, polls, or has not started */
    NODE_GONE, /* it will send nothing more: ended, or in MPI_Finalize or behind it */
};

struct node {
    enum node_kind kind;
    bool finalizing; /* in MPI_Finalize; may still wait for its sends to be received */
    bool live;       /* it can go on, or what it waits for can come */
    bool culprit;
    bool leads; /* from it waits lead to a culprit */
    bool named; /* some line of the verdict tells of it */
    struct hang_told told;
};

struct hang {
    const struct hang_question *question;
    const struct hang_rank *ranks;
    struct node *nodes;
    bool *set; /* [count], for whoever composes a list of ranks */
    int count;
    int stuck; /* ranks */
    FILE *to;
};

/* Read the answers and find what can go on. Returns 0 or -ENOMEM. */
int graph_init(struct hang *h, const struct hang_question *question);
void graph_fini(struct hang *h);

static inline bool graph_is_stuck(const struct hang *h, int rank)
{
    return h->nodes[rank].kind == NODE_WAITS && !h->nodes[rank].live;
}

/* Call visit for each rank that could end the wait for item; stops where it returns true, and
 * returns that. */
bool graph_targets(const struct hang *h, int rank, const struct hang_item *item,
                   bool (*visit)(void *arg, int target), void *arg);

/* The same for all that a rank waits for. */
bool graph_all_targets(const struct hang *h, int rank, bool (*visit)(void *arg, int target),
                       void *arg);

/* The communicator of whose collectives messages with this context are, or NULL. */
const struct hang_comm *graph_collective(const struct hang_told *told, uint32_t context);

/* Mark every rank from which stuck waits lead to a culprit. */
void graph_mark_leads(struct hang *h);

/* ---- hang_why.c ---- */

/* Write the verdict, and mark the culprits. Returns 0 or -ENOMEM. */
int why_write(struct hang *h);

/* ---- words, in hang_words.c ---- */

/* "rank 3" or "ranks 0-2,5": those of set. Returns how many. */
int words_ranks(FILE *to, const bool *set, int count);
/* The same without the word. */
void words_list(FILE *to, const bool *set, int count);
/* What a rank does: "waits in MPI_Recv for a message from rank 1 (tag 5, MPI_COMM_WORLD)". */
void words_state(FILE *to, const struct hang *h, int rank);
/* What is awaited: "a message from rank 1 (tag 5, MPI_COMM_WORLD)". */
void words_item(FILE *to, const struct hang_told *told, const struct hang_item *item);
const char *words_function(const struct hang_thread *thread);
const char *words_comm(const struct hang_told *told, uint32_t context);
const char *words_name(const struct hang_comm *comm);
void words_tag(FILE *to, int tag);
/* "message", or "partitioned message". */
const char *words_kind(const struct hang_told *told, uint32_t context);
/* " (its collective number 3)": counted from 1; nothing where it is unknown. */
void words_number(FILE *to, int number);
/* Write text, wrapped. In place of a blank WORDS_BREAK may stand once a line: where it is parted
 * if it is too long. */
#define WORDS_BREAK '\v'
void words_wrap(FILE *to, const char *text);

#endif
