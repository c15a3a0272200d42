/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions that all files which read options share; see option_reader.h. */
#include "bnr/options/option_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/log.h"

enum {
    WORDS_MAX = 16,     /* that one option stands for */
    FILES_MAX = 8,      /* one in the other */
    FILE_MAX = 64 << 20 /* bytes of a file that options name */
};

int reader_refuse(struct reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, r->size, fmt, args);
    va_end(args);
    os_one_line(r->why);
    return -EINVAL;
}

int reader_number(struct reader *r, const char *option, const char *text, int least, int *value)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || v < least || v > READER_MAX)
        return reader_refuse(r, "'%s' takes a number from %d to %d, not '%s'", option, least,
                             READER_MAX, text);
    *value = (int)v;
    return 0;
}

int reader_next(struct reader *r, const char *option, const char **value)
{
    if (r->at >= r->argc)
        return reader_refuse(r, "'%s' needs a value after it", option);
    *value = r->argv[r->at++];
    return 0;
}

int reader_push(char ***list, char *text)
{
    size_t n = 0;
    while (*list && (*list)[n])
        n++;
    char **grown = text ? realloc(*list, (n + 2) * sizeof(*grown)) : NULL;
    if (!grown) {
        free(text);
        return -ENOMEM;
    }
    grown[n] = text;
    grown[n + 1] = NULL;
    *list = grown;
    return 0;
}

bool reader_is_word(const char *words, const char *text, size_t len)
{
    for (; *words; words += strcspn(words, " "), words += strspn(words, " "))
        if (strcspn(words, " ") == len && !strncasecmp(words, text, len))
            return true;
    return false;
}

/* Read until the end or the limit. Returns *len bytes and a NUL to free(), or NULL with errno. */
static char *read_all(FILE *file, size_t *len)
{
    char *text = NULL;
    size_t room = 0;
    *len = 0;
    do {
        room += 1 << 16;
        char *grown = room > FILE_MAX ? NULL : realloc(text, room + 1);
        if (!grown) {
            free(text);
            errno = room > FILE_MAX ? EFBIG : ENOMEM;
            return NULL;
        }
        text = grown;
        *len += fread(text + *len, 1, room - *len, file);
    } while (*len == room);
    text[*len] = 0;
    if (!ferror(file))
        return text;
    free(text);
    errno = errno ? errno : EIO;
    return NULL;
}

/* Editors of Windows begin a text in UTF-8 with it. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

int reader_file(struct reader *r, const char *option, const char *name, const char **text)
{
    if (r->files == FILES_MAX)
        return reader_refuse(r, "'%s %s': files name files that name files; stop at %d", option,
                             name, FILES_MAX);
    FILE *file = fopen(name, "re");
    errno = file ? 0 : errno;
    size_t len = 0;
    char *all = file ? read_all(file, &len) : NULL;
    int error = errno;
    if (file)
        fclose(file);
    if (!all)
        return reader_refuse(r, "'%s %s': cannot read it: %s; name another file", option, name,
                             strerror(error));
    if (strlen(all) != len) {
        free(all);
        return reader_refuse(r,
                             "'%s %s': this is no text, as it has bytes that are 0; a file in UTF-16 "
                             "has to be saved as UTF-8",
                             option, name);
    }
    *text = strncmp(all, byte_order_mark, strlen(byte_order_mark)) ? all
                                                                   : all + strlen(byte_order_mark);
    return reader_push(&r->o->words, all);
}

/* Put value in place of the "%" of a word, if it has one. */
static int put_value(struct reader *r, const char *value, char **word)
{
    char *text, *percent = strchr(*word, '%');
    if (!percent || !value)
        return 0;
    if (asprintf(&text, "%.*s%s%s", (int)(percent - *word), *word, value, percent + 1) < 0)
        return -ENOMEM;
    *word = text;
    return reader_push(&r->o->words, text);
}

int reader_words(struct reader *r, const char *format, const char *value)
{
    char *text = strdup(format), *argv[WORDS_MAX], *rest = text;
    int rc = reader_push(&r->o->words, text), argc = 0;
    for (char *word; !rc && argc < WORDS_MAX && (word = strsep(&rest, " ")); argc++) {
        argv[argc] = word;
        rc = put_value(r, value, &argv[argc]);
    }
    if (rc)
        return rc;
    struct reader outer = *r;
    r->argv = argv;
    r->argc = argc;
    r->at = 0;
    while (!rc && r->at < r->argc)
        rc = r->read(r);
    r->argv = outer.argv;
    r->argc = outer.argc;
    r->at = outer.at;
    return rc;
}
