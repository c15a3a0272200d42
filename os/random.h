/* SPDX-License-Identifier: BSD-3-Clause */

/* Random bytes from the kernel. */
#ifndef OS_RANDOM_H
#define OS_RANDOM_H

#include <errno.h>
#include <stddef.h>
#include <sys/random.h>

/* Fill buf with len (at most 256) random bytes. Returns 0 or -errno. */
static inline int os_random(void *buf, size_t len)
{
    return getrandom(buf, len, 0) == (ssize_t)len ? 0 : -errno;
}

#endif
