/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An even number of ranks, at most 8, on machines of two kinds, where rank r and r ^ 1 are of different ones: a ring,
 * all basic types both ways, derived ones, packed data, communicators, collectives, windows, and a file, whose name is the argument. Types that
 * hold long double are the matter of long_double.c. Run by mixed.sh.
 */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "check.h"

enum {
    MOST = 40000, /* elements: beyond what is sent eagerly */
    RANKS = 8,
    ALL = -1 /* the sum of all ranks */
};

static int rank, size, peer;
static bool memory_is_alike; /* in all processes */

/* Element i of a rank: right in any type, and their sum, too. */
static int value(int of, int i)
{
    int sum = 0;
    if (of != ALL)
        return (of * 7 + i) % 15;
    for (int r = 0; r < size; r++)
        sum += value(r, i);
    return sum;
}

/* ---- the types ---- */

#define TYPE(name, c, type, adds)                     \
    static void fill_##name(void *buf, int n, int of) \
    {                                                 \
        c *to = buf;                                  \
        for (int i = 0; i < n; i++)                   \
            to[i] = (c)value(of, i);                  \
    }
#include "types.inc"
#undef TYPE

static void exchange(MPI_Datatype type, size_t bytes, bool adds, void (*fill)(void *buf, int n, int of))
{
    char *own = malloc(MOST * bytes), *in = malloc(MOST * bytes), *due = malloc(MOST * bytes);
    CHECK(own && in && due);
    fill(own, MOST, rank);
    for (int n = 1; n <= MOST; n *= 200) {
        memset(in, 0, MOST * bytes);
        fill(due, n, peer);
        OK(MPI_Sendrecv(own, n, type, peer, 1, in, n, type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(!memcmp(in, due, (size_t)n * bytes));
    }
    for (int root = 0; root < size; root++) {
        fill(in, MOST, rank);
        fill(due, MOST, root);
        OK(MPI_Bcast(in, MOST, type, root, MPI_COMM_WORLD));
        CHECK(!memcmp(in, due, MOST * bytes));
    }
    if (adds) {
        fill(due, MOST, ALL);
        OK(MPI_Allreduce(own, in, MOST, type, MPI_SUM, MPI_COMM_WORLD));
        CHECK(!memcmp(in, due, MOST * bytes));
    }
    free(own);
    free(in);
    free(due);
}

/* Structures with gaps, and pairs of a value and where it is. */
static void derived(void)
{
    struct mixture {
        char letter;
        double real;
        short three[3];
        long whole;
    } out = {'a' + (char)rank, rank + .5, {(short)rank, -1, 300}, -5000000000L - rank}, in = {0};
    int lengths[] = {1, 1, 3, 1};
    MPI_Aint at[] = {offsetof(struct mixture, letter), offsetof(struct mixture, real), offsetof(struct mixture, three),
                     offsetof(struct mixture, whole)};
    MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG}, type;
    struct {
        double value;
        int at;
    } real = {rank * 1.5, rank}, most;
    OK(MPI_Type_create_struct(4, lengths, at, parts, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(&out, 1, type, peer, 2, &in, 1, type, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in.letter == 'a' + peer && in.real == peer + .5 && in.whole == -5000000000L - peer);
    CHECK(in.three[0] == peer && in.three[1] == -1 && in.three[2] == 300);
    OK(MPI_Type_free(&type));
    OK(MPI_Allreduce(&real, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(most.value == (size - 1) * 1.5 && most.at == size - 1);
}

/* What the peer has packed is passed on as it is, and the bytes of a number tell of the order. */
static void packed(void)
{
    struct {
        double real;
        int whole;
        short small;
    } out = {rank + .25, -7 - rank, (short)(rank + 300)}, in = {0};
    char bytes[64], theirs[64];
    int at = 0, number = 1, len, first[2], orders;
    OK(MPI_Pack(&out.real, 1, MPI_DOUBLE, bytes, sizeof(bytes), &at, MPI_COMM_WORLD));
    OK(MPI_Pack(&out.whole, 1, MPI_INT, bytes, sizeof(bytes), &at, MPI_COMM_WORLD));
    OK(MPI_Pack(&out.small, 1, MPI_SHORT, bytes, sizeof(bytes), &at, MPI_COMM_WORLD));
    len = at;
    for (int step = 0; step < 3; step++) { /* there, back as it came, and there again */
        OK(MPI_Sendrecv(bytes, len, MPI_PACKED, peer, 3, theirs, len, MPI_PACKED, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        memcpy(bytes, theirs, sizeof(bytes));
    }
    at = 0;
    OK(MPI_Unpack(bytes, len, &at, &in.real, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    OK(MPI_Unpack(bytes, len, &at, &in.whole, 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Unpack(bytes, len, &at, &in.small, 1, MPI_SHORT, MPI_COMM_WORLD));
    CHECK(in.real == peer + .25 && in.whole == -7 - peer && in.small == peer + 300);
    first[0] = *(char *)&number, first[1] = !first[0];
    OK(MPI_Allreduce(MPI_IN_PLACE, first, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    orders = first[0] + first[1];
    memory_is_alike = orders == 1;
}

/* Communicators whose members agree on contexts, colors and keys. */
static void communicators(void)
{
    MPI_Comm half, between, merged, some;
    MPI_Group all, group;
    int sum = 0, ranks[RANKS];
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half));
    CHECK(check_size(half) == 2 && check_rank(half) == (rank % 2 ? 0 : 1));
    if (size > 2) {
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank / 2 ? 1 : 3, 5, &between));
        if (rank < 4) {
            OK(MPI_Intercomm_merge(between, rank / 2, &merged));
            OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
            CHECK(sum == 6);
            OK(MPI_Comm_free(&merged));
        }
        OK(MPI_Comm_free(&between));
    }
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int r = 0; r < size; r++)
        ranks[r] = size - 1 - r;
    OK(MPI_Group_incl(all, size, ranks, &group));
    OK(MPI_Comm_create_from_group(group, "vireo.mixed", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &some));
    CHECK(check_rank(some) == size - 1 - rank);
    OK(MPI_Bcast(&sum, 1, MPI_INT, 0, some));
    OK(MPI_Comm_free(&some));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, &some));
    OK(MPI_Barrier(some));
    OK(MPI_Comm_free(&some));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
}

/* Partitions that are sent each by itself, and notices of an agreement. */
static void others(void)
{
    MPI_Request requests[2];
    double out[4], in[4] = {0};
    int flag = ~(1 << rank);
    for (int i = 0; i < 4; i++)
        out[i] = rank * 10 + i;
    OK(MPI_Psend_init(out, 4, 1, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Precv_init(in, 2, 2, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Startall(2, requests));
    for (int i = 0; i < 4; i++)
        OK(MPI_Pready(i, requests[0]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == peer * 10 + i);
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    OK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    CHECK(flag == ~((1 << size) - 1));
}

/* ---- calls ---- */

static void ring(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, token = 0;
    for (int round = 1; round <= 3; round++) {
        if (rank == 0)
            OK(MPI_Send(&token, 1, MPI_INT, right, round, MPI_COMM_WORLD));
        OK(MPI_Recv(&token, 1, MPI_INT, left, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (rank != 0) {
            token += rank;
            OK(MPI_Send(&token, 1, MPI_INT, right, round, MPI_COMM_WORLD));
        } else {
            CHECK(token == round * size * (size - 1) / 2);
        }
    }
}

static void collectives(void)
{
    int own[RANKS], in[RANKS], sum = size * (size - 1) / 2, one = -1;
    MPI_Request request;
    for (int r = 0; r < size; r++)
        own[r] = rank * 100 + r;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Alltoall(own, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        CHECK(in[r] == r * 100 + rank);
    OK(MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        CHECK(in[r] == r);
    OK(MPI_Gather(&rank, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD));
    CHECK(rank != 1 || in[size - 1] == size - 1);
    OK(MPI_Scatter(own, 1, MPI_INT, &one, 1, MPI_INT, 1, MPI_COMM_WORLD));
    CHECK(one == 100 + rank);
    OK(MPI_Reduce_scatter_block(own, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(one == sum * 100 + size * rank);
    OK(MPI_Scan(&rank, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(one == rank * (rank + 1) / 2);
    OK(MPI_Iallreduce(&rank, &one, 1, MPI_INT, MPI_BXOR, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(one == (size % 4 == 2 ? 1 : 0));
}

/* Types that mix numbers, rows, elements that come back, by locks. */
static void window_of_all(void)
{
    struct element {
        int whole;
        double real;
    } memory[8] = {{0}}, mine[3], back[3];
    int64_t ticket = 1, before = -1, compare = 0;
    int64_t *counter = NULL;
    int lengths[] = {1, 1};
    MPI_Aint at[] = {offsetof(struct element, whole), offsetof(struct element, real)};
    MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE}, type, whole;
    MPI_Win win, counts;
    OK(MPI_Type_create_struct(2, lengths, at, parts, &type));
    OK(MPI_Type_create_resized(type, 0, sizeof(struct element), &whole));
    OK(MPI_Type_commit(&whole));
    for (int i = 0; i < 3; i++)
        mine[i] = (struct element){rank * 10 + i, rank + i * .5};
    OK(MPI_Win_create(memory, sizeof(memory), sizeof(struct element), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win));
    OK(MPI_Put(mine, 3, whole, peer, 2, 3, whole, win));
    OK(MPI_Win_flush(peer, win));
    OK(MPI_Get(back, 3, whole, peer, 2, 3, whole, win));
    OK(MPI_Win_unlock(peer, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    for (int i = 0; i < 3; i++) {
        CHECK(memory[2 + i].whole == peer * 10 + i && memory[2 + i].real == peer + i * .5);
        CHECK(back[i].whole == mine[i].whole && back[i].real == mine[i].real);
    }
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate(sizeof(int64_t) * 2, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &counts));
    counter[0] = counter[1] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, counts));
    for (int target = 0; target < size; target++) {
        OK(MPI_Fetch_and_op(&ticket, &before, MPI_INT64_T, target, 0, MPI_SUM, counts));
        OK(MPI_Win_flush(target, counts));
        CHECK(before >= 0 && before < size);
    }
    before = -1;
    ticket = 0x0102030405060708 + rank;
    OK(MPI_Compare_and_swap(&ticket, &compare, &before, MPI_INT64_T, peer, 1, counts));
    OK(MPI_Win_flush(peer, counts));
    CHECK(before == 0);
    OK(MPI_Win_unlock_all(counts));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, counts));
    CHECK(counter[0] == size && counter[1] == 0x0102030405060708 + peer);
    OK(MPI_Win_unlock(rank, counts));
    OK(MPI_Win_free(&counts));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&whole));
}

static void window(void)
{
    double memory[2] = {0, 0}, mine = rank + .25;
    MPI_Win win;
    OK(MPI_Win_create(memory, sizeof(memory), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&mine, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, win));
    OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memory[0] == peer + .25);
    CHECK(rank || memory[1] == size * (size - 1) / 2 + size * .25);
    OK(MPI_Win_free(&win));
}

/* As it lies in memory, by a collective: where orders differ each reads its own. Then in representations that all
 * machines read: internal, and external32, long double also. */
static void file(const char *name)
{
    int own[1000], in[1000], from = memory_is_alike ? peer : rank;
    long double real = rank + 1.5L, back = 0;
    MPI_File f;
    for (int i = 0; i < 1000; i++)
        own[i] = value(rank, i);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, rank * (MPI_Offset)sizeof(own), own, 1000, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, from * (MPI_Offset)sizeof(own), in, 1000, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < 1000; i++)
        CHECK(in[i] == value(from, i));
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, rank * 1000, own, 1000, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, peer * 1000, in, 1000, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < 1000; i++)
        CHECK(in[i] == value(peer, i));
    OK(MPI_File_set_view(f, 0, MPI_LONG_DOUBLE, MPI_LONG_DOUBLE, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at(f, rank, &real, 1, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at(f, peer, &back, 1, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
    CHECK(back == peer + 1.5L);
    OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    int types = 0;
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    peer = rank ^ 1;
    CHECK(argc == 2 && size % 2 == 0 && size <= RANKS);
    ring();
#define TYPE(name, c, type, adds) exchange(type, sizeof(c), adds, fill_##name), types++;
#include "types.inc"
    derived();
    packed();
    communicators();
    others();
    collectives();
    window();
    window_of_all();
    file(argv[1]);
    OK(MPI_Finalize());
    if (rank == 0)
        printf("%d ranks: a ring, %d types, collectives, a window, a file\n", size, types);
    return 0;
}
