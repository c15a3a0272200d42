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

/* Bytes, from measurements: a system call that writes takes some microseconds in ext4, one that
 * reads half of one. */
enum {
    PAGE = 4096,           /* shorter runs never get a system call each */
    FAR_READ = 16 << 10,   /* from the begin of a run to that of the next: from here on they do */
    FAR_WRITE = 64 << 10,
    DENSE = 4              /* one byte of so many is worth sieving for it alone */
};

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

static void settle_hints(struct io_file *file)
{
    ADIOI_Hints *hints = file->fd->hints;
    hints->cb_pfr = ADIOI_HINT_DISABLE; /* it may also come from a file of hints */
    (void)PMPI_Info_set(file->fd->info, "romio_cb_pfr", "disable");
    if (file->has_locks)
        return;
    hints->ds_write = ADIOI_HINT_DISABLE;
    (void)PMPI_Info_set(file->fd->info, "romio_ds_write", "disable");
}

/* ---- file systems ---- */

struct file_system {
    uint32_t magic;
    bool is_local; /* a system call costs no message to another host */
    const char *name;
};

static const struct file_system *file_system(const struct io_file *file)
{
    static const struct file_system unknown = {0, false, "unknown"}, known[] = {
        {0xef53, true, "ext4"},         {0x58465342, true, "xfs"},     {0x9123683e, true, "btrfs"},
        {0x01021994, true, "tmpfs"},    {0x858458f6, true, "ramfs"},   {0xf2f52010, true, "f2fs"},
        {0x794c7630, true, "overlay"},  {0x2fc12fc1, true, "zfs"},     {0x6969, false, "nfs"},
        {0x65735546, false, "fuse"},    {0x0bd00bd0, false, "lustre"}, {0x47504653, false, "gpfs"},
        {0x19830326, false, "beegfs"},  {0xff534d42, false, "cifs"},   {0xfe534d42, false, "smb"},
        {0x00c36400, false, "ceph"}};
    struct statfs what;
    if (!file->fd->is_open || fstatfs(file->fd->fd_sys, &what))
        return &unknown;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if ((uint32_t)what.f_type == known[i].magic)
            return &known[i];
    return &unknown;
}

/* ---- the choice ---- */

/* How a process accesses its data alone. */
static enum plan_way choose_alone(const struct view *view, int hint, bool is_local, bool write)
{
    static const int64_t far[2] = {FAR_READ, FAR_WRITE};
    bool is_direct = is_local && view_mean_run(view) >= PAGE && view_mean_distance(view) >= far[write];
    if (hint != ADIOI_HINT_AUTO)
        return hint == ADIOI_HINT_DISABLE ? PLAN_DIRECT : PLAN_SIEVE;
    return is_direct ? PLAN_DIRECT : PLAN_SIEVE;
}

/* How it would like to access them with others. */
static enum plan_way choose_together(const struct view *view, int hint, int sieve, bool is_local,
                                     bool write)
{
    enum plan_way alone = choose_alone(view, sieve, is_local, write);
    bool is_dense = sieve != ADIOI_HINT_DISABLE && view->size >= view->extent / DENSE;
    if (hint != ADIOI_HINT_AUTO)
        return hint == ADIOI_HINT_DISABLE ? alone : PLAN_TWO_PHASE;
    if (is_local && (is_dense || choose_alone(view, ADIOI_HINT_AUTO, true, write) == PLAN_DIRECT))
        return alone;
    return PLAN_TWO_PHASE;
}

void plan_settle(struct io_file *file)
{
    const ADIOI_Hints *hints = file->fd->hints;
    settle_hints(file);
    const int sieve[2] = {hints->ds_read, hints->ds_write};
    const int two_phase[2] = {hints->cb_read, hints->cb_write};
    bool is_local = file->one_host && file->fd->file_system != ADIO_NFS && file_system(file)->is_local;
    int mine[2], any[2];
    for (int i = 0; i < 2; i++) {
        file->plan.alone[i] = choose_alone(&file->view, sieve[i], is_local, i);
        file->plan.together[i] = choose_together(&file->view, two_phase[i], sieve[i], is_local, i);
        mine[i] = any[i] = file->plan.together[i] == PLAN_TWO_PHASE;
    }
    if (file->size > 1 && PMPI_Allreduce(mine, any, 2, MPI_INT, MPI_MAX, file->comm))
        any[0] = any[1] = 1;
    for (int i = 0; i < 2; i++)
        if (any[i])
            file->plan.together[i] = PLAN_TWO_PHASE;
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
            file->name, file_system(file)->name,
            fd->file_system == ADIO_NFS ? "nfs" : "ufs", file->size,
            file->one_host ? "one host" : "several hosts",
            !file->has_locks   ? "none, so nothing that needs them is done"
            : file->own_locks  ? "of the open file"
                               : "of the process",
            hint_word(fd->hints->ds_read), hint_word(fd->hints->ds_write),
            hint_word(fd->hints->cb_read), hint_word(fd->hints->cb_write), aggregators,
            fd->hints->cb_buffer_size, file->shared.fd >= 0 ? "in memory" : "none");
}

void plan_report_view(const struct io_file *file)
{
    static const char *const words[] = {"two-phase", "by sieving", "run by run"};
    const struct plan *plan = &file->plan;
    char runs[64] = "without gaps";
    if (file->rank || !library_hooks->wants_report())
        return;
    if (file->view.runs)
        snprintf(runs, sizeof(runs), "with runs of %lld bytes", (long long)view_mean_run(&file->view));
    fprintf(stderr, "vireo: file '%s': view %s; reads: %s, writes: %s; collective reads: %s, "
                    "writes: %s\n", file->name, runs, words[plan->alone[0]], words[plan->alone[1]],
            words[plan->together[0]], words[plan->together[1]]);
}
