/* SPDX-License-Identifier: BSD-3-Clause */

/* Where ranks run; see placement.h. */
#include "bnr/core/place/placement.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A process between its mapping and its rank. */
struct placement_placed {
    uint32_t host, local; /* the how manieth on its host */
    uint32_t order;       /* of mapping */
    uint32_t object;      /* of the kind that ranks are dealt out by */
    uint32_t turn;        /* the how manieth of its object */
    struct placement_rank rank;
};

struct placement_work {
    const struct placement_request *request;
    struct placement *result;
    struct placement_placed *placed;
    uint32_t count;
    uint32_t *shares; /* of each host */
    uint32_t *used;   /* how often each hardware thread of one host is bound to */
    uint32_t *mapped; /* how many are mapped to the object that begins with it */
};

static const struct {
    const char *word;
    enum placement_level level;
} words[] = {{"hwthread", PLACEMENT_HWTHREAD},
             {"core", PLACEMENT_CORE},
             {"l1cache", PLACEMENT_L1},
             {"l1", PLACEMENT_L1},
             {"l1dcache", PLACEMENT_L1},
             {"l1icache", PLACEMENT_L1},
             {"l1ucache", PLACEMENT_L1},
             {"l2cache", PLACEMENT_L2},
             {"l2", PLACEMENT_L2},
             {"l2dcache", PLACEMENT_L2},
             {"l2icache", PLACEMENT_L2},
             {"l2ucache", PLACEMENT_L2},
             {"l3cache", PLACEMENT_L3},
             {"l3", PLACEMENT_L3},
             {"l3dcache", PLACEMENT_L3},
             {"l3icache", PLACEMENT_L3},
             {"l3ucache", PLACEMENT_L3},
             {"l4cache", PLACEMENT_L4},
             {"l4", PLACEMENT_L4},
             {"l5cache", PLACEMENT_L5},
             {"l5", PLACEMENT_L5},
             {"numa", PLACEMENT_NUMA},
             {"package", PLACEMENT_PACKAGE},
             {"socket", PLACEMENT_PACKAGE},
             {"node", PLACEMENT_NODE},
             {"board", PLACEMENT_NODE},
             {"machine", PLACEMENT_NODE},
             {"slot", PLACEMENT_SLOT},
             {"none", PLACEMENT_NONE}};

__attribute__((format(printf, 2, 3))) static int cannot(struct placement *p, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->problem, sizeof(p->problem), format, args);
    va_end(args);
    return -EINVAL;
}

bool placement_word(const char *word, size_t len, enum placement_level *level)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == len && strncasecmp(words[i].word, word, len) == 0) {
            *level = words[i].level;
            return true;
        }
    return false;
}

static const char *word_of(enum placement_level level)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].level == level)
            return words[i].word;
    return "object";
}

/* ---- objects: runs of hardware threads ---- */

struct placement_run {
    uint32_t begin, end;
};

static bool is_same(const struct placement_machine *m, uint32_t a, uint32_t b,
                    enum placement_level level)
{
    return level >= PLACEMENT_NODE || m->cpus[a].object[level] == m->cpus[b].object[level];
}

/* The object around a hardware thread. */
static struct placement_run around(const struct placement_machine *m, uint32_t cpu,
                                   enum placement_level level)
{
    struct placement_run run = {cpu, cpu + 1};
    while (run.begin && is_same(m, run.begin - 1, cpu, level))
        run.begin--;
    while (run.end < m->count && is_same(m, run.end, cpu, level))
        run.end++;
    return run;
}

uint32_t placement_objects(const struct placement_machine *m, enum placement_level level)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i = around(m, i, level).end)
        count++;
    return count;
}

static struct placement_run object_at(const struct placement_machine *m, uint32_t index,
                                      enum placement_level level)
{
    struct placement_run run = around(m, 0, level);
    while (index--)
        run = around(m, run.end, level);
    return run;
}

/* The number of the object around a hardware thread, in the machine's order. */
static uint32_t index_of(const struct placement_machine *m, uint32_t cpu,
                         enum placement_level level)
{
    uint32_t index = 0;
    for (uint32_t i = around(m, 0, level).end; i <= cpu; i = around(m, i, level).end)
        index++;
    return index;
}

/* ---- hosts ---- */

static uint32_t slots_of(const struct placement_work *w, uint32_t host)
{
    const struct placement_host *h = &w->request->hosts[host];
    uint32_t slots = h->slots ? h->slots : placement_objects(h->machine, PLACEMENT_CORE);
    return w->request->ppn ? w->request->ppn : slots;
}

static bool is_full(const struct placement_work *w, uint32_t host)
{
    uint32_t most = w->request->hosts[host].max_slots;
    return most && w->shares[host] >= most;
}

static void put(struct placement_work *w, uint32_t host)
{
    w->placed[w->count] =
        (struct placement_placed){.host = host, .local = w->shares[host]++, .order = w->count};
    w->count++;
}

static int no_room(const struct placement_work *w)
{
    if (!w->request->is_limited)
        return cannot(w->result, "%u ranks: all hosts have their max_slots, %u together",
                      w->request->ranks, w->count);
    return cannot(w->result,
                  "%u ranks, but the hosts have %u slots; leave out nooversubscribe, or "
                  "name more hosts",
                  w->request->ranks, w->count);
}

/* How many processes a host takes at a time. */
static uint32_t step_of(const struct placement_work *w, uint32_t host)
{
    const struct placement_request *r = w->request;
    if (r->map == PLACEMENT_NODE && !r->ppn)
        return 1;
    bool is_in_turn = r->is_spread && r->map < PLACEMENT_NODE;
    return is_in_turn ? placement_objects(r->hosts[host].machine, r->map) : UINT32_MAX;
}

/* In rounds: in each, hosts take so many at a time, in all no more than times their slots. */
static int deal(struct placement_work *w)
{
    for (uint32_t times = 1; w->count < w->request->ranks;) {
        uint32_t before = w->count;
        for (uint32_t i = 0; i < w->request->host_count; i++) {
            uint64_t most = (uint64_t)times * slots_of(w, i);
            uint32_t step = step_of(w, i);
            while (step-- && w->shares[i] < most && !is_full(w, i) && w->count < w->request->ranks)
                put(w, i);
        }
        if (w->count > before && step_of(w, 0) < UINT32_MAX)
            continue; /* once more, until all slots are taken */
        bool is_over = true;
        for (uint32_t i = 0; i < w->request->host_count; i++)
            is_over &= is_full(w, i);
        if (w->count < w->request->ranks && (is_over || w->request->is_limited))
            return no_room(w);
        times++;
    }
    return 0;
}

/* So many on each object of each host. */
static int deal_ppr(struct placement_work *w, uint32_t ranks)
{
    for (uint32_t i = 0; i < w->request->host_count; i++) {
        uint64_t share =
            (uint64_t)placement_objects(w->request->hosts[i].machine, w->request->map) *
            w->request->ppr;
        for (; share && w->count < ranks; share--) {
            if (is_full(w, i))
                return cannot(w->result, "ppr:%u:%s is more than max_slots=%u of host %s",
                              w->request->ppr, word_of(w->request->map),
                              w->request->hosts[i].max_slots, w->request->hosts[i].name);
            put(w, i);
        }
    }
    return 0;
}

static uint64_t ppr_total(const struct placement_request *r)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < r->host_count; i++)
        total += (uint64_t)placement_objects(r->hosts[i].machine, r->map) * r->ppr;
    return total;
}

/* ---- binding ---- */

/* Where on its host a process is mapped to. */
static struct placement_run mapped_to(const struct placement_work *w,
                                      const struct placement_placed *p)
{
    const struct placement_machine *m = w->request->hosts[p->host].machine;
    enum placement_level level = w->request->map;
    if (level >= PLACEMENT_NODE)
        return (struct placement_run){0, m->count};
    uint32_t index =
        w->request->ppr ? p->local / w->request->ppr : p->local % placement_objects(m, level);
    return object_at(m, index, level);
}

static uint32_t most_used(const struct placement_work *w, struct placement_run run)
{
    uint32_t most = 0;
    for (uint32_t i = run.begin; i < run.end; i++)
        if (w->used[i] > most)
            most = w->used[i];
    return most;
}

/* The least used object of a kind inside of a run, the first of them. */
static struct placement_run least_used(const struct placement_work *w,
                                       const struct placement_machine *m,
                                       struct placement_run inside, enum placement_level level)
{
    struct placement_run best = around(m, inside.begin, level);
    for (uint32_t i = best.end; i < inside.end; i = around(m, i, level).end) {
        struct placement_run run = around(m, i, level);
        if (most_used(w, run) < most_used(w, best))
            best = run;
    }
    return best;
}

static int take(struct placement_work *w, struct placement_placed *p, struct placement_run run)
{
    uint32_t count = p->rank.cpu_count + (run.end - run.begin);
    uint32_t *cpus = realloc(p->rank.cpus, count * sizeof(*cpus));
    if (!cpus)
        return -ENOMEM;
    p->rank.cpus = cpus;
    for (uint32_t i = run.begin; i < run.end; i++) {
        cpus[p->rank.cpu_count++] = i;
        w->used[i]++;
    }
    return 0;
}

/* One object for a process, which may be larger than what it is mapped to. */
static int bind_one(struct placement_work *w, struct placement_placed *p,
                    struct placement_run inside)
{
    const struct placement_host *h = &w->request->hosts[p->host];
    enum placement_level level = w->request->bind;
    bool is_small = level <= PLACEMENT_CORE;
    if (w->request->map >= PLACEMENT_NODE && !is_small) {
        uint32_t core = p->local % placement_objects(h->machine, PLACEMENT_CORE);
        inside = object_at(h->machine, core, PLACEMENT_CORE);
    }
    struct placement_run run = least_used(w, h->machine, inside, level);
    if (is_small && most_used(w, run) && !w->request->may_overload)
        return cannot(
            w->result,
            "host %s has too few %ss for its %u ranks, one each, as they are mapped; "
            "bind to something larger, or let them share by --bind-to %s:overload-allowed",
            h->name, word_of(level), w->shares[p->host], word_of(level));
    return take(w, p, run);
}

/* As many cores or hardware threads as pe says, all unused. */
static int bind_many(struct placement_work *w, struct placement_placed *p,
                     struct placement_run inside)
{
    const struct placement_host *h = &w->request->hosts[p->host];
    enum placement_level level =
        w->request->bind == PLACEMENT_HWTHREAD ? PLACEMENT_HWTHREAD : PLACEMENT_CORE;
    uint32_t found = 0;
    int rc = 0;
    for (uint32_t i = inside.begin; !rc && i < inside.end && found < w->request->pe;) {
        struct placement_run run = around(h->machine, i, level);
        i = run.end;
        if (most_used(w, run) && !w->request->may_overload)
            continue;
        rc = take(w, p, run);
        found++;
    }
    if (!rc && found < w->request->pe)
        return cannot(
            w->result,
            "pe=%u: host %s has no %u free %ss left for rank %u of its %u; ask for fewer, "
            "or start fewer",
            w->request->pe, h->name, w->request->pe, word_of(level), p->local, w->shares[p->host]);
    return rc;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* The next so many objects of the machine, in turn; others may have them too. */
static int bind_wide(struct placement_work *w, struct placement_placed *p)
{
    const struct placement_request *r = w->request;
    const struct placement_host *h = &r->hosts[p->host];
    uint32_t all = placement_objects(h->machine, r->bind);
    int rc = 0;
    if (r->width > all)
        return cannot(w->result, "host %s has %u %ss, and each rank is to have %u; ask for fewer",
                      h->name, all, word_of(r->bind), r->width);
    for (uint32_t i = 0; !rc && i < r->width; i++) {
        uint64_t turn = (uint64_t)p->local * r->width + i;
        struct placement_run run = object_at(h->machine, (uint32_t)(turn % all), r->bind);
        if (r->bind <= PLACEMENT_CORE && most_used(w, run) && !r->may_overload)
            return cannot(w->result,
                          "host %s has no %u free %ss left for rank %u of its %u; "
                          "start fewer, or let them share by :overload-allowed",
                          h->name, r->width, word_of(r->bind), p->local, w->shares[p->host]);
        rc = take(w, p, run);
    }
    if (!rc)
        qsort(p->rank.cpus, p->rank.cpu_count, sizeof(*p->rank.cpus), by_number);
    return rc;
}

/* The object that a rank is dealt out by: the one of its binding, real or supposed, or the one
 * around. */
static uint32_t dealt_by(struct placement_work *w, const struct placement_placed *p,
                         struct placement_run inside)
{
    const struct placement_request *r = w->request;
    const struct placement_machine *m = r->hosts[p->host].machine;
    uint32_t before = w->mapped[inside.begin]++;
    if (r->rank_by >= PLACEMENT_NODE)
        return 0;
    if (p->rank.cpu_count && r->bind <= r->rank_by)
        return index_of(m, p->rank.cpus[0], r->rank_by);
    uint32_t first = index_of(m, inside.begin, r->rank_by);
    return first + before % (index_of(m, inside.end - 1, r->rank_by) - first + 1);
}

/* The processes of one host, which stand together. */
static int bind_host(struct placement_work *w, struct placement_placed *first,
                     const struct placement_placed *end)
{
    const struct placement_request *r = w->request;
    const struct placement_machine *m = r->hosts[first->host].machine;
    int rc = 0;
    memset(w->used, 0, m->count * sizeof(*w->used));
    memset(w->mapped, 0, m->count * sizeof(*w->mapped));
    for (struct placement_placed *p = first; !rc && p < end; p++) {
        struct placement_run inside = mapped_to(w, p);
        bool is_bound = r->bind != PLACEMENT_NONE && r->bind != PLACEMENT_NODE;
        if (is_bound)
            rc = r->pe      ? bind_many(w, p, inside)
                 : r->width ? bind_wide(w, p)
                            : bind_one(w, p, inside);
        p->object = rc ? 0 : dealt_by(w, p, inside);
    }
    return rc;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_host(const void *a, const void *b)
{
    const struct placement_placed *p = a, *q = b;
    return p->host != q->host ? compare(p->host, q->host) : compare(p->order, q->order);
}

static int bind_all(struct placement_work *w)
{
    int rc = 0;
    uint32_t most = 1;
    for (uint32_t i = 0; i < w->request->host_count; i++)
        if (w->request->hosts[i].machine->count > most)
            most = w->request->hosts[i].machine->count;
    w->used = malloc(most * sizeof(*w->used));
    w->mapped = malloc(most * sizeof(*w->mapped));
    if (!w->used || !w->mapped)
        return -ENOMEM;
    qsort(w->placed, w->count, sizeof(*w->placed), by_host);
    for (uint32_t i = 0, end; !rc && i < w->count; i = end) {
        for (end = i; end < w->count && w->placed[end].host == w->placed[i].host; end++)
            ;
        rc = bind_host(w, &w->placed[i], &w->placed[end]);
    }
    return rc;
}

/* ---- ranks ---- */

static int by_order(const void *a, const void *b)
{
    const struct placement_placed *p = a, *q = b;
    return compare(p->order, q->order);
}

static int by_object(const void *a, const void *b)
{
    const struct placement_placed *p = a, *q = b;
    return p->host != q->host       ? compare(p->host, q->host)
           : p->object != q->object ? compare(p->object, q->object)
                                    : compare(p->order, q->order);
}

/* On each host: the first of each object, then the second of each, ... */
static int by_turn_on_host(const void *a, const void *b)
{
    const struct placement_placed *p = a, *q = b;
    return p->host != q->host   ? compare(p->host, q->host)
           : p->turn != q->turn ? compare(p->turn, q->turn)
                                : compare(p->object, q->object);
}

/* The first of each object of all hosts, then the second, ... */
static int by_turn(const void *a, const void *b)
{
    const struct placement_placed *p = a, *q = b;
    return p->turn != q->turn   ? compare(p->turn, q->turn)
           : p->host != q->host ? compare(p->host, q->host)
                                : compare(p->object, q->object);
}

static void order_ranks(struct placement_work *w)
{
    const struct placement_request *r = w->request;
    size_t size = sizeof(*w->placed);
    if (r->rank_by == PLACEMENT_SLOT) {
        qsort(w->placed, w->count, size, by_order);
        return;
    }
    qsort(w->placed, w->count, size, by_object);
    if (r->is_filling)
        return;
    for (uint32_t i = 1; i < w->count; i++) {
        struct placement_placed *p = &w->placed[i];
        if (p->host == p[-1].host && p->object == p[-1].object)
            p->turn = p[-1].turn + 1;
    }
    bool is_all = r->is_spanning || r->rank_by == PLACEMENT_NODE;
    qsort(w->placed, w->count, size, is_all ? by_turn : by_turn_on_host);
}

static int give_result(struct placement_work *w)
{
    w->result->ranks = calloc(w->count, sizeof(*w->result->ranks));
    if (!w->result->ranks)
        return -ENOMEM;
    w->result->count = w->count;
    order_ranks(w);
    for (uint32_t i = 0; i < w->count; i++) {
        w->placed[i].rank.host = w->placed[i].host;
        w->result->ranks[i] = w->placed[i].rank;
        w->placed[i].rank.cpus = NULL; /* the result has them */
    }
    return 0;
}

/* ---- all together ---- */

static int check_host(struct placement *p, const struct placement_request *r, uint32_t host)
{
    const struct placement_host *h = &r->hosts[host];
    const enum placement_level levels[] = {r->map, r->rank_by, r->bind};
    if (!h->machine->count)
        return cannot(p, "host %s has no processor that may be used", h->name);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (levels[i] < PLACEMENT_NODE && h->machine->lacks >> levels[i] & 1)
            return cannot(p, "host %s tells of no %s; choose another object, as core or package",
                          h->name, word_of(levels[i]));
    return 0;
}

static int check(struct placement *p, const struct placement_request *r)
{
    if (!r->host_count)
        return cannot(p, "there is no host");
    for (uint32_t i = 0; i < r->host_count; i++) {
        int rc = check_host(p, r, i);
        if (rc)
            return rc;
    }
    if (r->ppr && r->map == PLACEMENT_SLOT)
        return cannot(p, "ppr:%u:slot: name a node, or an object in it", r->ppr);
    if (r->map == PLACEMENT_NONE || r->rank_by == PLACEMENT_NONE || r->bind == PLACEMENT_SLOT)
        return cannot(p, "no such kind of object");
    if (r->pe && (r->bind == PLACEMENT_NONE || r->bind > PLACEMENT_CORE))
        return cannot(p, "pe=%u binds to cores or hwthreads, not to %s", r->pe, word_of(r->bind));
    if (r->pe && r->map <= PLACEMENT_CORE && r->map < r->bind)
        return cannot(p, "pe=%u: mapped by %s there is no room for several", r->pe,
                      word_of(r->map));
    uint64_t ranks = r->ppr ? ppr_total(r) : r->ranks;
    if (!ranks && !r->ranks)
        return cannot(p, "there is no rank to place");
    if (ranks > PLACEMENT_RANKS_MAX || r->ranks > PLACEMENT_RANKS_MAX)
        return cannot(p, "more than %d ranks", PLACEMENT_RANKS_MAX);
    if (r->ranks > ranks)
        return cannot(p, "%u ranks, but ppr:%u:%s makes %u on these hosts", r->ranks, r->ppr,
                      word_of(r->map), (unsigned)ranks);
    return 0;
}

int placement_make(struct placement *p, const struct placement_request *request)
{
    struct placement_work w = {.request = request, .result = p};
    *p = (struct placement){0};
    int rc = check(p, request);
    if (rc)
        return rc;
    uint32_t ranks = request->ranks ? request->ranks : (uint32_t)ppr_total(request);
    w.placed = calloc(ranks, sizeof(*w.placed));
    w.shares = calloc(request->host_count, sizeof(*w.shares));
    rc = w.placed && w.shares ? 0 : -ENOMEM;
    if (!rc)
        rc = request->ppr ? deal_ppr(&w, ranks) : deal(&w);
    if (!rc)
        rc = bind_all(&w);
    if (!rc)
        rc = give_result(&w);
    for (uint32_t i = 0; w.placed && i < w.count; i++)
        free(w.placed[i].rank.cpus);
    free(w.placed);
    free(w.shares);
    free(w.used);
    free(w.mapped);
    return rc;
}

void placement_fini(struct placement *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        free(p->ranks[i].cpus);
    free(p->ranks);
    p->ranks = NULL;
    p->count = 0;
}

void placement_picture(const struct placement_machine *m, const struct placement_rank *rank,
                       char *text, size_t len)
{
    size_t at = 0;
    for (uint32_t i = 0, next = 0; i < m->count; i++) {
        bool is_bound = next < rank->cpu_count && rank->cpus[next] == i;
        next += is_bound;
        const char *before = i == 0                                     ? "["
                             : !is_same(m, i - 1, i, PLACEMENT_PACKAGE) ? "]["
                             : !is_same(m, i - 1, i, PLACEMENT_CORE)    ? "/"
                                                                        : "";
        if (at < len)
            at += (size_t)snprintf(text + at, len - at, "%s%s%s", before, is_bound ? "B" : ".",
                                   i + 1 == m->count ? "]" : "");
    }
}
