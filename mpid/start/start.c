/* SPDX-License-Identifier: BSD-3-Clause */

/* The device's life: attach, open the channels, publish the card; and back. */

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/foreign.h"
#include "mpid/conn/idle.h"
#include "mpid/conn/module.h"
#include "mpid/conn/ports.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/ended.h"
#include "mpid/memory/region.h"
#include "mpid/message/recv.h"
#include "mpid/message/rndv.h"
#include "mpid/message/send.h"
#include "mpid/peers/lost.h"
#include "mpid/peers/notice.h"
#include "mpid/peers/parted.h"
#include "mpid/tell/crash.h"
#include "mpid/tell/facts.h"
#include "mpid/tell/hang.h"
#include "mpid/wait/polling.h"
#include "mpid/wait/progress.h"
#include "mpid/wait/sleep.h"
#include "mpid/wait/wait.h"
#include "mpid/wait/wake.h"
#include "os/log.h"
#include "os/settings.h"

enum { FORK_PATIENCE_MS = 100 };

static void sent(struct chan_peer *peer, void *cookie)
{
    send_sent((struct vc *)peer, cookie);
}

static void broken(void *owner, const struct chan_ops *ops, const char *why)
{
    char text[200];
    (void)owner;
    snprintf(text, sizeof(text), "%s: %s", ops->name, why);
    device_abort(1, text);
}

static const struct chan_sink sink = {
    .size = sizeof(struct chan_sink),
    .arrived = recv_arrived,
    .place = packet_place,
    .landed = packet_landed,
    .sent = sent,
    .done = rndv_got,
    .asked = connect_asked,
    .opened = connect_opened,
    .refused = connect_refused,
    .returned = connect_returned,
    .lost = connect_lost,
    .broken = broken,
};

/* ---- what the rooms have done by those above them ---- */

static void vc_gone(struct vc *vc)
{
    facts_vc_gone(vc);
    lost_remove_vc(vc);
}

static void vc_starved(struct vc *vc)
{
    send_fail(vc, MPID_NO_MEMORY);
}

static void vc_end(struct vc *vc, enum mpid_error error)
{
    recv_fail(vc, error);
    rndv_fail(vc, error);
    send_fail(vc, error);
}

static void vc_failed(const struct vc *vc, bool has_failed)
{
    if (vc->foreign && vc->refs) /* nobody else tells of that */
        lost_process(&vc->peer.gid, vc->peer.rank, has_failed);
    else
        lost_vc();
}

static void tell_request(void *arg, struct mpid_wait_report *report)
{
    mpid_tell_request(report, arg);
}

static void connect_rooms(void)
{
    static const struct progress_above of_progress = {
        .drain = send_drain_busy,
        .connect = connect_poll,
        .until_ns = connect_until_ns,
        .ended = lost_finish,
        .judge = lost_look,
        .part = parted_poll,
        .vanish = connect_end_vanished,
        .let_go = idle_look,
        .say = hang_poll,
        .say_looking = hang_tell_poll,
        .say_waiting = hang_tell,
        .say_request = tell_request,
    };
    static const struct vc_above of_vc = {
        .begun = lost_add_vc,
        .gone = vc_gone,
        .is_wanted = lost_is_wanted,
        .unwanted = send_unwanted,
        .starved = vc_starved,
        .lost = parted_note,
        .end = vc_end,
        .failed = vc_failed,
    };
    progress_above = &of_progress;
    vc_above = &of_vc;
    lost_end_sends = send_fail_context;
}

/* ---- requests of channels ---- */

static int reserve(void *owner, size_t size, size_t align)
{
    (void)owner;
    int at = mpid_space_reserve(MPID_SPACE_REQUEST, size, align);
    return at < 0 ? -ENOSPC : at;
}

static int64_t neighbor(void *owner, int local_rank)
{
    const struct device *d = owner;
    int rank;
    return BNR_Get_member(d->group, d->node, local_rank, &rank) ? -EINVAL : rank;
}

static int memory(void *owner, const struct chan_gid *gid, uint32_t rank, int *fd,
                  uint64_t *offset, uint64_t *size)
{
    (void)owner;
    return region_channel_memory(gid, rank, fd, offset, size);
}

static bool ended_well(void *owner, const struct chan_peer *peer)
{
    (void)owner;
    return ended_has(&peer->gid, peer->rank) && !ended_has_failed(&peer->gid, peer->rank);
}

static const uint8_t *secret_with(void *owner, const struct chan_gid *gid, uint32_t rank)
{
    const struct vc *vc = vc_find(gid, rank);
    (void)owner;
    return vc && vc->foreign ? vc->foreign->secret : NULL;
}

/* ---- the process manager ---- */

/* A process that has ended without ever joining leaves a world that none of us can use: a wait for
 * it would last for ever. */
static void end_for_missing(int rank)
{
    char text[64];
    snprintf(text, sizeof(text), "rank %d has exited without MPI_Init", rank);
    fflush(NULL);
    device_abort(1, text);
}

static void look_at_channels(void)
{
    for (int i = 0; i < device.port_count; i++)
        (void)device.ports[i].chan->ops->progress(device.ports[i].chan);
}

/* A process has ended. What it has sent before still counts: one look at each channel finds the
 * attempts that it has made, and the rest comes over its link, before that ends. Of processes that are heard of
 * together, all had ended before the first of these looks. */
static void process_ended(const BNR_Event *event, void *arg)
{
    uint32_t rank = (uint32_t)event->rank;
    struct chan_gid gid;
    (void)arg;
    memcpy(&gid, &event->gid, sizeof(gid));
    if (!device_group_of(&gid, rank))
        return;
    if (event->type == BNR_EV_PROC_EXIT && !event->joined && device.used & MPID_WORLD &&
        device_is_own_group(&gid))
        end_for_missing(event->rank);
    if (!device.ending)
        look_at_channels();
    lost_begin();
    ended_note(&gid, rank);
    struct vc *vc = vc_find(&gid, rank);
    if (vc && event->host_lost)
        connect_vanished(vc);
    else if (vc)
        connect_ended(vc);
    lost_process(&gid, rank, event->type != BNR_EV_PROC_EXIT);
    if (!device.hearing)
        lost_finish();
}

static int attach(char *why, size_t size)
{
    BNR_Host host;
    BNR_Gid gid;
    struct mpid_world *world = &device.world;
    int rc = BNR_Init(NULL), id;
    if (rc) {
        why[0] = 0; /* it has been said */
        return -EINVAL;
    }
    if ((rc = BNR_Get_group(&device.group)) || (rc = BNR_Get_rank(device.group, &world->rank)) ||
        (rc = BNR_Get_size(device.group, &world->size)) ||
        (rc = BNR_Get_gid(device.group, &gid)) ||
        (rc = BNR_Get_host(device.group, world->rank, &host)) ||
        (rc = BNR_Get_locality(device.group, world->rank, &device.node, &device.env.local_rank,
                               NULL)) ||
        (rc = BNR_Get_secret(device.group, device.env.secret)) ||
        (rc = BNR_Event_register(BNR_EV_PROC_EXIT | BNR_EV_PROC_FAILED | BNR_EV_PROC_ABORT,
                                 device.group, process_ended, NULL, &id)) ||
        (rc = BNR_Xcast_register(device.group, CONNECT_TAG, connect_told, NULL)) ||
        (rc = parted_attach())) {
        snprintf(why, size, "%s", BNR_Strerror(rc));
        BNR_Finalize();
        return -EINVAL;
    }
    unsigned *news;
    device.news = BNR_Get_news(&news) ? NULL : (const _Atomic uint32_t *)(void *)news;
    hang_init();
    crash_init();
    memcpy(&world->gid, &gid, sizeof(gid));
    if (BNR_Get_appnum(&world->appnum))
        world->appnum = -1;
    if (BNR_Get_universe_size(&world->universe_size))
        world->universe_size = 0;
    world->host = host.name;
    world->host_id = host.id;
    world->local_ranks = host.ranks;
    world->cpus = host.cpus;
    memcpy(&device.env.gid, &gid, sizeof(gid));
    device.env.host_id = host.id;
    return 0;
}

/* ---- life ---- */

static int start(char *why, size_t size)
{
    const struct mpid_world *world = &device.world;
    device.env.version = CHAN_VERSION;
    device.env.size = sizeof(device.env);
    device.env.device = &device;
    device.sink = sink;
    device.env.sink = &device.sink;
    device.env.rank = (uint32_t)world->rank;
    device.env.ranks = world->size;
    device.env.local_ranks = world->local_ranks;
    device.env.cpus = world->cpus;
    device.env.reserve = reserve;
    device.env.endpoint_slot_register = ports_slot_register;
    device.env.grow_tail = ports_grow_tail;
    device.env.param = ports_param;
    device.env.neighbor = neighbor;
    device.env.memory = memory;
    device.env.card_changed = ports_publish;
    device.env.ended_well = ended_well;
    device.env.secret_with = secret_with;
    device.eager_credit = (uint64_t)os_setting(OS_SETTING_EAGER_CREDIT);
    device.credit_step = device.eager_credit / 4;
    os_pool_init(&device.controls, sizeof(struct control), 16);
    os_pool_init(&device.landings, sizeof(struct landing), 16);
    if (match_init(&device.match) || vc_init() || stats_init() || recv_init() || rndv_init() ||
        notice_init() || idle_init()) {
        snprintf(why, size, "no memory");
        return -ENOMEM;
    }
    device.unjudged = world->size > 1; /* whether this process is alone */
    device.first_apart = (uint32_t)world->size;
    region_init();
    int rc = ports_open(why, size);
    idle_open();
    os_pool_init(&device.cars, mpid_space_seal(MPID_SPACE_REQUEST), 16);
    progress_look();
    if (!rc && BNR_Put(device.group, "card", device.card, strlen(device.card), 0)) {
        snprintf(why, size, "this process's card could not be published");
        rc = -ENOMEM;
    }
    if (!rc && !device_shows_keys() && BNR_Fence(device.group)) {
        why[0] = 0; /* it has been said */
        rc = -EIO;
    }
    return rc;
}

/* Go on with the channels and connections that are there. */
static int start_again(char *why, size_t size)
{
    int rc = attach(why, size);
    if (rc)
        return rc;
    device.at_rest = false;
    progress_look();
    (void)BNR_Progress(NULL); /* some peers may have ended meanwhile */
    return 0;
}

/* Who tells this job of deaths, if that is not mpiexec, whose report would say so. */
static void report_deaths(void)
{
    const char *name = "";
    unsigned long long caps = 0;
    bool is_asked = os_setting(OS_SETTING_REPORT) && !device.world.rank && device.world.size > 1;
    if (!is_asked || BNR_Query_caps(&caps) || caps & BNR_CAP_EVENTS || BNR_Backend_name(&name))
        return;
    fprintf(stderr, "Deaths: this launcher (%s) tells ranks of none. A rank finds a peer of its host dead by the memory that "
            "they share, and others if their connection breaks. Vireo's own mpiexec tells of all.\n", name);
}

static int start_first(size_t request_size, char *why, size_t size)
{
    device = (struct device){.lock = OS_LOCK_INIT};
    connect_rooms();
    mpid_space_open(MPID_SPACE_REQUEST, request_size);
    int rc = attach(why, size);
    if (rc)
        return rc;
    os_log_identity(device.world.rank, device.world.host);
    wait_init(device.world.local_ranks, device.world.cpus);
    polling_init(device.world.local_ranks, device.world.cpus);
    rc = start(why, size);
    if (rc) {
        ports_close();
        match_fini(&device.match);
        wait_fini();
        BNR_Finalize();
        return rc;
    }
    device.pid = getpid();
    facts_open();
    report_deaths();
    return 0;
}

int mpid_init(bool threads, size_t request_size, struct mpid_world *world, char *why, size_t size)
{
    int rc = device.at_rest ? start_again(why, size) : start_first(request_size, why, size);
    if (rc)
        return rc;
    if (threads)
        mpid_use_threads();
    *world = device.world;
    return 0;
}

/* Another thread may hold the lock for long only while it holds it for ever: this one, which
 * fork()s in the middle of MPI. */
void mpid_before_fork(void)
{
    uint64_t until_ns = os_now_ns() + FORK_PATIENCE_MS * 1000000ull;
    bool held;
    while (!(held = os_trylock_slow(&device.lock)) && os_now_ns() < until_ns)
        usleep(20);
    if (held)
        device.forker = pthread_self();
}

/* Whether this thread, or the one that it was in the parent, holds the lock across fork(). Others
 * may fork() at the same time, without it. */
static bool is_forker(void)
{
    return device.forker == pthread_self();
}

void mpid_after_fork(void)
{
    if (!is_forker())
        return;
    device.forker = 0;
    os_unlock_slow(&device.lock);
}

static void orphan(struct vc *vc, void *arg)
{
    (void)arg;
    vc_disown(vc);
}

/* Nothing shared with the parent is touched: no link, and no open file. */
void mpid_orphan(void)
{
    for (int i = 0; i < device.port_count && is_forker(); i++)
        if (device.ports[i].chan->ops->forked)
            device.ports[i].chan->ops->forked(device.ports[i].chan);
    region_orphan();
    device.orphan = true;
    device.group = BNR_GROUP_NULL;
    device.port_count = device.hot_count = device.binding = 0;
    device.crowd = NULL;
    device.countdown = INT_MAX;
    device.busy = NULL;
    sleep_forget();
    vc_each(orphan, NULL);
}

int mpid_channel_load(const char *file, char *why, size_t size)
{
    if (module_is_forbidden()) {
        snprintf(why, size, "this process is set-user-id, and loads nothing");
        return -EINVAL;
    }
    if (module_try(file, &device.env, why, size))
        return -EINVAL;
    os_lock(&device.lock);
    int rc = ports_load(file, why, size);
    wake_all();
    os_unlock(&device.lock);
    return rc;
}

struct loading {
    int rc;
    char *why;
    size_t size;
};

static void load_more(const char *file, void *arg)
{
    struct loading *loading = arg;
    os_lock(&device.lock);
    bool there = ports_has_file(file);
    os_unlock(&device.lock);
    if (!there && !loading->rc)
        loading->rc = mpid_channel_load(file, loading->why, loading->size);
}

int mpid_channel_load_path(const char *path, char *why, size_t size)
{
    struct loading loading = {.why = why, .size = size};
    module_each(path, load_more, &loading);
    return loading.rc;
}

bool mpid_channel_describe(int index, struct mpid_channel *channel)
{
    os_lock(&device.lock);
    bool there = ports_describe(index, channel);
    os_unlock(&device.lock);
    return there;
}
