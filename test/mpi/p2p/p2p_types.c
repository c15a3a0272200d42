/* SPDX-License-Identifier: BSD-3-Clause */

/* Derived types by every protocol: data with gaps to data without, the other way round, and
 * to data with other gaps; alone, and several long messages at once. */
#include <string.h>

#include "pattern.h"

enum {
    MOST = 1 << 20,
    LINES = 3
};

/* Ways to lay out the same bytes: as they are, in blocks of 7 of every 10, in blocks of 64 with
 * gaps of their size, and in two halves that are swapped. */
enum {
    LAYOUTS = 4
};

static int extent_of(int layout, int len)
{
    static const int times[] = {1, 2, 2, 2};
    return len * times[layout] + 128;
}

/* Where byte i of the data lies. */
static int place_of(int layout, int len, int i)
{
    switch (layout) {
    case 1: return i / 7 * 10 + i % 7;
    case 2: return i / 64 * 128 + i % 64;
    case 3: return i < len / 2 ? len - len / 2 + 16 + i : i - len / 2;
    default: return i;
    }
}

static MPI_Datatype type_of(int layout, int len)
{
    MPI_Datatype type, whole;
    int block = layout == 1 ? 7 : 64, step = layout == 1 ? 10 : 128;
    if (layout == 0) {
        OK(MPI_Type_contiguous(len, MPI_BYTE, &type));
    } else if (layout == 3) {
        int lengths[2] = {len / 2, len - len / 2}, at[2] = {len - len / 2 + 16, 0};
        OK(MPI_Type_indexed(2, lengths, at, MPI_BYTE, &type));
    } else {
        int lengths[2] = {1, len % block};
        MPI_Aint at[2] = {0, (MPI_Aint)(len / block) * step};
        OK(MPI_Type_vector(len / block, block, step, MPI_BYTE, &whole));
        MPI_Datatype parts[2] = {whole, MPI_BYTE};
        OK(MPI_Type_create_struct(2, lengths, at, parts, &type));
        OK(MPI_Type_free(&whole));
    }
    OK(MPI_Type_commit(&type));
    return type;
}

static void put(char *area, int layout, int len, uint32_t seed)
{
    memset(area, 0x3c, (size_t)extent_of(layout, len));
    for (int i = 0; i < len; i++)
        area[place_of(layout, len, i)] = (char)pattern_byte(seed, (size_t)i);
}

/* Every byte of the data, and, by taking them away, that all others are as they were. */
static void verify(char *area, int layout, int len, uint32_t seed)
{
    for (int i = 0; i < len; i++) {
        char *byte = &area[place_of(layout, len, i)];
        CHECK(*byte == (char)pattern_byte(seed, (size_t)i));
        *byte = 0x3c;
    }
    CHECK(pattern_all(area, (size_t)extent_of(layout, len), 0x3c));
}

/* how: 0: the receive comes first; 1: the message does; 2: synchronous. */
static void pass(int len, int here, int there, int how, int to, int from)
{
    MPI_Datatype out_type = type_of(here, len), in_type = type_of(there, len);
    MPI_Request requests[2 * LINES];
    char *out[LINES], *in[LINES];
    for (int i = 0; i < LINES; i++) {
        out[i] = pattern_alloc((size_t)extent_of(here, len));
        in[i] = pattern_alloc((size_t)extent_of(there, len));
        put(out[i], here, len, (uint32_t)(len + i));
        memset(in[i], 0x3c, (size_t)extent_of(there, len));
        if (how != 1)
            OK(MPI_Irecv(in[i], 1, in_type, from, i, MPI_COMM_WORLD, &requests[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < LINES; i++)
        OK((how == 2 ? MPI_Issend : MPI_Isend)(out[i], 1, out_type, to, i, MPI_COMM_WORLD,
                                               &requests[LINES + i]));
    OK(MPI_Type_free(&out_type));
    if (how == 1) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = LINES - 1; i >= 0; i--)
            OK(MPI_Irecv(in[i], 1, in_type, from, i, MPI_COMM_WORLD, &requests[i]));
    }
    OK(MPI_Type_free(&in_type));
    OK(MPI_Waitall(2 * LINES, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LINES; i++) {
        verify(in[i], there, len, (uint32_t)(len + i));
        free(out[i]);
        free(in[i]);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {20, 100, 700, 5000, 20000, 100000, MOST};
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        for (int i = 0; i < 7; i++)
            for (int here = 0; here < LAYOUTS; here++)
                for (int there = 0; there < LAYOUTS; there++)
                    if (sizes[i] < MOST || here + there == 3 || here == there)
                        pass(sizes[i], here, there, (here + there + i) % 3, to, from);
    }
    OK(MPI_Finalize());
    return 0;
}
