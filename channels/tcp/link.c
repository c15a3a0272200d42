/* SPDX-License-Identifier: BSD-3-Clause */

/* One peer of the tcp channel; see link.h. */
#include "channels/tcp/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "channels/tcp/dial.h"
#include "channels/tcp/input.h"
#include "os/clock.h"
#include "os/settings.h"
#include "os/turn.h"
#include "slots.h"

enum {
    READS = 16,   /* of one link in one progress(), so that no peer starves the others */
    WORKS = 1024, /* dirty links in one progress() */
    VECTORS = 16,
    STREAK = 4, /* events of one link in a row make it hot */
    HEAT = 256  /* empty looks at it make it cold */
};

static void mark_dirty(struct tcp_link *link)
{
    if (link->dirty)
        return;
    link->dirty = true;
    link->dirty_next = NULL;
    *link->tcp->last_dirty = link;
    link->tcp->last_dirty = &link->dirty_next;
}

static void clear_dirty(struct tcp_link *link)
{
    struct tcp *tcp = link->tcp;
    struct tcp_link **at = &tcp->dirty;
    while (*at && *at != link)
        at = &(*at)->dirty_next;
    if (!*at)
        return;
    *at = link->dirty_next;
    if (!link->dirty_next)
        tcp->last_dirty = at;
    link->dirty = false;
}

/* No more can be sent; progress() reads the received bytes and tells the device. */
static void mute(struct tcp_link *link, int rc)
{
    if (link->state != LINK_OPEN)
        return;
    link->state = LINK_MUTE;
    link->rc = rc;
    mark_dirty(link);
}

static void set_full(struct tcp_link *link)
{
    link->full = true;
    if (link->watched)
        return;
    int rc = tcp_rewatch(link->tcp, &link->sock, true);
    if (rc)
        mute(link, rc);
    else
        link->watched = true;
}

/* ---- output ---- */

/* Write what the socket takes. Returns the bytes, 0 at least; less than all sets full, a
 * failure mutes. */
static size_t put(struct tcp_link *link, struct iovec *iov, int count, size_t all)
{
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t)count};
    ssize_t n;
    do
        n = count == 1 ? send(link->sock.fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL)
                       : sendmsg(link->sock.fd, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) {
        mute(link, -errno);
        return 0;
    }
    if (n < 0)
        n = 0;
    if ((size_t)n < all)
        set_full(link);
    return (size_t)n;
}

static void node_done(struct tcp_link *link)
{
    struct tcp_packet *node = link->first;
    link->first = node->next;
    if (!link->first)
        link->last = &link->first;
    node->next = NULL;
    *link->last_done = node;
    link->last_done = &node->next;
    mark_dirty(link);
}

/* Copy the first node into the output buffer, as far as there is room. */
static void stage(struct tcp_link *link)
{
    struct tcp_packet *node = link->first;
    size_t all = WIRE_HEADER_LEN + node->data.len;
    if (out_room(&link->out, 1, false))
        node->gone += out_copy_rest(&link->out, node->header, &node->data, node->gone);
    if (node->gone == all)
        node_done(link);
}

/* Add one more part to a call's write, as much as has room. Returns the number of parts. */
static int add_part(struct iovec *iov, int count, const void *base, size_t len, size_t *all)
{
    if (len > LINK_WRITE_LEN - *all)
        len = LINK_WRITE_LEN - *all;
    if (!len)
        return count;
    iov[count] = (struct iovec){(void *)(uintptr_t)base, len};
    *all += len;
    return count + 1;
}

/* What one call writes of the output buffer and the nodes behind it that are contiguous. */
static int gather(const struct tcp_link *link, struct iovec iov[VECTORS], size_t *all)
{
    size_t before = link->out.tail - link->out.head;
    int count = 0;
    *all = 0;
    if (before)
        count = add_part(iov, count, link->out.bytes + link->out.head, before, all);
    for (struct tcp_packet *node = link->first; node && count + 2 <= VECTORS; node = node->next) {
        if (!node->data.base && node->data.len)
            break;
        size_t gone = node->gone;
        if (gone < WIRE_HEADER_LEN)
            count = add_part(iov, count, node->header + gone, WIRE_HEADER_LEN - gone, all);
        gone = gone < WIRE_HEADER_LEN ? 0 : gone - WIRE_HEADER_LEN;
        if (gone < node->data.len)
            count = add_part(iov, count, (const char *)node->data.base + gone, node->data.len - gone,
                             all);
    }
    return count;
}

static void consume(struct tcp_link *link, size_t n)
{
    n -= out_drop(&link->out, n);
    while (n) {
        struct tcp_packet *node = link->first;
        size_t rest = WIRE_HEADER_LEN + node->data.len - node->gone;
        size_t part = n < rest ? n : rest;
        node->gone += part;
        n -= part;
        if (part == rest)
            node_done(link);
    }
}

/* Write until all is gone or the socket is full. */
static void flush(struct tcp_link *link)
{
    while (link->state == LINK_OPEN && !link->full && !link->end_ns &&
           (link->first || link->out.tail > link->out.head)) {
        struct iovec iov[VECTORS];
        size_t all;
        while (link->first && !link->first->data.base && link->first->data.len &&
               out_room(&link->out, 1, false))
            stage(link);
        int count = gather(link, iov, &all);
        if (!count) {
            mute(link, -ENOMEM); /* not even a buffer to read into */
            return;
        }
        consume(link, put(link, iov, count, all));
    }
    out_trim(&link->out);
}

static void queue_node(struct tcp_link *link, const uint8_t *header, const struct chan_data *data,
                       size_t gone)
{
    struct tcp_packet *node = (struct tcp_packet *)((char *)data->cookie + link->tcp->node_offset);
    node->next = NULL;
    node->data = *data;
    node->gone = gone;
    memcpy(node->header, header, WIRE_HEADER_LEN);
    *link->last = node;
    link->last = &node->next;
}

static bool may_queue(const struct tcp_link *link, const struct chan_data *data)
{
    return data->cookie && link->tcp->node_offset >= 0;
}

/* While the socket is full, or packets wait in the sender's memory. */
static int send_behind(struct tcp_link *link, const uint8_t *header, const struct chan_data *data)
{
    if (!link->first && (data->len <= LINK_COPY_MAX || !may_queue(link, data)) &&
        out_room(&link->out, WIRE_HEADER_LEN + data->len, false)) {
        out_copy_rest(&link->out, header, data, 0);
        return 0;
    }
    if (!may_queue(link, data))
        return CHAN_AGAIN;
    queue_node(link, header, data, 0);
    return CHAN_PENDING;
}

/* A payload of several pieces, or for several calls: by the output buffer if it has room, otherwise
 * in place, bit by bit. */
static int send_pieces(struct tcp_link *link, const uint8_t *header, const struct chan_data *data)
{
    bool whole = !may_queue(link, data);
    if (out_room(&link->out, WIRE_HEADER_LEN + data->len, whole)) {
        out_copy_rest(&link->out, header, data, 0);
        flush(link);
        return 0;
    }
    if (whole)
        return CHAN_AGAIN;
    queue_node(link, header, data, 0);
    flush(link);
    return CHAN_PENDING;
}

/* Write the output buffer, and the payload from its place. */
static int send_whole(struct tcp_link *link, uint8_t *header, const struct chan_data *data)
{
    struct iovec iov[3];
    int count = 0;
    size_t before = link->out.tail - link->out.head, all = WIRE_HEADER_LEN + data->len;
    uint8_t flat[WIRE_HEADER_LEN + LINK_FLAT_MAX];
    if (before)
        iov[count++] = (struct iovec){link->out.bytes + link->out.head, before};
    if (data->len <= LINK_FLAT_MAX) { /* one piece is quicker than two */
        memcpy(flat, header, WIRE_HEADER_LEN);
        if (data->len)
            memcpy(flat + WIRE_HEADER_LEN, data->base, data->len);
        iov[count++] = (struct iovec){flat, all};
    } else {
        iov[count++] = (struct iovec){header, WIRE_HEADER_LEN};
        iov[count++] = (struct iovec){(void *)(uintptr_t)data->base, data->len};
    }
    size_t n = put(link, iov, count, before + all);
    n -= out_drop(&link->out, n);
    if (n == all)
        return 0;
    if (link->state != LINK_OPEN)
        return CHAN_AGAIN;
    if (may_queue(link, data) && all - n > LINK_COPY_MAX) {
        queue_node(link, header, data, n);
        return CHAN_PENDING;
    }
    if (!out_room(&link->out, all - n, n > 0)) {
        if (n)
            mute(link, -ENOMEM); /* half a packet is out, and the rest cannot be kept */
        return CHAN_AGAIN;
    }
    out_copy_rest(&link->out, header, data, n);
    return 0;
}

static int link_send(struct chan_link *base, const struct chan_head *head,
                     const struct chan_data *data)
{
    struct tcp_link *link = (struct tcp_link *)((char *)base - offsetof(struct tcp_link, base));
    uint8_t header[WIRE_HEADER_LEN];
    if (link->state != LINK_OPEN || data->len > WIRE_DATA_MAX)
        return CHAN_AGAIN;
    wire_header_put(header, head, data->len);
    if (link->full || link->first)
        return send_behind(link, header, data);
    bool may_wait = data->flags & CHAN_MORE || link->tcp->inside;
    if (may_wait && link->turn == link->tcp->turn && data->len <= LINK_COPY_MAX) {
        if (!out_room(&link->out, WIRE_HEADER_LEN + data->len, false)) {
            flush(link);
            if (link->full || !out_room(&link->out, WIRE_HEADER_LEN + data->len, false))
                return send_behind(link, header, data);
        }
        out_copy_rest(&link->out, header, data, 0);
        mark_dirty(link);
        return 0;
    }
    link->turn = link->tcp->turn;
    bool is_flat = data->base || !data->len;
    return is_flat && data->len <= LINK_WRITE_LEN ? send_whole(link, header, data)
                                                  : send_pieces(link, header, data);
}

/* In a process that turns heads. */
static int link_send_turned(struct chan_link *base, const struct chan_head *head, const struct chan_data *data)
{
    struct chan_head turned = wire_head_turned(head);
    return link_send(base, &turned, data);
}

/* ---- the peer's process has ended ---- */

static int send_no_more(struct chan_link *base, const struct chan_head *head,
                        const struct chan_data *data)
{
    (void)base, (void)head, (void)data;
    return CHAN_AGAIN;
}

/* From now on, or from the last bytes that came. */
static void set_end(struct tcp_link *link)
{
    link->end_ns = os_now_ns() + (uint64_t)os_setting(OS_SETTING_CONNECT_TIMEOUT_MS) * 1000000u;
}

void link_finish(struct tcp_link *link)
{
    if (link->end_ns || link->state == LINK_OVER)
        return;
    link->base.send = send_no_more;
    set_end(link);
    tcp_want_tick(link->tcp, link->end_ns);
}

/* ---- input ---- */

/* Read what there is. *drained says whether the socket is empty. */
static int read_on(struct tcp_link *link, bool *drained)
{
    int upcalls = 0;
    *drained = false;
    for (int i = 0; i < READS && link_is_up(link); i++) {
        struct iovec iov[2];
        int count = input_offer(link, iov);
        if (!count)
            return upcalls + link_lose(link, -ENOMEM);
        size_t all = iov[0].iov_len + (count > 1 ? iov[1].iov_len : 0);
        ssize_t got = count > 1 ? readv(link->sock.fd, iov, count)
                                : recv(link->sock.fd, iov[0].iov_base, iov[0].iov_len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            *drained = true;
            return upcalls;
        }
        if (got <= 0)
            return upcalls + link_lose(link, got < 0 ? -errno : -ECONNRESET);
        if (link->end_ns)
            set_end(link);
        upcalls += input_take(link, (size_t)got);
        if ((size_t)got < all && link_is_up(link) && link->state == LINK_OPEN)
            break; /* level-triggered: should more be there, epoll says so again */
    }
    return upcalls;
}

/* Its buffer must not move while its bytes may be looked at. */
static int receive(struct tcp_link *link, bool *drained)
{
    struct tcp *tcp = link->tcp;
    tcp->reading = link;
    int upcalls = read_on(link, drained);
    tcp->reading = NULL;
    if (!link_is_up(link) || link->head == link->tail)
        input_release(link);
    return upcalls;
}

/* ---- progress ---- */

void link_cool(struct tcp *tcp)
{
    struct tcp_link *link = tcp->hot;
    if (tcp->heat && link_is_up(link)) {
        int rc = tcp_rewatch(tcp, &link->sock, link->watched);
        if (rc)
            mute(link, rc);
    }
    tcp->hot = NULL;
    tcp->heat = tcp->streak = 0;
}

/* Something came over link, as epoll says. Some times in a row make it hot. */
static void warm(struct tcp_link *link)
{
    struct tcp *tcp = link->tcp;
    if (tcp->hot != link)
        link_cool(tcp);
    tcp->hot = link;
    if (tcp->heat || tcp->armed || ++tcp->streak < STREAK || link->watched)
        return;
    if (tcp_ignore(tcp, &link->sock))
        return;
    tcp->heat = HEAT;
}

int link_poll(struct tcp *tcp)
{
    struct tcp_link *link = tcp->hot;
    bool drained;
    int upcalls = link_is_up(link) ? receive(link, &drained) : 0;
    if (tcp->hot != link)
        return upcalls; /* it has ended */
    if (upcalls)
        tcp->heat = HEAT;
    else if (tcp->heat == 1)
        link_cool(tcp);
    else
        tcp->heat--;
    return upcalls;
}

static int report_sent(struct tcp_link *link)
{
    int upcalls = 0;
    while (link_is_up(link) && link->done) {
        struct tcp_packet *node = link->done;
        link->done = node->next;
        if (!link->done)
            link->last_done = &link->done;
        link->tcp->env->sink->sent(link->base.peer, node->data.cookie);
        upcalls++;
    }
    return upcalls;
}

static int work(struct tcp_link *link)
{
    flush(link);
    int upcalls = report_sent(link);
    if (!link_is_up(link) || link->state != LINK_MUTE)
        return upcalls;
    bool drained;
    upcalls += receive(link, &drained);
    if (link_is_up(link) && !drained)
        mark_dirty(link);
    else if (link_is_up(link))
        upcalls += link_lose(link, link->rc);
    return upcalls;
}

bool link_all_out(struct chan *chan)
{
    const struct tcp *tcp = (struct tcp *)chan;
    for (const struct tcp_link *link = tcp->links; link; link = link->next)
        if (link->state == LINK_OPEN && !link->end_ns &&
            (link->first || link->out.tail > link->out.head))
            return false;
    return linger_all_out(tcp);
}

int link_work(struct tcp *tcp)
{
    int upcalls = 0;
    for (int i = 0; i < WORKS && tcp->dirty; i++) {
        struct tcp_link *link = tcp->dirty;
        clear_dirty(link);
        upcalls += work(link);
    }
    return upcalls;
}

/* Nothing has come for long, unless it waits to be read: this process may have been away. */
static int wait_no_longer(struct tcp_link *link)
{
    bool drained;
    if (!link_is_up(link)) {
        dial_stop(link->dial);
        return link_refuse(link, CHAN_ACCEPT, "its process has ended");
    }
    uint64_t before_ns = link->end_ns;
    int upcalls = receive(link, &drained);
    return upcalls || !link_is_up(link) || link->end_ns != before_ns
               ? upcalls
               : link_lose(link, -ETIMEDOUT);
}

/* Whose host does not answer any more can be sent nothing. */
static void look_at_hosts(struct tcp *tcp, uint64_t now_ns)
{
    if (!tcp->look_ns || now_ns < tcp->look_ns)
        return;
    tcp->look_ns = 0;
    for (struct tcp_link *link = tcp->links; link; link = link->next) {
        if (link->state != LINK_OPEN || link->end_ns)
            continue;
        tcp->look_ns = now_ns + TCP_LOOK_NS;
        if (!alive_look(&link->alive, link->sock.fd, now_ns))
            mute(link, -ETIMEDOUT);
    }
}

int link_tick(struct tcp *tcp, uint64_t now_ns)
{
    look_at_hosts(tcp, now_ns);
    for (struct tcp_link *link = tcp->links, *next; link; link = next) {
        next = link->next;
        if (!link->end_ns || now_ns < link->end_ns || link->state == LINK_OVER)
            continue;
        int upcalls = wait_no_longer(link);
        if (upcalls)
            return upcalls; /* which may have ended other links: the next tick sees to them */
    }
    return 0;
}

uint64_t link_next(const struct tcp *tcp)
{
    uint64_t next_ns = tcp->look_ns ? tcp->look_ns : TCP_NEVER;
    for (const struct tcp_link *link = tcp->links; link; link = link->next)
        if (link->end_ns && link->end_ns < next_ns && link->state != LINK_OVER)
            next_ns = link->end_ns;
    return next_ns;
}

int link_event(struct tcp_link *link, bool input, bool output)
{
    int upcalls = 0;
    bool drained;
    if (output && link_is_up(link) && link->full) {
        link->full = false;
        flush(link);
        if (!link->full && link->state == LINK_OPEN) {
            link->watched = false;
            int rc = tcp_rewatch(link->tcp, &link->sock, false);
            if (rc)
                mute(link, rc);
        }
        upcalls += report_sent(link);
    }
    if (!input || !link_is_up(link))
        return upcalls;
    warm(link);
    return upcalls + receive(link, &drained);
}

/* ---- life ---- */

struct tcp_link *link_of(const struct chan_peer *peer)
{
    return chan_slot_get(peer, ENDPOINT_SLOT_TCP);
}

struct tcp_link *link_find(struct tcp *tcp, const struct chan_gid *gid, uint32_t rank)
{
    for (struct tcp_link *link = tcp->links; link; link = link->next)
        if (link->state != LINK_DIALING && link->base.peer->rank == rank &&
            !memcmp(&link->base.peer->gid, gid, sizeof(*gid)))
            return link;
    return NULL;
}

struct tcp_link *link_alloc(void)
{
    return malloc(sizeof(struct tcp_link));
}

void link_init(struct tcp_link *link, struct tcp *tcp, struct chan_peer *peer)
{
    memset(link, 0, sizeof(*link));
    link->sock = (struct tcp_sock){.fd = -1, .kind = SOCK_LINK};
    link->base = (struct chan_link){.send = os_turns ? link_send_turned : link_send,
                                    .ops = tcp->base.ops,
                                    .peer = peer,
                                    .eager_max = LINK_EAGER_MAX,
                                    .max_data = WIRE_DATA_MAX};
    link->tcp = tcp;
    link->last = &link->first;
    link->last_done = &link->done;
    link->turn = tcp->turn - 1;
    link->next = tcp->links;
    link->at = &tcp->links;
    if (link->next)
        link->next->at = &link->next;
    tcp->links = link;
    tcp->base.links++;
    (void)chan_slot_set(tcp->env, peer, ENDPOINT_SLOT_TCP, link);
}

struct tcp_link *link_create(struct tcp *tcp, struct chan_peer *peer)
{
    struct tcp_link *link = link_alloc();
    if (link)
        link_init(link, tcp, peer);
    return link;
}

void link_destroy(struct tcp_link *link)
{
    struct tcp *tcp = link->tcp;
    if (link->dial)
        dial_stop(link->dial);
    if (tcp->hot == link)
        link_cool(tcp); /* which may mark it dirty */
    if (link->dirty)
        clear_dirty(link);
    if (link->state == LINK_OPEN && !link->end_ns) /* a process that has ended reads nothing */
        linger_start(link);
    *link->at = link->next;
    if (link->next)
        link->next->at = link->at;
    tcp->base.links--;
    (void)chan_slot_set(tcp->env, link->base.peer, ENDPOINT_SLOT_TCP, NULL);
    free(link->out.bytes);
    if (tcp->reading != link)
        input_release(link);
    tcp_bury(tcp, &link->sock);
}

int link_open(struct tcp_link *link)
{
    struct tcp *tcp = link->tcp;
    link->state = LINK_OPEN;
    if (!tcp->look_ns)
        tcp->look_ns = os_now_ns() + TCP_LOOK_NS;
    tcp_want_tick(tcp, tcp->look_ns);
    tcp->env->sink->opened(&link->base);
    return 1;
}

int link_refuse(struct tcp_link *link, enum chan_answer answer, const char *why)
{
    link->state = LINK_OVER;
    link->tcp->env->sink->refused(&link->base, answer, why);
    return 1;
}

int link_lose(struct tcp_link *link, int rc)
{
    tcp_check(link->tcp, -rc);
    link->state = LINK_OVER;
    if (link->tcp->hot == link)
        link_cool(link->tcp);
    tcp_hang_up(link->tcp, &link->sock);
    link->tcp->env->sink->lost(&link->base, rc);
    return 1;
}

void link_forked(struct tcp *tcp)
{
    for (struct tcp_link *link = tcp->links; link; link = link->next)
        tcp_close_copy(&link->sock);
}
