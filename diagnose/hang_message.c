/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages that are not there: they have come with another tag, or in another communicator, or to
 * another rank, or another receive has got them, or nobody sends or receives them; see
 * hang_why.h. */
#include <string.h>

#include "diagnose/hang_why.h"
#include "diagnose/hang_words.h"

enum {
    PATIENCE_MS = 800, /* so long a sender waits until its message counts as not wanted */
    TRIES_MAX = 400    /* at messages that may come; each looks at all ranks */
};

/* The next queue of a kind of a rank from index *q on, behind which *q is set; or NULL. */
static const struct hang_queue *next_queue(const struct hang *h, int rank, char kind, int *q)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    while (*q < answer->queue_count)
        if (answer->queues[(*q)++].kind == kind)
            return &answer->queues[*q - 1];
    return NULL;
}

static bool receives(const struct hang_item *item)
{
    return item->what == HANG_RECV || item->what == HANG_PROBE;
}

/* Whether the other one of two will do nothing more before rank goes on. If not, it may wait for
 * another event, and send or receive later. */
static bool waits_for(const struct hang *h, int other, int rank)
{
    if (other == HANG_ELSEWHERE)
        return false;
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

/* ---- causes: each sets a title and returns the rest, or NULL ---- */

/* The next message that is nearly what a receive or probe waits for: its tag is wrong, or its
 * communicator. Those of the library's own are nobody's mistake. */
static const struct hang_queue *next_near(const struct hang *h, const struct hang_item *item,
                                          int *q)
{
    const struct hang_queue *queue = NULL;
    while (receives(item) && hang_is_program(item->use) &&
           (queue = next_queue(h, item->owner, 'U', q))) {
        bool context = item->context == queue->context;
        bool tag = item->tag < 0 || item->tag == queue->tag;
        bool peer =
            item->peer < 0 ? context || item->rank == queue->rank : item->peer == queue->peer;
        if (peer && context != tag && hang_is_program(queue->use))
            return queue;
    }
    return NULL;
}

/* Whether no other message can come: one of the senders of similar messages waits for this rank, or
 * is gone. A rank that polls may do anything yet, and receive what has come; but what it looks for
 * cannot come unless it does, and the sender waits, too. */
static bool is_all(struct why *w, const struct hang_item *item, const struct hang_queue *first)
{
    struct hang *h = w->h;
    const struct hang_queue *queue;
    if (item->thread->mode == HANG_POLL)
        return graph_is_rank(h, first->peer) && is_patient(h, first->peer) &&
               w->tries++ < TRIES_MAX && !graph_may_come_alone(h, item);
    for (int q = 0; graph_is_stuck(h, item->owner) && (queue = next_near(h, item, &q));)
        if (waits_for(h, queue->peer, item->owner))
            return true;
    return false;
}

/* All messages that are near do not fit; the first is told. */
static const char *explain_near(struct why *w, const struct hang_item *item, const char **title)
{
    struct hang *h = w->h;
    int q = 0;
    const struct hang_queue *queue, *first = next_near(h, item, &q);
    if (!first || !is_all(w, item, first))
        return NULL;
    for (q = 0; (queue = next_near(h, item, &q));)
        why_pair(w, item->owner, graph_is_rank(h, queue->peer) ? queue->peer : item->owner);
    *title = item->context == first->context ? "Wrong tag"
             : item->comm == first->comm     ? "Wrong kind of message"
                                             : "Wrong communicator";
    const char *from = words_peer(h, first->comm, first->peer, first->rank);
    return words(h, "but what has come is a %s from %s%s", words_kind(first->use), from,
                 words_envelope(h, first->comm, first->tag));
}

/* A receive from any source, or of any tag, has got the message meant for this one. If its sender
 * waits for a message in turn, either may be wrong. */
static const char *explain_got(struct why *w, const struct hang_item *item, const char **title)
{
    struct hang *h = w->h;
    const struct hang_queue *got;
    int q = 0;
    if (!receives(item) || !waits_for(h, item->peer, item->owner))
        return NULL;
    do
        got = next_queue(h, item->owner, 'W', &q);
    while (got && (got->context != item->context || got->peer != item->peer ||
                   (item->tag >= 0 && got->tag != item->tag)));
    if (!got)
        return NULL;
    bool either = graph_is_stuck(h, item->peer) && !h->nodes[item->peer].meets;
    why_pair(w, item->owner, either ? item->peer : item->owner);
    *title = "Taken by another receive";
    return words(h, "but a receive with a wildcard has got a message from rank %d%s before",
                 got->peer, words_envelope(h, got->comm, got->tag));
}

bool why_is_idle_match(const struct hang_item *item, const struct hang_queue *queue)
{
    bool wild = item->what == HANG_SEND ? queue->peer < 0 || queue->tag < 0 : item->tag < 0;
    return item->what <= HANG_PROBE && receives(item) == (*queue->state == 's') &&
           item->context == queue->context && (queue->peer == item->owner || queue->peer < 0) &&
           (wild || item->tag == queue->tag);
}

/* The peer has not started the request that would do. */
static const char *explain_idle(struct why *w, const struct hang_item *item, const char **title)
{
    const struct hang_queue *queue;
    int q = 0;
    do
        queue = next_queue(w->h, item->peer, 'I', &q);
    while (queue && !why_is_idle_match(item, queue));
    if (!queue || !graph_is_stuck(w->h, item->peer))
        return NULL;
    why_pair(w, item->peer, item->peer);
    *title = "MPI_Start missing";
    return words(w->h, "for which rank %d has a persistent %s that it has not started", item->peer,
                 receives(item) ? "send" : "receive");
}

/* Whether the message that item is about has reached its receiver, which has taken it off the queue
 * by a matching probe. */
static bool is_probed(const struct hang *h, const struct hang_item *item)
{
    const struct hang_queue *queue;
    if (item->what != HANG_SEND || strcmp(item->state, "asked") ||
        h->nodes[item->peer].answer.cut || !is_patient(h, item->owner) ||
        !is_patient(h, item->peer))
        return false;
    for (int q = 0; (queue = next_queue(h, item->peer, 'U', &q));)
        if (queue->context == item->context && queue->tag == item->tag &&
            (queue->peer == item->owner || queue->peer < 0))
            return false;
    return true;
}

/* A message of another rank that has come instead, or the awaited one that has gone to another
 * rank, which waits in a collective: what to add to the line. */
static const char *stray(struct why *w, const struct hang_item *item)
{
    struct hang *h = w->h;
    const struct hang_queue *queue;
    bool searches = item->what == HANG_RECV && item->tag >= 0 && w->tries++ < TRIES_MAX;
    for (int r = 0; r < h->count && searches; r++)
        for (int q = 0; (queue = next_queue(h, r, 'U', &q));) {
            if (queue->tag != item->tag || !hang_is_program(queue->use))
                continue;
            if (r == item->owner && queue->context == item->context &&
                graph_is_rank(h, queue->peer) && graph_is_stuck(h, queue->peer))
                return words(h, ",\n    while such a message of rank %d has come (wrong source?)",
                             queue->peer);
            if (r != item->owner && queue->peer == item->peer && h->nodes[r].meets)
                return words(h,
                             ",\n    while one%s has come to rank %d (wrong destination or "
                             "communicator?)",
                             words_envelope(h, queue->comm, queue->tag), r);
        }
    return "";
}

/* A rank that has not come to a collective awaits a message of one that is in it, of w->late. */
static const char *explain_missing(struct why *w, const struct hang_item *item, const char **title)
{
    struct hang *h = w->h;
    bool is_message = item->what <= HANG_PROBE || item->what == HANG_LOCK;
    if (!is_message || item->peer == item->owner || !w->late[item->peer] ||
        item->meeting >= 0 || h->nodes[item->owner].finalizing || !strcmp(item->state, "moving") ||
        !waits_for(h, item->peer, item->owner))
        return NULL;
    const struct words_wait *wait = words_wait(item);
    bool probed = is_probed(h, item);
    if (probed || why_is_open(w, item->owner))
        why_pair(w, item->peer, probed ? item->peer : item->owner);
    *title = words(h, "%s missing", probed ? "MPI_Mrecv" : wait->missing);
    return words(h, "but rank %d %s%s%s", item->peer,
                 probed ? "has only taken it by MPI_Mprobe or MPI_Improbe, and " : wait->not_done,
                 words_state(h, item->peer, false), stray(w, item));
}

/* ---- the lines ---- */

enum { MARK = 1 }; /* between the title of a line and the rest */

typedef const char *cause_fn(struct why *w, const struct hang_item *item, const char **title);

/* Look for a cause of a wait. */
static void explain(struct why *w, const struct hang_item *item, cause_fn *cause)
{
    const char *title, *what = w->said[item->owner] ? NULL : cause(w, item, &title);
    if (!what)
        return;
    w->h->nodes[item->owner].explained = true;
    w->said[item->owner] = words(w->h, "%s?%c%s for %s,\n    %s", title, MARK,
                                 words_does(w->h, item->thread), words_item(w->h, item, NULL), what);
}

/* The same, of waits that name a rank, and which do not end. */
static void explain_stuck(struct why *w, int rank, cause_fn *cause)
{
    const struct hang_answer *answer = &w->h->nodes[rank].answer;
    bool stuck = graph_is_stuck(w->h, rank) && !w->h->nodes[rank].explained;
    for (int i = 0; i < answer->item_count && stuck; i++)
        if (graph_is_rank(w->h, answer->items[i].peer))
            explain(w, &answer->items[i], cause);
}

/* Where a thread tests requests, what it looks for are the rank's receives. */
static void explain_tests(struct why *w, int rank, const struct hang_thread *thread)
{
    const struct hang_queue *p;
    bool tests = thread->mode == HANG_POLL &&
                 (!strncmp(thread->function, "MPI_Test", strlen("MPI_Test")) ||
                  !strncmp(thread->function, "MPI_Request_get", strlen("MPI_Request_get")));
    for (int q = 0; tests && (p = next_queue(w->h, rank, 'P', &q));) {
        struct hang_item item = {rank,    -1,       HANG_RECV, p->context, p->peer, p->rank, p->tag,
                                 p->bytes, "",      thread,    p->comm,    p->use};
        explain(w, &item, explain_near);
    }
}

static void write_lines(struct why *w)
{
    const char *what;
    for (int r = 0; (what = why_next(w, &r));) {
        const char *does = strchr(what, MARK) + 1;
        bool several = words_count(w->h, w->h->set) > 1;
        (void)why_tell(w, "  %.*s R%s %.4s%s\n", (int)(does - 1 - what), what,
                       words_ranks(w->h, w->h->set) + 1, does, does + (several ? 5 : 4));
    }
}

void why_messages(struct why *w)
{
    for (int r = 0; r < w->h->count; r++) {
        const struct hang_answer *answer = &w->h->nodes[r].answer;
        for (int i = 0; i < answer->item_count; i++)
            if (!answer->cut || answer->items[i].thread->mode != HANG_POLL)
                explain(w, &answer->items[i], explain_near);
        for (int t = 0; t < answer->thread_count && !answer->cut; t++)
            explain_tests(w, r, &answer->threads[t]);
        explain_stuck(w, r, explain_idle);
        explain_stuck(w, r, explain_got);
    }
    write_lines(w);
}

void why_missing(struct why *w)
{
    struct hang *h = w->h;
    for (const struct meeting *m = h->meetings; m < h->meetings + h->meeting_count; m++) {
        memset(w->late, 0, (size_t)h->count);
        for (int i = 0; i < m->count; i++)
            w->late[m->entries[i]->owner] = true;
        for (int i = 0; i < m->member_count && !m->told; i++)
            if (m->members[i].state == MEMBER_LATE)
                explain_stuck(w, m->members[i].rank, explain_missing);
    }
    write_lines(w);
}
