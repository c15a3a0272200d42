/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that a datatype describes; see type_stretch.h. */
#include "mpi/type/type_stretch.h"

#include "mpi/type/type_runs.h"

struct gather {
    struct stretch *to;
    int most, count;
    uint64_t at;
    int64_t step; /* of the last stretch, which may lead downwards */
};

/* Have the last stretch lead upwards. */
static void settle(struct gather *g)
{
    struct stretch *last = g->count ? &g->to[g->count - 1] : NULL;
    if (last && g->step < 0) {
        last->at -= (last->count - 1) * (uint64_t)-g->step;
        last->step = (uint64_t)-g->step;
    }
    g->step = 0;
}

static int add(void *arg, int64_t offset, int64_t len)
{
    struct gather *g = arg;
    struct stretch *last = g->count ? &g->to[g->count - 1] : NULL;
    uint64_t at = g->at + (uint64_t)offset;
    if (last && last->len == (uint64_t)len) {
        int64_t step = (int64_t)(at - last->at);
        if (last->count == 1 && (step >= len || step <= -len)) {
            g->step = step;
            last->step = (uint64_t)(step < 0 ? -step : step);
            last->count = 2;
            return 0;
        }
        if (last->count > 1 && step == g->step * (int64_t)last->count) {
            last->count++;
            return 0;
        }
    }
    settle(g);
    if (g->count == g->most)
        return 1;
    g->to[g->count++] = (struct stretch){at, (uint64_t)len, (uint64_t)len, 1};
    return 0;
}

int type_stretches(const struct type *type, MPI_Count count, uint64_t at, struct stretch *to,
                   int most)
{
    struct gather g = {.to = to, .most = most, .at = at};
    if (type->size && count)
        (void)type_runs(type, count, add, &g);
    settle(&g);
    return g.count;
}

/* Whether a piece of s meets len bytes at an address: the first of them that both have. */
static bool piece_meets(const struct stretch *s, uint64_t at, uint64_t len, uint64_t *first,
                        uint64_t *both)
{
    uint64_t i = at < s->at + s->len ? 0 : s->count == 1 ? 1 : (at - s->at - s->len) / s->step + 1;
    if (i >= s->count || s->at + i * s->step >= at + len)
        return false;
    uint64_t piece = s->at + i * s->step, end = piece + s->len < at + len ? piece + s->len : at + len;
    *first = piece > at ? piece : at;
    *both = end - *first;
    return true;
}

bool stretch_meets(const struct stretch *a, const struct stretch *b, uint64_t *at, uint64_t *len)
{
    const struct stretch *few = a->count < b->count ? a : b, *other = few == a ? b : a;
    if (stretch_end(a) <= b->at || stretch_end(b) <= a->at)
        return false;
    for (uint64_t i = 0; i < few->count; i++)
        if (piece_meets(other, few->at + i * few->step, few->len, at, len))
            return true;
    return false;
}

bool stretch_covers(const struct stretch *outer, const struct stretch *inner)
{
    if (outer->count == 1)
        return inner->at >= outer->at && stretch_end(inner) <= stretch_end(outer);
    return outer->at == inner->at && outer->len == inner->len && outer->step == inner->step &&
           outer->count == inner->count;
}

bool stretch_grow(struct stretch *to, const struct stretch *more)
{
    if (stretch_covers(to, more))
        return true;
    if (to->count == 1 && more->count == 1 && more->at <= to->at + to->len &&
        to->at <= more->at + more->len) {
        uint64_t end = stretch_end(to) > stretch_end(more) ? stretch_end(to) : stretch_end(more);
        to->at = to->at < more->at ? to->at : more->at;
        to->len = end - to->at;
        return true;
    }
    return false;
}
