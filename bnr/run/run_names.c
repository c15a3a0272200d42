/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of ranks; see run_names.h. */
#include "bnr/run/run_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/host/names.h"
#include "bnr/host/order.h"
#include "bnr/run/run_orders.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_orders.h"

/* A name that a rank has published. */
struct run_name {
    struct run_name *next;
    int rank;
    char *name;
};

/* A call that daemons have yet to answer. */
struct run_name_call {
    struct run_name_call *next;
    uint32_t number, id; /* id: the rank's */
    int rank;
    enum name_task call;
    char *name;
    int status;         /* so far: 0 or -errno */
    char where[256];  /* the host of the first failure to publish */
    uint32_t waiting; /* how many will answer ... */
    bool waits[];     /* ... by node */
};

struct run_names {
    struct run_name *first;
    struct run_name_call *calls; /* that wait for answers of daemons */
    uint32_t number;             /* of the last such call */
};

static bool note_name(struct run *run, int rank, const char *name)
{
    struct run_name *n = calloc(1, sizeof(*n));
    if (!n || !(n->name = strdup(name))) {
        free(n);
        return false;
    }
    n->rank = rank;
    n->next = run->names->first;
    run->names->first = n;
    return true;
}

/* Pass a call to the daemons; number 0: nobody waits for their answers. */
static void pass_on(struct run *run, enum name_task call, uint32_t number, char *const words[2])
{
    if (run->wide)
        wide_ask_name(run->wide, &(struct name_ask){number, call, words[0], words[1]});
}

/* Forget a name, which *at leads to. */
static void forget(struct run_name **at)
{
    struct run_name *n = *at;
    *at = n->next;
    free(n->name);
    free(n);
}

/* Take names back: this one (NULL: any) of this rank (-1: any). */
static void drop_names(struct run *run, int rank, const char *name)
{
    for (struct run_name **at = &run->names->first; *at;) {
        struct run_name *n = *at;
        if ((rank >= 0 && n->rank != rank) || (name && strcmp(n->name, name) != 0)) {
            at = &n->next;
            continue;
        }
        (void)names_unpublish(n->name);
        pass_on(run, NAME_UNPUBLISH, 0, (char *const[]){n->name, ""});
        forget(at);
    }
}

/* A rank has taken this one back. */
static void forget_name(struct run *run, const char *name)
{
    struct run_name **at = &run->names->first;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    if (*at)
        forget(at);
}

/* ---- calls ---- */

static void free_call(struct run *run, struct run_name_call *c)
{
    struct run_name_call **at = &run->names->calls;
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    free(c->name);
    free(c);
}

/* Tell the rank, and forget the call. A name that cannot be published on all hosts is published on none. */
static void end_call(struct run *run, struct run_name_call *c, const char *found)
{
    if (c->call == NAME_PUBLISH && c->status)
        drop_names(run, c->rank, c->name);
    run_orders_answer(run, c->rank, c->id, c->status, found);
    free_call(run, c);
}

/* Ask all daemons. Returns false: none will answer, or there is no memory. */
static bool ask(struct run *run, int rank, struct run_name_call begun, char *const words[2])
{
    uint32_t count = run->wide ? wide_count(run->wide) : 0;
    struct run_name_call *c = count ? calloc(1, sizeof(*c) + count * sizeof(c->waits[0])) : NULL;
    if (!c)
        return false;
    *c = begun;
    c->rank = rank;
    c->name = strdup(words[0]);
    for (uint32_t i = 0; i < count; i++)
        c->waiting += c->waits[i] = wide_answers(run->wide, i);
    if (!c->name || !c->waiting) {
        free_call(run, c);
        return false;
    }
    c->number = ++run->names->number ? run->names->number : ++run->names->number;
    c->next = run->names->calls;
    run->names->calls = c;
    pass_on(run, c->call, c->number, words);
    return true;
}

void run_names_take(struct run *run, int rank, const struct run_named *order)
{
    static const enum name_task calls[] = {
        [ORDER_PUBLISH] = NAME_PUBLISH, [ORDER_UNPUBLISH] = NAME_UNPUBLISH, [ORDER_LOOKUP] = NAME_FIND};
    char found[NAMES_MAX + 1] = "", **words = order->words;
    struct run_name_call begun = {.id = order->id, .call = calls[order->kind]};
    bool is_good = words && words[0] && words[1] && strlen(words[0]) <= NAMES_MAX && strlen(words[1]) <= NAMES_MAX;
    int rc = is_good ? names_call(begun.call, words[0], words[1], found) : -EINVAL;
    if (!rc && begun.call == NAME_PUBLISH && !note_name(run, rank, words[0])) {
        (void)names_unpublish(words[0]);
        rc = -ENOMEM;
    }
    if (!rc && begun.call == NAME_UNPUBLISH)
        forget_name(run, words[0]);
    begun.status = rc;
    bool is_settled = begun.call == NAME_FIND ? !rc || !is_good : rc != 0;
    if (!is_settled && ask(run, rank, begun, words))
        return;
    run_orders_answer(run, rank, order->id, rc, found);
}

/* A node has answered, or will not: error is 0 then. */
static void take(struct run *run, struct run_name_call *c, uint32_t node, const struct name_answer *answer)
{
    if (!c->waits[node])
        return;
    c->waits[node] = false;
    c->waiting--;
    if (answer && c->call == NAME_FIND && !answer->error) {
        c->status = 0;
        end_call(run, c, answer->text);
        return;
    }
    if (answer && c->call == NAME_PUBLISH && !c->status && answer->error) {
        c->status = -(int)answer->error;
        snprintf(c->where, sizeof(c->where), "%s", answer->text);
    }
    if (!c->waiting)
        end_call(run, c, c->where);
}

void run_names_answer(void *arg, uint32_t node, const struct name_answer *answer)
{
    struct run *run = arg;
    struct run_name_call *c = run->names->calls;
    while (c && c->number != answer->number)
        c = c->next;
    if (c)
        take(run, c, node, answer);
}

void run_names_lost(struct run *run, uint32_t node)
{
    for (struct run_name_call *c = run->names->calls, *next; c; c = next) {
        next = c->next;
        take(run, c, node, NULL);
    }
}

void run_names_rank_ended(struct run *run, int rank)
{
    drop_names(run, rank, NULL);
}

int run_names_begin(struct run *run)
{
    run->names = calloc(1, sizeof(*run->names));
    return run->names ? 0 : -ENOMEM;
}

void run_names_stop(struct run *run)
{
    drop_names(run, -1, NULL);
    while (run->names->calls)
        free_call(run, run->names->calls);
    free(run->names);
    run->names = NULL;
}
