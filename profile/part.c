/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rank's part of the trace, in memory that is the file: even after SIGKILL, the kernel writes all
 * recorded events. The file begins with a head: a line about the process, and for each thread a
 * line that is its open call, or blank. Behind that, events follow in windows of the file, each
 * line in one window; unused bytes are blank, which JSON allows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/profile.h"

enum {
    WINDOW = 1 << 16, /* a multiple of any page; the first one begins with the head */
    TITLE = 1 << 10,
    SLOTS = 64,
    SLOT_LEN = 256
};

static struct {
    atomic_int fd; /* -1: closed */
    char *head, *window; /* NULL: the file system has no such memory, and each line is written */
    off_t at, end;       /* where the next line goes; where the window ends */
    off_t read_at;
    size_t open_len[SLOTS]; /* of the line of each thread; each thread has its own */
    int error;
} part = {.fd = -1};

static void *map(off_t at)
{
    void *memory = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, part.fd, at);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Put bytes at their place in the file, into memory that begins at begin. Returns 0 or an errno. */
static int put_at(char *memory, off_t begin, off_t at, const char *text, size_t len)
{
    if (!memory)
        return pwrite(part.fd, text, len, at) == (ssize_t)len ? 0 : errno ? errno : EIO;
    memcpy(memory + (at - begin), text, len);
    return 0;
}

/* Go on to the next window. Its bytes are there from now on: writing to memory cannot fail any more. */
static void open_window(void)
{
    char blanks[256];
    if (part.window && part.window != part.head)
        munmap(part.window, WINDOW);
    part.window = NULL;
    part.error = posix_fallocate(part.fd, part.end, WINDOW);
    if (part.error)
        return;
    part.window = map(part.end);
    part.at = part.end;
    part.end += WINDOW;
    memset(blanks, ' ', sizeof(blanks));
    blanks[sizeof(blanks) - 1] = '\n';
    for (off_t at = part.at; at < part.end && !part.error; at += (off_t)sizeof(blanks))
        part.error = put_at(part.window, part.end - WINDOW, at, blanks, sizeof(blanks));
}

int part_open(const char *path, const char *title)
{
    part.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (part.fd < 0)
        return errno;
    open_window();
    part.head = part.window;
    if (!part.error)
        part_put(title, strlen(title));
    part.at = TITLE + SLOTS * SLOT_LEN;
    int error = part.error;
    if (error)
        part_close();
    return error;
}

int part_put(const char *text, size_t len)
{
    if (part.fd < 0 || part.error)
        return 0;
    if (part.at + (off_t)len > part.end)
        open_window();
    if (part.error)
        return part.error;
    part.error = put_at(part.window, part.end - WINDOW, part.at, text, len);
    part.at += (off_t)len;
    return part.error;
}

void part_set_open(int thread, const char *text, size_t len)
{
    char line[SLOT_LEN];
    if (part.fd < 0 || thread > SLOTS || len >= sizeof(line))
        return;
    size_t *old = &part.open_len[thread - 1], all = len > *old ? len : *old;
    memcpy(line, text, len);
    memset(line + len, ' ', all - len); /* behind that it is blank */
    *old = len;
    (void)put_at(part.head, 0, TITLE + (thread - 1) * SLOT_LEN, line, all);
}

size_t part_read(char *bytes, size_t len)
{
    ssize_t n = part.fd < 0 ? 0 : pread(part.fd, bytes, len, part.read_at);
    part.read_at += n > 0 ? n : 0;
    return n > 0 ? (size_t)n : 0;
}

bool part_is_open(void)
{
    return part.fd >= 0;
}

void part_close(void)
{
    if (part.fd < 0)
        return;
    if (part.window && part.window != part.head)
        munmap(part.window, WINDOW);
    if (part.head)
        munmap(part.head, WINDOW);
    close(part.fd);
    part.fd = -1;
    part.head = part.window = NULL;
}
