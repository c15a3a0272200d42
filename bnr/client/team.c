/* SPDX-License-Identifier: BSD-3-Clause */

/* Groups as objects of this process; see team.h. */
#include "bnr/client/team.h"

#include <stdlib.h>
#include <string.h>

#include "bnr/client/orders.h"
#include "bnr/host/order.h"

struct teams teams;

/* ---- objects ---- */

static void drop_commands(struct bnr_group *g)
{
    while (g->commands) {
        struct team_command *c = g->commands;
        g->commands = c->next;
        free(c->words);
        free(c);
    }
    g->commands_end = &g->commands;
}

void team_free(struct bnr_group *g)
{
    team_keys_drop(g);
    drop_commands(g);
    free(g->tie);
    free(g->part);
    free(g->door);
    free(g->ended);
    if (g->kind != TEAM_WORLD)
        free(g);
}

bool team_is(const struct bnr_group *g)
{
    const struct bnr_group *known = teams.world;
    while (known && known != g)
        known = known->next;
    return g && known;
}

struct bnr_group *team_find(const BNR_Gid *gid)
{
    struct bnr_group *g = teams.world;
    while (g && memcmp(g->gid.b, gid->b, sizeof(gid->b)) != 0)
        g = g->next;
    return g;
}

struct bnr_group *team_new(enum team_kind kind, const BNR_Gid *gid, int size, int rank)
{
    struct bnr_group *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->kind = kind;
    g->refs = 1;
    g->gid = *gid;
    g->size = size;
    g->rank = rank;
    g->commands_end = &g->commands;
    g->next = teams.world->next; /* behind the world, which is found first */
    teams.world->next = g;
    return g;
}

void team_ref(struct bnr_group *g)
{
    if (g->kind != TEAM_WORLD)
        g->refs++;
}

void team_part(struct bnr_group *g)
{
    if (g->rally)
        rallies_remove(&teams.rallies, g->rally);
    g->rally = NULL;
    for (int i = 0; i < g->tie_count; i++)
        tie_unref(g->tie[i]);
    g->tie_count = 0;
}

void team_unref(struct bnr_group *g)
{
    if (!g || g->kind == TEAM_WORLD || --g->refs)
        return;
    struct bnr_group **at = &teams.world, *side[2] = {g->side[0], g->side[1]};
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    if (g->rally)
        rally_break(&g->rally->rally, BNR_ERR_PROC_FAILED);
    team_part(g);
    if (g->job)
        orders_let_go(g->job);
    team_free(g);
    team_unref(side[0]);
    team_unref(side[1]);
}

int team_parent(struct bnr_group **parent)
{
    struct order_note note;
    if (!teams.has_parent && orders_group_note() && !order_note_get(&note, orders_group_note())) {
        BNR_Gid gid;
        memcpy(gid.b, note.parent, sizeof(gid.b));
        char *door = strdup(note.door);
        teams.parent = door ? team_new(TEAM_FAR, &gid, note.parent_size, -1) : NULL;
        if (!teams.parent) {
            free(door);
            return BNR_ERR_NOMEM;
        }
        teams.parent->door = door;
        teams.parent->relation = MEET_SPAWNED;
    }
    teams.has_parent = true;
    *parent = teams.parent;
    return BNR_SUCCESS;
}
