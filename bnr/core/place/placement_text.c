/* SPDX-License-Identifier: BSD-3-Clause */

/* Placement as users write it out: rankfiles, lists of processors. See placement.h. */
#include "bnr/core/place/placement.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of one line; a line that is wrong is told with its number. */
struct placement_reader {
    const char *at, *end;
    char *problem; /* of PLACEMENT_PROBLEM_LEN */
    int line;
};

static int wrong(struct placement_reader *r, const char *what)
{
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    size_t len = (size_t)((end ? end : r->end) - r->at);
    char *text = r->problem;
    snprintf(text, PLACEMENT_PROBLEM_LEN, "line %d: %s, not '%.*s'", r->line, what,
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

enum {
    FROM_THE_END = UINT32_MAX - 1, /* the last number of '*' */
    ALL_PACKAGES = UINT32_MAX
};

/* Mark the hardware threads of cores: of a package, or of all. Returns how many cores it has. */
static uint32_t mark_cores(const struct placement_machine *m, uint32_t package, uint32_t first,
                           uint32_t last, bool *is_bound)
{
    uint32_t in_package = 0, core = 0, count = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const uint32_t *now = m->cpus[i].object, *before = i ? m->cpus[i - 1].object : NULL;
        if (before && now[PLACEMENT_PACKAGE] != before[PLACEMENT_PACKAGE]) {
            in_package++;
            core = package == ALL_PACKAGES ? core + 1 : 0;
        } else if (before && now[PLACEMENT_CORE] != before[PLACEMENT_CORE]) {
            core++;
        }
        if (package != ALL_PACKAGES && in_package != package)
            continue;
        count = core + 1;
        is_bound[i] |= core >= first && core <= last;
    }
    return count;
}

/* slot=LIST: cores, or PACKAGE:cores; a package holds until the next semicolon or package. m: NULL,
 * where the hardware is not known. Returns 0, -EINVAL, or -ERANGE at what the machine lacks. */
static int read_cores(struct placement_reader *r, const struct placement_machine *m, bool *is_bound)
{
    uint32_t package = ALL_PACKAGES, first, last;
    do {
        const char *begin = r->at;
        if (!read_range(r, FROM_THE_END, &first, &last))
            return wrong(r, "cores are expected, as 0, 0-3, or 1:0-3 for those of package 1");
        if (first == last && skip_word(r, ":")) {
            package = first;
            if (!read_range(r, FROM_THE_END, &first, &last))
                return wrong(r, "cores are expected after the package");
        }
        uint32_t cores = m ? mark_cores(m, package, first, last, is_bound) : 0;
        if (m && (first >= cores || (last >= cores && last != FROM_THE_END))) {
            r->at = begin;
            return -ERANGE;
        }
        if (skip_word(r, ";"))
            package = ALL_PACKAGES;
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

/* rank N=HOST slot=LIST */
static int read_line(struct placement_reader *r, struct placement_file *f)
{
    struct placement_line line = {.number = (uint32_t)r->line};
    uint32_t rank;
    if (!skip_word(r, "rank"))
        return wrong(r, "'rank N=HOST slot=CORES' is expected");
    skip_blanks(r);
    const char *begin = r->at;
    if (!read_number(r, &rank) || rank >= f->room) {
        r->at = begin;
        return wrong(r, "a rank below the number of lines is expected");
    }
    if (!skip_word(r, "="))
        return wrong(r, "'=' and a host are expected");
    line.host = r->at;
    while (r->at < r->end && !isspace((unsigned char)*r->at))
        r->at++;
    line.host_len = (uint32_t)(r->at - line.host);
    if (!line.host_len)
        return wrong(r, "a host is expected");
    skip_blanks(r);
    if (!skip_word(r, "slot="))
        return wrong(r, "'slot=CORES' is expected");
    line.cores = r->at;
    int rc = read_cores(r, NULL, NULL);
    if (rc)
        return rc;
    line.cores_len = (uint32_t)(r->at - line.cores);
    if (f->lines[rank].host) {
        r->at = begin;
        return wrong(r, "each rank stands once");
    }
    f->lines[rank] = line;
    f->count++;
    return 0;
}

int placement_file_read(struct placement_file *f, const char *text, size_t len)
{
    struct placement_reader r = {text, text + len, f->problem, 1};
    int rc = 0;
    *f = (struct placement_file){.room = 1};
    if (len > PLACEMENT_FILE_MAX) {
        snprintf(f->problem, sizeof(f->problem),
                 "the rankfile is longer than %d MiB; leave comments out", PLACEMENT_FILE_MAX >> 20);
        return -EINVAL;
    }
    for (size_t i = 0; i < len; i++)
        f->room += text[i] == '\n';
    f->lines = calloc(f->room, sizeof(*f->lines));
    if (!f->lines)
        return -ENOMEM;
    for (; !rc && r.at < r.end; r.line++) {
        skip_blanks(&r);
        if (r.at < r.end && *r.at != '\n' && *r.at != '#') {
            rc = read_line(&r, f);
            skip_blanks(&r);
            if (!rc && r.at < r.end && *r.at != '\n' && *r.at != '#')
                rc = wrong(&r, "the end of the line is expected");
        }
        const char *end = rc ? NULL : memchr(r.at, '\n', (size_t)(r.end - r.at));
        r.at = end ? end + 1 : r.end;
    }
    if (rc)
        placement_file_fini(f);
    return rc;
}

void placement_file_fini(struct placement_file *f)
{
    free(f->lines);
    f->lines = NULL;
    f->room = f->count = 0;
}

/* The line of a rank; if it has none, say so. */
static const struct placement_line *line_of(const struct placement_file *f, uint32_t rank,
                                            char problem[PLACEMENT_PROBLEM_LEN])
{
    if (rank < f->room && f->lines[rank].host)
        return &f->lines[rank];
    snprintf(problem, PLACEMENT_PROBLEM_LEN,
             "the rankfile has no line for rank %u; add it, or start fewer", rank);
    return NULL;
}

/* The host of a line: by its name, looked for from the one before on; or +nK, the Kth of the list. */
static bool find_host(const struct placement_line *line, const struct placement_names *names,
                      uint32_t *host)
{
    const char *end = line->host + line->host_len;
    if (line->host_len > 2 && !memcmp(line->host, "+n", 2)) {
        struct placement_reader number = {.at = line->host + 2, .end = end};
        uint32_t k;
        if (read_number(&number, &k) && number.at == end && k < names->listed) {
            *host = k;
            return true;
        }
    }
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t h = (*host + i) % names->count;
        const char *name = names->names[h];
        if (strlen(name) == line->host_len && !memcmp(name, line->host, line->host_len)) {
            *host = h;
            return true;
        }
    }
    return false;
}

int placement_file_hosts(const struct placement_file *f, const struct placement_names *names,
                         uint32_t ranks, uint32_t *host_of, char problem[PLACEMENT_PROBLEM_LEN])
{
    uint32_t host = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        const struct placement_line *line = line_of(f, r, problem);
        if (!line)
            return -EINVAL;
        if (!find_host(line, names, &host)) {
            struct placement_reader at = {line->host, line->host + line->host_len, problem,
                                          (int)line->number};
            return wrong(&at, "a host of the job is expected");
        }
        host_of[r] = host;
    }
    return 0;
}

/* Bind a rank, whose number in the job is this, to the cores of its line. */
static int bind_to_line(struct placement *p, uint32_t local, uint32_t number,
                        const struct placement_share *share)
{
    const struct placement_machine *m = share->machine;
    const struct placement_line *line = line_of(share->file, number, p->problem);
    if (!line)
        return -EINVAL;
    struct placement_reader r = {line->cores, line->cores + line->cores_len, p->problem,
                                 (int)line->number};
    bool *is_bound = calloc(m->count ? m->count : 1, sizeof(*is_bound));
    int rc = is_bound ? read_cores(&r, m, is_bound) : -ENOMEM;
    if (rc == -ERANGE) {
        snprintf(p->problem, sizeof(p->problem),
                 "line %u of the rankfile: rank %u is to have '%.*s', but %.64s has cores 0 to %u, of "
                 "packages 0 to %u; name cores that it has",
                 line->number, number, (int)(r.end - r.at < 40 ? r.end - r.at : 40), r.at,
                 share->host, placement_objects(m, PLACEMENT_CORE) - 1,
                 placement_objects(m, PLACEMENT_PACKAGE) - 1);
        rc = -EINVAL;
    }
    if (!rc)
        rc = bind_to(&p->ranks[local], m, is_bound);
    free(is_bound);
    return rc;
}

int placement_bind_file(struct placement *p, const struct placement_share *share)
{
    int rc = 0;
    *p = (struct placement){.ranks = calloc(share->ranks ? share->ranks : 1, sizeof(*p->ranks))};
    if (!p->ranks)
        return -ENOMEM;
    p->count = share->ranks;
    for (uint32_t i = 0; !rc && i < p->count; i++)
        rc = bind_to_line(p, i, share->number_of ? share->number_of[i] : i, share);
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
    struct placement_machine m = {.cpus = cpus, .count = *count};
    struct placement_reader r = {list, list + strlen(list), problem, 1};
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

/* Read 0,2-4 (a word each) or 0+2,1+4. Returns how many numbers, 0 for any other text. */
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

/* Bind a rank to the numbers of a word. Returns 0, -EINVAL if there is no such processor. */
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
    struct placement_reader r = {words->list, words->list + strlen(words->list), p->problem, 1};
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
