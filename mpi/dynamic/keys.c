/* SPDX-License-Identifier: BSD-3-Clause */

/* Info keys of a program that is to be spawned; see keys.h. */
#include "mpi/dynamic/keys.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/dynamic/order.h"
#include "mpi/info.h"

enum { LINE = 4096 };

/* Have the report say it, in one line. */
static void note(char *text)
{
    for (char *c = text; *c; c++)
        *c = *c == '\t' || *c == '\n' ? ' ' : *c;
    mpid_report_note(text);
}

/* Take a line of the file. */
static void take_line(struct info *info, char *line)
{
    char *key = line + strspn(line, " \t"), *equals = strchr(key, '='), *end = equals;
    if (!equals || *key == '#')
        return;
    while (end > key && strchr(" \t", end[-1]))
        end--;
    *end = 0;
    char *value = equals + 1 + strspn(equals + 1, " \t");
    value[strcspn(value, "\r\n")] = 0;
    if (*key && strlen(key) < MPI_MAX_INFO_KEY && strlen(value) < MPI_MAX_INFO_VAL && !info_get(info, key))
        (void)info_set(info, key, value);
}

static void read_file(struct info *info, const char *path)
{
    char line[LINE];
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(line, sizeof(line), "the file '%.200s' of info key 'file' cannot be read: %s", path, strerror(errno));
        note(line);
        return;
    }
    while (fgets(line, sizeof(line), file))
        take_line(info, line);
    fclose(file);
}

struct info *keys_read(const struct info *info, const char *command)
{
    char text[LINE];
    info_lock(info);
    struct info *whole = info_copy(info);
    info_unlock(info);
    const char *path = whole ? info_get(whole, "file") : NULL;
    if (path)
        read_file(whole, path);
    for (int n = 0; whole && n < info_count(whole); n++) {
        if (order_has_key(info_key(whole, n)))
            continue;
        snprintf(text, sizeof(text), "info key '%.80s' of the spawned program '%.80s' means nothing here",
                 info_key(whole, n), command);
        note(text);
    }
    return whole;
}
