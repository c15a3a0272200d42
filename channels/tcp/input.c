/* SPDX-License-Identifier: BSD-3-Clause */

/* From bytes to packets; see input.h. */
#include "channels/tcp/input.h"

#include <errno.h>
#include <string.h>

#include "channels/tcp/link.h"

/* A packet begins: the next one may be like it. */
static void expect(struct tcp_link *link, bool is_large)
{
    if (is_large)
        link->glances = LINK_GLANCES;
    else if (link->glances)
        link->glances--;
}

/* Hand over the complete packets of the read-ahead buffer. */
static int parse(struct tcp_link *link)
{
    const struct chan_sink *sink = link->tcp->env->sink;
    int upcalls = 0;
    while (link_is_up(link) && !link->body_len && link->tail - link->head >= WIRE_HEADER_LEN) {
        struct chan_head head;
        size_t len, have = link->tail - link->head - WIRE_HEADER_LEN;
        const uint8_t *data = link->in + link->head + WIRE_HEADER_LEN;
        if (wire_header_get(link->in + link->head, &head, &len))
            return upcalls + link_lose(link, -EPROTO);
        expect(link, len > LINK_GATHER_MAX);
        if (have >= len) {
            link->head += WIRE_HEADER_LEN + len;
            sink->arrived(link->base.peer, &head, data, len);
        } else if (len > LINK_GATHER_MAX) {
            uint8_t *to = sink->place(link->base.peer, &head, len, &link->token);
            if (!link_is_up(link))
                return upcalls + 1;
            if (!to)
                return upcalls + link_lose(link, -ENOMEM);
            memcpy(to, data, have);
            link->body = to + have;
            link->body_len = len - have;
            link->head = link->tail = 0;
        } else {
            break;
        }
        upcalls++;
    }
    return upcalls;
}

void input_release(struct tcp_link *link)
{
    if (link->in)
        os_pool_put(&link->tcp->buffers, link->in);
    link->in = NULL;
    link->head = link->tail = 0;
}

int input_offer(struct tcp_link *link, struct iovec iov[2])
{
    int count = 0;
    for (int tries = 0; !link->in && tries < 2; tries++) /* a want of memory may be of a moment */
        link->in = os_pool_get(&link->tcp->buffers);
    if (!link->in)
        return 0;
    if (link->head == link->tail) {
        link->head = link->tail = 0;
    } else if (link->tail > LINK_IN_LEN / 2 && link->head) {
        memmove(link->in, link->in + link->head, link->tail - link->head);
        link->tail -= link->head;
        link->head = 0;
    }
    if (link->body_len > LINK_READ_LEN) {
        iov[0] = (struct iovec){link->body, LINK_READ_LEN};
        return 1;
    }
    if (link->body_len)
        iov[count++] = (struct iovec){link->body, link->body_len};
    size_t room = LINK_IN_LEN - link->tail;
    if (link->glances && room > LINK_GLANCE_LEN)
        room = LINK_GLANCE_LEN;
    iov[count++] = (struct iovec){link->in + link->tail, room};
    return count;
}

int input_take(struct tcp_link *link, size_t got)
{
    int upcalls = 0;
    if (link->body_len) {
        size_t part = got < link->body_len ? got : link->body_len;
        link->body += part;
        link->body_len -= part;
        link->tail += got - part;
        if (link->body_len)
            return 0;
        void *token = link->token;
        link->token = NULL;
        link->tcp->env->sink->landed(link->base.peer, token);
        upcalls++;
    } else {
        link->tail += got;
    }
    return upcalls + (link_is_up(link) ? parse(link) : 0);
}
