/* SPDX-License-Identifier: BSD-3-Clause */

/* Showing streams of a job; see attach.h. */
#include "bnr/tools/attach.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"

enum {
    SUBSCRIPTIONS_MAX = HUB_ENDS_MAX / 2
};

/* ---- the command line ---- */

static int refuse(const char *what, const char *word)
{
    fprintf(stderr, "vireo: streams: %s, not '%s'\n", what, word);
    return -EINVAL;
}

static int complain(const char *word, const char *why)
{
    fprintf(stderr, "vireo: streams: %s: %s\n", word, why);
    return -EINVAL;
}

/* A number up to INT_MAX. Returns whether it is one. */
static bool read_number(const char *text, char **end, long *number)
{
    errno = 0;
    *number = strtol(text, end, 10);
    return *end != text && *number >= 0 && *number <= INT_MAX && !errno && *text >= '0';
}

static int read_tag(struct attach *a, const char *word)
{
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    char *end;
    long number;
    for (int i = 1; i < 3; i++)
        if (!strcmp(word, names[i])) {
            a->tag = i;
            return 0;
        }
    if (!strcmp(word, "any")) {
        a->tag = HUB_ANY;
        return 0;
    }
    if (!read_number(word, &end, &number) || *end)
        return refuse("--tag takes stdout, stderr, any or a number", word);
    a->tag = (int)number;
    return 0;
}

static int read_from(struct attach *a, const char *word)
{
    char *end;
    errno = 0;
    a->from = strtoull(word, &end, 10);
    if (!strcmp(word, "now"))
        a->from = HUB_FROM_NOW;
    else if (!strcmp(word, "oldest"))
        a->from = HUB_FROM_OLDEST;
    else if (*word < '0' || *word > '9' || *end || errno || a->from >= HUB_FROM_OLDEST)
        return refuse("--from takes oldest, now or an offset", word);
    return 0;
}

/* The next range of "0-3,7". Returns whether there is one; *at is NULL where the list is wrong. */
static bool next_range(const char **at, long *first, long *last)
{
    char *end;
    bool is_good = read_number(*at, &end, first);
    *last = *first;
    if (is_good && *end == '-')
        is_good = read_number(end + 1, &end, last);
    is_good &= *last >= *first && *last - *first < SUBSCRIPTIONS_MAX && (*end == ',' || !*end);
    *at = !is_good ? NULL : *end ? end + 1 : "";
    return is_good;
}

static int read_ranks(struct attach *a, const char *word)
{
    long first, last;
    a->ranks = word;
    for (const char *at = word; at == word || *at;)
        if (!next_range(&at, &first, &last))
            return refuse("--rank takes numbers and ranges, as 0-3,7", word);
    return 0;
}

static int set_stdin(struct attach *a, const char *word)
{
    (void)word;
    a->is_stdin = true;
    return 0;
}

static int set_reliable(struct attach *a, const char *word)
{
    (void)word;
    a->is_reliable = true;
    return 0;
}

static int read_job(struct attach *a, const char *word)
{
    char *end;
    long number;
    if (a->job)
        return refuse("one job is shown at a time", word);
    if (!read_number(word, &end, &number) || *end || !number)
        return refuse("the job is the process number of its mpiexec", word);
    a->job = (int)number;
    return 0;
}

/* Read an option and its value, which may follow; *used counts the words. */
static int read_option(struct attach *a, char **words, int *used)
{
    static const struct {
        const char *name;
        int (*read)(struct attach *a, const char *word);
        bool has_value;
    } options[] = {{"--rank", read_ranks, true},
                   {"--tag", read_tag, true},
                   {"--from", read_from, true},
                   {"--reliable", set_reliable, false},
                   {"--stdin", set_stdin, false}};
    const char *word = words[0], *value = strchr(word, '=');
    int len = (int)strcspn(word, "=");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (strncmp(word, options[i].name, (size_t)len) || options[i].name[len])
            continue;
        if (value && !options[i].has_value)
            return complain(word, "this option takes no value");
        *used = 1 + (options[i].has_value && !value);
        value = value ? value + 1 : words[1];
        if (options[i].has_value && !value)
            return complain(word, "this option needs a value behind it");
        return options[i].read(a, value);
    }
    return complain(word, "there is no such option; vireo --help lists them");
}

int attach_parse(struct attach *a, char **words)
{
    int rc = 0, used = 1;
    *a = (struct attach){.tag = ATTACH_STANDARD, .from = HUB_FROM_NOW};
    for (; *words && !rc; words += used) {
        used = 1;
        rc = **words == '-' ? read_option(a, words, &used) : read_job(a, *words);
    }
    return rc;
}

/* ---- showing ---- */

static int subscribe(const struct attach *a, struct door_link *link, int rank, uint32_t *id)
{
    for (int tag = a->tag == ATTACH_STANDARD ? 1 : a->tag, i = 0;
         i < (a->tag == ATTACH_STANDARD ? 2 : 1); i++, tag++) {
        const struct hub_message m = {.kind = HUB_SUBSCRIBE,
                                      .id = ++*id,
                                      .rank = rank,
                                      .tag = tag,
                                      .off = a->from,
                                      .flags = a->is_reliable ? 0 : HUB_OBSERVER};
        int rc = door_link_send(link, &m, -1);
        if (rc)
            return rc;
    }
    return 0;
}

static int subscribe_all(const struct attach *a, struct door_link *link)
{
    uint32_t id = 0;
    long first, last;
    int rc = 0;
    if (!a->ranks)
        return subscribe(a, link, HUB_ANY, &id);
    for (const char *at = a->ranks; *at && !rc;)
        if (next_range(&at, &first, &last))
            for (long rank = first; rank <= last && !rc; rank++)
                rc = subscribe(a, link, (int)rank, &id);
    return rc;
}

/* Returns whether the reader is there. */
static bool show(struct door_link *link, const struct hub_message *m)
{
    const struct hub_message taken = {.kind = HUB_TAKEN,
                                      .id = m->id,
                                      .stream = m->stream,
                                      .off = m->off + m->len,
                                      .flags = m->flags & HUB_EOF};
    if (m->flags & HUB_GAP)
        fprintf(stderr,
                "vireo: bytes of rank %d, tag %d, before offset %llu are not kept, or came faster "
                "than they were read\n",
                m->rank, m->tag, (unsigned long long)m->off);
    if (m->flags & HUB_BROKEN)
        fprintf(stderr, "vireo: what rank %d has written, tag %d, could not be read to its end\n",
                m->rank, m->tag);
    return !os_write_all(m->tag == 2 ? STDERR_FILENO : STDOUT_FILENO, m->data, m->len) &&
           !door_link_send(link, &taken, -1);
}

/* ---- writing ---- */

/* The state of the rank's stdin. */
struct feeding {
    struct door_link *link;
    int rank;
    uint64_t granted, sent;
    bool is_asked, is_there, is_shut, is_flushed, has_ended;
};

static int say(struct feeding *f, enum hub_kind kind, const void *data, size_t len)
{
    const struct hub_message m = {.kind = (uint8_t)kind,
                                  .id = 1,
                                  .rank = f->rank,
                                  .tag = 0,
                                  .data = data,
                                  .len = (uint32_t)len};
    return door_link_send(f->link, &m, -1);
}

static void hear(struct feeding *f, const struct hub_message *m)
{
    switch (m->kind) {
    case HUB_GRANT: f->granted = m->off; break;
    case HUB_SHUT: f->is_shut = true; break;
    case HUB_FLUSHED: f->is_flushed = true; break;
    case HUB_STATE:
        f->is_asked = true;
        f->is_there = m->status > 0;
        break;
    default: break;
    }
}

/* Pass on what there is of stdin, as far as the hub grants. */
static int pass_on(struct feeding *f)
{
    uint8_t bytes[1 << 14];
    size_t room = (size_t)(f->granted - f->sent);
    ssize_t n = read(STDIN_FILENO, bytes, room < sizeof(bytes) ? room : sizeof(bytes));
    if (n < 0 && errno == EINTR)
        return 0;
    f->has_ended = n <= 0;
    f->sent += n > 0 ? (uint64_t)n : 0;
    return n > 0 ? say(f, HUB_DATA, bytes, (size_t)n) : say(f, HUB_FLUSH, NULL, 0);
}

/* One step. Returns 0, or -errno where the job is gone. */
static int feed_on(struct feeding *f)
{
    bool may_read = f->is_there && !f->has_ended && f->granted > f->sent;
    struct pollfd p[2] = {{.fd = f->link->fd, .events = POLLIN},
                          {.fd = may_read ? STDIN_FILENO : -1, .events = POLLIN}};
    struct hub_message m;
    int rc = poll(p, 2, -1) < 0 && errno != EINTR ? -errno : 0;
    if (!rc && p[0].revents)
        while ((rc = door_link_next(f->link, &m, 0)) > 0)
            hear(f, &m);
    return rc || !p[1].revents ? rc : pass_on(f);
}

static int feed(const struct attach *a, struct door_link *link)
{
    long first = 0, last = 0;
    const char *at = a->ranks;
    struct feeding f = {.link = link};
    if (at && (!next_range(&at, &first, &last) || first != last || *at)) {
        fprintf(stderr, "vireo: --stdin writes to one rank; name it with --rank\n");
        return EXIT_FAILURE;
    }
    f.rank = (int)first;
    int rc = say(&f, HUB_PUSH, NULL, 0);
    if (!rc)
        rc = say(&f, HUB_STAT, NULL, 0);
    while (!rc && !f.is_flushed && !f.is_shut && (f.is_there || !f.is_asked))
        rc = feed_on(&f);
    if (f.is_flushed && !f.is_shut)
        return EXIT_SUCCESS;
    fprintf(stderr, "vireo: rank %d %s\n", f.rank,
            f.is_shut ? "has closed its stdin, or ended"
            : f.is_asked && !f.is_there
                ? "gets no stdin that others can write to: mpiexec's --stdin "
                  "says which ranks read it, and a terminal or all makes it a pipe"
                : "cannot be reached: the job has no such rank, has ended, or refuses this user");
    return EXIT_FAILURE;
}

int attach_run(const struct attach *a, struct door_link *link)
{
    struct hub_message m;
    if (a->is_stdin)
        return feed(a, link);
    if (subscribe_all(a, link)) {
        fprintf(stderr, "vireo: the job has ended, or refuses to answer this user\n");
        return EXIT_FAILURE;
    }
    bool has_answer = false;
    while (door_link_next(link, &m, -1) > 0) {
        has_answer = true;
        if (m.kind == HUB_OPENED && m.status) {
            fprintf(stderr, "vireo: mpiexec has too many subscriptions to add one\n");
            return EXIT_FAILURE;
        }
        if (m.kind == HUB_FRAGMENT && !show(link, &m))
            return EXIT_SUCCESS; /* its reader has gone, or the job has ended */
    }
    if (!has_answer)
        fprintf(stderr, "vireo: mpiexec refuses to answer this user, or has no such rank\n");
    return has_answer ? EXIT_SUCCESS : EXIT_FAILURE;
}
