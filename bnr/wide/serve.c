/* SPDX-License-Identifier: BSD-3-Clause */

/* Serving the ranks of a machine; see serve.h. */
#include "bnr/wide/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/core/bytes.h"
#include "bnr/core/hash.h"
#include "bnr/core/job.h"
#include "bnr/core/tree/keys.h"
#include "bnr/core/tree/message.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/core/tree/tree_fence.h"
#include "bnr/io/ranks.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/pmi_port.h"
#include "bnr/wide/post.h"
#include "bnr/wire/launch_tags.h"
#include "os/futex.h"

struct serve_rank {
    int rank, slot;
    uint64_t seen;  /* bytes of its log */
    uint32_t asked; /* the last question that was passed on ... */
    uint32_t owner; /* ... and whose key it wants ... */
    bool is_later;  /* ... by TABLE_LATER */
};

/* The ranks of this host that have asked in vain for keys of a rank elsewhere: a bit for each place in all. */
struct serve_wish {
    UT_hash_handle hh;
    uint32_t owner;
    uint64_t bits[];
};

enum { WISHES_MAX = 1 << 16 };

struct serve {
    struct mesh *mesh; /* NULL: the job has one machine */
    struct ranks *ranks;
    struct post post;
    struct pmi_port pmi; /* of those with another MPI library */
    uv_poll_t bell;
    int bell_fd; /* the end that is read; -1: none */
    struct serve_rank *all;
    uint32_t count;
    struct serve_wish *wishes; /* whom ranks here wait for */
    bool tells_all;            /* there was no room for some of them: all hear of all news */
    uint32_t fence;       /* the last that is over */
    bool has_entered;     /* the next one has been entered */
    bool is_awaited;      /* some here have come to it, and it has not been entered */
    uint64_t fence_bytes; /* put since the last one */
    struct packing fence_entries;
};

static struct table_page *page_of(const struct serve *s, const struct serve_rank *r)
{
    return table_page(&s->ranks->table, r->slot);
}

/* ---- keys ---- */

/* Pass on what the rank has put since the last look. */
static void take_puts(struct serve *s, struct serve_rank *r)
{
    struct kvs log = table_log(&s->ranks->table, r->slot);
    struct kvs_entry e;
    while (!kvs_next(&log, &r->seen, &e)) {
        const struct keys_name name = {SERVE_GROUP, (uint32_t)r->rank, e.key, e.key_len};
        struct bytes *value = bytes_create(e.value, e.value_len);
        if (!value)
            return;
        s->fence_bytes += e.key_len + e.value_len;
        if (s->fence_bytes <= (uint64_t)TREE_FENCE_COLLECT * s->count)
            keys_pack(&s->fence_entries, &name, value);
        (void)mesh_put(s->mesh, &name, value);
    }
}

static void answer(struct serve *s, const struct serve_rank *r, enum table_answer status,
                   const struct bytes *value)
{
    struct table_question *q = &page_of(s, r)->question;
    if (value && value->len > TABLE_REPLY)
        status = TABLE_ANSWER_FAILED;
    q->status = status;
    q->len = !status && value ? value->len : 0;
    if (q->len)
        memcpy(table_reply(&s->ranks->table, r->slot), value->at, value->len);
    atomic_store_explicit(&q->told, r->asked, memory_order_release);
    os_futex_wake(&q->told, INT_MAX);
}

/* Pass on the rank's question, if there is a new one. What it says is another process's. */
static void take_question(struct serve *s, struct serve_rank *r)
{
    const volatile struct table_question *q = &page_of(s, r)->question;
    uint32_t asked = atomic_load_explicit(&page_of(s, r)->question.asked, memory_order_acquire);
    char key[256];
    if (asked == r->asked)
        return;
    r->asked = asked;
    r->owner = q->owner;
    uint32_t len = q->key_len;
    struct keys_name name = {SERVE_GROUP, r->owner, key, len};
    uint32_t how = q->how;
    r->is_later = how == TABLE_LATER;
    unsigned flags = how == TABLE_LATER ? KEYS_LATER : how == TABLE_NOWAIT ? KEYS_NOWAIT : 0;
    if (len && len <= KEYS_KEY_MAX) {
        for (uint32_t i = 0; i < len; i++)
            key[i] = q->key[i];
        uint64_t cookie = (uint64_t)(r - s->all) << 32 | asked;
        if (!mesh_get(s->mesh, &name, cookie, flags))
            return;
    }
    answer(s, r, TABLE_ANSWER_FAILED, NULL);
}

static struct serve_wish *find_wish(const struct serve *s, uint32_t owner)
{
    struct serve_wish *wish;
    HASH_FIND(hh, s->wishes, &owner, sizeof(owner), wish);
    return wish;
}

/* The rank at this place is to hear of keys of the one that it has asked for. */
static void note_wish(struct serve *s, uint64_t at)
{
    struct serve_wish *wish = find_wish(s, s->all[at].owner);
    if (!wish && HASH_COUNT(s->wishes) < WISHES_MAX)
        wish = calloc(1, sizeof(*wish) + (s->count + 63) / 64 * sizeof(*wish->bits));
    if (!wish) {
        s->tells_all = true;
        return;
    }
    if (!find_wish(s, s->all[at].owner)) {
        wish->owner = s->all[at].owner;
        HASH_ADD(hh, s->wishes, owner, sizeof(wish->owner), wish);
    }
    wish->bits[at / 64] |= UINT64_C(1) << at % 64;
}

/* There is something new of a key of this rank: those who have asked for one may look again. */
static void give_news(struct serve *s, uint32_t owner)
{
    const struct serve_wish *wish = find_wish(s, owner);
    for (uint32_t i = 0; i < s->count; i++)
        if (s->tells_all || (wish && wish->bits[i / 64] >> i % 64 & 1))
            table_give_news(&s->ranks->table, s->all[i].slot);
}

static void take_value(struct serve *s, const struct core_message *message)
{
    static const enum table_answer answers[STATUS_END] = {[STATUS_GOOD] = TABLE_ANSWER_GOOD,
                                                          [STATUS_ABSENT] = TABLE_ANSWER_ABSENT,
                                                          [STATUS_PROC_FAILED] =
                                                              TABLE_ANSWER_ENDED,
                                                          [STATUS_ASKED] = TABLE_ANSWER_ASKED};
    uint64_t at = message->number >> 32;
    if (message->number == KEYS_NO_GETTER)
        give_news(s, message->tag);
    else if (at >= s->count)
        pmi_port_value(&s->pmi, message);
    if (at >= s->count || s->all[at].asked != (uint32_t)message->number)
        return;
    if (s->all[at].is_later && message->status != STATUS_GOOD)
        note_wish(s, at);
    answer(s, &s->all[at],
           message->status < STATUS_END ? answers[message->status] : TABLE_ANSWER_FAILED,
           message->data);
}

/* ---- fences ---- */

static void end_fence(struct serve *s, uint32_t number, bool has_failed)
{
    struct table_page *hub = table_page(&s->ranks->table, 0);
    if ((int32_t)(number - s->fence) <= 0)
        return;
    s->fence = number;
    s->has_entered = false;
    if (has_failed && !atomic_load(&hub->fence_failed))
        atomic_store(&hub->fence_failed, number);
    atomic_store(&hub->fence_done, number);
    os_futex_wake(&hub->fence_done, INT_MAX);
}

static void take_release(struct serve *s, const struct core_message *message)
{
    if (message->group != SERVE_GROUP)
        return;
    end_fence(s, (uint32_t)message->number, message->status != STATUS_GOOD);
    serve_look(s);
}

static bool has_come(const struct serve *s, const struct serve_rank *r)
{
    return (int32_t)(atomic_load(&page_of(s, r)->fence_entered) - (s->fence + 1)) >= 0;
}

/* Come to the next fence when all here have, or some have and another never will. */
static void look_at_fence(struct serve *s)
{
    uint32_t number = s->fence + 1, come = 0, over = 0;
    const struct table *t = &s->ranks->table;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct table_page *page = page_of(s, &s->all[i]);
        /* The end first: who came and then ended has come. */
        bool is_over =
            table_has_ended(t, s->all[i].rank) || (atomic_load(&page->flags) & PAGE_FINALIZED) != 0;
        if (has_come(s, &s->all[i]))
            come++;
        else
            over += is_over;
    }
    s->is_awaited = come && !s->has_entered;
    if (!s->is_awaited || (come < s->count && !over))
        return;
    s->has_entered = true;
    bool is_short = s->fence_bytes <= (uint64_t)TREE_FENCE_COLLECT * s->count;
    struct bytes *entries = pack_end(&s->fence_entries);
    struct tree_fence_entry entry = {number, over ? STATUS_PROC_FAILED : STATUS_GOOD,
                                     s->fence_bytes, is_short ? entries : NULL};
    s->fence_entries = (struct packing){0};
    s->fence_bytes = 0;
    int rc = mesh_fence(s->mesh, SERVE_GROUP, &entry);
    bytes_unref(entries);
    if (rc == TREE_FENCE_OVER)
        end_fence(s, number, true);
}

/* ---- letters ---- */

static int submit(void *arg, const struct xcast_input *input)
{
    struct serve *s = arg;
    return mesh_submit(s->mesh, input);
}

void serve_deliver(struct serve *s, const struct core_message *message, struct unpacking u)
{
    if (message->tag == LAUNCH_TAG_ORDER)
        post_order(&s->post, message->origin, u);
    else
        post_deliver(&s->post, message->origin, message->data, u);
}

/* Look again after others have had their turn. */
static void ring(struct serve *s)
{
    static const char byte;
    (void)!write(s->ranks->bell, &byte, 1);
}

static void look_at_letters(struct serve *s)
{
    if (post_look(&s->post))
        ring(s);
}

void serve_answer(struct serve *s, const struct core_message *message)
{
    if (message->kind == MESSAGE_VALUE)
        take_value(s, message);
    else
        take_release(s, message);
}

/* ---- the bell ---- */

void serve_look(struct serve *s)
{
    look_at_letters(s);
    for (uint32_t i = 0; s->mesh && i < s->count; i++) {
        take_puts(s, &s->all[i]);
        take_question(s, &s->all[i]);
    }
    if (s->mesh)
        look_at_fence(s);
    pmi_port_look(&s->pmi);
}

static void on_bell(uv_poll_t *poll, int status, int events)
{
    struct serve *s = poll->data;
    char bytes[4096];
    (void)status;
    (void)events;
    while (read(s->bell_fd, bytes, sizeof(bytes)) > 0)
        ;
    serve_look(s);
}

int serve_start(struct serve **made, uv_loop_t *loop, struct mesh *mesh, const struct rank_map *map,
                struct ranks *ranks)
{
    int ends[2];
    const struct table *t = &ranks->table;
    struct serve *s = *made = malloc(sizeof(*s));
    if (!s)
        return -ENOMEM;
    *s = (struct serve){.mesh = mesh, .ranks = ranks, .bell_fd = -1};
    s->post = (struct post){.ranks = ranks,
                            .map = map,
                            .submit = mesh ? submit : NULL,
                            .arg = s,
                            .tag = LAUNCH_TAG_LETTER};
    s->all = calloc((size_t)t->slots, sizeof(*s->all));
    if (!s->all || post_start(&s->post))
        return -ENOMEM;
    for (int r = 0; r < t->world_size && s->count < (uint32_t)t->slots; r++)
        if (table_slot(t, r) >= 0)
            s->all[s->count++] = (struct serve_rank){.rank = r, .slot = table_slot(t, r)};
    if (!s->count)
        return 0;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -errno;
    ranks->bell = ranks_lift(ends[1]);
    s->bell_fd = ends[0];
    pmi_port_start(&s->pmi, loop, ranks, mesh, &s->post, SERVE_GROUP, (uint64_t)s->count << 32);
    s->post.told = pmi_port_told;
    s->post.told_arg = &s->pmi;
    int rc = uv_poll_init(loop, &s->bell, s->bell_fd);
    s->bell.data = s;
    return rc ? rc : uv_poll_start(&s->bell, UV_READABLE, on_bell);
}

static void on_closed(uv_handle_t *handle)
{
    struct serve *s = handle->data;
    close(s->bell_fd);
    s->bell_fd = -1;
}

void serve_stop(struct serve *s)
{
    struct serve_wish *wish, *next;
    if (!s)
        return;
    post_stop(&s->post);
    pmi_port_stop(&s->pmi);
    HASH_ITER(hh, s->wishes, wish, next)
    {
        HASH_DEL(s->wishes, wish);
        free(wish);
    }
    free(s->all);
    s->all = NULL;
    s->count = 0;
    bytes_unref(s->fence_entries.bytes);
    s->fence_entries = (struct packing){0};
    if (s->bell_fd >= 0)
        uv_close((uv_handle_t *)&s->bell, on_closed);
}

void serve_free(struct serve *s)
{
    free(s);
}

/* ---- mpiexec and ranks ---- */

void serve_hear_orders(struct serve *s, void (*take)(void *arg, int rank, const uint8_t *data, size_t len), void *arg)
{
    s->post.order = take;
    s->post.order_arg = arg;
}

void serve_hear_missed(struct serve *s, void (*missed)(void *arg, int rank, int waiting), void *arg)
{
    s->pmi.missed = missed;
    s->pmi.missed_arg = arg;
}

void serve_tell(struct serve *s, int rank, uint32_t tag, const void *data, size_t len)
{
    struct packing p = {0};
    post_pack(&p, rank, tag, data, len);
    struct bytes *letter = pack_end(&p);
    if (letter)
        post_deliver(&s->post, 0, letter, unpack_begin(letter));
    bytes_unref(letter);
}

/* ---- ends ---- */

struct rollup_run serve_run(int rank, const struct job_facts *facts)
{
    uint32_t flags = (facts->initialized ? ROLLUP_INITIALIZED : 0) |
                     (facts->finalized ? ROLLUP_FINALIZED : 0) |
                     (facts->aborted ? ROLLUP_ABORTED : 0) |
                     (facts->tolerant ? ROLLUP_TOLERANT : 0);
    return (struct rollup_run){
        (uint32_t)rank, 1, (uint32_t)(facts->aborted ? facts->abort_code : facts->status), flags};
}

/* Where a rank that runs here stands in the list, which is in the order of ranks. */
static uint32_t place_of(const struct serve *s, int rank)
{
    uint32_t first = 0, end = s->count;
    while (end - first > 1) {
        uint32_t middle = first + (end - first) / 2;
        if (s->all[middle].rank <= rank)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* Many may end at once: only the one that has ended is looked at. */
void serve_rank_ended(struct serve *s, int rank, const struct job_facts *facts)
{
    const struct rollup_run run = serve_run(rank, facts);
    uint32_t at = place_of(s, rank);
    if (post_look_at(&s->post, at)) /* what it has sent last */
        ring(s);
    pmi_port_ended(&s->pmi, rank);
    if (!s->mesh)
        return;
    take_puts(s, &s->all[at]);
    if (s->is_awaited || has_come(s, &s->all[at]))
        look_at_fence(s);
    (void)mesh_ended(s->mesh, SERVE_GROUP, &run);
}

bool serve_are_missed(const struct rollup_run *run)
{
    return !run->status && !(run->flags & (ROLLUP_INITIALIZED | ROLLUP_ABORTED | ROLLUP_NODE_LOST));
}

void serve_note_ended(struct table *t, const struct rollup_run *run)
{
    bool is_aborted = run->flags & ROLLUP_ABORTED;
    bool is_unfinished =
        (run->flags & (ROLLUP_INITIALIZED | ROLLUP_FINALIZED)) == ROLLUP_INITIALIZED;
    for (uint32_t r = run->first; r < run->first + run->count; r++) {
        if (r >= (uint32_t)t->world_size || table_slot(t, (int)r) >= 0 ||
            table_has_ended(t, (int)r))
            continue;
        t->rank[r].end = (is_aborted ? TABLE_END_ABORTED
                          : is_unfinished || run->status || (run->flags & ROLLUP_NODE_LOST)
                              ? TABLE_END_FAILED
                              : 0) |
                         (run->flags & ROLLUP_INITIALIZED ? TABLE_END_JOINED : 0) |
                         (run->flags & ROLLUP_NODE_LOST ? TABLE_END_HOST_LOST : 0);
        table_ended(t, (int)r, is_aborted ? 0 : (int)run->status);
    }
}
