/* SPDX-License-Identifier: BSD-3-Clause */

/* Views; see view.h. */
#include "romio/view.h"

#include <stdlib.h>

#include "romio/library.h"
#include "romio/types.h"

struct run_list {
    struct view_run *runs;
    int64_t count, room, bytes;
};

static int take_run(void *arg, int64_t offset, int64_t len)
{
    struct run_list *list = arg;
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        struct view_run *more = realloc(list->runs, (size_t)list->room * sizeof(*more));
        if (!more)
            return MPI_ERR_NO_MEM;
        list->runs = more;
    }
    list->runs[list->count++] = (struct view_run){offset, len, list->bytes};
    list->bytes += len;
    return 0;
}

bool view_take_runs(struct view *view, MPI_Datatype filetype)
{
    struct run_list list = {0};
    MPI_Count lb, extent;
    if (library_hooks->flatten(filetype, take_run, &list)) {
        free(list.runs);
        return false;
    }
    PMPI_Type_get_extent_c(filetype, &lb, &extent);
    view->size = list.bytes;
    view->extent = extent;
    view->runs = list.runs;
    view->run_count = list.count;
    if (list.count == 1 && list.runs[0].offset == 0 && list.bytes == extent) {
        free(view->runs);
        view->runs = NULL;
    }
    return true;
}

void view_fini(struct view *view)
{
    free(view->runs);
    view->runs = NULL;
    types_release(&view->etype);
    types_release(&view->filetype);
}

/* The last run with value(run) <= at, where the first is 0 or the least. */
static const struct view_run *find(const struct view *view, int64_t at, bool by_data)
{
    int64_t low = 0, high = view->run_count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        const struct view_run *run = &view->runs[middle];
        if ((by_data ? run->before : run->offset) <= at)
            low = middle;
        else
            high = middle;
    }
    return &view->runs[low];
}

int64_t view_run(const struct view *view, int64_t byte, int64_t *place)
{
    *place = view->disp + byte;
    if (!view->runs || !view->size)
        return INT64_MAX;
    const struct view_run *run = find(view, byte % view->size, true);
    int64_t in = byte % view->size - run->before;
    *place = view->disp + byte / view->size * view->extent + run->offset + in;
    return run->len - in;
}

int64_t view_place(const struct view *view, int64_t byte)
{
    int64_t place;
    (void)view_run(view, byte, &place);
    return place;
}

int64_t view_mean_run(const struct view *view)
{
    return view->runs && view->run_count ? view->size / view->run_count : INT64_MAX;
}

int64_t view_mean_distance(const struct view *view)
{
    return view->runs && view->run_count ? view->extent / view->run_count : INT64_MAX;
}

int64_t view_below(const struct view *view, int64_t place)
{
    place -= view->disp;
    if (place <= 0 || !view->size)
        return 0;
    if (!view->runs || view->extent <= 0)
        return place;
    int64_t whole = place / view->extent, rest = place % view->extent;
    const struct view_run *run = find(view, rest, false);
    int64_t in = rest - run->offset;
    in = in < 0 ? 0 : in > run->len ? run->len : in;
    return whole * view->size + (rest < view->runs[0].offset ? 0 : run->before + in);
}
