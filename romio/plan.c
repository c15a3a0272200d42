/* SPDX-License-Identifier: BSD-3-Clause */

/* The way in which a file is accessed; see plan.h. */
#include "romio/plan.h"

#include <adio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "romio/file.h"
#include "romio/library.h"

static const char *const drivers[] = {"ufs:", "nfs:"};

const char *plan_path(const char *name)
{
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
        if (!strncmp(name, drivers[i], strlen(drivers[i])))
            return name + strlen(drivers[i]);
    return name;
}

/* ---- hints ---- */

/* Hints whose code in ROMIO fails, or leaves files open. */
static const char *const refused[] = {"romio_cb_pfr", "romio_no_indep_rw"};

MPI_Info plan_hints(MPI_Info info)
{
    MPI_Info copy = MPI_INFO_NULL;
    char value[8];
    if (info == MPI_INFO_NULL || PMPI_Info_dup(info, &copy))
        return MPI_INFO_NULL;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        int size = sizeof(value), found;
        if (!PMPI_Info_get_string(copy, refused[i], &size, value, &found) && found)
            (void)PMPI_Info_delete(copy, refused[i]);
    }
    return copy;
}

void plan_hints_free(MPI_Info *info)
{
    if (*info != MPI_INFO_NULL)
        (void)PMPI_Info_free(info);
}

void plan_settle(struct io_file *file)
{
    ADIOI_Hints *hints = file->fd->hints;
    hints->cb_pfr = ADIOI_HINT_DISABLE; /* it may also come from a file of hints */
    (void)PMPI_Info_set(file->fd->info, "romio_cb_pfr", "disable");
    if (file->has_locks)
        return;
    hints->ds_write = ADIOI_HINT_DISABLE;
    (void)PMPI_Info_set(file->fd->info, "romio_ds_write", "disable");
}

/* ---- locks ---- */

/* Lock one byte far behind the data, and unlock it. Another process may hold the lock just then;
 * that is an answer, too. */
static bool try_lock(int fd, int cmd, int type)
{
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1,
                         .l_len = 1};
    int rc;
    do {
        rc = fcntl(fd, cmd, &lock);
    } while (rc && errno == EINTR);
    if (rc)
        return errno == EAGAIN || errno == EACCES;
    lock.l_type = F_UNLCK;
    return fcntl(fd, cmd, &lock) == 0;
}

bool plan_has_locks(struct io_file *file)
{
    int fd = file->fd->fd_sys, type = file->amode & MPI_MODE_RDONLY ? F_RDLCK : F_WRLCK;
    if (!file->fd->is_open)
        return true;
    file->own_locks = try_lock(fd, F_OFD_SETLK, type);
    return file->own_locks || try_lock(fd, F_SETLK, type);
}

/* ---- the report ---- */

static const char *hint_word(int hint)
{
    return hint == ADIOI_HINT_ENABLE ? "always" : hint == ADIOI_HINT_DISABLE ? "never" : "where it helps";
}

static const char *file_system(int fd)
{
    static const struct {
        long magic;
        const char *name;
    } known[] = {{0xef53, "ext4"},        {0x58465342, "xfs"},      {0x9123683e, "btrfs"},
                 {0x01021994, "tmpfs"},   {0x6969, "nfs"},          {0x65735546, "fuse"},
                 {0x794c7630, "overlay"}, {0x0bd00bd0, "lustre"},   {0x47504653, "gpfs"},
                 {0x19830326, "beegfs"},  {0xff534d42, "cifs"},     {0xfe534d42, "smb"},
                 {0x00c36400, "ceph"},    {0x2fc12fc1, "zfs"}};
    struct statfs what;
    if (fd < 0 || fstatfs(fd, &what))
        return "unknown";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if ((uint32_t)what.f_type == (uint32_t)known[i].magic)
            return known[i].name;
    return "unknown";
}

void plan_report(const struct io_file *file)
{
    const ADIO_File fd = file->fd;
    char aggregators[128] = "";
    size_t len = 0;
    if (file->rank || !library_hooks->wants_report())
        return;
    for (int i = 0; i < fd->hints->cb_nodes && len < sizeof(aggregators) - 16; i++)
        len += (size_t)snprintf(aggregators + len, sizeof(aggregators) - len, "%s%d", i ? "," : "",
                                fd->hints->ranklist[i]);
    fprintf(stderr,
            "vireo: file '%s': file system %s, driver %s, %d processes on %s; locks: %s; sieving "
            "reads: %s; sieving writes: %s; two-phase reads: %s, writes: %s; aggregators: %s; "
            "buffer: %d bytes; shared pointer: %s\n",
            file->name, file_system(fd->is_open ? fd->fd_sys : -1),
            fd->file_system == ADIO_NFS ? "nfs" : "ufs", file->size,
            file->one_host ? "one host" : "several hosts",
            !file->has_locks   ? "none, so nothing that needs them is done"
            : file->own_locks  ? "of the open file"
                               : "of the process",
            hint_word(fd->hints->ds_read), hint_word(fd->hints->ds_write),
            hint_word(fd->hints->cb_read), hint_word(fd->hints->cb_write), aggregators,
            fd->hints->cb_buffer_size, file->shared.fd >= 0 ? "in memory" : "none");
}
