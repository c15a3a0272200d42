/* SPDX-License-Identifier: BSD-3-Clause */

/* The BNR calls of groups: arguments, requests, waits; team.c and team_calls.c do the rest. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/client/client.h"
#include "bnr/client/team_calls.h"
#include "bnr/client/team_ports.h"
#include "bnr/client/teams.h"
#include "bnr/client/info.h"
#include "os/clock.h"

enum { WAIT_MS = 1 };
static const double connect_s = 600; /* of a merge with strangers, and a connect, without timeout_ms */

static int refused(void)
{
    return client_backend() ? BNR_ERR_ARG : BNR_ERR_NOT_INIT;
}

static bool is_group(BNR_Group g)
{
    return client_backend() && team_is(g);
}

/* ---- what a group is ---- */

int BNR_Get_parent(BNR_Group *g)
{
    return client_backend() && g ? team_parent(g) : refused();
}

int BNR_Get_rank(BNR_Group g, int *rank)
{
    if (!is_group(g) || !rank)
        return refused();
    *rank = g->rank < 0 ? BNR_RANK_ANY : g->rank;
    return BNR_SUCCESS;
}

int BNR_Get_size(BNR_Group g, int *size)
{
    if (!is_group(g) || !size)
        return refused();
    if (g->kind == TEAM_OPEN)
        return BNR_ERR_STATE;
    *size = g->size;
    return BNR_SUCCESS;
}

int BNR_Get_gid(BNR_Group g, BNR_Gid *gid)
{
    if (!is_group(g) || !gid)
        return refused();
    *gid = g->gid;
    return BNR_SUCCESS;
}

int BNR_Group_compare(BNR_Group a, BNR_Group b, int *order)
{
    if (!is_group(a) || !is_group(b) || !order)
        return refused();
    int diff = memcmp(a->gid.b, b->gid.b, sizeof(a->gid.b));
    *order = (diff > 0) - (diff < 0);
    return BNR_SUCCESS;
}

int BNR_Find_group(const BNR_Gid *gid, BNR_Group *g)
{
    if (!client_backend() || !gid || !g)
        return refused();
    BNR_Group found = team_find(gid);
    if (!found)
        return BNR_ERR_NOT_FOUND;
    *g = found;
    return BNR_SUCCESS;
}

int BNR_Get_sides(BNR_Group g, BNR_Group *local, BNR_Group *remote)
{
    if (!is_group(g) || !local || !remote)
        return refused();
    *local = g->kind == TEAM_JOINT ? g->side[0] : g;
    *remote = g->kind == TEAM_JOINT ? g->side[1] : BNR_GROUP_NULL;
    return BNR_SUCCESS;
}

int BNR_Get_origin(BNR_Group g, int rank, BNR_Gid *gid, int *origin)
{
    if (!is_group(g) || !gid || !origin || rank < 0 || rank >= g->size)
        return refused();
    if (!g->part && g->kind == TEAM_FAR && g->relation == MEET_SPAWNED)
        return BNR_ERR_STATE;
    *gid = g->gid;
    *origin = rank;
    for (int i = 0; i < g->part_count; rank -= g->part[i].size, i++)
        if (rank >= 0 && rank < g->part[i].size) {
            *gid = g->part[i].gid;
            *origin = rank;
        }
    return BNR_SUCCESS;
}

/* Clear those of a group's members that are known to have ended, from rank at on. */
static void clear_ended(BNR_Group g, unsigned char *bitmap, int at)
{
    if (g->kind == TEAM_JOINT) {
        clear_ended(g->side[g->first], bitmap, at);
        clear_ended(g->side[!g->first], bitmap, at + g->side[g->first]->size);
        return;
    }
    for (int r = 0; r < g->size; r++) {
        bool ended = g->kind == TEAM_WORLD ? !g->backend->ops->is_alive(g->backend, r)
                                            : g->is_over || (g->ended && g->ended[r / 8] >> r % 8 & 1);
        if (ended)
            bitmap[(at + r) / 8] &= (unsigned char)~(1u << (at + r) % 8);
    }
}

int BNR_Get_alive(BNR_Group g, unsigned char *bitmap, size_t bytes)
{
    if (!is_group(g) || !bitmap || bytes < ((size_t)g->size + 7) / 8)
        return refused();
    memset(bitmap, 0, bytes);
    for (int r = 0; r < g->size; r++)
        bitmap[r / 8] |= (unsigned char)(1u << r % 8);
    clear_ended(g, bitmap, 0);
    return BNR_SUCCESS;
}

int BNR_Dup_group(BNR_Group g, BNR_Group *out)
{
    if (!is_group(g) || !out)
        return refused();
    team_ref(g);
    *out = g;
    return BNR_SUCCESS;
}

int BNR_Free_group(BNR_Group *g)
{
    if (!g || !is_group(*g))
        return refused();
    if (*g != teams.parent)
        team_unref(*g);
    *g = BNR_GROUP_NULL;
    return BNR_SUCCESS;
}

/* ---- keys ---- */

static bool is_key(const char *key)
{
    return key && *key && strnlen(key, BNR_MAX_KEY + 1) <= BNR_MAX_KEY;
}

int BNR_Put(BNR_Group g, const char *key, const void *val, size_t len, unsigned flags)
{
    if (!is_group(g) || !is_key(key) || (!val && len) || len > BNR_MAX_VALUE || (flags & ~BNR_PUT_REPLACE))
        return refused();
    if (g->kind == TEAM_WORLD)
        return g->backend->ops->put(g->backend, key, val, len, flags);
    return g->rally ? team_keys_put(g, key, val, len, (flags & BNR_PUT_REPLACE) != 0) : BNR_ERR_STATE;
}

static int look(BNR_Group g, int owner, const char *key, const void **val, size_t *len, unsigned flags)
{
    if (!is_group(g) || owner < 0 || owner >= g->size || !is_key(key) || (flags & ~(BNR_GET_NOWAIT | BNR_GET_LATER)))
        return refused();
    return team_keys_look(g, owner, key, val, len, flags);
}

int BNR_Get(BNR_Group g, int owner, const char *key, void *buf, size_t *len, unsigned flags)
{
    const void *val;
    size_t found;
    if (!len || (!buf && *len))
        return refused();
    int rc = look(g, owner, key, &val, &found, flags);
    return rc ? rc : team_keys_give(val, found, buf, len);
}

int BNR_Get_alloc(BNR_Group g, int owner, const char *key, void **val, size_t *len, unsigned flags)
{
    const void *shared;
    size_t found;
    if (!val || !len)
        return refused();
    int rc = look(g, owner, key, &shared, &found, flags);
    if (rc)
        return rc;
    char *copy = malloc(found + 1);
    if (!copy)
        return BNR_ERR_NOMEM;
    memcpy(copy, shared, found);
    copy[found] = 0;
    *val = copy;
    *len = found;
    return BNR_SUCCESS;
}

/* ---- requests ---- */

int BNR_Test(BNR_Req *req, int *done, int *code)
{
    if (!client_backend() || !req || !done || !code || (*req && !team_call_is(*req)))
        return refused();
    *done = 1;
    if (!*req) {
        *code = BNR_SUCCESS;
        return BNR_SUCCESS;
    }
    (void)BNR_Progress(NULL); /* some calls wait for mpiexec's word */
    teams_step(0);
    *done = team_call_is_done(*req);
    if (!*done)
        return BNR_SUCCESS;
    *code = (*req)->code;
    if ((*req)->state == REQ_DONE)
        team_call_free(*req);
    else
        (*req)->is_released = true; /* it goes on alone, as the others count on its turn */
    *req = BNR_REQ_NULL;
    return BNR_SUCCESS;
}

int BNR_Wait(BNR_Req *req, int *code)
{
    int done = 0;
    if (teams_are_stepping())
        return BNR_ERR_STATE;
    for (;;) {
        int rc = BNR_Test(req, &done, code);
        if (rc || done)
            return rc;
        teams_step(WAIT_MS);
        backend_idle(client_backend());
    }
}

int BNR_Cancel(BNR_Req *req)
{
    if (!client_backend() || !req || !*req || !team_call_is(*req))
        return refused();
    team_call_give_up(*req, BNR_ERR_CANCELED);
    return BNR_SUCCESS;
}

/* Wait for a request that has been begun with this code. */
static int wait_for(int rc, BNR_Req req)
{
    int code;
    if (!rc)
        rc = BNR_Wait(&req, &code);
    return rc ? rc : code;
}

int BNR_Poll_fd(int *fd)
{
    if (!client_backend() || !fd)
        return refused();
    int rc = teams_begin();
    if (!rc) {
        client_hear_groups();
        *fd = ties_fd();
    }
    return rc;
}

/* Begin a call; default_s: without timeout_ms in info; 0: as long as it takes. */
static int begin(const struct team_call_ops *ops, BNR_Group g, BNR_Info info, double default_s, struct bnr_req **made)
{
    if (client_is_calling_back() || teams_are_stepping())
        return BNR_ERR_STATE;
    int rc = teams_begin();
    if (rc)
        return rc;
    client_hear_groups();
    struct bnr_req *req = team_call_new(ops, g);
    if (!req)
        return BNR_ERR_NOMEM;
    double ms = info_number(info, "timeout_ms");
    double limit_s = ms < 0 ? default_s : ms / 1000;
    req->until_ns = limit_s > 0 ? os_now_ns() + (uint64_t)(limit_s * 1e9) : 0;
    *made = req;
    return BNR_SUCCESS;
}

/* Hand it out. */
static int start(struct bnr_req *made, BNR_Req *req)
{
    team_call_start(made);
    *req = made;
    return BNR_SUCCESS;
}

/* ---- fences, gets ---- */

int BNR_Ifence(BNR_Group g, BNR_Req *req)
{
    struct bnr_req *made;
    if (!is_group(g) || g->rank < 0 || !req)
        return refused();
    int rc = begin(&team_call_fence, g, BNR_INFO_NULL, 0, &made);
    if (!rc && g->kind == TEAM_WORLD && !(g->backend->ops->caps & BNR_CAP_LAZYGET)) {
        made->ops = NULL; /* only the manager's own fence hands out keys */
        made->code = client_fence_world();
        made->state = REQ_DONE;
    }
    return rc ? rc : start(made, req);
}

int BNR_Fence(BNR_Group g)
{
    BNR_Req req = BNR_REQ_NULL;
    if (!is_group(g) || g->rank < 0)
        return refused();
    if (g->kind == TEAM_WORLD)
        return client_fence_world();
    int rc = BNR_Ifence(g, &req);
    return wait_for(rc, req);
}

int BNR_Barrier(BNR_Group g)
{
    return BNR_Fence(g);
}

int BNR_Iget(BNR_Group g, int owner, const char *key, void *buf, size_t *len, BNR_Req *req)
{
    struct bnr_req *made;
    if (!is_group(g) || owner < 0 || owner >= g->size || !is_key(key) || !len || (!buf && *len) || !req)
        return refused();
    int rc = begin(NULL, g, BNR_INFO_NULL, 0, &made);
    if (rc)
        return rc;
    made->key = strdup(key);
    made->owner = owner;
    made->buf = buf;
    made->len = len;
    if (!made->key || g->kind != TEAM_WORLD) {
        made->code = made->key ? BNR_Get(g, owner, key, buf, len, 0) : BNR_ERR_NOMEM;
        made->state = REQ_DONE;
    }
    return start(made, req);
}

/* ---- merge, unmerge ---- */

static int begin_merge(BNR_Group local, BNR_Group remote, BNR_Info info, struct bnr_req **made)
{
    struct bnr_group *joint = remote ? team_joint(local, remote) : NULL;
    if (joint)
        return begin(&team_call_again, joint, info, 0, made);
    int rc = begin(remote ? &team_call_merge : NULL, local, info,
                   remote && remote->relation == MEET_STRANGER ? connect_s : 0, made);
    if (!rc && remote) {
        (*made)->other = remote;
        team_ref(remote);
    }
    return rc;
}

int BNR_Imerge(BNR_Group local, BNR_Group remote, BNR_Info info, BNR_Group *joint, BNR_Req *req)
{
    struct bnr_req *made;
    if (!is_group(local) || local->rank < 0 || (remote && (!is_group(remote) || remote->rank >= 0)) || !joint || !req)
        return refused();
    if (remote && remote->kind == TEAM_OPEN)
        return BNR_ERR_STATE;
    int rc = begin_merge(local, remote, info, &made);
    if (rc)
        return rc;
    made->made = joint;
    if (!remote) {
        team_ref(local);
        *joint = local;
        made->state = REQ_DONE;
    }
    return start(made, req);
}

int BNR_Merge(BNR_Group local, BNR_Group remote, BNR_Info info, BNR_Group *joint)
{
    BNR_Req req = BNR_REQ_NULL;
    int rc = BNR_Imerge(local, remote, info, joint, &req);
    return wait_for(rc, req);
}

int BNR_Iunmerge(BNR_Group *joint, BNR_Req *req)
{
    struct bnr_req *made;
    if (!joint || !is_group(*joint) || (*joint)->kind != TEAM_JOINT || !req)
        return refused();
    int rc = begin(&team_call_unmerge, *joint, BNR_INFO_NULL, 0, &made);
    if (rc)
        return rc;
    team_unref(*joint); /* the request has a reference */
    *joint = BNR_GROUP_NULL;
    return start(made, req);
}

int BNR_Unmerge(BNR_Group *joint)
{
    BNR_Req req = BNR_REQ_NULL;
    int rc = BNR_Iunmerge(joint, &req);
    return wait_for(rc, req);
}

/* ---- spawn ---- */

int BNR_Iopen_group(BNR_Group local, BNR_Info info, BNR_Group *fresh, BNR_Req *req)
{
    struct bnr_req *made;
    if (!is_group(local) || local->rank < 0 || !fresh || !req)
        return refused();
    int rc = begin(&team_call_open, local, info, 0, &made);
    if (rc)
        return rc;
    made->made = fresh;
    return start(made, req);
}

int BNR_Open_group(BNR_Group local, BNR_Info info, BNR_Group *fresh)
{
    BNR_Req req = BNR_REQ_NULL;
    int rc = BNR_Iopen_group(local, info, fresh, &req);
    return wait_for(rc, req);
}

int BNR_Spawn(BNR_Group fresh, int count, const char *command, char *const argv[], char *const envp[], BNR_Info info,
              BNR_Exit_fn notify)
{
    struct team_command *made;
    if (!is_group(fresh))
        return refused();
    if (fresh->kind != TEAM_OPEN)
        return BNR_ERR_STATE;
    int rc = team_spawn(fresh, count, command, argv, envp, info, &made);
    if (!rc)
        made->notify = notify;
    return rc;
}

int BNR_Iclose_group(BNR_Group fresh, int *errcodes, int nerr, BNR_Req *req)
{
    struct bnr_req *made;
    if (!is_group(fresh) || (nerr && !errcodes) || nerr < 0 || !req)
        return refused();
    if (fresh->kind != TEAM_OPEN)
        return BNR_ERR_STATE;
    int rc = begin(&team_call_close, fresh->side[0], BNR_INFO_NULL, 0, &made);
    if (rc)
        return rc;
    made->other = fresh;
    team_ref(fresh);
    made->errcodes = errcodes;
    made->errcode_count = nerr;
    return start(made, req);
}

int BNR_Close_group(BNR_Group fresh, int *errcodes, int nerr)
{
    BNR_Req req = BNR_REQ_NULL;
    int rc = BNR_Iclose_group(fresh, errcodes, nerr, &req);
    return wait_for(rc, req);
}

int BNR_Kill(BNR_Group g, int rank, int sig)
{
    return is_group(g) ? team_kill(g, rank == BNR_RANK_ALL ? -1 : rank < 0 ? INT_MAX : rank, sig) : refused();
}

/* ---- ports ---- */

int BNR_Open_port(BNR_Info info, char *port, size_t size)
{
    const char *name;
    (void)info;
    if (!client_backend() || !port || !size)
        return refused();
    int rc = teams_begin();
    if (!rc)
        rc = team_port_open(&name);
    if (rc)
        return rc;
    client_hear_groups();
    if (strlen(name) < size) {
        strcpy(port, name);
        return BNR_SUCCESS;
    }
    (void)team_port_close(name);
    return BNR_ERR_TRUNC;
}

int BNR_Close_port(const char *port)
{
    return client_backend() && port ? team_port_close(port) : refused();
}

static int meet_at(const struct team_call_ops *ops, const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint,
                   BNR_Req *req)
{
    struct bnr_req *made;
    if (!is_group(local) || local->rank < 0 || (!port && local->rank == root) || !joint || !req)
        return refused();
    int rc = begin(ops, local, info, ops == &team_call_connect ? connect_s : 0, &made);
    if (rc)
        return rc;
    made->port = strdup(port ? port : "");
    made->root = root;
    made->made = joint;
    if (made->port)
        return start(made, req);
    team_call_free(made);
    return BNR_ERR_NOMEM;
}

int BNR_Iaccept(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint, BNR_Req *req)
{
    return meet_at(&team_call_accept, port, local, root, info, joint, req);
}

int BNR_Accept(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint)
{
    BNR_Req req = BNR_REQ_NULL;
    int rc = BNR_Iaccept(port, local, root, info, joint, &req);
    return wait_for(rc, req);
}

int BNR_Iconnect(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint, BNR_Req *req)
{
    return meet_at(&team_call_connect, port, local, root, info, joint, req);
}

int BNR_Connect(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint)
{
    BNR_Req req = BNR_REQ_NULL;
    int rc = BNR_Iconnect(port, local, root, info, joint, &req);
    return wait_for(rc, req);
}

/* ---- names ---- */

static int name_call(enum BNR_Name_call call, const char *service, const char *text, char *found)
{
    int id, done = 0, code = 0;
    int rc = client_backend() ? teams_begin() : BNR_ERR_NOT_INIT; /* without ties their step does not wait */
    if (!rc)
        rc = BNR_Name(call, service, text, &id);
    while (!rc && !(rc = BNR_Name_state(id, &done, &code, found, BNR_MAX_NAME + 1)) && !done) {
        backend_idle(client_backend());
        (void)ties_step(WAIT_MS);
    }
    return rc ? rc : code;
}

int BNR_Publish(const char *service, const char *port, BNR_Info info)
{
    (void)info;
    return port ? name_call(BNR_NAME_PUBLISH, service, port, NULL) : refused();
}

int BNR_Lookup(const char *service, char *port, size_t *len, BNR_Info info)
{
    char found[BNR_MAX_NAME + 1] = "";
    (void)info;
    if (!client_backend() || !len || (!port && *len))
        return refused();
    int rc = name_call(BNR_NAME_LOOKUP, service, NULL, found);
    if (rc)
        return rc;
    size_t room = *len;
    *len = strlen(found) + 1;
    if (*len > room)
        return BNR_ERR_TRUNC;
    strcpy(port, found);
    return BNR_SUCCESS;
}

int BNR_Unpublish(const char *service)
{
    return name_call(BNR_NAME_UNPUBLISH, service, NULL, NULL);
}
