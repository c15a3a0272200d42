/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every collective algorithm against what MPI says of the collective, written down naively: on 1
 * to 9 processes, of one group or two, with random datatypes (gaps, lower bounds, backwards),
 * counts and roots, in place or not, messages coming in random order. All bytes of all buffers are
 * compared, so that a write between elements is found too.
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
#include "mpi/coll/algorithm.h"
#include "mpi/coll/choose.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/comm/comm_hosts.h"
#include "values.h"

enum { MOST = 9, RANKS = 43, BYTES = 16 * 1024, BASE = 6 * 1024 };

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

/* ---- the processes ---- */

struct data {
    char *mem;  /* BYTES */
    char *base; /* somewhere in the middle */
};

static int size;
static int split; /* of two groups, how many are in the first; 0: all are in one */
static struct comm comms[RANKS], locals[RANKS];
static struct group groups[2];
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

/* The first process of the group of i. */
static int first_with(int i)
{
    return split && i >= split ? split : 0;
}

/* Processes that i has to do with, other than for its group: the first, and how many. */
static int first_for(int i)
{
    return split && i < split ? split : 0;
}

static int count_for(int i)
{
    return !split ? size : i < split ? size - split : split;
}

static bool are_linked(int i, int j)
{
    return !split || (i < split) != (j < split);
}

static int root_for(int i, int root)
{
    if (are_linked(i, root) || root < 0)
        return root - first_with(root);
    return i == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void set_up_comm(int i, uint32_t tag)
{
    int which = i >= split;
    comms[i] = (struct comm){.context = 6, .coll_tag = tag, .peers = count_for(i)};
    comms[i].rank = i - first_with(i);
    comms[i].size = split ? size - count_for(i) : size;
    if (!split)
        return;
    groups[which].first = first_with(i);
    locals[i] = comms[i];
    locals[i].context = 10;
    locals[i].peers = comms[i].size;
    locals[i].group = comms[i].group = &groups[which];
    comms[i].remote = &groups[!which];
    comms[i].local = &locals[i];
}

/* Where the processes are: what all have alike of their hosts. */
static struct comm_hosts layout, hosts[RANKS];
static int host_of[RANKS], host_first[RANKS + 1], host_ranks[RANKS];

/* Draw hosts for the processes, at least so many, if there are as many processes. */
static void draw_layout(int least)
{
    int numbers[2 * RANKS + 2], used = 0, at = 0, most = least + (int)draw((uint32_t)size);
    bool in_order = draw(2);
    layout = comm_hosts_one;
    if (split || size < least || (least == 1 && draw(2)))
        return;
    for (int i = 0; i < size; i++)
        host_of[i] = in_order ? i * most / size : (int)draw((uint32_t)most);
    host_of[size - 1] = host_of[0] + least - 1; /* not all alike */
    memset(numbers, -1, sizeof(numbers));
    for (int i = 0; i < size; i++) { /* number them as they come */
        int *number = &numbers[host_of[i]];
        *number = *number < 0 ? used++ : *number;
        host_of[i] = *number;
    }
    for (int h = 0; h <= used; h++) {
        host_first[h] = at;
        for (int i = 0; i < size && used > 1; i++)
            if (host_of[i] == h)
                host_ranks[at++] = i;
    }
    if (used > 1)
        layout = (struct comm_hosts){used, 0, true, host_of, host_first, host_ranks};
    for (int i = 0; i < size && used > 1; i++)
        layout.in_order &= host_ranks[i] == i;
}

static void set_up(enum coll_kind kind, int root)
{
    uint32_t tag = draw(UINT32_MAX);
    for (int i = 0; i < size; i++) {
        set_up_comm(i, tag);
        fill(&sends[i]);
        fill(&recvs[i]);
        fill(&wants[i]);
        fill(&befores[i]);
        calls[i] = (struct coll){.kind = kind, .root = root_for(i, root)};
        hosts[i] = layout;
        hosts[i].mine = layout.count > 1 ? host_of[i] : 0;
        coll_over(&calls[i], &comms[i], &hosts[i]);
        calls[i].send.buf = sends[i].base;
        calls[i].recv.buf = recvs[i].base;
    }
}

static void free_data(int i)
{
    struct data *all[] = {&sends[i], &recvs[i], &wants[i], &befores[i]};
    for (int k = 0; k < 4; k++)
        free(all[k]->mem);
}

/* Take the present content of all buffers as the expected one. Expectations are written to wants
 * after this. */
static void expect_unchanged(void)
{
    for (int i = 0; i < size; i++) {
        memcpy(wants[i].mem, recvs[i].mem, BYTES);
        memcpy(befores[i].mem, sends[i].mem, BYTES);
    }
}

static int running_count; /* of schedules in the background */

static void note_end(struct sched *s)
{
    running_count--;
}

/* All of them go on by themselves whenever a message is delivered. */
static void run_in_background(struct sched *s[])
{
    running_count = size;
    for (int i = 0; i < size; i++)
        sched_start(s[i], note_end);
    while (running_count)
        assert_true(fake_p2p_deliver());
}

static void run_in_steps(struct sched *s[])
{
    bool over[RANKS] = {false};
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
        assert_true(left == 0 || fake_p2p_deliver()); /* otherwise nothing can go on */
    }
}

/* Run all of the schedules, in either way. */
static void run_all(coll_fn fn)
{
    struct sched *s[RANKS];
    for (int i = 0; i < size; i++) {
        s[i] = malloc(sizeof(**s));
        sched_init(s[i], &comms[i], calls[i].op);
        (fn ? fn : choose_append)(s[i], &calls[i]);
    }
    if (draw(2))
        run_in_background(s);
    else
        run_in_steps(s);
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
        free_data(i);
    }
    draw_layout(1);
}

/* ---- blocks ---- */

/* ints says how many ints of data a block has: a multiple of 4, so that any type will do. */
static int any_ints(void)
{
    return 4 * (int)draw(6);
}

static int any_type(void)
{
    return (int)draw(VALUES_TYPES);
}

static void set_data(struct coll_data *data, int ints)
{
    int i = any_type();
    data->type = values_types[i].type;
    data->count = ints / values_types[i].ints;
}

static void *at(void *base, int64_t elements, MPI_Datatype type)
{
    return (char *)base + elements * type_from(type)->extent;
}

static MPI_Count counts[RANKS][2][RANKS];
static MPI_Aint displs[RANKS][2][RANKS];
static MPI_Datatype block_types[RANKS][2][RANKS];

/* Lay out uneven blocks, in random order, with room between them: 1 type, or one for each. ints:
 * of each process. */
static void set_blocks(struct coll_data *data, int owner, int which, const int *ints, bool bytes)
{
    int type = any_type(), order[RANKS] = {0}, n = count_for(owner);
    int64_t next = 0;
    for (int i = 0; i < n; i++) {
        int j = (int)draw((uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    data->type = bytes ? MPI_DATATYPE_NULL : values_types[type].type;
    data->counts = counts[owner][which];
    data->displs = displs[owner][which];
    data->types = bytes ? block_types[owner][which] : NULL;
    for (int i = 0; i < n; i++) {
        int k = order[i];
        if (bytes)
            type = any_type();
        block_types[owner][which][k] = values_types[type].type;
        counts[owner][which][k] = ints[first_for(owner) + k] / values_types[type].ints;
        displs[owner][which][k] = next;
        next += bytes ? 24 * counts[owner][which][k] + 48 : counts[owner][which][k] + 2;
        if (bytes && type_from(values_types[type].type)->extent < 0)
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

/* An argument that must not be looked at. */
static const struct coll_data none = {.count = -1};

static void run_bcast(coll_fn fn)
{
    int ints = any_ints(), root = (int)draw((uint32_t)size);
    set_up(COLL_BCAST, root);
    for (int i = 0; i < size; i++)
        if (i == root || are_linked(i, root))
            set_data(&calls[i].recv, ints);
        else
            calls[i].recv = none;
    expect_unchanged();
    for (int i = 0; i < size; i++)
        if (are_linked(i, root))
            copy(whole(&calls[root].recv, recvs[root].base),
                 whole(&calls[i].recv, wants[i].base));
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
        calls[i].uneven = uneven;
        if (are_linked(i, root))
            set_data(&calls[i].send, ints[i]);
        else
            calls[i].send = none;
        if (i != root)
            calls[i].recv = none;
    }
    if (uneven)
        set_blocks(&calls[root].recv, root, 1, ints, false);
    else
        set_data(&calls[root].recv, ints[0]);
    bool in_place = !split && draw(2);
    expect_unchanged();
    for (int i = 0; i < size; i++)
        if (are_linked(i, root) && (i != root || !in_place))
            copy(whole(&calls[i].send, sends[i].base),
                 block_of(&calls[root].recv, wants[root].base, comms[i].rank));
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
        calls[i].uneven = uneven;
        if (are_linked(i, root))
            set_data(&calls[i].recv, ints[i]);
        else
            calls[i].recv = none;
        if (i != root)
            calls[i].send = none;
    }
    if (uneven)
        set_blocks(&calls[root].send, root, 0, ints, false);
    else
        set_data(&calls[root].send, ints[0]);
    bool in_place = !split && draw(2);
    expect_unchanged();
    for (int i = 0; i < size; i++)
        if (are_linked(i, root) && (i != root || !in_place))
            copy(block_of(&calls[root].send, sends[root].base, comms[i].rank),
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
        ints[i] = i != first_with(i) && !uneven ? ints[first_with(i)] : any_ints();
    for (int i = 0; i < size; i++) {
        set_data(&calls[i].send, ints[i]);
        calls[i].uneven = uneven;
        if (uneven)
            set_blocks(&calls[i].recv, i, 1, ints, false);
        else
            set_data(&calls[i].recv, ints[first_for(i)]);
    }
    bool in_place = !split && draw(2); /* all or none, as MPI has it */
    expect_unchanged();
    for (int from = 0; from < size; from++)
        for (int i = 0; i < count_for(from); i++) {
            int to = first_for(from) + i;
            struct block in = in_place ? block_of(&calls[from].recv, recvs[from].base, from)
                                       : whole(&calls[from].send, sends[from].base);
            copy(in, block_of(&calls[to].recv, wants[to].base, comms[from].rank));
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
            int first = first_with(i), second = first_for(i); /* so many between equal blocks */
            bool alike = !how && (i != first || j != second);
            ints[i][j] = alike && j >= second ? ints[first][second] : any_ints();
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
            set_data(&calls[i].send, ints[first_with(i)][first_for(i)]);
            set_data(&calls[i].recv, ints[first_for(i)][first_with(i)]);
        }
    }
}

/* how: 0 alltoall, 1 alltoallv, 2 alltoallw */
static void run_alltoall(coll_fn fn, int how)
{
    bool in_place = !split && draw(2);
    set_up(COLL_ALLTOALL, -1);
    set_alltoall(how, in_place);
    expect_unchanged();
    for (int from = 0; from < size; from++)
        for (int i = 0; i < count_for(from); i++) {
            int to = first_for(from) + i;
            struct block in = in_place ? block_of(&calls[from].recv, recvs[from].base, i)
                                       : block_of(&calls[from].send, sends[from].base, i);
            copy(in, block_of(&calls[to].recv, wants[to].base, comms[from].rank));
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
        return values_sum;
    while (values_types[*type].ints < 2)
        *type = any_type();
    return values_composed;
}

/* The operands of a process, as ints. */
static void operands(int i, bool in_place, MPI_Count count, MPI_Datatype type, int *ints)
{
    values_pack(in_place ? recvs[i].base : sends[i].base, count, type, ints);
}

/* acc = acc op the operands of rank */
static void accumulate(const struct op *op, int *acc, int *more, int n)
{
    for (int i = 0; i < n; i += op == values_composed ? 2 : 1) {
        if (op == values_composed) {
            values_compose((unsigned *)&acc[i], (unsigned *)&more[i]);
            acc[i] = more[i];
            acc[i + 1] = more[i + 1];
        } else {
            acc[i] = (int)((unsigned)acc[i] + (unsigned)more[i]);
        }
    }
}

/* Reduce the operands of so many processes. */
static void reduce(int first, int processes, bool in_place, MPI_Count count, MPI_Datatype type,
                   int *acc)
{
    int n = (int)(count * coll_size(type)) / (int)sizeof(int);
    int *more = malloc(((size_t)n + 1) * sizeof(int));
    operands(first, in_place, count, type, acc);
    for (int i = 1; i < processes; i++) {
        operands(first + i, in_place, count, type, more);
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
        calls[i].recv.type = values_types[type].type;
        calls[i].recv.count = count;
    }
    return count;
}

static void run_reduce(coll_fn fn, bool must_commute)
{
    int result[INTS], root = (int)draw((uint32_t)size);
    MPI_Count count = set_reduction(COLL_REDUCE, root, must_commute);
    MPI_Datatype type = calls[0].recv.type;
    bool in_place = !split && draw(2);
    if (in_place) { /* the root's input is in its result */
        values_pack(recvs[root].base, count, type, result);
        values_unpack(sends[root].base, count, type, result);
    }
    expect_unchanged();
    reduce(first_for(root), count_for(root), false, count, type, result);
    values_unpack(wants[root].base, count, type, result);
    if (in_place)
        calls[root].send.buf = MPI_IN_PLACE;
    for (int i = 0; i < size; i++) {
        if (i != root)
            calls[i].recv.buf = NULL;
        if (!are_linked(i, root))
            calls[i].send = none;
    }
    run(fn);
}

/* Allreduce, scan and exscan: each process gets the reduction of all, or of so many first. */
static void run_prefix(coll_fn fn, enum coll_kind kind, bool must_commute)
{
    int result[INTS];
    MPI_Count count = set_reduction(kind, -1, must_commute);
    bool in_place = !split && draw(2);
    expect_unchanged();
    for (int i = 0; i < size; i++) {
        int n = kind == COLL_ALLREDUCE ? count_for(i) : kind == COLL_SCAN ? i + 1 : i;
        if (n == 0)
            continue;
        reduce(first_for(i), n, in_place, count, calls[0].recv.type, result);
        values_unpack(wants[i].base, count, calls[0].recv.type, result);
    }
    for (int i = 0; i < size && in_place; i++)
        calls[i].send.buf = MPI_IN_PLACE;
    run(fn);
}

/* Deal out elements to a group, to each as many or not; to two groups as many. Returns the sum. */
static MPI_Count deal(int first, int n, bool uneven, MPI_Count most)
{
    MPI_Count *to = counts[first][0], all = most * (split ? split * (size - split) : size);
    for (int i = 0; i < n; i++)
        to[i] = uneven ? 0 : all / n;
    for (MPI_Count i = 0; i < all && uneven; i++)
        to[draw((uint32_t)n)]++;
    return all;
}

static void run_reduce_scatter(coll_fn fn, bool must_commute)
{
    int result[INTS];
    (void)set_reduction(COLL_REDUCE_SCATTER, -1, must_commute);
    MPI_Datatype type = calls[0].recv.type;
    MPI_Count most = draw(4), ints = coll_size(type) / (MPI_Count)sizeof(int), all = 0, at = 0;
    bool in_place = !split && draw(2), uneven = draw(2);
    for (int i = 0; i < size; i++)
        if (i == first_with(i))
            all = deal(i, comms[i].size, uneven, most);
    expect_unchanged();
    for (int i = 0; i < size; i++) {
        MPI_Count *blocks = counts[first_with(i)][0], own = blocks[comms[i].rank];
        at = i == first_with(i) ? 0 : at;
        reduce(first_for(i), count_for(i), in_place, all, type, result);
        calls[i].uneven = uneven;
        calls[i].recv.count = own;
        calls[i].recv.counts = uneven ? blocks : NULL;
        values_unpack(wants[i].base, own, type, result + at * ints);
        at += own;
    }
    for (int i = 0; i < size && in_place; i++)
        calls[i].send.buf = MPI_IN_PLACE;
    run(fn);
}

/* ---- the list ---- */

/* Run one algorithm in all shapes that it can have. */
static void run_algorithm(const struct algorithm *a)
{
    bool equal = a->needs & NEEDS_EQUAL;
    bool commute = a->needs & NEEDS_COMMUTATIVE || (a->needs & NEEDS_ORDER && !layout.in_order);
    switch (a->kind) {
    case COLL_BARRIER: run_barrier(a->run); break;
    case COLL_BCAST: run_bcast(a->run); break;
    case COLL_GATHER: run_gather(a->run, !equal && draw(2)); break;
    case COLL_SCATTER: run_scatter(a->run, !equal && draw(2)); break;
    case COLL_ALLGATHER: run_allgather(a->run, !equal && draw(2)); break;
    case COLL_ALLTOALL: run_alltoall(a->run, equal ? 0 : (int)draw(3)); break;
    case COLL_REDUCE: run_reduce(a->run, commute); break;
    case COLL_REDUCE_SCATTER: run_reduce_scatter(a->run, commute); break;
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLTOALL: break; /* test/mpi/coll/coll_neighbor.c */
    default: run_prefix(a->run, a->kind, commute);
    }
}

static void run_algorithms(void)
{
    for (int i = 0; i < ALGORITHM_COUNT; i++) {
        const struct algorithm *a = &algorithms[i];
        for (int turn = 0; turn < 2; turn++) {
            draw_layout(a->needs & NEEDS_HOSTS ? 2 : 1);
            unsigned lacks = a->needs & (NEEDS_POWER_OF_2 | NEEDS_EVEN | NEEDS_PEERS | NEEDS_HOSTS |
                                         NEEDS_ROWS);
            if (!(lacks & ~algorithm_offers(&(struct coll){.size = size, .hosts = &layout})))
                run_algorithm(a);
        }
    }
}

/* The same through the table. */
static void run_chosen(void)
{
    draw_layout(1);
    run_barrier(NULL);
    run_bcast(NULL);
    run_gather(NULL, draw(2));
    run_scatter(NULL, draw(2));
    run_allgather(NULL, draw(2));
    run_alltoall(NULL, (int)draw(3));
    run_reduce(NULL, false);
    run_prefix(NULL, COLL_ALLREDUCE, false);
    run_reduce_scatter(NULL, false);
    if (split)
        return;
    run_prefix(NULL, COLL_SCAN, false);
    run_prefix(NULL, COLL_EXSCAN, false);
}

/* The same with two groups. */
static void run_inter(void)
{
    for (split = 1; split < size; split++)
        run_chosen();
    split = 0;
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
        for (size = 1; size <= MOST; size++)
            round();
    }
    running = 0;
}

static void test_algorithms(void **unused)
{
    random_rounds(run_algorithms);
}

static void test_chosen(void **unused)
{
    random_rounds(run_chosen);
}

static void test_inter(void **unused)
{
    random_rounds(run_inter);
}

/* More processes than exchange at a time. */
static void test_window(void **unused)
{
    size = RANKS;
    layout = comm_hosts_one;
    for (int i = 0; i < 3; i++) {
        split = i == 2 ? RANKS - 1 : 2 + i;
        run_alltoall(NULL, i);
    }
    split = 0;
}

/* Empty parts go without messages, in each way to say that they are empty. */
static void test_empty(void **unused)
{
    MPI_Datatype empty;
    PMPI_Type_contiguous_c(0, MPI_INT, &empty);
    assert_int_equal(PMPI_Type_commit(&empty), MPI_SUCCESS);
    for (size = 2; size <= MOST; size++) {
        draw_layout(1);
        set_up(COLL_BCAST, 0);
        for (int i = 0; i < size; i++) {
            calls[i].recv.type = i ? empty : MPI_INT;
            calls[i].recv.count = i;
        }
        expect_unchanged();
        run(NULL);
        set_up(COLL_ALLGATHER, -1);
        for (int i = 0; i < size; i++) {
            calls[i].send.type = i % 2 ? empty : MPI_INT;
            calls[i].recv.type = i % 2 ? MPI_INT : empty;
            calls[i].send.count = i % 2 ? 3 : 0;
            calls[i].recv.count = i % 2 ? 0 : 3;
        }
        expect_unchanged();
        run(NULL);
    }
    PMPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_algorithms), cmocka_unit_test(test_chosen), cmocka_unit_test(test_inter),
        cmocka_unit_test(test_window), cmocka_unit_test(test_empty)};
    first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    state = 88172645463325252u;
    fake_p2p_draw = draw;
    values_init();
    atexit(report);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    values_fini();
    return failed != 0;
}
