/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packing and unpacking next to loops written by hand for each layout: GB/s of both, and the ratio
 * of times, best of interleaved repetitions. Both work in the same memory, about half a megabyte.
 *
 * usage: bench_pack [REPETITIONS]
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

#include "mpi/type/type.h"

enum {
    MEMORY = 8 << 20,
    DATA = 512 << 10,
    N = 40
};

static char *user, *packed;
static int repetitions = 200;
static int worst; /* percent */

struct record {
    int a;
    double b;
    char c[3];
};

enum {
    RECORDS = DATA / 15
};

/* ---- by hand ---- */

/* Half of a row of 2 * block doubles, row by row. */
static inline __attribute__((always_inline)) void rows(size_t block, int unpack)
{
    double *from = (double *)user, *to = (double *)packed;
    size_t n = DATA / (8 * block);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < block; k++) {
            if (unpack)
                from[i * 2 * block + k] = to[i * block + k];
            else
                to[i * block + k] = from[i * 2 * block + k];
        }
    }
}

#define ROWS(n)                       \
    static void pack_rows_##n(void)   \
    {                                 \
        rows(n, 0);                   \
    }                                 \
    static void unpack_rows_##n(void) \
    {                                 \
        rows(n, 1);                   \
    }
ROWS(1)
ROWS(2)
ROWS(3)
ROWS(8)
ROWS(64)
ROWS(1000)

static void pack_records(void)
{
    const struct record *from = (struct record *)user;
    char *to = packed;

    for (int i = 0; i < RECORDS; i++, to += 15) {
        memcpy(to, &from[i].a, 4);
        memcpy(to + 4, &from[i].b, 8);
        memcpy(to + 12, from[i].c, 3);
    }
}

static void unpack_records(void)
{
    struct record *to = (struct record *)user;
    const char *from = packed;

    for (int i = 0; i < RECORDS; i++, from += 15) {
        memcpy(&to[i].a, from, 4);
        memcpy(&to[i].b, from + 4, 8);
        memcpy(to[i].c, from + 12, 3);
    }
}

/* Faces of a cube of N * N * N doubles, of FACES cubes: one index is fixed. */
enum {
    FACES = 12
};

static inline __attribute__((always_inline)) void face(int step_i, int step_k, int unpack)
{
    double *to = (double *)packed;

    for (int f = 0; f < FACES; f++) {
        double *cube = (double *)user + f * N * N * N;
        for (int i = 0; i < N; i++) {
            for (int k = 0; k < N; k++, to++) {
                if (unpack)
                    cube[i * step_i + k * step_k] = *to;
                else
                    *to = cube[i * step_i + k * step_k];
            }
        }
    }
}

static void pack_face_z(void)
{
    face(N * N, N, 0);
}

static void unpack_face_z(void)
{
    face(N * N, N, 1);
}

static void pack_face_y(void)
{
    face(N * N, 1, 0);
}

static void unpack_face_y(void)
{
    face(N * N, 1, 1);
}

/* Small blocks of doubles anywhere. */
enum {
    BLOCKS = 20000
};
static int lengths[BLOCKS], places[BLOCKS];

static void pack_blocks(void)
{
    const double *from = (double *)user;
    double *to = (double *)packed;

    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < lengths[i]; k++)
            *to++ = from[places[i] + k];
    }
}

static void unpack_blocks(void)
{
    const double *from = (double *)packed;
    double *to = (double *)user;

    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < lengths[i]; k++)
            to[places[i] + k] = *from++;
    }
}

static void pack_equal_blocks(void)
{
    const double *from = (double *)user;
    double *to = (double *)packed;

    for (int i = 0; i < BLOCKS; i++, to += 2) {
        to[0] = from[places[i]];
        to[1] = from[places[i] + 1];
    }
}

static void unpack_equal_blocks(void)
{
    const double *from = (double *)packed;
    double *to = (double *)user;

    for (int i = 0; i < BLOCKS; i++, from += 2) {
        to[places[i]] = from[0];
        to[places[i] + 1] = from[1];
    }
}

/* Three loops: 4 planes of 20 rows of 100 single doubles, of which every second. */
static inline __attribute__((always_inline)) void nest(int unpack)
{
    double *to = (double *)packed;

    for (int f = 0; f < 8; f++) {
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 20; j++) {
                double *row = (double *)user + f * 20000 + i * 5000 + j * 220;
                for (int k = 0; k < 100; k++, to++) {
                    if (unpack)
                        row[2 * k] = *to;
                    else
                        *to = row[2 * k];
                }
            }
        }
    }
}

static void pack_nest(void)
{
    nest(0);
}

static void unpack_nest(void)
{
    nest(1);
}

/* ---- as datatypes ---- */

static MPI_Datatype rows_type(int block)
{
    MPI_Datatype type;

    PMPI_Type_vector((int)(DATA / 8) / block, block, 2 * block, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype record_type(void)
{
    MPI_Datatype type, types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    int lens[3] = {1, 1, 3};
    MPI_Aint at[3] = {0, 8, 16};

    PMPI_Type_create_struct(3, lens, at, types, &type);
    return type;
}

static MPI_Datatype face_type(int x, int y, int z)
{
    MPI_Datatype type;

    PMPI_Type_create_subarray(3, (int[]){N, N, N}, (int[]){x, y, z}, (int[]){0, 0, 0}, MPI_ORDER_C,
                              MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype blocks_type(int equal)
{
    MPI_Datatype type;

    for (int i = 0, at = 0; i < BLOCKS; i++) {
        lengths[i] = 1 + rand() % 5;
        places[i] = at;
        at += 6 + rand() % 10;
    }
    if (equal)
        PMPI_Type_create_indexed_block(BLOCKS, 2, places, MPI_DOUBLE, &type);
    else
        PMPI_Type_indexed(BLOCKS, lengths, places, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype nest_type(void)
{
    MPI_Datatype row, plane, cube, type;

    PMPI_Type_vector(100, 1, 2, MPI_DOUBLE, &row);
    PMPI_Type_create_hvector(20, 1, 220 * 8, row, &plane);
    PMPI_Type_create_hvector(4, 1, 5000 * 8, plane, &cube);
    PMPI_Type_create_resized(cube, 0, 20000 * 8, &type);
    return type;
}

/* ---- timing ---- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double timed(void (*run)(void))
{
    double start = now();

    run();
    __asm__ volatile("" ::: "memory");
    return now() - start;
}

static struct mpid_bytes place;

static void pack_type(void)
{
    type_pack(&place, 0, packed, place.len);
}

static void unpack_type(void)
{
    type_unpack(&place, 0, packed, place.len);
}

static void compare(const char *name, const char *way, void (*hand)(void), void (*ours)(void))
{
    double best_hand = 1, best_ours = 1;

    for (int i = 0; i < repetitions; i++) {
        double h = timed(hand), o = timed(ours);
        best_hand = h < best_hand ? h : best_hand;
        best_ours = o < best_ours ? o : best_ours;
    }
    double ratio = best_ours / best_hand;
    if ((int)(ratio * 100) > worst)
        worst = (int)(ratio * 100);
    printf("%-16s %-7s %7.2f GB/s by hand, %7.2f as a type: %.2f of the time\n", name, way,
           (double)place.len / best_hand / 1e9, (double)place.len / best_ours / 1e9, ratio);
}

static void measure(const char *name, MPI_Datatype type, int count, void (*pack)(void),
                    void (*unpack)(void))
{
    struct type *used;

    PMPI_Type_commit(&type);
    if (type_place(type, user, count, &place, &used)) {
        fprintf(stderr, "%s: no place\n", name);
        exit(1);
    }
    compare(name, "pack", pack, pack_type);
    compare(name, "unpack", unpack, unpack_type);
    PMPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        repetitions = atoi(argv[1]);
    user = aligned_alloc(64, MEMORY);
    packed = aligned_alloc(64, MEMORY);
    if (!user || !packed || type_init())
        return 1;
    memset(user, 1, MEMORY);
    memset(packed, 2, MEMORY);
    measure("vector 1", rows_type(1), 1, pack_rows_1, unpack_rows_1);
    measure("vector 2", rows_type(2), 1, pack_rows_2, unpack_rows_2);
    measure("vector 3", rows_type(3), 1, pack_rows_3, unpack_rows_3);
    measure("vector 8", rows_type(8), 1, pack_rows_8, unpack_rows_8);
    measure("vector 64", rows_type(64), 1, pack_rows_64, unpack_rows_64);
    measure("vector 1000", rows_type(1000), 1, pack_rows_1000, unpack_rows_1000);
    measure("struct", record_type(), RECORDS, pack_records, unpack_records);
    measure("face z", face_type(N, N, 1), FACES, pack_face_z, unpack_face_z);
    measure("face y", face_type(N, 1, N), FACES, pack_face_y, unpack_face_y);
    measure("indexed", blocks_type(0), 1, pack_blocks, unpack_blocks);
    measure("indexed block 2", blocks_type(1), 1, pack_equal_blocks, unpack_equal_blocks);
    measure("nested", nest_type(), 8, pack_nest, unpack_nest);
    printf("worst ratio %d.%02d\n", worst / 100, worst % 100);
    return 0;
}
