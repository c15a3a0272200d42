/* SPDX-License-Identifier: BSD-3-Clause */

/* The report of a hang; see hang.h: the culprits, the reasons, then what each rank does. */
#include "diagnose/hang.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/hang_graph.h"

enum {
    ROWS_MAX = 40,
    SITE_MAX = 256,
    FEW = 8, /* ranks, of which each is told apart */
    JUST_NOW_MS = 50
};

/* A row of a table before equal ones are joined: one thread, or one queue, of one rank. */
struct row {
    char *key; /* what is equal; PEERS stands for the peers */
    int rank;
    int64_t ms;
    uint64_t count, bytes;
    const struct hang_answer *answer;
    int first, items; /* whose peers, of answer */
    int peer;         /* or this one; -1: any */
};

struct row_list {
    struct row *rows;
    size_t count, room;
};

/* In a key: where the peers stand; an s where there are several of what is counted. Behind END is
 * what is compared, and not shown. */
enum {
    PEERS = '\1',
    PLURAL = '\2',
    END = '\3'
};

static int by_key(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;
    int order = strcmp(a->key, b->key);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_rank(const void *va, const void *vb)
{
    const struct row *const *a = va, *const *b = vb;
    return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

/* Take a row over, with its key. Returns 0 or -ENOMEM. */
static int add_row(struct row_list *t, struct row row)
{
    if (t->count == t->room) {
        size_t room = t->room ? t->room * 2 : 64;
        struct row *grown = row.key ? realloc(t->rows, room * sizeof(*grown)) : NULL;
        if (!grown) {
            free(row.key);
            return -ENOMEM;
        }
        t->rows = grown;
        t->room = room;
    }
    if (!row.key)
        return -ENOMEM;
    t->rows[t->count++] = row;
    return 0;
}

static void free_table(struct row_list *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->rows[i].key);
    free(t->rows);
}

/* ---- what the ranks do ---- */

static void write_site(FILE *to, const struct hang *h, const struct hang_thread *thread)
{
    char text[SITE_MAX] = "";
    const char *slash = strrchr(thread->module, '/');
    const char *name = slash ? slash + 1 : thread->module;
    if (!*name)
        return;
    if (h->question->site)
        h->question->site(h->question->arg, thread->module, thread->offset, text, sizeof(text));
    fprintf(to, ",%c", WORDS_BREAK);
    if (*text)
        fprintf(to, "at %s", text);
    else if (*thread->symbol)
        fprintf(to, "in %s (%s+0x%" PRIx64 ")", thread->symbol, name, thread->offset);
    else
        fprintf(to, "at %s+0x%" PRIx64, name, thread->offset);
}

/* Among many ranks, whole would tell apart what could share a line. */
static void write_items(FILE *to, const struct hang_answer *answer,
                        const struct hang_thread *thread, bool whole)
{
    const struct hang_item *item = &answer->items[thread->first];
    static const char peers[] = {PEERS, 0};
    if (!thread->count || words_collective(to, answer, thread, whole))
        return;
    fputs(" for ", to);
    if (thread->count > 1 && item->what != HANG_CLOSE)
        fprintf(to, "%s of %d messages with %s", thread->mode == HANG_ANY ? "one" : "all",
                thread->count, peers);
    else
        words_item(to, answer, item, peers, whole);
}

/* Among few ranks, those that wait for different peers have different keys. */
static void write_apart(FILE *to, const struct hang *h, int rank, const struct hang_thread *thread)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    if (h->count > FEW)
        return;
    fputc(END, to);
    for (int i = 0; i < thread->count; i++) {
        const struct hang_item *item = &answer->items[thread->first + i];
        if (!graph_collective(answer, item->context))
            fprintf(to, "%d,", item->peer);
    }
}

/* The key of a rank's thread, or, where it has none, of the rank. */
static char *state_key(const struct hang *h, int rank, const struct hang_thread *thread)
{
    char *key = NULL;
    size_t len;
    FILE *to = open_memstream(&key, &len);
    if (!to)
        return NULL;
    if (thread) {
        words_does(to, thread);
        write_items(to, &h->nodes[rank].answer, thread, h->count <= FEW);
        write_site(to, h, thread);
        write_apart(to, h, rank, thread);
    } else {
        words_brief(to, h, rank, h->count > FEW);
    }
    return fclose(to) ? NULL : key;
}

/* What its threads do that are not in MPI. */
static int add_others(struct row_list *t, const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    struct row row = {.rank = rank, .ms = -1, .answer = answer, .peer = -1};
    size_t len;
    FILE *to = hang_text_others(answer) ? open_memstream(&row.key, &len) : NULL;
    if (!to)
        return 0;
    words_others(to, answer);
    if (fclose(to))
        row.key = NULL;
    return add_row(t, row);
}

static int add_states(struct row_list *t, const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    struct row row = {.rank = rank, .ms = -1, .answer = answer, .peer = -1};
    if (!answer->thread_count) {
        row.key = state_key(h, rank, NULL);
        return add_row(t, row);
    }
    int rc = 0;
    for (int i = 0; i < answer->thread_count && !rc; i++) {
        const struct hang_thread *thread = &answer->threads[i];
        row.key = state_key(h, rank, thread);
        row.ms = thread->ms;
        row.first = thread->first;
        row.items = thread->count;
        rc = add_row(t, row);
    }
    return rc ? rc : add_others(t, h, rank);
}

/* ---- queues ---- */

static char *queue_key(const struct hang *h, const struct hang_answer *answer,
                       const struct hang_queue *queue)
{
    const char *kind = words_kind(answer, queue->context);
    char *key = NULL;
    size_t len;
    FILE *to = open_memstream(&key, &len);
    if (!to)
        return NULL;
    switch (queue->kind) {
    case 'U': fprintf(to, "%s%c from %c not received", kind, PLURAL, PEERS); break;
    case 'P': fprintf(to, "receive%c from %c without a %s", PLURAL, PEERS, kind); break;
    case 'I':
        fprintf(to, "persistent %s%c %s %c not started", *queue->state == 's' ? "send" : "receive",
                PLURAL, *queue->state == 's' ? "to" : "from", PEERS);
        break;
    default: fprintf(to, "send%c to %c %s", PLURAL, PEERS, words_send(queue->state)); break;
    }
    words_envelope(to, answer, queue->tag, queue->context, h->count <= FEW);
    if (h->count <= FEW)
        fprintf(to, "%c%d", END, queue->peer);
    return fclose(to) ? NULL : key;
}

/* Take off a queue's requests those that the rank's threads wait for: of these the table above it
 * tells. */
static void take_awaited(const struct hang_answer *answer, struct row *row,
                         const struct hang_queue *queue)
{
    enum hang_what what = queue->kind == 'S' ? HANG_SEND : HANG_RECV;
    for (int i = 0; i < answer->item_count && queue->kind != 'U' && queue->kind != 'I'; i++) {
        const struct hang_item *item = &answer->items[i];
        if (item->what != what || item->context != queue->context || item->peer != queue->peer ||
            item->tag != queue->tag || !row->count)
            continue;
        row->count--;
        row->bytes -= item->bytes < row->bytes ? item->bytes : row->bytes;
    }
}

/* And of the messages those whose senders wait for their receipt. */
static void take_told_by_sender(const struct hang *h, int rank, struct row *row,
                                const struct hang_queue *queue)
{
    if (queue->kind != 'U' || queue->peer < 0 || queue->peer >= h->count)
        return;
    const struct hang_answer *theirs = &h->nodes[queue->peer].answer;
    for (int i = 0; i < theirs->item_count && row->count; i++) {
        const struct hang_item *item = &theirs->items[i];
        if (item->what != HANG_SEND || item->context != queue->context || item->peer != rank ||
            item->tag != queue->tag)
            continue;
        row->count--;
        row->bytes -= item->bytes < row->bytes ? item->bytes : row->bytes;
    }
}

/* Whether what a persistent request is about is waited for: most are only at rest. */
static bool is_wanted(const struct hang *h, int rank, const struct hang_queue *queue)
{
    int first = queue->peer < 0 ? 0 : queue->peer;
    int last = queue->peer < 0 ? h->count - 1 : queue->peer;
    for (int r = first; r <= last && r < h->count; r++) {
        const struct hang_answer *theirs = &h->nodes[r].answer;
        for (int i = 0; i < theirs->item_count; i++)
            if (theirs->items[i].peer == rank && why_is_idle_match(r, &theirs->items[i], queue))
                return true;
    }
    return false;
}

/* Whether a queue is of interest: messages of the library are nobody's to receive, and it posts
 * receives for the parts of a partitioned message, from any rank. */
static bool is_shown(const struct hang *h, int rank, const struct hang_queue *queue)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    if (!graph_is_users(answer, queue->context) ||
        (queue->kind == 'I' && !is_wanted(h, rank, queue)))
        return false;
    return queue->kind != 'P' || queue->peer >= 0 || !words_is_partitioned(answer, queue->context);
}

static int add_queues(struct row_list *t, const struct hang *h, int rank)
{
    const struct hang_answer *answer = &h->nodes[rank].answer;
    int rc = 0;
    for (int i = 0; i < answer->queue_count && !rc; i++) {
        const struct hang_queue *queue = &answer->queues[i];
        struct row row = {.rank = rank,
                          .ms = -1,
                          .count = queue->count,
                          .bytes = queue->bytes,
                          .peer = queue->peer};
        take_awaited(answer, &row, queue);
        take_told_by_sender(h, rank, &row, queue);
        if (!row.count || !is_shown(h, rank, queue))
            continue;
        row.key = queue_key(h, answer, queue);
        rc = add_row(t, row);
    }
    return rc;
}

/* ---- printing ---- */

/* The peers of rows, into h->set. Returns whether some are any. */
static bool gather_peers(struct hang *h, const struct row *rows, size_t n)
{
    bool any = false;
    memset(h->set, 0, (size_t)h->count * sizeof(*h->set));
    for (size_t i = 0; i < n; i++) {
        const struct row *row = &rows[i];
        if (row->peer >= 0 && row->peer < h->count)
            h->set[row->peer] = true;
        any |= !row->items && row->peer < 0;
        for (int j = row->first; j < row->first + row->items; j++) {
            int peer = row->answer->items[j].peer;
            if (peer >= 0 && peer < h->count)
                h->set[peer] = true;
            any |= peer < 0;
        }
    }
    return any;
}

/* Who the rows have to do with: each with one of them where they are several. */
static void write_peers(struct hang *h, const struct row *rows, size_t n)
{
    int count = 0;
    if (gather_peers(h, rows, n)) {
        fputs("any rank", h->to);
        return;
    }
    for (int r = 0; r < h->count; r++)
        count += h->set[r];
    if (count > 1 && n > 1 && rows->items == 1)
        fputs("one of ", h->to);
    words_ranks(h->to, h->set, h->count);
}

static void write_key(struct hang *h, const struct row *rows, size_t n, uint64_t count)
{
    for (const char *at = rows->key; *at && *at != END; at++) {
        if (*at == PLURAL)
            fputs(count == 1 ? "" : "s", h->to);
        else if (*at != PEERS)
            fputc(*at, h->to);
        else
            write_peers(h, rows, n);
    }
}

static void write_time(FILE *to, const struct row *rows, size_t n)
{
    int64_t least = INT64_MAX, most = -1;
    for (size_t i = 0; i < n; i++) {
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

static void write_row(struct hang *h, const struct row *rows, size_t n)
{
    uint64_t count = 0, bytes = 0;
    memset(h->set, 0, (size_t)h->count * sizeof(*h->set));
    for (size_t i = 0; i < n; i++) {
        h->set[rows[i].rank] = true;
        count += rows[i].count;
        bytes += rows[i].bytes;
    }
    fputs("  ", h->to);
    bool several = words_ranks(h->to, h->set, h->count) > 1;
    fputs(several && !count ? ": each " : ": ", h->to);
    if (count)
        fprintf(h->to, "%" PRIu64 " ", count);
    write_key(h, rows, n, count);
    if (bytes)
        fprintf(h->to, ", %" PRIu64 " bytes%s", bytes, count > 1 ? " in all" : "");
    write_time(h->to, rows, n);
    fputc('\n', h->to);
}

/* Join equal rows and write them in the order of their first ranks. */
static int write_table(struct hang *h, struct row_list *t, const char *title)
{
    size_t groups = 0;
    if (!t->count)
        return 0;
    qsort(t->rows, t->count, sizeof(*t->rows), by_key);
    const struct row **first = calloc(t->count, sizeof(*first));
    if (!first)
        return -ENOMEM;
    for (size_t i = 0; i < t->count; i++)
        if (!i || strcmp(t->rows[i].key, t->rows[i - 1].key))
            first[groups++] = &t->rows[i];
    qsort(first, groups, sizeof(*first), by_rank);
    fprintf(h->to, "\n%s\n", title);
    for (size_t g = 0; g < groups && g < ROWS_MAX; g++) {
        size_t n = 1, left = t->count - (size_t)(first[g] - t->rows);
        while (n < left && !strcmp(first[g][n].key, first[g]->key))
            n++;
        write_row(h, first[g], n);
    }
    if (groups > ROWS_MAX)
        fprintf(h->to, "  ... and %zu more rows\n", groups - ROWS_MAX);
    free(first);
    return 0;
}

static int write_tables(struct hang *h)
{
    struct row_list states = {0}, queues = {0};
    int rc = 0, bad = 0, cut = 0;
    for (int r = 0; r < h->count && !rc; r++) {
        rc = add_states(&states, h, r);
        if (!rc)
            rc = add_queues(&queues, h, r);
        bad += h->nodes[r].answer.bad_lines;
        cut += h->nodes[r].answer.cut;
    }
    if (!rc)
        rc = write_table(h, &states, "What the ranks do:");
    if (!rc)
        rc = write_table(h, &queues, "What else is not over:");
    if (cut)
        fprintf(h->to, "\n%d ranks had more to tell than there was room for.\n", cut);
    if (bad)
        fprintf(h->to, "\n%d lines of the ranks' answers were not understood.\n", bad);
    free_table(&states);
    free_table(&queues);
    return rc;
}

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

/* What is a deadlock only if no thread that sleeps outside MPI does what others wait for. h->set: n
 * culprits. */
static void write_doubt(struct hang *h, int n)
{
    fputs("No deadlock is certain: threads that sleep outside MPI may call it yet, in ", h->to);
    bool *sleep = calloc((size_t)h->count, sizeof(*sleep));
    for (int r = 0; sleep && r < h->count; r++)
        sleep[r] = h->nodes[r].answer.others.asleep > 0;
    if (sleep)
        words_ranks(h->to, sleep, h->count);
    free(sleep);
    fputs(".\nIf none does, this is what is wrong", h->to);
    if (n) {
        fputs(n == 1 ? ", and the culprit is " : ", and the culprits are ", h->to);
        words_ranks(h->to, h->set, h->count);
    }
    fputs(":\n", h->to);
}

/* The first line says it all; the reasons stand in why. */
static void write_head(struct hang *h, const char *why)
{
    int n = 0;
    fprintf(h->to, "Hang report%s%s: %d rank%s on %s\n", h->question->job ? " on job " : "",
            h->question->job ? h->question->job : "", h->count, h->count == 1 ? "" : "s",
            h->question->host);
    for (int r = 0; r < h->count; r++)
        n += h->set[r] = h->nodes[r].culprit;
    if (h->strict) {
        write_doubt(h, n);
    } else if (n) {
        fputs(n == 1 ? "Culprit: " : "Culprits: ", h->to);
        words_ranks(h->to, h->set, h->count);
        fputs(h->stuck ? " (a deadlock)\n" : "\n", h->to);
    } else if (h->stuck) {
        fputs("A deadlock, but no culprit is found.\n", h->to);
    } else {
        fprintf(h->to, "No rank is seen to wait in vain%s.\n",
                has_news(h) ? ": the job goes on" : "");
    }
    fputs(why, h->to);
    write_debugger(h);
}

/* A string to free(), of what write() writes to h->to; NULL: no memory. */
static char *text_of(struct hang *h, int (*write)(struct hang *h, const char *before),
                     const char *before)
{
    char *text = NULL;
    size_t len;
    if (!(h->to = open_memstream(&text, &len)))
        return NULL;
    int rc = write(h, before);
    if (!fclose(h->to) && !rc)
        return text;
    free(text);
    return NULL;
}

static int write_why(struct hang *h, const char *before)
{
    (void)before;
    return why_write(h);
}

static int write_all(struct hang *h, const char *why)
{
    write_head(h, why);
    return write_tables(h);
}

static int write_wrapped(struct hang *h, const char *text)
{
    words_wrap(h->to, text);
    return 0;
}

char *hang_format(const struct hang_question *question)
{
    struct hang h = {0};
    char *text = NULL, *why = NULL, *all = NULL;
    if (!graph_init(&h, question) && (why = text_of(&h, write_why, NULL)) &&
        (all = text_of(&h, write_all, why)))
        text = text_of(&h, write_wrapped, all);
    graph_fini(&h);
    free(why);
    free(all);
    return text;
}
