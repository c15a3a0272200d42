/* SPDX-License-Identifier: BSD-3-Clause */

/* The report's words; see hang_graph.h. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "diagnose/hang_graph.h"

enum {
    ITEMS_SHOWN = 3,
    RANGES_SHOWN = 20,
    LIST_MAX = 24, /* letters */
    WIDTH = 100
};

void words_list(FILE *to, const bool *set, int count)
{
    const char *comma = "";
    int ranges = 0, all = 0;
    for (int i = 0; i < count; i++) {
        if (!set[i])
            continue;
        int last = i;
        while (last + 1 < count && set[last + 1])
            last++;
        if (ranges++ < RANGES_SHOWN)
            fprintf(to, last > i ? "%s%d-%d" : "%s%d", comma, i, last);
        all += last - i + 1;
        comma = ",";
        i = last;
    }
    if (ranges > RANGES_SHOWN)
        fprintf(to, ",... (%d in all)", all);
}

int words_ranks(FILE *to, const bool *set, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        n += set[i];
    fputs(n == 1 ? "rank " : "ranks ", to);
    words_list(to, set, count);
    return n;
}

int words_ranks_begin(FILE *to, const bool *set, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        n += set[i];
    fputs(n == 1 ? "Rank " : "Ranks ", to);
    words_list(to, set, count);
    return n;
}

const char *words_function(const struct hang_thread *thread)
{
    return *thread->function ? thread->function : "an MPI call";
}

static void write_members(FILE *to, const char *list)
{
    int first, last, n = 0;
    const char *at = list;
    if (strlen(list) <= LIST_MAX) {
        fprintf(to, "rank%s %s", strpbrk(list, "-,") ? "s" : "", list);
        return;
    }
    while ((at = hang_text_range(at, &first, &last)))
        n += last - first + 1;
    fprintf(to, "%d ranks", n);
}

void words_name(FILE *to, const struct hang_comm *comm, bool whole)
{
    if (*comm->name) {
        fputs(comm->name, to);
        return;
    }
    fprintf(to, "communicator #%u", comm->context / HANG_USES);
    if (!whole)
        return;
    fputs(" of ", to);
    write_members(to, graph_group(comm, !*graph_group(comm, false)));
    if (*comm->remote) {
        fputs(" and ", to);
        write_members(to, graph_group(comm, true));
    }
}

void words_comm(FILE *to, const struct hang_answer *answer, uint32_t context, bool whole)
{
    const struct hang_comm *comm = hang_text_comm(answer, context);
    if (comm)
        words_name(to, comm, whole);
    else
        fputs("an unknown communicator", to);
}

void words_envelope(FILE *to, const struct hang_answer *answer, int tag, uint32_t context,
                    bool whole)
{
    fputs(" (", to);
    words_tag(to, tag);
    fputs(", ", to);
    words_comm(to, answer, context, whole);
    fputc(')', to);
}

void words_tag(FILE *to, int tag)
{
    if (tag < 0)
        fputs("any tag", to);
    else
        fprintf(to, "tag %d", tag);
}

bool words_is_partitioned(const struct hang_answer *answer, uint32_t context)
{
    const struct hang_comm *comm = hang_text_comm(answer, context);
    return comm && context - comm->context == HANG_USE_PARTITIONED;
}

const char *words_kind(const struct hang_answer *answer, uint32_t context)
{
    return words_is_partitioned(answer, context) ? "partitioned message" : "message";
}

void words_number(FILE *to, int number)
{
    if (number != HANG_NO_NUMBER)
        fprintf(to, " (its collective number %d)", number + 1);
}

/* ---- what is awaited ---- */

static const struct words_wait waits[] = {
    {"@ to receive # byte$", "Receive", "does not receive it, and "},
    {"a message from @", "Send", "has none on the way, and "},
    {"a partitioned message from @", "Send", "has none on the way, and "},
    {"@ to call it, too", "Call", "does not, and "},
    {"MPI_Pready on # partition$ of its message to @", "MPI_Pready", ""},
    {"@ to finalize", "MPI_Finalize", ""},
};

const struct words_wait *words_wait(const struct hang_answer *answer, const struct hang_item *item)
{
    enum {
        RECEIPT,
        MESSAGE,
        PARTITIONED,
        CALL,
        READY,
        CLOSE
    } kind = words_is_partitioned(answer, item->context) ? PARTITIONED : MESSAGE;
    if (item->what == HANG_CLOSE)
        kind = CLOSE;
    else if (item->what == HANG_READY)
        kind = READY;
    else if (!graph_is_users(answer, item->context))
        kind = CALL;
    else if (item->what == HANG_SEND)
        kind = RECEIPT;
    return &waits[kind];
}

const char *words_send(const char *state)
{
    if (!strcmp(state, "asked"))
        return "not received yet";
    if (!strcmp(state, "moving"))
        return "on the way";
    if (!strcmp(state, "queued"))
        return "behind others";
    return "without a connection yet";
}

void words_item(FILE *to, const struct hang_answer *answer, const struct hang_item *item,
                const char *peer, bool whole)
{
    char known[32] = "any rank";
    if (item->peer >= 0)
        snprintf(known, sizeof(known), "rank %d", item->peer);
    else if (item->rank >= 0)
        snprintf(known, sizeof(known), "its rank %d", item->rank);
    for (const char *c = words_wait(answer, item)->form; *c; c++) {
        if (*c == '@')
            fputs(peer ? peer : known, to);
        else if (*c == '#')
            fprintf(to, "%" PRIu64, item->bytes);
        else if (*c != '$')
            fputc(*c, to);
        else if (item->bytes != 1)
            fputc('s', to);
    }
    if (item->what == HANG_CLOSE)
        return;
    words_envelope(to, answer, item->tag, item->context, whole);
    if (!strcmp(item->state, "moving"))
        fputs(", which is on its way", to);
    else if (item->what == HANG_SEND && strcmp(item->state, "asked"))
        fprintf(to, ", %s", words_send(item->state));
}

bool words_collective(FILE *to, const struct hang_answer *answer, const struct hang_thread *thread,
                      bool whole)
{
    for (int i = thread->first; i < thread->first + thread->count; i++) {
        if (!graph_collective(answer, answer->items[i].context))
            continue;
        fputs(" on ", to);
        words_comm(to, answer, answer->items[i].context, whole);
        words_number(to, answer->items[i].tag);
        return true;
    }
    return false;
}

/* ---- what a rank does ---- */

void words_does(FILE *to, const struct hang_thread *thread)
{
    fprintf(to, "%s in %s", thread->mode == HANG_POLL ? "polls" : "waits", words_function(thread));
}

static void write_thread(FILE *to, const struct hang_answer *answer,
                         const struct hang_thread *thread, bool brief)
{
    words_does(to, thread);
    if (words_collective(to, answer, thread, true) || brief)
        return;
    for (int i = 0; i < thread->count && i < ITEMS_SHOWN; i++) {
        fputs(i == 0 ? " for " : thread->mode == HANG_ANY ? " or " : " and ", to);
        words_item(to, answer, &answer->items[thread->first + i], NULL, true);
    }
    if (thread->count > ITEMS_SHOWN)
        fprintf(to, " and %d more", thread->count - ITEMS_SHOWN);
}

static void write_silent(FILE *to, const struct hang_rank *rank, bool brief)
{
    switch (rank->run_state) {
    case 'R':
        fputs("is outside MPI and computes", to);
        if (!brief)
            fprintf(to, " (%.1f s of processor time)", rank->cpu_s);
        break;
    case 'T':
    case 't': fputs("is stopped by a signal or a debugger", to); break;
    case 'S':
    case 'D':
        fprintf(to, "is outside MPI and %s",
                rank->run_state == 'S' ? "sleeps" : "is in the kernel");
        if (rank->wchan[0])
            fprintf(to, " in %s", rank->wchan);
        break;
    default: fputs("is outside MPI", to);
    }
}

static void write_end(FILE *to, int status)
{
    if (WIFSIGNALED(status))
        fprintf(to, "was killed by signal %d", WTERMSIG(status));
    else
        fprintf(to, "has ended with exit code %d", WEXITSTATUS(status));
}

void words_state(FILE *to, const struct hang *h, int rank)
{
    words_brief(to, h, rank, false);
}

void words_brief(FILE *to, const struct hang *h, int rank, bool brief)
{
    const struct hang_rank *r = &h->ranks[rank];
    const struct hang_answer *answer = &h->nodes[rank].answer;
    switch (r->state) {
    case DIAGNOSE_ENDED: write_end(to, r->status); return;
    case DIAGNOSE_FINALIZED: fputs("has called MPI_Finalize, and still runs", to); return;
    case DIAGNOSE_NOT_INIT: fputs("has not called MPI_Init", to); return;
    case DIAGNOSE_SILENT: write_silent(to, r, brief); return;
    case DIAGNOSE_ANSWERED: break;
    }
    if (h->nodes[rank].kind == NODE_GONE) {
        fputs("is in MPI_Finalize", to);
        return;
    }
    for (int i = 0; i < answer->thread_count; i++) {
        fputs(i ? "; " : "", to);
        write_thread(to, answer, &answer->threads[i], brief);
    }
    if (!answer->thread_count)
        fputs("is in MPI", to);
    if (answer->others.computing)
        fputs("; and another of its threads computes", to);
    else if (answer->others.asleep && !h->strict)
        fputs("; and another of its threads sleeps outside MPI", to);
}

void words_others(FILE *to, const struct hang_answer *answer)
{
    static const char *const does[] = {"computing", "waiting for a lock or a condition", "asleep"};
    const int counts[] = {answer->others.computing, answer->others.locked, answer->others.asleep};
    int all = hang_text_others(answer);
    const char *comma = ", ";
    fprintf(to, "has %d other thread%s outside MPI", all, all == 1 ? "" : "s");
    for (int i = 0; i < 3; i++) {
        if (!counts[i])
            continue;
        fputs(comma, to);
        if (counts[i] < all)
            fprintf(to, "%d ", counts[i]);
        fputs(does[i], to);
        comma = " and ";
    }
}

/* Write words from column at on; what does not fit comes below, behind so many blanks. Returns
 * the column. */
static int wrap_words(FILE *to, const char *words, int len, int at, int indent)
{
    while (len > 0) {
        int gap = *words == ' ' && at;
        int word = (int)strspn(words + gap, " ");
        word += gap + (int)strcspn(words + gap + word, " \n");
        word = word < len ? word : len;
        if (gap && at + word > WIDTH) {
            at = fprintf(to, "\n%*s", indent, "") - 1;
            words += gap;
            len -= gap;
            word -= gap;
        }
        at += fprintf(to, "%.*s", word, words);
        words += word;
        len -= word;
    }
    return at;
}

/* A line that is too long is parted at BREAK if it has one. */
static void wrap_line(FILE *to, const char *line, int len)
{
    int indent = (int)strspn(line, " ") + 6, at = 0;
    const char *part = memchr(line, WORDS_BREAK, (size_t)len);
    int first = part ? (int)(part - line) : len, rest = len - first - (part != NULL);
    at = wrap_words(to, line, first, 0, indent);
    if (part) {
        bool fits = at + 1 + rest <= WIDTH;
        at = fits ? at + fprintf(to, " ") : fprintf(to, "\n%*s", indent, "") - 1;
        (void)wrap_words(to, part + 1, rest, at, indent);
    }
    fputc('\n', to);
}

void words_wrap(FILE *to, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        wrap_line(to, text, (int)(end - text));
}
