/* SPDX-License-Identifier: BSD-3-Clause */

/* Published names; see names.h. */
#include "bnr/host/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/keyed_hash.h"
#include "os/lock.h"
#include "os/log.h"

struct published {
    struct published *next;
    int fd; /* it holds the lock */
    char *service;
};

static struct os_lock lock = OS_LOCK_INIT; /* guards the list */
static struct published *all;

static const char *names_folder(void)
{
    static char folder[64];
    snprintf(folder, sizeof(folder), "/tmp/vireo-names-%u", (unsigned)geteuid());
    return folder;
}

/* Open the folder, made if need be. Returns a descriptor or -errno. */
static int open_folder(bool make)
{
    struct stat st;
    const char *path = names_folder();
    if (make && mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077))
        return fd;
    close(fd);
    return -EPERM;
}

/* The file of a service: its name may hold anything. Two names with one file are told apart by the
 * first line. */
static void file_of(const char *service, char file[40])
{
    static const uint8_t keys[2][16] = {"names of service", "other half of it"};
    snprintf(file, 40, "%016llx%016llx",
             (unsigned long long)os_keyed_hash(keys[0], service, strlen(service)),
             (unsigned long long)os_keyed_hash(keys[1], service, strlen(service)));
}

/* Lock the whole file (command F_OFD_SETLK), or ask who holds it (F_OFD_GETLK): a look takes no lock that a
 * publisher would meet. */
static int lock_file(int fd, int command, short *type)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc = fcntl(fd, command, &whole);
    *type = whole.l_type;
    return rc;
}

/* Open the file locked: as its owner, which fails with -EEXIST while another one lives. */
static int open_locked(int folder, const char *file)
{
    for (;;) {
        struct stat st, now;
        short type;
        int fd = openat(folder, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            return -errno;
        if (lock_file(fd, F_OFD_SETLK, &type)) {
            int rc = errno == EAGAIN || errno == EACCES ? -EEXIST : -errno;
            close(fd);
            return rc;
        }
        if (!fstat(fd, &st) && !fstatat(folder, file, &now, AT_SYMLINK_NOFOLLOW) && st.st_ino == now.st_ino)
            return fd;
        close(fd); /* its last owner has just removed it */
    }
}

static int write_file(int fd, const char *service, const char *text)
{
    char both[2 * NAMES_MAX + 2];
    if (strlen(text) > NAMES_MAX || strlen(service) > NAMES_MAX || strchr(text, '\n'))
        return -EINVAL;
    int len = snprintf(both, sizeof(both), "%s\n%s", text, service);
    ssize_t n = ftruncate(fd, 0) ? -1 : pwrite(fd, both, (size_t)len, 0);
    return n == len ? 0 : n < 0 ? -errno : -ENOSPC;
}

int names_publish(const char *service, const char *text)
{
    char file[40];
    struct published *mine = calloc(1, sizeof(*mine));
    if (mine)
        mine->service = strdup(service);
    int folder = mine && mine->service ? open_folder(true) : -ENOMEM;
    int rc = folder;
    file_of(service, file);
    if (rc >= 0)
        rc = mine->fd = open_locked(folder, file);
    if (rc >= 0 && (rc = write_file(mine->fd, service, text))) {
        (void)unlinkat(folder, file, 0);
        close(mine->fd);
    }
    if (folder >= 0)
        close(folder);
    if (rc < 0) {
        if (mine)
            free(mine->service);
        free(mine);
        return rc;
    }
    os_lock_slow(&lock);
    mine->next = all;
    all = mine;
    os_unlock_slow(&lock);
    return 0;
}

int names_unpublish(const char *service)
{
    char file[40];
    os_lock_slow(&lock);
    struct published **at = &all, *mine;
    while (*at && strcmp((*at)->service, service) != 0)
        at = &(*at)->next;
    mine = *at;
    if (mine)
        *at = mine->next;
    os_unlock_slow(&lock);
    if (!mine)
        return -ENOENT;
    int folder = open_folder(false);
    file_of(service, file);
    if (folder >= 0) {
        (void)unlinkat(folder, file, 0);
        close(folder);
    }
    close(mine->fd);
    free(mine->service);
    free(mine);
    return 0;
}

/* Read a file that a living process holds. */
static int read_file(int fd, const char *service, char text[NAMES_MAX + 1])
{
    char both[2 * NAMES_MAX + 2];
    short type;
    if (lock_file(fd, F_OFD_GETLK, &type) || type == F_UNLCK) /* its owner has ended */
        return -ENOENT;
    ssize_t n = pread(fd, both, sizeof(both) - 1, 0);
    if (n < 0)
        return -errno;
    both[n] = 0;
    char *end = strchr(both, '\n');
    if (!end || end - both > NAMES_MAX || strcmp(end + 1, service) != 0)
        return -ENOENT;
    *end = 0;
    strcpy(text, both);
    return 0;
}

int names_find(const char *service, char text[NAMES_MAX + 1])
{
    char file[40];
    int folder = open_folder(false);
    if (folder < 0)
        return folder;
    file_of(service, file);
    int fd = openat(folder, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC), rc = fd < 0 ? -errno : 0;
    close(folder);
    if (!rc)
        rc = read_file(fd, service, text);
    if (fd >= 0)
        close(fd);
    return rc;
}

int names_call(enum name_task call, const char *service, const char *text, char found[NAMES_MAX + 1])
{
    int rc;
    *found = 0;
    switch (call) {
    case NAME_PUBLISH:
        if ((rc = names_publish(service, text)))
            snprintf(found, NAMES_MAX + 1, "%s", os_host_name());
        return rc;
    case NAME_UNPUBLISH: return names_unpublish(service);
    case NAME_FIND: return names_find(service, found);
    default: return -EINVAL;
    }
}
