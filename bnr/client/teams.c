/* SPDX-License-Identifier: BSD-3-Clause */

/* All that groups consist of, together; see teams.h. */
#include "bnr/client/teams.h"

#include "bnr/client/team_calls.h"
#include "bnr/client/team_ports.h"

static bool is_stepping;

/* ---- what the engine asks for ---- */

static void on_send(void *arg, const struct rally *r, int tie, const struct rally_frame *frame)
{
    (void)arg;
    tie_send(tie, &rallies_of(r)->gid, frame);
}

static void on_refuse(void *arg, int tie, const BNR_Gid *gid)
{
    const struct rally_frame frame = {RALLY_FAIL, 0, BNR_ERR_PROC_FAILED, 0, NULL};
    (void)arg;
    tie_send(tie, gid, &frame);
}

static void on_late(void *arg, struct rally *r, const struct rally_frame *down)
{
    BNR_Gid gid;
    (void)arg;
    if (team_calls_made(down->bytes, &gid))
        rallies_shun(&teams.rallies, rallies_of(r), &gid);
}

static int hear_other(int tie, const BNR_Gid *gid, const struct rally_frame *frame)
{
    int rc = team_calls_heard(tie, gid, frame);
    return rc == TEAM_CALLS_NONE ? team_spawn_heard(tie, gid, frame) : rc;
}

static int on_heard(int tie, const BNR_Gid *gid, const struct rally_frame *frame)
{
    if (team_is_stranger(tie))
        return team_links_heard(tie, gid, frame);
    if (frame->kind >= (enum rally_kind)TIE_HELLO)
        return hear_other(tie, gid, frame);
    return rallies_heard(&teams.rallies, tie, gid, frame);
}

static void on_lost(int tie)
{
    team_links_lost(tie);
    rallies_lost(&teams.rallies, tie);
}

/* ---- life ---- */

void teams_init(struct bnr_group *world, struct backend *b)
{
    world->backend = b;
    world->kind = TEAM_WORLD;
    world->refs = 1;
    world->gid = b->gid;
    world->size = b->size;
    world->rank = b->rank;
    world->next = NULL;
    teams.world = world;
}

int teams_begin(void)
{
    static const struct rally_hooks hooks = {on_send, on_late, NULL};
    static const struct tie_hooks tie_hooks = {on_heard, on_lost};
    if (teams.is_on)
        return BNR_SUCCESS;
    int rc = ties_begin(&tie_hooks);
    if (rc)
        return rc;
    rallies_init(&teams.rallies, &hooks, NULL);
    teams.rallies.refuse = on_refuse;
    teams.is_on = true;
    return BNR_SUCCESS;
}

void teams_fini(void)
{
    struct bnr_group *world = teams.world;
    if (!world)
        return;
    team_calls_end();
    team_spawn_end();
    team_ports_end();
    team_links_end();
    ties_end();
    while (world->next) {
        struct bnr_group *g = world->next;
        world->next = g->next;
        team_free(g);
    }
    if (teams.is_on)
        rallies_fini(&teams.rallies);
    team_free(world);
    *world = (struct bnr_group){0};
    teams = (struct teams){0};
}

/* ---- turns ---- */

void teams_step(int wait_ms)
{
    if (!teams.is_on || is_stepping)
        return;
    is_stepping = true;
    (void)ties_step(wait_ms);
    team_links_step();
    team_calls_go_on();
    is_stepping = false;
    team_spawn_step();
}

bool teams_are_stepping(void)
{
    return is_stepping;
}
