/* SPDX-License-Identifier: BSD-3-Clause */

/* The name of an object. Any thread may change it while others read it, who need no lock. */
#ifndef MPI_NAME_H
#define MPI_NAME_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "os/lock.h"

struct name {
    struct os_lock lock;      /* for who changes it */
    _Atomic uint32_t version; /* odd: it is being changed */
    _Alignas(uint64_t) char text[MPI_MAX_OBJECT_NAME]; /* read and changed by words */
};

/* As much of the text as there is room for is kept. */
void name_set(struct name *name, const char *text);
int name_get_slow(const struct name *name, char text[MPI_MAX_OBJECT_NAME]);
/* Returns the length. */
static inline int name_get(const struct name *name, char text[MPI_MAX_OBJECT_NAME])
{
    if (__builtin_expect(os_lock_enabled, 0))
        return name_get_slow(name, text);
    size_t len = strlen(name->text);
    memcpy(text, name->text, len + 1);
    return (int)len;
}

#endif
