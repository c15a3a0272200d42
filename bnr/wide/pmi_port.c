/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes that speak PMI-1; see pmi_port.h. */
#include "bnr/wide/pmi_port.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bnr/core/pmi/pmi_line.h"
#include "bnr/core/pmi/pmi_server.h"
#include "bnr/host/fence.h"
#include "bnr/host/order.h"
#include "bnr/core/tree/keys.h"
#include "bnr/core/tree/message.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/launch.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/post.h"
#include "os/be.h"
#include "os/keyed_hash.h"

enum {
    ABORT_MS = 1000, /* a process that has ended the job has so long to end itself */
    FENCE_MS = 500   /* to look after one that waits in a fence */
};

struct pmi_port_process {
    struct pmi_port *port;
    struct pmi_port_process *next;
    struct pmi_server server;
    struct pmi_process facts;
    struct fence fence;
    uv_poll_t poll;
    uv_timer_t timer; /* once it has ended the job */
    int fd;           /* -1: closed */
    int open_handles;
    int slot;
    uint32_t asked;     /* the number of the last get that was passed on */
    uint32_t unanswered; /* hosts that have not answered it */
    uint32_t order;     /* the number of the last order */
    char folder[PATH_MAX];
};

static struct table_page *page_of(const struct pmi_port_process *one)
{
    return table_page(&one->port->ranks->table, one->slot);
}

/* ---- life ---- */

static void on_closed(uv_handle_t *handle)
{
    struct pmi_port_process *one = handle->data;
    if (--one->open_handles)
        return;
    pmi_server_fini(&one->server);
    free(one);
}

static void leave_fence(struct pmi_port_process *one)
{
    one->port->waiting -= one->server.waits == PMI_WAITS_FENCE;
}

/* Hear nothing more of it. */
static void cut(struct pmi_port_process *one)
{
    if (one->fd < 0)
        return;
    uv_poll_stop(&one->poll);
    close(one->fd);
    one->fd = -1;
}

static void forget(struct pmi_port_process *one)
{
    struct pmi_port_process **at = &one->port->first;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    leave_fence(one);
    one->port->all[one->facts.rank] = NULL;
    cut(one);
    uv_close((uv_handle_t *)&one->poll, on_closed);
    uv_close((uv_handle_t *)&one->timer, on_closed);
}

/* ---- in its name ---- */

static void say(void *arg, const char *text, size_t len)
{
    struct pmi_port_process *one = arg;
    /* Replies are short, and it has one at a time: one that does not fit is for nobody who reads. */
    if (one->fd >= 0 && send(one->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
        (void)shutdown(one->fd, SHUT_RDWR);
}

/* The rank on a host that has this key; -1: the host is damaged. */
static int owner_of(const struct table *t, int host, const char *key)
{
    static const uint8_t seed[16] = "keys of PMI-1";
    uint32_t ranks = t->host[host].ranks;
    return ranks ? table_member(t, host, (int)(os_keyed_hash(seed, key, strlen(key)) % ranks)) : -1;
}

static void ring(const struct pmi_port *p)
{
    static const char byte;
    if (p->ranks->bell >= 0)
        (void)!write(p->ranks->bell, &byte, 1);
}

static bool put(void *arg, const char *key, const char *value)
{
    struct pmi_port_process *one = arg;
    const struct table *t = &one->port->ranks->table;
    int owner = owner_of(t, table_node(t, one->facts.rank), key), slot = owner < 0 ? -1 : table_slot(t, owner);
    if (slot < 0 || atomic_load(&table_page(t, slot)->claim_pid)) /* a process of ours writes there */
        return false;
    struct kvs log = table_log(t, slot);
    bool is_kept = !kvs_put(&log, key, value, strlen(value), true);
    ring(one->port);
    return is_kept;
}

static void found(struct pmi_port_process *one, const void *value, size_t len)
{
    char text[PMI_SERVER_VALUE + 1];
    bool is_good = value && len <= PMI_SERVER_VALUE;
    if (is_good)
        snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)value);
    one->unanswered = 0;
    if (pmi_server_found(&one->server, is_good ? text : NULL))
        cut(one);
}

/* Ask the hosts that are other machines. Where one of them is known to have it here, only that one. */
static void ask_others(struct pmi_port_process *one, const char *key)
{
    struct pmi_port *p = one->port;
    const struct table *t = &p->ranks->table;
    uint32_t number = ++one->asked;
    unsigned flags = KEYS_NOWAIT;
    int first = 0, end = t->hosts;
    one->unanswered = 1; /* while they are asked */
    for (int h = 0; h < t->hosts && flags == KEYS_NOWAIT; h++) {
        int owner = owner_of(t, h, key);
        const struct keys_name name = {p->group, (uint32_t)owner, key, strlen(key)};
        if (owner >= 0 && table_slot(t, owner) < 0 && mesh_knows(p->mesh, &name)) {
            flags = KEYS_LATER;
            first = h;
            end = h + 1;
        }
    }
    for (int h = first; h < end && one->unanswered && one->asked == number; h++) {
        int owner = owner_of(t, h, key);
        const struct keys_name name = {p->group, (uint32_t)owner, key, strlen(key)};
        if (owner < 0 || table_slot(t, owner) >= 0)
            continue;
        one->unanswered++;
        if (mesh_get(p->mesh, &name, p->first_cookie + ((uint64_t)one->facts.rank << 32) + number, flags) &&
            one->unanswered)
            one->unanswered--;
    }
    if (one->unanswered && one->asked == number && !--one->unanswered)
        found(one, NULL, 0);
}

static void get(void *arg, const char *key, bool is_here)
{
    struct pmi_port_process *one = arg;
    const struct table *t = &one->port->ranks->table;
    for (int h = 0; h < t->hosts; h++) {
        int owner = owner_of(t, h, key), slot = owner < 0 ? -1 : table_slot(t, owner);
        struct kvs log = slot < 0 ? (struct kvs){0} : table_log(t, slot);
        const void *value;
        size_t len;
        if (slot >= 0 && !kvs_get(&log, key, &value, &len)) {
            found(one, value, len);
            return;
        }
    }
    one->port->has_patient |= is_here;
    if (one->port->mesh && !is_here)
        ask_others(one, key);
    else
        found(one, NULL, 0);
}

static const char *folder(void *arg)
{
    struct pmi_port_process *one = arg;
    char link[64];
    snprintf(link, sizeof(link), "/proc/%d/cwd", one->port->ranks->table.rank[one->facts.rank].pid);
    ssize_t n = readlink(link, one->folder, sizeof(one->folder) - 1);
    one->folder[n > 0 ? n : 0] = 0;
    return one->folder;
}

static void order(void *arg, enum pmi_call call, const void *words, size_t len)
{
    static const enum order_kind kinds[] = {ORDER_SPAWN, ORDER_PUBLISH, ORDER_UNPUBLISH, ORDER_LOOKUP};
    struct pmi_port_process *one = arg;
    struct packing p = {0};
    one->order++;
    pack_u32(&p, kinds[call]);
    pack_u32(&p, one->order);
    pack_raw(&p, words, len);
    struct bytes *letter = pack_end(&p);
    int rc = letter ? post_say_order(one->port->post, one->facts.rank, letter->at, letter->len) : -ENOMEM;
    bytes_unref(letter);
    if (!rc && call == PMI_CALL_SPAWN) { /* jobs of processes that know each other are one */
        uint8_t link[ORDER_HEAD + 16];
        int n = snprintf((char *)link + ORDER_HEAD, sizeof(link) - ORDER_HEAD, "%u", one->order);
        os_be32_put(link, ORDER_LINK);
        os_be32_put(link + 4, ++one->order);
        (void)post_say_order(one->port->post, one->facts.rank, link, ORDER_HEAD + (size_t)n + 1);
    }
    if ((rc || call == PMI_CALL_SPAWN) && pmi_server_told(&one->server, rc, ""))
        cut(one);
}

static void on_abort_time(uv_timer_t *timer)
{
    const struct pmi_port_process *one = timer->data;
    const struct table *t = &one->port->ranks->table;
    if (ranks_lives(t, one->facts.rank))
        kill(-t->rank[one->facts.rank].pid, SIGKILL);
}

static void abort_job(void *arg, int code, const char *message)
{
    struct pmi_port_process *one = arg;
    struct table_page *page = page_of(one);
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong(&page->aborted, &none, 1))
        return;
    page->abort_code = code;
    snprintf(page->message, sizeof(page->message), "%s", message);
    atomic_store(&page->aborted, 2);
    uv_timer_start(&one->timer, on_abort_time, ABORT_MS, 0);
}

/* ---- beside processes of ours ---- */

/* A rank here that is, or was, a process of this library; -1: there is none. */
static int own_rank(const struct table *t)
{
    for (int r = 0; r < t->world_size; r++)
        if (table_slot(t, r) >= 0 && atomic_load(&table_page(t, table_slot(t, r))->claim_pid))
            return r;
    return -1;
}

/* A process of ours and this one would wait for each other for ever: end the job. A rank that itself was one of ours runs one
 * program after another. */
static void end_mixed(struct pmi_port_process *one)
{
    int own = atomic_load(&page_of(one)->claim_pid) ? -1 : own_rank(&one->port->ranks->table);
    char why[256];
    if (own < 0 || one->port->is_mixed)
        return;
    one->port->is_mixed = true;
    snprintf(why, sizeof(why),
             "rank %d speaks PMI, as programs of MPICH do, and rank %d has this library: the programs of one job need one "
             "MPI library; build all with the same mpicc",
             one->facts.rank, own);
    abort_job(one, LAUNCH_NOT_EXECUTABLE, why);
    uv_timer_start(&one->timer, on_abort_time, 0, 0);
}

/* One of ours may come later, and rings for nothing. */
static void on_fence_time(uv_timer_t *timer)
{
    struct pmi_port_process *one = timer->data;
    if (one->server.waits == PMI_WAITS_FENCE)
        end_mixed(one);
    else
        uv_timer_stop(timer);
}

/* ---- what it does with others ---- */

static void enter(void *arg)
{
    struct pmi_port_process *one = arg;
    one->port->waiting++;
    fence_enter(&one->fence);
    ring(one->port);
    if (!atomic_load(&page_of(one)->aborted))
        uv_timer_start(&one->timer, on_fence_time, FENCE_MS, FENCE_MS);
}

static void begun(void *arg, bool is_over)
{
    struct pmi_port_process *one = arg;
    atomic_fetch_or(&page_of(one)->flags, is_over ? PAGE_FINALIZED : PAGE_INITIALIZED);
    if (!is_over)
        atomic_fetch_and(&page_of(one)->flags, ~(uint32_t)PAGE_FINALIZED);
    if (is_over)
        ring(one->port); /* a fence may wait for it in vain */
    else
        end_mixed(one);
}

static const struct pmi_hooks hooks = {&pmi_dialect_2, say, put, get, enter, order, folder, begun, abort_job};

/* ---- what comes ---- */

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct pmi_port_process *one = poll->data;
    char bytes[PMI_SERVER_IN];
    size_t room = pmi_server_room(&one->server);
    (void)events;
    if (!room) { /* it says more than it may before it is answered */
        cut(one);
        return;
    }
    ssize_t n = status ? 0 : recv(one->fd, bytes, room, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0 || pmi_server_take(&one->server, bytes, (size_t)n))
        cut(one);
}

/* A rank that has ended will not begin any more. */
static bool has_begun(const struct table *t, int rank)
{
    int slot = table_slot(t, rank);
    return slot < 0 ? (t->rank[rank].end & (TABLE_END_JOINED | TABLE_END_HOST_LOST)) != 0
                    : (atomic_load(&table_page(t, slot)->flags) & PAGE_INITIALIZED) != 0;
}

/* Look at new ends. Returns whether a rank is missing, so that no fence will ever have all. */
static bool lacks_rank(struct pmi_port *p)
{
    const struct table *t = &p->ranks->table;
    uint32_t ends = atomic_load_explicit(&t->head->ends, memory_order_acquire);
    for (; p->missing < 0 && p->ends != ends; p->ends++) {
        int rank = (int)(t->order[p->ends % (uint32_t)t->world_size] % (uint32_t)t->world_size);
        if (!has_begun(t, rank))
            p->missing = rank;
    }
    return p->missing >= 0;
}

/* The job is to end. If it goes on after failures, this process ends it, as one of ours does. */
static void end_for_missing(struct pmi_port_process *one)
{
    struct pmi_port *p = one->port;
    char text[64];
    if (p->is_ending)
        return;
    p->is_ending = true;
    if (p->missed)
        p->missed(p->missed_arg, p->missing, one->facts.rank);
    snprintf(text, sizeof(text), "rank %d has ended without MPI_Init", p->missing);
    abort_job(one, 1, text);
}

void pmi_port_look(struct pmi_port *p)
{
    for (struct pmi_port_process *one = p->first; one && (p->waiting || p->has_patient); one = one->next) {
        if (one->server.waits == PMI_WAITS_PUT && pmi_server_again(&one->server))
            cut(one);
        int rc = one->server.waits == PMI_WAITS_FENCE ? fence_check(&one->fence) : FENCE_WAITING;
        if (rc && one->server.waits == PMI_WAITS_FENCE && lacks_rank(p)) {
            end_for_missing(one);
            continue;
        }
        if (rc == FENCE_WAITING)
            continue;
        end_mixed(one); /* it is over because one of ours has come */
        p->waiting--;
        if (pmi_server_released(&one->server, !rc))
            cut(one);
    }
}

void pmi_port_value(struct pmi_port *p, const struct core_message *message)
{
    uint64_t at = message->number - p->first_cookie;
    bool is_rank = p->all && at >> 32 < (uint64_t)p->ranks->table.world_size;
    struct pmi_port_process *one = is_rank ? p->all[at >> 32] : NULL;
    if (!one || one->asked != (uint32_t)at || !one->unanswered || one->server.waits != PMI_WAITS_VALUE)
        return;
    if (message->status == STATUS_GOOD && message->data)
        found(one, message->data->at, message->data->len);
    else if (!--one->unanswered)
        found(one, NULL, 0);
}

bool pmi_port_told(void *arg, int rank, const uint8_t *letter, size_t len)
{
    struct pmi_port *p = arg;
    bool is_rank = p->all && rank >= 0 && rank < p->ranks->table.world_size;
    struct pmi_port_process *one = is_rank ? p->all[rank] : NULL;
    char text[PMI_SERVER_IN];
    if (!one || len < ORDER_HEAD || atomic_load(&page_of(one)->claim_pid))
        return false;
    if (os_be32_get(letter) != one->order) /* of an earlier one: a job has ended */
        return true;
    snprintf(text, sizeof(text), "%.*s", (int)(len - ORDER_HEAD < sizeof(text) ? len - ORDER_HEAD : 0),
             (const char *)letter + ORDER_HEAD);
    if (pmi_server_told(&one->server, (int)os_be32_get(letter + 4), text))
        cut(one);
    return true;
}

void pmi_port_ended(struct pmi_port *p, int rank)
{
    if (p->all && p->all[rank])
        forget(p->all[rank]);
    if (p->waiting)
        ring(p);
}

/* ---- starting ---- */

/* The number of the host of a rank, as the mapping has it. */
static int node_of(const void *arg, int rank)
{
    return table_node(arg, rank);
}

/* Describe a rank. */
static void fill_facts(struct pmi_port_process *one, const struct ranks *ranks, int rank)
{
    const struct table *t = &ranks->table;
    const char *note = launch_variable(ranks->apps[t->rank[rank].app].environment, "BNR_NOTE");
    char gid[2 * sizeof(t->head->gid) + 1];
    bytes_digits(gid, t->head->gid, sizeof(t->head->gid));
    one->facts = (struct pmi_process){.rank = rank,
                                      .size = t->world_size,
                                      .app = (int)t->rank[rank].app,
                                      .universe = (int)t->head->universe_size,
                                      .node = table_node(t, rank),
                                      .mapping = one->port->mapping,
                                      .note = note ? note : ""};
    snprintf(one->facts.space, sizeof(one->facts.space), "kvs_%s", gid);
}

/* Once the first process needs it. Returns 0 or -ENOMEM. */
static int prepare(struct pmi_port *p)
{
    const struct table *t = &p->ranks->table;
    p->all = calloc((size_t)t->world_size, sizeof(*p->all));
    p->mapping = p->all ? malloc(PMI_SERVER_VALUE) : NULL;
    if (!p->mapping) {
        free(p->all);
        p->all = NULL;
        return -ENOMEM;
    }
    if (!pmi_mapping_write(p->mapping, PMI_SERVER_VALUE, t->world_size, node_of, t))
        p->mapping[0] = 0;
    return 0;
}

/* A rank is about to be started: the end that it inherits, or -errno. */
static int open_socket(void *arg, int rank)
{
    struct pmi_port *p = arg;
    if (!p->all && prepare(p))
        return -ENOMEM;
    int ends[2], slot = table_slot(&p->ranks->table, rank);
    struct pmi_port_process *one = slot < 0 ? NULL : calloc(1, sizeof(*one));
    if (!one)
        return -ENOMEM;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        free(one);
        return -errno;
    }
    one->port = p;
    one->slot = slot;
    one->fd = ends[0];
    fill_facts(one, p->ranks, rank);
    fence_init(&one->fence, &p->ranks->table, slot);
    pmi_server_init(&one->server, &hooks, one, &one->facts);
    int rc = uv_poll_init(p->loop, &one->poll, one->fd);
    if (rc) {
        close(ends[0]);
        close(ends[1]);
        free(one);
        return rc;
    }
    uv_timer_init(p->loop, &one->timer);
    one->poll.data = one->timer.data = one;
    one->open_handles = 2;
    p->all[rank] = one;
    one->next = p->first;
    p->first = one;
    (void)uv_poll_start(&one->poll, UV_READABLE, on_event);
    return ranks_lift(ends[1]);
}

void pmi_port_start(struct pmi_port *p, uv_loop_t *loop, struct ranks *ranks, struct mesh *mesh, struct post *post,
                    uint64_t group, uint64_t first_cookie)
{
    *p = (struct pmi_port){.loop = loop,
                           .ranks = ranks,
                           .mesh = mesh,
                           .post = post,
                           .group = group,
                           .first_cookie = first_cookie,
                           .missing = -1};
    ranks->open_pmi = open_socket;
    ranks->open_pmi_arg = p;
}

void pmi_port_stop(struct pmi_port *p)
{
    while (p->first)
        forget(p->first);
    free(p->all);
    free(p->mapping);
    *p = (struct pmi_port){0};
}
