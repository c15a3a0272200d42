/* SPDX-License-Identifier: BSD-3-Clause */

/* Tuning files and the settings of collectives; see tuning.h. */
#include "mpi/coll/tuning.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/choose.h"
#include "mpi/coll/choose_row.h"
#include "mpi/left.h"
#include "mpi/request/compared.h"
#include "os/settings.h"

enum { WORDS = 6 };

static const int64_t most = CHOOSE_MOST;

/* A number, with k, m or g behind it. Returns the rest, or NULL. */
static const char *parse_number(const char *at, int64_t *value)
{
    char *end;
    errno = 0;
    if (*at < '0' || *at > '9')
        return NULL;
    long long number = strtoll(at, &end, 10);
    int letter = *end | 0x20, shift = letter == 'k' ? 10 : letter == 'm' ? 20 : letter == 'g' ? 30 : 0;
    if (errno || number > most >> shift)
        return NULL;
    *value = (int64_t)number << shift;
    return end + (shift > 0);
}

static bool parse_range(const char *word, struct choose_range *range)
{
    int64_t to = most;
    *range = (struct choose_range){0, CHOOSE_MOST};
    if (!strcmp(word, "*"))
        return true;
    const char *at = parse_number(word, &range->from);
    if (at && !*at)
        to = range->from;
    else if (at && *at == '-')
        at = at[1] ? parse_number(at + 1, &to) : at + 1;
    range->more = (uint64_t)(to - range->from);
    return at && !*at && range->from <= to;
}

/* What the word asks of the operation. */
static bool parse_commutative(const char *word, struct choose_row *row)
{
    row->last = false;
    row->needs = !strcmp(word, "yes") ? NEEDS_COMMUTATIVE : 0;
    row->bars = !strcmp(word, "no") ? NEEDS_COMMUTATIVE : 0;
    return row->needs || row->bars || !strcmp(word, "any") || !strcmp(word, "*");
}

static enum coll_kind parse_kind(const char *word)
{
    int kind = 0;
    while (kind < COLL_KINDS && strcmp(algorithm_kind_name((enum coll_kind)kind), word) != 0)
        kind++;
    return (enum coll_kind)kind;
}

/* List the algorithms of a collective. */
static void list_algorithms(enum coll_kind kind, char *text, size_t size)
{
    size_t len = 0;
    for (int i = 0; i < ALGORITHM_COUNT && len < size; i++)
        if (algorithms[i].kind == kind)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
                                    algorithms[i].name);
}

int tuning_parse(const char *line, struct choose_row *row, char *why, size_t size)
{
    char text[TUNING_LINE], *words[WORDS + 1] = {NULL}, *rest = text;
    int count = 0;
    snprintf(text, sizeof(text), "%s", line);
    for (char *word; count <= WORDS && (word = strtok_r(rest, " \t\r\n", &rest));)
        words[count++] = word;
    if (count == 0 || words[0][0] == '#')
        return 1;
    if (count != WORDS) {
        snprintf(why, size, "a row has six words: collective, ranks, hosts, bytes, commutative, "
                            "algorithm");
        return -EINVAL;
    }
    enum coll_kind kind = parse_kind(words[0]);
    struct choose_range *ranges[] = {&row->ranks, &row->hosts, &row->bytes};
    for (int i = 0; i < 3; i++)
        if (!parse_range(words[1 + i], ranges[i])) {
            snprintf(why, size, "\"%s\": must be a number, FROM-TO, FROM- or *", words[1 + i]);
            return -EINVAL;
        }
    if (kind == COLL_KINDS) {
        snprintf(why, size, "\"%s\" is no collective", words[0]);
        return -EINVAL;
    }
    if (!parse_commutative(words[4], row)) {
        snprintf(why, size, "\"%s\": must be yes, no or any", words[4]);
        return -EINVAL;
    }
    row->algorithm = algorithm_find(kind, words[5], strlen(words[5]));
    if (row->algorithm == ALGORITHM_COUNT) {
        char names[128] = "";
        list_algorithms(kind, names, sizeof(names));
        snprintf(why, size, "\"%s\" is no algorithm of %s: these are %s", words[5], words[0], names);
        return -EINVAL;
    }
    row->needs |= algorithms[row->algorithm].needs;
    return 0;
}

static int read_lines(FILE *file, const char *name, char *why, size_t size)
{
    char line[TUNING_LINE], wrong[256];
    struct choose_row row;
    for (int number = 1; fgets(line, sizeof(line), file); number++) {
        bool is_cut = !strchr(line, '\n') && !feof(file);
        snprintf(wrong, sizeof(wrong), "the line is too long");
        int rc = is_cut ? -EINVAL : tuning_parse(line, &row, wrong, sizeof(wrong));
        if (rc < 0) {
            snprintf(why, size, "tuning file %s, line %d: %s", name, number, wrong);
            return rc;
        }
        if (!rc && choose_put(&row)) {
            snprintf(why, size, "no memory");
            return -ENOMEM;
        }
    }
    return 0;
}

static int load_file(const char *name, char *why, size_t size)
{
    FILE *file = *name ? fopen(name, "re") : NULL;
    if (!*name)
        return 0;
    if (!file) {
        int rc = -errno;
        snprintf(why, size, "tuning file %s: %s; VIREO_COLL_TUNING names a file that every host "
                            "has, or nothing", name, strerror(-rc));
        return rc;
    }
    int rc = read_lines(file, name, why, size);
    fclose(file);
    return rc;
}

int tuning_load(char *why, size_t size)
{
    static const enum os_setting_id settings[] = {
        [COLL_BARRIER] = OS_SETTING_COLL_BARRIER,
        [COLL_BCAST] = OS_SETTING_COLL_BCAST,
        [COLL_REDUCE] = OS_SETTING_COLL_REDUCE,
        [COLL_ALLREDUCE] = OS_SETTING_COLL_ALLREDUCE,
        [COLL_GATHER] = OS_SETTING_COLL_GATHER,
        [COLL_SCATTER] = OS_SETTING_COLL_SCATTER,
        [COLL_ALLGATHER] = OS_SETTING_COLL_ALLGATHER,
        [COLL_ALLTOALL] = OS_SETTING_COLL_ALLTOALL,
        [COLL_REDUCE_SCATTER] = OS_SETTING_COLL_REDUCE_SCATTER,
        [COLL_SCAN] = OS_SETTING_COLL_SCAN,
        [COLL_EXSCAN] = OS_SETTING_COLL_EXSCAN,
    };
    static const struct choose_range all = {0, CHOOSE_MOST};
    for (int kind = 0; kind <= COLL_EXSCAN; kind++) {
        const char *name = os_setting_text(settings[kind]);
        enum algorithm_id id = algorithm_find((enum coll_kind)kind, name, strlen(name));
        struct choose_row row = {0, 0, false, all, all, all, id};
        if (id == ALGORITHM_COUNT)
            continue;
        row.needs = algorithms[id].needs;
        if (choose_put(&row)) {
            snprintf(why, size, "no memory");
            return -ENOMEM;
        }
    }
    if (os_setting(OS_SETTING_CHECK)) {
        choose_compare_calls();
        compared_begin();
        left_watch();
    }
    if (os_setting(OS_SETTING_REPORT)) {
        choose_count_runs();
        algorithm_report();
    }
    return load_file(os_setting_text(OS_SETTING_COLL_TUNING), why, size);
}
