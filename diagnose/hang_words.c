/* SPDX-License-Identifier: BSD-3-Clause */

/* The words of the report; see hang_words.h. */
#include "diagnose/hang_words.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

enum {
    ITEMS_SHOWN = 3,
    THREADS_SHOWN = 8,
    RANGES_SHOWN = 20,
    RANGE_MAX = 24, /* letters */
    LIST_MAX = 24,
    WIDTH = 100
};

const char *words(struct hang *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = memory_text(&h->memory, format, args);
    va_end(args);
    return text;
}

/* ---- ranks and communicators ---- */

int words_count(const struct hang *h, const bool *set)
{
    int n = 0;
    for (int r = 0; r < h->count; r++)
        n += set[r];
    return n;
}

const char *words_ranks(struct hang *h, const bool *set)
{
    char list[RANGES_SHOWN * RANGE_MAX] = "";
    int ranges = 0, n = words_count(h, set);
    size_t len = 0;
    for (int r = 0; r < h->count; r++) {
        int first = r;
        if (!set[r])
            continue;
        while (r + 1 < h->count && set[r + 1])
            r++;
        if (ranges++ < RANGES_SHOWN)
            len += (size_t)snprintf(list + len, sizeof(list) - len, r > first ? "%s%d-%d" : "%s%d",
                                    len ? "," : "", first, r);
    }
    const char *cut = ranges > RANGES_SHOWN ? words(h, ",... (%d in all)", n) : "";
    return words(h, "rank%s %s%s", n == 1 ? "" : "s", list, cut);
}

static const char *members(struct hang *h, const char *list)
{
    int first, last, n = 0, others = 0;
    char job[9], last_job[9] = "";
    if (strlen(list) <= LIST_MAX && !hang_text_has_others(list))
        return words(h, "rank%s %s", strpbrk(list, "-,") ? "s" : "", list);
    while ((list = hang_text_any_range(list, job, &first, &last))) {
        n += *job ? 0 : last - first + 1;
        others += *job ? last - first + 1 : 0;
        memcpy(last_job, *job ? job : last_job, sizeof(job));
        h->tells_job |= *job != 0;
    }
    const char *own = n || !others ? words(h, "%d rank%s", n, n == 1 ? "" : "s") : "", *and = n && others ? " and " : "";
    return others ? words(h, "%s%s%d rank%s of job %s", own, and, others, others == 1 ? "" : "s", last_job) : own;
}

const char *words_comm(struct hang *h, const struct hang_comm *comm)
{
    if (!comm)
        return "an unknown communicator";
    bool is_window = !strcmp(comm->name, HANG_WINDOW);
    const char *kind = is_window ? HANG_WINDOW : "communicator";
    if (*comm->name && !is_window)
        return comm->name;
    unsigned number = comm->context / HANG_USES;
    if (h->terse)
        return words(h, "%s #%u", kind, number);
    const char *first = members(h, graph_group(comm, !*graph_group(comm, false)));
    if (comm->context >= hang_context_making)
        return words(h, "a communicator of %s, which it makes", first);
    return *comm->remote ? words(h, "communicator #%u of %s and %s", number, first,
                                 members(h, graph_group(comm, true)))
                         : words(h, "%s #%u of %s", kind, number, first);
}

const char *words_envelope(struct hang *h, const struct hang_comm *comm, int tag)
{
    const char *name = words_comm(h, comm);
    return tag < 0 ? words(h, " (any tag, %s)", name) : words(h, " (tag %d, %s)", tag, name);
}

const char *words_kind(enum hang_use use)
{
    return use == HANG_USE_PARTITIONED ? "partitioned message" : "message";
}

const char *words_number(struct hang *h, const struct hang_comm *comm, int number)
{
    if (number >= HANG_KEPT || (comm && comm->context >= hang_context_making))
        return "";
    return words(h, " (its collective number %d)", number + 1);
}

/* ---- awaited things ---- */

enum wait_kind {
    RECEIPT,
    MESSAGE,
    PARTITIONED,
    CALL,
    READY,
    CLOSE,
    LOCK,
    POST,
    COMPLETE,
    ANSWER
};

static enum wait_kind kind_of(const struct hang_item *item)
{
    if (item->what == HANG_CLOSE || item->what == HANG_READY)
        return item->what == HANG_CLOSE ? CLOSE : READY;
    if (item->what == HANG_LOCK)
        return LOCK;
    if (item->use == HANG_USE_WINDOW)
        return item->tag == HANG_TAG_POST       ? POST
               : item->tag == HANG_TAG_COMPLETE ? COMPLETE
                                                : ANSWER;
    if (!hang_is_program(item->use))
        return CALL;
    if (item->what == HANG_SEND)
        return RECEIPT;
    return item->use == HANG_USE_PARTITIONED ? PARTITIONED : MESSAGE;
}

const struct words_wait *words_wait(const struct hang_item *item)
{
    static const struct words_wait waits[] = {
        [RECEIPT] = {"Receive", "does not receive it, and "},
        [MESSAGE] = {"Send", "has none on the way, and "},
        [PARTITIONED] = {"Send", "has none on the way, and "},
        [CALL] = {"Call", "does not, and "},
        [READY] = {"MPI_Pready", ""},
        [CLOSE] = {"MPI_Finalize", ""},
        [LOCK] = {"MPI_Win_unlock", "does not, and "},
        [POST] = {"MPI_Win_post", "does not, and "},
        [COMPLETE] = {"MPI_Win_complete", "does not, and "},
        [ANSWER] = {"Call of MPI", "does not, and "},
    };
    return &waits[kind_of(item)];
}

/* The rank in the world of one in a communicator, or -1: unknown. */
static int world_rank(const struct hang_comm *comm, int rank)
{
    int first, last;
    for (const char *list = comm ? comm->members : ""; (list = hang_text_range(list, &first, &last));
         rank -= last - first + 1)
        if (rank <= last - first)
            return first + rank;
    return -1;
}

const char *words_peer(struct hang *h, const struct hang_comm *comm, int peer, int rank)
{
    const char *list = !comm ? "" : *comm->remote ? comm->remote : comm->members;
    char job[9];
    int first, last;
    if (peer != HANG_ELSEWHERE)
        return peer >= 0 ? words(h, "rank %d", peer) : rank >= 0 ? words(h, "its rank %d", rank) : "any rank";
    for (; rank >= 0 && (list = hang_text_any_range(list, job, &first, &last)); rank -= last - first + 1)
        if (rank <= last - first && *job) {
            h->tells_job = true;
            return words(h, "rank %d of job %s", first + rank, job);
        }
    return "a process of another job";
}

static const char *lock(struct hang *h, const struct hang_item *item, const char *peer)
{
    int target = world_rank(item->comm, item->tag);
    if (item->rank == item->tag)
        return words(h, "the lock of %s", peer);
    return target < 0 ? words(h, "%s to unlock its rank %d", peer, item->tag)
                      : words(h, "%s to unlock rank %d", peer, target);
}

/* The awaited thing, without its envelope. */
static const char *awaited(struct hang *h, const struct hang_item *item, const char *peer)
{
    const char *s = item->bytes == 1 ? "" : "s";
    switch (kind_of(item)) {
    case RECEIPT: return words(h, "%s to receive %" PRIu64 " byte%s", peer, item->bytes, s);
    case CALL: return words(h, "%s to call it, too", peer);
    case CLOSE: return words(h, "%s to finalize", peer);
    case LOCK: return lock(h, item, peer);
    case POST: return words(h, "%s to call MPI_Win_post", peer);
    case COMPLETE: return words(h, "%s to call MPI_Win_complete", peer);
    case ANSWER: return words(h, "%s to answer", peer);
    case READY:
        return words(h, "MPI_Pready on %" PRIu64 " partition%s of its message to %s", item->bytes,
                     s, peer);
    default: return words(h, "a %s from %s", words_kind(item->use), peer);
    }
}

const char *words_send(const char *state)
{
    static const char *const states[][2] = {
        {"asked", "not received yet"}, {"moving", "on the way"}, {"queued", "behind others"}};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (!strcmp(state, states[i][0]))
            return states[i][1];
    return "without a connection yet";
}

const char *words_item(struct hang *h, const struct hang_item *item, const char *peer)
{
    const char *state = "", *comma = "";
    if (!peer)
        peer = words_peer(h, item->comm, item->peer, item->rank);
    const char *what = awaited(h, item, peer);
    if (item->what == HANG_CLOSE)
        return what;
    if (item->use == HANG_USE_WINDOW)
        return words(h, "%s (%s)", what, words_comm(h, item->comm));
    if (!strcmp(item->state, "moving")) {
        state = ", which is on its way";
    } else if (item->what == HANG_SEND && strcmp(item->state, "asked")) {
        comma = ", ";
        state = words_send(item->state);
    }
    return words(h, "%s%s%s%s", what, words_envelope(h, item->comm, item->tag), comma, state);
}

const char *words_collective(struct hang *h, const struct hang_thread *thread)
{
    for (int i = 0; i < thread->count; i++) {
        const struct hang_item *item = &thread->items[i];
        if (hang_is_collective(item->use))
            return words(h, " on %s%s", words_comm(h, item->comm),
                         words_number(h, item->comm, item->tag));
    }
    return "";
}

/* ---- what a rank does ---- */

const char *words_function(const struct hang_thread *thread)
{
    return *thread->function ? thread->function : "an MPI call";
}

const char *words_does(struct hang *h, const struct hang_thread *thread)
{
    return words(h, "%s in %s", thread->mode == HANG_POLL ? "polls" : "waits",
                 words_function(thread));
}

static const char *thread_state(struct hang *h, const struct hang_thread *thread, bool brief)
{
    const char *joint = thread->mode == HANG_ANY ? "or" : "and";
    const char *text = words(h, "%s%s", words_does(h, thread), words_collective(h, thread));
    if (brief || *words_collective(h, thread))
        return text;
    for (int i = 0; i < thread->count && i < ITEMS_SHOWN; i++)
        text =
            words(h, "%s %s %s", text, i ? joint : "for", words_item(h, &thread->items[i], NULL));
    return thread->count > ITEMS_SHOWN
               ? words(h, "%s and %d more", text, thread->count - ITEMS_SHOWN)
               : text;
}

static const char *silent_state(struct hang *h, const struct hang_rank *rank, bool brief)
{
    const char *in = *rank->wchan ? " in " : "";
    switch (rank->run_state) {
    case 'R':
        return brief ? "is outside MPI and computes"
                     : words(h, "is outside MPI and computes (%.1f s of processor time)",
                             rank->cpu_s);
    case 'T':
    case 't': return "is stopped by a signal or a debugger";
    case 'S': return words(h, "is outside MPI and sleeps%s%s", in, rank->wchan);
    case 'D': return words(h, "is outside MPI and is in the kernel%s%s", in, rank->wchan);
    default: return "did not answer in time";
    }
}

const char *words_state(struct hang *h, int rank, bool brief)
{
    const struct hang_rank *r = &h->ranks[rank];
    const struct hang_answer *answer = &h->nodes[rank].answer;
    bool is_outside = hang_text_others(answer) > 0; /* the library's thread has answered */
    const char *text = answer->thread_count ? "" : is_outside ? "is outside MPI" : "is in MPI";
    switch (r->state) {
    case DIAGNOSE_ENDED:
        return WIFSIGNALED(r->status)
                   ? words(h, "was killed by signal %d", WTERMSIG(r->status))
                   : words(h, "has ended with exit code %d", WEXITSTATUS(r->status));
    case DIAGNOSE_FINALIZED: return "has called MPI_Finalize, and still runs";
    case DIAGNOSE_NOT_INIT: return "has not called MPI_Init";
    case DIAGNOSE_SILENT: return silent_state(h, r, brief);
    case DIAGNOSE_LATE: return "did not answer in time: it had no processor";
    case DIAGNOSE_ANSWERED: break;
    }
    if (h->nodes[rank].kind == NODE_GONE)
        return "is in MPI_Finalize";
    for (int i = 0; i < answer->thread_count && i < THREADS_SHOWN; i++)
        text = words(h, "%s%s%s", text, i ? "; " : "", thread_state(h, &answer->threads[i], brief));
    if (answer->thread_count > THREADS_SHOWN)
        text = words(h, "%s; and so on", text);
    if (!answer->thread_count && is_outside)
        return words(h, "%s and %s", text, answer->others.computing ? "computes" : "sleeps");
    if (answer->others.computing)
        return words(h, "%s; and another of its threads computes", text);
    if (answer->others.asleep && !h->strict)
        return words(h, "%s; and another of its threads sleeps outside MPI", text);
    return text;
}

const char *words_others(struct hang *h, const struct hang_others *others)
{
    static const char *const does[] = {"computing", "waiting for a lock or a condition", "asleep"};
    const int counts[] = {others->computing, others->locked, others->asleep};
    int all = counts[0] + counts[1] + counts[2];
    const char *text = words(h, "has %d other thread%s outside MPI", all, all == 1 ? "" : "s");
    for (int i = 0, n = 0; i < 3; i++) {
        const char *number = counts[i] < all ? words(h, "%d ", counts[i]) : "";
        if (counts[i])
            text = words(h, "%s%s%s%s", text, n++ ? " and " : ", ", number, does[i]);
    }
    return text;
}

/* ---- lines ---- */

/* Write words from column at on; the rest comes below, behind so many blanks. Returns the
 * column. */
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
