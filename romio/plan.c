/* SPDX-License-Identifier: BSD-3-Clause */

/* The way in which a file is accessed; see plan.h. */
#include "romio/plan.h"

#include <adio.h>
#include <adio_extern.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "romio/file.h"
#include "romio/library.h"

enum {
    SHORT = 4 << 10, /* runs, which are written faster together */
    DENSE = 8, /* one byte of so many is worth sieving reads for it alone */
    /* Bytes of buffers that a processor's caches hold, for data copied twice on this host. */
    NEAR_TOGETHER = 2 << 20,
    NEAR_SIEVE = 512 << 10
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

static bool has_hint(MPI_Info info, const char *key)
{
    char value[8];
    int size = sizeof(value), found = 0;
    return info != MPI_INFO_NULL && !PMPI_Info_get_string(info, key, &size, value, &found) && found;
}

MPI_Info plan_hints(MPI_Info info)
{
    MPI_Info copy = MPI_INFO_NULL;
    if (info == MPI_INFO_NULL || PMPI_Info_dup(info, &copy))
        return MPI_INFO_NULL;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (has_hint(copy, refused[i]))
            (void)PMPI_Info_delete(copy, refused[i]);
    return copy;
}

void plan_hints_free(MPI_Info *info)
{
    if (*info != MPI_INFO_NULL)
        (void)PMPI_Info_free(info);
}

/* Hints that are numbers of bytes, and what ROMIO does without them. It fails with those that are none. */
static const struct {
    const char *key, *usual;
} sizes[] = {
    {"cb_buffer_size", "16777216"}, {"ind_rd_buffer_size", "4194304"}, {"ind_wr_buffer_size", "524288"}};

static bool is_size(const char *value)
{
    char *end;
    long size = strtol(value, &end, 10);
    return size > 0 && size <= INT_MAX && !end[strspn(end, " \t\n")];
}

/* Returns the value of a hint, in the buffer, or NULL: there is none. */
static const char *hint_value(MPI_Info info, const char *key, char *value, int size)
{
    int found = 0;
    if (info == MPI_INFO_NULL || PMPI_Info_get_string(info, key, &size, value, &found) || !found)
        return NULL;
    return value;
}

static bool has_size(MPI_Info info, const char *key)
{
    char value[32];
    return hint_value(info, key, value, sizeof(value)) && is_size(value);
}

void plan_set_info(ADIO_File fd, MPI_Info info, int *rc)
{
    char value[32];
    int rank;
    MPI_Info copy = MPI_INFO_NULL;
    if (info != MPI_INFO_NULL && (*rc = PMPI_Info_dup(info, &copy)))
        return;
    PMPI_Comm_rank(fd->comm, &rank);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (!hint_value(copy, sizes[i].key, value, sizeof(value)) || is_size(value))
            continue;
        (void)PMPI_Info_set(copy, sizes[i].key, sizes[i].usual);
        if (!rank && library_hooks->wants_report())
            fprintf(stderr, "vireo: file '%s': hint %s=%s is ignored: it must be a number of bytes, 1 to %d\n",
                    fd->filename, sizes[i].key, value, INT_MAX);
    }
    ADIOI_GEN_SetInfo(fd, copy, rc);
    plan_hints_free(&copy);
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

/* Where the bytes are. */
enum medium { FAR, DISK, MEMORY }; /* reached by messages; of this host; never anywhere else */

struct file_system {
    uint32_t magic;
    enum medium medium;
    const char *name;
};

/* Runs from which on each gets a system call: bytes of them, and from the begin of one to that of the
 * next, for reads and for writes. From measurements: a call to write takes some microseconds in
 * ext4, one to read half of one, any a third of one in memory. A disk is read better in large pieces. */
struct reach {
    int64_t run, distance[2];
};

static const struct reach reaches[] = {
    [DISK] = {SHORT, {16 << 10, 64 << 10}},
    [MEMORY] = {1, {4 << 10, 4 << 10}},
};

static const struct file_system *file_system(const struct io_file *file)
{
    static const struct file_system unknown = {0, FAR, "unknown"}, known[] = {
        {0xef53, DISK, "ext4"},        {0x58465342, DISK, "xfs"},    {0x9123683e, DISK, "btrfs"},
        {0x01021994, MEMORY, "tmpfs"}, {0x858458f6, MEMORY, "ramfs"}, {0xf2f52010, DISK, "f2fs"},
        {0x794c7630, DISK, "overlay"}, {0x2fc12fc1, DISK, "zfs"},    {0x6969, FAR, "nfs"},
        {0x65735546, FAR, "fuse"},     {0x0bd00bd0, FAR, "lustre"},  {0x47504653, FAR, "gpfs"},
        {0x19830326, FAR, "beegfs"},   {0xff534d42, FAR, "cifs"},    {0xfe534d42, FAR, "smb"},
        {0x00c36400, FAR, "ceph"}};
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
static enum plan_way choose_alone(const struct view *view, int hint, enum medium medium, bool write)
{
    const struct reach *reach = &reaches[medium];
    bool is_direct = medium != FAR && view_mean_run(view) >= reach->run &&
                     view_mean_distance(view) >= reach->distance[write];
    if (hint != ADIOI_HINT_AUTO)
        return hint == ADIOI_HINT_DISABLE ? PLAN_DIRECT : PLAN_SIEVE;
    return is_direct ? PLAN_DIRECT : PLAN_SIEVE;
}

/* How it would like to access them with others. Processes that sieve for writing wait for each other's
 * locks. */
static enum plan_way choose_together(const struct io_file *file, enum medium medium, bool write)
{
    const ADIOI_Hints *hints = file->fd->hints;
    const struct view *view = &file->view;
    int sieve = write ? hints->ds_write : hints->ds_read;
    int two_phase = write ? hints->cb_write : hints->cb_read;
    bool sieves = !write && sieve != ADIOI_HINT_DISABLE && view->size >= view->extent / DENSE;
    bool is_short = write && view_mean_run(view) < SHORT;
    if (two_phase != ADIOI_HINT_AUTO)
        return two_phase == ADIOI_HINT_DISABLE ? file->plan.alone[write] : PLAN_TWO_PHASE;
    if (medium == FAR)
        return PLAN_TWO_PHASE;
    if (file->size == 1 || sieves ||
        (!is_short && choose_alone(view, ADIOI_HINT_AUTO, medium, write) == PLAN_DIRECT))
        return file->plan.alone[write];
    return PLAN_TWO_PHASE;
}

static enum medium medium_of(const struct io_file *file)
{
    bool is_near = file->one_host && file->fd->file_system != ADIO_NFS;
    return is_near ? file_system(file)->medium : FAR;
}

void plan_settle(struct io_file *file)
{
    struct access_plan *plan = &file->plan;
    settle_hints(file);
    const int sieve[2] = {file->fd->hints->ds_read, file->fd->hints->ds_write};
    enum medium medium = medium_of(file);
    int mine[2], any[2];
    for (int i = 0; i < 2; i++) {
        plan->alone[i] = choose_alone(&file->view, sieve[i], medium, i);
        plan->together[i] = choose_together(file, medium, i);
        mine[i] = any[i] = plan->together[i] == PLAN_TWO_PHASE;
    }
    if (file->size > 1 && PMPI_Allreduce(mine, any, 2, MPI_INT, MPI_MAX, file->comm))
        any[0] = any[1] = 1;
    for (int i = 0; i < 2; i++)
        if (any[i])
            plan->together[i] = PLAN_TWO_PHASE;
}

/* ---- buffers ---- */

/* Set a size that neither the program nor the file of hints gives. */
static void set_size(struct io_file *file, MPI_Info given, const char *key, int *hint, int size)
{
    char value[16];
    if (has_size(given, key) || has_size(ADIOI_syshints, key))
        return;
    *hint = size;
    snprintf(value, sizeof(value), "%d", size);
    (void)PMPI_Info_set(file->fd->info, key, value);
}

void plan_buffers(struct io_file *file, MPI_Info given)
{
    ADIOI_Hints *hints = file->fd->hints;
    if (medium_of(file) == FAR)
        return;
    set_size(file, given, "cb_buffer_size", &hints->cb_buffer_size, NEAR_TOGETHER);
    set_size(file, given, "ind_rd_buffer_size", &hints->ind_rd_buffer_size, NEAR_SIEVE);
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
    const struct access_plan *plan = &file->plan;
    char runs[64] = "without gaps";
    if (file->rank || !library_hooks->wants_report())
        return;
    if (file->view.runs)
        snprintf(runs, sizeof(runs), "with runs of %lld bytes", (long long)view_mean_run(&file->view));
    fprintf(stderr, "vireo: file '%s': view %s; reads: %s, writes: %s; collective reads: %s, "
                    "writes: %s\n", file->name, runs, words[plan->alone[0]], words[plan->alone[1]],
            words[plan->together[0]], words[plan->together[1]]);
}
