/* SPDX-License-Identifier: BSD-3-Clause */

/* Options about the standard streams. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bnr/tools/option_reader.h"

int option_streams_file(struct reader *r, const char *option, int i, char *pattern)
{
    char name[PATH_MAX];
    struct outfile one = {.ranks = 1};
    if (!pattern)
        return -ENOMEM;
    free(r->o->files.pattern[i]);
    r->o->files.pattern[i] = pattern;
    int rc = outfile_name(&one, pattern, 0, name, sizeof(name));
    if (rc == -EINVAL)
        return reader_refuse(
            r,
            "'%s' takes the name of a file, with %%r, %%R, %%h, %%t or %%%% in it, "
            "not '%s'",
            option, pattern);
    return rc ? reader_refuse(r, "'%s': the name of the file is too long", option) : 0;
}

/* Send both streams to files in folder (len bytes), in which "%" means itself. The suffixes
 * that other launchers know ask for what is done anyway: no copy, no folder of the job. */
int option_streams_folder(struct reader *r, const char *option, const char *folder, size_t len)
{
    static const char *const suffixes[] = {":nocopy,nojobid", ":nojobid,nocopy", ":nocopy",
                                           ":nojobid"};
    static const char *const streams[] = {"stdout", "stderr"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t n = strlen(suffixes[i]);
        if (len >= n && !memcmp(folder + len - n, suffixes[i], n)) {
            len -= n;
            break;
        }
    }
    if (!len)
        return reader_refuse(r, "'%s' needs the name of a folder", option);
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        char *pattern = malloc(2 * len + sizeof("/rank.%R/stdout")), *at = pattern;
        for (size_t j = 0; at && j < len; j++) {
            *at++ = folder[j];
            if (folder[j] == '%')
                *at++ = '%';
        }
        if (at)
            sprintf(at, "/rank.%%R/%s", streams[i]);
        rc = option_streams_file(r, option, i, pattern);
    }
    return rc;
}

/* The words of --output. */
int option_streams_output(struct reader *r, const char *option, const char *words)
{
    int rc = 0;
    do {
        size_t len = strcspn(words, ",");
        if (reader_is_word("tag rank tag-output", words, len))
            r->o->label = true;
        else if (reader_is_word("merge merge-stderr-to-stdout", words, len))
            r->o->merge = true;
        else if (len > 4 && !strncasecmp(words, "dir=", 4))
            rc = option_streams_folder(r, option, words + 4, len - 4);
        else
            return reader_refuse(r, "'%s' takes tag, merge and dir=DIR, not '%.*s'", option,
                                 (int)len, words);
        words += len + (words[len] == ',');
    } while (!rc && *words);
    return rc;
}
