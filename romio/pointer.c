/* SPDX-License-Identifier: BSD-3-Clause */

/* The shared file pointer; see pointer.h. */
#include "romio/pointer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "romio/file.h"
#include "romio/library.h"

void pointer_init(struct pointer *pointer, bool has_it)
{
    *pointer = (struct pointer){.pid = -1, .fd = -1, .own = -1};
    pthread_mutex_init(&pointer->lock, NULL);
    if (!has_it)
        return;
    pointer->own = memfd_create("vireo-pointer", MFD_CLOEXEC);
    if (pointer->own >= 0 && ftruncate(pointer->own, sizeof(int64_t))) {
        close(pointer->own);
        pointer->own = -1;
    }
    pointer->pid = getpid();
    pointer->fd = pointer->own;
}

void pointer_at(struct pointer *pointer, int64_t pid, int64_t fd)
{
    pointer->pid = pid;
    pointer->fd = fd;
}

bool pointer_by_messages(struct pointer *pointer, MPI_Comm comm)
{
    pointer->counter = library_hooks->counter_open(comm, 0);
    return pointer->counter;
}

void pointer_fini(struct pointer *pointer)
{
    library_hooks->counter_close(pointer->counter);
    if (pointer->at)
        munmap(pointer->at, sizeof(int64_t));
    if (pointer->own >= 0)
        close(pointer->own);
    pthread_mutex_destroy(&pointer->lock);
}

static int64_t *map(struct pointer *pointer)
{
    char path[64];
    struct stat what;
    int fd = pointer->own;
    if (fd < 0) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pointer->pid, (int)pointer->fd);
        fd = open(path, O_RDWR | O_CLOEXEC);
    }
    void *at = MAP_FAILED;
    if (fd >= 0 && !fstat(fd, &what) && what.st_size == sizeof(int64_t))
        at = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0 && fd != pointer->own)
        close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* The word, or NULL and the reason. */
static _Atomic int64_t *word(struct pointer *pointer, struct io_error *error)
{
    pthread_mutex_lock(&pointer->lock);
    if (!pointer->at)
        pointer->at = map(pointer);
    int number = errno;
    pthread_mutex_unlock(&pointer->lock);
    if (!pointer->at)
        (void)file_wrong(error, 0, "the shared file pointer cannot be reached: %s; /proc must be "
                                   "mounted, and the processes of one user", strerror(number));
    return (_Atomic int64_t *)pointer->at;
}

int pointer_move(struct pointer *pointer, int64_t by, MPI_Offset *was, struct io_error *error)
{
    if (pointer->counter) {
        int64_t value = 0;
        int rc = library_hooks->counter_add(pointer->counter, by, &value);
        *was = value;
        return rc ? file_wrong(error, rc, "rank 0, which keeps the shared file pointer, cannot be reached")
                  : MPI_SUCCESS;
    }
    _Atomic int64_t *at = word(pointer, error);
    if (!at)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    *was = atomic_fetch_add(at, by);
    return MPI_SUCCESS;
}

int pointer_set(struct pointer *pointer, MPI_Offset to, struct io_error *error)
{
    if (pointer->counter) {
        library_hooks->counter_set(pointer->counter, to);
        return MPI_SUCCESS;
    }
    _Atomic int64_t *at = word(pointer, error);
    if (!at)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    atomic_store(at, to);
    return MPI_SUCCESS;
}
