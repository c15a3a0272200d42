/* SPDX-License-Identifier: BSD-3-Clause */

/* Commands that start daemons; see remote.h. */
#include "bnr/launch/remote.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "os/file.h"

enum {
    WORDS_MAX = 64
};

/* Words that are put together in one block of memory: pointers in front, text behind. */
struct remote_list {
    char *at[WORDS_MAX + 1];
    int count;
    bool failed;
};

static void add(struct remote_list *w, char *text)
{
    if (!text || w->count == WORDS_MAX) {
        w->failed = true;
        free(text);
        return;
    }
    w->at[w->count++] = text;
}

static void add_copy(struct remote_list *w, const char *text)
{
    add(w, strdup(text));
}

/* Add a word of the user's command, with the host and the user in their places. */
static void add_filled(struct remote_list *w, const char *word, size_t len, const char *host,
                       const char *user)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (size_t i = 0; to && i < len; i++) {
        const char *put = NULL;
        if (word[i] == '%' && i + 1 < len)
            put = word[i + 1] == 'h' ? host : word[i + 1] == 'u' ? (user ? user : "") : NULL;
        if (put) {
            fputs(put, to);
            i++;
        } else {
            fputc(word[i], to);
        }
    }
    if (!to || fclose(to))
        w->failed = true;
    add(w, text);
}

/* A word of the user's command from *at on, which moves behind it. Blanks part words; quotes of either
 * kind keep one together. Returns false at the end: a NUL with all quotes closed. */
static bool next_word(const char **at, const char **word, size_t *len)
{
    *at += strspn(*at, " \t");
    char quote = **at == '"' || **at == '\'' ? **at : 0;
    *word = *at + (quote != 0);
    *len = quote ? strcspn(*word, quote == '"' ? "\"" : "'") : strcspn(*word, " \t");
    if (!**at || (quote && !(*word)[*len]))
        return false;
    *at = *word + *len + (quote != 0);
    return true;
}

bool remote_is_closed(const char *command)
{
    const char *word;
    size_t len;
    while (next_word(&command, &word, &len))
        ;
    return !*command;
}

/* Whether the first word is an ssh, which has ssh's options. */
static bool is_ssh(const char *command)
{
    const char *word, *name;
    size_t len;
    if (!next_word(&command, &word, &len))
        return false;
    const char *slash = memrchr(word, '/', len);
    name = slash ? slash + 1 : word;
    return len - (size_t)(name - word) == 3 && !memcmp(name, "ssh", 3);
}

static void add_program(struct remote_list *w, const struct remote *r)
{
    add_copy(w, r->daemon);
    for (int i = 0; i < REMOTE_ARGUMENTS && r->argument[i]; i++)
        add_copy(w, r->argument[i]);
}

/* The user's command, and the program. */
static void add_command(struct remote_list *w, const struct remote *r, const char *host, const char *user)
{
    const char *at = r->command, *word;
    bool has_program = false;
    size_t len;
    while (next_word(&at, &word, &len)) {
        bool is_program = len == 2 && !memcmp(word, "%c", 2);
        if (is_program)
            add_program(w, r);
        else
            add_filled(w, word, len, host, user);
        has_program |= is_program;
    }
    if (!has_program)
        add_program(w, r);
}

/* Add words in which nothing stands for a host. */
static void add_words(struct remote_list *w, const char *at)
{
    const char *word;
    size_t len;
    while (at && next_word(&at, &word, &len))
        add(w, strndup(word, len));
}

/* What the remote shell reads: the path in quotes. */
static char *quote(const struct remote *r)
{
    const char *path = r->daemon;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    fputs("exec '", to);
    for (; *path; path++)
        if (*path == '\'')
            fputs("'\\''", to);
        else
            fputc(*path, to);
    fputc('\'', to);
    for (int i = 0; i < REMOTE_ARGUMENTS && r->argument[i]; i++)
        fprintf(to, " %s", r->argument[i]);
    return fclose(to) ? NULL : text;
}

static void add_ssh(struct remote_list *w, const struct remote *r, const char *host, const char *user)
{
    static const char *const options[] = {"-x", "-T", "-o", "ConnectTimeout=15", "-o", "BatchMode=yes"};
    size_t count = sizeof(options) / sizeof(options[0]) - (r->may_ask || r->has_terminal ? 2 : 0);
    bool is_plain = r->agent && !is_ssh(r->agent);
    if (r->program)
        add_copy(w, r->program);
    else
        add_words(w, r->agent ? r->agent : "ssh");
    for (size_t i = 0; !is_plain && i < count; i++)
        add_copy(w, i == 1 && r->has_terminal ? "-t" : options[i]);
    add_words(w, r->more);
    if (user) {
        add_copy(w, "-l");
        add_copy(w, user);
    }
    if (!is_plain)
        add_copy(w, "--");
    add_copy(w, host);
    add(w, quote(r));
}

static void add_srun(struct remote_list *w, const struct remote *r, const char *host)
{
    static const char *const first[] = {"srun",       "--overlap", "-N1", "-n1",
                                        "--mpi=none", "--quiet",   "-w"};
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        add_copy(w, !i && r->program ? r->program : first[i]);
    add_copy(w, host);
    add_words(w, r->more);
    if (r->has_terminal)
        add_copy(w, "--pty");
    add_program(w, r);
}

char **remote_words(const struct remote *r, const char *host, const char *user)
{
    struct remote_list w = {0};
    size_t size = 0;
    if (r->kind == REMOTE_SSH) {
        add_ssh(&w, r, host, user);
    } else if (r->kind == REMOTE_SRUN) {
        add_srun(&w, r, host);
    } else {
        add_command(&w, r, host, user);
    }
    for (int i = 0; i < w.count; i++)
        size += strlen(w.at[i]) + 1;
    char **all = w.failed ? NULL : malloc(((size_t)w.count + 1) * sizeof(*all) + size);
    char *text = all ? (char *)(all + w.count + 1) : NULL;
    for (int i = 0; i < w.count; i++) {
        if (all) {
            all[i] = text;
            text = stpcpy(text, w.at[i]) + 1;
        }
        free(w.at[i]);
    }
    if (all)
        all[w.count] = NULL;
    return all;
}

struct remote_verdict remote_judge(const struct remote *r, int status, const char *text)
{
    static const struct {
        const char *words;
        struct remote_verdict verdict;
    } known[] = {
        {"Could not resolve hostname", {LAUNCHING_RESOLVE, true}},
        {"Permission denied", {LAUNCHING_AUTHENTICATE, true}},
        {"Host key verification failed", {LAUNCHING_AUTHENTICATE, true}},
        {"Too many authentication failures", {LAUNCHING_AUTHENTICATE, true}},
        {"No route to host", {LAUNCHING_CONNECT, true}},
        {"Network is unreachable", {LAUNCHING_CONNECT, true}},
        {"Host is down", {LAUNCHING_CONNECT, true}},
        {"Connection timed out", {LAUNCHING_CONNECT, true}},
        {"Connection refused", {LAUNCHING_CONNECT, true}},
    };
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (r->kind == REMOTE_SSH || (r->kind == REMOTE_COMMAND && code == 255)) /* as ssh ends */
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            if (strstr(text, known[i].words))
                return known[i].verdict;
    if (code == 126 || code == 127)
        return (struct remote_verdict){LAUNCHING_EXECUTE, true};
    if (r->kind == REMOTE_SSH && code == 255)
        return (struct remote_verdict){LAUNCHING_CONNECT, false};
    return (struct remote_verdict){LAUNCHING_EXECUTE, false};
}

char *remote_daemon(const char *prefix)
{
    char near[PATH_MAX], *path = NULL;
    if (prefix)
        return asprintf(&path, "%s/bin/vireod", prefix) < 0 ? NULL : path;
    os_beside(near, "vireod");
    return strdup(near);
}
