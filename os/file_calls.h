/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls for files that some C libraries do not have, by the kernel's numbers: preadv2(), pwritev2(), statx(). */
#ifndef OS_FILE_CALLS_H
#define OS_FILE_CALLS_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "os/calls.h"

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x8

/* As the C library's; at: -1 alone, for the position that the file has. */
static inline ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
    return syscall(SYS_preadv2, fd, parts, count, (long)at, -1L, flags);
}

static inline ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
    return syscall(SYS_pwritev2, fd, parts, count, (long)at, -1L, flags);
}
#endif

#ifndef STATX_TYPE
#include <linux/stat.h>

static inline int statx(int fd, const char *path, int flags, unsigned mask, struct statx *about)
{
    return (int)syscall(SYS_statx, fd, path, flags, mask, about);
}
#endif

#endif
