/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading the beginning of a small file, such as those that the kernel provides, and writing all of
 * some bytes; and programs of this installation. */
#ifndef OS_FILE_H
#define OS_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Read the first size - 1 bytes of a file, or all there are, and end them with a 0. Returns their
 * number, or -errno; then text is "". */
static inline ssize_t os_read_start(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, size - 1);
    int rc = -errno;
    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = 0;
    return len < 0 ? rc : len;
}

/* Write all bytes, and wait where the descriptor takes none now, whatever its mode. Returns 0 or
 * -errno. */
static inline int os_write_all(int fd, const void *data, size_t len)
{
    const char *at = data;
    while (len) {
        ssize_t n = write(fd, at, len);
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        if (n < 0 && errno == EAGAIN)
            (void)poll(&p, 1, -1);
        else if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The path of a program that lies beside the running one; its name alone where that cannot be found out. */
static inline void os_beside(char path[PATH_MAX], const char *name)
{
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - strlen(name) - 1);
    path[len > 0 ? len : 0] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, name);
}

#endif
