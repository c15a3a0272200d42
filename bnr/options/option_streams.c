/* SPDX-License-Identifier: BSD-3-Clause */

/* Options about the standard streams. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bnr/stdio/prefix.h"
#include "bnr/options/option_reader.h"

int option_streams_file(struct reader *r, const char *option, int i, char *pattern)
{
    char name[PATH_MAX];
    struct outfile one = {.ranks = 1};
    if (!pattern)
        return -ENOMEM;
    free(r->o->plan.files.pattern[i]);
    r->o->plan.files.pattern[i] = pattern;
    int rc = outfile_name(&one, pattern, 0, name, sizeof(name));
    if (rc == -EINVAL)
        return reader_refuse(
            r,
            "'%s' takes the name of a file, with %%r, %%R, %%h, %%t or %%%% in it, "
            "not '%s'",
            option, pattern);
    return rc ? reader_refuse(r, "'%s': the name of the file is too long", option) : 0;
}

/* Obey the words behind a folder's name, as ":nocopy,nojobid", if all of them are known; unknown
 * ones are a part of the name. Returns the length of the name. */
static size_t cut_folder_words(const char *folder, size_t len, bool *is_copied, bool *has_job)
{
    bool copied = *is_copied, job = *has_job;
    size_t first = len;
    while (first && folder[first - 1] != ':')
        first--;
    if (!first || first == len)
        return len;
    for (size_t at = first, n; at < len; at += n + 1) {
        for (n = 0; at + n < len && folder[at + n] != ',';)
            n++;
        if (reader_is_word("copy nocopy", folder + at, n))
            copied = n == strlen("copy");
        else if (reader_is_word("nojobid", folder + at, n))
            job = false;
        else
            return len;
    }
    *is_copied = copied;
    *has_job = job;
    return first - 1;
}

/* In the name of the folder "%" means itself. */
int option_streams_folder(struct reader *r, const char *option, const char *folder, size_t len,
                          bool is_copied)
{
    static const char *const streams[] = {"stdout", "stderr"};
    bool has_job = is_copied;
    len = cut_folder_words(folder, len, &is_copied, &has_job);
    r->o->plan.files.is_copied = is_copied;
    if (!len)
        return reader_refuse(r, "'%s' needs the name of a folder", option);
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        char *pattern = malloc(2 * len + sizeof("/1/rank.%R/stdout")), *at = pattern;
        for (size_t j = 0; at && j < len; j++) {
            *at++ = folder[j];
            if (folder[j] == '%')
                *at++ = '%';
        }
        if (at)
            sprintf(at, "%s/rank.%%R/%s", has_job ? "/1" : "", streams[i]);
        rc = option_streams_file(r, option, i, pattern);
    }
    return rc;
}

int option_streams_prefix(struct reader *r, const char *option, const char *pattern)
{
    if (!prefix_is_good(pattern))
        return reader_refuse(
            r,
            "'%s' takes a text with %%r (the rank), %%R, %%h (its host), %%i (its "
            "process), %%s (the stream), %%T (the time), %%C to %%c (a color) or %%%% in it, not '%s'",
            option, pattern);
    r->o->plan.prefix = pattern;
    return 0;
}

/* Make one beginning of lines of all that were asked for: a pattern has the rank, if it wants that. */
static int settle_prefix(struct reader *r)
{
    struct options *o = r->o;
    const char *rank = o->label || o->colors ? "[%r] " : "";
    char *text;
    if (asprintf(&text, "%s%s%s%s%s", o->colors ? "%C" : "", o->stamps ? "[%T] " : "",
                 o->hosts_shown ? "[%h] " : "", o->plan.prefix ? o->plan.prefix : rank,
                 o->colors ? "%c" : "") < 0)
        return -ENOMEM;
    o->plan.prefix = text;
    return reader_push(&o->words, text);
}

int option_streams_settle(struct reader *r)
{
    struct options *o = r->o;
    bool is_labelled = o->label || o->stamps || o->hosts_shown || o->colors;
    bool has_more = o->plan.prefix || o->colors || (o->plan.xml && (o->stamps || o->hosts_shown));
    bool has_files = (o->plan.files.pattern[0] || o->plan.files.pattern[1]) && !o->plan.files.is_copied;
    const char *records = o->plan.json ? "JSON" : "XML";
    if (o->plan.json && o->plan.xml)
        return reader_refuse(r, "lines become JSON or XML, not both: leave out one of them");
    if ((o->plan.json || o->plan.xml) && has_more)
        return reader_refuse(r, "%s has the rank and stream of each line already: leave out what "
                                "else is to begin lines", records);
    if ((o->plan.json || o->plan.xml) && has_files)
        return reader_refuse(r, "%s is what mpiexec itself writes; files that ranks write are as the "
                                "ranks write them: leave out one of both, or end the file's name in "
                                ":copy", records);
    return o->plan.json || o->plan.xml || !is_labelled ? 0 : settle_prefix(r);
}

/* Cut the end off a name of *len bytes; false if it has another. */
static bool cut_end(const char *name, size_t *len, const char *end)
{
    size_t n = strlen(end);
    if (*len <= n || strncasecmp(name + *len - n, end, n))
        return false;
    *len -= n;
    return true;
}

/* NAME.RANK.out and NAME.RANK.err, or for a pattern NAME.out and NAME.err. */
static int set_files(struct reader *r, const char *option, const char *name, size_t len)
{
    static const char *const suffixes[] = {"out", "err"};
    r->o->plan.files.is_copied = cut_end(name, &len, ":copy");
    (void)cut_end(name, &len, ":nocopy");
    bool is_pattern = cut_end(name, &len, ":pattern");
    int rc = 0;
    for (int i = 0; !rc && i < 2; i++) {
        char *text;
        if (asprintf(&text, "%.*s%s.%s", (int)len, name, is_pattern ? "" : ".%R", suffixes[i]) < 0)
            return -ENOMEM;
        rc = option_streams_file(r, option, i, text);
    }
    return rc;
}

/* A word of --output with its value, as file=NAME; false if it is another. */
static bool is_named(const char *word, size_t len, const char *name)
{
    size_t n = strlen(name);
    return len > n && !strncasecmp(word, name, n);
}

int option_streams_output(struct reader *r, const char *option, const char *words)
{
    struct options *o = r->o;
    int rc = 0;
    do {
        size_t all = strcspn(words, ","), len = all;
        (void)cut_end(words, &len, ":raw"); /* bytes are exact anyway */
        if (reader_is_word("tag rank tag-output", words, len))
            o->label = true;
        else if (reader_is_word("timestamp", words, len))
            o->stamps = true;
        else if (reader_is_word("host", words, len))
            o->hosts_shown = true;
        else if (reader_is_word("color colour", words, len))
            o->colors = true;
        else if (reader_is_word("json", words, len))
            o->plan.json = true;
        else if (reader_is_word("xml", words, len))
            o->plan.xml = true;
        else if (reader_is_word("tag-detailed", words, len))
            o->plan.prefix = "[%r][%h:%i]<%s>: ";
        else if (reader_is_word("tag-fullname", words, len))
            o->plan.prefix = "[%r]<%s>: ";
        else if (reader_is_word("merge merge-stderr merge-stderr-to-stdout", words, len))
            o->plan.merge = true;
        else if (is_named(words, len, "dir="))
            rc = option_streams_folder(r, option, words + 4, len - 4, false);
        else if (is_named(words, len, "file="))
            rc = set_files(r, option, words + 5, len - 5);
        else
            return reader_refuse(r,
                                 "'%s' takes tag, tag-detailed, tag-fullname, timestamp, rank, "
                                 "host, color, json, xml, merge, dir=DIR and file=FILE, not '%.*s'",
                                 option, (int)len, words);
        words += all + (words[all] == ',');
    } while (!rc && *words);
    return rc;
}
