/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every collective algorithm against what MPI says of the collective, written down naively: on 1
 * to 9 processes, with random datatypes (gaps, lower bounds, backwards), counts and roots, in
 * place or not, messages coming in random order. All bytes of all buffers are compared, so
 * that a write between elements is found too.
 *
 * usage: test_coll [SEED [ROUNDS]]; a failure prints the seed of its round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpi.h>

#include "fake_p2p.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

enum { RANKS = 9, BYTES = 16 * 1024, BASE = 6 * 1024, TYPES = 8 };

static uint64_t state;
static uint64_t first_seed = 1;
static int rounds = 20;

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) % below);
}

/* ---- datatypes: all of ints ---- */

static struct {
    MPI_Datatype type;
    int ints; /* in an element */
} types[TYPES];

static void make_types(void)
{
    MPI_Count ones[] = {1, 1}, apart[] = {12, 4}, behind[] = {20};
    MPI_Datatype t;
    types[0].type = MPI_INT;
    PMPI_Type_vector_c(2, 1, 3, MPI_INT, &types[1].type);
    PMPI_Type_vector_c(2, 1, 2, MPI_INT, &t);
    PMPI_Type_create_resized_c(t, -8, 24, &types[2].type);
    PMPI_Type_free(&t);
    PMPI_Type_contiguous_c(4, MPI_INT, &types[3].type);
    PMPI_Type_create_resized_c(MPI_INT, 0, 12, &types[4].type);
    PMPI_Type_create_hindexed_c(2, ones, apart, MPI_INT, &types[5].type);
    PMPI_Type_contiguous_c(2, MPI_INT, &t);
    PMPI_Type_create_resized_c(t, 0, -16, &types[6].type);
    PMPI_Type_free(&t);
    PMPI_Type_create_hindexed_c(1, ones, behind, MPI_INT, &types[7].type);
    for (int i = 0; i < TYPES; i++) {
        types[i].ints = (int)(coll_size(types[i].type) / (MPI_Count)sizeof(int));
        if (i > 0)
            assert_int_equal(PMPI_Type_commit(&types[i].type), MPI_SUCCESS);
    }
}

static void free_types(void)
{
    for (int i = 1; i < TYPES; i++)
        PMPI_Type_free(&types[i].type);
}

/* ---- operations ---- */

static void pack(const void *buf, MPI_Count count, MPI_Datatype type, int *ints)
{
    struct mpid_bytes bytes;
    struct type *used;
    assert_int_equal(type_place(type, buf, count, &bytes, &used), 0);
    type_pack(&bytes, 0, ints, bytes.len);
}

static void unpack(void *buf, MPI_Count count, MPI_Datatype type, const int *ints)
{
    struct mpid_bytes bytes;
    struct type *used;
    assert_int_equal(type_place(type, buf, count, &bytes, &used), 0);
    type_unpack(&bytes, 0, ints, bytes.len);
}

/* Pairs (a, b) are x -> a x + b; a pair of pairs is one after the other: this does not commute. */
static void compose(const unsigned *first, unsigned *second)
{
    second[1] = second[0] * first[1] + second[1];
    second[0] = first[0] * second[0];
}

static void apply(int commutes, void *in, void *inout, MPI_Count count, MPI_Datatype type)
{
    size_t n = (size_t)(count * coll_size(type)) / sizeof(int);
    unsigned *a = malloc(n * sizeof(int) + 1), *b = malloc(n * sizeof(int) + 1);
    pack(in, count, type, (int *)a);
    pack(inout, count, type, (int *)b);
    for (size_t i = 0; i < n; i += commutes ? 1 : 2) {
        if (commutes)
            b[i] += a[i];
        else
            compose(&a[i], &b[i]);
    }
    unpack(inout, count, type, (int *)b);
    free(a);
    free(b);
}

static void add_all(void *in, void *inout, int *len, MPI_Datatype *type)
{
    apply(1, in, inout, *len, *type);
}

static void compose_all(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    apply(0, in, inout, *len, *type);
}

static struct op *user_sum, *user_compose;

/* ---- the processes ---- */

struct data {
    char *mem;  /* BYTES */
    char *base; /* somewhere in the middle */
};

static int size;
static struct comm comms[RANKS];
static struct coll calls[RANKS];
static struct data sends[RANKS], recvs[RANKS], wants[RANKS], befores[RANKS];

static void fill(struct data *data)
{
    data->mem = malloc(BYTES);
    data->base = data->mem + BASE;
    for (int i = 0; i < BYTES; i += 4) {
        uint32_t some = draw(1u << 31);
        memcpy(data->mem + i, &some, 4);
    }
}

static void set_up(enum coll_kind kind, int root)
{
    uint32_t tag = draw(UINT32_MAX);
    for (int i = 0; i < size; i++) {
        comms[i].rank = i;
        comms[i].size = comms[i].peers = size;
        comms[i].context = 6;
        comms[i].coll_tag = tag;
        fill(&sends[i]);
        fill(&recvs[i]);
        fill(&wants[i]);
        fill(&befores[i]);
        calls[i] = (struct coll){.kind = kind, .root = root, .comm = &comms[i]};
        calls[i].send.buf = sends[i].base;
        calls[i].recv.buf = recvs[i].base;
    }
}

/* Take what is in all buffers now as what shall be there. Expectations are written to wants
 * after this. */
static void expect_unchanged(void)
{
    for (int i = 0; i < size; i++) {
        memcpy(wants[i].mem, recvs[i].mem, BYTES);
        memcpy(befores[i].mem, sends[i].mem, BYTES);
    }
}

/* Run all of the schedules, in random steps. */
static void run_all(coll_fn fn)
{
    struct sched *s[RANKS];
    bool over[RANKS] = {false};
    for (int i = 0; i < size; i++) {
        s[i] = malloc(sizeof(**s));
        sched_init(s[i], &comms[i], calls[i].op);
        coll_fn chosen = fn ? fn : coll_choose(&calls[i]);
        assert_true(fn || chosen == coll_choose(&calls[0]));
        chosen(s[i], &calls[i]);
    }
    for (int left = size; left > 0;) {
        bool delivered = draw(2) && fake_p2p_deliver();
        int i = (int)draw((uint32_t)size);
        if (!over[i] && sched_advance(s[i]))
            over[i] = true, left--;
        if (delivered)
            continue;
        for (int j = 0; j < size; j++)
            if (!over[j] && sched_advance(s[j]))
                over[j] = true, left--;
        assert_true(left == 0 || fake_p2p_deliver()); /* else nothing can go on */
    }
    assert_true(fake_p2p_is_empty());
    for (int i = 0; i < size; i++) {
        assert_int_equal(s[i]->error, MPI_SUCCESS);
        assert_false(s[i]->broken);
        sched_fini(s[i]);
        free(s[i]);
    }
}

static void run(coll_fn fn)
{
    run_all(fn);
    for (int i = 0; i < size; i++) {
        assert_memory_equal(recvs[i].mem, wants[i].mem, BYTES);
        assert_memory_equal(sends[i].mem, befores[i].mem, BYTES);
        free(sends[i].mem);
        free(recvs[i].mem);
        free(wants[i].mem);
        free(befores[i].mem);
    }
}

/* ---- blocks ---- */

/* ints says how many ints of data a block has: a multiple of 4, so that any type will do. */
static int any_ints(void)
{
    return 4 * (int)draw(6);
}

static int any_type(void)
{
    return (int)draw(TYPES);
}

static void set_data(struct coll_data *data, int ints)
{
    int i = any_type();
    data->type = types[i].type;
    data->count = ints / types[i].ints;
}

static void *at(void *base, int64_t elements, MPI_Datatype type)
{
    return (char *)base + elements * type_from(type)->extent;
}

static MPI_Count counts[RANKS][2][RANKS];
static MPI_Aint displs[RANKS][2][RANKS];
static MPI_Datatype block_types[RANKS][2][RANKS];

/* Lay out uneven blocks, in random order, with room between them: 1 type, or one for each. */
static void set_blocks(struct coll_data *data, int owner, int which, const int *ints, bool bytes)
{
    int type = any_type(), order[RANKS] = {0};
    int64_t next = 0;
    for (int i = 0; i < size; i++) {
        int j = (int)draw((uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    data->type = bytes ? MPI_DATATYPE_NULL : types[type].type;
    data->counts = counts[owner][which];
    data->displs = displs[owner][which];
    data->types = bytes ? block_types[owner][which] : NULL;
    for (int i = 0; i < size; i++) {
        int k = order[i];
        if (bytes)
            type = any_type();
        block_types[owner][which][k] = types[type].type;
        counts[owner][which][k] = ints[k] / types[type].ints;
        displs[owner][which][k] = next;
        next += bytes ? 24 * counts[owner][which][k] + 48 : counts[owner][which][k] + 2;
        if (bytes && type_from(types[type].type)->extent < 0)
            displs[owner][which][k] += 16 * counts[owner][which][k];
    }
}

/* One block, as MPI has it, of data that lie at base. */
struct block {
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
};

static struct block block_of(const struct coll_data *data, void *base, int i)
{
    MPI_Datatype type = data->types ? data->types[i] : data->type;
    MPI_Count count = data->counts ? data->counts[i] : data->count;
    if (data->types)
        return (struct block){(char *)base + data->displs[i], count, type};
    return (struct block){at(base, data->displs ? data->displs[i] : i * count, type), count, type};
}

static void copy(struct block from, struct block to)
{
    assert_int_equal(type_copy(from.buf, from.count, from.type, to.buf, to.count, to.type), 0);
}

static struct block whole(const struct coll_data *data, void *base)
{
    return (struct block){base, data->count, data->type};
}

/* ---- data movement ---- */

static void run_barrier(coll_fn fn)
{
    set_up(COLL_BARRIER, 0);
    expect_unchanged();
    run(fn);
}

static void run_bcast(coll_fn fn)
{
    int ints = any_ints(), root = (int)draw((uint32_t)size);
    set_up(COLL_BCAST, root);
    for (int i = 0; i < size; i++)
        set_data(&calls[i].recv, ints);
    expect_unchanged();
    for (int i = 0; i < size; i++)
        copy(whole(&calls[root].recv, recvs[root].base), whole(&calls[i].recv, wants[i].base));
    run(fn);
}

static void set_in_place(struct coll_data *data)
{
    data->buf = MPI_IN_PLACE;
    data->count = -1;
    data->type = MPI_DATATYPE_NULL;
}

static void run_gather(coll_fn fn, bool uneven)
{
    int ints[RANKS], root = (int)draw((uint32_t)size);
    set_up(COLL_GATHER, root);
    for (int i = 0; i < size; i++) {
        ints[i] = i && !uneven ? ints[0] : any_ints();
        set_data(&calls[i].send, ints[i]);
        calls[i].uneven = uneven;
        if (i != root) /* must not be looked at */
            calls[i].recv = (struct coll_data){.count = -1};
    }
    if (uneven)
        set_blocks(&calls[root].recv, root, 1, ints, false);
    else
        set_data(&calls[root].recv, ints[0]);
    bool in_place = draw(2);
    expect_unchanged();
    for (int i = 0; i < size; i++)
        if (i != root || !in_place)
            copy(whole(&calls[i].send, sends[i].base),
                 block_of(&calls[root].recv, wants[root].base, i));
    if (in_place)
        set_in_place(&calls[root].send);
    run(fn);
}

static void run_scatter(coll_fn fn, bool uneven)
{
    int ints[RANKS], root = (int)draw((uint32_t)size);
    set_up(COLL_SCATTER, root);
    for (int i = 0; i < size; i++) {
        ints[i] = i && !uneven ? ints[0] : any_ints();
        set_data(&calls[i].recv, ints[i]);
        calls[i].uneven = uneven;
        if (i != root)
            calls[i].send = (struct coll_data){.count = -1};
    }
    if (uneven)
        set_blocks(&calls[root].send, root, 0, ints, false);
    else
        set_data(&calls[root].send, ints[0]);
    bool in_place = draw(2);
    expect_unchanged();
    for (int i = 0; i < size; i++)
        if (i != root || !in_place)
            copy(block_of(&calls[root].send, sends[root].base, i),
                 whole(&calls[i].recv, wants[i].base));
    if (in_place)
        set_in_place(&calls[root].recv);
    run(fn);
}

static void run_allgather(coll_fn fn, bool uneven)
{
    int ints[RANKS];
    set_up(COLL_ALLGATHER, -1);
    for (int i = 0; i < size; i++)
        ints[i] = i && !uneven ? ints[0] : any_ints();
    for (int i = 0; i < size; i++) {
        set_data(&calls[i].send, ints[i]);
        calls[i].uneven = uneven;
        if (uneven)
            set_blocks(&calls[i].recv, i, 1, ints, false);
        else
            set_data(&calls[i].recv, ints[i]);
    }
    bool in_place = draw(2); /* all or none, as MPI has it */
    expect_unchanged();
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            struct block in = in_place ? block_of(&calls[from].recv, recvs[from].base, from)
                                       : whole(&calls[from].send, sends[from].base);
            copy(in, block_of(&calls[to].recv, wants[to].base, from));
        }
    for (int i = 0; i < size && in_place; i++)
        set_in_place(&calls[i].send);
    run(fn);
}

/* Data for all to all; in place, what two exchange has the same signature. */
static void set_alltoall(int how, bool in_place)
{
    int ints[RANKS][RANKS];
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            bool first = i == 0 && j == 0;
            ints[i][j] = !how && !first ? ints[0][0] : any_ints();
            if (in_place && j < i)
                ints[i][j] = ints[j][i];
        }
    for (int i = 0; i < size; i++) {
        int to_me[RANKS];
        for (int j = 0; j < size; j++)
            to_me[j] = ints[j][i];
        calls[i].uneven = how > 0;
        if (how) {
            set_blocks(&calls[i].send, i, 0, ints[i], how == 2);
            set_blocks(&calls[i].recv, i, 1, to_me, how == 2);
        } else {
            set_data(&calls[i].send, ints[0][0]);
            set_data(&calls[i].recv, ints[0][0]);
        }
    }
}

/* how: 0 alltoall, 1 alltoallv, 2 alltoallw */
static void run_alltoall(coll_fn fn, int how)
{
    bool in_place = draw(2);
    set_up(COLL_ALLTOALL, -1);
    set_alltoall(how, in_place);
    expect_unchanged();
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            struct block in = in_place ? block_of(&calls[from].recv, recvs[from].base, to)
                                       : block_of(&calls[from].send, sends[from].base, to);
            copy(in, block_of(&calls[to].recv, wants[to].base, from));
        }
    for (int i = 0; i < size && in_place; i++)
        set_in_place(&calls[i].send);
    run(fn);
}

/* ---- reductions ---- */

/* How a reduction is drawn: ALL commute; of the others, some do. */
static const struct op *any_op(bool must_commute, int *type)
{
    uint32_t which = draw(must_commute ? 2 : 4);
    *type = any_type();
    if (which == 0) {
        *type = 0;
        return op_from(MPI_SUM);
    }
    if (which == 1)
        return user_sum;
    while (types[*type].ints < 2)
        *type = any_type();
    return user_compose;
}

/* The operands of a rank, as ints. */
static void operands(int rank, bool in_place, MPI_Count count, MPI_Datatype type, int *ints)
{
    pack(in_place ? recvs[rank].base : sends[rank].base, count, type, ints);
}

/* acc = acc op the operands of rank */
static void accumulate(const struct op *op, int *acc, int *more, int n)
{
    for (int i = 0; i < n; i += op == user_compose ? 2 : 1) {
        if (op == user_compose) {
            compose((unsigned *)&acc[i], (unsigned *)&more[i]);
            acc[i] = more[i];
            acc[i + 1] = more[i + 1];
        } else {
            acc[i] = (int)((unsigned)acc[i] + (unsigned)more[i]);
        }
    }
}

/* Reduce the operands of the ranks from 0 to last. */
static void reduce_to(int last, bool in_place, MPI_Count count, MPI_Datatype type, int *acc)
{
    int n = (int)(count * coll_size(type)) / (int)sizeof(int);
    int *more = malloc(((size_t)n + 1) * sizeof(int));
    operands(0, in_place, count, type, acc);
    for (int i = 1; i <= last; i++) {
        operands(i, in_place, count, type, more);
        accumulate(calls[0].op, acc, more, n);
    }
    free(more);
}

enum { INTS = 4096 };

static MPI_Count set_reduction(enum coll_kind kind, int root, bool must_commute)
{
    int type;
    const struct op *op = any_op(must_commute, &type);
    MPI_Count count = (MPI_Count)draw(40);
    set_up(kind, root);
    for (int i = 0; i < size; i++) {
        calls[i].op = op;
        calls[i].recv.type = types[type].type;
        calls[i].recv.count = count;
    }
    return count;
}

static void run_reduce(coll_fn fn, bool must_commute)
{
    int result[INTS], root = (int)draw((uint32_t)size);
    MPI_Count count = set_reduction(COLL_REDUCE, root, must_commute);
    MPI_Datatype type = calls[0].recv.type;
    bool in_place = draw(2);
    if (in_place) { /* the root's input is in its result */
        pack(recvs[root].base, count, type, result);
        unpack(sends[root].base, count, type, result);
    }
    expect_unchanged();
    reduce_to(size - 1, false, count, type, result);
    unpack(wants[root].base, count, type, result);
    if (in_place)
        calls[root].send.buf = MPI_IN_PLACE;
    for (int i = 0; i < size; i++)
        if (i != root)
            calls[i].recv.buf = NULL;
    run(fn);
}

/* Allreduce, scan and exscan: each process gets the reduction of the ranks up to some. */
static void run_prefix(coll_fn fn, enum coll_kind kind, bool must_commute)
{
    int result[INTS];
    MPI_Count count = set_reduction(kind, -1, must_commute);
    bool in_place = draw(2);
    expect_unchanged();
    for (int i = 0; i < size; i++) {
        int last = kind == COLL_ALLREDUCE ? size - 1 : kind == COLL_SCAN ? i : i - 1;
        if (last < 0)
            continue;
        reduce_to(last, in_place, count, calls[0].recv.type, result);
        unpack(wants[i].base, count, calls[0].recv.type, result);
    }
    for (int i = 0; i < size && in_place; i++)
        calls[i].send.buf = MPI_IN_PLACE;
    run(fn);
}

static void run_reduce_scatter(coll_fn fn, bool must_commute)
{
    int result[INTS];
    (void)set_reduction(COLL_REDUCE_SCATTER, -1, must_commute);
    MPI_Datatype type = calls[0].recv.type;
    MPI_Count all = 0, most = draw(4), ints = coll_size(type) / (MPI_Count)sizeof(int);
    bool in_place = draw(2), uneven = draw(2);
    for (int i = 0; i < size; i++) {
        counts[0][0][i] = uneven ? draw(4) : most;
        all += counts[0][0][i];
    }
    expect_unchanged();
    reduce_to(size - 1, in_place, all, type, result);
    all = 0;
    for (int i = 0; i < size; i++) {
        calls[i].uneven = uneven;
        calls[i].recv.count = most;
        calls[i].recv.counts = uneven ? counts[0][0] : NULL;
        unpack(wants[i].base, counts[0][0][i], type, result + all * ints);
        all += counts[0][0][i];
        if (in_place)
            calls[i].send.buf = MPI_IN_PLACE;
    }
    run(fn);
}

/* ---- the list ---- */

enum { ANY = 0, COMMUTATIVE = 1, POWER_OF_2 = 2 };

/* Run all that there is on this many processes. */
static void run_moving(void)
{
    bool power = !(size & (size - 1));
    run_barrier(coll_barrier);
    run_bcast(coll_bcast_tree);
    run_bcast(coll_bcast_spread);
    run_gather(coll_gather_linear, false);
    run_gather(coll_gather_linear, true);
    run_gather(coll_gather_tree, false);
    run_scatter(coll_scatter_linear, false);
    run_scatter(coll_scatter_linear, true);
    run_scatter(coll_scatter_tree, false);
    run_allgather(coll_allgather_ring, false);
    run_allgather(coll_allgather_ring, true);
    run_allgather(coll_allgather_bruck, false);
    if (power)
        run_allgather(coll_allgather_doubling, false);
    run_alltoall(coll_alltoall_all, 0);
    run_alltoall(coll_alltoall_all, 1);
    run_alltoall(coll_alltoall_all, 2);
    run_alltoall(coll_alltoall_bruck, 0);
}

static void run_reducing(void)
{
    bool power = !(size & (size - 1));
    run_reduce(coll_reduce_tree, false);
    run_prefix(coll_allreduce_doubling, COLL_ALLREDUCE, false);
    run_reduce_scatter(coll_reduce_scatter_doubling, false);
    run_reduce_scatter(coll_reduce_scatter_pairs, false);
    run_prefix(coll_scan, COLL_SCAN, false);
    run_prefix(coll_exscan, COLL_EXSCAN, false);
    if (size > 1) {
        run_reduce(coll_reduce_spread, true);
        run_prefix(coll_allreduce_ring, COLL_ALLREDUCE, true);
    }
    if (power && size > 1) {
        run_prefix(coll_allreduce_halving, COLL_ALLREDUCE, true);
        run_reduce_scatter(coll_reduce_scatter_halving, true);
    }
}

/* The same through the table. */
static void run_chosen(void)
{
    run_barrier(NULL);
    run_bcast(NULL);
    run_gather(NULL, draw(2));
    run_scatter(NULL, draw(2));
    run_allgather(NULL, draw(2));
    run_alltoall(NULL, (int)draw(3));
    run_reduce(NULL, false);
    run_prefix(NULL, COLL_ALLREDUCE, false);
    run_reduce_scatter(NULL, false);
    run_prefix(NULL, COLL_SCAN, false);
    run_prefix(NULL, COLL_EXSCAN, false);
}

static uint64_t running;

static void report(void)
{
    if (running)
        fprintf(stderr, "the round that failed: test_coll %llu 1\n", (unsigned long long)running);
}

static void random_rounds(void (*round)(void))
{
    for (int i = 0; i < rounds; i++) {
        running = first_seed + (uint64_t)i;
        state = running * 0x9e3779b97f4a7c15u + 1;
        for (size = 1; size <= RANKS; size++)
            round();
    }
    running = 0;
}

static void test_moving(void **unused)
{
    random_rounds(run_moving);
}

static void test_reducing(void **unused)
{
    random_rounds(run_reducing);
}

static void test_chosen(void **unused)
{
    random_rounds(run_chosen);
}

/* Different tags keep collectives apart that are under way at the same time; the tag never is
 * that of communicator creation, and never negative. */
static void test_tags(void **unused)
{
    struct sched s;
    size = 1;
    comms[0] = (struct comm){.size = 1, .peers = 1, .coll_tag = 5};
    sched_init(&s, &comms[0], NULL);
    assert_int_equal(s.tag, 5);
    sched_init(&s, &comms[0], NULL);
    assert_int_equal(s.tag, 6);
    comms[0].coll_tag = COMM_AGREE_TAG;
    sched_init(&s, &comms[0], NULL);
    assert_int_equal(s.tag, 0);
    comms[0].coll_tag = UINT32_MAX;
    sched_init(&s, &comms[0], NULL);
    assert_true(s.tag >= 0 && s.tag < COMM_AGREE_TAG);
    comms[0] = (struct comm){0};
}

/* A schedule whose memory does not suffice does nothing, and says so. */
static void test_no_memory(void **unused)
{
    struct sched s;
    size = 1;
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    char byte = 1, other = 2;
    sched_copy(&s, &byte, &other, 1, MPI_BYTE);
    assert_non_null(sched_temp(&s, INT64_MAX));
    assert_int_equal(sched_run(&s), MPI_ERR_NO_MEM);
    assert_int_equal(other, 2);
}

/* What is too long is cut, told, and does not stop the rest. */
static void test_truncation(void **unused)
{
    struct sched s;
    int from[2] = {1, 2}, to = 0, copied = 0;
    size = 1;
    comms[0] = (struct comm){.size = 1, .peers = 1};
    sched_init(&s, &comms[0], NULL);
    sched_send(&s, 0, from, 2, MPI_INT);
    sched_recv(&s, 0, &to, 1, MPI_INT);
    sched_wait(&s);
    sched_copy(&s, &to, &copied, 1, MPI_INT);
    assert_int_equal(sched_run(&s), MPI_ERR_TRUNCATE);
    assert_int_equal(copied, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moving),    cmocka_unit_test(test_reducing),
        cmocka_unit_test(test_chosen),    cmocka_unit_test(test_tags),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_truncation),
    };
    first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    state = 88172645463325252u;
    fake_p2p_draw = draw;
    make_types();
    user_sum = op_create(add_all, NULL, true);
    user_compose = op_create(NULL, compose_all, false);
    atexit(report);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    op_unref(user_sum);
    op_unref(user_compose);
    free_types();
    return failed != 0;
}
