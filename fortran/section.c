/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Choice buffers by descriptor: sections of arrays whose elements do not lie side by side are copied
 * into a buffer where they do, as a compiler would for a procedure without descriptors. It is copied
 * back when the call is over: at its return, or when its request completes. The whole section is
 * copied both ways, so that what MPI does not write stays as it was.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran/fortran.h"

/* An MPIX_ function, so that the library also runs on others. */
#pragma weak PMPIX_Request_attach

enum { RANK_MAX = 15 };

/* ---- shapes ---- */

/* A compiler whose descriptors differ would be read wrongly: say so. */
static void check(const struct fortran_descriptor *of)
{
    char text[160];
    if ((of->version == 1 || of->version == 20180515) && of->rank >= 0 && of->rank <= RANK_MAX)
        return;
    snprintf(text, sizeof(text), "an array's descriptor has version %d and rank %d, which this "
             "library does not know: use module mpi, or another compiler", of->version, of->rank);
    fortran_end(text);
}

/* Elements, or 0 where an extent is not known: those of an assumed size lie side by side. */
static size_t element_count(const struct fortran_descriptor *of)
{
    size_t count = 1;
    for (int i = 0; i < of->rank; i++)
        count *= of->dim[i].extent > 0 ? (size_t)of->dim[i].extent : 0;
    return count;
}

bool fortran_is_dense_of_rank(const struct fortran_descriptor *of)
{
    check(of);
    ptrdiff_t due = (ptrdiff_t)of->elem_len;
    bool is_dense = true;
    for (int i = 0; i < of->rank; i++) {
        if (of->dim[i].extent == 0)
            return true;
        if (of->dim[i].extent != 1 && of->dim[i].stride != due)
            is_dense = false;
        due *= of->dim[i].extent; /* below 0 for the last one alone */
    }
    return is_dense || element_count(of) == 0;
}

/* ---- copying ---- */

/* Copy dimension dim of what begins at from. Returns where the copy goes on. */
static char *move(const struct fortran_descriptor *of, int dim, char *from, char *packed, bool in)
{
    if (dim < 0) {
        if (in)
            memcpy(packed, from, of->elem_len);
        else
            memcpy(from, packed, of->elem_len);
        return packed + of->elem_len;
    }
    for (ptrdiff_t i = 0; i < of->dim[dim].extent; i++)
        packed = move(of, dim - 1, from + i * of->dim[dim].stride, packed, in);
    return packed;
}

static void copy_in(const struct fortran_section *section)
{
    move(section->of, section->of->rank - 1, section->of->base, section->packed, true);
}

static void copy_back(const struct fortran_section *section)
{
    if (section->out)
        move(section->of, section->of->rank - 1, section->of->base, section->packed, false);
}

void *fortran_pack(struct fortran_section *section, const struct fortran_descriptor *of, bool out)
{
    section->of = of;
    section->out = out;
    section->packed = malloc(element_count(of) * of->elem_len);
    if (!section->packed)
        fortran_end("out of memory for the copy of a section of an array");
    copy_in(section);
    return section->packed;
}

void fortran_unpack(struct fortran_section *section)
{
    copy_back(section);
    free(section->packed);
}

/* An error code with these words. There is one, which has the last words. */
static int code_of(const char *text)
{
    static _Atomic int only;
    int code = atomic_load(&only), none = 0;
    if (!code) {
        if (PMPI_Add_error_code(MPI_ERR_BUFFER, &code) != MPI_SUCCESS)
            return MPI_ERR_BUFFER;
        if (!atomic_compare_exchange_strong(&only, &none, code)) {
            (void)PMPI_Remove_error_code(code);
            code = none;
        }
    }
    (void)PMPI_Add_error_string(code, text);
    return code;
}

void fortran_refuse(const char *text, int *ierror)
{
    int code = code_of(text);
    fortran_error(ierror, code);
    (void)PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
}

bool fortran_has_gaps(const struct fortran_descriptor *of, const char *function, int *ierror)
{
    char text[MPI_MAX_ERROR_STRING];
    if (fortran_is_dense(of))
        return false;
    (void)snprintf(text, sizeof(text), "%s: the section of an array of rank %d has gaps, and this call keeps the "
                   "buffer: give it a contiguous array", function, of->rank);
    fortran_refuse(text, ierror);
    return true;
}

/* ---- until a request completes ---- */

/* Sections of a call that goes on, with descriptors of their own. */
struct held {
    int count;
    struct {
        struct fortran_section section;
        union {
            struct fortran_descriptor of;
            char bytes[sizeof(struct fortran_descriptor) + RANK_MAX * 3 * sizeof(ptrdiff_t)];
        } copy;
    } of[];
};

static struct held *hold(const struct fortran_section *sections, int count)
{
    struct held *held = malloc(sizeof(*held) + (size_t)count * sizeof(held->of[0]));
    if (!held)
        fortran_end("out of memory for the copy of a section of an array");
    held->count = 0;
    for (int i = 0; i < count; i++) {
        if (!sections[i].packed)
            continue;
        const struct fortran_descriptor *of = sections[i].of;
        memcpy(held->of[held->count].copy.bytes, of, sizeof(*of) + (size_t)of->rank * sizeof(of->dim[0]));
        held->of[held->count].section = sections[i];
        held->of[held->count].section.of = &held->of[held->count].copy.of;
        held->count++;
    }
    return held;
}

static void on_event(int event, void *state)
{
    struct held *held = state;
    for (int i = 0; i < held->count; i++) {
        const struct fortran_section *section = &held->of[i].section;
        switch (event) {
        case MPIX_REQUEST_STARTS: copy_in(section); break;
        case MPIX_REQUEST_COMPLETE: copy_back(section); break;
        default: free(section->packed); break;
        }
    }
    if (event == MPIX_REQUEST_FREED)
        free(held);
}

int fortran_later(struct fortran_section *sections, int count, int rc, MPI_Request *request)
{
    if (rc == MPI_SUCCESS && PMPIX_Request_attach) {
        rc = PMPIX_Request_attach(request, on_event, hold(sections, count));
        if (rc == MPI_SUCCESS)
            return rc;
    } else if (rc == MPI_SUCCESS) {
        fortran_end("a section with gaps cannot be copied back later by this C library: "
                    "give the call a contiguous array");
    }
    for (int i = 0; i < count; i++)
        free(sections[i].packed);
    return rc;
}

/* ---- partitions ---- */

/* A section that goes, or comes, partition by partition: each is copied by itself, and once. */
struct parts {
    struct parts *next;
    struct held *held; /* of the one section */
    MPI_Request request;
    size_t len; /* bytes of a partition */
    int count;
    bool is_copied[];
};

_Atomic int fortran_parted;
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER; /* guards all_parts, and is_copied */
static struct parts *all_parts;

static char *element_at(const struct fortran_descriptor *of, size_t index)
{
    char *at = of->base;
    for (int i = 0; i < of->rank; i++) {
        at += (ptrdiff_t)(index % (size_t)of->dim[i].extent) * of->dim[i].stride;
        index /= (size_t)of->dim[i].extent;
    }
    return at;
}

/* An element may lie in two partitions. */
static void copy_part(const struct parts *parts, int number, bool in)
{
    const struct fortran_section *section = &parts->held->of[0].section;
    size_t elem_len = section->of->elem_len, end = element_count(section->of) * elem_len;
    size_t at = (size_t)number * parts->len;
    if (number < 0 || number >= parts->count || at >= end)
        return;
    end = end - at > parts->len ? at + parts->len : end;
    while (at < end) {
        size_t skip = at % elem_len, len = elem_len - skip < end - at ? elem_len - skip : end - at;
        char *element = element_at(section->of, at / elem_len) + skip;
        memcpy(in ? section->packed + at : element, in ? element : section->packed + at, len);
        at += len;
    }
}

static void bring_back(struct parts *parts, int number)
{
    if (number < 0 || number >= parts->count || parts->is_copied[number])
        return;
    parts->is_copied[number] = true;
    copy_part(parts, number, false);
}

static void unlink_parts(struct parts *parts)
{
    pthread_mutex_lock(&parts_lock);
    struct parts **it = &all_parts;
    while (*it != parts)
        it = &(*it)->next;
    *it = parts->next;
    fortran_parted--;
    pthread_mutex_unlock(&parts_lock);
}

static void free_parts(struct parts *parts)
{
    free(parts->held->of[0].section.packed);
    free(parts->held);
    free(parts);
}

static void on_parts(int event, void *state)
{
    struct parts *parts = state;
    const struct fortran_section *section = &parts->held->of[0].section;
    if (event == MPIX_REQUEST_STARTS) {
        copy_in(section);
        memset(parts->is_copied, 0, (size_t)parts->count * sizeof(parts->is_copied[0]));
    } else if (event == MPIX_REQUEST_COMPLETE) {
        pthread_mutex_lock(&parts_lock);
        for (int i = 0; section->out && i < parts->count; i++)
            bring_back(parts, i);
        pthread_mutex_unlock(&parts_lock);
    } else {
        unlink_parts(parts);
        free_parts(parts);
    }
}

int fortran_part(struct fortran_section *section, int rc, int count, MPI_Count in_each,
                 MPI_Datatype type, MPI_Request *request)
{
    MPI_Count lb = 0, extent = 0;
    if (!section->packed)
        return rc;
    if (rc != MPI_SUCCESS || !PMPIX_Request_attach)
        return fortran_later(section, 1, rc, request);
    struct parts *parts = calloc(1, sizeof(*parts) + (size_t)count * sizeof(parts->is_copied[0]));
    if (!parts)
        fortran_end("out of memory for the copy of a section of an array");
    parts->held = hold(section, 1);
    parts->request = *request;
    parts->count = count;
    (void)PMPI_Type_get_extent_c(type, &lb, &extent);
    parts->len = (size_t)(extent * in_each);
    rc = PMPIX_Request_attach(request, on_parts, parts);
    if (rc != MPI_SUCCESS) {
        free_parts(parts);
        return rc;
    }
    pthread_mutex_lock(&parts_lock);
    parts->next = all_parts;
    all_parts = parts;
    fortran_parted++;
    pthread_mutex_unlock(&parts_lock);
    return rc;
}

static struct parts *parts_of(MPI_Request request)
{
    struct parts *it = all_parts;
    while (it && it->request != request)
        it = it->next;
    return it;
}

void fortran_ready_parts(MPI_Request request, int low, int high)
{
    pthread_mutex_lock(&parts_lock);
    const struct parts *parts = parts_of(request);
    for (int i = low; parts && i <= high && i < parts->count; i++)
        copy_part(parts, i, true);
    pthread_mutex_unlock(&parts_lock);
}

void fortran_arrived_part(MPI_Request request, int number)
{
    pthread_mutex_lock(&parts_lock);
    struct parts *parts = parts_of(request);
    if (parts)
        bring_back(parts, number);
    pthread_mutex_unlock(&parts_lock);
}

/* ---- split collective access ---- */

struct begun {
    struct begun *next;
    struct fortran_section section;
    struct held *held;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards begun */
static struct begun *begun;

void fortran_begin(struct fortran_section *section, int rc)
{
    if (!section->packed)
        return;
    struct begun *made = rc == MPI_SUCCESS ? malloc(sizeof(*made)) : NULL;
    if (!made) {
        free(section->packed);
        return;
    }
    made->held = hold(section, 1);
    made->section = made->held->of[0].section;
    pthread_mutex_lock(&lock);
    made->next = begun;
    begun = made;
    pthread_mutex_unlock(&lock);
}

void *fortran_begun(const struct fortran_descriptor *of)
{
    void *packed = NULL;
    if (fortran_is_dense(of))
        return fortran_address(of->base);
    pthread_mutex_lock(&lock);
    for (struct begun *it = begun; it && !packed; it = it->next) {
        if (it->section.of->base == of->base)
            packed = it->section.packed;
    }
    pthread_mutex_unlock(&lock);
    return packed ? packed : of->base;
}

void fortran_ended(void *buffer)
{
    struct begun *found;
    pthread_mutex_lock(&lock);
    struct begun **it = &begun;
    while (*it && (*it)->section.packed != buffer)
        it = &(*it)->next;
    found = *it;
    if (found)
        *it = found->next;
    pthread_mutex_unlock(&lock);
    if (!found)
        return;
    fortran_unpack(&found->section);
    free(found->held);
    free(found);
}
