/* SPDX-License-Identifier: BSD-3-Clause */

/* Lines of PMI-1; see pmi_line.h. */
#include "bnr/core/pmi/pmi_line.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pmi_field(const char *line, const char *name, const char **at, size_t *len)
{
    size_t name_len = strlen(name);
    for (const char *word = line; *word; word += strspn(word, " ")) {
        size_t word_len = strcspn(word, " ");
        if (word_len > name_len && word[name_len] == '=' && !memcmp(word, name, name_len)) {
            *at = word + name_len + 1;
            *len = word_len - name_len - 1;
            return true;
        }
        word += word_len;
    }
    return false;
}

bool pmi_text(const char *line, const char *name, char *to, size_t size)
{
    const char *at;
    size_t len;
    if (!pmi_field(line, name, &at, &len) || len >= size)
        return false;
    memcpy(to, at, len);
    to[len] = 0;
    return true;
}

bool pmi_number(const char *line, const char *name, int *number)
{
    char text[16], *end;
    if (!pmi_text(line, name, text, sizeof(text)))
        return false;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < INT_MIN || value > INT_MAX)
        return false;
    *number = (int)value;
    return true;
}

bool pmi_is(const char *line, const char *command)
{
    const char *at;
    size_t len;
    return pmi_field(line, "cmd", &at, &len) && len == strlen(command) && !memcmp(at, command, len);
}

/* How many ranks from this one on have its host. */
static int run_of(int rank, int ranks, int (*node_of)(const void *arg, int rank), const void *arg)
{
    int end = rank + 1;
    while (end < ranks && node_of(arg, end) == node_of(arg, rank))
        end++;
    return end - rank;
}

bool pmi_mapping_write(char *text, size_t size, int ranks, int (*node_of)(const void *arg, int rank), const void *arg)
{
    size_t at = (size_t)snprintf(text, size, "(vector");
    for (int r = 0; r < ranks && at < size;) {
        int first = node_of(arg, r), run = run_of(r, ranks, node_of, arg), nodes = 0;
        do {
            nodes++;
            r += run;
        } while (r < ranks && node_of(arg, r) == first + nodes && run_of(r, ranks, node_of, arg) == run);
        at += (size_t)snprintf(text + at, size - at, ",(%d,%d,%d)", first, nodes, run);
    }
    at += at < size ? (size_t)snprintf(text + at, size - at, ")") : 0;
    return at < size;
}
