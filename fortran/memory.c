/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of one call: strings, arrays of handles, and the end where there is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran/fortran.h"
#include "fortran/handles.h"

/* What malloc gave, in a list. */
struct block {
    _Alignas(16) struct block *next;
};

_Noreturn void fortran_end(const char *what)
{
    fprintf(stderr, "MPI for Fortran: %s\n", what);
    PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    abort();
}

void *fortran_memory_get(struct fortran_memory *memory, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - 64)
        fortran_end("an array is longer than the address space");
    size_t whole = (bytes + 15) & ~(size_t)15;
    if (whole <= sizeof(memory->own) - memory->used) {
        void *place = memory->own + memory->used;
        memory->used += whole;
        return place;
    }
    struct block *block = malloc(sizeof(*block) + whole);
    if (!block)
        fortran_end("out of memory for the arguments of a call");
    block->next = memory->more;
    memory->more = block;
    return block + 1;
}

void fortran_memory_release(struct fortran_memory *memory)
{
    for (struct block *block = memory->more, *next; block; block = next) {
        next = block->next;
        free(block);
    }
}

/* ---- strings ---- */

char *fortran_string(struct fortran_memory *memory, const char *text, size_t len, bool strip)
{
    while (len > 0 && text[len - 1] == ' ')
        len--;
    for (; strip && len > 0 && *text == ' '; len--)
        text++;
    char *copy = fortran_memory_get(memory, len + 1, 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

void fortran_string_back(char *text, size_t len, const char *from, int *resultlen)
{
    size_t from_len = strlen(from), copied = from_len < len ? from_len : len;
    memcpy(text, from, copied);
    memset(text + copied, ' ', len - copied);
    if (resultlen)
        *resultlen = (int)copied;
}

/* ---- arrays ---- */

static size_t count_of(int count)
{
    return count > 0 ? (size_t)count : 0;
}

MPI_Request *fortran_requests(struct fortran_memory *memory, const int *numbers, int count)
{
    MPI_Request *handles = fortran_memory_get(memory, count_of(count), sizeof(*handles));
    for (int i = 0; i < count; i++)
        handles[i] = fortran_request(numbers[i]);
    return handles;
}

void fortran_requests_back(int *numbers, const MPI_Request *handles, int count)
{
    for (int i = 0; i < count; i++) {
        if (handles[i] != fortran_request(numbers[i]))
            numbers[i] = fortran_request_int(handles[i]);
    }
}

MPI_Datatype *fortran_types(struct fortran_memory *memory, const int *numbers, int count)
{
    MPI_Datatype *handles = fortran_memory_get(memory, count_of(count), sizeof(*handles));
    for (int i = 0; i < count; i++)
        handles[i] = fortran_type(numbers[i]);
    return handles;
}

MPI_Datatype *fortran_types_out(struct fortran_memory *memory, int count)
{
    MPI_Datatype *handles = fortran_memory_get(memory, count_of(count), sizeof(*handles));
    if (count > 0)
        memset(handles, 0, (size_t)count * sizeof(*handles));
    return handles;
}

void fortran_types_back(int *numbers, const MPI_Datatype *handles, int count)
{
    for (int i = 0; i < count; i++) {
        if (handles[i]) /* 0: the call has not written it */
            numbers[i] = fortran_type_int(handles[i]);
    }
}

void fortran_indices(int *indices, int rc, const int *count)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        (void)PMPI_Error_class(rc, &class);
    if (class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS)
        for (int i = 0; i < *count; i++) /* none where the count is MPI_UNDEFINED */
            indices[i]++;
}
