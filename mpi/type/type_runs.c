/* SPDX-License-Identifier: BSD-3-Clause */

/* The runs of bytes that a datatype describes; see type_runs.h. */
#include "mpi/type/type_runs.h"

#include <stdbool.h>

#include "mpi/type/kernels.h"

struct runs {
    type_run_fn *visit; /* NULL: by rows */
    type_row_fn *visit_row;
    void *arg;
    int64_t offset, len; /* not visited yet; len 0: none */
};

static int flush(struct runs *runs)
{
    struct type_row row = {runs->offset, runs->len, 0, 1};
    runs->len = 0;
    if (!row.len)
        return 0;
    return runs->visit ? runs->visit(runs->arg, row.offset, row.len) : runs->visit_row(runs->arg, &row);
}

static int add(struct runs *runs, int64_t offset, int64_t len)
{
    if (runs->len && runs->offset + runs->len == offset) {
        runs->len += len;
        return 0;
    }
    int rc = flush(runs);
    runs->offset = offset;
    runs->len = len;
    return rc;
}

static int64_t list_len(const struct kernel *list, int64_t i)
{
    return list->block ? list->block : list->starts[i + 1] - list->starts[i];
}

/* Equal blocks are one row. Returns whether this loop is one; *rc then. */
static bool add_row(struct runs *runs, const struct kernel *loop, int64_t base, int *rc)
{
    struct type_row row = {base + loop->child.offset, loop->child.size, loop->stride, loop->count};
    if (runs->visit || loop->child.kernel || !row.len || row.count < 2 || row.stride == row.len)
        return false;
    if (!(*rc = flush(runs)))
        *rc = runs->visit_row(runs->arg, &row);
    return true;
}

static int walk(struct runs *runs, const struct kernel_part *part, int64_t base)
{
    const struct kernel *kernel = part->kernel;
    int rc = 0;
    base += part->offset;
    if (part->size == 0)
        return 0;
    if (!kernel)
        return add(runs, base, part->size);
    if (kernel->kind == KERNEL_LOOP && add_row(runs, kernel, base, &rc))
        return rc;
    for (int64_t i = 0; i < kernel->count && !rc; i++) {
        switch ((enum kernel_kind)kernel->kind) {
        case KERNEL_LOOP: rc = walk(runs, &kernel->child, base + i * kernel->stride); break;
        case KERNEL_LIST: rc = add(runs, base + kernel->offsets[i], list_len(kernel, i)); break;
        case KERNEL_SEQUENCE: rc = walk(runs, &kernel->parts[i], base); break;
        }
    }
    return rc;
}

static int walk_all(struct runs *runs, const struct type *type, MPI_Count count)
{
    int rc = 0;
    if (!type->kernels) {
        if (type->size && count)
            rc = add(runs, type->true_lb, type->size * count);
        return rc ? rc : flush(runs);
    }
    for (MPI_Count i = 0; i < count && !rc; i++)
        rc = walk(runs, &type->kernels->root, i * type->extent);
    return rc ? rc : flush(runs);
}

int type_runs(const struct type *type, MPI_Count count, type_run_fn *visit, void *arg)
{
    struct runs runs = {.visit = visit, .arg = arg};
    return walk_all(&runs, type, count);
}

int type_rows(const struct type *type, MPI_Count count, type_row_fn *visit, void *arg)
{
    struct runs runs = {.visit_row = visit, .arg = arg};
    return walk_all(&runs, type, count);
}
