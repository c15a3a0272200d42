/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Datatypes beside loops written by hand: packing, unpacking, and a ping-pong between two places
 * laid out alike, in one-way microseconds. The limit of the ping-pong is the same loops with a
 * message of bytes between them.
 *
 * The loops know their sizes when they are compiled, and are compiled as well as the compiler
 * can. --ops names layouts, with "-" for blanks. Run with two ranks.
 */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "bench.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG = 1,
    MEMORY = 20 << 20,
    DATA = 512 << 10, /* bytes in a message, more or less */
    N = 128,          /* of a cube */
    BLOCKS = 20000
};

#define INLINE static inline __attribute__((always_inline))

struct record {
    int a;
    double b;
    char c[3];
};

enum {
    RECORDS = DATA / 15
};

static int lengths[BLOCKS], places[BLOCKS];

/* ---- by hand ---- */

INLINE void move(double *user, double *packed, bool unpack)
{
    if (unpack)
        *user = *packed;
    else
        *packed = *user;
}

/* The first half of each row of 2 * block doubles. */
INLINE void rows(char *user, char *packed, size_t block, bool unpack)
{
    double *at = (double *)user, *to = (double *)packed;

    for (size_t i = 0; i < DATA / (8 * block); i++) {
        for (size_t k = 0; k < block; k++)
            move(&at[2 * block * i + k], &to[block * i + k], unpack);
    }
}

INLINE void records(char *user, char *packed, bool unpack)
{
    struct record *at = (struct record *)user;

    for (int i = 0; i < RECORDS; i++, packed += 15) {
        if (unpack) {
            memcpy(&at[i].a, packed, 4);
            memcpy(&at[i].b, packed + 4, 8);
            memcpy(at[i].c, packed + 12, 3);
        } else {
            memcpy(packed, &at[i].a, 4);
            memcpy(packed + 4, &at[i].b, 8);
            memcpy(packed + 12, at[i].c, 3);
        }
    }
}

/* The face of a cube: two indices run, with these steps. */
INLINE void face(char *user, char *packed, size_t slow, size_t fast, bool unpack)
{
    double *at = (double *)user, *to = (double *)packed;

    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < N; k++)
            move(&at[i * slow + k * fast], &to[i * N + k], unpack);
    }
}

INLINE void blocks(char *user, char *packed, bool unpack)
{
    double *at = (double *)user, *to = (double *)packed;

    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < lengths[i]; k++)
            move(&at[places[i] + k], to++, unpack);
    }
}

#define BY_HAND(name, call)                                 \
    static void name(char *user, char *packed, bool unpack) \
    {                                                       \
        if (unpack)                                         \
            call(true);                                     \
        else                                                \
            call(false);                                    \
    }
#define ROWS_1(way)     rows(user, packed, 1, way)
#define ROWS_8(way)     rows(user, packed, 8, way)
#define ROWS_64(way)    rows(user, packed, 64, way)
#define ROWS_1000(way)  rows(user, packed, 1000, way)
#define RECORDS_OF(way) records(user, packed, way)
#define FACE_X(way)     face(user, packed, N, 1, way)
#define FACE_Y(way)     face(user, packed, (size_t)N *N, 1, way)
#define FACE_Z(way)     face(user, packed, (size_t)N *N, N, way)
#define BLOCKS_OF(way)  blocks(user, packed, way)
BY_HAND(rows_1, ROWS_1)
BY_HAND(rows_8, ROWS_8)
BY_HAND(rows_64, ROWS_64)
BY_HAND(rows_1000, ROWS_1000)
BY_HAND(all_records, RECORDS_OF)
BY_HAND(face_x, FACE_X)
BY_HAND(face_y, FACE_Y)
BY_HAND(face_z, FACE_Z)
BY_HAND(all_blocks, BLOCKS_OF)

/* ---- as datatypes ---- */

static MPI_Datatype rows_type(int block)
{
    MPI_Datatype type;

    MPI_Type_vector(DATA / 8 / block, block, 2 * block, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype record_type(int unused)
{
    MPI_Datatype type, types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    int counts[3] = {1, 1, 3};
    MPI_Aint at[3] = {0, 8, 16};

    (void)unused;
    MPI_Type_create_struct(3, counts, at, types, &type);
    return type;
}

/* fixed: the index that does not run. */
static MPI_Datatype face_type(int fixed)
{
    int sizes[3] = {N, N, N}, subsizes[3] = {N, N, N}, starts[3] = {0, 0, 0};
    MPI_Datatype type;

    subsizes[fixed] = 1;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype blocks_type(int unused)
{
    MPI_Datatype type;
    unsigned seed = 1;

    (void)unused;
    for (int i = 0, at = 0; i < BLOCKS; i++) {
        lengths[i] = 1 + rand_r(&seed) % 5;
        places[i] = at;
        at += 6 + rand_r(&seed) % 10;
    }
    MPI_Type_indexed(BLOCKS, lengths, places, MPI_DOUBLE, &type);
    return type;
}

static const struct layout {
    const char *name;
    void (*hand)(char *user, char *packed, bool unpack);
    MPI_Datatype (*type)(int argument);
    int argument, count;
} layouts[] = {
    {"vector of 1", rows_1, rows_type, 1, 1},
    {"vector of 8", rows_8, rows_type, 8, 1},
    {"vector of 64", rows_64, rows_type, 64, 1},
    {"vector of 1000", rows_1000, rows_type, 1000, 1},
    {"structs", all_records, record_type, 0, RECORDS},
    {"face x", face_x, face_type, 0, 1},
    {"face y", face_y, face_type, 1, 1},
    {"face z", face_z, face_type, 2, 1},
    {"indexed", all_blocks, blocks_type, 0, 1},
};

/* ---- ways ---- */

struct work {
    const struct layout *layout;
    MPI_Datatype type;
    int rank, size; /* of the packed data */
    char *user, *packed;
};

static void hand_pack(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; w->rank == 0 && i < count; i++)
        w->layout->hand(w->user, w->packed, false);
}

static void hand_unpack(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; w->rank == 0 && i < count; i++)
        w->layout->hand(w->user, w->packed, true);
}

static void mpi_pack(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; w->rank == 0 && i < count; i++) {
        int at = 0;
        MPI_Pack(w->user, w->layout->count, w->type, w->packed, DATA, &at, MPI_COMM_SELF);
    }
}

static void mpi_unpack(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; w->rank == 0 && i < count; i++) {
        int at = 0;
        MPI_Unpack(w->packed, DATA, &at, w->user, w->layout->count, w->type, MPI_COMM_SELF);
    }
}

static void hand_send(const struct work *w)
{
    w->layout->hand(w->user, w->packed, false);
    MPI_Send(w->packed, w->size, MPI_BYTE, 1 - w->rank, TAG, MPI_COMM_WORLD);
}

static void hand_recv(const struct work *w)
{
    MPI_Recv(w->packed, w->size, MPI_BYTE, 1 - w->rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    w->layout->hand(w->user, w->packed, true);
}

static void hand_pingpong(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; w->rank < 2 && i < count; i++) {
        if (w->rank == 0)
            hand_send(w);
        hand_recv(w);
        if (w->rank == 1)
            hand_send(w);
    }
}

static void mpi_pingpong(void *arg, int count)
{
    struct work *w = arg;
    int elements = w->layout->count, other = 1 - w->rank;

    for (int i = 0; w->rank < 2 && i < count; i++) {
        if (w->rank == 0)
            MPI_Send(w->user, elements, w->type, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(w->user, elements, w->type, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (w->rank == 1)
            MPI_Send(w->user, elements, w->type, other, TAG, MPI_COMM_WORLD);
    }
}

/* ---- measuring ---- */

/* Both ways give the same bytes, else there is nothing to compare. */
static void verify(struct work *w)
{
    char *other = malloc(DATA), *user = malloc(MEMORY);
    int at = 0;

    if (!other || !user)
        bench_fail("malloc");
    for (size_t i = 0; i < MEMORY; i++)
        w->user[i] = (char)(i * 31 ^ i >> 9);
    w->layout->hand(w->user, other, false);
    MPI_Pack(w->user, w->layout->count, w->type, w->packed, DATA, &at, MPI_COMM_SELF);
    if (at != w->size || memcmp(w->packed, other, (size_t)at))
        bench_fail("the datatype packs other bytes than the loop");
    memset(w->user, 0, MEMORY);
    w->layout->hand(w->user, other, true);
    memcpy(user, w->user, MEMORY);
    memset(w->user, 0, MEMORY);
    at = 0;
    MPI_Unpack(w->packed, DATA, &at, w->user, w->layout->count, w->type, MPI_COMM_SELF);
    if (memcmp(w->user, user, MEMORY))
        bench_fail("the datatype unpacks to other bytes than the loop");
    free(other);
    free(user);
}

static void measure(const struct bench_options *o, struct work *w)
{
    const struct bench_way ways[] = {
        {"pack by hand", "us", BENCH_TIME, 1e-3, hand_pack, w, BENCH_RAW},
        {"pack", "us", BENCH_TIME, 1e-3, mpi_pack, w, 0},
        {"unpack by hand", "us", BENCH_TIME, 1e-3, hand_unpack, w, BENCH_RAW},
        {"unpack", "us", BENCH_TIME, 1e-3, mpi_unpack, w, 2},
        {"send packed by hand", "us", BENCH_TIME, 0.5e-3, hand_pingpong, w, BENCH_NO_LIMIT},
        {"send", "us", BENCH_TIME, 0.5e-3, mpi_pingpong, w, 4},
    };

    w->type = w->layout->type(w->layout->argument);
    MPI_Type_commit(&w->type);
    MPI_Type_size(w->type, &w->size);
    w->size *= w->layout->count;
    verify(w);
    bench_interleave(o, w->layout->name, ways, 6);
    MPI_Type_free(&w->type);
}

/* Whether --ops names a layout, blanks as "-". */
static bool is_wanted(const struct bench_options *o, const char *name)
{
    char word[64], list[256];

    if (!o->ops)
        return true;
    snprintf(word, sizeof word, ",%s,", name);
    for (char *c = word; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    snprintf(list, sizeof list, ",%s,", o->ops);
    return strstr(list, word) != NULL;
}

int main(int argc, char **argv)
{
    struct bench_options o = {0};
    struct work w;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    w.user = bench_alloc(MEMORY, false);
    w.packed = bench_alloc(DATA, false);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        w.layout = &layouts[i];
        if (is_wanted(&o, layouts[i].name))
            measure(&o, &w);
    }
    bench_free(w.user, MEMORY);
    bench_free(w.packed, DATA);
    MPI_Finalize();
    return 0;
}
