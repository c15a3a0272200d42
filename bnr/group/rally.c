/* SPDX-License-Identifier: BSD-3-Clause */

/* The collective calls of one group, at one member; see rally.h. */
#include "bnr/group/rally.h"

#include <stdlib.h>
#include <string.h>

#include "include/bnr.h"
#include "os/be.h"

/* What a child has said of a call. */
struct rally_up {
    struct rally_up *next;
    uint32_t call;
    uint64_t what;
    int code;
    struct rally_bytes *bytes;
};

/* How a call ends that is not begun here: it fails. */
struct rally_verdict {
    uint32_t call;
    int code;
};

/* ---- bytes ---- */

struct rally_bytes *rally_bytes_new(size_t len)
{
    struct rally_bytes *bytes = len <= RALLY_BYTES_MAX ? malloc(sizeof(*bytes) + len) : NULL;
    if (!bytes)
        return NULL;
    bytes->refs = 1;
    bytes->len = len;
    return bytes;
}

void rally_bytes_unref(struct rally_bytes *bytes)
{
    if (bytes && !--bytes->refs)
        free(bytes);
}

/* A copy; NULL with *failed, or for no bytes. */
static struct rally_bytes *copy_of(const void *from, size_t len, bool *failed)
{
    struct rally_bytes *bytes = len ? rally_bytes_new(len) : NULL;
    if (bytes)
        memcpy(bytes->at, from, len);
    *failed = len && !bytes;
    return bytes;
}

static void set_bytes(struct rally_bytes **at, struct rally_bytes *bytes)
{
    if (*at != bytes)
        rally_bytes_unref(*at);
    *at = bytes;
}

bool rally_next(const struct rally_bytes *all, size_t *at, int *rank, const uint8_t **bytes, size_t *len)
{
    if (!all || all->len - *at < RALLY_ENTRY)
        return false;
    uint32_t number = os_be32_get(all->at + *at), count = os_be32_get(all->at + *at + 4);
    if (number > INT32_MAX || count > all->len - *at - RALLY_ENTRY)
        return false;
    *rank = (int)number;
    *len = count;
    *bytes = all->at + *at + RALLY_ENTRY;
    *at += RALLY_ENTRY + count;
    return true;
}

/* ---- life ---- */

int rally_init(struct rally *a, int rank, int size, int parent, const int *child, int child_count)
{
    *a = (struct rally){.rank = rank, .size = size, .parent = parent, .child_count = child_count};
    a->child = malloc(sizeof(*a->child) * (size_t)(child_count + 1));
    a->up = calloc((size_t)child_count + 1, sizeof(struct rally_up *));
    if (!a->child || !a->up) {
        rally_fini(a);
        return BNR_ERR_NOMEM;
    }
    if (child_count)
        memcpy(a->child, child, sizeof(*child) * (size_t)child_count);
    return BNR_SUCCESS;
}

static void drop_up(struct rally_up **at)
{
    struct rally_up *up = *at;
    *at = up->next;
    rally_bytes_unref(up->bytes);
    free(up);
}

void rally_fini(struct rally *a)
{
    for (int i = 0; a->up && i < a->child_count; i++)
        while (a->up[i])
            drop_up(&a->up[i]);
    free(a->up);
    free(a->child);
    free(a->verdicts);
    rally_bytes_unref(a->bytes);
    rally_bytes_unref(a->own);
    *a = (struct rally){.parent = -1};
}

bool rally_has(const struct rally *a, int link)
{
    if (link == a->parent && link >= 0)
        return true;
    for (int i = 0; i < a->child_count; i++)
        if (a->child[i] == link)
            return true;
    return false;
}

/* ---- sending ---- */

static void send_up(struct rally *a, enum rally_kind kind, uint32_t call, int code)
{
    const struct rally_frame frame = {kind, call, code, a->what, kind == RALLY_UP ? a->bytes : NULL};
    a->hooks->send(a->arg, a, a->parent, &frame);
}

static void send_down(struct rally *a, uint32_t call, int code, struct rally_bytes *bytes)
{
    const struct rally_frame frame = {RALLY_DOWN, call, code, 0, bytes};
    for (int i = 0; i < a->child_count; i++)
        a->hooks->send(a->arg, a, a->child[i], &frame);
}

/* ---- ending ---- */

static void end_call(struct rally *a, int code)
{
    a->state = RALLY_IDLE;
    a->code = code;
    set_bytes(&a->own, NULL);
    if (code)
        set_bytes(&a->bytes, NULL);
    for (int i = 0; i < a->child_count; i++) /* a child may be ahead */
        while (a->up[i] && a->up[i]->call <= a->call)
            drop_up(&a->up[i]);
}

static void break_from(struct rally *a, int code, int source)
{
    if (a->broken)
        return;
    a->broken = code ? code : BNR_ERR_PROC_FAILED;
    const struct rally_frame frame = {RALLY_FAIL, a->call, a->broken, 0, NULL};
    if (a->parent >= 0 && a->parent != source)
        a->hooks->send(a->arg, a, a->parent, &frame);
    for (int i = 0; i < a->child_count; i++)
        if (a->child[i] != source)
            a->hooks->send(a->arg, a, a->child[i], &frame);
    if (a->state != RALLY_IDLE)
        end_call(a, a->broken);
    if (a->hooks->broken)
        a->hooks->broken(a->arg, a);
}

void rally_break(struct rally *a, int code)
{
    break_from(a, code, -1);
}

void rally_lost(struct rally *a, int link)
{
    if (rally_has(a, link))
        break_from(a, BNR_ERR_PROC_FAILED, link);
}

void rally_decide(struct rally *a, int code, const void *bytes, size_t len)
{
    bool failed = false;
    if (a->state != RALLY_GATHERED && a->state != RALLY_GATHERS)
        return;
    struct rally_bytes *said = code ? NULL : copy_of(bytes, len, &failed);
    if (failed)
        code = BNR_ERR_NOMEM;
    send_down(a, a->call, code, said);
    set_bytes(&a->bytes, said);
    end_call(a, code);
}

/* ---- gathering ---- */

static size_t put_entry(uint8_t *at, int rank, const struct rally_bytes *bytes)
{
    size_t len = bytes ? bytes->len : 0;
    os_be32_put(at, (uint32_t)rank);
    os_be32_put(at + 4, (uint32_t)len);
    if (len)
        memcpy(at + RALLY_ENTRY, bytes->at, len);
    return RALLY_ENTRY + len;
}

/* Put together what this member says and all below it. NULL: too much. */
static struct rally_bytes *join_bytes(const struct rally *a)
{
    size_t len = RALLY_ENTRY + (a->own ? a->own->len : 0);
    for (int i = 0; i < a->child_count; i++)
        len += a->up[i]->bytes ? a->up[i]->bytes->len : 0;
    struct rally_bytes *all = rally_bytes_new(len);
    if (!all)
        return NULL;
    size_t at = put_entry(all->at, a->rank, a->own);
    for (int i = 0; i < a->child_count; i++) {
        const struct rally_bytes *more = a->up[i]->bytes;
        if (more)
            memcpy(all->at + at, more->at, more->len);
        at += more ? more->len : 0;
    }
    return all;
}

/* Whether each member has said something, once. */
static bool is_whole(const struct rally *a)
{
    size_t at = 0, len;
    int rank, count = 0;
    const uint8_t *bytes;
    uint8_t *seen = calloc((size_t)a->size, 1);
    bool good = seen != NULL;
    while (good && rally_next(a->bytes, &at, &rank, &bytes, &len)) {
        good = rank < a->size && !seen[rank];
        if (good)
            seen[rank] = 1;
        count++;
    }
    free(seen);
    return good && a->bytes && at == a->bytes->len && count == a->size;
}

/* All below have come. */
static void take_all(struct rally *a)
{
    int code = a->code;
    for (int i = 0; i < a->child_count; i++) {
        const struct rally_up *up = a->up[i];
        if (!code && !up->code && up->what != a->what)
            code = BNR_ERR_MISMATCH;
        code = up->code < code ? up->code : code;
    }
    struct rally_bytes *all = code ? NULL : join_bytes(a);
    if (!code && !all)
        code = BNR_ERR_NOMEM;
    set_bytes(&a->bytes, all);
    if (a->parent >= 0) {
        a->state = RALLY_WAITS;
        send_up(a, RALLY_UP, a->call, code);
        set_bytes(&a->bytes, NULL);
        return;
    }
    if (!code && !is_whole(a))
        code = BNR_ERR_PROTO;
    a->state = RALLY_GATHERED;
    if (code)
        rally_decide(a, code, NULL, 0);
}

static void look(struct rally *a)
{
    if (a->state != RALLY_GATHERS)
        return;
    for (int i = 0; i < a->child_count; i++)
        if (!a->up[i] || a->up[i]->call != a->call)
            return;
    take_all(a);
}

/* ---- calls ---- */

/* Take the verdict on a call; returns whether there is one. */
static bool take_verdict(struct rally *a, uint32_t call, int *code)
{
    for (int i = 0; i < a->verdict_count; i++) {
        if (a->verdicts[i].call != call)
            continue;
        *code = a->verdicts[i].code;
        a->verdicts[i] = a->verdicts[--a->verdict_count];
        return true;
    }
    return false;
}

static bool has_verdict(const struct rally *a, uint32_t call)
{
    for (int i = 0; i < a->verdict_count; i++)
        if (a->verdicts[i].call == call)
            return true;
    return false;
}

static bool note_verdict(struct rally *a, uint32_t call, int code)
{
    if (a->verdict_count == RALLY_AHEAD_MAX)
        return false;
    if (!a->verdicts)
        a->verdicts = malloc(RALLY_AHEAD_MAX * sizeof(*a->verdicts));
    if (!a->verdicts)
        return false;
    a->verdicts[a->verdict_count++] = (struct rally_verdict){call, code};
    return true;
}

int rally_begin(struct rally *a, uint64_t what, int code, const void *bytes, size_t len)
{
    bool failed;
    if (a->state != RALLY_IDLE)
        return BNR_ERR_STATE;
    struct rally_bytes *own = copy_of(bytes, len, &failed);
    if (failed)
        return BNR_ERR_NOMEM;
    set_bytes(&a->own, own);
    set_bytes(&a->bytes, NULL);
    a->call++;
    a->what = what;
    a->code = code;
    if (a->broken || take_verdict(a, a->call, &code)) {
        end_call(a, a->broken ? a->broken : code);
        return BNR_SUCCESS;
    }
    a->state = RALLY_GATHERS;
    look(a);
    return BNR_SUCCESS;
}

void rally_leave(struct rally *a, int code)
{
    if (a->state == RALLY_IDLE)
        return;
    if (a->parent < 0) {
        rally_decide(a, code, NULL, 0);
        return;
    }
    send_up(a, RALLY_LEAVE, a->call, code);
    set_bytes(&a->bytes, NULL);
    end_call(a, code);
}

/* ---- hearing ---- */

static int child_of(const struct rally *a, int link)
{
    for (int i = 0; i < a->child_count; i++)
        if (a->child[i] == link)
            return i;
    return -1;
}

static int hear_up(struct rally *a, int child, const struct rally_frame *frame)
{
    struct rally_up **at = &a->up[child], *up;
    uint32_t last = a->state == RALLY_IDLE ? a->call : a->call - 1; /* that is over here */
    int count = 0;
    if (frame->call <= last)
        return BNR_SUCCESS; /* it has been left, here or there */
    for (; *at; at = &(*at)->next, count++)
        if ((*at)->call >= frame->call)
            return BNR_ERR_PROTO;
    if (count == RALLY_AHEAD_MAX || frame->call - last > RALLY_AHEAD_MAX + 1)
        return BNR_ERR_PROTO;
    up = calloc(1, sizeof(*up));
    if (!up) {
        rally_break(a, BNR_ERR_NOMEM);
        return BNR_SUCCESS;
    }
    *up = (struct rally_up){NULL, frame->call, frame->what, frame->code > 0 ? BNR_ERR_PROTO : frame->code, frame->bytes};
    if (frame->bytes)
        frame->bytes->refs++;
    *at = up;
    look(a);
    return BNR_SUCCESS;
}

/* A member below waits no longer. */
static int hear_leave(struct rally *a, const struct rally_frame *frame)
{
    uint32_t last = a->state == RALLY_IDLE ? a->call : a->call - 1;
    if (frame->code >= 0)
        return BNR_ERR_PROTO;
    if (a->parent >= 0) {
        const struct rally_frame on = {RALLY_LEAVE, frame->call, frame->code, 0, NULL};
        a->hooks->send(a->arg, a, a->parent, &on);
        return BNR_SUCCESS;
    }
    if (frame->call <= last || has_verdict(a, frame->call))
        return BNR_SUCCESS;
    if (frame->call == a->call) {
        rally_decide(a, frame->code, NULL, 0);
        return BNR_SUCCESS;
    }
    if (frame->call - last > RALLY_AHEAD_MAX || !note_verdict(a, frame->call, frame->code))
        return BNR_ERR_PROTO;
    send_down(a, frame->call, frame->code, NULL);
    return BNR_SUCCESS;
}

static int hear_down(struct rally *a, const struct rally_frame *frame)
{
    bool is_open = a->state != RALLY_IDLE && frame->call == a->call;
    if (frame->code > 0 || (is_open && !frame->code && a->state != RALLY_WAITS))
        return BNR_ERR_PROTO;
    if (frame->call > a->call && (!frame->code || frame->call - a->call > RALLY_AHEAD_MAX ||
                                  has_verdict(a, frame->call) || !note_verdict(a, frame->call, frame->code)))
        return BNR_ERR_PROTO;
    send_down(a, frame->call, frame->code, frame->bytes);
    if (is_open) {
        set_bytes(&a->bytes, frame->bytes);
        if (frame->bytes)
            frame->bytes->refs++;
        end_call(a, frame->code);
    } else if (!frame->code && a->hooks->late) {
        a->hooks->late(a->arg, a, frame);
    }
    return BNR_SUCCESS;
}

int rally_heard(struct rally *a, int link, const struct rally_frame *frame)
{
    int child = child_of(a, link), rc = BNR_ERR_PROTO;
    bool is_parent = link >= 0 && link == a->parent;
    if (a->broken) {
        rc = BNR_SUCCESS;
    } else if (frame->kind == RALLY_FAIL && (is_parent || child >= 0)) {
        break_from(a, frame->code < 0 ? frame->code : BNR_ERR_PROC_FAILED, link);
        rc = BNR_SUCCESS;
    } else if (frame->kind == RALLY_UP && child >= 0) {
        rc = hear_up(a, child, frame);
    } else if (frame->kind == RALLY_LEAVE && child >= 0) {
        rc = hear_leave(a, frame);
    } else if (frame->kind == RALLY_DOWN && is_parent) {
        rc = hear_down(a, frame);
    }
    return rc;
}
