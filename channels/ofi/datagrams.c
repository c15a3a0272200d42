/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The socket of provider udp, on which ofi_rxd stands. libfabric hands out no descriptor of it, but it
 * has the address that the endpoint tells. A process sleeps on it, since a completion queue that can be
 * slept on costs ofi_rxd system calls at each datagram. The provider alone reads and writes it.
 */
#include <string.h>
#include <sys/socket.h>

#include "channels/ofi/ofi.h"

enum {
    DESCRIPTORS = 4096, /* that are asked for their address, at most */
    BUFFER = 4 << 20    /* bytes wanted for what comes while nobody reads: what finds no room is lost */
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
