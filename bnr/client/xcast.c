/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages to many, at a process that takes them; see xcast.h. */
#include "bnr/client/xcast.h"

#include <stdlib.h>
#include <string.h>

#include "bnr/host/mail.h"
#include "os/be.h"

enum {
    HEAD_LEN = 8, /* from and tag, before the data */
    NO_RANK = -1  /* from: of mpiexec itself; with tag 0 some letters are missing here, their number is the data */
};

struct xcast_handler {
    struct xcast_handler *next;
    int tag;
    unsigned told; /* the last round of missing letters that it was told */
    BNR_Xcast_fn fn;
    void *arg;
};

struct xcast_letter {
    struct xcast_letter *next;
    int from, tag;
    size_t len;
    uint8_t data[];
};

static struct xcast_handler **find(struct xcasts *x, int tag)
{
    struct xcast_handler **at = &x->first;
    while (*at && (*at)->tag != tag)
        at = &(*at)->next;
    return at;
}

int xcasts_register(struct xcasts *x, int tag, BNR_Xcast_fn fn, void *arg)
{
    struct xcast_handler **at = find(x, tag), *old = *at;
    if (!fn) {
        if (!old)
            return BNR_ERR_NOT_FOUND;
        *at = old->next;
        free(old);
        return BNR_SUCCESS;
    }
    if (x->is_broken)
        return BNR_ERR_PROTO;
    if (old)
        return BNR_ERR_EXISTS;
    struct xcast_handler *handler = malloc(sizeof(*handler));
    if (!handler)
        return BNR_ERR_NOMEM;
    *handler = (struct xcast_handler){NULL, tag, x->missing, fn, arg};
    *at = handler;
    x->is_new = true;
    return BNR_SUCCESS;
}

/* ---- letters that wait for a handler ---- */

static struct xcast_letter *unlink_held(struct xcasts *x, struct xcast_letter **at)
{
    struct xcast_letter *letter = *at;
    *at = letter->next;
    if (x->held_end == &letter->next)
        x->held_end = at;
    x->held_count--;
    return letter;
}

static void hold(struct xcasts *x, struct xcast_letter *letter)
{
    if (!x->held)
        x->held_end = &x->held;
    if (x->held_count == XCASTS_HELD_MAX)
        free(unlink_held(x, &x->held));
    letter->next = NULL;
    *x->held_end = letter;
    x->held_end = &letter->next;
    x->held_count++;
}

int xcasts_put(struct xcasts *x, int from, const struct backend_letter *letter)
{
    struct xcast_letter *copy = malloc(sizeof(*copy) + letter->len);
    if (!copy)
        return BNR_ERR_NOMEM;
    copy->from = from;
    copy->tag = letter->tag;
    copy->len = letter->len;
    if (letter->len)
        memcpy(copy->data, letter->data, letter->len);
    hold(x, copy);
    x->is_new = true;
    return BNR_SUCCESS;
}

/* ---- handing over ---- */

static struct xcast_handler *first_untold(const struct xcasts *x)
{
    struct xcast_handler *h = x->first;
    while (h && h->told == x->missing)
        h = h->next;
    return h;
}

/* All handlers are told that letters are missing. Each may add and remove others. */
static int tell_missing(struct xcasts *x, const struct xcast_letter *letter, BNR_Group g)
{
    int run = 0;
    size_t count = letter->len == 4 ? os_be32_get(letter->data) : 0;
    struct xcast_handler *h;
    for (x->missing++; (h = first_untold(x)); run++) {
        h->told = x->missing;
        h->fn(g, BNR_RANK_ANY, h->tag, NULL, count, h->arg);
    }
    return run;
}

static int hand_over(struct xcasts *x, struct xcast_letter *letter, BNR_Group g)
{
    struct xcast_handler *handler = *find(x, letter->tag);
    int run = 1;
    if (letter->from == NO_RANK && !letter->tag) {
        run = tell_missing(x, letter, g);
    } else if (!handler) {
        hold(x, letter);
        return 0;
    } else {
        handler->fn(g, letter->from, letter->tag, letter->data, letter->len, handler->arg);
    }
    free(letter);
    return run;
}

static int hand_over_held(struct xcasts *x, BNR_Group g)
{
    int run = 0;
    x->is_new = false;
    for (struct xcast_letter **at = &x->held; *at;) {
        if (!*find(x, (*at)->tag)) {
            at = &(*at)->next;
            continue;
        }
        run += hand_over(x, unlink_held(x, at), g);
        at = &x->held; /* the handler may have changed the list */
    }
    return run;
}

/* ---- reading ---- */

/* Read until len bytes are there. Returns whether they are. */
static bool fill(struct xcasts *x, struct backend *b, uint8_t *at, size_t *got, size_t len)
{
    long n = *got < len ? b->ops->hear(b, at + *got, len - *got) : 0;
    x->is_broken |= n < 0;
    if (n > 0) {
        *got += (size_t)n;
        x->heard += (uint64_t)n;
    }
    return !x->is_broken && *got == len;
}

/* The next letter, once it is there as a whole. */
static struct xcast_letter *read_letter(struct xcasts *x, struct backend *b)
{
    if (x->is_broken || !fill(x, b, x->head, &x->head_len, sizeof(x->head)))
        return NULL;
    if (!x->coming) {
        uint32_t len = os_be32_get(x->head);
        x->is_broken = len < HEAD_LEN || len > HEAD_LEN + BNR_MAX_XCAST;
        x->coming = x->is_broken ? NULL : malloc(sizeof(*x->coming) + len - HEAD_LEN);
        if (!x->coming)
            return NULL; /* without memory, it is tried again */
        x->coming->from = (int)os_be32_get(x->head + 4);
        x->coming->tag = (int)os_be32_get(x->head + 8);
        x->coming->len = len - HEAD_LEN;
        x->got = 0;
    }
    if (!fill(x, b, x->coming->data, &x->got, x->coming->len))
        return NULL;
    struct xcast_letter *letter = x->coming;
    x->coming = NULL;
    x->head_len = 0;
    x->is_broken = letter->from != NO_RANK && (letter->from < 0 || letter->from >= b->size);
    return letter;
}

int xcasts_deliver(struct xcasts *x, struct backend *b, BNR_Group g)
{
    struct xcast_letter *letter;
    int run = 0;
    if (x->is_running)
        return 0;
    x->is_running = true;
    for (;;) {
        if (x->is_new) /* a handler of the last letter may have registered another */
            run += hand_over_held(x, g);
        if (!x->first || !(letter = read_letter(x, b)))
            break;
        run += hand_over(x, letter, g);
    }
    x->is_running = false;
    return run;
}

void xcasts_clear(struct xcasts *x)
{
    while (x->first)
        (void)xcasts_register(x, x->first->tag, NULL, NULL);
    while (x->held)
        free(unlink_held(x, &x->held));
}
