/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names; see name.h. Who changes one counts its version up before and after. Who reads it compares
 * versions before and after, and begins anew where there was a change. Words are atomic: one
 * that is new brings the version of its change with it.
 */
#include "mpi/name.h"

#include <stdbool.h>
#include <string.h>

enum {
    TRIES = 20 /* then it changes without end, or who changes it has been put to sleep */
};

typedef uint64_t __attribute__((may_alias)) word;

_Static_assert(MPI_MAX_OBJECT_NAME % sizeof(word) == 0, "a name is some words");

static void change(struct name *name, const char text[MPI_MAX_OBJECT_NAME])
{
    uint32_t version = atomic_load_explicit(&name->version, memory_order_relaxed);
    atomic_store_explicit(&name->version, version + 1, memory_order_relaxed);
    for (size_t i = 0; i < MPI_MAX_OBJECT_NAME; i += sizeof(word)) {
        word w;
        memcpy(&w, text + i, sizeof(w));
        __atomic_store_n((word *)(name->text + i), w, __ATOMIC_RELEASE);
    }
    atomic_store_explicit(&name->version, version + 2, memory_order_release);
}

void name_set(struct name *name, const char *text)
{
    char padded[MPI_MAX_OBJECT_NAME] = "";
    memcpy(padded, text, strnlen(text, sizeof(padded) - 1));
    os_lock(&name->lock);
    change(name, padded);
    os_unlock(&name->lock);
}

static bool has_end(word w)
{
    return (w - 0x0101010101010101u) & ~w & 0x8080808080808080u;
}

/* Returns the length, or -1: it was changed meanwhile. */
static int look(const struct name *name, char text[MPI_MAX_OBJECT_NAME])
{
    char copy[MPI_MAX_OBJECT_NAME];
    uint32_t version = atomic_load_explicit(&name->version, memory_order_acquire);
    size_t len = 0;
    word w;
    do {
        w = __atomic_load_n((const word *)(name->text + len), __ATOMIC_ACQUIRE);
        memcpy(copy + len, &w, sizeof(w));
        len += sizeof(w);
    } while (!has_end(w) && len < MPI_MAX_OBJECT_NAME);
    if (version & 1 || version != atomic_load_explicit(&name->version, memory_order_relaxed))
        return -1;
    len -= sizeof(w);
    while (copy[len])
        len++;
    memcpy(text, copy, len + 1);
    return (int)len;
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
