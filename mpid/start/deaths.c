/* SPDX-License-Identifier: BSD-3-Clause */

/* Ends of processes, as the process manager tells of them. */
#include <stdio.h>
#include <string.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/ended.h"
#include "mpid/ground/life.h"
#include "mpid/peers/lost.h"
#include "os/settings.h"

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

static int attach(void)
{
    int id;
    return BNR_Event_register(BNR_EV_PROC_EXIT | BNR_EV_PROC_FAILED | BNR_EV_PROC_ABORT, device.group, process_ended,
                              NULL, &id);
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

const struct life deaths_life = {.attach = attach, .open = report_deaths};
