/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Scans. After round k, a value folds the 2^k ranks that end with its own; what comes in, from
 * 2^k ranks below, folds those before them.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/fold.h"
#include "mpi/coll/sched.h"

/* Scan over the ranks from first on. */
static void scan_from(struct fold *f, const struct coll *c, int first)
{
    for (int64_t step = 1; step < c->size - first; step *= 2) {
        bool sends = c->rank + step < c->size, receives = c->rank - step >= first;
        if (sends)
            sched_send(f->s, c->rank + (int)step, f->value, f->count, f->type);
        if (receives)
            sched_recv(f->s, c->rank - (int)step, fold_room(f, true), f->count, f->type);
        sched_wait(f->s);
        if (receives)
            fold_take(f, true);
    }
    fold_end(f);
}

void coll_scan_doubling(struct sched *s, const struct coll *c)
{
    struct fold f;
    fold_init(&f, s, c->send.buf, c->recv.buf, c->recv.count, c->recv.type);
    scan_from(&f, c, 0);
}

/* All values move up by one rank; then it is a scan over the ranks from 1 on. */
void coll_exscan_doubling(struct sched *s, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    bool in_place = c->send.buf == MPI_IN_PLACE;
    int rank = c->rank;
    void *input = in_place ? data->buf : c->send.buf, *value = data->buf;
    if (in_place && rank > 0)
        value = sched_temp_of(s, data->count, data->type);
    if (rank + 1 < c->size)
        sched_send(s, rank + 1, input, data->count, data->type);
    if (rank == 0)
        return;
    sched_recv(s, rank - 1, value, data->count, data->type);
    sched_wait(s);
    struct fold f;
    fold_init(&f, s, value, data->buf, data->count, data->type);
    scan_from(&f, c, 1);
}
