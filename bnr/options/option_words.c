/* SPDX-License-Identifier: BSD-3-Clause */

/* Options whose value is a list of words that stand for other options: --display, --rtos; and lists
 * of signals. Words come in any case, and may be cut short as long as only one begins so. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bnr/options/option_reader.h"

struct meaning {
    const char *word;
    const char *words; /* options, with "%" for the word's value; NULL: nothing; "!WHY": refused;
                        * "?WHY": refused if the word is off, otherwise nothing */
};

static const struct meaning of_display[] = {
    {"allocation", "--display-map"},   {"bind", "--report-bindings"},
    {"bindings", "--report-bindings"}, {"map", "--display-map"},
    {"map-devel", "--display-map"},    {"topo", "--display-topo"},
    {"cpus", "--display-topo"},        {"comm", "--report"},
};

static const struct meaning of_runtime[] = {
    {"error-nonzero-status", "?--continuous lets the other ranks go on, whatever becomes of one"},
    {"donotlaunch", "--do-not-launch"},
    {"donotspawn", "--do-not-launch"},
    {"show-progress", "--progress"},
    {"notifyerrors", NULL},
    {"recoverable", "--enable-recovery"},
    {"autorestart",
     "!a process that is started anew cannot take its rank's place in a job whose other ranks go on"},
    {"continuous", "--continuous"},
    {"max-restarts", "--max-restarts %"},
    {"exec-agent", "--exec-agent %"},
    {"default-exec-agent", NULL},
    {"output-proctable", "--output-proctable=%"},
    {"stop-on-exec", "--stop-on-exec"},
    {"stop-in-init", "--stop-in-init"},
    {"stop-in-app", "--stop-in-app"},
    {"timeout", "--timeout %"},
    {"spawn-timeout", NULL},
    {"report-state-on-timeout", NULL},
    {"get-stack-traces", NULL},
    {"report-child-jobs-separately", NULL},
    {"aggregate-help-messages", NULL},
    {"fwd-environment", "?-genvnone passes no variable on"},
};

/* The row of a word of len bytes: its own, or the only one that begins so. */
static const struct meaning *find(const struct meaning *rows, size_t count, const char *word,
                                  size_t len)
{
    const struct meaning *found = NULL;
    int starts = 0;
    for (size_t i = 0; i < count; i++) {
        if (!len || strncasecmp(rows[i].word, word, len))
            continue;
        if (!rows[i].word[len])
            return &rows[i];
        found = &rows[i];
        starts++;
    }
    return starts == 1 ? found : NULL;
}

/* A word is said to be off: WORD=0, WORD=false. */
static bool is_off(const char *value)
{
    return !strcasecmp(value, "0") || !strcasecmp(value, "false") || !strcasecmp(value, "no") ||
           !strcasecmp(value, "f") || !strcasecmp(value, "n") || !strcasecmp(value, "disable");
}

static int take(struct reader *r, const char *option, const struct meaning *row, const char *value)
{
    bool is_refused_off = row->words && *row->words == '?';
    if (is_refused_off && is_off(value))
        return reader_refuse(r, "'%s %s=%s' has no like here; %s", option, row->word, value,
                             row->words + 1);
    if (!row->words || is_refused_off || is_off(value))
        return 0;
    if (*row->words == '!')
        return reader_refuse(r, "'%s %s': %s; leave it out", option, row->word, row->words + 1);
    if (strchr(row->words, '%') && !*value)
        value = "-";
    return reader_words(r, row->words, value);
}

/* Say which words there are. */
static int refuse_word(struct reader *r, const char *option, const struct meaning *rows,
                       size_t count, const char *word, int len)
{
    char known[640] = "";
    for (size_t i = 0, at = 0; i < count && at < sizeof(known); i++)
        at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", rows[i].word);
    return reader_refuse(r, "'%s' knows no word '%.*s'; it knows %s", option, len, word, known);
}

static int take_all(struct reader *r, const char *option, const char *text,
                    const struct meaning *rows, size_t count)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ","), word = strcspn(at, ",=:");
        const struct meaning *row = find(rows, count, at, word);
        if (!row)
            return refuse_word(r, option, rows, count, at, (int)word);
        char *value = at[word] == '=' ? strndup(at + word + 1, len - word - 1) : strdup("");
        int rc = reader_push(&r->o->words, value);
        if (!rc)
            rc = take(r, option, row, value);
        at += len;
        if (rc || !*at)
            return rc;
    }
}

int option_words_display(struct reader *r, const char *option, const char *text)
{
    return take_all(r, option, text, of_display, sizeof(of_display) / sizeof(of_display[0]));
}

int option_words_runtime(struct reader *r, const char *option, const char *text)
{
    return take_all(r, option, text, of_runtime, sizeof(of_runtime) / sizeof(of_runtime[0]));
}

/* Signals that reach the ranks anyway may be named. */
int option_words_signals(struct reader *r, const char *option, const char *text)
{
    static const char forwarded[] =
        "INT TERM HUP TSTP CONT USR1 USR2 SIGINT SIGTERM SIGHUP SIGTSTP "
        "SIGCONT SIGUSR1 SIGUSR2 2 15 1 20 18 10 12";
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (!reader_is_word(forwarded, at, len))
            return reader_refuse(r,
                                 "'%s %.*s': the signals that reach the ranks are INT, TERM, HUP, "
                                 "TSTP, CONT, USR1 and USR2",
                                 option, (int)len, at);
        at += len;
        if (!*at)
            return 0;
    }
}

/* Accept "no" alone. */
int option_words_off(struct reader *r, const char *option, const char *text)
{
    if (is_off(text) || !strcasecmp(text, "none") || !strcasecmp(text, "auto"))
        return 0;
    return reader_refuse(r, "'%s %s': mpiexec has no such thing; say 0 or none, or leave it out",
                         option, text);
}
