/* SPDX-License-Identifier: BSD-3-Clause */

/* The folders in which ranks start; see session_folder.h. */
#include "bnr/launch/session_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/launch/directory.h"

enum {
    DEPTH_MAX = 200, /* folders in one another that are removed; each has a descriptor meanwhile */
    PASSES = 3       /* an entry may be missed while others go */
};

int session_folder_make(struct session_folder *s)
{
    const char *below = getenv("TMPDIR");
    size_t size = sizeof(s->path);
    if (!below || *below != '/')
        below = "/tmp";
    if ((size_t)snprintf(s->path, size, "%s/vireo-XXXXXX", below) < size && mkdtemp(s->path))
        return 0;
    int rc = strlen(s->path) + 1 < size ? -errno : -ENAMETOOLONG;
    s->path[0] = 0;
    return rc;
}

int session_folder_add(struct session_folder *s, int rank)
{
    snprintf(s->of_rank, sizeof(s->of_rank), "%s/%d", s->path, rank);
    return mkdir(s->of_rank, 0700) ? -errno : 0;
}

static void remove_entry(int parent, const char *name, int depth);

/* Empty a folder. */
static void remove_content(int folder, int depth)
{
    char buffer[2048] __attribute__((aligned(16)));
    long n;
    (void)lseek(folder, 0, SEEK_SET);
    while ((n = directory_read(folder, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < n; at += directory_at(buffer, at)->len)
            remove_entry(folder, directory_at(buffer, at)->name, depth);
}

/* Remove an entry: a link itself, a folder with its content. */
static void remove_entry(int parent, const char *name, int depth)
{
    if (!strcmp(name, ".") || !strcmp(name, "..") || !unlinkat(parent, name, 0))
        return;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0)
        (void)fchmod(folder, 0700); /* entries of a folder that is read-only cannot be removed */
    for (int i = 0; i < PASSES && unlinkat(parent, name, AT_REMOVEDIR) && folder >= 0; i++)
        if (depth < DEPTH_MAX)
            remove_content(folder, depth + 1);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
    if (folder >= 0)
        close(folder);
}

void session_folder_remove(const char *path)
{
    if (*path)
        remove_entry(AT_FDCWD, path, 0);
}
