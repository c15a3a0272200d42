/* SPDX-License-Identifier: BSD-3-Clause */

/* Accumulates; see win_apply.h. */
#include "mpi/win/win_apply.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "mpi/type/op_kernels.h"
#include "mpi/type/type_tree.h"
#include "mpi/win/win_queue.h"
#include "os/clock.h"

enum {
    SPINS = 200,           /* for the lock word, before a yield */
    LOOKS = 20000,         /* before a look whether its holder lives */
    LOCKED_MAX = 256 << 10, /* bytes that are changed while others wait */
    COPIED_MAX = 2048       /* bytes that are copied to their alignment at once */
};

const struct type *win_basic_type(const struct type *type)
{
    while (!type->predefined) {
        const struct type_tree *tree = type->tree;
        if (!tree || !tree->type_count)
            return NULL;
        type = tree->types[0];
        for (int64_t i = 1; i < tree->type_count; i++) {
            if (!type->size)
                type = tree->types[i];
            else if (tree->types[i]->size &&
                     win_basic_type(tree->types[i]) != win_basic_type(type))
                return NULL;
        }
    }
    return type;
}

/* ---- by instructions ---- */

/* An element of one of these sizes, which the compiler knows wherever one is handled. */
union word {
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
};

static inline __attribute__((always_inline)) union word load(const void *at, size_t size)
{
    union word now = {.b8 = 0};
    switch (size) {
    case 1: now.b1 = __atomic_load_n((const uint8_t *)at, __ATOMIC_ACQUIRE); break;
    case 2: now.b2 = __atomic_load_n((const uint16_t *)at, __ATOMIC_ACQUIRE); break;
    case 4: now.b4 = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE); break;
    default: now.b8 = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE); break;
    }
    return now;
}

#define SWAP(bytes, word)                                                                          \
    __atomic_compare_exchange_n((word *)at, &old->b##bytes, new.b##bytes, false, __ATOMIC_ACQ_REL, \
                                __ATOMIC_ACQUIRE)

/* Store new where the element is as old. Returns whether it was; otherwise old is what it is. */
static inline __attribute__((always_inline)) bool swap(void *at, union word *old, union word new,
                                                       size_t size)
{
    switch (size) {
    case 1: return SWAP(1, uint8_t);
    case 2: return SWAP(2, uint16_t);
    case 4: return SWAP(4, uint32_t);
    default: return SWAP(8, uint64_t);
    }
}

/* Whether one instruction does it. */
static inline bool is_simple(enum op_code code)
{
    return code == OP_CODE_SUM || code == OP_CODE_BAND || code == OP_CODE_BOR ||
           code == OP_CODE_BXOR || code == OP_CODE_REPLACE;
}

#define BY(function)                                                                              \
    switch (size) {                                                                                \
    case 1: by.b1 = function((uint8_t *)at, by.b1, __ATOMIC_ACQ_REL); break;                       \
    case 2: by.b2 = function((uint16_t *)at, by.b2, __ATOMIC_ACQ_REL); break;                      \
    case 4: by.b4 = function((uint32_t *)at, by.b4, __ATOMIC_ACQ_REL); break;                      \
    default: by.b8 = function((uint64_t *)at, by.b8, __ATOMIC_ACQ_REL); break;                     \
    }

static inline __attribute__((always_inline)) union word fetch(enum op_code code, void *at,
                                                              union word by, size_t size)
{
    switch (code) {
    case OP_CODE_SUM: BY(__atomic_fetch_add) break;
    case OP_CODE_BAND: BY(__atomic_fetch_and) break;
    case OP_CODE_BOR: BY(__atomic_fetch_or) break;
    case OP_CODE_BXOR: BY(__atomic_fetch_xor) break;
    default: BY(__atomic_exchange_n) break;
    }
    return by;
}

/* Change one element. Returns what it was. */
static inline __attribute__((always_inline)) union word
change_one(const struct win_elements *how, void *at, const char *from, size_t size)
{
    enum op_code code = (enum op_code)how->op->code;
    union word operand = {.b8 = 0}, old;
    if (code == OP_CODE_NO_OP)
        return load(at, size);
    memcpy(&operand, from, size);
    if (is_simple(code))
        return fetch(code, at, operand, size);
    for (old = load(at, size);;) {
        union word new = old;
        (void)op_apply(how->op, &operand, &new, 1, how->type->handle);
        if (swap(at, &old, new, size))
            return old;
    }
}

/* All elements, if nobody asks what they were: then the compiler has one instruction for each. */
static inline __attribute__((always_inline)) void
change_simply(enum op_code code, char *at, const char *from, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        union word operand = {.b8 = 0};
        memcpy(&operand, from + i * size, size);
        (void)fetch(code, at + i * size, operand, size);
    }
}

static inline __attribute__((always_inline)) void change(const struct win_elements *how, char *at,
                                                         const char *from, char *was, size_t count,
                                                         size_t size)
{
    if (!was)
        switch (how->op->code) {
        case OP_CODE_SUM: change_simply(OP_CODE_SUM, at, from, count, size); return;
        case OP_CODE_BAND: change_simply(OP_CODE_BAND, at, from, count, size); return;
        case OP_CODE_BOR: change_simply(OP_CODE_BOR, at, from, count, size); return;
        case OP_CODE_BXOR: change_simply(OP_CODE_BXOR, at, from, count, size); return;
        default: break;
        }
    for (size_t i = 0; i < count; i++) {
        union word old = change_one(how, at + i * size, from ? from + i * size : NULL, size);
        if (was)
            memcpy(was + i * size, &old, size);
    }
}

static void by_instructions(const struct win_elements *how, char *at, const char *from, char *was,
                            size_t count)
{
    switch (how->type->size) {
    case 1: change(how, at, from, was, count, 1); break;
    case 2: change(how, at, from, was, count, 2); break;
    case 4: change(how, at, from, was, count, 4); break;
    default: change(how, at, from, was, count, 8); break;
    }
}

/* Whether instructions change elements of this type there: whole numbers, at their alignment. Bytes
 * are often those of structs, which the lock word has replaced and read as a whole; long arrays of
 * floating numbers are several times faster under it. */
static bool is_for_instructions(const struct type *type, const void *at)
{
    MPI_Count size = type->size;
    return (type->form == TYPE_SIGNED || type->form == TYPE_UNSIGNED ||
            type->form == TYPE_LOGICAL) &&
           size <= 8 && !((uintptr_t)at % (uintptr_t)size);
}

/* ---- under the lock word ---- */

static uint32_t own_pid; /* a forked child has another one */

static void note_pid(void)
{
    own_pid = (uint32_t)getpid();
}

static __attribute__((constructor)) void follow_forks(void)
{
    note_pid();
    (void)pthread_atfork(NULL, NULL, note_pid);
}

/* A holder that has died leaves the word to others; what it changed may be half done. */
static void free_of_dead(struct win_queue *queue)
{
    uint32_t holder = atomic_load(&queue->busy);
    if (holder && kill((pid_t)holder, 0) && errno == ESRCH)
        (void)atomic_compare_exchange_strong(&queue->busy, &holder, 0);
}

static void lock(const struct win_elements *how)
{
    for (unsigned i = 0;; i++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_weak_explicit(&how->queue->busy, &none, own_pid,
                                                  memory_order_acquire, memory_order_relaxed))
            return;
        if (i % LOOKS == LOOKS - 1)
            free_of_dead(how->queue);
        if (i % SPINS)
            os_pause();
        else
            sched_yield();
    }
}

static void unlock(const struct win_elements *how)
{
    atomic_store_explicit(&how->queue->busy, 0, memory_order_release);
}

/* Elements that lie at no multiple of their alignment: the kernels get copies. */
static __attribute__((noinline)) void change_askew(const struct win_elements *how, char *at,
                                                   const char *from, size_t count)
{
    _Alignas(16) char place[COPIED_MAX];
    MPI_Datatype type = how->type->handle;
    size_t extent = (size_t)how->type->extent, most = sizeof(place) / extent;
    for (size_t i = 0; i < count; i += most) {
        MPI_Count now = (MPI_Count)(count - i < most ? count - i : most);
        (void)type_copy(at + i * extent, now, type, place, now, type);
        (void)op_apply(how->op, from ? from + i * extent : NULL, place, now, type);
        (void)type_copy(place, now, type, at + i * extent, now, type);
    }
}

/* Nobody else changes them meanwhile. */
static void change_all(const struct win_elements *how, char *at, const char *from, char *was,
                       MPI_Count count)
{
    if (was)
        (void)type_copy(at, count, how->type->handle, was, count, how->type->handle);
    if ((uintptr_t)at % how->type->align)
        change_askew(how, at, from, (size_t)count);
    else
        (void)op_apply(how->op, from, at, count, how->type->handle);
}

/* So much at once, that others do not wait for long. */
static void under_lock(const struct win_elements *how, char *at, const char *from, char *was,
                       size_t count)
{
    size_t extent = (size_t)how->type->extent, most = LOCKED_MAX / extent;
    for (size_t i = 0; i < count; i += most) {
        size_t now = count - i < most ? count - i : most;
        lock(how);
        change_all(how, at + i * extent, from ? from + i * extent : NULL,
                   was ? was + i * extent : NULL, (MPI_Count)now);
        unlock(how);
    }
}

bool win_may_apply(const struct win_elements *how, bool has_all, bool has_none)
{
    bool moves = how->op->code == OP_CODE_REPLACE || how->op->code == OP_CODE_NO_OP;
    bool has_data = has_all || (how->op->code == OP_CODE_NO_OP && has_none);
    return has_data && (moves || !op_check(how->op, how->type->handle));
}

void win_apply(const struct win_elements *how, void *at, const void *from, void *was, size_t count)
{
    if (how->alone)
        change_all(how, at, from, was, (MPI_Count)count);
    else if (is_for_instructions(how->type, at))
        by_instructions(how, at, from, was, count);
    else
        under_lock(how, at, from, was, count);
}

/* ---- in runs ---- */

enum {
    ELEMENT_MAX = 64
}; /* bytes: the largest extent of a predefined type is half of it */

/* One element with gaps: its operand is laid out as in memory first, and its result packed. */
static void spread_one(struct win_spread *s, char *at)
{
    _Alignas(16) char operand[ELEMENT_MAX] = {0}, result[ELEMENT_MAX];
    const struct type *type = s->how.type;
    if (s->in)
        (void)type_copy_in(false, s->in, type->size, MPI_BYTE, operand, 1, type->handle);
    win_apply(&s->how, at, operand, s->out ? result : NULL, 1);
    if (s->out)
        (void)type_copy_in(false, result, 1, type->handle, s->out, type->size, MPI_BYTE);
}

void win_spread(struct win_spread *s, void *run, size_t len)
{
    const struct type *type = s->how.type;
    size_t size = (size_t)type->size, rest = len < s->rest ? len : s->rest;
    char *at = (char *)run + rest; /* before it: a piece of an element that was handled as a whole */
    len -= rest;
    s->rest -= rest;
    if (!len)
        return;
    size_t whole = type->extent == type->size ? len / size : 0;
    if (whole) {
        win_apply(&s->how, at, s->in, s->out, whole);
    } else {
        for (whole = 0; whole < (len + size - 1) / size; whole++)
            spread_one(&(struct win_spread){.how = s->how,
                                            .in = s->in ? s->in + whole * size : NULL,
                                            .out = s->out ? s->out + whole * size : NULL},
                       at + whole * size);
        s->rest = whole * size - len;
    }
    s->in = s->in ? s->in + whole * size : NULL;
    s->out = s->out ? s->out + whole * size : NULL;
}

/* ---- compare and swap ---- */

static inline __attribute__((always_inline)) void
compare_one(void *at, const void *compare, const void *new, void *was, size_t size)
{
    union word old = {.b8 = 0}, value = {.b8 = 0};
    memcpy(&old, compare, size);
    memcpy(&value, new, size);
    (void)swap(at, &old, value, size);
    memcpy(was, &old, size);
}

void win_compare(const struct win_elements *how, void *at, const void *compare, const void *new,
                 void *was)
{
    size_t size = (size_t)how->type->size;
    if (!is_for_instructions(how->type, at)) {
        lock(how);
        memcpy(was, at, size);
        if (!memcmp(at, compare, size))
            memcpy(at, new, size);
        unlock(how);
        return;
    }
    switch (size) {
    case 1: compare_one(at, compare, new, was, 1); break;
    case 2: compare_one(at, compare, new, was, 2); break;
    case 4: compare_one(at, compare, new, was, 4); break;
    default: compare_one(at, compare, new, was, 8); break;
    }
}
