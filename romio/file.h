/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An open file. It contains ROMIO's own file, fd, which does the reading and writing; pointers,
 * views as the user sees them, representations and errors are here.
 */
#ifndef ROMIO_FILE_H
#define ROMIO_FILE_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>

#include "mpi/hooks.h"
#include "romio/failure.h"
#include "romio/plan.h"
#include "romio/pointer.h"
#include "romio/queue.h"
#include "romio/view.h"

struct ADIOI_FileD;

struct io_file {
    struct ADIOI_FileD *fd;
    MPI_Comm comm; /* fd's own */
    int rank, size;
    char *name;
    int amode;
    bool one_host;  /* all processes are on one */
    bool has_locks; /* of the file system, at all of them */
    bool own_locks; /* locks belong to the open file, not to the process */
    struct access_plan plan;
    bool atomic;

    pthread_mutex_t lock; /* guards position and outstanding */
    MPI_Offset position;  /* the individual pointer, in etypes */
    int outstanding;      /* accesses of this process alone that threads do */
    pthread_cond_t settled; /* there are none any more */
    struct pointer shared;
    struct view view;

    /* Between threads that read, change and write; held with a lock of the file system. */
    pthread_mutex_t change;
    int depth;

    struct queue queue; /* collective accesses that are under way */

    bool is_split; /* the split collective access that has begun: */
    struct io_access split;
    int split_class;
    struct io_error split_error;
    MPI_Count split_bytes;
};

/* The contents of struct io_library; see mpi/hooks.h. */
int file_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, struct io_file **file,
              struct io_error *error);
int file_close(struct io_file *file, struct io_error *error);
int file_delete(const char *name, struct io_error *error);
int file_set_view(struct io_file *file, const struct io_view *view, struct io_error *error);
int file_get_view(struct io_file *file, struct io_view *view, char *datarep,
                  struct io_error *error);
int file_get_byte_offset(struct io_file *file, MPI_Offset offset, MPI_Offset *disp,
                         struct io_error *error);
int file_get_type_extent(struct io_file *file, MPI_Datatype type, MPI_Count *extent,
                         struct io_error *error);
int file_seek(struct io_file *file, enum io_pointer pointer, MPI_Offset offset, int whence,
              struct io_error *error);
int file_get_position(struct io_file *file, enum io_pointer pointer, MPI_Offset *offset,
                      struct io_error *error);
int file_get_size(struct io_file *file, MPI_Offset *size, struct io_error *error);
int file_set_size(struct io_file *file, MPI_Offset size, bool only_room, struct io_error *error);
int file_sync(struct io_file *file, struct io_error *error);
int file_set_atomicity(struct io_file *file, bool flag, struct io_error *error);
bool file_get_atomicity(struct io_file *file);
int file_set_info(struct io_file *file, MPI_Info info, struct io_error *error);
int file_get_info(struct io_file *file, MPI_Info *info, struct io_error *error);
MPI_Comm file_comm(struct io_file *file);
int file_get_group(struct io_file *file, MPI_Group *group, struct io_error *error);
int file_get_amode(struct io_file *file);
int access_run(struct io_file *file, MPI_File handle, const struct io_access *what,
               struct io_error *error);
int access_end(struct io_file *file, const struct io_access *begun, struct io_error *error);
/* Wait until no thread does an access of this process alone any more. */
void access_settle(struct io_file *file);
bool access_has_threads(void);
void access_end_threads(void);

/* ---- for the files of this folder ---- */

/* Note an error. Returns error_class. */
int file_wrong(struct io_error *error, int error_class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Tell all processes whether one has failed; collective. Returns error_class, or that of another
 * process. */
int file_agree(struct io_file *file, int error_class, struct io_error *error);
/* The same, and whether all give the same values, 4 at most; otherwise MPI_ERR_NOT_SAME, which
 * names them. */
int file_agree_same(struct io_file *file, int error_class, const int64_t *values, int count,
                    const char *what, struct io_error *error);
/* The descriptor, or -1 and the reason in error. */
int file_descriptor(struct io_file *file, struct io_error *error);

#endif
