/* SPDX-License-Identifier: BSD-3-Clause */

/* The naive datatypes: see type_model.h. */

#include "type_model.h"
#include "os/quad.h"

#include <stdlib.h>
#include <string.h>

struct model_bounds model_bounds(const struct model *model)
{
    struct model_bounds b = {0};
    int64_t align = 1, true_ub = 0;

    for (int i = 0; i < model->n; i++) {
        const struct model_entry *e = &model->entry[i];
        b.size += e->size;
        if (i == 0 || e->at < b.true_lb)
            b.true_lb = e->at;
        if (i == 0 || e->at + e->size > true_ub)
            true_ub = e->at + e->size;
        if (e->align > align)
            align = e->align;
    }
    b.true_extent = true_ub - b.true_lb;
    b.lb = b.true_lb;
    b.extent = b.true_extent;
    while (b.extent % align)
        b.extent++;
    if (model->marked) {
        b.lb = model->mark_lb;
        b.extent = model->mark_ub - model->mark_lb;
    }
    return b;
}

void model_add(struct model *model, const struct model *from, int64_t len, int64_t at)
{
    int64_t extent = model_bounds(from).extent;

    model->overflown |= from->overflown;
    for (int64_t k = 0; k < len; k++, at += extent) {
        for (int i = 0; i < from->n; i++) {
            if (model->n == MODEL_MAX) {
                model->overflown = true;
                return;
            }
            model->entry[model->n] = from->entry[i];
            model->entry[model->n++].at += at;
        }
        if (!from->marked)
            continue;
        if (!model->marked || at + from->mark_lb < model->mark_lb)
            model->mark_lb = at + from->mark_lb;
        if (!model->marked || at + from->mark_ub > model->mark_ub)
            model->mark_ub = at + from->mark_ub;
        model->marked = true;
    }
}

void model_add_grid(struct model *made, const struct model *old, const struct model_grid *grid)
{
    int64_t extent = model_bounds(old).extent, total = 1;

    for (int d = 0; d < grid->ndims; d++)
        total *= grid->sizes[d];
    for (int64_t i = 0; i < total; i++) {
        int64_t left = i;
        bool mine = true;
        for (int k = 0; k < grid->ndims; k++) {
            int d = grid->order == MPI_ORDER_FORTRAN ? k : grid->ndims - 1 - k;
            mine &= grid->mine[d][left % grid->sizes[d]];
            left /= grid->sizes[d];
        }
        if (mine)
            model_add(made, old, 1, i * extent);
    }
    made->overflown |= old->overflown;
    made->marked = true;
    made->mark_lb = 0;
    made->mark_ub = total * extent;
}

void model_reach(const struct model *model, int count, int64_t *first, int64_t *last)
{
    int64_t extent = model_bounds(model).extent;

    *first = 0;
    *last = -1;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < model->n; i++) {
            int64_t at = model->entry[i].at + k * extent, end = at + model->entry[i].size - 1;
            if (*last < *first || at < *first)
                *first = at;
            if (end > *last || (k == 0 && i == 0))
                *last = end;
        }
    }
}

bool model_overlaps(const struct model *model, int count)
{
    int64_t first, last, extent = model_bounds(model).extent;
    bool overlaps = false;

    model_reach(model, count, &first, &last);
    if (last < first)
        return false;
    char *seen = calloc(1, (size_t)(last - first + 1));
    if (!seen)
        abort();
    for (int k = 0; k < count && !overlaps; k++) {
        for (int i = 0; i < model->n; i++) {
            for (int b = 0; b < model->entry[i].size; b++)
                overlaps |= seen[model->entry[i].at + k * extent - first + b]++;
        }
    }
    free(seen);
    return overlaps;
}

void model_copy(const struct model *model, int count, char *user, char *packed, bool unpack)
{
    int64_t extent = model_bounds(model).extent;

    for (int k = 0; k < count; k++) {
        for (int i = 0; i < model->n; i++) {
            const struct model_entry *e = &model->entry[i];
            char *at = (char *)((uintptr_t)user + (uintptr_t)(e->at + k * extent));
            if (unpack)
                memcpy(at, packed, (size_t)e->size);
            else
                memcpy(packed, at, (size_t)e->size);
            packed += e->size;
        }
    }
}

/* The low byte first. */
static void lay_out(unsigned char *bytes, int n)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return;
    for (int i = 0; i < n / 2; i++) {
        unsigned char first = bytes[i];
        bytes[i] = bytes[n - 1 - i];
        bytes[n - 1 - i] = first;
    }
}

/* One number, by arithmetic only: a byte at a time. */
static void externalize_one(const struct model_entry *e, const char *from, char *to)
{
    int n = e->external < 0 ? -e->external : e->external;
    unsigned char bytes[32];
    long double extended;
    os_quad quad;

    memcpy(bytes, from, (size_t)e->size);
    if (e->size == 16) { /* the only such type of the tests is long double */
        memcpy(&extended, from, sizeof(extended));
        quad = extended;
        memcpy(bytes, &quad, sizeof(quad));
    }
    lay_out(bytes, e->size);
    if (e->external < 0 && n < e->size) /* keep the sign */
        bytes[n - 1] = (unsigned char)((bytes[n - 1] & 0x7f) | (bytes[e->size - 1] & 0x80));
    for (int i = 0; i < n; i++)
        to[i] = (char)bytes[n - 1 - i];
}

void model_turn(const struct model *model, int count, char *packed)
{
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < model->n; packed += model->entry[i++].size) {
            for (int low = 0, high = model->entry[i].size - 1; low < high; low++, high--) {
                char byte = packed[low];
                packed[low] = packed[high];
                packed[high] = byte;
            }
        }
    }
}

int64_t model_externalize(const struct model *model, int count, const char *packed, char *external)
{
    const char *start = external;

    for (int k = 0; k < count; k++) {
        for (int i = 0; i < model->n; i++) {
            const struct model_entry *e = &model->entry[i];
            externalize_one(e, packed, external);
            packed += e->size;
            external += e->external < 0 ? -e->external : e->external;
        }
    }
    return external - start;
}

MPI_Count model_elements(const struct model *model, int64_t bytes)
{
    MPI_Count n = 0;

    if (bytes && !model->n)
        return MPI_UNDEFINED;
    for (; bytes > 0; n++)
        bytes -= model->entry[n % model->n].size;
    return bytes ? MPI_UNDEFINED : n;
}
