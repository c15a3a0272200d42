/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Handles and objects. A handle is a pointer to an object that starts with a
 * type word, or one of the ABI's small constants, which a table of its kind maps
 * to an object. A bad handle is an error class, not a crash: NULL, small numbers
 * that name nothing, pointers to anything else and freed objects are told apart by
 * <kind>_from(), which returns NULL for them. All objects lie in one stretch of addresses
 * (os/memory/stretch.h), and outside it nothing is looked at.
 *
 * Objects are counted. Counts are plain while the process has one thread.
 */
#ifndef MPI_HANDLE_H
#define MPI_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/lock.h"
#include "os/memory/stretch.h"

/* Type words; a freed object has 0. */
enum object_kind {
    OBJECT_COMM = 0x6d6d6f43,
    OBJECT_REVOKED = 0x6b766552, /* a communicator that is revoked */
    OBJECT_GROUP = 0x70755247,
    OBJECT_TYPE = 0x65705954,
    OBJECT_OP = 0x5f5f704f,
    OBJECT_REQUEST = 0x71655221,
    OBJECT_MESSAGE = 0x6773654d,
    OBJECT_ERRHANDLER = 0x68727245,
    OBJECT_INFO = 0x6f666e49,
    OBJECT_FILE = 0x656c6946,
    OBJECT_SESSION = 0x73736553,
    OBJECT_WIN = 0x646e6957
};

struct object {
    _Atomic uint32_t word; /* enum object_kind; 0: its handles lead nowhere */
    _Atomic int32_t refs;
};

enum {
    HANDLE_CONSTANT_MAX = 0x1000
}; /* below this: a constant of the ABI */

static inline bool handle_is_constant(const void *handle)
{
    return (uintptr_t)handle < HANDLE_CONSTANT_MAX;
}

/* Whether a pointer handle leads to a living object of this kind. */
static inline __attribute__((always_inline)) bool handle_leads_to(const void *handle, uint32_t kind)
{
    return !((uintptr_t)handle & 7) && os_stretch_has(handle) &&
           atomic_load_explicit(&((const struct object *)handle)->word, memory_order_relaxed) == kind;
}

/* Handles as numbers (MPI-5.0 20.4): constants are their own numbers; other handles get one at the
 * first call. 0: no memory. A number that was never given leads to NULL. Any thread may call these
 * at any time. */
int handle_number(const void *handle);
void *handle_of_number(int number);

static inline void object_set_word(struct object *object, uint32_t word)
{
    atomic_store_explicit(&object->word, word, memory_order_relaxed);
}

static inline void object_init(struct object *object, uint32_t kind)
{
    object_set_word(object, kind);
    atomic_store_explicit(&object->refs, 1, memory_order_relaxed);
}

static inline void object_ref(struct object *object)
{
    if (os_lock_enabled)
        atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&object->refs,
                              atomic_load_explicit(&object->refs, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

/* Drop a reference. Returns whether it was the last; then the caller frees the object. */
static inline bool object_unref(struct object *object)
{
    if (os_lock_enabled)
        return atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) == 1;
    int32_t left = atomic_load_explicit(&object->refs, memory_order_relaxed) - 1;
    atomic_store_explicit(&object->refs, left, memory_order_relaxed);
    return left == 0;
}

/*
 * Where the library gives out a handle to an object that it holds itself, the object also counts
 * the user's handles. A handle that was freed too often leads nowhere, and the library's object
 * stays.
 */
static inline void handle_given(_Atomic int32_t *given)
{
    atomic_fetch_add_explicit(given, 1, memory_order_relaxed);
}

/* Take one back. Returns whether there was one. */
static inline bool handle_taken_back(_Atomic int32_t *given)
{
    int32_t now = atomic_load_explicit(given, memory_order_relaxed);
    while (now > 0 && !atomic_compare_exchange_weak_explicit(
                          given, &now, now - 1, memory_order_relaxed, memory_order_relaxed))
        ;
    return now > 0;
}

#endif
