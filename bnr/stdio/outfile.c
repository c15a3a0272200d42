/* SPDX-License-Identifier: BSD-3-Clause */

/* Files for what the ranks write; see outfile.h. */
#include "bnr/stdio/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/log.h"

/* The text for the letter after "%", into text; -EINVAL if it is none. */
static int substitute(const struct outfile *o, char letter, int rank, char *text, size_t size)
{
    int digits = 1;
    for (int last = o->ranks - 1; last > 9; last /= 10)
        digits++;
    switch (letter) {
    case 'r': snprintf(text, size, "%d", rank); return 0;
    case 'R': snprintf(text, size, "%0*d", digits, rank); return 0;
    case 'h': snprintf(text, size, "%s", os_host_name()); return 0;
    case 't': snprintf(text, size, "%ld", o->begun_s); return 0;
    case '%': snprintf(text, size, "%%"); return 0;
    case 'g':
    case 'p': snprintf(text, size, "0"); return 0;
    default: return -EINVAL;
    }
}

int outfile_name(const struct outfile *o, const char *pattern, int rank, char *name, size_t size)
{
    size_t used = 0;
    if (!*pattern)
        return -EINVAL;
    for (; *pattern; pattern++) {
        char text[256] = {*pattern, 0};
        if (*pattern == '%' && substitute(o, *++pattern, rank, text, sizeof(text)))
            return -EINVAL;
        size_t len = strlen(text);
        if (len >= size - used)
            return -ENAMETOOLONG;
        memcpy(name + used, text, len + 1);
        used += len;
    }
    return 0;
}

/* Make the folders in name. */
static int make_folders(char *name)
{
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int rc = mkdir(name, 0777) && errno != EEXIST ? -errno : 0;
        *slash = '/';
        if (rc)
            return rc;
    }
    return 0;
}

/* Does not wait for the reader of a named pipe: a missing one is an error. */
static int open_file(const char *name, int flags)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    int mode = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (mode < 0)
        return -errno;
    return fcntl(fd, F_SETFL, mode & ~O_NONBLOCK) ? -errno : fd;
}

static int empty_file(char *name)
{
    int rc = make_folders(name);
    int fd = rc ? rc : open_file(name, O_TRUNC);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

int outfile_prepare(const struct outfile *o, char *why, size_t size)
{
    static const char *const streams[] = {"stdout", "stderr"};
    char name[PATH_MAX];
    for (int i = 0; i < 2; i++)
        for (int r = 0; o->pattern[i] && r < o->ranks; r++) {
            int rc = outfile_name(o, o->pattern[i], r, name, sizeof(name));
            if (!rc)
                rc = empty_file(name);
            if (!rc)
                continue;
            snprintf(why, size, "cannot write %s of rank %d to '%s': %s; name another file",
                     streams[i], r, rc == -ENAMETOOLONG ? o->pattern[i] : name, strerror(-rc));
            return rc;
        }
    return 0;
}

int outfile_open_name(const char *name)
{
    return open_file(name, 0);
}

int outfile_open(const struct outfile *o, int stream, int rank)
{
    char name[PATH_MAX];
    int rc = outfile_name(o, o->pattern[stream], rank, name, sizeof(name));
    return rc ? rc : open_file(name, 0);
}
