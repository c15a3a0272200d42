/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages that are not there: they have come with another tag, or in another communicator, or to
 * another rank, or another receive has got them, or nobody sends or receives them; see
 * hang_why.h. */
#include <string.h>

#include "diagnose/hang_why.h"
#include "diagnose/hang_words.h"

enum {
    PATIENCE_MS = 800, /* so long a sender waits until its message counts as not wanted */
    TRIES_MAX = 400,   /* at what may come, each of which looks at all ranks */
    MISSING_MAX = 6    /* lines */
};

/* The next queue of a kind from index *q on, behind which *q is set; or NULL. */
static const struct hang_queue *next_queue(const struct hang_answer *answer, char kind, int *q)
{
    while (*q < answer->queue_count)
        if (answer->queues[(*q)++].kind == kind)
            return &answer->queues[*q - 1];
    return NULL;
}

static bool receives(const struct hang_item *item)
{
    return item->what == HANG_RECV || item->what == HANG_PROBE;
}

/* Whether the other one of two will do nothing more before rank goes on: else it may be kept by
 * something else, and send or receive later. */
static bool waits_for(const struct hang *h, int other, int rank)
{
    return !graph_is_rank(h, other) || other == rank || graph_is_gone(h, other) ||
           graph_is_one_part(h, other, rank);
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
    const struct hang_queue *queue = NULL;
    while (receives(item) && hang_is_program(item->use) &&
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

/* A rank that polls may do anything yet, and receive what has come. But what it looks for cannot
 * come unless it does, and the sender of what has come waits, too. */
static bool polls_for_nothing(struct why *w, const struct hang_item *item, int sender)
{
    return graph_is_rank(w->h, sender) && is_patient(w->h, sender) && w->tries++ < TRIES_MAX &&
           !graph_may_come_alone(w->h, item);
}

/* All messages that are near do not fit, if one of their senders sends no other; the first is
 * told. */
static void explain_near(struct why *w, const struct hang_item *item)
{
    struct hang *h = w->h;
    int q = 0;
    bool sure = false, polls = item->thread->mode == HANG_POLL;
    const struct hang_queue *queue, *first = next_near(h, item, &q);
    if (!first || (!polls && !graph_is_stuck(h, item->owner)))
        return;
    for (q = 0; !polls && !sure && (queue = next_near(h, item, &q));)
        sure = waits_for(h, queue->peer, item->owner);
    if (polls ? !polls_for_nothing(w, item, first->peer) : !sure)
        return;
    for (q = 0; (queue = next_near(h, item, &q));)
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

/* Where a thread tests requests, what it looks for are the rank's receives. */
static void explain_tests(struct why *w, int rank, const struct hang_thread *thread)
{
    const struct hang_queue *p;
    bool tests = thread->mode == HANG_POLL &&
                 (!strncmp(thread->function, "MPI_Test", strlen("MPI_Test")) ||
                  !strncmp(thread->function, "MPI_Request_get", strlen("MPI_Request_get")));
    for (int q = 0; tests && (p = next_queue(&w->h->nodes[rank].answer, 'P', &q));) {
        struct hang_item item = {rank,    -1,       HANG_RECV, p->context, p->peer, p->rank, p->tag,
                                 p->bytes, "",      thread,    p->comm,    p->use};
        explain_near(w, &item);
    }
}

/* ---- messages that another receive has got ---- */

/* A receive from any source, or of any tag, has got what was meant for this one. Where its sender
 * waits for a message in turn, either may be wrong. */
static void explain_got(struct why *w, const struct hang_item *item)
{
    struct hang *h = w->h;
    const struct hang_queue *got;
    int q = 0;
    if (!receives(item) || !graph_is_stuck(h, item->owner) || !graph_is_rank(h, item->peer) ||
        h->nodes[item->owner].explained || !waits_for(h, item->peer, item->owner))
        return;
    do
        got = next_queue(&h->nodes[item->owner].answer, 'W', &q);
    while (got && (got->context != item->context || got->peer != item->peer ||
                   (item->tag >= 0 && got->tag != item->tag)));
    if (!got)
        return;
    if (graph_is_stuck(h, item->peer) && h->nodes[item->peer].meeting < 0)
        why_pair(w, item->owner, item->peer);
    else
        why_blame(w, item->owner);
    h->nodes[item->owner].explained = true;
    (void)why_tell(w,
                   "  Taken by another receive? Rank %d %s for %s,\n    but a receive with a "
                   "wildcard has got a message from rank %d%s before\n",
                   item->owner, words_does(h, item->thread), words_item(h, item, NULL), got->peer,
                   words_envelope(h, got->comm, got->tag));
}

/* ---- requests that were not started ---- */

bool why_is_idle_match(const struct hang_item *item, const struct hang_queue *queue)
{
    bool wild = item->what == HANG_SEND ? queue->peer < 0 || queue->tag < 0 : item->tag < 0;
    return item->what <= HANG_PROBE && receives(item) == (*queue->state == 's') &&
           item->context == queue->context && (queue->peer == item->owner || queue->peer < 0) &&
           (wild || item->tag == queue->tag);
}

static void explain_idle(struct why *w, const struct hang_item *item)
{
    struct hang *h = w->h;
    const struct hang_queue *queue = NULL;
    int q = 0;
    if (!graph_is_stuck(h, item->owner) || !graph_is_rank(h, item->peer) ||
        !graph_is_stuck(h, item->peer))
        return;
    do
        queue = next_queue(&h->nodes[item->peer].answer, 'I', &q);
    while (queue && !why_is_idle_match(item, queue));
    if (!queue)
        return;
    why_blame(w, item->peer);
    h->nodes[item->owner].explained = true;
    (void)why_tell(w,
                   "  MPI_Start missing? Rank %d waits in %s for %s,\n"
                   "    for which rank %d has a persistent %s that it has not started\n",
                   item->owner, words_function(item->thread), words_item(h, item, NULL), item->peer,
                   receives(item) ? "send" : "receive");
}

void why_messages(struct why *w)
{
    struct hang *h = w->h;
    for (int r = 0; r < h->count; r++) {
        const struct hang_answer *answer = &h->nodes[r].answer;
        for (int i = 0; i < answer->item_count; i++)
            if (!answer->cut || answer->items[i].thread->mode != HANG_POLL)
                explain_near(w, &answer->items[i]);
        for (int t = 0; t < answer->thread_count && !answer->cut; t++)
            explain_tests(w, r, &answer->threads[t]);
    }
    for (int i = 0; i < h->item_count; i++) {
        explain_idle(w, h->items[i]);
        explain_got(w, h->items[i]);
    }
    why_blame_pairs(w);
}

/* ---- messages that nobody sends or receives ---- */

/* Whether the message that item is about has reached its receiver, which has taken it off the queue
 * by a matching probe. */
static bool is_probed(const struct hang *h, const struct hang_item *item)
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

/* A message of another rank that has come instead, or the awaited one that has gone to another
 * rank, which waits in a collective: what to add to the line. */
static const char *stray(struct hang *h, const struct hang_item *item)
{
    const struct hang_queue *queue;
    for (int r = 0; r < h->count && item->what == HANG_RECV && item->tag >= 0; r++)
        for (int q = 0; (queue = next_queue(&h->nodes[r].answer, 'U', &q));) {
            if (queue->tag != item->tag || !hang_is_program(queue->use))
                continue;
            if (r == item->owner && queue->context == item->context &&
                graph_is_rank(h, queue->peer) && graph_is_stuck(h, queue->peer))
                return words(h, ",\n    while such a message of rank %d has come (wrong source?)",
                             queue->peer);
            if (r != item->owner && queue->peer == item->peer && h->nodes[r].meeting >= 0)
                return words(h,
                             ",\n    while one%s has come to rank %d (wrong destination or "
                             "communicator?)",
                             words_envelope(h, queue->comm, queue->tag), r);
        }
    return "";
}

/* The message that a rank which is late awaits of one in the collective, or NULL. */
static const struct hang_item *missing_item(const struct hang *h, const struct meeting *m, int rank)
{
    const struct node *node = &h->nodes[rank];
    bool open = !node->explained && !node->finalizing && graph_is_stuck(h, rank);
    for (int i = 0; i < node->answer.item_count && open; i++) {
        const struct hang_item *item = &node->answer.items[i];
        if (item->what <= HANG_PROBE && graph_is_rank(h, item->peer) && item->peer != rank &&
            graph_is_in(h, m, item->peer) && item->meeting < 0 && strcmp(item->state, "moving") &&
            waits_for(h, item->peer, rank))
            return item;
    }
    return NULL;
}

/* What is missing where nobody ends a wait. */
static const struct words_wait *missing_of(const struct hang *h, const struct hang_item *item)
{
    static const struct words_wait probed = {
        "MPI_Mrecv", "has only taken it by MPI_Mprobe or MPI_Improbe, and "};
    return is_probed(h, item) ? &probed : words_wait(item);
}

void why_missing(struct why *w, const struct meeting *m)
{
    struct hang *h = w->h;
    int left_out = 0;
    const struct hang_item **items = memory_take(&h->memory, (size_t)h->count * sizeof(*items));
    const char **said = memory_take(&h->memory, (size_t)h->count * sizeof(*said));
    for (int i = 0; i < m->late_count; i++) {
        int r = m->late[i];
        const struct hang_item *item = items[r] = missing_item(h, m, r);
        if (!item)
            continue;
        said[r] = words(h, " in %s for %s,\n    but rank %d %s%s", words_function(item->thread),
                        words_item(h, item, NULL), item->peer, missing_of(h, item)->not_done,
                        words_state(h, item->peer, false));
        h->nodes[r].explained = true;
        if (is_probed(h, item))
            why_blame(w, item->peer);
        else if (why_is_open(w, r))
            why_pair(w, r, item->peer);
    }
    for (int r = 0; r < h->count; r++) {
        const char *what = said[r];
        if (what && w->missing == MISSING_MAX)
            left_out++;
        if (!what || w->missing == MISSING_MAX)
            continue;
        bool several = why_alike(w, said, r) > 1;
        w->missing++;
        (void)why_tell(w, "  %s missing? R%s wait%s%s%s\n", missing_of(h, items[r])->missing,
                       words_ranks(h, h->set) + 1, several ? "" : "s", what,
                       several ? "" : stray(h, items[r]));
    }
    if (left_out)
        (void)why_tell(w, "  ... and %d more of the kind.\n", left_out);
    why_blame_pairs(w);
}
