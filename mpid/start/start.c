/* SPDX-License-Identifier: BSD-3-Clause */

/* The device's life: attach, open the channels, publish the card; and back. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpid/conn/ports.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/start/env.h"
#include "mpid/start/rooms.h"
#include "mpid/wait/polling.h"
#include "mpid/wait/progress.h"
#include "mpid/wait/wait.h"
#include "os/log.h"
#include "os/settings.h"

/* The modules, from the ground up: counts lie in VCs, whose space is reserved first. */
static const struct life *const lives[] = {
    &ended_life, &vc_life, &stats_life, &connect_life, &idle_life, &lost_life, &notice_life, &parted_life, &recv_life,
    &rndv_life, &region_life, &hang_life, &crash_life, &facts_life, &deaths_life,
};
enum { LIVES = sizeof(lives) / sizeof(lives[0]) };

/* ---- the job ---- */

static int attach_all(void)
{
    int rc = 0;
    for (int i = 0; i < LIVES && !rc; i++)
        rc = lives[i]->attach ? lives[i]->attach() : 0;
    return rc;
}

static int attach(char *why, size_t size)
{
    BNR_Host host;
    BNR_Gid gid;
    struct mpid_world *world = &device.world;
    int rc = BNR_Init(NULL);
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
        (rc = BNR_Get_secret(device.group, device.env.secret)) || (rc = attach_all())) {
        snprintf(why, size, "%s", BNR_Strerror(rc));
        BNR_Finalize();
        return -EINVAL;
    }
    unsigned *news;
    device.news = BNR_Get_news(&news) ? NULL : (const _Atomic uint32_t *)(void *)news;
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

static int start_all(void)
{
    int rc = match_init(&device.match);
    for (int i = 0; i < LIVES && !rc; i++)
        rc = lives[i]->start ? lives[i]->start() : 0;
    return rc;
}

static int publish(char *why, size_t size)
{
    if (BNR_Put(device.group, "card", device.card, strlen(device.card), 0)) {
        snprintf(why, size, "this process's card could not be published");
        return -ENOMEM;
    }
    if (!device_shows_keys() && BNR_Fence(device.group)) {
        why[0] = 0; /* it has been said */
        return -EIO;
    }
    return 0;
}

static int start(char *why, size_t size)
{
    const struct mpid_world *world = &device.world;
    env_fill();
    device.eager_credit = (uint64_t)os_setting(OS_SETTING_EAGER_CREDIT);
    device.credit_step = device.eager_credit / 4;
    if (start_all()) {
        snprintf(why, size, "no memory");
        return -ENOMEM;
    }
    device.unjudged = world->size > 1; /* whether this process is alone */
    device.first_apart = (uint32_t)world->size;
    int rc = ports_open(why, size);
    for (int i = 0; i < LIVES && !rc; i++)
        if (lives[i]->open)
            lives[i]->open();
    progress_look();
    return rc ? rc : publish(why, size);
}

static void stop(bool joined)
{
    for (int i = LIVES; i--;)
        if (lives[i]->close)
            lives[i]->close();
    ports_close();
    if (joined)
        BNR_Finalize();
    for (int i = LIVES; i--;)
        if (lives[i]->end)
            lives[i]->end();
    match_fini(&device.match);
    ids_fini(&device.ids);
    wait_fini();
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

static int start_first(size_t request_size, char *why, size_t size)
{
    device = (struct device){.lock = OS_LOCK_INIT};
    rooms_connect();
    mpid_space_open(MPID_SPACE_REQUEST, request_size);
    int rc = attach(why, size);
    if (rc)
        return rc;
    os_log_identity(device.world.rank, device.world.host);
    wait_init(device.world.local_ranks, device.world.cpus);
    polling_init(device.world.local_ranks, device.world.cpus);
    rc = start(why, size);
    if (rc) {
        stop(true);
        return rc;
    }
    device.pid = getpid();
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

void mpid_close(void)
{
    if (!device.at_rest || device.orphan || device.pid != getpid())
        return;
    device.at_rest = false;
    stop(!BNR_Init(NULL)); /* the channels may still ask */
}
