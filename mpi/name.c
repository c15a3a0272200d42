/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names; see name.h. Who changes one counts its version up before and after. Who reads it compares
 * versions before and after, and begins anew where there was a change. The bytes are atomic: one
 * that is new brings the version of its change with it.
 */
#include "mpi/name.h"

#include <stdbool.h>

enum {
    TRIES = 20 /* then it changes without end, or who changes it has been put to sleep */
};

static void change(struct name *name, const char *text, size_t len)
{
    uint32_t version = atomic_load_explicit(&name->version, memory_order_relaxed);
    atomic_store_explicit(&name->version, version + 1, memory_order_relaxed);
    for (size_t i = 0; i <= len; i++)
        __atomic_store_n(&name->text[i], i < len ? text[i] : '\0', __ATOMIC_RELEASE);
    atomic_store_explicit(&name->version, version + 2, memory_order_release);
}

void name_set(struct name *name, const char *text)
{
    size_t len = strnlen(text, MPI_MAX_OBJECT_NAME - 1);
    os_lock(&name->lock);
    change(name, text, len);
    os_unlock(&name->lock);
}

/* Returns the length, or -1: it was changed meanwhile. */
static int look(const struct name *name, char text[MPI_MAX_OBJECT_NAME])
{
    uint32_t version = atomic_load_explicit(&name->version, memory_order_acquire);
    int len = 0;
    do
        text[len] = __atomic_load_n(&name->text[len], __ATOMIC_ACQUIRE);
    while (text[len] && ++len < MPI_MAX_OBJECT_NAME);
    bool same = version == atomic_load_explicit(&name->version, memory_order_relaxed);
    return same && !(version & 1) ? len : -1;
}

int name_get_slow(const struct name *name, char text[MPI_MAX_OBJECT_NAME])
{
    struct os_lock *lock = (struct os_lock *)(uintptr_t)&name->lock;
    for (int i = 0; i < TRIES; i++) {
        int len = look(name, text);
        if (len >= 0)
            return len;
    }
    os_lock(lock);
    int len = look(name, text);
    os_unlock(lock);
    return len;
}
