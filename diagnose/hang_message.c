/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages that are not there: they have come with another tag, or in another communicator, or to
 * another rank, or nobody sends or receives them; see hang_why.h. */
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_why.h"
#include "diagnose/hang_words.h"

enum {
    PATIENCE_MS = 800,  /* so long a sender waits until its message counts as not wanted */
    COST_MAX = 4 << 20, /* ranks looked at, of tries that look at all */
    MISSING_MAX = 6     /* lines */
};

/* The next queue of a kind from index *q on, behind which *q is set; or NULL. */
static const struct hang_queue *next_queue(const struct hang_answer *answer, char kind, int *q)
{
    while (*q < answer->queue_count)
        if (answer->queues[(*q)++].kind == kind)
            return &answer->queues[*q - 1];
    return NULL;
}

static bool may_try(struct why *w)
{
    return (int64_t)w->tries++ * w->h->count < COST_MAX;
}

/* Whether the other one of two will do nothing more before rank goes on: else it may be kept by
 * something else, and send or receive later. */
static bool waits_for(struct why *w, int other, int rank)
{
    return graph_is_gone(w->h, other) || other == rank || !may_try(w) ||
           graph_depends(w->h, other, rank);
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

/* ---- nearly what is awaited ---- */

/* The next message that is nearly what a receive or probe waits for: its tag is wrong, or its
 * communicator. Those of the library's own are nobody's mistake. */
static const struct hang_queue *next_near(const struct hang *h, const struct hang_item *item,
                                          int *q)
{
    bool receives = item->what == HANG_RECV || item->what == HANG_PROBE;
    const struct hang_queue *queue = NULL;
    while (receives && hang_is_program(item->use) &&
           (queue = next_queue(&h->nodes[item->owner].answer, 'U', q))) {
        bool context = item->context == queue->context;
        bool tag = item->tag < 0 || item->tag == queue->tag;
        bool peer =
            item->peer < 0 ? context || item->rank == queue->rank : item->peer == queue->peer;
        if (peer && context != tag && hang_is_program(queue->use))
            return queue;
    }
    return NULL;
}

/* All messages that are near do not fit; the first is told. */
static void tell_near(struct why *w, const struct hang_item *item)
{
    struct hang *h = w->h;
    const struct hang_queue *queue, *first = NULL;
    for (int q = 0; (queue = next_near(h, item, &q)); first = first ? first : queue)
        why_pair(w, item->owner, graph_is_rank(h, queue->peer) ? queue->peer : item->owner);
    h->nodes[item->owner].explained = true;
    const char *what = item->context == first->context ? "tag"
                       : item->comm == first->comm     ? "kind of message"
                                                       : "communicator";
    const char *from = first->peer < 0 ? "a rank" : words(h, "rank %d", first->peer);
    (void)why_tell(w, "  Wrong %s? Rank %d %s for %s,\n    but what has come is a %s from %s%s\n",
                   what, item->owner, words_does(h, item->thread), words_item(h, item, NULL),
                   words_kind(first->use), from, words_envelope(h, first->comm, first->tag));
}

/* Whether such a message has come from one that sends no other. */
static bool has_near(struct why *w, const struct hang_item *item)
{
    const struct hang_queue *queue;
    for (int q = 0; (queue = next_near(w->h, item, &q));)
        if (!graph_is_rank(w->h, queue->peer) || waits_for(w, queue->peer, item->owner))
            return true;
    return false;
}

/* A rank that polls may do anything yet, and receive what has come. But what it looks for cannot
 * come unless it does, and the sender of what has come waits, too. */
static bool polls_for_nothing(struct why *w, const struct hang_item *item)
{
    int q = 0;
    const struct hang_queue *queue = next_near(w->h, item, &q);
    return queue && graph_is_rank(w->h, queue->peer) && is_patient(w->h, queue->peer) &&
           may_try(w) && !graph_may_come_alone(w->h, item);
}

static bool tests(const struct hang_thread *thread)
{
    return thread->mode == HANG_POLL &&
           (!strncmp(thread->function, "MPI_Test", strlen("MPI_Test")) ||
            !strncmp(thread->function, "MPI_Request_get", strlen("MPI_Request_get")));
}

/* Where a thread tests requests, what it looks for are the rank's receives. */
static void explain_tests(struct why *w, int rank, const struct hang_thread *thread)
{
    const struct hang_queue *p;
    for (int q = 0; (p = next_queue(&w->h->nodes[rank].answer, 'P', &q));) {
        struct hang_item item = {rank,     HANG_RECV, p->context, p->peer, p->rank, p->tag,
                                 p->bytes, "",        thread,     p->comm, p->use};
        if (polls_for_nothing(w, &item))
            tell_near(w, &item);
    }
}

static void explain_near(struct why *w, int rank)
{
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    for (int i = 0; i < answer->item_count; i++) {
        const struct hang_item *item = &answer->items[i];
        if (item->thread->mode == HANG_POLL ? !answer->cut && polls_for_nothing(w, item)
                                            : graph_is_stuck(w->h, rank) && has_near(w, item))
            tell_near(w, item);
    }
    for (int t = 0; t < answer->thread_count && !answer->cut; t++)
        if (tests(&answer->threads[t]))
            explain_tests(w, rank, &answer->threads[t]);
}

/* ---- requests that were not started ---- */

bool why_is_idle_match(const struct hang_item *item, const struct hang_queue *queue)
{
    bool send = item->what == HANG_RECV || item->what == HANG_PROBE;
    bool wild = item->what == HANG_SEND ? queue->peer < 0 || queue->tag < 0 : item->tag < 0;
    return item->what <= HANG_PROBE && send == (*queue->state == 's') &&
           item->context == queue->context && (queue->peer == item->owner || queue->peer < 0) &&
           (wild || item->tag == queue->tag);
}

static bool has_idle_match(const struct hang *h, const struct hang_item *item)
{
    const struct hang_queue *queue;
    for (int q = 0; (queue = next_queue(&h->nodes[item->peer].answer, 'I', &q));)
        if (why_is_idle_match(item, queue))
            return true;
    return false;
}

static void explain_idle(struct why *w, const struct hang_item *item)
{
    struct hang *h = w->h;
    if (!graph_is_stuck(h, item->owner) || !graph_is_rank(h, item->peer) ||
        !graph_is_stuck(h, item->peer) || !has_idle_match(h, item))
        return;
    why_blame(w, item->peer);
    h->nodes[item->owner].explained = true;
    (void)why_tell(w,
                   "  MPI_Start missing? Rank %d waits in %s for %s,\n"
                   "    for which rank %d has a persistent %s that it has not started\n",
                   item->owner, words_function(item->thread), words_item(h, item, NULL), item->peer,
                   item->what == HANG_SEND ? "receive" : "send");
}

void why_messages(struct why *w)
{
    for (int r = 0; r < w->h->count; r++)
        explain_near(w, r);
    why_blame_pairs(w, NULL);
    why_end_kind(w);
    for (int i = 0; i < w->h->item_count; i++)
        explain_idle(w, w->h->items[i]);
    why_end_kind(w);
}

/* ---- messages that nobody sends or receives ---- */

/* Whether the message that item is about has reached its receiver, which has taken it off the queue
 * by a matching probe. */
static bool is_taken(const struct hang *h, const struct hang_item *item)
{
    const struct hang_answer *theirs = &h->nodes[item->peer].answer;
    const struct hang_queue *queue;
    if (item->what != HANG_SEND || strcmp(item->state, "asked") || theirs->cut ||
        !is_patient(h, item->owner) || !is_patient(h, item->peer))
        return false;
    for (int q = 0; (queue = next_queue(theirs, 'U', &q));)
        if (queue->context == item->context && queue->tag == item->tag &&
            (queue->peer == item->owner || queue->peer < 0))
            return false;
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

/* A message of another rank that has come instead, or the awaited one that has gone to another
 * rank: what to add to the line. Such a sender is past its sends or waits for its receipt; such a
 * receiver is past its receives. */
static const char *stray(struct hang *h, const struct hang_item *item)
{
    const struct hang_queue *queue;
    if (item->what != HANG_RECV || item->tag < 0)
        return "";
    for (int q = 0; (queue = next_queue(&h->nodes[item->owner].answer, 'U', &q));)
        if (queue->context == item->context && queue->tag == item->tag &&
            graph_is_rank(h, queue->peer) &&
            (h->nodes[queue->peer].meeting >= 0 ||
             sends_to(h, queue->peer, item->owner, item->tag)))
            return words(h, ",\n    while such a message of rank %d has come (wrong source?)",
                         queue->peer);
    for (int r = 0; r < h->count; r++)
        for (int q = 0; r != item->owner && h->nodes[r].meeting >= 0 &&
                        (queue = next_queue(&h->nodes[r].answer, 'U', &q));)
            if (queue->peer == item->peer && queue->tag == item->tag && hang_is_program(queue->use))
                return words(h,
                             ",\n    while one%s has come to rank %d (wrong destination or "
                             "communicator?)",
                             words_envelope(h, queue->comm, queue->tag), r);
    return "";
}

/* What the other did not call, and what it did not do. */
static const struct words_wait *missing_of(const struct hang *h, const struct hang_item *item)
{
    static const struct words_wait taken = {"MPI_Mrecv",
                                            "has only taken it by MPI_Mprobe or MPI_Improbe, and "};
    return is_taken(h, item) ? &taken : words_wait(item);
}

/* The message that a late rank waits for of one that is in the collective at hand, or NULL. */
static const struct hang_item *missing_item(struct why *w, int rank)
{
    const struct node *node = &w->h->nodes[rank];
    bool open = w->h->late[rank] && !node->explained && graph_is_stuck(w->h, rank);
    for (int i = 0; i < node->answer.item_count && open && !node->finalizing; i++) {
        const struct hang_item *item = &node->answer.items[i];
        if (item->what <= HANG_PROBE && graph_is_rank(w->h, item->peer) && item->peer != rank &&
            w->h->nodes[item->peer].meeting == w->meeting && !hang_is_collective(item->use) &&
            strcmp(item->state, "moving") && waits_for(w, item->peer, rank))
            return item;
    }
    return NULL;
}

/* What is missing of which rank. */
static const char *say_missing(struct hang *h, const struct hang_item *item)
{
    return words(h, " in %s for %s,\n    but rank %d %s%s", words_function(item->thread),
                 words_item(h, item, NULL), item->peer, missing_of(h, item)->not_done,
                 words_state(h, item->peer, false));
}

/* Make a culprit of the one that is wrong, if that is known. */
static void settle_missing(struct why *w, const struct hang_item *item, bool blame)
{
    w->h->nodes[item->owner].explained = true;
    if (is_taken(w->h, item))
        why_blame(w, item->peer);
    else if (blame)
        why_pair(w, item->owner, item->peer);
}

void why_missing(struct why *w, bool blame)
{
    struct hang *h = w->h;
    int left_out = 0;
    const struct hang_item **items = memory_take(&h->memory, (size_t)h->count * sizeof(*items));
    const char **said = memory_take(&h->memory, (size_t)h->count * sizeof(*said));
    for (int r = 0; r < h->count; r++) {
        items[r] = missing_item(w, r);
        said[r] = items[r] ? say_missing(h, items[r]) : NULL;
        if (items[r])
            settle_missing(w, items[r], blame);
    }
    for (int r = 0; r < h->count; r++) {
        bool room = said[r] && w->missing < MISSING_MAX,
             several = room && why_alike(w, said, r) > 1;
        left_out += said[r] && !room;
        if (!room)
            continue;
        w->missing++;
        (void)why_tell(w, "  %s missing? R%s wait%s%s%s\n", missing_of(h, items[r])->missing,
                       words_ranks(h, h->set) + 1, several ? "" : "s", said[r],
                       several ? "" : stray(h, items[r]));
        for (int other = r; other < h->count; other++)
            said[other] = h->set[other] ? NULL : said[other];
    }
    if (left_out)
        (void)why_tell(w, "  ... and %d more of the kind.\n", left_out);
    why_blame_pairs(w, NULL);
}
