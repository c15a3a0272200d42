/* SPDX-License-Identifier: BSD-3-Clause */

/* Arrays of int, made 64-bit for the length of one call: see mpi/interface.h. */

#include <stdlib.h>

#include "mpi/interface.h"

_Thread_local const char *interface_called;

void interface_widen(struct interface_array *array, const int *from, int len)
{
    array->failed = false;
    array->to = from ? array->own : NULL;
    if (!from || len <= 0)
        return;
    if ((size_t)len > sizeof(array->own) / sizeof(array->own[0])) {
        array->to = malloc((size_t)len * sizeof(*array->to));
        array->failed = !array->to;
        if (array->failed)
            return;
    }
    for (int i = 0; i < len; i++)
        array->to[i] = from[i];
}

bool interface_widened(const struct interface_array *arrays, int count)
{
    for (int i = 0; i < count; i++) {
        if (arrays[i].failed)
            return false;
    }
    return true;
}

void interface_release(struct interface_array *arrays, int count)
{
    for (int i = 0; i < count; i++) {
        if (arrays[i].to != arrays[i].own)
            free(arrays[i].to);
    }
}
