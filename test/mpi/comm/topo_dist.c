/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Distributed graphs: the same graph given in every way, by those whose edges it is, by those at
 * the other end, by one process, by anyone. With pinned as an argument the processes are bound to
 * the processors in turn, so that there is something to order by.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum {
    MOST = 4096
};

/* So many edges from i to j, and the weight of the k-th. */
static int multiplicity(int i, int j, int size)
{
    if (i == j)
        return i % 2; /* self edges */
    return (i + 2) % size == j ? 2 : (3 * i + 5 * j) % 4 == 0;
}

static int weight(int i, int j, int k)
{
    return (i * 7 + j * 3 + k) % 11 + (k == 1 ? 20 : 0);
}

/* Edges in lists, as MPI takes them. */
struct list {
    int count, from[MOST], to[MOST], weight[MOST], ones[MOST];
};

static void add(struct list *list, int i, int j, int size)
{
    for (int k = 0; k < multiplicity(i, j, size); k++) {
        list->from[list->count] = i;
        list->to[list->count] = j;
        list->ones[list->count] = 1;
        list->weight[list->count++] = weight(i, j, k);
    }
}

/* The ends that I see are those of the graph, each as often, with its weights in some order. */
static void check_side(const int *ranks, const int *weights, int count, int out, MPI_Comm comm)
{
    int me = check_rank(comm), size = check_size(comm), expected = 0;
    for (int other = 0; other < size; other++) {
        int i = out ? me : other, j = out ? other : me, wanted = multiplicity(i, j, size);
        int found = 0, sum = 0, wanted_sum = 0;
        expected += wanted;
        for (int k = 0; k < wanted; k++)
            wanted_sum += weight(i, j, k);
        for (int k = 0; k < count; k++)
            if (ranks[k] == other) {
                found++;
                sum += weights ? weights[k] : 0;
            }
        CHECK(found == wanted && (!weights || sum == wanted_sum));
    }
    CHECK(count == expected);
}

static void check_graph(MPI_Comm comm, int weighted)
{
    int in = -1, out = -1, got = -1, kind = -1;
    static int sources[MOST], in_weights[MOST], destinations[MOST], out_weights[MOST];
    OK(MPI_Topo_test(comm, &kind));
    CHECK(kind == MPI_DIST_GRAPH);
    OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &got));
    CHECK(got == weighted && in <= MOST && out <= MOST);
    for (int i = 0; i < MOST; i++)
        in_weights[i] = out_weights[i] = -5;
    OK(MPI_Dist_graph_neighbors(comm, in, sources, in_weights, out, destinations, out_weights));
    check_side(sources, weighted ? in_weights : NULL, in, 0, comm);
    check_side(destinations, weighted ? out_weights : NULL, out, 1, comm);
    CHECK(in_weights[in] == -5 && (weighted || in_weights[0] == -5));
    /* The first ones only, and no weights. */
    int first = in ? sources[0] : -1;
    sources[0] = -1;
    sources[1] = -7;
    OK(MPI_Dist_graph_neighbors(comm, in > 0, sources, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED));
    CHECK(sources[0] == first && sources[1] == -7);
}

/* Every edge can be sent along: all out edges meet the in edges of the others. */
static void use(MPI_Comm comm)
{
    int in, out, weighted, sources[MOST], destinations[MOST], me = check_rank(comm);
    MPI_Request requests[MOST];
    int got[MOST], count = 0;
    OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    OK(MPI_Dist_graph_neighbors(comm, in, sources, MPI_UNWEIGHTED, out, destinations,
                                MPI_UNWEIGHTED));
    for (int i = 0; i < in; i++)
        OK(MPI_Irecv(&got[i], 1, MPI_INT, sources[i], 4, comm, &requests[count++]));
    for (int i = 0; i < out; i++)
        OK(MPI_Isend(&me, 1, MPI_INT, destinations[i], 4, comm, &requests[count++]));
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < in; i++)
        CHECK(got[i] == sources[i]);
}

static void done(MPI_Comm *comm, int weighted)
{
    MPI_Comm twin;
    check_graph(*comm, weighted);
    use(*comm);
    OK(MPI_Comm_dup(*comm, &twin));
    OK(MPI_Comm_free(comm));
    check_graph(twin, weighted);
    OK(MPI_Comm_free(&twin));
}

static void adjacent(MPI_Comm comm, int weighted, int reorder)
{
    static struct list in, out;
    int me = check_rank(comm), size = check_size(comm);
    in.count = out.count = 0;
    for (int i = 0; i < size; i++) {
        add(&in, i, me, size);
        add(&out, me, i, size);
    }
    MPI_Comm new;
    OK(MPI_Dist_graph_create_adjacent(
        comm, in.count, in.from, weighted ? in.weight : MPI_UNWEIGHTED, out.count, out.to,
        weighted ? out.weight : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &new));
    done(&new, weighted);
}

/* who(i, j) gives the edges from i to j. */
static int of_source(int i, int j, int size)
{
    (void)j, (void)size;
    return i;
}

static int of_destination(int i, int j, int size)
{
    (void)i, (void)size;
    return j;
}

static int of_last(int i, int j, int size)
{
    (void)i, (void)j;
    return size - 1;
}

static int of_anyone(int i, int j, int size)
{
    return (i * 5 + j * 3) % size;
}

static void anywhere(MPI_Comm comm, int (*who)(int, int, int), int weighted, int reorder)
{
    static struct list list;
    int me = check_rank(comm), size = check_size(comm);
    list.count = 0;
    for (int i = size - 1; i >= 0; i--)
        for (int j = 0; j < size; j++)
            if (who(i, j, size) == me)
                add(&list, i, j, size);
    MPI_Comm new;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "unheard_of", "yes"));
    OK(MPI_Dist_graph_create(comm, list.count, list.from, list.ones, list.to,
                             !weighted    ? MPI_UNWEIGHTED
                             : list.count ? list.weight
                                          : MPI_WEIGHTS_EMPTY,
                             info, reorder, &new));
    OK(MPI_Info_free(&info));
    done(&new, weighted);
}

/* Degrees other than 1, of which one is 0. */
static void degrees(MPI_Comm comm)
{
    int me = check_rank(comm), size = check_size(comm), weights[3] = {4, 5, 6};
    int sources[3] = {me, (me + 1) % size, me}, count[3] = {2, 0, 1}, to[3] = {0, 0, size - 1};
    int in, out, weighted, got[3] = {0}, got_weights[3] = {0};
    MPI_Comm new;
    OK(MPI_Dist_graph_create(comm, 3, sources, count, to, weights, MPI_INFO_NULL, 0, &new));
    OK(MPI_Dist_graph_neighbors_count(new, &in, &out, &weighted));
    CHECK(out == 3 && weighted == 1);
    CHECK(in == (me == 0 ? 2 * size : 0) + (me == size - 1 ? size : 0));
    OK(MPI_Dist_graph_neighbors(new, 0, NULL, NULL, 3, got, got_weights));
    CHECK(got[0] == 0 && got[1] == 0 && got[2] == size - 1);
    CHECK(got_weights[0] == 4 && got_weights[1] == 5 && got_weights[2] == 6);
    OK(MPI_Comm_free(&new));
}

static void errors(MPI_Comm comm)
{
    int size = check_size(comm), zero = 0, one = 1, minus = -1;
    MPI_Comm new;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RANK,
          MPI_Dist_graph_create(comm, 1, &size, &one, &zero, &one, MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_RANK,
          MPI_Dist_graph_create(comm, 1, &zero, &one, &minus, &one, MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_ARG,
          MPI_Dist_graph_create(comm, 1, &zero, &minus, &zero, &one, MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_ARG,
          MPI_Dist_graph_create(comm, 1, &zero, &one, &zero, &minus, MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(comm, 1, &zero, &one, &zero, MPI_WEIGHTS_EMPTY,
                                             MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_ARG,
          MPI_Dist_graph_create(comm, 1, &zero, &one, NULL, &one, MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_ARG,
          MPI_Dist_graph_create(comm, -1, NULL, NULL, NULL, NULL, MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(comm, 1, &zero, MPI_UNWEIGHTED, 1, &zero,
                                                      &one, MPI_INFO_NULL, 0, &new));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors(comm, 0, NULL, NULL, 0, NULL, NULL));
}

/* Bind this process to one of the processors that it may use. Returns how many these are. */
static int pin(void)
{
    cpu_set_t may, mine;
    CHECK(sched_getaffinity(0, sizeof(may), &may) == 0);
    int cpus = CPU_COUNT(&may), skip = check_rank(MPI_COMM_WORLD) % cpus, cpu = 0;
    while (!CPU_ISSET(cpu, &may) || skip-- > 0)
        cpu++;
    CPU_ZERO(&mine);
    CPU_SET(cpu, &mine);
    CHECK(sched_setaffinity(0, sizeof(mine), &mine) == 0);
    return cpus;
}

/* Whether the library knows on which core this process is. */
static int is_core_known(void)
{
    MPI_Info info;
    MPI_Comm core;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Core"));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &core));
    OK(MPI_Info_free(&info));
    int known = core != MPI_COMM_NULL;
    if (known)
        OK(MPI_Comm_free(&core));
    return known;
}

/* Pairs of ranks that talk are on two processors; ordered by hardware they are on one. */
static void bring_together(int cpus)
{
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), together = 0;
    int partner = me ^ 1, degree = partner < size, heavy = 10, mine = me % cpus, theirs = -1;
    MPI_Comm comm;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, &partner, &heavy, MPI_INFO_NULL, 1,
                             &comm));
    partner = check_rank(comm) ^ 1;
    if (partner >= size)
        partner = MPI_PROC_NULL;
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, partner, 6, &theirs, 1, MPI_INT, partner, 6, comm,
                    MPI_STATUS_IGNORE));
    theirs = theirs == mine;
    OK(MPI_Allreduce(&theirs, &together, 1, MPI_INT, MPI_SUM, comm));
    if (cpus == 2 && is_core_known())
        CHECK(together == size / 4 * 4 + (size % 4 == 3 ? 2 : 0));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    static int (*const givers[])(int, int, int) = {of_source, of_destination, of_last, of_anyone};
    MPI_Comm comm;
    OK(MPI_Init(&argc, &argv));
    if (argc > 1 && !strcmp(argv[1], "pinned"))
        bring_together(pin());
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int way = 0; way < 4; way++) {
        adjacent(comm, way & 1, way & 2);
        for (size_t i = 0; i < sizeof(givers) / sizeof(givers[0]); i++)
            anywhere(comm, givers[i], way & 1, way & 2);
    }
    degrees(comm);
    errors(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
