/* SPDX-License-Identifier: BSD-3-Clause */

/* Random bytes from the kernel. */
#ifndef OS_RANDOM_H
#define OS_RANDOM_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/random.h>
#include <unistd.h>

/* Where the call is denied. */
static inline int os_random_device(void *buf, size_t len)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, buf, len);
    int rc = n == (ssize_t)len ? 0 : n < 0 ? -errno : -EIO;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Fill buf with len (at most 256) random bytes. Returns 0 or -errno. */
static inline int os_random(void *buf, size_t len)
{
    return getrandom(buf, len, 0) == (ssize_t)len ? 0 : os_random_device(buf, len);
}

#endif
