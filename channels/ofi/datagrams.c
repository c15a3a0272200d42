/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The socket of provider udp, on which ofi_rxd stands. libfabric hands out no descriptor of it, but it
 * has the address that the endpoint tells. A process sleeps on it, since a completion queue that can be
 * slept on costs ofi_rxd system calls at each datagram. And it shows that datagrams come during a
 * long read, which the queue reports only at its end. The provider alone reads and writes it. The kernel keeps
 * errors of the socket apart, and these are read here: the host of a process that has ended refuses datagrams for it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <linux/errqueue.h>
#include <sys/socket.h>

#include "channels/ofi/ofi.h"

enum {
    DESCRIPTORS = 4096, /* that are asked for their address, at most */
    BUFFER = 4 << 20,   /* bytes wanted for datagrams while nobody reads: others are lost */
    LOOK_TURNS = 8      /* from look to look, which is a system call */
};

static bool is_ours(const struct ofi *ofi, int fd)
{
    struct sockaddr_storage name;
    socklen_t name_len = sizeof(name), type_len = sizeof(int);
    int type = 0;
    return !getsockname(fd, (struct sockaddr *)&name, &name_len) &&
           name_len == ofi->address_len && !memcmp(&name, ofi->address, name_len) &&
           !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) && type == SOCK_DGRAM;
}

void ofi_datagrams_find(struct ofi *ofi)
{
    int fd = 0, len = BUFFER;
    while (fd < DESCRIPTORS && !is_ours(ofi, fd))
        fd++;
    if (fd == DESCRIPTORS)
        return;
    ofi->socket = fd;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &len, sizeof(len)); /* the kernel has a limit of its own */
}

bool ofi_datagrams_come(struct ofi *ofi)
{
    struct pollfd news = {.fd = ofi->socket, .events = POLLIN};
    if (!ofi->bulk || ofi->socket < 0 || ++ofi->turns % LOOK_TURNS)
        return false;
    return ofi->is_set ? ofi_sockets_take(ofi) : poll(&news, 1, 0) > 0;
}

void ofi_datagrams_hear(struct ofi *ofi)
{
    int on = 1;
    if (ofi->socket >= 0 && !ofi->is_set && !ofi->hears)
        ofi->hears = !setsockopt(ofi->socket, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) ||
                     !setsockopt(ofi->socket, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
}

/* What host says so, in the message's first piece of control data. */
static bool is_refused(struct msghdr *message)
{
    const struct cmsghdr *control = CMSG_FIRSTHDR(message);
    struct sock_extended_err error = {0};
    if (control && control->cmsg_len >= CMSG_LEN(sizeof(error)))
        memcpy(&error, CMSG_DATA(control), sizeof(error));
    return error.ee_errno == ECONNREFUSED &&
           (error.ee_origin == SO_EE_ORIGIN_ICMP || error.ee_origin == SO_EE_ORIGIN_ICMP6);
}

size_t ofi_datagrams_refused(struct ofi *ofi, uint8_t address[OFI_ADDRESS_MAX])
{
    _Alignas(struct cmsghdr) char control[256];
    while (ofi->hears) {
        struct msghdr message = {.msg_name = address, .msg_namelen = OFI_ADDRESS_MAX, .msg_control = control,
                                 .msg_controllen = sizeof(control)};
        if (recvmsg(ofi->socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return 0;
        if (is_refused(&message) && message.msg_namelen)
            return message.msg_namelen;
    }
    return 0;
}
