/* SPDX-License-Identifier: BSD-3-Clause */

/* Accesses run by run; see direct.h. */
#include "romio/direct.h"

#include <mpioimpl.h>

#include <adio_extern.h>
#include <errno.h>
#include <string.h>

#include "romio/failure.h"
#include "romio/file.h"
#include "romio/system.h"

enum {
    BUFFER = 1 << 18, /* bytes that are collected for one system call */
    LONG = 1 << 13    /* a run of memory that is worth a system call of its own */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- memory ---- */

/* A place in the data of the user's buffer. */
struct scattered {
    char *element;                   /* where the element begins */
    const ADIOI_Flatlist_node *flat; /* runs of an element; NULL: all is one run */
    MPI_Aint extent;
    MPI_Count run;
    int64_t in; /* bytes of the run that lie before the place */
};

static void scattered_init(struct scattered *memory, const struct direct_access *access)
{
    int is_contiguous;
    MPI_Aint lb;
    *memory = (struct scattered){.element = access->buf};
    ADIOI_Datatype_iscontig(access->type, &is_contiguous);
    if (is_contiguous)
        return;
    memory->flat = ADIOI_Flatten_and_find(access->type);
    PMPI_Type_get_extent(access->type, &lb, &memory->extent);
}

/* The address of the place; *len: the bytes from there to the end of its run. */
static char *scattered_run(struct scattered *memory, int64_t *len)
{
    const ADIOI_Flatlist_node *flat = memory->flat;
    *len = INT64_MAX;
    if (!flat)
        return memory->element + memory->in;
    while (memory->in == flat->blocklens[memory->run]) {
        memory->in = 0;
        if (++memory->run == flat->count) {
            memory->run = 0;
            memory->element += memory->extent;
        }
    }
    *len = flat->blocklens[memory->run] - memory->in;
    return memory->element + flat->indices[memory->run] + memory->in;
}

/* Copy the next len bytes to a buffer, or from it. */
static void scattered_copy(struct scattered *memory, bool to_buffer, char *buffer, int64_t len)
{
    for (int64_t done = 0, part; done < len; done += part) {
        char *at = scattered_run(memory, &part);
        part = least(part, len - done);
        if (to_buffer)
            memcpy(buffer + done, at, (size_t)part);
        else
            memcpy(at, buffer + done, (size_t)part);
        memory->in += part;
    }
}

/* ---- moving ---- */

/* Move at most len bytes that are one run of the file. Sets *wanted to how many were tried; returns
 * how many were moved. */
static int64_t move_run(struct io_file *file, const struct direct_access *access,
                        struct scattered *memory, char **buffer, int64_t place, int64_t *wanted)
{
    int64_t together, len = *wanted, moved;
    char *at = scattered_run(memory, &together);
    if (together >= least(len, LONG)) {
        *wanted = least(len, together);
        moved = system_move(file->fd, access->write, at, *wanted, place);
        memory->in += moved;
        return moved;
    }
    if (!*buffer && !(*buffer = malloc(BUFFER))) {
        (void)failure_add(access->write ? "write" : "read", ENOMEM, place, len);
        return 0;
    }
    *wanted = len = least(len, BUFFER);
    if (access->write)
        scattered_copy(memory, true, *buffer, len);
    moved = system_move(file->fd, access->write, *buffer, len, place);
    if (!access->write)
        scattered_copy(memory, false, *buffer, moved);
    return moved;
}

int64_t direct_move(struct io_file *file, const struct direct_access *access)
{
    struct scattered memory;
    char *buffer = NULL;
    int64_t done = 0, moved, wanted = 0;
    scattered_init(&memory, access);
    for (moved = 0; done < access->bytes && moved == wanted; done += moved) {
        int64_t place;
        wanted = least(view_run(&file->view, access->at + done, &place), access->bytes - done);
        moved = move_run(file, access, &memory, &buffer, place, &wanted);
    }
    free(buffer);
    return done;
}
