/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages that are not there: they have come with another tag, or in another communicator, or to
 * another rank, or nobody sends or receives them; see hang_why.h. */
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_why.h"

enum {
    PATIENCE_MS = 800,  /* so long a sender waits until its message counts as not wanted */
    COST_MAX = 4 << 20, /* ranks looked at, of tries that look at all */
    MISSING_MAX = 6     /* lines */
};

static bool may_try(struct why *w)
{
    return (int64_t)w->tries++ * w->h->count < COST_MAX;
}

/* ---- nearly what is awaited ---- */

/* Whether a queued message is nearly what a receive or probe waits for. Those of the library's own
 * are nobody's mistake. */
static bool is_near(const struct hang_answer *answer, const struct hang_item *item,
                    const struct hang_queue *queue)
{
    bool peer = item->peer < 0 ? item->context == queue->context || item->rank == queue->rank
                               : item->peer == queue->peer;
    bool context = item->context == queue->context;
    bool tag = item->tag < 0 || item->tag == queue->tag;
    return queue->kind == 'U' && peer && context != tag && graph_is_users(answer, queue->context);
}

/* The next such message, from index q on, in *q. */
static const struct hang_queue *next_near(const struct hang_answer *answer,
                                          const struct hang_item *item, int *q)
{
    if ((item->what != HANG_RECV && item->what != HANG_PROBE) ||
        !graph_is_users(answer, item->context))
        return NULL;
    for (; *q < answer->queue_count; ++*q)
        if (is_near(answer, item, &answer->queues[*q]))
            return &answer->queues[(*q)++];
    return NULL;
}

static const struct hang_queue *find_near(const struct hang_answer *answer,
                                          const struct hang_item *item)
{
    int q = 0;
    return next_near(answer, item, &q);
}

static void write_near(struct why *w, int rank, const struct hang_item *item,
                       const struct hang_queue *queue)
{
    FILE *to = w->h->to;
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    const char *what = "communicator";
    if (item->context == queue->context)
        what = "tag";
    else if (hang_text_comm(answer, item->context) == hang_text_comm(answer, queue->context))
        what = "kind of message";
    fprintf(to, "  Wrong %s? Rank %d ", what, rank);
    words_does(to, &answer->threads[item->thread]);
    fputs(" for ", to);
    words_item(to, answer, item, NULL, true);
    fprintf(to, ",\n    but what has come is a %s from ", words_kind(answer, queue->context));
    if (queue->peer >= 0)
        fprintf(to, "rank %d", queue->peer);
    else
        fputs("a rank", to);
    words_envelope(to, answer, queue->tag, queue->context, true);
    fputc('\n', to);
}

/* All of them do not fit; the first is told. */
static void tell_near(struct why *w, int rank, const struct hang_item *item)
{
    struct node *node = &w->h->nodes[rank];
    const struct hang_queue *queue;
    for (int q = 0; (queue = next_near(&node->answer, item, &q));)
        why_pair(w, rank, graph_is_rank(w->h, queue->peer) ? queue->peer : rank);
    node->explained = true;
    if (why_has_room(w))
        write_near(w, rank, item, find_near(&node->answer, item));
}

/* Whether the other one of two will do nothing more before rank goes on: else it may be kept by
 * something else, and send or receive later. */
static bool waits_for(struct why *w, int other, int rank)
{
    return graph_is_gone(w->h, other) || other == rank || !may_try(w) ||
           graph_depends(w->h, other, rank);
}

/* Whether such a message has come from one who will send no other. */
static bool has_near(struct why *w, int rank, const struct hang_item *item)
{
    const struct hang_queue *queue;
    for (int q = 0; (queue = next_near(&w->h->nodes[rank].answer, item, &q));)
        if (!graph_is_rank(w->h, queue->peer) || waits_for(w, queue->peer, rank))
            return true;
    return false;
}

/* Whether a rank has been waiting for a while, so that all it has sent before has arrived. */
static bool is_patient(const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    bool waits = answer->thread_count > 0;
    for (int t = 0; waits && t < answer->thread_count; t++)
        waits = !graph_goes_on(h, &answer->threads[t]) && answer->threads[t].ms >= PATIENCE_MS;
    return waits;
}

/* One that polls may do anything yet, and receive what has come; but what it looks for cannot come
 * unless it does, and who has sent the one waits, too. */
static bool polls_for_nothing(struct why *w, int rank, const struct hang_item *item)
{
    const struct hang_queue *queue = find_near(&w->h->nodes[rank].answer, item);
    return queue && graph_is_rank(w->h, queue->peer) && is_patient(w->h, queue->peer) &&
           may_try(w) && !graph_may_come_alone(w->h, rank, item);
}

static bool tests(const struct hang_thread *thread)
{
    return thread->mode == HANG_POLL &&
           (!strncmp(thread->function, "MPI_Test", strlen("MPI_Test")) ||
            !strncmp(thread->function, "MPI_Request_get", strlen("MPI_Request_get")));
}

/* Where a thread tests requests, what it looks for are the rank's receives. */
static void explain_tests(struct why *w, int rank, int thread)
{
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    for (int q = 0; q < answer->queue_count && tests(&answer->threads[thread]); q++) {
        const struct hang_queue *p = &answer->queues[q];
        struct hang_item item = {HANG_RECV, p->context, p->peer, p->rank,
                                 p->tag,    p->bytes,   "",      thread};
        if (p->kind == 'P' && polls_for_nothing(w, rank, &item))
            tell_near(w, rank, &item);
    }
}

static void explain_near(struct why *w, int rank)
{
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count; i++) {
        const struct hang_item *item = &answer->items[i];
        bool polls = answer->threads[item->thread].mode == HANG_POLL;
        if (polls ? !answer->cut && polls_for_nothing(w, rank, item)
                  : graph_is_stuck(w->h, rank) && has_near(w, rank, item))
            tell_near(w, rank, item);
    }
    for (int t = 0; t < answer->thread_count && !answer->cut; t++)
        explain_tests(w, rank, t);
}

/* ---- requests that were not started ---- */

bool why_is_idle_match(int rank, const struct hang_item *item, const struct hang_queue *queue)
{
    bool send = item->what == HANG_RECV || item->what == HANG_PROBE;
    bool wild = item->what == HANG_SEND ? queue->peer < 0 || queue->tag < 0 : item->tag < 0;
    return queue->kind == 'I' && item->what <= HANG_PROBE && send == (*queue->state == 's') &&
           item->context == queue->context && (queue->peer == rank || queue->peer < 0) &&
           (wild || item->tag == queue->tag);
}

static bool has_idle_match(const struct hang *h, int rank, const struct hang_item *item)
{
    const struct hang_answer *theirs = &h->nodes[item->peer].answer;
    for (int q = 0; q < theirs->queue_count; q++)
        if (why_is_idle_match(rank, item, &theirs->queues[q]))
            return true;
    return false;
}

static void explain_idle(struct why *w, int rank)
{
    struct hang *h = w->h;
    struct node *node = &h->nodes[rank];
    for (int i = 0; i < node->answer.item_count && graph_is_stuck(h, rank); i++) {
        const struct hang_item *item = &node->answer.items[i];
        if (!graph_is_rank(h, item->peer) || !graph_is_stuck(h, item->peer) ||
            !has_idle_match(h, rank, item))
            continue;
        why_blame(w, item->peer);
        node->explained = true;
        if (!why_has_room(w))
            return;
        fprintf(h->to, "  MPI_Start missing? Rank %d waits in %s for ", rank,
                words_function(&node->answer.threads[item->thread]));
        words_item(h->to, &node->answer, item, NULL, true);
        fprintf(h->to, ",\n    for which rank %d has a persistent %s that it has not started\n",
                item->peer, item->what == HANG_SEND ? "receive" : "send");
    }
}

void why_messages(struct why *w)
{
    for (int r = 0; r < w->h->count; r++)
        explain_near(w, r);
    why_blame_pairs(w, NULL);
    why_end_kind(w);
    for (int r = 0; r < w->h->count; r++)
        explain_idle(w, r);
    why_end_kind(w);
}

/* ---- nobody sends or receives it ---- */

/* Whether the message that item is about has reached its receiver, who has taken it off the queue
 * by a matching probe. */
static bool is_taken(const struct hang *h, int rank, const struct hang_item *item)
{
    const struct hang_answer *theirs = &h->nodes[item->peer].answer;
    if (item->what != HANG_SEND || strcmp(item->state, "asked") || theirs->cut ||
        !is_patient(h, rank) || !is_patient(h, item->peer))
        return false;
    for (int q = 0; q < theirs->queue_count; q++) {
        const struct hang_queue *queue = &theirs->queues[q];
        if (queue->kind == 'U' && queue->context == item->context &&
            (queue->peer == rank || queue->peer < 0) && queue->tag == item->tag)
            return false;
    }
    return true;
}

/* Whether a rank waits until another one receives from it. */
static bool sends_to(const struct hang *h, int rank, int peer, int tag)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count; i++)
        if (answer->items[i].what == HANG_SEND && answer->items[i].peer == peer &&
            answer->items[i].tag == tag)
            return true;
    return false;
}

/* One from another rank has come instead, who is past its sends, or waits for
 * its receipt. Returns whether. */
static bool write_other_source(struct why *w, int rank, const struct hang_item *item)
{
    struct hang *h = w->h;
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int q = 0; q < answer->queue_count && item->what == HANG_RECV && item->tag >= 0; q++) {
        const struct hang_queue *queue = &answer->queues[q];
        if (queue->kind != 'U' || queue->context != item->context || queue->tag != item->tag ||
            !graph_is_rank(h, queue->peer) ||
            (h->nodes[queue->peer].meeting < 0 && !sends_to(h, queue->peer, rank, item->tag)))
            continue;
        fprintf(h->to, ",\n    while such a message of rank %d has come (wrong source?)",
                queue->peer);
        return true;
    }
    return false;
}

/* The awaited message may have gone to another rank, who is past its receives. */
static void write_stray(struct why *w, int rank, const struct hang_item *item)
{
    struct hang *h = w->h;
    for (int r = 0; r < h->count && item->what == HANG_RECV && item->tag >= 0; r++) {
        const struct hang_answer *answer = &h->nodes[r].answer;
        for (int q = 0; q < answer->queue_count && r != rank && h->nodes[r].meeting >= 0; q++) {
            const struct hang_queue *queue = &answer->queues[q];
            if (queue->kind != 'U' || queue->peer != item->peer || queue->tag != item->tag ||
                !graph_is_users(answer, queue->context))
                continue;
            fputs(",\n    while one", h->to);
            words_envelope(h->to, answer, queue->tag, queue->context, true);
            fprintf(h->to, " has come to rank %d (wrong destination or communicator?)", r);
            return;
        }
    }
}

/* What is missing of the other, and what it did not do. */
static const struct words_wait *missing_of(const struct hang *h, int rank,
                                           const struct hang_item *item)
{
    static const struct words_wait taken = {"", "MPI_Mrecv",
                                            "has only taken it by MPI_Mprobe or MPI_Improbe, and "};
    return is_taken(h, rank, item) ? &taken : words_wait(&h->nodes[rank].answer, item);
}

/* The message that a late rank waits for of one that is in the collective at hand, or NULL. */
static const struct hang_item *missing_item(struct why *w, int rank)
{
    const struct node *node = &w->h->nodes[rank];
    const struct hang_answer *answer = &node->answer;
    bool open = w->late[rank] && !node->explained && graph_is_stuck(w->h, rank);
    for (int i = 0; i < answer->item_count && open && !node->finalizing; i++) {
        const struct hang_item *item = &answer->items[i];
        if (item->what <= HANG_PROBE && graph_is_rank(w->h, item->peer) && item->peer != rank &&
            w->h->nodes[item->peer].meeting == w->meeting &&
            !graph_collective(answer, item->context) && strcmp(item->state, "moving") &&
            waits_for(w, item->peer, rank))
            return item;
    }
    return NULL;
}

/* What is missing of which rank. */
static void write_missing(struct why *w, FILE *to, int rank)
{
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    const struct hang_item *item = missing_item(w, rank);
    if (!item)
        return;
    fprintf(to, " in %s for ", words_function(&answer->threads[item->thread]));
    words_item(to, answer, item, NULL, true);
    fprintf(to, ",\n    but rank %d %s", item->peer, missing_of(w->h, rank, item)->not_done);
    words_state(to, w->h, item->peer);
}

/* That a rank misses this is told; who is wrong? */
static void settle_missing(struct why *w, int rank, const struct hang_item *item, bool blame)
{
    w->h->nodes[rank].explained = true;
    if (is_taken(w->h, rank, item))
        why_blame(w, item->peer);
    else if (blame)
        why_pair(w, rank, item->peer);
}

/* Tell of a rank that misses a message, and of all that miss the same. */
static void tell_missing(struct why *w, int rank, const struct hang_item *item, bool blame)
{
    struct hang *h = w->h;
    char *text = why_alike(w, rank, write_missing);
    for (int r = rank; r < h->count; r++)
        if (h->set[r])
            settle_missing(w, r, missing_item(w, r), blame);
    fprintf(h->to, "  %s missing? ", missing_of(h, rank, item)->missing);
    bool several = words_ranks_begin(h->to, h->set, h->count) > 1;
    fprintf(h->to, "%s%s", several ? " wait" : " waits", text ? text : "");
    if (!several && !write_other_source(w, rank, item))
        write_stray(w, rank, item);
    fputc('\n', h->to);
    free(text);
}

void why_missing(struct why *w, bool blame)
{
    int left_out = 0;
    for (int r = 0; r < w->h->count; r++) {
        const struct hang_item *item = missing_item(w, r);
        if (item && w->missing < MISSING_MAX && why_has_room(w)) {
            w->missing++;
            tell_missing(w, r, item, blame);
        } else if (item) {
            settle_missing(w, r, item, blame);
            left_out++;
        }
    }
    if (left_out && why_has_room(w))
        fprintf(w->h->to, "  ... and %d more of the kind.\n", left_out);
    why_blame_pairs(w, NULL);
}
