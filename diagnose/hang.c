/* SPDX-License-Identifier: BSD-3-Clause */

/* The report of a hang; see hang.h: the culprits, the reasons, then what each rank does. */
#include "diagnose/hang.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_why.h"
#include "diagnose/hang_words.h"

enum {
    ROWS_MAX = 40,
    SITE_MAX = 256,
    FEW = 8, /* ranks that are told one by one */
    JUST_NOW_MS = 50
};

/* A row of a table before equal ones are joined: one thread, or one queue, of one rank. */
struct row {
    const char *key; /* rows with equal keys are joined, and among few ranks only if */
    bool apart;      /* they have the same peers */
    int rank;
    int64_t ms;            /* -1: unknown */
    uint64_t count, bytes; /* of a queue */
    int *peers;            /* -1: any */
    int peer_count;
};

struct row_list {
    struct row *rows;
    int count;
};

/* In a key: the place of the peers, and an s if the counted things are several. */
#define PEERS  "\1"
#define PLURAL "\2"

static void add_row(struct hang *h, struct row_list *t, struct row row)
{
    row.apart = h->count <= FEW;
    t->rows = memory_grow(&h->memory, t->rows, t->count, sizeof(row));
    t->rows[t->count++] = row;
}

/* ---- what the ranks do ---- */

static const char *site(struct hang *h, const struct hang_thread *thread)
{
    char text[SITE_MAX] = "";
    const char *slash = strrchr(thread->module, '/');
    const char *name = slash ? slash + 1 : thread->module;
    if (!*name)
        return "";
    if (h->question->site)
        h->question->site(h->question->arg, thread->module, thread->offset, text, sizeof(text));
    if (*text)
        return words(h, ",%cat %s", WORDS_BREAK, text);
    if (*thread->symbol)
        return words(h, ",%cin %s (%s+0x%" PRIx64 ")", WORDS_BREAK, thread->symbol, name,
                     thread->offset);
    return words(h, ",%cat %s+0x%" PRIx64, WORDS_BREAK, name, thread->offset);
}

static const char *thread_items(struct hang *h, const struct hang_thread *thread)
{
    const char *collective = words_collective(h, thread);
    if (!thread->count || *collective)
        return collective;
    if (thread->count > 1 && thread->items->what != HANG_CLOSE)
        return words(h, " for %s of %d messages with " PEERS,
                     thread->mode == HANG_ANY ? "one" : "all", thread->count);
    bool is_elsewhere = thread->items->peer == HANG_ELSEWHERE;
    return words(h, " for %s", words_item(h, thread->items, is_elsewhere ? NULL : PEERS));
}

static void add_thread(struct hang *h, struct row_list *t, int rank,
                       const struct hang_thread *thread)
{
    struct row row = {.rank = rank, .ms = thread->ms};
    row.key = words(h, "%s%s%s", words_does(h, thread), thread_items(h, thread), site(h, thread));
    row.peers = memory_take(&h->memory, (size_t)thread->count * sizeof(*row.peers));
    for (int i = 0; i < thread->count; i++)
        if (!hang_is_collective(thread->items[i].use))
            row.peers[row.peer_count++] = thread->items[i].peer;
    add_row(h, t, row);
}

static void add_states(struct hang *h, struct row_list *t, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    struct row row = {.rank = rank, .ms = -1};
    for (int i = 0; i < answer->thread_count; i++)
        add_thread(h, t, rank, &answer->threads[i]);
    row.key = words_state(h, rank, h->count > FEW);
    if (!answer->thread_count)
        add_row(h, t, row);
    row.key = words_others(h, &answer->others);
    if (answer->thread_count && hang_text_others(answer))
        add_row(h, t, row);
}

/* ---- queues ---- */

static const char *queue_key(struct hang *h, const struct hang_queue *queue)
{
    const char *kind = words_kind(queue->use), *what;
    const char *peers = queue->peer == HANG_ELSEWHERE ? words_peer(h, queue->comm, queue->peer, queue->rank) : PEERS;
    bool sends = *queue->state == 's';
    switch (queue->kind) {
    case 'U': what = words(h, "%s" PLURAL " from %s not received", kind, peers); break;
    case 'P': what = words(h, "receive" PLURAL " from %s without a %s", peers, kind); break;
    case 'I':
        what = words(h, "persistent %s" PLURAL " %s %s not started",
                     sends ? "send" : "receive", sends ? "to" : "from", peers);
        break;
    default: what = words(h, "send" PLURAL " to %s %s", peers, words_send(queue->state)); break;
    }
    return words(h, "%s%s", what, words_envelope(h, queue->comm, queue->tag));
}

/* Take off a queue what the other table tells: the requests that the rank's threads wait for, and
 * the messages whose senders wait for their receipt. */
static void take_told(const struct hang *h, struct row *row, const struct hang_queue *queue)
{
    bool came = queue->kind == 'U';
    int teller = came ? queue->peer : row->rank, peer = came ? row->rank : queue->peer;
    enum hang_what what = queue->kind == 'P' ? HANG_RECV : HANG_SEND;
    if (queue->kind == 'I' || !graph_is_rank(h, teller))
        return;
    const struct hang_answer *answer = &h->nodes[teller].answer;
    for (int i = 0; i < answer->item_count && row->count; i++) {
        const struct hang_item *item = &answer->items[i];
        if (item->what != what || item->context != queue->context || item->peer != peer ||
            item->tag != queue->tag)
            continue;
        row->count--;
        row->bytes -= item->bytes < row->bytes ? item->bytes : row->bytes;
    }
}

/* Whether a rank waits for what a persistent request is about: most requests are only at rest. */
static bool is_wanted(const struct hang *h, int rank, const struct hang_queue *queue)
{
    int first = queue->peer < 0 ? 0 : queue->peer;
    int last = queue->peer < 0 ? h->count - 1 : queue->peer;
    for (int r = first; r <= last && r < h->count; r++) {
        const struct hang_answer *theirs = &h->nodes[r].answer;
        for (int i = 0; i < theirs->item_count; i++)
            if (theirs->items[i].peer == rank && why_is_idle_match(&theirs->items[i], queue))
                return true;
    }
    return false;
}

/* Whether a queue is of interest: the program receives no messages of the library, which posts
 * receives from any rank for the parts of a partitioned message. */
static bool is_shown(const struct hang *h, int rank, const struct hang_queue *queue)
{
    if (queue->kind == 'W' ||
        (queue->kind == 'P' && queue->peer < 0 && queue->use == HANG_USE_PARTITIONED))
        return false;
    return hang_is_program(queue->use) && (queue->kind != 'I' || is_wanted(h, rank, queue));
}

static void add_queues(struct hang *h, struct row_list *t, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    for (int i = 0; i < answer->queue_count; i++) {
        const struct hang_queue *queue = &answer->queues[i];
        struct row row = {.rank = rank, .ms = -1, .count = queue->count, .bytes = queue->bytes};
        take_told(h, &row, queue);
        if (!row.count || !is_shown(h, rank, queue))
            continue;
        row.key = queue_key(h, queue);
        row.peers = memory_take(&h->memory, sizeof(*row.peers));
        row.peers[row.peer_count++] = queue->peer;
        add_row(h, t, row);
    }
}

/* ---- printing ---- */

/* The peers of rows: each row has one of them if they are several. */
static const char *peers_of(struct hang *h, const struct row *rows, int n)
{
    bool any = false;
    memset(h->set, 0, (size_t)h->count);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < rows[i].peer_count; j++) {
            any |= rows[i].peers[j] < 0;
            if (graph_is_rank(h, rows[i].peers[j]))
                h->set[rows[i].peers[j]] = true;
        }
    if (any)
        return "any rank";
    bool one_of = words_count(h, h->set) > 1 && n > 1 && rows->peer_count == 1 && !rows->count;
    return words(h, "%s%s", one_of ? "one of " : "", words_ranks(h, h->set));
}

static void write_key(struct hang *h, const struct row *rows, int n, uint64_t count)
{
    for (const char *at = rows->key; *at; at++) {
        if (*at == *PLURAL)
            fputs(count == 1 ? "" : "s", h->to);
        else if (*at == *PEERS)
            fputs(peers_of(h, rows, n), h->to);
        else
            fputc(*at, h->to);
    }
}

static void write_time(FILE *to, const struct row *rows, int n)
{
    int64_t least = INT64_MAX, most = -1;
    for (int i = 0; i < n; i++) {
        if (rows[i].ms < 0)
            continue;
        least = rows[i].ms < least ? rows[i].ms : least;
        most = rows[i].ms > most ? rows[i].ms : most;
    }
    if (most < 0)
        return;
    if (most < JUST_NOW_MS)
        fputs(", since just now", to);
    else if (most - least > most / 10 + 1000)
        fprintf(to, ", for %.1f to %.1f s", (double)least / 1000, (double)most / 1000);
    else
        fprintf(to, ", for %.1f s", (double)most / 1000);
}

static void write_row(struct hang *h, const struct row *rows, int n)
{
    uint64_t count = 0, bytes = 0;
    memset(h->set, 0, (size_t)h->count);
    for (int i = 0; i < n; i++) {
        h->set[rows[i].rank] = true;
        count += rows[i].count;
        bytes += rows[i].bytes;
    }
    bool each = !count && words_count(h, h->set) > 1;
    fprintf(h->to, "  %s: %s", words_ranks(h, h->set), each ? "each " : "");
    if (count)
        fprintf(h->to, "%" PRIu64 " ", count);
    write_key(h, rows, n, count);
    if (bytes)
        fprintf(h->to, ", %" PRIu64 " bytes%s", bytes, count > 1 ? " in all" : "");
    write_time(h->to, rows, n);
    fputc('\n', h->to);
}

static int compare_keys(const struct row *a, const struct row *b)
{
    int order = strcmp(a->key, b->key);
    if (!order && a->apart)
        order = (a->peer_count > b->peer_count) - (a->peer_count < b->peer_count);
    return order || !a->apart || !a->peer_count
               ? order
               : memcmp(a->peers, b->peers, (size_t)a->peer_count * sizeof(*a->peers));
}

static int by_key(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;
    int order = compare_keys(a, b);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_rank(const void *va, const void *vb)
{
    const struct row *const *a = va, *const *b = vb;
    return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

/* Join equal rows and write them in the order of their first ranks. */
static void write_table(struct hang *h, struct row_list *t, const char *title)
{
    int groups = 0;
    if (!t->count)
        return;
    qsort(t->rows, (size_t)t->count, sizeof(*t->rows), by_key);
    const struct row **first = memory_take(&h->memory, (size_t)t->count * sizeof(*first));
    for (int i = 0; i < t->count; i++)
        if (!i || compare_keys(&t->rows[i], &t->rows[i - 1]))
            first[groups++] = &t->rows[i];
    qsort(first, (size_t)groups, sizeof(*first), by_rank);
    fprintf(h->to, "\n%s\n", title);
    for (int g = 0; g < groups && g < ROWS_MAX; g++) {
        int n = 1, left = t->count - (int)(first[g] - t->rows);
        while (n < left && !compare_keys(&first[g][n], first[g]))
            n++;
        write_row(h, first[g], n);
    }
    if (groups > ROWS_MAX)
        fprintf(h->to, "  ... and %d more rows\n", groups - ROWS_MAX);
}

static void write_tables(struct hang *h)
{
    struct row_list states = {0}, queues = {0};
    int bad = 0, cut = 0;
    h->terse = h->count > FEW;
    for (int r = 0; r < h->count; r++) {
        add_states(h, &states, r);
        add_queues(h, &queues, r);
        bad += h->nodes[r].answer.bad_lines;
        cut += h->nodes[r].answer.cut;
    }
    write_table(h, &states, "What the ranks do:");
    write_table(h, &queues, "What else is not over:");
    if (h->tells_job && h->nodes[0].answer.job)
        fprintf(h->to, "\nThis job is %s; vireo ps lists it, and others, by these digits.\n", h->nodes[0].answer.job);
    if (cut)
        fprintf(h->to, "\n%d ranks had more to tell than there was room for.\n", cut);
    if (bad)
        fprintf(h->to, "\n%d lines of the ranks' answers were not understood.\n", bad);
}

/* ---- the head ---- */

/* Where a culprit is that is not in MPI, only a debugger can tell. */
static void write_debugger(struct hang *h)
{
    for (int r = 0; r < h->count; r++) {
        const struct hang_rank *rank = &h->ranks[r];
        bool unknown = rank->state == DIAGNOSE_SILENT || rank->state == DIAGNOSE_NOT_INIT;
        if (!h->nodes[r].culprit || !unknown || !rank->pid)
            continue;
        fprintf(h->to, "  To see where rank %d is: gdb -p %d -batch -ex bt\n", r, rank->pid);
        return;
    }
}

/* Whether some wait is younger than the question. */
static bool has_news(const struct hang *h)
{
    for (int r = 0; r < h->count; r++)
        for (int t = 0; t < h->nodes[r].answer.thread_count; t++) {
            const struct hang_thread *thread = &h->nodes[r].answer.threads[t];
            if (thread->mode != HANG_POLL && graph_goes_on(h, thread))
                return true;
        }
    return false;
}

/* Say which part is a deadlock only if no thread that sleeps outside MPI makes the awaited
 * calls. */
static void write_doubt(struct hang *h, const char *culprits)
{
    for (int r = 0; r < h->count; r++)
        h->set[r] = h->nodes[r].answer.others.asleep > 0;
    fprintf(h->to,
            "No deadlock is certain: threads that sleep outside MPI may call it yet, in %s.\n"
            "If none does, this is what is wrong%s:\n",
            words_ranks(h, h->set), culprits);
}

/* The first line says it all. */
static void write_head(struct hang *h)
{
    const char *job = h->question->job;
    fprintf(h->to, "Hang report%s%s: %d rank%s on %s\n", job ? " on job " : "", job ? job : "",
            h->count, h->count == 1 ? "" : "s", h->question->host);
    for (int r = 0; r < h->count; r++)
        h->set[r] = h->nodes[r].culprit;
    int n = words_count(h, h->set);
    const char *ranks = words_ranks(h, h->set);
    if (h->strict)
        write_doubt(h, !n       ? ""
                       : n == 1 ? words(h, ", and the culprit is %s", ranks)
                                : words(h, ", and the culprits are %s", ranks));
    else if (n)
        fprintf(h->to, "Culprit%s: %s%s\n", n == 1 ? "" : "s", ranks,
                h->stuck ? " (a deadlock)" : "");
    else if (h->stuck)
        fputs("A deadlock, but no culprit is found.\n", h->to);
    else
        fprintf(h->to, "No rank is seen to wait in vain%s.\n",
                has_news(h) ? ": the job goes on" : "");
}

char *hang_format(const struct hang_question *question)
{
    struct hang h;
    char *texts[3] = {NULL}; /* the reasons, which tell the culprits; all; all wrapped */
    size_t len;
    graph_init(&h, question);
    for (int i = 0; i < 3 && (!i || texts[i - 1]); i++) {
        h.to = open_memstream(&texts[i], &len);
        if (!h.to)
            break;
        if (i == 0) {
            why_write(&h);
        } else if (i == 1) {
            write_head(&h);
            fputs(texts[0], h.to);
            write_debugger(&h);
            write_tables(&h);
        } else {
            words_wrap(h.to, texts[1]);
        }
        (void)fclose(h.to);
    }
    graph_fini(&h);
    free(texts[0]);
    free(texts[1]);
    return texts[2];
}
