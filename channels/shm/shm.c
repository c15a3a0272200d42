/* SPDX-License-Identifier: BSD-3-Clause */

/* The shared-memory channel's operations; see shm.h. */
#include "channels/shm/shm.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/memory/cache.h"
#include "os/cpu/cpus.h"
#include "os/log.h"
#include "include/channel_help.h"
#include "os/random.h"
#include "os/memory/segment.h"
#include "os/memory/zeroes.h"
#include "os/settings.h"
#include "os/valgrind.h"
#include "slots.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    PAGE = 4096,
    AHEAD_PART = 1024 /* bytes */
};

static uint64_t whole_pages(uint64_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

int shm_layout_plan(struct shm_layout *layout, int ranks, uint64_t size)
{
    if (ranks < 1 || ranks > SHM_RANKS_MAX)
        return -ENOSPC;
    uint64_t count = (uint64_t)ranks;
    layout->lines = SHM_HEADER_SIZE;
    layout->rings = layout->lines + whole_pages(count * sizeof(struct shm_lines));
    layout->pool = layout->rings + count * SHM_RING_SLOTS * sizeof(struct shm_ring_slot);
    if (layout->pool >= size)
        return -ENOSPC;
    uint32_t pool = shm_chunk_plan(size - layout->pool, ranks - 1);
    layout->size = layout->pool + pool;
    return pool ? 0 : -ENOSPC;
}

/* If Yama restricts access to our memory: allow every process of the job. */
static void allow_copies(void)
{
    char scope = '0';
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f) {
        scope = (char)fgetc(f);
        fclose(f);
    }
    if (scope == '1')
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* Write the header, its state last: from then on peers may rely on it. */
static void introduce(struct shm *shm)
{
    struct shm_header *mine = shm->mine;
    mine->layout = SHM_LAYOUT;
    mine->pid = (uint32_t)getpid();
    mine->magic = shm->magic;
    mine->magic_at = shm->may_copy ? (uintptr_t)&shm->magic : 0; /* no probe of it works at 0 */
    mine->heavy = shm->heavy;
    atomic_store_explicit(&mine->sleeping, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->unheard, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->state, SHM_OPEN, memory_order_release);
}

/* The descriptor is the device's, and the program may have closed it, and then have opened a
 * file of its own by that number. */
int shm_region(struct shm *shm, uint32_t index, int *fd, uint64_t *offset, uint64_t *size)
{
    const struct chan_env *env = shm->env;
    struct stat is;
    int64_t rank = env->neighbor(env->device, (int)index);
    if (rank < 0)
        return (int)rank;
    int rc = env->memory(env->device, &env->gid, (uint32_t)rank, fd, offset, size);
    if (rc)
        return rc;
    if (fstat(*fd, &is) || is.st_dev != shm->device || is.st_ino != shm->inode) {
        shm->sink->broken(env->device, &chan_shm,
                          "this program has closed descriptors that are not its own");
        return -EBADF;
    }
    return 0;
}

static int map_own(struct shm *shm, char *why, size_t size)
{
    struct stat is;
    const struct chan_env *env = shm->env;
    int fd;
    uint64_t offset, room;
    int rc = env->memory(env->device, &env->gid, env->rank, &fd, &offset, &room);
    if (rc) {
        snprintf(why, size, "no shared memory: %s", strerror(-rc));
        return -ENODEV;
    }
    if (shm_layout_plan(&shm->layout, env->local_ranks, room)) {
        snprintf(why, size, "%d ranks need more than %llu MiB of shared memory each",
                 env->local_ranks, (unsigned long long)(room >> 20));
        return -ENODEV;
    }
    shm->mine = os_segment_map(fd, offset, shm->layout.size, 1);
    if (shm->mine)
        shm->spare = os_segment_map(fd, offset, SHM_HEADER_SIZE, 1);
    if (!shm->spare || fstat(fd, &is)) {
        snprintf(why, size, "cannot map shared memory: %s", strerror(errno));
        return -ENODEV;
    }
    shm->device = is.st_dev;
    shm->inode = is.st_ino;
    return 0;
}

static int shm_card(struct chan *base, char params[CHAN_CARD_MAX])
{
    const struct chan_env *env = ((struct shm *)base)->env;
    char gid[33], index[12], layout[12];
    int rc;

    chan_hex_write(gid, env->gid.b, sizeof(env->gid.b));
    snprintf(index, sizeof(index), "%d", env->local_rank);
    snprintf(layout, sizeof(layout), "%d", SHM_LAYOUT);
    params[0] = 0;
    rc = chan_params_add(params, CHAN_CARD_MAX, "host", env->host_id);
    if (!rc)
        rc = chan_params_add(params, CHAN_CARD_MAX, "gid", gid);
    if (!rc)
        rc = chan_params_add(params, CHAN_CARD_MAX, "index", index);
    if (!rc)
        rc = chan_params_add(params, CHAN_CARD_MAX, "layout", layout);
    return rc;
}

static struct chan_verdict shm_match(const char *mine, const char *theirs)
{
    struct chan_verdict verdict = {CHAN_NO, 0, "other host"};
    if (!chan_params_agree(mine, theirs, "host"))
        return verdict;
    verdict.why = "other job";
    if (!chan_params_agree(mine, theirs, "gid"))
        return verdict;
    verdict.why = "other version";
    if (!chan_params_agree(mine, theirs, "layout"))
        return verdict;
    return (struct chan_verdict){CHAN_YES, 80, "same host"};
}

/* The index in a peer's card, or -EINVAL: it is none, or not the peer's. */
static int64_t card_index(const struct shm *shm, const struct chan_peer *peer, const char *card)
{
    const struct chan_env *env = shm->env;
    char text[16], *end;
    if (chan_params_get(card, "index", 0, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
        return -EINVAL;
    unsigned long index = strtoul(text, &end, 10);
    if (*end || index >= (unsigned long)env->local_ranks ||
        index == (unsigned long)env->local_rank ||
        env->neighbor(env->device, (int)index) != (int64_t)peer->rank)
        return -EINVAL;
    return (int64_t)index;
}

/* Whether anybody has called, or answered, since we looked. Asked after a peer is seen to have
 * closed, this counts whatever it has said before. */
static int has_call(const struct shm *shm)
{
    return atomic_load_explicit(&shm->mine->news, memory_order_relaxed) != shm->news_seen;
}

static int shm_link(struct chan *base, struct chan_peer *peer, const char *theirs,
                    struct chan_link **out)
{
    struct shm *shm = (struct shm *)base;
    struct shm_link *link;
    int64_t index = card_index(shm, peer, theirs);
    if (index < 0)
        return (int)index;
    int rc = shm_link_contact(shm, (uint32_t)index, &link);
    if (rc)
        return rc;
    if (link->phase == SHM_IDLE) {
        if (atomic_load_explicit(&link->theirs->state, memory_order_acquire) == SHM_CLOSED &&
            !has_call(shm))
            return -ESHUTDOWN;
        shm_link_begin(link, peer);
    }
    *out = &link->base;
    return 0;
}

/* A process calls that has no link, or not this one. Returns the number of upcalls. */
static int answer(struct shm *shm, struct shm_link *link, uint32_t number, uint32_t first)
{
    struct chan_peer *peer = NULL;
    enum chan_answer said;

    if (!shm_link_may_hear(link, first)) {
        shm_link_refuse(link, number, CHAN_REFUSE_UNKNOWN);
        return 0;
    }
    said = shm->sink->asked(shm->env->device, &chan_shm, &shm->env->gid, link->rank, &peer);
    if (said != CHAN_ACCEPT) {
        shm_link_refuse(link, number, said);
        return 1;
    }
    if (link->phase == SHM_IDLE) {
        shm_link_begin(link, peer);
        link->phase = SHM_UP;
        shm_link_hear(link, number, first);
        shm->sink->opened(&link->base);
        return 2;
    }
    shm_link_hear(link, number, first);
    return 1;
}

/* The attempt of an index that has called at some time, if the attempt is new. Returns its record,
 * or NULL; then it is not new, or has been refused. */
static struct shm_link *new_attempt(struct shm *shm, uint32_t index, uint32_t *number,
                                    uint32_t *first)
{
    struct shm_lines *lines = (struct shm_lines *)((char *)shm->mine + shm->layout.lines) + index;
    uint64_t attempt = atomic_load_explicit(&lines->attempt, memory_order_acquire);
    struct shm_link *link = NULL;

    *number = (uint32_t)(attempt >> 32);
    *first = (uint32_t)attempt;
    if (shm_link_contact(shm, index, &link)) {
        shm_link_refuse_unmapped(shm, index, *number);
        return NULL;
    }
    return *number == link->in_number ? NULL : link;
}

static int turn_away(struct shm *shm, uint32_t index)
{
    uint32_t number, first;
    struct shm_link *link = new_attempt(shm, index, &number, &first);
    if (link)
        shm_link_refuse(link, number, CHAN_REFUSE_CLOSED);
    return 0;
}

static int meet(struct shm *shm, uint32_t index)
{
    uint32_t number, first;
    struct shm_link *link = new_attempt(shm, index, &number, &first);

    if (!link)
        return 0;
    if (link->hears) {
        /* What it sent before it began anew comes first. */
        link->ends = 1;
        link->next_first = first;
        shm->chores = 1;
        return 0;
    }
    if (link->phase == SHM_IDLE)
        return answer(shm, link, number, first);
    if (link->phase == SHM_GONE)
        return 0; /* unlink() is due, and looks again */
    if (shm_link_may_hear(link, first)) {
        shm_link_hear(link, number, first);
    } else {
        link->broken = -EPROTO;
        shm->chores = 1;
    }
    return 0;
}

/* Call visit for each caller. */
static int visit_callers(struct shm *shm, int (*visit)(struct shm *shm, uint32_t index))
{
    int upcalls = 0;
    uint32_t ranks = (uint32_t)shm->env->local_ranks;

    shm->news_seen = atomic_load_explicit(&shm->mine->news, memory_order_acquire);
    for (uint32_t word = 0; word * 64 < ranks; word++) {
        uint64_t bits = atomic_load_explicit(&shm->mine->called[word], memory_order_acquire);
        for (; bits; bits &= bits - 1) {
            uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (index < ranks && index != (uint32_t)shm->env->local_rank)
                upcalls += visit(shm, index);
        }
    }
    return upcalls;
}

static int attend_calling(struct shm *shm, struct shm_link *link)
{
    static const char *const whys[] = {
        [CHAN_ACCEPT] = "the peer breaks the rules",
        [CHAN_REFUSE_CROSSING] = "the peer's own link takes precedence",
        [CHAN_REFUSE_UNKNOWN] = "the peer does not know this process",
        [CHAN_REFUSE_CLOSED] = "the peer is finalizing",
        [CHAN_REFUSE_UNABLE] = "the peer cannot map this process's memory",
        [CHAN_REFUSE_FAILED] = "the peer holds this process for lost",
    };
    int upcalls = 1;
    enum chan_answer said = link->hears || link->broken ? CHAN_ACCEPT : shm_link_answer(link);

    if (link->hears && !link->broken) {
        link->phase = SHM_UP;
        shm->sink->opened(&link->base);
        return 1;
    }
    if (!link->broken && !link->last && !said)
        return 0;
    if (said == CHAN_REFUSE_CLOSED && has_call(shm)) {
        shm->chores = 1; /* maybe it has answered before it closed */
        return 0;
    }
    link->phase = SHM_GONE;
    link->hears = 0;
    if (said || (link->last && !link->broken))
        upcalls += shm_link_return(link);
    if (link->phase == SHM_GONE)
        shm->sink->refused(&link->base, said, link->last ? "its process has ended" : whys[said]);
    return upcalls;
}

/* Of a peer that has ended, read what its ring still holds, a part at a time. Returns the number
 * of upcalls. */
static int read_last(struct shm *shm, struct shm_link *link)
{
    int upcalls = shm_link_receive(link);
    shm->chores = 1;
    if (link->last && !link->broken && !shm_link_has_packet(link))
        link->broken = -ECONNRESET;
    return upcalls;
}

/* The upcalls that a link is due, if any. */
static int attend(struct shm *shm, struct shm_link *link)
{
    int upcalls = 0;

    if (link->phase == SHM_CALLING)
        upcalls = attend_calling(shm, link);
    if (link->phase != SHM_UP)
        return upcalls;
    if (link->last && !link->broken)
        upcalls += read_last(shm, link);
    if (link->phase != SHM_UP)
        return upcalls;
    if (link->ends && link->in.received == link->next_first)
        link->broken = -ECONNRESET;
    if (!link->broken)
        return upcalls;
    link->phase = SHM_GONE;
    link->hears = 0;
    shm->sink->lost(&link->base, link->broken);
    return upcalls + 1;
}

static __attribute__((noinline)) int do_chores(struct shm *shm)
{
    int upcalls = 0;
    uint32_t kept = 0;

    if (has_call(shm))
        upcalls += visit_callers(shm, meet);
    shm->chores = 0;
    for (uint32_t i = 0; i < shm->contact_count; i++)
        upcalls += attend(shm, shm->contacts[i]);
    for (uint32_t i = 0; i < shm->listening_count; i++) {
        struct shm_link *link = shm->listening[i];
        link->listed = link->hears;
        if (link->hears)
            shm->listening[kept++] = link;
    }
    shm->listening_count = kept;
    return upcalls;
}

/* The busy rings each time, of the quiet ones a few; one found busy there changes places with one
 * of the others. */
static __attribute__((noinline)) int progress_many(struct shm *shm)
{
    struct shm_link **links = shm->listening;
    uint32_t quiet = shm->listening_count - SHM_HOT;
    int upcalls = 0;

    for (uint32_t i = 0; i < SHM_HOT; i++)
        if (shm_link_has_packet(links[i]))
            upcalls += shm_link_receive(links[i]);
    for (uint32_t i = 0; i < SHM_HOT && i < quiet; i++) {
        uint32_t at = SHM_HOT + shm->turn++ % quiet;
        struct shm_link *link = links[at];
        if (shm_link_has_packet(link)) {
            uint32_t hot = shm->turn_hot++ % SHM_HOT;
            links[at] = links[hot];
            links[hot] = link;
            upcalls += shm_link_receive(link);
        }
    }
    return upcalls;
}

/* Take a part of the next chunk into our cache. No more at once than the processor can have
 * on its way, or the next chunk waits behind it. */
static __attribute__((noinline)) void go_ahead(struct shm *shm)
{
    struct shm_ahead *ahead = &shm->ahead;
    uint32_t left = ahead->end - ahead->at, part = left < AHEAD_PART ? left : AHEAD_PART;
    if (!shm_chunk_ready(&shm->pool, ahead->class))
        shm_link_refresh(ahead->link);
    unsigned char *chunk = shm_chunk_next(&shm->pool, ahead->class);
    if (chunk)
        os_cache_own(chunk + ahead->at, part);
    ahead->at += part;
}

static int shm_progress(struct chan *base)
{
    struct shm *shm = (struct shm *)base;
    int upcalls = 0;

    if (UNLIKELY(shm->chores || has_call(shm)))
        upcalls = do_chores(shm);
    if (UNLIKELY(shm->listening_count > SHM_HOT))
        upcalls += progress_many(shm);
    else
        for (uint32_t i = 0; i < shm->listening_count; i++)
            if (shm_link_has_packet(shm->listening[i]))
                upcalls += shm_link_receive(shm->listening[i]);
    if (UNLIKELY(shm->ahead.at < shm->ahead.end) && !upcalls)
        go_ahead(shm);
    return upcalls;
}

/* Whether there is anything to do; asked once everybody knows that we sleep. */
static int has_news(struct shm *shm)
{
    int news = shm->chores || has_call(shm);
    for (uint32_t i = 0; !news && i < shm->listening_count; i++)
        news = shm_link_has_packet(shm->listening[i]);
    for (uint32_t i = 0; !news && shm->starved && i < shm->contact_count; i++)
        (void)shm_link_refresh(shm->contacts[i]);
    news |= shm->starved && shm->has_room; /* which a send to another peer may have found */
    shm->has_room = 0;
    return news;
}

static int shm_arm(struct chan *base, enum chan_sleep how)
{
    struct shm *shm = (struct shm *)base;
    uint32_t sleeping = shm->sleeps += SHM_SLEEP_COUNT;

    if (!sleeping)
        sleeping = shm->sleeps = SHM_SLEEP_COUNT;
    if (how == CHAN_SLEEP_FD) {
        base->deaf = !shm_bell_is_heard(shm);
        sleeping |= base->fd >= 0 ? SHM_SLEEP_FD : 0u;
    }
    if (shm->starved)
        sleeping |= SHM_SLEEP_STARVED;
    atomic_store_explicit(&shm->mine->cpu, (uint32_t)sched_getcpu(), memory_order_relaxed);
    atomic_store_explicit(&shm->mine->sleeping, sleeping, memory_order_seq_cst);
    os_heavy_fence();
    return has_news(shm) ? CHAN_AGAIN : 0;
}

static void shm_disarm(struct chan *base)
{
    struct shm *shm = (struct shm *)base;
    uint32_t sleeping = atomic_load_explicit(&shm->mine->sleeping, memory_order_relaxed);
    atomic_store_explicit(&shm->mine->sleeping, 0, memory_order_relaxed);
    if (sleeping & SHM_SLEEP_FD)
        shm_bell_drain(shm);
}

static void shm_wake(struct chan *base, uint32_t index)
{
    struct shm *shm = (struct shm *)base;
    struct shm_link *link;
    if (index == (uint32_t)shm->env->local_rank || shm_link_contact(shm, index, &link))
        return;
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t sleeping = atomic_load_explicit(&link->theirs->sleeping, memory_order_relaxed);
    if (sleeping)
        shm_bell_ring(link, sleeping);
}

/* Nobody is to wait for an answer: later callers see that we have closed, and earlier ones are
 * told. */
static void retire(struct shm *shm)
{
    atomic_store_explicit(&shm->mine->state, SHM_CLOSED, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with tell() of a caller, before it looks at state */
    visit_callers(shm, turn_away);
}

/* ---- tables by rank of the host ---- */

static size_t tables_size(const struct chan_env *env)
{
    return (size_t)env->local_ranks * (3 * sizeof(struct shm_link *) + 1);
}

static int make_tables(struct shm *shm)
{
    size_t ranks = (size_t)shm->env->local_ranks;
    shm->links = os_zeroes_get(tables_size(shm->env));
    if (!shm->links)
        return -ENOMEM;
    shm->contacts = shm->links + ranks;
    shm->listening = shm->contacts + ranks;
    shm->unable = (uint8_t *)(shm->listening + ranks);
    return 0;
}

static void shm_close(struct chan *base)
{
    struct shm *shm = (struct shm *)base;
    if (!shm)
        return;
    if (shm->base.word)
        retire(shm);
    for (uint32_t i = 0; i < shm->contact_count; i++)
        shm_link_destroy(shm->contacts[i]);
    os_segment_unmap(shm->mine, shm->layout.size);
    os_segment_unmap(shm->spare, SHM_HEADER_SIZE);
    shm_bell_close(shm);
    os_zeroes_put(shm->links, tables_size(shm->env));
    free(shm);
}

static void shm_forked(struct chan *base)
{
    shm_bell_close((struct shm *)base);
}

static int shm_open_channel(struct chan **out, const struct chan_env *env, char *why, size_t size)
{
    struct shm *shm;
    int rc = -ENODEV;

    if (env->local_ranks < 2) {
        snprintf(why, size, "alone on this host");
        return rc;
    }
    shm = calloc(1, sizeof(*shm));
    if (!shm)
        return -ENOMEM;
    shm->base.ops = &chan_shm;
    shm->base.fd = shm->bell = -1;
    shm->env = env;
    shm->sink = env->sink;
    rc = make_tables(shm);
    if (rc)
        goto error;
    rc = map_own(shm, why, size);
    if (rc)
        goto error;
    os_random(&shm->magic, sizeof(shm->magic));
    shm->heavy = !os_heavy_fence_register();
    shm->may_copy = os_setting(OS_SETTING_SINGLE_COPY) != 0 && !os_is_under_valgrind();
    if (shm->may_copy)
        allow_copies();
    shm_chunk_init(&shm->pool, (unsigned char *)shm->mine + shm->layout.pool,
                   shm->layout.size - shm->layout.pool, env->local_ranks - 1);
    shm->base.word = &shm->mine->doorbell;
    introduce(shm);
    *out = &shm->base;
    return 0;
error:
    shm_close(&shm->base);
    return rc;
}

const struct chan_ops chan_shm = {
    .version = CHAN_VERSION,
    .size = sizeof(struct chan_ops),
    .name = "shm",
    .open = shm_open_channel,
    .close = shm_close,
    .card = shm_card,
    .match = shm_match,
    .link = shm_link,
    .unlink = shm_link_end,
    .finish = shm_link_finish,
    .progress = shm_progress,
    .arm = shm_arm,
    .disarm = shm_disarm,
    .wake = shm_wake,
    .onesided = &shm_onesided,
    .forked = shm_forked,
};
