/* SPDX-License-Identifier: BSD-3-Clause */

/* The beginning of a line; see prefix.h. */
#include "bnr/stdio/prefix.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bnr/host/table.h"
#include "os/log.h"

static const char letters[] = "rRhisTgpCc%";

bool prefix_is_good(const char *pattern)
{
    for (const char *at = strchr(pattern, '%'); at; at = strchr(at + 2, '%'))
        if (!at[1] || !strchr(letters, at[1]))
            return false;
    return true;
}

static void write_time(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm local;
    if (!localtime_r(&now, &local) || !strftime(text, size, "%F %T", &local))
        text[0] = 0;
}

/* Begin the color of a rank, or for -1 end it; to a file, nothing. */
static void write_color(int fd, int rank, char *text, size_t size)
{
    enum {
        COLORS = 6,
        FIRST = 31
    }; /* the terminal's own: not black, not white */
    text[0] = 0;
    if (!isatty(fd))
        return;
    if (rank < 0)
        snprintf(text, size, "\033[0m");
    else
        snprintf(text, size, "\033[%dm", FIRST + rank % COLORS);
}

static void write_letter(const struct prefix *p, int label, char letter, char *text, size_t size)
{
    int rank = label % p->ranks, digits = 1;
    for (int last = p->ranks - 1; last > 9; last /= 10)
        digits++;
    switch (letter) {
    case 'r': snprintf(text, size, "%d", rank); break;
    case 'R': snprintf(text, size, "%0*d", digits, rank); break;
    case 's': snprintf(text, size, "%s", label < p->ranks ? "stdout" : "stderr"); break;
    case 'T': write_time(text, size); break;
    case 'h':
        snprintf(text, size, "%s", p->table ? table_host(p->table, rank)->name : os_host_name());
        break;
    case 'i': snprintf(text, size, "%d", p->table ? (int)p->table->rank[rank].pid : 0); break;
    case '%': snprintf(text, size, "%%"); break;
    case 'C':
    case 'c': write_color(label < p->ranks ? 1 : 2, letter == 'C' ? rank : -1, text, size); break;
    default: snprintf(text, size, "0"); break;
    }
}

/* Put "+" behind the last character that is no blank. */
static void mark_rest(char *text, size_t size)
{
    size_t len = strlen(text), end = len;
    if (len + 1 >= size)
        return;
    while (end && text[end - 1] == ' ')
        end--;
    memmove(text + end + 1, text + end, len - end + 1);
    text[end] = '+';
}

void prefix_write(const void *prefix, int label, bool is_rest, char *text, size_t size)
{
    const struct prefix *p = prefix;
    size_t used = 0;
    for (const char *at = p->pattern; *at && used + 1 < size; at++) {
        if (*at == '%') {
            write_letter(p, label, *++at, text + used, size - used);
            used += strlen(text + used);
        } else {
            text[used++] = *at;
        }
        text[used] = 0;
    }
    text[used] = 0;
    if (is_rest)
        mark_rest(text, size);
}
