/* SPDX-License-Identifier: BSD-3-Clause */

/* Orders to all daemons; see wide_orders.h. */
#include "bnr/wide/wide_orders.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "bnr/core/tree/xcast.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/post.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wire/launch_tags.h"
#include "bnr/wire/name_message.h"
#include "os/clock.h"

/* An xcast that waits. */
struct wide_order {
    struct wide_order *next;
    uint32_t tag;
    struct bytes *data;
};

int wide_orders_flush(struct wide *w)
{
    int failed = 0;
    while (w->orders && mesh_is_begun(w->mesh)) {
        struct wide_order *o = w->orders;
        const struct xcast_input input = {o->tag, XCAST_BY_SIZE, bytes_ref(o->data)};
        int rc = mesh_submit(w->mesh, &input);
        if (rc == XCAST_AGAIN)
            break;
        failed = rc ? rc : failed;
        w->orders = o->next;
        if (!w->orders)
            w->last_order = &w->orders;
        bytes_unref(o->data);
        free(o);
    }
    return failed;
}

void wide_orders_failed(struct wide *w, int rc)
{
    if (rc && !w->is_ending)
        w->hooks.broken(w->hooks.arg, rc);
}

int wide_orders_try(struct wide *w, uint32_t tag, struct packing *p)
{
    struct bytes *payload = pack_end(p);
    struct bytes *data = payload ? xcast_address(NULL, 0, payload->at, payload->len) : NULL;
    struct wide_order *o = data ? malloc(sizeof(*o)) : NULL;
    bytes_unref(payload);
    if (!o) {
        bytes_unref(data);
        return -ENOMEM;
    }
    *o = (struct wide_order){NULL, tag, data};
    *w->last_order = o;
    w->last_order = &o->next;
    return wide_orders_flush(w);
}

void wide_orders_give(struct wide *w, uint32_t tag, struct packing *p)
{
    wide_orders_failed(w, wide_orders_try(w, tag, p));
}

static void order_number(struct wide *w, uint32_t tag, uint32_t number)
{
    struct packing p = {0};
    pack_u32(&p, number);
    wide_orders_give(w, tag, &p);
}

void wide_signal(struct wide *w, int rank, int number)
{
    struct packing p = {0};
    pack_u32(&p, (uint32_t)number);
    pack_u32(&p, (uint32_t)rank);
    wide_orders_give(w, LAUNCH_TAG_SIGNAL, &p);
}

void wide_ask(struct wide *w, uint32_t number)
{
    order_number(w, LAUNCH_TAG_ASK, number);
}

void wide_tell(struct wide *w, int rank, uint32_t tag, const void *data, size_t len)
{
    struct packing p = {0};
    post_pack(&p, rank, tag, data, len);
    wide_orders_give(w, LAUNCH_TAG_LETTER, &p);
}

void wide_ask_name(struct wide *w, const struct name_ask *ask)
{
    struct packing p = {0};
    name_ask_pack(&p, ask);
    wide_orders_give(w, LAUNCH_TAG_NAME, &p);
}

bool wide_answers(const struct wide *w, uint32_t node)
{
    return node != NODE_ROOT && !w->nodes[node].is_lost && !w->is_ending;
}

void wide_unread(struct wide *w, int fd)
{
    order_number(w, LAUNCH_TAG_UNREAD, (uint32_t)fd);
}

void wide_go(struct wide *w)
{
    order_number(w, LAUNCH_TAG_GO, 0);
}

void wide_resize(struct wide *w, const struct winsize *size)
{
    struct packing p = {0};
    pack_u32(&p, size->ws_row);
    pack_u32(&p, size->ws_col);
    wide_orders_give(w, LAUNCH_TAG_WINDOW, &p);
}

void wide_pause(struct wide *w, bool is_paused)
{
    mesh_pause(w->mesh, is_paused);
    order_number(w, LAUNCH_TAG_PAUSE, is_paused);
    uint64_t until = os_now_ns() + 100000000u;
    while (is_paused && mesh_waiting(w->mesh) && os_now_ns() < until)
        uv_run(w->loop, UV_RUN_NOWAIT);
}

void wide_orders_free(struct wide *w)
{
    for (struct wide_order *o = w->orders, *next; o; o = next) {
        next = o->next;
        bytes_unref(o->data);
        free(o);
    }
}
