/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups that are made of two, and parted: merge, connect, accept, unmerge; and fences. The roots meet while their members
 * wait; what both have said goes down both trees, and each member makes the same group of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/client/team_calls.h"
#include "bnr/client/team_ports.h"
#include "os/be.h"
#include "os/random.h"

enum { KIND_FENCE = 1, KIND_MERGE, KIND_AGAIN, KIND_CONNECT, KIND_ACCEPT, KIND_UNMERGE };
enum { PHASE_BEGIN, PHASE_CALLS, PHASE_AWAITS, PHASE_HEARS };

static int code_of(int rc)
{
    switch (rc) {
    case -ENOMEM: return BNR_ERR_NOMEM;
    case -EINVAL: return BNR_ERR_ARG;
    case -ETIMEDOUT: return BNR_ERR_TIMEOUT;
    case -ECONNREFUSED: return BNR_ERR_NOT_FOUND;
    default: return BNR_FAIL;
    }
}

/* ---- the words of this root ---- */

static int describe(struct bnr_req *req, enum meet_why why)
{
    const struct bnr_group *g = req->group;
    struct meet *own = &req->own;
    int rc;
    const char *door = team_door(&rc);
    if (rc)
        return rc;
    *own = (struct meet){.why = why, .gid = g->gid, .size = g->size, .part_count = g->part ? g->part_count : 1};
    own->part = calloc((size_t)own->part_count, sizeof(*own->part));
    if (!own->part)
        return BNR_ERR_NOMEM;
    if (g->part)
        memcpy(own->part, g->part, sizeof(*own->part) * (size_t)own->part_count);
    else
        own->part[0] = (struct meet_part){g->gid, g->size};
    if (req->other) {
        own->wanted = req->other->gid;
        own->relation = req->other->relation;
    }
    strcpy(own->door, door);
    return os_random(own->proposal.b, sizeof(own->proposal.b)) ? BNR_FAIL : BNR_SUCCESS;
}

static void say(const struct bnr_req *req)
{
    struct rally_frame frame = {(enum rally_kind)TIE_MEET, 0, 0, 0, rally_bytes_new(meet_len(&req->own))};
    if (!frame.bytes) {
        tie_lose(req->tie);
        return;
    }
    meet_put(&req->own, frame.bytes->at);
    tie_send(req->tie, &req->group->gid, &frame);
    rally_bytes_unref(frame.bytes);
}

static int hear_meet(struct bnr_req *req, const BNR_Gid *gid, const struct rally_frame *frame)
{
    (void)gid;
    if (frame->kind != (enum rally_kind)TIE_MEET || req->has_met || !frame->bytes)
        return BNR_ERR_PROTO;
    int rc = meet_get(&req->said_to, frame->bytes->at, frame->bytes->len);
    req->has_met = !rc;
    return rc;
}

/* Both have said theirs. The outcome: the new group, and the words of both, for each member of this side. */
static int join(struct bnr_req *req, uint8_t **bytes, size_t *len)
{
    BNR_Gid gid;
    bool other_first;
    int rc = meet_join(&req->own, &req->said_to, &gid, &other_first);
    if (rc)
        return rc;
    size_t own = meet_len(&req->own), other = meet_len(&req->said_to);
    uint8_t *at = *bytes = team_calls_outcome(&gid, 4 + own + other, len);
    if (!at)
        return BNR_ERR_NOMEM;
    os_be32_put(at + CALL_HEAD, (uint32_t)own);
    meet_put(&req->own, at + CALL_HEAD + 4);
    meet_put(&req->said_to, at + CALL_HEAD + 4 + own);
    return BNR_SUCCESS;
}

/* Call the other root. */
static int call(struct bnr_req *req, const char *name, enum meet_why why)
{
    if (req->phase == PHASE_BEGIN) {
        int rc = describe(req, why);
        if (!rc && !*name)
            rc = BNR_ERR_STATE; /* nobody has told where */
        int failed = rc ? 0 : os_call_begin(&req->call, name, 0, &ties_watch);
        if (rc || failed)
            return rc ? rc : code_of(failed);
        req->phase = PHASE_CALLS;
    }
    if (req->phase == PHASE_CALLS) {
        int fd = os_call_step(req->call);
        if (fd == -EAGAIN)
            return BNR_ERR_AGAIN;
        os_call_end(req->call);
        req->call = NULL;
        if (fd < 0) /* of a group that is known the root has ended */
            return why == MEET_MERGE && fd == -ECONNREFUSED ? BNR_ERR_PROC_FAILED : code_of(fd);
        req->tie = tie_new();
        if (req->tie < 0)
            return BNR_ERR_NOMEM;
        tie_take(req->tie, fd);
        say(req);
        req->phase = PHASE_HEARS;
    }
    return req->has_met ? BNR_SUCCESS : tie_is_lost(req->tie) ? BNR_ERR_PROC_FAILED : BNR_ERR_AGAIN;
}

/* ---- what comes of it ---- */

static struct bnr_group *far_group(const struct meet *said)
{
    struct bnr_group *far = team_find(&said->gid);
    if (far && far->rank >= 0)
        return NULL;
    if (far)
        team_ref(far);
    else
        far = team_new(TEAM_FAR, &said->gid, said->size, -1);
    if (!far)
        return NULL;
    if (!far->door && said->door[0])
        far->door = strdup(said->door);
    if (!far->part)
        far->part = calloc((size_t)said->part_count, sizeof(*far->part));
    if (far->part && !far->part_count) {
        memcpy(far->part, said->part, sizeof(*far->part) * (size_t)said->part_count);
        far->part_count = said->part_count;
    }
    return far;
}

/* The links of a joint group are those of this process's side, and one to the other root. */
static int add_rally(struct bnr_group *joint, const struct bnr_group *own, int bridge)
{
    const struct rally *r = &own->rally->rally;
    struct rally rally;
    int count = r->child_count, parent = r->parent;
    int *child = calloc((size_t)count + 1, sizeof(*child));
    joint->tie = calloc((size_t)count + 2, sizeof(*joint->tie));
    if (child && count)
        memcpy(child, r->child, sizeof(*child) * (size_t)count);
    if (child && bridge >= 0 && joint->first == 0)
        child[count++] = bridge;
    else if (bridge >= 0)
        parent = bridge;
    int rc = child && joint->tie ? rally_init(&rally, joint->rank, joint->size, parent, child, count) : BNR_ERR_NOMEM;
    if (!rc) {
        memcpy(joint->tie, child, sizeof(*child) * (size_t)count);
        joint->tie_count = count;
        if (parent >= 0)
            joint->tie[joint->tie_count++] = parent;
        for (int i = 0; i < joint->tie_count; i++)
            tie_ref(joint->tie[i]);
        joint->rally = rallies_add(&teams.rallies, &joint->gid, &rally, own->rally);
        rc = joint->rally ? BNR_SUCCESS : BNR_ERR_NOMEM;
    }
    free(child);
    for (int i = 0; !rc && i < joint->tie_count; i++)
        if (tie_is_lost(joint->tie[i]))
            rally_lost(&joint->rally->rally, joint->tie[i]);
    return rc;
}

static int set_parts(struct bnr_group *joint, const struct meet *first, const struct meet *second)
{
    joint->part_count = first->part_count + second->part_count;
    joint->part = calloc((size_t)joint->part_count, sizeof(*joint->part));
    if (!joint->part)
        return BNR_ERR_NOMEM;
    memcpy(joint->part, first->part, sizeof(*first->part) * (size_t)first->part_count);
    memcpy(joint->part + first->part_count, second->part, sizeof(*second->part) * (size_t)second->part_count);
    return BNR_SUCCESS;
}

static int make_joint(struct bnr_req *req, const struct meet *own, const struct meet *other, struct bnr_group **made)
{
    BNR_Gid gid;
    bool other_first;
    int rc = meet_join(own, other, &gid, &other_first);
    if (rc || own->size != req->group->size || memcmp(own->gid.b, req->group->gid.b, sizeof(own->gid.b)) != 0 ||
        team_find(&gid))
        return BNR_ERR_PROTO;
    struct bnr_group *far = far_group(other);
    struct bnr_group *joint = far ? team_new(TEAM_JOINT, &gid, own->size + other->size, 0) : NULL;
    if (!joint) {
        team_unref(far);
        return BNR_ERR_NOMEM;
    }
    joint->rank = req->group->rank + (other_first ? other->size : 0);
    joint->side[0] = req->group;
    joint->side[1] = far;
    joint->first = other_first;
    team_ref(req->group);
    rc = set_parts(joint, other_first ? other : own, other_first ? own : other);
    if (!rc)
        rc = add_rally(joint, req->group, req->group->rally->rally.parent < 0 ? req->tie : -1);
    if (rc)
        team_unref(joint);
    else
        *made = joint;
    return rc;
}

static int finish_join(struct bnr_req *req, int code, const struct rally_bytes *bytes)
{
    struct meet own = {0}, other = {0};
    struct bnr_group *made = NULL;
    BNR_Gid gid;
    if (!code && (!team_calls_made(bytes, &gid) || bytes->len < CALL_HEAD + 4))
        code = BNR_ERR_PROTO;
    size_t len = code ? 0 : os_be32_get(bytes->at + CALL_HEAD), rest = code ? 0 : bytes->len - CALL_HEAD - 4;
    if (!code && len > rest)
        code = BNR_ERR_PROTO;
    if (!code)
        code = meet_get(&own, bytes->at + CALL_HEAD + 4, len);
    if (!code)
        code = meet_get(&other, bytes->at + CALL_HEAD + 4 + len, rest - len);
    if (!code)
        code = make_joint(req, &own, &other, &made);
    if (code && team_calls_made(bytes, &gid)) /* the others have it, and wait for this process */
        rallies_shun(&teams.rallies, req->group->rally, &gid);
    meet_fini(&own);
    meet_fini(&other);
    if (made && req->made)
        *req->made = made;
    else
        team_unref(made);
    return code;
}

static void drop_join(struct bnr_req *req)
{
    os_call_end(req->call);
    tie_unref(req->tie); /* the new group has a reference of its own */
    meet_fini(&req->own);
    meet_fini(&req->said_to);
}

/* ---- merge ---- */

static uint64_t hash_of(const BNR_Gid *gid)
{
    return os_be64_get(gid->b);
}

static int begin_merge(struct bnr_req *req)
{
    req->what = hash_of(&req->other->gid);
    return BNR_SUCCESS;
}

/* Of two groups the one that has been spawned calls, or that with the higher id. */
static bool calls_other(const struct bnr_req *req)
{
    if (req->other->relation != MEET_STRANGER)
        return req->other->relation == MEET_SPAWNED;
    return memcmp(req->group->gid.b, req->other->gid.b, sizeof(BNR_Gid)) > 0;
}

static int await(struct bnr_req *req)
{
    if (req->phase == PHASE_BEGIN) {
        int rc = describe(req, MEET_MERGE);
        if (rc)
            return rc;
        req->phase = PHASE_AWAITS;
    }
    int tie = team_met(MEET_MERGE, &req->other->gid, &req->group->gid, &req->said_to);
    if (tie == -2) {
        req->has_met = true; /* and that was all */
        return BNR_ERR_PROC_FAILED;
    }
    if (tie < 0 && req->other->is_over)
        return BNR_ERR_PROC_FAILED;
    if (tie < 0)
        return BNR_ERR_AGAIN;
    req->tie = tie;
    req->has_met = true;
    say(req);
    return BNR_SUCCESS;
}

static int decide_merge(struct bnr_req *req, uint8_t **bytes, size_t *len)
{
    int rc = calls_other(req) ? call(req, req->other->door ? req->other->door : "", MEET_MERGE) : await(req);
    return rc ? rc : join(req, bytes, len);
}

static int finish_merge(struct bnr_req *req, int code, const struct rally_bytes *bytes)
{
    bool is_root = req->group->rally->rally.parent < 0;
    if (code && is_root && !calls_other(req) && !req->has_met)
        team_shun(&req->group->gid, &req->other->gid);
    else if (code && is_root && calls_other(req) && req->phase < PHASE_HEARS && req->other->door)
        team_refuse(&req->group->gid, &req->other->gid, req->other->door);
    return finish_join(req, code, bytes);
}

const struct team_call_ops team_call_merge = {KIND_MERGE, true, begin_merge, decide_merge, finish_merge, hear_meet, drop_join};

/* ---- merge of those that are merged ---- */

static int finish_again(struct bnr_req *req, int code, const struct rally_bytes *bytes)
{
    (void)bytes;
    if (!code && req->made) {
        team_ref(req->group);
        *req->made = req->group;
    }
    return code;
}

const struct team_call_ops team_call_again = {.kind = KIND_AGAIN, .finish = finish_again};

/* ---- connect, accept ---- */

static int begin_connect(struct bnr_req *req)
{
    req->what = (uint64_t)req->root;
    return req->root ? BNR_ERR_UNSUPPORTED : BNR_SUCCESS;
}

static int decide_connect(struct bnr_req *req, uint8_t **bytes, size_t *len)
{
    int rc = call(req, req->port, MEET_CONNECT);
    return rc ? rc : join(req, bytes, len);
}

static int decide_accept(struct bnr_req *req, uint8_t **bytes, size_t *len)
{
    if (req->phase == PHASE_BEGIN) {
        int rc = describe(req, MEET_CONNECT);
        if (rc)
            return rc;
        req->phase = PHASE_AWAITS;
    }
    if (req->phase == PHASE_AWAITS) {
        int tie = team_port_caller(req->port);
        if (tie < 0)
            return tie == -2 ? BNR_ERR_NOT_FOUND : BNR_ERR_AGAIN;
        req->tie = tie;
        req->phase = PHASE_HEARS;
    }
    int tie = team_met_at(req->tie, &req->said_to);
    if (tie == -1)
        return BNR_ERR_AGAIN;
    BNR_Gid gid;
    bool other_first;
    if (tie < 0 || meet_join(&req->own, &req->said_to, &gid, &other_first)) { /* it is gone, or no right one: the next */
        if (tie >= 0)
            tie_unref(tie);
        meet_fini(&req->said_to);
        req->tie = -1;
        req->phase = PHASE_AWAITS;
        return BNR_ERR_AGAIN;
    }
    say(req);
    return join(req, bytes, len);
}

static void drop_accept(struct bnr_req *req)
{
    if (req->tie >= 0 && team_is_stranger(req->tie)) { /* it had said nothing yet */
        tie_lose(req->tie);
        req->tie = -1;
    }
    drop_join(req);
}

const struct team_call_ops team_call_connect = {KIND_CONNECT, true, begin_connect, decide_connect, finish_join, hear_meet, drop_join};
const struct team_call_ops team_call_accept = {KIND_ACCEPT, true, begin_connect, decide_accept, finish_join, NULL, drop_accept};

/* ---- unmerge ---- */

static int finish_unmerge(struct bnr_req *req, int code, const struct rally_bytes *bytes)
{
    (void)bytes;
    team_part(req->group); /* also where it was broken: it is over */
    return code;
}

const struct team_call_ops team_call_unmerge = {.kind = KIND_UNMERGE, .finish = finish_unmerge};

struct bnr_group *team_joint(const struct bnr_group *own, const struct bnr_group *far)
{
    struct bnr_group *g = teams.world;
    while (g && !(g->kind == TEAM_JOINT && g->rally && g->side[0] == own && g->side[1] == far))
        g = g->next;
    return g;
}

/* ---- fence ---- */

static int begin_fence(struct bnr_req *req)
{
    return req->group->kind == TEAM_JOINT ? team_keys_pack(req->group, &req->said, &req->said_len) : BNR_SUCCESS;
}

static int decide_fence(struct bnr_req *req, uint8_t **bytes, size_t *len)
{
    const struct rally_bytes *all = req->group->rally->rally.bytes;
    *bytes = team_calls_outcome(NULL, all->len, len);
    if (!*bytes || *len > RALLY_BYTES_MAX)
        return BNR_ERR_NOMEM;
    memcpy(*bytes + CALL_HEAD, all->at, all->len);
    return BNR_SUCCESS;
}

static int finish_fence(struct bnr_req *req, int code, const struct rally_bytes *bytes)
{
    return code || req->group->kind != TEAM_JOINT ? code : team_keys_take(req->group, bytes, CALL_HEAD);
}

const struct team_call_ops team_call_fence = {KIND_FENCE, false, begin_fence, decide_fence, finish_fence, NULL, NULL};
