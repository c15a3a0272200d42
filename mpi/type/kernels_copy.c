/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The innermost copy loops. Each is one inline function over a block size; it is instantiated
 * for sizes known to the compiler, where a block is a few moves, and once for any other.
 */

#include "mpi/type/kernels_copy.h"

#include <string.h>

enum {
    MIDDLING_MAX = 2048 /* where a call of memcpy begins to pay */
};

#define INLINE static inline __attribute__((always_inline))

/* Two ranges of 8 bytes and more that may overlap each other cover n bytes. */
#define COPY_BY(width)                          \
    {                                           \
        struct {                                \
            char b[width];                      \
        } head, tail;                           \
        memcpy(&head, from, width);             \
        memcpy(&tail, from + n - width, width); \
        memcpy(to, &head, width);               \
        memcpy(to + n - width, &tail, width);   \
    }

typedef uint64_t pair __attribute__((vector_size(16)));

INLINE void copy_line(char *restrict to, const char *restrict from)
{
    pair a, b, c, d;

    memcpy(&a, from, 16);
    memcpy(&b, from + 16, 16);
    memcpy(&c, from + 32, 16);
    memcpy(&d, from + 48, 16);
    memcpy(to, &a, 16);
    memcpy(to + 16, &b, 16);
    memcpy(to + 32, &c, 16);
    memcpy(to + 48, &d, 16);
}

/* Copy more than 64 bytes without a call. Meanwhile fetch as many bytes at next for writing, unless
 * it is NULL. */
INLINE void copy_middling(char *restrict to, const char *restrict from, size_t n, const char *next)
{
    size_t i = 0;

    for (; i + 64 < n; i += 64) {
        if (next)
            __builtin_prefetch(next + i, 1);
        copy_line(to + i, from + i);
    }
    copy_line(to + n - 64, from + n - 64);
}

/* Copy n bytes, fast where n is small. */
INLINE void copy_some(char *restrict to, const char *restrict from, size_t n)
{
    if (__builtin_constant_p(n)) {
        memcpy(to, from, n);
    } else if (n > MIDDLING_MAX) {
        memcpy(to, from, n);
    } else if (n > 64) {
        copy_middling(to, from, n, NULL);
    } else if (n > 32) {
        COPY_BY(32)
    } else if (n > 16) {
        COPY_BY(16)
    } else if (n >= 8) {
        COPY_BY(8)
    } else if (n >= 4) {
        COPY_BY(4)
    } else if (n >= 2) {
        COPY_BY(2)
    } else {
        *to = *from;
    }
}

INLINE void copy_way(char *restrict user, char *restrict packed, size_t n, bool unpack)
{
    if (unpack)
        copy_some(user, packed, n);
    else
        copy_some(packed, user, n);
}

/* ---- classes of block sizes ---- */

enum size_class {
    CLASS_ANY,
    CLASS_1,
    CLASS_2,
    CLASS_4,
    CLASS_8,
    CLASS_12,
    CLASS_16,
    CLASS_24,
    CLASS_32,
    CLASS_48,
    CLASS_64,
    CLASS_LONG, /* more than that */
    CLASSES
};

#define FOR_SHORT(each)   each(1) each(2) each(4) each(8) each(12) each(16) each(24) each(32)
#define FOR_CLASSES(each) FOR_SHORT(each) each(48) each(64)

uint8_t copy_class(int64_t block)
{
    uint8_t found = CLASS_ANY;

#define CASE(n) \
    case n: found = CLASS_##n; break;
    switch (block) {
        FOR_CLASSES(CASE)
    default:
        if (block > 64)
            found = CLASS_LONG;
    }
#undef CASE
    return found;
}

/* ---- grids ---- */

/* Four words at once, two to a store: half as many stores. */
INLINE void pack_four_8(const char *restrict user, int64_t stride, char *restrict packed)
{
    uint64_t a, b, c, d;

    memcpy(&a, user, 8);
    memcpy(&b, user + stride, 8);
    memcpy(&c, user + 2 * stride, 8);
    memcpy(&d, user + 3 * stride, 8);
    const pair low = {a, b}, high = {c, d};
    memcpy(packed, &low, 16);
    memcpy(packed + 16, &high, 16);
}

/* Four blocks of a row: additions for one of them, and no loop so short that its alignment in
 * memory matters. */
INLINE void copy_four(char *restrict user, int64_t stride, char *restrict packed, size_t block,
                      bool unpack)
{
    if (block == 8 && !unpack) {
        pack_four_8(user, stride, packed);
        return;
    }
    copy_way(user, packed, block, unpack);
    copy_way(user + stride, packed + block, block, unpack);
    copy_way(user + 2 * stride, packed + 2 * block, block, unpack);
    copy_way(user + 3 * stride, packed + 3 * block, block, unpack);
}

/*
 * Stores that miss the cache wait for each other, loads do not. So a far destination is fetched
 * before. Addresses past the end do no harm.
 */
enum {
    LINE = 64,        /* bytes of a cache line */
    PAGE = 4096,      /* bytes that one translation of an address serves */
    NEAR = 16 << 10,  /* data of this many bytes may be in the nearest cache, to and from */
    AWAY = 512 << 10, /* data of this many bytes may not be in the next one, with others */
    BEYOND = 4 << 20, /* and of this many surely not */
    SPANNING = 33,    /* block length from which at least every other block spans lines */
    AHEAD = 16        /* blocks from the one copied to the one that is fetched */
};

/* From block to block of a row, in bytes. */
INLINE int64_t distance(const struct copy_grid *grid)
{
    return grid->inner_stride < 0 ? -grid->inner_stride : grid->inner_stride;
}

INLINE void fetch_four(const char *to, int64_t step)
{
    __builtin_prefetch(to + AHEAD * step, 1);
    __builtin_prefetch(to + (AHEAD + 1) * step, 1);
    __builtin_prefetch(to + (AHEAD + 2) * step, 1);
    __builtin_prefetch(to + (AHEAD + 3) * step, 1);
}

INLINE void grid_of(const struct copy_grid *grid, char *restrict user, char *restrict packed,
                    size_t block, bool unpack, bool far)
{
    const int64_t inner = grid->inner, stride = grid->inner_stride;

    for (int64_t i = 0; i < grid->outer; i++) {
        char *at = user;
        int64_t k = 0;
        for (; k + 4 <= inner; k += 4) {
            if (far)
                fetch_four(unpack ? at : packed, unpack ? stride : (int64_t)block);
            copy_four(at, stride, packed, block, unpack);
            at += 4 * stride;
            packed += 4 * block;
        }
        for (; k < inner; k++) {
            copy_way(at, packed, block, unpack);
            at += stride;
            packed += block;
        }
        user += grid->outer_stride;
    }
}

INLINE void walk(const struct copy_grid *grid, char *restrict user, char *restrict packed,
                 size_t block, bool fetch)
{
    const int64_t inner = grid->inner, stride = grid->inner_stride;

    for (int64_t i = 0; i < grid->outer; i++) {
        const char *at = user;
        for (int64_t k = 0; k < inner; k++) {
            if (fetch)
                __builtin_prefetch(at + AHEAD / 2 * stride);
            copy_some(packed, at, block);
            at += stride;
            packed += block;
        }
        user += grid->outer_stride;
    }
}

/*
 * Pack short blocks that each lie in one line. The processor waits for as many lines as it can
 * request: at a pace of one block at a time it foresees the next page, and fetching ahead would
 * hinder that.
 */
INLINE void pack_apart(const struct copy_grid *grid, char *restrict user, char *restrict packed,
                       size_t block)
{
    if (distance(grid) < PAGE)
        walk(grid, user, packed, block, true);
    else
        walk(grid, user, packed, block, false);
}

/* Copy a block of more than 64 bytes, and fetch the destination of the next: at once if that is a
 * few lines, otherwise line by line. */
INLINE void copy_long(char *restrict to, const char *restrict from, size_t n, const char *next)
{
    enum {
        FEW = 1024 /* bytes */
    };

    if (n >= FEW && n <= MIDDLING_MAX) {
        copy_middling(to, from, n, next);
        return;
    }
    for (size_t i = 0; i < n; i += LINE)
        __builtin_prefetch(next + i, 1);
    copy_some(to, from, n);
}

INLINE void long_grid_of(const struct copy_grid *grid, char *restrict user, char *restrict packed,
                         bool unpack)
{
    const size_t block = (size_t)grid->block;

    for (int64_t i = 0; i < grid->outer; i++) {
        char *at = user;
        user += grid->outer_stride;
        for (int64_t k = 1; k <= grid->inner; k++) {
            char *next = k < grid->inner ? at + grid->inner_stride : user;
            if (unpack)
                copy_long(at, packed, block, next);
            else
                copy_long(packed, at, block, packed + block);
            at = next;
            packed += block;
        }
    }
}

INLINE void pack_far_any(const struct copy_grid *grid, char *restrict user, char *restrict packed)
{
    const size_t block = (size_t)grid->block;

    if (block < SPANNING)
        pack_apart(grid, user, packed, block);
    else
        grid_of(grid, user, packed, block, false, true);
}

typedef void (*grid_fn)(const struct copy_grid *grid, char *user, char *packed);

#define GRID_FUNCTION(name, call)                                                   \
    static void grid_##name(const struct copy_grid *grid, char *user, char *packed) \
    {                                                                               \
        call;                                                                       \
    }
#define GRID(name, block, pack_far)                                               \
    GRID_FUNCTION(pack_##name, grid_of(grid, user, packed, block, false, false))  \
    GRID_FUNCTION(pack_far_##name, pack_far)                                      \
    GRID_FUNCTION(unpack_##name, grid_of(grid, user, packed, block, true, false)) \
    GRID_FUNCTION(unpack_far_##name, grid_of(grid, user, packed, block, true, true))
#define GRID_SHORT(n) GRID(n, n, pack_apart(grid, user, packed, n))
#define GRID_MORE(n)  GRID(n, n, grid_of(grid, user, packed, n, false, true))
FOR_SHORT(GRID_SHORT)
GRID_MORE(48)
GRID_MORE(64)
GRID(ANY, (size_t)grid->block, pack_far_any(grid, user, packed))
GRID_FUNCTION(pack_LONG, grid_of(grid, user, packed, (size_t)grid->block, false, false))
GRID_FUNCTION(unpack_LONG, grid_of(grid, user, packed, (size_t)grid->block, true, false))
GRID_FUNCTION(pack_far_LONG, long_grid_of(grid, user, packed, false))
GRID_FUNCTION(unpack_far_LONG, long_grid_of(grid, user, packed, true))

/* Whether packing for data far away pays. */
static bool is_pack_far(const struct copy_grid *grid)
{
    enum {
        APART = 512 /* bytes from line to line */
    };
    int64_t blocks = grid->outer * grid->inner;

    if (grid->block >= SPANNING)
        return blocks * grid->block > NEAR;
    return distance(grid) >= APART && blocks * LINE > AWAY;
}

/* The same for unpacking, which fetches one line for a block. Blocks that may lie in two lines, and
 * new pages, are left to the processor. */
static bool is_unpack_far(const struct copy_grid *grid)
{
    enum {
        MANY = 4 * AHEAD /* in a row */
    };
    int64_t lines = grid->outer * grid->inner * LINE, stride = distance(grid);

    if (stride < LINE || stride >= PAGE || grid->inner < MANY)
        return false;
    return stride % LINE ? grid->block <= 8 && lines > BEYOND : lines > NEAR;
}

static bool is_far(const struct copy_grid *grid, bool unpack)
{
    enum {
        LONGEST = 8192 /* row: longer ones would evict each other from the cache */
    };

    if (grid->block > 64)
        return grid->block <= LONGEST && grid->outer * grid->inner * grid->block > NEAR;
    return unpack ? is_unpack_far(grid) : is_pack_far(grid);
}

void copy_grid(uint8_t size_class, const struct copy_grid *grid, char *user, char *packed,
               bool unpack)
{
#define FUNCTIONS(n) \
    [CLASS_##n] = {{grid_pack_##n, grid_pack_far_##n}, {grid_unpack_##n, grid_unpack_far_##n}},
    static const grid_fn functions[CLASSES][2][2] = {FOR_CLASSES(FUNCTIONS) FUNCTIONS(ANY)
                                                         FUNCTIONS(LONG)};
#undef FUNCTIONS

    functions[size_class][unpack][is_far(grid, unpack)](grid, user, packed);
}

/* ---- lists ---- */

INLINE void list_of(const int64_t *offsets, int64_t count, char *restrict user,
                    char *restrict packed, size_t block, bool unpack)
{
    for (int64_t i = 0; i < count; i++) {
        copy_way((char *)((uintptr_t)user + (uintptr_t)offsets[i]), packed, block, unpack);
        packed += block;
    }
}

void copy_list(uint8_t size_class, int64_t block, const int64_t *offsets, int64_t count, char *user,
               char *packed, bool unpack)
{
#define CASE(n)                                              \
    case CLASS_##n:                                          \
        if (unpack)                                          \
            list_of(offsets, count, user, packed, n, true);  \
        else                                                 \
            list_of(offsets, count, user, packed, n, false); \
        break;
    switch (size_class) {
        FOR_CLASSES(CASE)
    default:
        if (unpack)
            list_of(offsets, count, user, packed, (size_t)block, true);
        else
            list_of(offsets, count, user, packed, (size_t)block, false);
    }
#undef CASE
}

INLINE void uneven_list_of(const int64_t *starts, const int64_t *offsets, int64_t count,
                           char *restrict user, char *restrict packed, bool unpack)
{
    for (int64_t i = 0; i < count; i++) {
        size_t block = (size_t)(starts[i + 1] - starts[i]);
        copy_way((char *)((uintptr_t)user + (uintptr_t)offsets[i]), packed, block, unpack);
        packed += block;
    }
}

void copy_uneven_list(const int64_t *starts, const int64_t *offsets, int64_t count, char *user,
                      char *packed, bool unpack)
{
    if (unpack)
        uneven_list_of(starts, offsets, count, user, packed, true);
    else
        uneven_list_of(starts, offsets, count, user, packed, false);
}

/* ---- arrays of structs ---- */

/* One column: count blocks, at different distances in user and packed memory. */
struct column {
    char *user, *packed;
    int64_t stride, size; /* distances */
    int64_t count;
};

INLINE void column_of(const struct column *column, size_t block, bool unpack)
{
    char *restrict user = column->user, *restrict packed = column->packed;
    const int64_t stride = column->stride, size = column->size;
    int64_t left = column->count;

    for (; left >= 4; left -= 4) { /* at four addresses of the same registers */
        copy_way(user, packed, block, unpack);
        copy_way(user + stride, packed + size, block, unpack);
        copy_way(user + 2 * stride, packed + 2 * size, block, unpack);
        copy_way(user + 3 * stride, packed + 3 * size, block, unpack);
        user += 4 * stride;
        packed += 4 * size;
    }
    for (; left; left--) {
        copy_way(user, packed, block, unpack);
        user += stride;
        packed += size;
    }
}

typedef void (*column_fn)(const struct column *column, int64_t block);

#define COLUMN(n)                                                              \
    static void column_pack_##n(const struct column *column, int64_t unused)   \
    {                                                                          \
        column_of(column, n, false);                                           \
    }                                                                          \
    static void column_unpack_##n(const struct column *column, int64_t unused) \
    {                                                                          \
        column_of(column, n, true);                                            \
    }
#define FOR_COLUMNS(each) \
    FOR_CLASSES(each) each(3) each(5) each(6) each(7) each(20) each(28) each(40)
FOR_COLUMNS(COLUMN)

static void column_pack_any(const struct column *column, int64_t block)
{
    column_of(column, (size_t)block, false);
}

static void column_unpack_any(const struct column *column, int64_t block)
{
    column_of(column, (size_t)block, true);
}

static column_fn column_function(int64_t block, bool unpack)
{
#define BOTH(n) [n] = {column_pack_##n, column_unpack_##n},
    static const column_fn functions[COPY_STRUCT_MAX + 1][2] = {FOR_COLUMNS(BOTH)};
#undef BOTH

    if (functions[block][unpack])
        return functions[block][unpack];
    return unpack ? column_unpack_any : column_pack_any;
}

/*
 * Column by column, so that each loop copies blocks of one known size. The array is cut, so that
 * its memory stays in the cache from column to column.
 */
void copy_columns(const struct copy_columns *columns, char *user, char *packed, bool unpack)
{
    enum {
        TURNS = 256
    };

    for (int64_t done = 0; done < columns->turns; done += TURNS) {
        int64_t left = columns->turns - done, start = 0;
        struct column column = {
            .stride = columns->stride, .size = columns->size, .count = left < TURNS ? left : TURNS};
        for (int64_t i = 0; i < columns->count; i++) {
            int64_t block =
                columns->block ? columns->block : columns->starts[i + 1] - columns->starts[i];
            column.user = (char *)((uintptr_t)user + (uintptr_t)columns->offsets[i]);
            column.packed = packed + start;
            column_function(block, unpack)(&column, block);
            start += block;
        }
        user = (char *)((uintptr_t)user + (uintptr_t)(column.count * columns->stride));
        packed += column.count * columns->size;
    }
}
