/* SPDX-License-Identifier: BSD-3-Clause */

/* A small device for tests of channels; see fake.h. */
#include "test/channels/fake.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/channel_help.h"
#include "os/clock.h"
#include "os/random.h"
#include "os/memory/segment.h"

enum {
    SEND_LIMIT_MS = 20000
};

/* A payload on its way out; the channel's reserved space follows. */
struct request {
    struct chan_data data;
    uint8_t *bytes; /* with FAKE_PIECES each byte stands at 2 * its index + 1 */
    size_t room;    /* bytes at bytes */
    bool pending;
};

struct place {
    struct place *next;
    struct chan_head head;
    size_t len;
    uint8_t bytes[];
};

void fake_fail(struct fake *fake, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(fake->world->why[fake->rank], sizeof(fake->world->why[0]), fmt, args);
    va_end(args);
    _exit(1);
}

struct fake_world *fake_world_create(void)
{
    struct fake_world *world =
        mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED)
        return NULL;
    world->memory_fd = os_segment_create("conform", (uint64_t)FAKE_MEMORY * FAKE_PROCS, 0);
    if (world->memory_fd < 0 || os_random(world->gid.b, sizeof(world->gid.b))) {
        fake_world_destroy(world);
        return NULL;
    }
    return world;
}

void fake_world_destroy(struct fake_world *world)
{
    if (world->memory_fd >= 0)
        close(world->memory_fd);
    munmap(world, sizeof(*world));
}

/* ---- contents of packets ---- */

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 27;
}

static void fill(uint8_t *bytes, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = mixed(seed + i);
        memcpy(bytes + i, &word, len - i < 8 ? len - i : 8);
    }
}

static void verify(struct fake_peer *peer, const struct chan_head *head, const uint8_t *bytes,
                   size_t len)
{
    struct fake *fake = peer->fake;
    uint64_t number = head->word[0] >> 32;
    FAKE_CHECK(fake, number == peer->in, "packet %lu arrived where %lu was due",
               (unsigned long)number, (unsigned long)peer->in);
    FAKE_CHECK(fake, (head->word[0] & 0xffffffffu) == len, "packet %lu has %zu bytes, not %lu",
               (unsigned long)number, len, (unsigned long)(head->word[0] & 0xffffffffu));
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = mixed(head->word[1] + i);
        FAKE_CHECK(fake, !memcmp(bytes + i, &word, len - i < 8 ? len - i : 8),
                   "packet %lu of %zu bytes is damaged near byte %zu", (unsigned long)number, len,
                   i);
    }
    peer->in++;
    peer->bytes_in += len;
    if (fake->arrived)
        fake->arrived(fake, peer, len);
}

/* ---- upcalls ---- */

static struct fake *check_upcall(struct chan_peer *base, const char *name)
{
    struct fake_peer *peer = (struct fake_peer *)base;
    FAKE_CHECK(peer->fake, peer->fake->in_progress, "%s() ran outside progress()", name);
    FAKE_CHECK(peer->fake, peer->link, "%s() ran for a peer without a link", name);
    return peer->fake;
}

static void on_arrived(struct chan_peer *base, const struct chan_head *head, const void *data,
                       size_t len)
{
    struct fake *fake = check_upcall(base, "arrived");
    struct fake_peer *peer = (struct fake_peer *)base;
    FAKE_CHECK(fake, peer->open, "a packet arrived before opened()");
    verify(peer, head, data, len);
}

static void *on_place(struct chan_peer *base, const struct chan_head *head, size_t len,
                      void **token)
{
    struct fake *fake = check_upcall(base, "place");
    FAKE_CHECK(fake, ((struct fake_peer *)base)->open, "place() before opened()");
    struct place *place = malloc(sizeof(*place) + len);
    FAKE_CHECK(fake, place, "no memory");
    *place = (struct place){.next = fake->places, .head = *head, .len = len};
    fake->places = place;
    fake->placed++;
    *token = place;
    return place->bytes;
}

static void on_landed(struct chan_peer *base, void *token)
{
    struct fake *fake = check_upcall(base, "landed");
    struct place **at = (struct place **)&fake->places;
    while (*at && *at != token)
        at = &(*at)->next;
    FAKE_CHECK(fake, *at, "landed() with a token that place() did not give");
    struct place *place = *at;
    *at = place->next;
    fake->landed++;
    verify((struct fake_peer *)base, &place->head, place->bytes, place->len);
    free(place);
}

static void request_free(struct request *request)
{
    memset(request->bytes, 0xdb, request->room); /* a late reader must not find it */
    free(request->bytes);
    free(request);
}

static void on_sent(struct chan_peer *base, void *cookie)
{
    struct fake *fake = check_upcall(base, "sent");
    struct request *request = cookie;
    FAKE_CHECK(fake, request->pending, "sent() for a packet that is not pending");
    fake->pending--;
    request_free(request);
}

static void on_done(struct chan_peer *base, void *cookie, int rc)
{
    struct fake *fake = ((struct fake_peer *)base)->fake; /* also after unlink() */
    FAKE_CHECK(fake, fake->in_progress, "done() ran outside progress()");
    FAKE_CHECK(fake, cookie == fake, "done() with another cookie");
    fake->done_rc = rc;
    fake->done++;
}

static enum chan_answer on_asked(void *device, const struct chan_ops *ops,
                                 const struct chan_gid *gid, uint32_t rank,
                                 struct chan_peer **peer_out)
{
    struct fake *fake = device;
    FAKE_CHECK(fake, fake->in_progress, "asked() ran outside progress()");
    FAKE_CHECK(fake, ops == fake->ops, "asked() names other ops");
    if (memcmp(gid, &fake->world->gid, sizeof(*gid)) || rank >= (uint32_t)fake->procs)
        return CHAN_REFUSE_UNKNOWN;
    struct fake_peer *peer = &fake->peer[rank];
    peer->asked++;
    if (fake->refuse)
        return (enum chan_answer)fake->refuse;
    FAKE_CHECK(fake, !peer->open, "asked() for a peer whose link is open");
    /* Crossing: what the higher rank began survives. */
    if (peer->link && fake->rank > (int)rank)
        return CHAN_REFUSE_CROSSING;
    *peer_out = &peer->base;
    return CHAN_ACCEPT;
}

static void on_opened(struct chan_link *link)
{
    struct fake_peer *peer = (struct fake_peer *)link->peer;
    struct fake *fake = peer->fake;
    FAKE_CHECK(fake, fake->in_progress, "opened() ran outside progress()");
    FAKE_CHECK(fake, !peer->open, "opened() ran twice");
    FAKE_CHECK(fake, !peer->link || peer->link == link, "a second link to one peer");
    FAKE_CHECK(fake, link->max_data >= 64 && link->eager_max <= link->max_data,
               "a link with max_data %zu and eager_max %zu", link->max_data, link->eager_max);
    peer->link = link;
    peer->open = true;
    peer->opened++;
    if (peer->ended && fake->ops->finish)
        fake->ops->finish(link);
}

static void on_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    struct fake *fake = check_upcall(link->peer, "refused");
    struct fake_peer *peer = (struct fake_peer *)link->peer;
    FAKE_CHECK(fake, !peer->open, "refused() after opened()");
    FAKE_CHECK(fake, answer || (why && *why), "refused() without a reason");
    peer->refused++;
    peer->answer = answer;
    snprintf(peer->reason, sizeof(peer->reason), "%s", why && *why ? why : "no reason was given");
    fake_unlink(peer);
}

/* What was sent last comes back first. */
static void on_returned(struct chan_link *link, const struct chan_head *head, const void *data,
                        size_t len)
{
    struct fake *fake = check_upcall(link->peer, "returned");
    struct fake_peer *peer = (struct fake_peer *)link->peer;
    FAKE_CHECK(fake, !peer->open, "returned() after opened()");
    FAKE_CHECK(fake, head->word[0] == (--peer->out << 32 | len), "returned() packet %lu of %zu bytes",
               (unsigned long)(head->word[0] >> 32), len);
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = mixed(head->word[1] + i);
        FAKE_CHECK(fake, !memcmp((const uint8_t *)data + i, &word, len - i < 8 ? len - i : 8),
                   "a packet of %zu bytes comes back damaged near byte %zu", len, i);
    }
}

static void on_lost(struct chan_link *link, int rc)
{
    struct fake *fake = check_upcall(link->peer, "lost");
    struct fake_peer *peer = (struct fake_peer *)link->peer;
    FAKE_CHECK(fake, peer->open, "lost() for a link that is not open");
    FAKE_CHECK(fake, rc < 0, "lost() with %d", rc);
    FAKE_CHECK(fake, peer->may_lose || fake->ending, "lost() (%s), but the peer is alive",
               strerror(-rc));
    peer->lost++;
    fake_unlink(peer);
}

static void on_broken(void *device, const struct chan_ops *ops, const char *why)
{
    fake_fail(device, "%s broke: %s", ops->name, why);
}

/* ---- life ---- */

static int on_reserve(void *device, size_t size, size_t align)
{
    struct fake *fake = device;
    if (fake->requests_exist)
        return -ENOSPC;
    size_t offset = (fake->request_size + align - 1) / align * align;
    fake->request_size = offset + size;
    return (int)offset;
}

/* A built-in channel has its slot already, and a loaded one the first of the tail. */
static int on_slot_register(void *device, const char *name)
{
    (void)device;
    for (int i = 0; i < ENDPOINT_SLOTS; i++)
        if (!strcmp(slot_names[i], name))
            return i;
    return CHAN_SLOT_DYNAMIC;
}

static int on_grow_tail(void *device, struct chan_peer *peer)
{
    struct fake *fake = device;
    peer->tail = calloc(1, sizeof(*peer->tail));
    FAKE_CHECK(fake, peer->tail, "no memory");
    peer->tail_len = 1;
    return 0;
}

/* A text that stays until the end; one that was kept before is not kept twice. */
static const char *keep(struct fake *fake, const char *text)
{
    for (int i = 0; i < fake->param_count; i++)
        if (!strcmp(fake->params[i], text))
            return fake->params[i];
    FAKE_CHECK(fake, fake->param_count < FAKE_PARAMS, "too many parameters");
    return fake->params[fake->param_count++] = strdup(text);
}

/* What the environment says, as for the device. */
static const char *on_param(void *device, const struct chan_ops *ops, const char *name)
{
    struct fake *fake = device;
    const char *list = getenv("VIREO_CHANNEL_PARAMS");
    char key[128], text[256];
    snprintf(key, sizeof(key), "%s.%s", ops->name, name);
    for (const struct chan_param *param = ops->params; param && param->name; param++) {
        if (strcmp(param->name, name))
            continue;
        if (list && !chan_params_get(list, key, 0, text, sizeof(text)))
            return keep(fake, text);
        return param->initial;
    }
    return NULL;
}

static int64_t on_neighbor(void *device, int local_rank)
{
    (void)device;
    return local_rank;
}

static int on_memory(void *device, const struct chan_gid *gid, uint32_t rank, int *fd,
                     uint64_t *offset, uint64_t *size)
{
    struct fake *fake = device;
    FAKE_CHECK(fake, !memcmp(gid, &fake->world->gid, sizeof(*gid)), "memory() of another group");
    FAKE_CHECK(fake, rank < FAKE_PROCS, "memory() of rank %u", rank);
    *fd = fake->world->memory_fd;
    *offset = (uint64_t)rank * FAKE_MEMORY;
    *size = FAKE_MEMORY;
    return 0;
}

static bool on_ended_well(void *device, const struct chan_peer *base)
{
    const struct fake_peer *peer = (const struct fake_peer *)base;
    FAKE_CHECK((struct fake *)device, peer->ended, "ended_well() of a process that is alive");
    return !peer->failed;
}

static void env_init(struct fake *fake, bool right_secret)
{
    fake->sink = (struct chan_sink){.size = sizeof(fake->sink),
                                    .arrived = on_arrived,
                                    .place = on_place,
                                    .landed = on_landed,
                                    .sent = on_sent,
                                    .done = on_done,
                                    .asked = on_asked,
                                    .opened = on_opened,
                                    .refused = on_refused,
                                    .returned = on_returned,
                                    .lost = on_lost,
                                    .broken = on_broken};
    fake->env = (struct chan_env){.version = CHAN_VERSION,
                                  .size = sizeof(fake->env),
                                  .device = fake,
                                  .sink = &fake->sink,
                                  .gid = fake->world->gid,
                                  .rank = (uint32_t)fake->rank,
                                  .host_id = "conform",
                                  .local_rank = fake->rank,
                                  .local_ranks = fake->procs,
                                  .cpus = 2,
                                  .reserve = on_reserve,
                                  .endpoint_slot_register = on_slot_register,
                                  .grow_tail = on_grow_tail,
                                  .param = on_param,
                                  .neighbor = on_neighbor,
                                  .memory = on_memory,
                                  .ended_well = on_ended_well};
    memset(fake->env.secret, right_secret ? 0x5a : 0xa5, sizeof(fake->env.secret));
}

void fake_start(struct fake *fake, struct fake_world *world, const struct chan_ops *ops, int rank,
                int procs, bool right_secret)
{
    *fake = (struct fake){.world = world,
                          .ops = ops,
                          .rank = rank,
                          .procs = procs,
                          .request_size = sizeof(struct request)};
    env_init(fake, right_secret);
    for (int i = 0; i < procs; i++)
        fake->peer[i] =
            (struct fake_peer){.fake = fake, .base = {.gid = world->gid, .rank = (uint32_t)i}};
    char why[200] = "";
    int rc = ops->open(&fake->chan, &fake->env, why, sizeof(why));
    if (rc == -ENODEV) {
        snprintf(world->why[rank], sizeof(world->why[0]), "%s", why);
        _exit(FAKE_SKIP);
    }
    FAKE_CHECK(fake, !rc, "open() failed: %s: %s", strerror(-rc), why);
    rc = ops->card(fake->chan, world->card[rank]);
    FAKE_CHECK(fake, !rc, "card() failed: %s", strerror(-rc));
    fake->requests_exist = true;
    atomic_store(&world->pid[rank], (int32_t)getpid());
    fake_barrier_still(fake);
}

void fake_finish(struct fake *fake)
{
    fake->ending = true;
    fake_barrier(fake);
    for (int i = 0; i < fake->procs; i++)
        if (fake->peer[i].link)
            fake_unlink(&fake->peer[i]);
    fake->ops->close(fake->chan);
    while (fake->param_count)
        free(fake->params[--fake->param_count]);
}

/* It takes too long: tell of links that were refused, from which that may follow. */
static void fail_late(struct fake *fake, const char *what)
{
    char text[256] = "";
    for (int i = fake->procs - 1; i >= 0; i--)
        if (fake->peer[i].refused && !fake->peer[i].open)
            snprintf(text, sizeof(text), "; the link to %d was refused (answer %d): %s", i,
                     (int)fake->peer[i].answer, fake->peer[i].reason);
    fake_fail(fake, "waited in vain for %s%s", what, text);
}

int fake_step(struct fake *fake, uint64_t deadline_ns, const char *what)
{
    fake->in_progress = true;
    int upcalls = fake->ops->progress(fake->chan);
    fake->in_progress = false;
    if (os_now_ns() >= deadline_ns)
        fail_late(fake, what);
    if (!upcalls)
        sched_yield();
    return upcalls;
}

int fake_patience = 1;

static uint64_t in_ms(int ms)
{
    return os_now_ns() + (uint64_t)ms * 1000000u;
}

/* The end of a limit of so many milliseconds. */
static uint64_t limit(int ms)
{
    return in_ms(ms * fake_patience);
}

void fake_until(struct fake *fake, const int *counter, int value, int ms, const char *what)
{
    for (uint64_t deadline = limit(ms); *counter < value;)
        fake_step(fake, deadline, what);
}

void fake_until_packets(struct fake *fake, struct fake_peer *peer, uint64_t in, int ms)
{
    char what[64];
    snprintf(what, sizeof(what), "packet %lu", (unsigned long)in);
    for (uint64_t deadline = limit(ms); peer->in < in;)
        fake_step(fake, deadline, what);
}

void fake_until_idle(struct fake *fake, int ms)
{
    for (uint64_t deadline = limit(ms); fake->pending;)
        fake_step(fake, deadline, "sent()");
}

void fake_run(struct fake *fake, int ms)
{
    for (uint64_t deadline = in_ms(ms), now = 0; now < deadline; now = os_now_ns())
        fake_step(fake, UINT64_MAX, "nothing");
}

static void barrier(struct fake *fake, bool moving)
{
    struct fake_world *world = fake->world;
    uint32_t phase = atomic_load(&world->phase);
    if (atomic_fetch_add(&world->waiting, 1) + 1 == (uint32_t)fake->procs) {
        atomic_store(&world->waiting, 0);
        atomic_fetch_add(&world->phase, 1);
        return;
    }
    uint64_t deadline = limit(SEND_LIMIT_MS);
    while (atomic_load(&world->phase) == phase) {
        if (moving)
            fake_step(fake, deadline, "the other processes");
        else
            usleep(200);
    }
}

void fake_barrier(struct fake *fake)
{
    barrier(fake, true);
}

void fake_barrier_still(struct fake *fake)
{
    barrier(fake, false);
}

struct fake_peer *fake_link(struct fake *fake, int rank)
{
    struct fake_peer *peer = &fake->peer[rank];
    struct chan_link *link = NULL;
    int rc = fake->ops->link(fake->chan, &peer->base, fake->world->card[rank], &link);
    FAKE_CHECK(fake, !rc && link, "link() failed: %s", strerror(-rc));
    FAKE_CHECK(fake, link->peer == &peer->base && link->ops == fake->ops && link->send,
               "link() left the link unfilled");
    FAKE_CHECK(fake, !peer->link || peer->link == link, "link() made a second link");
    peer->link = link;
    return peer;
}

int fake_other(const struct fake *fake)
{
    return fake->procs == 1 ? 0 : 1 - fake->rank;
}

struct fake_peer *fake_join(struct fake *fake)
{
    struct fake_peer *peer = &fake->peer[fake_other(fake)];
    if (fake->rank == 0)
        fake_link(fake, fake_other(fake));
    fake_until(fake, &peer->opened, 1, 15000, "opened()");
    FAKE_CHECK(fake, peer->lost || (peer->link && fake->chan->links > 0),
               "links is 0 with a link open");
    return peer;
}

size_t fake_largest(const struct fake_peer *peer)
{
    const size_t big = 8 << 20;
    return peer->link->max_data < big ? peer->link->max_data : big;
}

void fake_unlink(struct fake_peer *peer)
{
    struct fake *fake = peer->fake;
    fake->ops->unlink(peer->link);
    for (int i = 0; i < ENDPOINT_SLOTS; i++)
        FAKE_CHECK(fake, !peer->slots[i], "unlink() left endpoint slot %d set", i);
    for (uint32_t i = 0; i < peer->base.tail_len; i++)
        FAKE_CHECK(fake, !peer->base.tail[i], "unlink() left the endpoint slot of the tail set");
    peer->link = NULL;
    peer->open = false;
}

void fake_await_end(struct fake *fake, int rank)
{
    struct fake_peer *peer = &fake->peer[rank];
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)atomic_load(&fake->world->pid[rank]), 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    FAKE_CHECK(fake, fd >= 0 && poll(&p, 1, SEND_LIMIT_MS * fake_patience) == 1, "rank %d does not end", rank);
    close(fd);
    peer->ended = peer->may_lose = true;
    if (peer->link && fake->ops->finish)
        fake->ops->finish(peer->link);
}

static void read_pieces(const struct chan_data *data, size_t offset, void *to, size_t len)
{
    const uint8_t *bytes = (const uint8_t *)data->source + data->start;
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)to)[i] = bytes[2 * (offset + i)];
}

static struct request *request_make(struct fake *fake, size_t len, uint64_t seed, unsigned form)
{
    struct request *request = calloc(1, fake->request_size + 64);
    size_t room = form & FAKE_PIECES ? 2 * len + 1 : len;
    FAKE_CHECK(fake, request && (request->bytes = malloc(room + 8)), "no memory");
    request->room = room;
    fill(request->bytes, len, seed);
    if (form & FAKE_PIECES)
        for (size_t i = len; i-- > 0;)
            request->bytes[2 * i + 1] = request->bytes[i];
    request->data = (struct chan_data){.base = form & FAKE_PIECES && len ? NULL : request->bytes,
                                       .len = len,
                                       .read = form & FAKE_PIECES ? read_pieces : NULL,
                                       .source = request->bytes,
                                       .start = 1,
                                       .cookie = form & FAKE_COOKIE ? request : NULL,
                                       .flags = form & FAKE_MORE ? CHAN_MORE : 0};
    return request;
}

bool fake_send(struct fake_peer *peer, size_t len, unsigned form)
{
    struct fake *fake = peer->fake;
    FAKE_CHECK(fake, peer->link, "no link to send on");
    if (len > peer->link->max_data)
        len = peer->link->max_data;
    struct chan_head head = {{peer->out << 32 | len, mixed(peer->out * 77 + len)}};
    struct request *request = request_make(fake, len, head.word[1], form);
    uint64_t deadline = limit(SEND_LIMIT_MS);
    int rc;
    while ((rc = peer->link->send(peer->link, &head, &request->data)) == CHAN_AGAIN) {
        if (form & FAKE_TRY) {
            request_free(request);
            return false;
        }
        fake_step(fake, deadline, "send() to take a packet");
        FAKE_CHECK(fake, peer->link, "the link went away under send()");
    }
    FAKE_CHECK(fake, rc == 0 || (rc == CHAN_PENDING && form & FAKE_COOKIE), "send() returned %d",
               rc);
    peer->out++;
    if (rc == CHAN_PENDING) {
        request->pending = true;
        fake->pending++;
    } else {
        request_free(request);
    }
    return true;
}
