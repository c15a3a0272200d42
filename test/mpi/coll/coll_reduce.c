/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reductions and scans: on short and long vectors, to every root, in place, with operations that
 * commute and one that does not; and all processes get the same bits.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LARGE = 40009 };

static const int sizes[] = {0, 1, 5, 600, 3000, LARGE};
static int rank, size;
static long *in, *out; /* [LARGE * size] */

static long operand(int of, int i)
{
    return (of + 1) * 1009l + i;
}

static long sum_to(int last, int i)
{
    long sum = 0;
    for (int of = 0; of <= last; of++)
        sum += operand(of, i);
    return sum;
}

static void fill(long *at, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = operand(rank, i);
}

static void verify(const long *at, int last, int first, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(at[i] == sum_to(last, first + i));
}

static void reduce(int n, int root)
{
    fill(in, n);
    memset(out, -1, sizeof(*out) * (size_t)(n + 1));
    OK(MPI_Reduce(in, rank == root ? out : NULL, n, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
    if (rank == root)
        verify(out, size - 1, 0, n);
    CHECK(out[n] == -1);
    fill(out, n);
    OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : in, out, n, MPI_LONG, MPI_SUM, root,
                  MPI_COMM_WORLD));
    if (rank == root)
        verify(out, size - 1, 0, n);
}

static void to_all(int n)
{
    fill(in, n);
    OK(MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(out, size - 1, 0, n);
    OK(MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(in, size - 1, 0, n);
}

static void scans(int n)
{
    fill(in, n);
    OK(MPI_Scan(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(out, rank, 0, n);
    memset(out, -1, sizeof(*out) * (size_t)(n + 1));
    OK(MPI_Exscan(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (rank > 0)
        verify(out, rank - 1, 0, n);
    CHECK(out[n] == -1);
    OK(MPI_Exscan(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (rank > 0)
        verify(in, rank - 1, 0, n);
    fill(in, n);
    OK(MPI_Scan(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(in, rank, 0, n);
}

static void scatters(int n)
{
    int counts[64], at = 0, first = 0;
    fill(in, n * size);
    OK(MPI_Reduce_scatter_block(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(out, size - 1, rank * n, n);
    OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(in, size - 1, rank * n, n);
    for (int i = 0; i < size; i++) {
        counts[i] = n * (i % 3) / 2;
        first = i == rank ? at : first;
        at += counts[i];
    }
    fill(in, at);
    OK(MPI_Reduce_scatter(in, out, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(out, size - 1, first, counts[rank]);
    OK(MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    verify(in, size - 1, first, counts[rank]);
}

/* ---- an operation that does not commute: 2 by 2 matrices, with a gap behind each ---- */

struct matrix {
    unsigned a, b, c, d;
    char gap[8];
};

static void multiply(const struct matrix *x, struct matrix *y)
{
    struct matrix z = {x->a * y->a + x->b * y->c, x->a * y->b + x->b * y->d,
                       x->c * y->a + x->d * y->c, x->c * y->b + x->d * y->d, ""};
    memcpy(y, &z, 4 * sizeof(unsigned));
}

static void multiply_all(void *in_vec, void *inout_vec, int *len, MPI_Datatype *type)
{
    for (int i = 0; i < *len; i++)
        multiply((struct matrix *)in_vec + i, (struct matrix *)inout_vec + i);
}

static struct matrix matrix_of(int of, int i)
{
    return (struct matrix){(unsigned)of + 1, (unsigned)i, 1, (unsigned)(of * i) + 3, "gap"};
}

static void verify_matrix(struct matrix got, int last, int i)
{
    struct matrix result = matrix_of(last, i);
    for (int of = last - 1; of >= 0; of--) {
        struct matrix left = matrix_of(of, i);
        multiply(&left, &result);
    }
    CHECK(!memcmp(&got, &result, 4 * sizeof(unsigned)));
    CHECK(!strcmp(got.gap, "mine"));
}

static void fill_matrices(struct matrix *x, struct matrix *y, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = matrix_of(rank, i);
        y[i] = (struct matrix){0, 0, 0, 0, "mine"};
    }
}

static void matrices(MPI_Op op, MPI_Datatype type, int n)
{
    struct matrix *x = malloc(sizeof(*x) * (size_t)(n * size)),
                  *y = malloc(sizeof(*y) * (size_t)(n * size));
    CHECK(x && y);
    for (int root = 0; root < size; root++) {
        fill_matrices(x, y, n);
        OK(MPI_Reduce(x, y, n, type, op, root, MPI_COMM_WORLD));
        for (int i = 0; i < n && rank == root; i++)
            verify_matrix(y[i], size - 1, i);
    }
    OK(MPI_Allreduce(x, y, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        verify_matrix(y[i], size - 1, i);
    OK(MPI_Scan(x, y, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        verify_matrix(y[i], rank, i);
    OK(MPI_Exscan(x, y, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n && rank > 0; i++)
        verify_matrix(y[i], rank - 1, i);
    fill_matrices(x, y, n * size);
    OK(MPI_Reduce_scatter_block(x, y, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        verify_matrix(y[i], size - 1, rank * n + i);
    free(x);
    free(y);
}

/* Floating point: all see the same bits, and the same ones again. */
static void same_bits(int n)
{
    double *x = malloc(sizeof(*x) * (size_t)n), *y = malloc(sizeof(*y) * (size_t)n),
           *again = malloc(sizeof(*again) * (size_t)n), *roots = malloc(sizeof(*roots) * (size_t)n);
    CHECK(x && y && again && roots);
    for (int i = 0; i < n; i++)
        x[i] = 1.0 / (rank + 1 + i % 977) - 1e-9 * rank;
    x[0] = rank == size / 2 ? 0.0 / (double)(size - size) : 1; /* no number */
    OK(MPI_Allreduce(x, y, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    memcpy(roots, y, sizeof(*y) * (size_t)n);
    OK(MPI_Bcast(roots, n, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    CHECK(!memcmp(roots, y, sizeof(*y) * (size_t)n));
    x[0] = 0.1 * rank;
    OK(MPI_Allreduce(x, y, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(x, again, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    memcpy(roots, y, sizeof(*y) * (size_t)n);
    OK(MPI_Bcast(roots, n, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    CHECK(!memcmp(roots, y, sizeof(*y) * (size_t)n) && !memcmp(again, y, sizeof(*y) * (size_t)n));
    free(x);
    free(y);
    free(again);
    free(roots);
}

static void places(void)
{
    struct {
        double value;
        int at;
    } mine = {rank % 3, rank}, least, most;
    OK(MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(least.value == 0 && least.at == 0);
    CHECK(most.at == (size > 2 ? 2 : size - 1) && most.value == most.at);
}

int main(int argc, char **argv)
{
    MPI_Datatype ints, type;
    MPI_Op op;
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    in = malloc(sizeof(*in) * LARGE * (size_t)size + 64);
    out = malloc(sizeof(*out) * LARGE * (size_t)size + 64);
    CHECK(in && out);
    for (int k = 0; k < 6; k++) {
        for (int root = 0; root < size; root += sizes[k] == LARGE ? 3 : 1)
            reduce(sizes[k], root);
        to_all(sizes[k]);
        scans(sizes[k]);
        scatters(sizes[k] == LARGE ? LARGE / 3 : sizes[k]);
    }
    OK(MPI_Type_contiguous(4, MPI_UNSIGNED, &ints));
    OK(MPI_Type_create_resized(ints, 0, sizeof(struct matrix), &type));
    OK(MPI_Type_free(&ints));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(multiply_all, 0, &op));
    matrices(op, type, 3);
    matrices(op, type, 500);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    same_bits(4);
    same_bits(20000);
    places();
    free(in);
    free(out);
    OK(MPI_Finalize());
    return 0;
}
