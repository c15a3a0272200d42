/* SPDX-License-Identifier: BSD-3-Clause */

/* Accepting a connection, also on a kernel or under a filter that has no accept4(); and whether it still stands. */
#ifndef OS_ACCEPT_H
#define OS_ACCEPT_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>

#include "os/calls.h"

/* Accept a connection, which does not block and is closed by execve(): a filter may refuse accept4() alone, and some
 * kernels do not know its flags. Returns as accept() does. */
static inline int os_accept(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 || (!os_is_refused(errno) && errno != EINVAL))
        return fd;
    fd = accept(listener, NULL, NULL);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC), (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Whether the other end of a socket has closed it, and nothing is left to be read. */
static inline bool os_has_hung_up(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
    return !n || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

#endif
