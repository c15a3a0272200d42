/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the procedures of libmpifort_abi share: they take what Fortran passes and call C.
 *
 * Only public functions of the ABI are called, and those MPIX_ functions that another library may
 * lack, which are weak here. No Fortran is compiled into this library and no Fortran runtime is
 * called, so that one library serves every compiler. Descriptors of arrays are read by a struct of
 * our own. Any thread may call anything.
 */
#ifndef FORTRAN_FORTRAN_H
#define FORTRAN_FORTRAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORTRAN_PUBLIC __attribute__((visibility("default")))

/* ---- constants that are addresses ---- */

/*
 * One COMMON block, which the modules and mpif.h declare alike. Its address is a program's, which
 * has a copy of it: so it is compared by address, and never read. All have one size in the block:
 * the place says which it is.
 */
enum {
    FORTRAN_SENTINEL = 32, /* bytes of each: a status fills one */
    FORTRAN_SENTINELS = 10
};
extern FORTRAN_PUBLIC const char mpi_fortran_sentinels_[FORTRAN_SENTINELS * FORTRAN_SENTINEL];
extern void *const fortran_meaning[FORTRAN_SENTINELS];

/* The C address for one that Fortran passes: that of a variable, or what a constant stands for. */
static inline void *fortran_address(const void *address)
{
    size_t place = (size_t)((const char *)address - mpi_fortran_sentinels_);
    if (__builtin_expect(place < sizeof(mpi_fortran_sentinels_), 0))
        return fortran_meaning[place / FORTRAN_SENTINEL];
    return (void *)(uintptr_t)address;
}

static inline bool fortran_is_plain(const void *address) /* none of those constants */
{
    return (size_t)((const char *)address - mpi_fortran_sentinels_) >= sizeof(mpi_fortran_sentinels_);
}

/* The address of MPI_STATUS_IGNORE, ready to compare. */
extern __attribute__((visibility("hidden"))) const char *const fortran_ignored;

static inline MPI_Status *fortran_status(MPI_Status *status) /* where it may be ignored */
{
    return (const char *)status == fortran_ignored ? MPI_STATUS_IGNORE : status;
}

/* .TRUE. and .FALSE. of the program's compiler, by its object file that mpifort links; else 1, 0. */
extern FORTRAN_PUBLIC int mpi_fortran_logicals_[2];

static inline int fortran_logical(int truth)
{
    return mpi_fortran_logicals_[!truth];
}
void fortran_logicals(int *logicals, int count); /* turn an array of C's into Fortran's */

/* ---- memory of one call ---- */

struct fortran_memory {
    void *more; /* blocks from malloc */
    size_t used;
    _Alignas(16) char own[496];
};
#define FORTRAN_MEMORY_INIT {.more = NULL, .used = 0}

/* Never NULL: a process without memory ends here, with a line. */
void *fortran_memory_get(struct fortran_memory *memory, size_t count, size_t size);
void fortran_memory_release(struct fortran_memory *memory);
static inline void fortran_memory_free(struct fortran_memory *memory)
{
    if (memory->more)
        fortran_memory_release(memory);
}
_Noreturn void fortran_end(const char *what); /* say what is wrong, and end the job */

/* ---- strings ---- */

/* Without trailing blanks, and leading ones where they are stripped; with a zero. */
char *fortran_string(struct fortran_memory *memory, const char *text, size_t len, bool strip);
/* Fill with blanks, or cut. resultlen (or NULL) is that of the C string, and becomes what fits. */
void fortran_string_back(char *text, size_t len, const char *from, int *resultlen);

/* ---- sections of arrays ---- */

/* ISO_Fortran_binding.h's CFI_cdesc_t, as far as compilers agree. */
struct fortran_descriptor {
    void *base;
    size_t elem_len;
    int version;
    int8_t rank;
    int8_t others[3]; /* type and attribute, in either order */
    struct {
        ptrdiff_t lower, extent, stride; /* the stride in bytes; extent -1: assumed size */
    } dim[];
};

/* A choice buffer of a call. */
struct fortran_section {
    const struct fortran_descriptor *of;
    char *packed; /* NULL: the elements lie side by side, and are used where they are */
    bool out;     /* what comes is copied back */
};

bool fortran_is_dense_of_rank(const struct fortran_descriptor *of);

static inline bool fortran_is_dense(const struct fortran_descriptor *of)
{
    return of->rank == 0 ||
           (of->rank == 1 && of->dim[0].stride == (ptrdiff_t)of->elem_len) ||
           fortran_is_dense_of_rank(of);
}

static inline bool fortran_is_line(const struct fortran_descriptor *of) /* dense, of rank 0 or 1 */
{
    if (of->rank == 0)
        return true;
    __asm__("" : "+r"(of)); /* so that the first test loads nothing */
    return of->rank == 1 && of->dim[0].stride == (ptrdiff_t)of->elem_len;
}

void *fortran_pack(struct fortran_section *section, const struct fortran_descriptor *of, bool out);

/* The address of a buffer, or of a copy of a section that has gaps. */
static inline void *fortran_enter(struct fortran_section *section,
                                  const struct fortran_descriptor *of, bool out)
{
    section->packed = NULL;
    if (__builtin_expect(fortran_is_dense(of), 1))
        return fortran_address(of->base);
    return fortran_pack(section, of, out);
}

void fortran_unpack(struct fortran_section *section);

/* After a blocking call: copy back what has come. */
static inline void fortran_leave(struct fortran_section *sections, int count)
{
    for (int i = 0; i < count; i++) {
        if (__builtin_expect(sections[i].packed != NULL, 0))
            fortran_unpack(&sections[i]);
    }
}

/* After a call that began something: copy back once it is complete. A persistent one also copies in
 * as it starts. rc is the call's, and returned where nothing else goes wrong. */
int fortran_later(struct fortran_section *sections, int count, int rc, MPI_Request *request);

static inline int fortran_defer(struct fortran_section *sections, int count, int rc,
                                MPI_Request *request)
{
    for (int i = 0; i < count; i++) {
        if (__builtin_expect(sections[i].packed != NULL, 0))
            return fortran_later(sections, count, rc, request);
    }
    return rc;
}

/* After MPI_Psend_init and MPI_Precv_init: a partition is copied in as it is said to be ready, and back
 * once it is known to have come. */
int fortran_part(struct fortran_section *section, int rc, int count, MPI_Count in_each,
                 MPI_Datatype type, MPI_Request *request);
void fortran_ready_parts(MPI_Request request, int low, int high);
void fortran_arrived_part(MPI_Request request, int number);
extern _Atomic int fortran_parted; /* requests that have such sections */

static inline void fortran_ready(MPI_Request request, int low, int high)
{
    if (__builtin_expect(fortran_parted != 0, 0))
        fortran_ready_parts(request, low, high);
}

static inline void fortran_ready_list(MPI_Request request, int count, const int *numbers)
{
    for (int i = 0; i < count; i++)
        fortran_ready(request, numbers[i], numbers[i]);
}

static inline void fortran_arrived(MPI_Request request, int number)
{
    if (__builtin_expect(fortran_parted != 0, 0))
        fortran_arrived_part(request, number);
}

/* Split collective access of files: the copy lives until the end of it, which names the section. */
void fortran_begin(struct fortran_section *section, int rc);
void *fortran_begun(const struct fortran_descriptor *of);
void fortran_ended(void *buffer);

void fortran_refuse(const char *text, int *ierror); /* raise MPI_ERR_BUFFER with these words */

/* A buffer that must have no gaps, since the call keeps it; NULL and an error: it has. */
bool fortran_has_gaps(const struct fortran_descriptor *of, const char *function, int *ierror);

/*
 * The origin of one-sided access, which goes on behind the call and has no request: a section with gaps
 * is described by a datatype.
 */
struct fortran_layout {
    void *base;
    MPI_Count count;
    MPI_Datatype type;
    bool is_made;
};
#define FORTRAN_LAYOUT_INIT {.is_made = false}

/* False and an error: the elements of the datatype do not fit between the gaps. */
bool fortran_layout_gaps(struct fortran_layout *layout, const struct fortran_descriptor *of,
                         const char *function, int *ierror);
/* The same for a call whose buffer is one element of type. */
bool fortran_first(const struct fortran_descriptor *of, MPI_Datatype type, const char *function,
                   int *ierror);
void fortran_layout_end(struct fortran_layout *layouts, int count);

static inline bool fortran_layout(struct fortran_layout *layout, const struct fortran_descriptor *of,
                                  MPI_Count count, MPI_Datatype type, const char *function, int *ierror)
{
    layout->base = fortran_address(of->base);
    layout->count = count;
    layout->type = type;
    return __builtin_expect(fortran_is_dense(of), 1) ||
           fortran_layout_gaps(layout, of, function, ierror);
}

/* ---- the rest ---- */

enum fortran_group { FORTRAN_PEERS, FORTRAN_INDEGREE, FORTRAN_OUTDEGREE };
/* How many elements an array of a collective on comm has. 0: comm is none, as the call will say. */
int fortran_length(MPI_Comm comm, enum fortran_group group);

static inline int fortran_index(int index) /* Fortran counts from 1 */
{
    return index == MPI_UNDEFINED ? index : index + 1;
}

/* The same for those that a call has written, which returned rc. */
void fortran_indices(int *indices, int rc, const int *count);

static inline void fortran_error(int *ierror, int rc)
{
    if (ierror) /* optional in mpi_f08 */
        *ierror = rc;
}

#endif
