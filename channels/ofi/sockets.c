/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Room in the connections of provider sockets. The provider takes the head of a message only when all
 * of it has come. The kernel keeps a piece of memory, with many messages in it, until its last byte is
 * taken, and lets the peer send only what it has memory for. So where one piece takes up what a
 * connection may have and ends amid a head, provider and kernel wait for each other for ever. A
 * connection that may have several of them never comes to that. The provider tells nobody which
 * descriptors it has, so they are known by their addresses.
 */
#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "channels/ofi/ofi.h"

enum { ROOM = 1 << 20 }; /* bytes of a window; a piece has 17 times 32 KiB at most */

static bool is_same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return a->sin_family == AF_INET && b->sin_family == AF_INET && a->sin_port == b->sin_port &&
           (a->sin_addr.s_addr == b->sin_addr.s_addr || a->sin_addr.s_addr == INADDR_ANY);
}

/* Whether this connection's peer, or else a listening socket itself, has the address. */
static bool is_of(int fd, const struct sockaddr_in *address)
{
    struct sockaddr_in own;
    socklen_t len = sizeof(own), size = sizeof(int);
    int listens = 0;
    if (!getpeername(fd, (struct sockaddr *)&own, &len))
        return len == sizeof(own) && is_same(&own, address);
    len = sizeof(own);
    return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && listens &&
           !getsockname(fd, (struct sockaddr *)&own, &len) && len == sizeof(own) &&
           is_same(&own, address);
}

/* The limit of SO_RCVBUF is often lower; a wish to be woken late gives room beyond it. */
static void widen(int fd)
{
    int room = ROOM, least = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &room, sizeof(room));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
}

void ofi_sockets_widen(const void *address, size_t len)
{
    struct sockaddr_in of;
    DIR *all = len == sizeof(of) ? opendir("/proc/self/fd") : NULL;
    if (!all)
        return;
    memcpy(&of, address, sizeof(of));
    for (const struct dirent *entry; (entry = readdir(all));) {
        int fd = atoi(entry->d_name);
        if (is_of(fd, &of))
            widen(fd);
    }
    closedir(all);
}
