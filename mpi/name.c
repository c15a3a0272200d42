/* SPDX-License-Identifier: BSD-3-Clause */

/* Names; see name.h. */
#include "mpi/name.h"

#include <string.h>

void name_set(struct name *name, const char *text)
{
    size_t len = strnlen(text, sizeof(name->text) - 1);
    os_lock(&name->lock);
    memcpy(name->text, text, len);
    name->text[len] = 0;
    os_unlock(&name->lock);
}

int name_get(struct name *name, char text[MPI_MAX_OBJECT_NAME])
{
    os_lock(&name->lock);
    size_t len = strlen(name->text);
    memcpy(text, name->text, len + 1);
    os_unlock(&name->lock);
    return (int)len;
}
