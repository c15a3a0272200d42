/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI-IO: the only interface between mpi/ and the I/O library.
 *
 * The I/O library, libvireo-io.so, is loaded by the first function that opens or deletes a file, or
 * registers a data representation (mpi/io/file_library.c); a program without I/O does not load it.
 * It has its own file objects and uses MPI's public functions; mpi/ has the handles and the error
 * handlers.
 *
 * The functions of struct io_library return MPI_SUCCESS or an error class, with a sentence in the
 * struct io_error; the caller raises it. They check their arguments, except for pointers that are
 * to be filled. Any thread may call, where MPI has threads.
 */
#ifndef MPI_HOOKS_H
#define MPI_HOOKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct io_file;    /* an open file, of the I/O library */
struct io_counter; /* a number that one process keeps for all: see mpi/io/file_counter.h */

struct io_error {
    char text[400];
    bool is_of_others; /* another process of the file has the cause, and its text says it */
};

/* The file pointer that an access uses. */
enum io_pointer {
    IO_AT,         /* none: offset */
    IO_INDIVIDUAL, /* this process' own */
    IO_SHARED,     /* the shared pointer, in any order */
    IO_ORDERED     /* the shared pointer, in the order of ranks: collective */
};

enum io_form {
    IO_BLOCKING,
    IO_BEGIN, /* of a split collective access */
    IO_NONBLOCKING
};

/* One access to data: any of MPI's functions that read and write. */
struct io_access {
    bool write;
    bool collective;
    enum io_pointer pointer;
    enum io_form form;
    MPI_Offset offset; /* IO_AT: in elementary types of the view */
    void *buf;         /* of a write it is only read */
    MPI_Count count;
    MPI_Datatype type;
    MPI_Status *status;   /* IO_BLOCKING; or MPI_STATUS_IGNORE */
    MPI_Request *request; /* IO_NONBLOCKING */
    const char *function; /* the user's, for an error that is reported later */
};

struct io_view {
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    const char *datarep;
    MPI_Info info; /* for setting */
};

/* A user's data representation. The functions without _c may be NULL; those with _c are used if
 * they exist. */
struct io_datarep {
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_c, *write_c;
    MPI_Datarep_extent_function *extent;
    void *extra_state;
};

/* The functions of mpi/ that the I/O library calls. */
struct io_hooks {
    /* Call visit for each run of bytes of one element of a committed type, in the order of the type
     * map; adjoining runs are joined. Stop at the first visit that does not return 0, and return
     * its result. */
    int (*flatten)(MPI_Datatype type, int (*visit)(void *arg, int64_t offset, int64_t len),
                   void *arg);
    /* Whether a handle is a committed datatype. */
    bool (*is_committed)(MPI_Datatype type);
    /* A number that is the same in all processes of this host. */
    uint64_t (*host_id)(void);
    /* From now on threads of the I/O library also call MPI. */
    void (*use_threads)(void);
    /* A thread of the I/O library begins to work beside the one that has run on this processor. */
    void (*leave_processor)(int cpu);
    /* A number for the processes of a communicator: see mpi/io/file_counter.h. */
    /* Whether the job is of network byte order, so that its processes may have other orders in memory. */
    bool (*is_network)(void);
    /* Copy count elements to size bytes, one after the other, or back from there; as they are in memory, or in the byte
     * order of the job. Returns MPI_SUCCESS or an error class. */
    int (*pack)(bool as_job, const void *from, MPI_Count count, MPI_Datatype type, void *to, MPI_Count size);
    int (*unpack)(bool as_job, const void *from, MPI_Count size, void *to, MPI_Count count, MPI_Datatype type);

    struct io_counter *(*counter_open)(MPI_Comm comm, int owner);
    void (*counter_close)(struct io_counter *counter);
    int (*counter_add)(struct io_counter *counter, int64_t by, int64_t *was);
    void (*counter_set)(struct io_counter *counter, int64_t to);
    /* Whether to print how files are accessed. */
    bool (*wants_report)(void);
    /* Make a request of a file. Complete it, from any thread, with the result of io_library's
     * functions and the number of bytes moved. Begin returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
    int (*request_begin)(MPI_File file, const char *function, MPI_Request *request);
    void (*request_complete)(MPI_Request request, int error_class, const struct io_error *error,
                             MPI_Count bytes);
};

/* The functions of the I/O library that mpi/ calls. */
struct io_library {
    /* Collective on comm. */
    int (*open)(MPI_Comm comm, const char *name, int amode, MPI_Info info, struct io_file **file,
                struct io_error *error);
    /* The file is gone afterwards, whatever this returns. */
    int (*close)(struct io_file *file, struct io_error *error);
    int (*delete_file)(const char *name, struct io_error *error);
    int (*register_datarep)(const char *name, const struct io_datarep *datarep,
                            struct io_error *error);

    /* The MPI_File is the handle that callbacks and requests name. */
    int (*access)(struct io_file *file, MPI_File handle, const struct io_access *what,
                  struct io_error *error);
    /* End a split collective access of this kind; status->MPI_ERROR stays as it is. */
    int (*end)(struct io_file *file, const struct io_access *begun, struct io_error *error);

    /* Of the library: whether it has threads; finish the nonblocking accesses and end them. A later
     * access starts threads again. */
    bool (*has_threads)(void);
    void (*end_threads)(void);

    int (*set_view)(struct io_file *file, const struct io_view *view, struct io_error *error);
    /* The caller frees types that are not predefined; datarep has room for MPI_MAX_DATAREP_STRING
     * bytes. */
    int (*get_view)(struct io_file *file, struct io_view *view, char *datarep,
                    struct io_error *error);
    int (*get_byte_offset)(struct io_file *file, MPI_Offset offset, MPI_Offset *disp,
                           struct io_error *error);
    int (*get_type_extent)(struct io_file *file, MPI_Datatype type, MPI_Count *extent,
                           struct io_error *error);

    /* pointer: IO_INDIVIDUAL or IO_SHARED. */
    int (*seek)(struct io_file *file, enum io_pointer pointer, MPI_Offset offset, int whence,
                struct io_error *error);
    int (*get_position)(struct io_file *file, enum io_pointer pointer, MPI_Offset *offset,
                        struct io_error *error);

    int (*get_size)(struct io_file *file, MPI_Offset *size, struct io_error *error);
    /* Set the size, or only make sure that there is room for it. */
    int (*set_size)(struct io_file *file, MPI_Offset size, bool only_room, struct io_error *error);
    int (*sync)(struct io_file *file, struct io_error *error);
    int (*set_atomicity)(struct io_file *file, bool flag, struct io_error *error);
    bool (*get_atomicity)(struct io_file *file);
    int (*set_info)(struct io_file *file, MPI_Info info, struct io_error *error);
    int (*get_info)(struct io_file *file, MPI_Info *info, struct io_error *error);
    int (*get_group)(struct io_file *file, MPI_Group *group, struct io_error *error);
    MPI_Comm (*comm)(struct io_file *file); /* of the file alone */
    int (*get_amode)(struct io_file *file);
};

/* The one function that the I/O library exports; hooks stay valid. NULL: it cannot work, and why
 * says the reason. */
typedef const struct io_library *io_library_start(const struct io_hooks *hooks,
                                                  struct io_error *why);
#define IO_LIBRARY_START "vireo_io_start"
#define IO_LIBRARY_FILE "libvireo-io.so"

#endif
