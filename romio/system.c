/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ROMIO's requests to the system: contiguous bytes and locks.
 *
 * Bytes: partial reads and writes are continued, interrupted ones are repeated, and an error is
 * kept for the caller of ROMIO (failure.h). ROMIO's own memory is filled with zeros beyond the end
 * of the file, since ROMIO may write it back.
 *
 * Locks are for reading, changing and writing. Threads of this process exclude each other by a
 * mutex; processes by a lock of the file system, where it has any.
 */
#include <mpioimpl.h>

#include <adio_extern.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "romio/failure.h"
#include "romio/file.h"
#include "romio/plan.h"
#include "romio/system.h"

/* ---- bytes ---- */

enum {
    AT_ONCE = 1 << 30 /* bytes of one system call */
};

/* Move len bytes. Returns how many were moved, fewer at the end of the file; or -errno. */
static int64_t transfer(int fd, bool write, char *buf, int64_t len, int64_t offset)
{
    int64_t done = 0;
    while (done < len) {
        size_t part = len - done > AT_ONCE ? AT_ONCE : (size_t)(len - done);
        ssize_t rc = write ? pwrite(fd, buf + done, part, offset + done)
                           : pread(fd, buf + done, part, offset + done);
        if (rc < 0 && errno != EINTR)
            return -errno;
        if (rc == 0 && write)
            return -ENOSPC;
        if (rc == 0)
            break;
        done += rc > 0 ? rc : 0;
    }
    return done;
}

static bool locks_each(ADIO_File fd)
{
    return fd->file_system == ADIO_NFS;
}

static void lock_for(ADIO_File fd, int type, ADIO_Offset offset, ADIO_Offset len)
{
    if (locks_each(fd))
        (void)(*fd->fns->ADIOI_xxx_SetLock)(fd, type == F_UNLCK ? F_SETLK : F_SETLKW, type, offset,
                                            SEEK_SET, len);
}

int64_t system_move(ADIO_File fd, bool write, char *buf, int64_t len, int64_t offset)
{
    if (failure_now()->number) /* nothing any more */
        return 0;
    lock_for(fd, write ? F_WRLCK : F_RDLCK, offset, len);
    int64_t moved = failure_now()->number ? 0 : transfer(fd->fd_sys, write, buf, len, offset);
    lock_for(fd, F_UNLCK, offset, len);
    if (moved >= 0)
        return moved;
    (void)failure_add(write ? "write" : "read", (int)-moved, offset, len);
    return 0;
}

static void contiguous(ADIO_File fd, bool write, char *buf, int64_t len, ADIO_Offset *offset,
                       int pointer)
{
    if (pointer == ADIO_INDIVIDUAL)
        *offset = fd->fp_ind;
    int64_t moved = system_move(fd, write, buf, len, *offset);
    if (!write && moved < len && failure_now()->inner)
        memset(buf + moved, 0, (size_t)(len - moved));
    if (pointer == ADIO_INDIVIDUAL)
        fd->fp_ind += len;
    *offset = moved;
}

static void ADIOI_VIREO_ReadContig(ADIO_File fd, void *buf, int count, MPI_Datatype type,
                                   int pointer, ADIO_Offset offset, ADIO_Status *status, int *rc)
{
    MPI_Count size;
    PMPI_Type_size_x(type, &size);
    contiguous(fd, false, buf, size * count, &offset, pointer);
    if (status)
        MPIR_Status_set_bytes(status, type, offset);
    *rc = MPI_SUCCESS;
}

static void ADIOI_VIREO_WriteContig(ADIO_File fd, const void *buf, int count, MPI_Datatype type,
                                    int pointer, ADIO_Offset offset, ADIO_Status *status, int *rc)
{
    MPI_Count size;
    PMPI_Type_size_x(type, &size);
    contiguous(fd, true, (char *)(uintptr_t)buf, size * count, &offset, pointer);
    if (status)
        MPIR_Status_set_bytes(status, type, offset);
    *rc = MPI_SUCCESS;
}

/* ---- locks ---- */

/* Set or remove a lock of the file system. Returns 0 or errno. */
static int set_lock(const struct io_file *file, int fd, int type, ADIO_Offset offset,
                    ADIO_Offset len)
{
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = offset,
                         .l_len = len};
    int rc;
    do {
        rc = fcntl(fd, file->own_locks ? F_OFD_SETLKW : F_SETLKW, &lock);
    } while (rc && errno == EINTR);
    return rc ? errno : 0;
}

/* The thread holds a lock that covers all this: there is nothing to do. */
int ADIOI_GEN_SetLock(ADIO_File fd, int cmd, int type, ADIO_Offset offset, int whence,
                      ADIO_Offset len)
{
    struct io_file *file = fd->fs_ptr;
    bool outer;
    int rc = 0;
    (void)cmd;
    (void)whence;
    if (!file || len <= 0)
        return MPI_SUCCESS;
    if (type != F_UNLCK) {
        pthread_mutex_lock(&file->change);
        outer = file->depth++ == 0;
    } else {
        outer = --file->depth == 0;
    }
    if (outer && file->has_locks)
        rc = set_lock(file, fd->fd_sys, type, offset, len);
    if (rc && type != F_UNLCK)
        (void)failure_add("lock", rc, offset, len);
    if (type == F_UNLCK)
        pthread_mutex_unlock(&file->change);
    return MPI_SUCCESS;
}

/* ---- ROMIO's tables ---- */

extern struct ADIOI_Fns_struct ADIO_UFS_operations, ADIO_NFS_operations;

/* ROMIO's own nonblocking collectives are not built: queue.c replaces them. */
void ADIOI_GEN_IreadStridedColl(ADIO_File fd, void *buf, int count, MPI_Datatype type, int pointer,
                                ADIO_Offset offset, MPI_Request *request, int *rc)
{
    (void)MPIR_Ext_assert_fail("no nonblocking collective access of ROMIO's", __FILE__, __LINE__);
}

void ADIOI_GEN_IwriteStridedColl(ADIO_File fd, const void *buf, int count, MPI_Datatype type,
                                 int pointer, ADIO_Offset offset, MPI_Request *request, int *rc)
{
    (void)MPIR_Ext_assert_fail("no nonblocking collective access of ROMIO's", __FILE__, __LINE__);
}

int ADIOI_GEN_SetLock64(ADIO_File fd, int cmd, int type, ADIO_Offset offset, int whence,
                        ADIO_Offset len)
{
    return ADIOI_GEN_SetLock(fd, cmd, type, offset, whence, len);
}

void system_install(void)
{
    struct ADIOI_Fns_struct *tables[] = {&ADIO_UFS_operations, &ADIO_NFS_operations};
    for (int i = 0; i < 2; i++) {
        tables[i]->ADIOI_xxx_ReadContig = ADIOI_VIREO_ReadContig;
        tables[i]->ADIOI_xxx_WriteContig = ADIOI_VIREO_WriteContig;
        tables[i]->ADIOI_xxx_SetInfo = plan_set_info;
    }
    /* The driver for NFS has strided accesses of its own, by lseek and read. */
    ADIO_NFS_operations.ADIOI_xxx_ReadStrided = ADIOI_GEN_ReadStrided;
    ADIO_NFS_operations.ADIOI_xxx_WriteStrided = ADIOI_GEN_WriteStrided;
}
