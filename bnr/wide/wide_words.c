/* SPDX-License-Identifier: BSD-3-Clause */

/* What daemons tell of their ranks; see wide_words.h. */
#include "bnr/wide/wide_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/stream/stream.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wire/launch_message.h"
#include "bnr/wire/name_message.h"

static void keep_text(char **to, const struct record *r)
{
    free(*to);
    *to = strndup((const char *)r->at, r->len);
}

/* Keep a list of numbers, and nothing else. */
static void keep_list(char **to, const struct record *r)
{
    keep_text(to, r);
    if (*to)
        (*to)[strspn(*to, "0123456789,-")] = 0;
}

static void take_number(struct wide *w, const struct record *r)
{
    struct unpacking u = {.at = r->at, .left = r->len};
    uint32_t number = unpack_u32(&u);
    char why[512];
    if (u.failed)
        return;
    if (r->kind == RECORD_STARTED) {
        w->told[r->rank].pid = (int)number;
        w->hooks.started(w->hooks.arg, (int)r->rank, (int)number);
        return;
    }
    if (r->kind == RECORD_TOLERANT) {
        w->nodes[w->plan.node_of[r->rank]].is_tolerant = number != 0;
        return;
    }
    if (r->kind == RECORD_MISSED) {
        if (number < w->plan.ranks)
            w->hooks.missed(w->hooks.arg, (int)number);
        return;
    }
    snprintf(why, sizeof(why), "%.*s", (int)(u.left < 500 ? u.left : 500), (const char *)u.at);
    w->hooks.failed(w->hooks.arg, (int)r->rank, (int)number, why);
}

/* A daemon's words for people: lines of text, and nothing else. */
static void take_text(struct wide *w, const struct record *r)
{
    static const char own[] = "mpiexec: "; /* say() puts it before each line */
    char *text = strndup((const char *)r->at, r->len), *rest = text, *line;
    for (char *c = text; c && *c; c++)
        if (*c != '\n' && (*c < ' ' || *c > '~'))
            *c = '?';
    while ((line = strsep(&rest, "\n")))
        if (*line)
            w->hooks.say(w->hooks.arg,
                         line + (strncmp(line, own, sizeof(own) - 1) ? 0 : sizeof(own) - 1));
    free(text);
}

static void take_name(struct wide *w, const struct wide_node *n, const struct record *r)
{
    struct name_answer answer;
    if (!name_answer_unpack((struct unpacking){r->at, r->len, false}, &answer))
        w->hooks.name(w->hooks.arg, n->node, &answer);
    name_answer_fini(&answer);
}

static void take_record(struct wide *w, const struct wide_node *n, const struct record *r)
{
    if (r->rank >= w->plan.ranks || w->plan.node_of[r->rank] != n->node)
        return;
    switch (r->kind) {
    case RECORD_STARTED:
    case RECORD_FAILED:
    case RECORD_TOLERANT:
    case RECORD_MISSED: take_number(w, r); break;
    case RECORD_REPORT: keep_text(&w->told[r->rank].report, r); break;
    case RECORD_CPUS: keep_list(&w->told[r->rank].cpus, r); break;
    case RECORD_ANSWER:
        w->hooks.answer(w->hooks.arg, (int)r->rank, (struct unpacking){r->at, r->len, false});
        break;
    case RECORD_NAME: take_name(w, n, r); break;
    case RECORD_ABORT: keep_text(&w->told[r->rank].abort, r); break;
    case RECORD_TEXT: take_text(w, r); break;
    case RECORD_DEBUGGED: w->told[r->rank].is_debugged = true; break;
    default: break;
    }
}

void wide_words_take(struct wide *w, const struct core_message *message)
{
    struct wide_node *n = &w->nodes[message->origin];
    struct stream_in *in = &w->words[message->origin];
    struct unpacking u = unpack_begin(message->data);
    struct effects effects = {0};
    struct record r;
    bool is_next = !stream_in_take(in, message);
    struct core_message credit = stream_in_credit(in, message, in->taken);
    effects_add(&effects, EFFECT_SEND, credit.to, &credit);
    mesh_route(w->mesh, &effects);
    effects_fini(&effects);
    while (is_next && record_next(&u, &r))
        take_record(w, n, &r);
}

int wide_pid(const struct wide *w, int rank)
{
    return w->told[rank].pid;
}

const char *wide_cpus(const struct wide *w, int rank)
{
    return w->told[rank].cpus;
}

const char *wide_report(const struct wide *w, int rank)
{
    return w->told[rank].report;
}

const char *wide_abort(const struct wide *w, int rank)
{
    return w->told[rank].abort ? w->told[rank].abort : "";
}

bool wide_some_tolerate(const struct wide *w)
{
    bool some = false;
    for (uint32_t i = 0; i < w->plan.count; i++)
        some |= w->nodes[i].is_tolerant;
    return some;
}

bool wide_is_debugged(const struct wide *w, int rank)
{
    return w->told[rank].is_debugged;
}

int wide_words_begin(struct wide *w)
{
    w->told = calloc(w->plan.ranks, sizeof(*w->told));
    w->words = calloc(w->plan.count, sizeof(*w->words));
    return w->told && w->words ? 0 : -ENOMEM;
}

void wide_words_free(struct wide *w)
{
    for (uint32_t r = 0; w->told && r < w->plan.ranks; r++) {
        free(w->told[r].report);
        free(w->told[r].abort);
        free(w->told[r].cpus);
    }
    free(w->told);
    free(w->words);
}
