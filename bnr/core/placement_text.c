/* SPDX-License-Identifier: BSD-3-Clause */

/* Placement as users write it out: rankfiles, lists of processors. See placement.h. */
#include "bnr/core/placement.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of one line; a line that is wrong is told with its number. */
struct placement_reader {
    const char *at, *end;
    struct placement *result;
    int line;
};

static int wrong(struct placement_reader *r, const char *what)
{
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    size_t len = (size_t)((end ? end : r->end) - r->at);
    char *text = r->result->problem;
    snprintf(text, sizeof(r->result->problem), "line %d: %s, not '%.*s'", r->line, what,
             (int)(len < 60 ? len : 60), r->at);
    for (char *c = text; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    return -EINVAL;
}

static void skip_blanks(struct placement_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static bool skip_word(struct placement_reader *r, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len))
        return false;
    r->at += len;
    return true;
}

static bool read_number(struct placement_reader *r, uint32_t *number)
{
    uint64_t value = 0;
    const char *begin = r->at;
    for (; r->at < r->end && isdigit((unsigned char)*r->at) && r->at - begin < 9; r->at++)
        value = 10 * value + (uint64_t)(*r->at - '0');
    *number = (uint32_t)value;
    return r->at > begin;
}

/* N, N-M or *, which is all up to most. */
static bool read_range(struct placement_reader *r, uint32_t most, uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = most;
    if (skip_word(r, "*"))
        return true;
    if (!read_number(r, first))
        return false;
    *last = *first;
    return !skip_word(r, "-") || (read_number(r, last) && *last >= *first);
}

/* ---- rankfiles ---- */

/* A host by its name, or +nK: the kth of the list. */
static int read_host(struct placement_reader *r, const struct placement_request *request,
                     uint32_t *host)
{
    const char *begin = r->at;
    while (r->at < r->end && !isspace((unsigned char)*r->at))
        r->at++;
    size_t len = (size_t)(r->at - begin);
    if (len > 2 && begin[0] == '+' && begin[1] == 'n') {
        struct placement_reader number = {.at = begin + 2, .end = r->at};
        if (read_number(&number, host) && number.at == r->at && *host < request->host_count)
            return 0;
    }
    for (*host = 0; *host < request->host_count; ++*host) {
        const char *name = request->hosts[*host].name;
        if (strlen(name) == len && memcmp(name, begin, len) == 0)
            return 0;
    }
    r->at = begin;
    return wrong(r, "a host of the job is expected");
}

/* Add the hardware threads of cores: of a package, or of the machine where that is UINT32_MAX. */
static void add_cores(const struct placement_machine *m, uint32_t package, uint32_t first,
                      uint32_t last, bool *is_bound)
{
    uint32_t in_package = 0, core = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const uint32_t *now = m->cpus[i].object, *before = i ? m->cpus[i - 1].object : NULL;
        if (before && now[PLACEMENT_PACKAGE] != before[PLACEMENT_PACKAGE]) {
            in_package++;
            core = package == UINT32_MAX ? core + 1 : 0;
        } else if (before && now[PLACEMENT_CORE] != before[PLACEMENT_CORE]) {
            core++;
        }
        bool is_here = package == UINT32_MAX || in_package == package;
        is_bound[i] |= is_here && core >= first && core <= last;
    }
}

/* slot=LIST: cores, or PACKAGE:cores; a package holds until the next semicolon or package. */
static int read_cores(struct placement_reader *r, const struct placement_machine *m, bool *is_bound)
{
    uint32_t package = UINT32_MAX, first, last;
    uint32_t cores = placement_objects(m, PLACEMENT_CORE);
    do {
        const char *begin = r->at;
        if (!read_range(r, UINT32_MAX - 1, &first, &last))
            return wrong(r, "cores are expected, as 0, 0-3, or 1:0-3 for those of package 1");
        if (first == last && skip_word(r, ":")) {
            package = first;
            if (package >= placement_objects(m, PLACEMENT_PACKAGE)) {
                r->at = begin;
                return wrong(r, "a package that the host has is expected");
            }
            if (!read_range(r, UINT32_MAX - 1, &first, &last))
                return wrong(r, "cores are expected after the package");
        }
        if (first >= cores || (last >= cores && last != UINT32_MAX - 1)) {
            r->at = begin;
            return wrong(r, "cores that the host has are expected");
        }
        add_cores(m, package, first, last, is_bound);
        if (skip_word(r, ";"))
            package = UINT32_MAX;
        else if (!skip_word(r, ","))
            break;
    } while (true);
    return 0;
}

static int bind_to(struct placement_rank *rank, const struct placement_machine *m,
                   const bool *is_bound)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        count += is_bound[i];
    rank->cpus = malloc((count ? count : 1) * sizeof(*rank->cpus));
    if (!rank->cpus)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->count; i++)
        if (is_bound[i])
            rank->cpus[rank->cpu_count++] = i;
    return 0;
}

/* Make room for a rank, and for all before it. */
static int grow(struct placement *p, uint32_t rank)
{
    if (rank < p->count)
        return 0;
    uint32_t room = rank + 1 + rank / 2;
    struct placement_rank *ranks = realloc(p->ranks, room * sizeof(*ranks));
    if (!ranks)
        return -ENOMEM;
    memset(ranks + p->count, 0, (room - p->count) * sizeof(*ranks));
    p->ranks = ranks;
    p->count = room;
    return 0;
}

/* rank N=HOST slot=LIST */
static int read_line(struct placement_reader *r, const struct placement_request *request,
                     uint32_t limit)
{
    uint32_t number, host;
    if (!skip_word(r, "rank"))
        return wrong(r, "'rank N=HOST slot=CORES' is expected");
    skip_blanks(r);
    const char *begin = r->at;
    if (!read_number(r, &number) || number >= limit) {
        r->at = begin;
        return wrong(r, "a rank below the number of lines is expected");
    }
    if (!skip_word(r, "="))
        return wrong(r, "'=' and a host are expected");
    int rc = read_host(r, request, &host);
    skip_blanks(r);
    if (rc)
        return rc;
    if (!skip_word(r, "slot="))
        return wrong(r, "'slot=CORES' is expected");
    const struct placement_machine *m = request->hosts[host].machine;
    bool *is_bound = calloc(m->count ? m->count : 1, sizeof(*is_bound));
    rc = is_bound ? read_cores(r, m, is_bound) : -ENOMEM;
    if (!rc)
        rc = grow(r->result, number);
    struct placement_rank *rank = rc ? NULL : &r->result->ranks[number];
    if (rank && rank->cpus)
        rc = wrong(r, "each rank stands once");
    else if (rank) {
        rank->host = host;
        rc = bind_to(rank, m, is_bound);
    }
    free(is_bound);
    return rc;
}

/* Every rank up to the last has its line. */
static int check_ranks(struct placement *p, uint32_t ranks, uint32_t lines)
{
    uint32_t count = ranks ? ranks : lines;
    for (uint32_t i = 0; i < count; i++)
        if (i >= p->count || !p->ranks[i].cpus) {
            snprintf(p->problem, sizeof(p->problem), "the rankfile has no line for rank %u", i);
            return -EINVAL;
        }
    for (uint32_t i = count; i < p->count; i++)
        free(p->ranks[i].cpus);
    p->count = count;
    return 0;
}

int placement_read_rankfile(struct placement *p, const struct placement_request *request,
                            const char *text, size_t len)
{
    struct placement_reader r = {text, text + len, p, 1};
    uint32_t limit = 1, lines = 0;
    int rc = 0;
    *p = (struct placement){0};
    for (size_t i = 0; i < len; i++)
        limit += text[i] == '\n';
    for (; !rc && r.at < r.end; r.line++) {
        skip_blanks(&r);
        bool is_empty = r.at == r.end || *r.at == '\n' || *r.at == '#';
        if (!is_empty) {
            rc = read_line(&r, request, limit);
            lines++;
            skip_blanks(&r);
            if (!rc && r.at < r.end && *r.at != '\n' && *r.at != '#')
                rc = wrong(&r, "the end of the line is expected");
        }
        const char *end = rc ? NULL : memchr(r.at, '\n', (size_t)(r.end - r.at));
        r.at = end ? end + 1 : r.end;
    }
    if (!rc)
        rc = check_ranks(p, request->ranks, lines);
    if (rc)
        placement_fini(p);
    return rc;
}

/* ---- lists of processors ---- */

/* Mark the hardware threads that numbers from first to last name. Returns how many there are. */
static uint32_t mark(const struct placement_machine *m, enum placement_unit unit, uint32_t first,
                     uint32_t last, bool *is_marked)
{
    uint32_t found = 0, core = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        core += i && m->cpus[i].object[PLACEMENT_CORE] != m->cpus[i - 1].object[PLACEMENT_CORE];
        uint32_t number = unit == PLACEMENT_BY_SYSTEM ? m->cpus[i].os_index
                          : unit == PLACEMENT_BY_CORE ? core
                                                      : i;
        if (number >= first && number <= last) {
            is_marked[i] = true;
            found++;
        }
    }
    return found;
}

static int not_a_list(char problem[PLACEMENT_PROBLEM_LEN], const char *list, const char *example)
{
    int n = snprintf(problem, PLACEMENT_PROBLEM_LEN,
                     "'%.60s' is no list of processors that may be used, as %s", list, example);
    for (char *c = problem; n > 0 && *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    return -EINVAL;
}

int placement_restrict(struct placement_cpu *cpus, uint32_t *count, const char *list,
                       enum placement_unit unit, char problem[PLACEMENT_PROBLEM_LEN])
{
    struct placement unused = {0};
    struct placement_machine m = {.cpus = cpus, .count = *count};
    struct placement_reader r = {list, list + strlen(list), &unused, 1};
    uint32_t kept = 0;
    bool *is_kept = calloc(*count ? *count : 1, sizeof(*is_kept));
    if (!is_kept)
        return -ENOMEM;
    bool is_good;
    do {
        uint32_t first, last;
        is_good =
            read_range(&r, UINT32_MAX - 1, &first, &last) && mark(&m, unit, first, last, is_kept);
    } while (is_good && skip_word(&r, ","));
    is_good = is_good && r.at == r.end;
    for (uint32_t i = 0; is_good && i < *count; i++)
        if (is_kept[i])
            cpus[kept++] = cpus[i];
    if (is_good)
        *count = kept;
    free(is_kept);
    return is_good ? 0 : not_a_list(problem, list, "0,2-5");
}

/* A number of a list; numbers that "+" joins are one word. */
struct placement_item {
    uint32_t number, word;
};

enum {
    ITEMS_MAX = 1 << 16
};

/* Read 0,2-4 (a word each) or 0+2,1+4. Returns how many numbers, 0 for what is no list. */
static uint32_t read_items(struct placement_reader *r, struct placement_item *items)
{
    uint32_t count = 0, word = 0;
    bool is_good, joins = false;
    do {
        uint32_t first, last;
        is_good = read_range(r, 0, &first, &last) && r->at[-1] != '*' && !(joins && first != last);
        for (; is_good && first <= last; first++) {
            if (count == ITEMS_MAX)
                return 0;
            word += count && !joins;
            items[count++] = (struct placement_item){first, word};
        }
        joins = is_good && skip_word(r, "+");
    } while (joins || (is_good && skip_word(r, ",")));
    return is_good && r->at == r->end ? count : 0;
}

/* Bind a rank to the numbers of a word. Returns 0, -EINVAL where there is no such processor. */
static int bind_to_word(struct placement_rank *rank, const struct placement_machine *m,
                        enum placement_unit unit, const struct placement_item *items,
                        uint32_t count, uint32_t word)
{
    bool *is_bound = calloc(m->count ? m->count : 1, sizeof(*is_bound));
    int rc = is_bound ? 0 : -ENOMEM;
    for (uint32_t i = 0; !rc && i < count; i++)
        if (items[i].word == word && !mark(m, unit, items[i].number, items[i].number, is_bound))
            rc = -EINVAL;
    free(rank->cpus);
    *rank = (struct placement_rank){.host = rank->host};
    if (!rc)
        rc = bind_to(rank, m, is_bound);
    free(is_bound);
    return rc;
}

int placement_bind_list(struct placement *p, const struct placement_words *words)
{
    struct placement_reader r = {words->list, words->list + strlen(words->list), p, 1};
    struct placement_item *items = malloc(ITEMS_MAX * sizeof(*items));
    if (!items)
        return -ENOMEM;
    uint32_t count = read_items(&r, items), all = count ? items[count - 1].word + 1 : 0;
    int rc = count ? 0 : not_a_list(p->problem, words->list, "0,2-5 or 0+2,1+3");
    if (!rc && p->count > all && !words->begins_again) {
        snprintf(p->problem, sizeof(p->problem),
                 "%u ranks, but the list has processors for %u; name more, or start fewer",
                 p->count, all);
        rc = -EINVAL;
    }
    for (uint32_t i = 0; !rc && i < p->count; i++) {
        rc = bind_to_word(&p->ranks[i], words->machine, words->unit, items, count, i % all);
        if (rc == -EINVAL)
            not_a_list(p->problem, words->list, "0,2-5 or 0+2,1+3");
    }
    free(items);
    return rc;
}
