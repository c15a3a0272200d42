/* SPDX-License-Identifier: BSD-3-Clause */

/* A connection to a job's door; see door_link.h. */
#include "bnr/client/door_link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the other side is process pid, of our user or of root (root asks anybody): another
 * process may listen in its name. */
static int is_process(int fd, int pid)
{
    char path[32];
    struct stat st;
    struct ucred peer;
    socklen_t len = sizeof(peer);
    snprintf(path, sizeof(path), "/proc/%d", pid);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.pid == pid &&
           !stat(path, &st) && st.st_uid == peer.uid &&
           (peer.uid == geteuid() || peer.uid == 0 || geteuid() == 0);
}

int door_link_open(struct door_link *link, enum door_kind kind, int pid, enum door_wish wish)
{
    uint8_t request[DOOR_REQUEST_LEN];
    struct sockaddr_un address;
    socklen_t len = door_address(&address, kind, pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int rc = connect(fd, (struct sockaddr *)&address, len) ? -errno
             : is_process(fd, pid)                         ? 0
                                                           : -EPERM;
    door_request_pack(request, wish);
    if (!rc && send(fd, request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
        rc = -ECONNRESET;
    uint8_t *in = rc ? NULL : malloc(HUB_FRAME_MAX);
    if (!in) {
        close(fd);
        return rc ? rc : -ENOMEM;
    }
    *link = (struct door_link){.fd = fd, .in = in};
    return 0;
}

void door_link_close(struct door_link *link)
{
    if (link->fd >= 0) {
        (void)shutdown(link->fd, SHUT_RDWR); /* a forked child may hold it, too */
        close(link->fd);
    }
    free(link->in);
    *link = (struct door_link){.fd = -1};
}

static int send_part(int to, const uint8_t *at, size_t len, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {(void *)at, len};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *h = CMSG_FIRSTHDR(&msg);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(h), &fd, sizeof(fd));
    }
    ssize_t n = sendmsg(to, &msg, MSG_NOSIGNAL);
    return n < 0 ? -errno : (int)n;
}

static int send_all(int to, const uint8_t *at, size_t len, int fd)
{
    while (len) {
        int n = send_part(to, at, len, fd);
        if (n == -EINTR)
            continue;
        if (n < 0)
            return n;
        fd = -1; /* it went with the first byte */
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int door_link_send(struct door_link *link, const struct hub_message *m, int fd)
{
    uint8_t head[HUB_FRAME_HEAD];
    hub_frame_head(head, m);
    int rc = send_all(link->fd, head, sizeof(head), fd);
    return rc ? rc : send_all(link->fd, m->data, m->len, -1);
}

/* Read all bytes that are there. Returns 1, 0 where nothing came in time, or -errno. */
static int read_more(struct door_link *link, int timeout_ms)
{
    struct pollfd p = {.fd = link->fd, .events = POLLIN};
    memmove(link->in, link->in + link->in_at, link->in_len - link->in_at);
    link->in_len -= link->in_at;
    link->in_at = 0;
    int n = timeout_ms ? poll(&p, 1, timeout_ms) : 1;
    if (n <= 0)
        return n < 0 && errno != EINTR ? -errno : 0;
    ssize_t len =
        recv(link->fd, link->in + link->in_len, HUB_FRAME_MAX - link->in_len, MSG_DONTWAIT);
    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (len <= 0)
        return len ? -errno : -ECONNRESET;
    link->in_len += (size_t)len;
    return 1;
}

int door_link_next(struct door_link *link, struct hub_message *m, int timeout_ms)
{
    for (;;) {
        ptrdiff_t n = hub_frame_unpack(link->in + link->in_at, link->in_len - link->in_at, m);
        if (n < 0)
            return -EPROTO;
        link->in_at += (size_t)n;
        if (n)
            return 1;
        int rc = read_more(link, timeout_ms);
        if (rc <= 0)
            return rc;
    }
}
