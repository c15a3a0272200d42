/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The connections of provider sockets, which tells nobody which descriptors it has: they are known by their
 * addresses. A process sleeps on a set of them, since a completion queue that can be slept on needs the provider's
 * thread, through which each message passes. The set tells of new bytes, and of new room.
 *
 * And connections get room. The provider takes the head of a message only when all of it has come. The kernel keeps
 * a piece of memory, with many messages in it, until its last byte is taken, and lets the peer send only what it
 * has memory for. So if one piece takes up all memory of a connection and ends amid a head,
 * provider and kernel wait for each other for ever. A connection that may have several of them
 * never comes to that. A host that gives its connections less does without this provider.
 *
 * Provider tcp;ofi_rxm closes its connections at the end, with bytes from the peer that nobody has read: the kernel
 * resets them then, and drops what it has not brought to the peer's kernel yet. So a process does not end before
 * that is all there.
 */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/ofi/link.h"
#include "os/file.h"

enum {
    ROOM = 1 << 20, /* bytes of a window; a piece has 17 times 32 KiB at most */
    EVENTS = 16     /* that are taken at once */
};

/* An address of the Internet, of either version; or none: its family is AF_UNSPEC. */
union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* What a provider says of an address. Returns whether it is one of these. */
static bool read_address(const void *bytes, size_t len, union address *address)
{
    *address = (union address){.any.sa_family = AF_UNSPEC};
    if (len > sizeof(*address) || len < sizeof(address->any.sa_family))
        return false;
    memcpy(address, bytes, len);
    return (address->any.sa_family == AF_INET && len == sizeof(address->v4)) ||
           (address->any.sa_family == AF_INET6 && len == sizeof(address->v6));
}

/* Whether an address of a socket is this one. It may be that of all interfaces. */
static bool is_same(const union address *of, const union address *one)
{
    if (of->any.sa_family != one->any.sa_family)
        return false;
    if (of->any.sa_family == AF_INET)
        return of->v4.sin_port == one->v4.sin_port &&
               (of->v4.sin_addr.s_addr == one->v4.sin_addr.s_addr || of->v4.sin_addr.s_addr == INADDR_ANY);
    return of->any.sa_family == AF_INET6 && of->v6.sin6_port == one->v6.sin6_port &&
           (IN6_ARE_ADDR_EQUAL(&of->v6.sin6_addr, &one->v6.sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&of->v6.sin6_addr));
}

/* Whether this socket has our address, or its peer has that one. */
static bool is_of(int fd, const union address *ours, const union address *theirs)
{
    union address own = {.any.sa_family = AF_UNSPEC}, peer = own;
    socklen_t own_len = sizeof(own), peer_len = sizeof(peer), size = sizeof(int);
    int type = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_STREAM)
        return false;
    return (!getsockname(fd, &own.any, &own_len) && is_same(&own, ours)) ||
           (!getpeername(fd, &peer.any, &peer_len) && is_same(&peer, theirs));
}

/* The next descriptor in a folder of this process's that is a connection of ours or to theirs; -1: no more. */
static int next_of(DIR *all, const union address *ours, const union address *theirs)
{
    for (const struct dirent *entry; (entry = readdir(all));) {
        int fd = atoi(entry->d_name);
        if (is_of(fd, ours, theirs))
            return fd;
    }
    return -1;
}

/* The limit of SO_RCVBUF is often lower; a wish to be woken late gives room beyond it. */
static void widen(int fd)
{
    int room = ROOM, least = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &room, sizeof(room));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
}

/* A window takes half of what the kernel may give a connection. */
int ofi_sockets_check(char *why, size_t size)
{
    char text[128];
    unsigned long long most = 0, needed = 2ull * ROOM;
    if (os_read_start("/proc/sys/net/ipv4/tcp_rmem", text, sizeof(text)) < 0 ||
        sscanf(text, "%*u %*u %llu", &most) != 1 || most >= needed)
        return 0; /* what cannot be known is taken for good */
    snprintf(why, size,
             "with provider sockets connections can stand still that get less than %llu bytes, and net.ipv4.tcp_rmem "
             "gives %llu at most: raise that, or take provider tcp;ofi_rxm",
             needed, most);
    return -ENODEV;
}

int ofi_sockets_open(struct ofi *ofi)
{
    struct epoll_event event = {.events = EPOLLIN};
    ofi->is_set = true;
    ofi->socket = epoll_create1(EPOLL_CLOEXEC);
    ofi->room = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ctl(ofi->socket, EPOLL_CTL_ADD, ofi->room, &event))
        return -FI_EMFILE;
    ofi_sockets_find(ofi, ofi->address, ofi->address_len); /* no peer has that one */
    return 0;
}

void ofi_sockets_find(struct ofi *ofi, const void *peer, size_t len)
{
    struct epoll_event news = {.events = EPOLLIN}, room = {.events = EPOLLOUT | EPOLLET};
    union address ours, theirs;
    bool are = read_address(ofi->address, ofi->address_len, &ours) && read_address(peer, len, &theirs);
    DIR *all = are ? opendir("/proc/self/fd") : NULL;
    if (!all)
        return;
    for (int fd; (fd = next_of(all, &ours, &theirs)) >= 0;) {
        widen(fd);
        (void)epoll_ctl(ofi->socket, EPOLL_CTL_ADD, fd, &news); /* it may be there already */
        (void)epoll_ctl(ofi->room, EPOLL_CTL_ADD, fd, &room);
    }
    closedir(all);
}

/* The address of a process, if it is one of these. */
static bool find_address(const struct ofi *ofi, fi_addr_t to, union address *address)
{
    uint8_t bytes[OFI_ADDRESS_MAX];
    size_t len = sizeof(bytes);
    return read_address(ofi->address, ofi->address_len, address) && !fi_av_lookup(ofi->av, to, bytes, &len) &&
           read_address(bytes, len, address);
}

bool ofi_sockets_lead(const struct ofi *ofi, fi_addr_t to)
{
    union address nobody = {.any.sa_family = AF_UNSPEC}, theirs;
    DIR *all = find_address(ofi, to, &theirs) ? opendir("/proc/self/fd") : NULL;
    if (!all)
        return false;
    bool leads = next_of(all, &nobody, &theirs) >= 0;
    closedir(all);
    return leads;
}

/* Whether a descriptor is a connection of a link. */
static bool is_of_link(const struct ofi *ofi, int fd)
{
    union address ours, theirs = {.any.sa_family = AF_UNSPEC};
    if (!read_address(ofi->address, ofi->address_len, &ours))
        return false;
    bool is = is_of(fd, &ours, &theirs);
    for (const struct ofi_link *link = ofi->links; link && !is; link = link->next)
        is = find_address(ofi, link->say.to, &theirs) && is_of(fd, &ours, &theirs);
    return is;
}

bool ofi_sockets_are_out(const struct ofi *ofi)
{
    bool out = true;
    DIR *all = ofi->resets ? opendir("/proc/self/fd") : NULL;
    if (!all)
        return true;
    for (const struct dirent *entry; out && (entry = readdir(all));) {
        int fd = atoi(entry->d_name), left = 0;
        if (!ioctl(fd, SIOCOUTQ, &left) && left > 0)
            out = !is_of_link(ofi, fd);
    }
    closedir(all);
    return out;
}

bool ofi_sockets_take(struct ofi *ofi)
{
    struct epoll_event events[EVENTS];
    if (!ofi->is_set || epoll_wait(ofi->socket, events, 1, 0) <= 0)
        return false;
    while (epoll_wait(ofi->room, events, EVENTS, 0) == EVENTS)
        ;
    return true;
}

void ofi_sockets_close(struct ofi *ofi)
{
    if (!ofi->is_set)
        return;
    close(ofi->socket);
    close(ofi->room);
}

void ofi_sockets_push(struct ofi *ofi)
{
    struct fi_cq_msg_entry none;
    if (ofi->is_set)
        (void)fi_cq_read(ofi->cq, &none, 0);
}
