/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The report's table; see report.h. Each distinct pair of channel and reasons is a kind.
 * Per kind, each rank has a set of peers; ranks whose sets are equal, or become
 * equal when the rank itself is added, are shown as one row.
 */
#include "bnr/diagnose/report.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHANNEL_MAX = 32,
    REASONS_MAX = 1024,
    KINDS_MAX = 4096,
    RANKS_WIDTH = 14,
    PEERS_WIDTH = 20,
    CHANNEL_WIDTH = 10,
    ALGORITHMS_MAX = 256,
    NOTES_MAX = 64,
    COLLECTIVE_WIDTH = 20,
    NAME_WIDTH = 14,
};

struct kind {
    char channel[CHANNEL_MAX];
    char *reasons;
};

/* A line of a rank's text. */
struct link {
    int kind;
    int rank;
    int peer;
};

/* The peers of one rank by one kind. */
struct peer_set {
    int rank;
    char *exact;  /* the set, as ranges */
    char *joined; /* the set with the rank itself */
    char *shown;  /* which of the texts stands for it; borrowed */
};

/* How often one algorithm of a collective has run. */
struct algorithm_calls {
    char collective[CHANNEL_MAX], name[CHANNEL_MAX];
    unsigned long long least, most; /* of the ranks that have run it */
    int ranks;
};

/* A sentence that ranks say. */
struct remark {
    char text[REASONS_MAX];
    int first, ranks;
};

struct report {
    struct remark *notes;
    int notes_count;
    struct algorithm_calls *algorithms;
    int algorithms_count;
    struct kind *kinds;
    int kinds_count;
    struct link *links;
    size_t links_count;
    size_t links_size;
    size_t bad_lines;
    FILE *to;
};

static char itself[] = "itself";

/* Copy len bytes of a peer's text, cut to size, with unprintable ones as "?". */
static void copy_clean(char *to, size_t size, const char *from, size_t len)
{
    size_t n = len < size - 1 ? len : size - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = isprint((unsigned char)from[i]) ? from[i] : '?';
    to[n] = 0;
}

/* The index of a kind, made if it is new; -ENOMEM, or -ENOSPC for too many. */
static int find_kind(struct report *r, const char *channel, const char *reasons)
{
    for (int i = r->kinds_count - 1; i >= 0; i--)
        if (!strcmp(r->kinds[i].channel, channel) && !strcmp(r->kinds[i].reasons, reasons))
            return i;
    if (r->kinds_count == KINDS_MAX)
        return -ENOSPC;
    struct kind *grown = realloc(r->kinds, ((size_t)r->kinds_count + 1) * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    r->kinds = grown;
    struct kind *kind = &grown[r->kinds_count];
    snprintf(kind->channel, sizeof(kind->channel), "%s", channel);
    kind->reasons = strdup(reasons);
    return kind->reasons ? r->kinds_count++ : -ENOMEM;
}

static int add_link(struct report *r, int kind, int rank, int peer)
{
    if (r->links_count == r->links_size) {
        size_t size = r->links_size ? 2 * r->links_size : 256;
        struct link *grown = realloc(r->links, size * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        r->links = grown;
        r->links_size = size;
    }
    r->links[r->links_count++] = (struct link){kind, rank, peer};
    return 0;
}

/* A world rank of len digits, or -1. */
static int parse_peer(const char *text, size_t len, int count)
{
    long peer = 0;
    if (!len || len > 9)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (!isdigit((unsigned char)text[i]))
            return -1;
        peer = 10 * peer + (text[i] - '0');
    }
    return peer < count ? (int)peer : -1;
}

/* The row of an algorithm, made if it is new; NULL for too many. */
static struct algorithm_calls *find_calls(struct report *r, const char *collective, const char *name)
{
    for (int i = 0; i < r->algorithms_count; i++)
        if (!strcmp(r->algorithms[i].collective, collective) &&
            !strcmp(r->algorithms[i].name, name))
            return &r->algorithms[i];
    if (r->algorithms_count == ALGORITHMS_MAX)
        return NULL;
    struct algorithm_calls *row = &r->algorithms[r->algorithms_count++];
    *row = (struct algorithm_calls){.least = ULLONG_MAX};
    snprintf(row->collective, sizeof(row->collective), "%s", collective);
    snprintf(row->name, sizeof(row->name), "%s", name);
    return row;
}

/* Take a line about a collective, whose words end at first, second and end. */
static int take_algorithm(struct report *r, const char *line, const char *first,
                          const char *second, const char *end)
{
    char collective[CHANNEL_MAX], name[CHANNEL_MAX], digits[24], *rest;
    if (!r->algorithms)
        r->algorithms = calloc(ALGORITHMS_MAX, sizeof(*r->algorithms));
    if (!r->algorithms)
        return -ENOMEM;
    copy_clean(collective, sizeof(collective), line, (size_t)(first - line));
    copy_clean(name, sizeof(name), first + 1, (size_t)(second - first - 1));
    copy_clean(digits, sizeof(digits), second + 1, (size_t)(end - second - 1));
    unsigned long long calls = strtoull(digits, &rest, 10);
    struct algorithm_calls *row =
        *rest || rest == digits ? NULL : find_calls(r, collective, name);
    if (!row) {
        r->bad_lines++;
        return 0;
    }
    row->ranks++;
    row->least = calls < row->least ? calls : row->least;
    row->most = calls > row->most ? calls : row->most;
    return 0;
}

/* Take a sentence of a rank's, from first to second. */
static int take_note(struct report *r, int rank, const char *first, const char *second)
{
    char text[REASONS_MAX];
    int i = 0;
    if (!r->notes)
        r->notes = calloc(NOTES_MAX, sizeof(*r->notes));
    if (!r->notes)
        return -ENOMEM;
    copy_clean(text, sizeof(text), first + 1, (size_t)(second - first - 1));
    while (i < r->notes_count && strcmp(r->notes[i].text, text) != 0)
        i++;
    if (i == NOTES_MAX)
        return 0;
    struct remark *note = &r->notes[i];
    if (i == r->notes_count) {
        r->notes_count++;
        snprintf(note->text, sizeof(note->text), "%s", text);
        note->first = rank;
    }
    note->ranks++;
    return 0;
}

/* Take one line, without its newline. */
static int take_line(struct report *r, int rank, int count, const char *line, size_t len)
{
    char channel[CHANNEL_MAX], reasons[REASONS_MAX];
    const char *end = line + len;
    const char *tab = memchr(line, '\t', len);
    const char *second = tab ? memchr(tab + 1, '\t', (size_t)(end - tab - 1)) : NULL;
    int peer = tab ? parse_peer(line, (size_t)(tab - line), count) : -1;
    if (second && tab - line == 4 && !memcmp(line, "note", 4))
        return take_note(r, rank, tab, second);
    if (second && islower((unsigned char)*line))
        return take_algorithm(r, line, tab, second, end);
    if (!second || peer < 0) {
        r->bad_lines++;
        return 0;
    }
    copy_clean(channel, sizeof(channel), tab + 1, (size_t)(second - tab - 1));
    copy_clean(reasons, sizeof(reasons), second + 1, (size_t)(end - second - 1));
    int kind = find_kind(r, channel, reasons);
    if (kind == -ENOSPC)
        r->bad_lines++;
    return kind < 0 ? (kind == -ENOSPC ? 0 : kind) : add_link(r, kind, rank, peer);
}

static int take_text(struct report *r, int rank, int count, const char *text, size_t len)
{
    int rc = 0;
    while (!rc && len) {
        const char *newline = memchr(text, '\n', len);
        size_t n = newline ? (size_t)(newline - text) : len;
        if (n)
            rc = take_line(r, rank, count, text, n);
        n += newline != NULL;
        text += n;
        len -= n;
    }
    return rc;
}

static int compare_links(const void *va, const void *vb)
{
    const struct link *a = va, *b = vb;
    int order = a->kind - b->kind;
    if (!order)
        order = a->rank - b->rank;
    return order ? order : a->peer - b->peer;
}

/* Write one range, after a comma unless it is the first. */
static void put_range(FILE *to, int first, int last, bool *any)
{
    fprintf(to, *any ? ",%d" : "%d", first);
    if (last > first)
        fprintf(to, "-%d", last);
    *any = true;
}

/* The peers of n links (sorted), and also of extra unless it is -1, as ranges. */
static char *format_ranges(const struct link *links, size_t n, int extra)
{
    char *text = NULL;
    size_t len;
    int first = -1, last = -1;
    bool any = false;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return NULL;
    for (size_t i = 0; i < n || extra >= 0;) {
        bool take_extra = extra >= 0 && (i == n || extra < links[i].peer);
        int peer = take_extra ? extra : links[i].peer;
        i += !take_extra;
        extra = take_extra ? -1 : extra;
        if (first >= 0 && peer > last + 1)
            put_range(to, first, last, &any);
        if (first < 0 || peer > last + 1)
            first = peer;
        last = peer;
    }
    if (first >= 0)
        put_range(to, first, last, &any);
    return fclose(to) ? NULL : text;
}

/* Choose for each row the text by which most rows are alike. */
static void choose_texts(struct peer_set *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char own[16];
        size_t exact = 0, joined = 0;
        snprintf(own, sizeof(own), "%d", rows[i].rank);
        for (size_t j = 0; j < n; j++) {
            exact += !strcmp(rows[i].exact, rows[j].exact);
            joined += !strcmp(rows[i].joined, rows[j].joined);
        }
        if (!strcmp(rows[i].exact, own))
            rows[i].shown = itself;
        else
            rows[i].shown = joined > exact ? rows[i].joined : rows[i].exact;
    }
}

static bool is_like(const struct peer_set *a, const struct peer_set *b)
{
    return (a->shown == a->joined) == (b->shown == b->joined) && !strcmp(a->shown, b->shown);
}

static void print_reasons(FILE *to, const char *reasons)
{
    bool first = true;
    while (*reasons) {
        const char *end = strstr(reasons, "; ");
        int n = (int)(end ? end - reasons : (ptrdiff_t)strlen(reasons));
        if (!first)
            fprintf(to, "\n  %*s", RANKS_WIDTH + PEERS_WIDTH + CHANNEL_WIDTH + 3, "");
        fprintf(to, "%.*s", n, reasons);
        first = false;
        reasons += n + (end ? 2 : 0);
    }
    fputc('\n', to);
}

/* Print the row of all ranks that are like rows[i]. */
static int print_group(struct report *r, const struct kind *kind, struct peer_set *rows, size_t n,
                       size_t i)
{
    struct link *alike = calloc(n, sizeof(*alike));
    size_t count = 0;
    char peers[512];
    for (size_t j = i; alike && j < n; j++)
        if (rows[j].shown && is_like(&rows[i], &rows[j]))
            alike[count++].peer = rows[j].rank;
    char *ranks = alike ? format_ranges(alike, count, -1) : NULL;
    free(alike);
    if (!ranks)
        return -ENOMEM;
    bool is_joined = rows[i].shown == rows[i].joined;
    if (is_joined && !strcmp(ranks, rows[i].shown))
        snprintf(peers, sizeof(peers), "each other");
    else
        snprintf(peers, sizeof(peers), "%s%s", rows[i].shown, is_joined ? " but itself" : "");
    fprintf(r->to, "  %-*s %-*s %-*s ", RANKS_WIDTH, ranks, PEERS_WIDTH, peers, CHANNEL_WIDTH,
            kind->channel);
    print_reasons(r->to, kind->reasons);
    for (size_t j = n; j-- > i;)
        if (rows[j].shown && is_like(&rows[i], &rows[j]))
            rows[j].shown = NULL;
    free(ranks);
    return 0;
}

/* Print the rows of one kind, from its n sorted links. */
static int print_kind(struct report *r, const struct link *links, size_t n)
{
    struct peer_set *rows = calloc(n, sizeof(*rows));
    size_t count = 0;
    int rc = rows ? 0 : -ENOMEM;
    for (size_t i = 0, len; !rc && i < n; i += len) {
        struct peer_set *row = &rows[count++];
        bool self = false;
        for (len = 0; i + len < n && links[i + len].rank == links[i].rank; len++)
            self |= links[i + len].peer == links[i].rank;
        row->rank = links[i].rank;
        row->exact = format_ranges(links + i, len, -1);
        row->joined = format_ranges(links + i, len, self ? -1 : row->rank);
        rc = row->exact && row->joined ? 0 : -ENOMEM;
    }
    if (!rc)
        choose_texts(rows, count);
    for (size_t i = 0; !rc && i < count; i++)
        if (rows[i].shown)
            rc = print_group(r, &r->kinds[links->kind], rows, count, i);
    for (size_t i = 0; i < count; i++) {
        free(rows[i].exact);
        free(rows[i].joined);
    }
    free(rows);
    return rc;
}

static int print_links(struct report *r)
{
    int rc = 0;
    qsort(r->links, r->links_count, sizeof(*r->links), compare_links);
    fprintf(r->to, "\n  %-*s %-*s %-*s %s\n", RANKS_WIDTH, "ranks", PEERS_WIDTH, "peers",
            CHANNEL_WIDTH, "channel", "not used");
    for (size_t i = 0, n; !rc && i < r->links_count; i += n) {
        for (n = 1; i + n < r->links_count && r->links[i + n].kind == r->links[i].kind; n++)
            continue;
        rc = print_kind(r, r->links + i, n);
    }
    return rc;
}

/* The width of the hosts' names, or 0 if there is but one host. */
static int hosts_width(const struct report_rank *ranks, int count)
{
    size_t width = 0;
    bool differ = false;
    for (int i = 0; i < count; i++) {
        size_t len = strlen(ranks[i].host);
        width = len > width ? len : width;
        differ |= strcmp(ranks[i].host, ranks[0].host) != 0;
    }
    return differ ? (int)width : 0;
}

/* Several hosts have a column; a single one stands above. */
static void print_ranks(struct report *r, const struct report_rank *ranks, int count)
{
    int width = hosts_width(ranks, count);
    fprintf(r->to, "Report: %d rank%s", count, count == 1 ? "" : "s");
    if (!width)
        fprintf(r->to, " on %s", ranks[0].host);
    fprintf(r->to, "\n\n  %6s %8s  ", "rank", "pid");
    if (width)
        fprintf(r->to, "%-*s  ", width, "host");
    fprintf(r->to, "%s\n", "processors");
    for (int i = 0; i < count; i++) {
        fprintf(r->to, "  %6d %8ld  ", i, ranks[i].pid);
        if (width)
            fprintf(r->to, "%-*s  ", width, ranks[i].host);
        fprintf(r->to, "%s\n", ranks[i].cpus ? ranks[i].cpus : "");
    }
}

static int compare_algorithms(const void *va, const void *vb)
{
    const struct algorithm_calls *a = va, *b = vb;
    int order = strcmp(a->collective, b->collective);
    return order ? order : strcmp(a->name, b->name);
}

static void print_algorithms(struct report *r)
{
    if (!r->algorithms)
        return;
    qsort(r->algorithms, (size_t)r->algorithms_count, sizeof(*r->algorithms), compare_algorithms);
    fprintf(r->to, "\n  %-*s %-*s %7s  %s\n", COLLECTIVE_WIDTH, "collective", NAME_WIDTH,
            "algorithm", "ranks", "calls of each");
    for (int i = 0; i < r->algorithms_count; i++) {
        const struct algorithm_calls *row = &r->algorithms[i];
        fprintf(r->to, "  %-*s %-*s %7d  %llu", COLLECTIVE_WIDTH, row->collective, NAME_WIDTH,
                row->name, row->ranks, row->least);
        if (row->most > row->least)
            fprintf(r->to, " to %llu", row->most);
        fputc('\n', r->to);
    }
}

static void print_notes(const struct report *r)
{
    for (int i = 0; i < r->notes_count; i++) {
        const struct remark *note = &r->notes[i];
        fprintf(r->to, "%s  Rank %d", i ? "" : "\n", note->first);
        if (note->ranks > 1)
            fprintf(r->to, " and %d more", note->ranks - 1);
        fprintf(r->to, ": %s\n", note->text);
    }
}

/* Tell which ranks have put no report, where others have. */
static int print_silent(struct report *r, const struct report_rank *ranks, int count)
{
    struct link *silent = calloc((size_t)count + 1, sizeof(*silent));
    size_t n = 0;
    for (int i = 0; silent && i < count; i++)
        if (!ranks[i].text)
            silent[n++].peer = i;
    char *text = silent ? format_ranges(silent, n, -1) : NULL;
    if (text && n)
        fprintf(r->to, "\n  No report came from rank%s %s: no connection, or no MPI_Finalize.\n",
                n == 1 ? "" : "s", text);
    free(silent);
    free(text);
    return text ? 0 : -ENOMEM;
}

char *report_format(const struct report_rank *ranks, int count)
{
    struct report r = {0};
    char *text = NULL;
    size_t len;
    r.to = open_memstream(&text, &len);
    if (!r.to)
        return NULL;
    int rc = 0;
    print_ranks(&r, ranks, count);
    for (int i = 0; !rc && i < count; i++)
        if (ranks[i].text)
            rc = take_text(&r, i, count, ranks[i].text, ranks[i].len);
    if (!rc && r.links_count)
        rc = print_silent(&r, ranks, count);
    if (!rc && r.links_count)
        rc = print_links(&r);
    else if (!rc)
        fputs("\n  No connections: no rank sent to another and reached MPI_Finalize.\n", r.to);
    if (!rc) {
        print_algorithms(&r);
        print_notes(&r);
    }
    if (!rc && r.bad_lines)
        fprintf(r.to, "\n  %zu lines of the ranks' reports were not understood.\n", r.bad_lines);
    if (fclose(r.to))
        rc = -ENOMEM;
    for (int i = 0; i < r.kinds_count; i++)
        free(r.kinds[i].reasons);
    free(r.kinds);
    free(r.links);
    free(r.algorithms);
    free(r.notes);
    if (!rc)
        return text;
    free(text);
    return NULL;
}
