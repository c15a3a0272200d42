/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory for the processes of one host; see host_memory.h. */
#include "bnr/client/host_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/net/accept.h"
#include "os/clock.h"
#include "os/keyed_hash.h"
#include "os/memory/segment.h"

enum { RETRY_US = 2000 };

static socklen_t name_of(struct sockaddr_un *address, const unsigned char secret[16], int host)
{
    char text[2][32];
    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof(text[i]), "host memory %d.%d", host, i);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    int n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "vireo.%016" PRIx64 "%016" PRIx64,
                     os_keyed_hash(secret, text[0], strlen(text[0])), os_keyed_hash(secret, text[1], strlen(text[1])));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.uid == geteuid();
}

/* Wait until fd can be read. Returns 0 or -ETIMEDOUT. */
static int await(int fd, uint64_t until_ns)
{
    for (;;) {
        uint64_t now_ns = os_now_ns();
        if (now_ns >= until_ns)
            return -ETIMEDOUT;
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int n = poll(&one, 1, (int)((until_ns - now_ns) / 1000000) + 1);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
    }
}

union fd_room {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

static int give(int to, int fd)
{
    union fd_room control = {{0}};
    char byte = 1;
    struct iovec part = {&byte, 1};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *h = CMSG_FIRSTHDR(&msg);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(h), &fd, sizeof(fd));
    return sendmsg(to, &msg, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int take(int from)
{
    union fd_room control = {{0}};
    char byte = 0;
    int fd = -1;
    struct iovec part = {&byte, 1};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    ssize_t n = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
    struct cmsghdr *h = n == 1 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (!h || h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS || h->cmsg_len != CMSG_LEN(sizeof(int)))
        return n < 0 ? -errno : -EPROTO;
    memcpy(&fd, CMSG_DATA(h), sizeof(fd));
    return fd;
}

/* Hand fd to so many processes of this user; strangers are hung up on. */
static int serve(int listener, int fd, int count, uint64_t until_ns)
{
    while (count > 0) {
        int rc = await(listener, until_ns);
        if (rc)
            return rc;
        int to = os_accept(listener);
        if (to < 0 && errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
            return -errno;
        if (to >= 0 && is_own_user(to) && !give(to, fd))
            count--;
        if (to >= 0)
            close(to);
    }
    return 0;
}

static int make(const struct sockaddr_un *address, socklen_t len, int count, uint64_t size, uint64_t until_ns,
                const char **step)
{
    *step = "make it, by memfd_create() or in /dev/shm";
    int fd = os_segment_create("vireo-host", size, 0);
    if (fd < 0)
        return fd;
    (void)os_segment_seal(fd, OS_SEGMENT_WRITE);
    *step = "listen for the others at a socket";
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = listener < 0 || bind(listener, (const struct sockaddr *)address, len) || listen(listener, count) ? -errno : 0;
    if (!rc) {
        *step = "hand it to the others";
        rc = serve(listener, fd, count - 1, until_ns);
    }
    if (listener >= 0)
        close(listener);
    if (rc)
        close(fd);
    return rc ? rc : fd;
}

static int fetch(const struct sockaddr_un *address, socklen_t len, uint64_t until_ns, const char **step)
{
    *step = "get it from the first process of this host";
    for (;;) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return -errno;
        int rc = connect(fd, (const struct sockaddr *)address, len) ? -errno : is_own_user(fd) ? 0 : -EPERM;
        if (!rc)
            rc = await(fd, until_ns);
        if (!rc)
            rc = take(fd);
        close(fd);
        if (rc != -ECONNREFUSED && rc != -EAGAIN && rc != -EINTR)
            return rc;
        if (os_now_ns() >= until_ns)
            return -ETIMEDOUT;
        usleep(RETRY_US);
    }
}

int host_memory_share(const unsigned char secret[16], int host, int index, int count, uint64_t size, int limit_ms,
                     const char **step)
{
    struct sockaddr_un address;
    socklen_t len = name_of(&address, secret, host);
    uint64_t until_ns = os_now_ns() + (uint64_t)limit_ms * 1000000u;
    return index ? fetch(&address, len, until_ns, step) : make(&address, len, count, size, until_ns, step);
}
