/* SPDX-License-Identifier: BSD-3-Clause */

/* Info keys of a program that is to be spawned; see keys.h. */
#include "mpi/dynamic/keys.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

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

/* Whether arch says what this host is. */
static bool is_own_arch(const char *value, struct utsname *own)
{
    return !uname(own) && !strcmp(value, own->machine);
}

/* Have the report tell of a key that changes nothing. */
static void note_key(const char *key, const char *value, const char *command)
{
    static const char files[] = " preload_binary preload-binary ompi_preload_binary preload_files preload-files ompi_preload_files ";
    char word[MPI_MAX_INFO_KEY + 2], why[128] = "", text[LINE];
    struct utsname own;
    bool is_arch = !strcmp(key, "arch");
    snprintf(word, sizeof(word), " %s ", key);
    if (is_arch && is_own_arch(value, &own))
        return;
    if (is_arch)
        snprintf(why, sizeof(why), ": this host is %.64s", own.machine);
    else if (strstr(files, word))
        snprintf(why, sizeof(why), ": programs and files are to be on every host already");
    snprintf(text, sizeof(text), "info key '%.80s' of the spawned program '%.80s' means nothing here%s", key, command, why);
    note(text);
}

struct info *keys_read(const struct info *info, const char *command)
{
    info_lock(info);
    struct info *whole = info_copy(info);
    info_unlock(info);
    const char *path = whole ? info_get(whole, "file") : NULL;
    if (path)
        read_file(whole, path);
    for (int n = 0; whole && n < info_count(whole); n++)
        if (!order_has_key(info_key(whole, n)))
            note_key(info_key(whole, n), info_get(whole, info_key(whole, n)), command);
    return whole;
}
