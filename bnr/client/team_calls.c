/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of groups under way; see team_calls.h. */
#include "bnr/client/team_calls.h"

#include <stdlib.h>
#include <string.h>

#include "os/clock.h"

static struct {
    struct bnr_req *first, **end;
} calls;

/* ---- outcomes ---- */

bool team_calls_made(const struct rally_bytes *bytes, BNR_Gid *gid)
{
    if (!bytes || bytes->len < CALL_HEAD || bytes->at[0] != 'g')
        return false;
    memcpy(gid->b, bytes->at + 1, sizeof(gid->b));
    return true;
}

uint8_t *team_calls_outcome(const BNR_Gid *made, size_t more, size_t *len)
{
    *len = CALL_HEAD + more;
    uint8_t *bytes = calloc(1, *len);
    if (bytes) {
        bytes[0] = made ? 'g' : '-';
        if (made)
            memcpy(bytes + 1, made->b, sizeof(made->b));
    }
    return bytes;
}

/* ---- one call ---- */

struct bnr_req *team_call_new(const struct team_call_ops *ops, struct bnr_group *g)
{
    struct bnr_req *req = calloc(1, sizeof(*req));
    if (!req)
        return NULL;
    req->ops = ops;
    req->group = g;
    req->tie = -1;
    if (g)
        team_ref(g);
    return req;
}

void team_call_start(struct bnr_req *req)
{
    if (req->ops && req->ops->makes)
        rallies_make(&teams.rallies, 1);
    if (!calls.end)
        calls.end = &calls.first;
    *calls.end = req;
    calls.end = &req->next;
}

void team_call_free(struct bnr_req *req)
{
    struct bnr_req **at = &calls.first;
    while (*at && *at != req)
        at = &(*at)->next;
    if (*at) {
        *at = req->next;
        if (!*at)
            calls.end = at;
    }
    if (req->ops && req->ops->drop)
        req->ops->drop(req);
    team_unref(req->group);
    team_unref(req->other);
    free(req->said);
    free(req->port);
    free(req->key);
    free(req);
}

bool team_call_is(const struct bnr_req *req)
{
    const struct bnr_req *known = calls.first;
    while (known && known != req)
        known = known->next;
    return known && !known->is_released;
}

bool team_calls_are(void)
{
    return calls.first != NULL;
}

static bool is_first(const struct bnr_req *req)
{
    const struct bnr_req *other = calls.first;
    while (other->group != req->group || other->state == REQ_DONE)
        other = other->next;
    return other == req;
}

static void end_call(struct bnr_req *req, int code)
{
    if (req->ops->makes)
        rallies_make(&teams.rallies, -1);
    if (!req->is_given_up)
        req->code = code;
    req->state = REQ_DONE;
}

/* Its turn has come. */
static void begin(struct bnr_req *req)
{
    int rc = team_ready(req->group), code = 0;
    if (!rc && req->ops->begin)
        code = req->ops->begin(req);
    if (!rc)
        rc = rally_begin(&req->group->rally->rally, (uint64_t)req->ops->kind << 56 | (req->what & 0xffffffffffffff),
                         req->is_given_up ? req->code : code, req->said, req->said_len);
    if (rc)
        end_call(req, rc);
    else
        req->state = REQ_CALLING;
}

static void decide(struct bnr_req *req)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    int rc = BNR_SUCCESS;
    if (req->ops->decide)
        rc = req->ops->decide(req, &bytes, &len);
    else if (!(bytes = team_calls_outcome(NULL, 0, &len)))
        rc = BNR_ERR_NOMEM;
    if (rc != BNR_ERR_AGAIN)
        rally_decide(&req->group->rally->rally, rc, bytes, len);
    free(bytes);
}

/* Take the outcome. */
static void finish(struct bnr_req *req)
{
    struct rally *r = &req->group->rally->rally;
    struct rally_bytes *bytes = r->bytes;
    int code = r->code;
    if (!code && (!bytes || bytes->len < CALL_HEAD))
        code = BNR_ERR_PROTO;
    if (bytes)
        bytes->refs++;
    if (req->ops->finish)
        code = req->ops->finish(req, code, bytes);
    rally_bytes_unref(bytes);
    end_call(req, code);
}

static void go_on(struct bnr_req *req)
{
    if (req->state == REQ_QUEUED && is_first(req))
        begin(req);
    if (req->state == REQ_CALLING && req->group->rally->rally.state == RALLY_GATHERED)
        decide(req);
    if (req->state == REQ_CALLING && req->group->rally->rally.state == RALLY_IDLE)
        finish(req);
    if (req->state != REQ_DONE && !req->is_given_up && req->until_ns && os_now_ns() > req->until_ns)
        team_call_give_up(req, BNR_ERR_TIMEOUT);
}

/* A value of the world's, which need not be there yet. */
static void look_for_key(struct bnr_req *req)
{
    const struct backend *b = req->group->backend;
    const void *value;
    size_t len;
    int rc = team_keys_look(req->group, req->owner, req->key, &value, &len, BNR_GET_LATER);
    if (rc == BNR_ERR_AGAIN || (rc == BNR_ERR_NOT_FOUND && b->ops->caps & BNR_CAP_LAZYGET && req->owner != b->rank))
        return;
    req->code = rc ? rc : team_keys_give(value, len, req->buf, req->len);
    req->state = REQ_DONE;
}

void team_call_give_up(struct bnr_req *req, int code)
{
    if (req->state == REQ_DONE)
        return;
    if (!req->ops) {
        req->code = code;
        req->state = REQ_DONE;
    } else if (req->state == REQ_CALLING) {
        rally_leave(&req->group->rally->rally, code);
        if (req->group->rally->rally.state == RALLY_IDLE)
            finish(req);
    } else { /* the others count on its number */
        req->is_given_up = true;
        req->made = NULL;
        req->errcodes = NULL;
        req->code = code;
    }
}

bool team_call_is_done(struct bnr_req *req)
{
    return req->state == REQ_DONE || req->is_given_up;
}

/* ---- all ---- */

void team_calls_go_on(void)
{
    struct bnr_req *next;
    for (struct bnr_req *req = calls.first; req; req = next) {
        if (req->state != REQ_DONE && req->ops)
            go_on(req);
        else if (req->state != REQ_DONE)
            look_for_key(req);
        next = req->next;
        if (req->state == REQ_DONE && req->is_released)
            team_call_free(req);
    }
}

int team_calls_heard(int tie, const BNR_Gid *gid, const struct rally_frame *frame)
{
    for (struct bnr_req *req = calls.first; req; req = req->next)
        if (req->tie == tie && req->state == REQ_CALLING && req->ops && req->ops->heard)
            return req->ops->heard(req, gid, frame);
    return TEAM_CALLS_NONE;
}

void team_calls_end(void)
{
    while (calls.first)
        team_call_free(calls.first);
    calls.end = &calls.first;
}
