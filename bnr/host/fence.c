/* SPDX-License-Identifier: BSD-3-Clause */

/* The fence; see fence.h. */
#include "bnr/host/fence.h"

#include "os/futex.h"

void fence_init(struct fence *f, const struct table *t, int slot)
{
    f->table = t;
    f->slot = slot;
    f->count = atomic_load(&table_page(t, slot)->fence_entered);
}

/* By the members' own counts. */
static int check_host(const struct fence *f)
{
    int rc = 0;
    for (int r = 0; r < f->table->world_size; r++) {
        int slot = table_slot(f->table, r);
        if (slot < 0)
            return FENCE_BROKEN;
        struct table_page *page = table_page(f->table, slot);
        /* Read the end before the arrivals: a member that arrived and then ended has arrived. */
        int is_over =
            table_has_ended(f->table, r) || (atomic_load(&page->flags) & PAGE_FINALIZED) != 0;
        if ((int32_t)(atomic_load(&page->fence_entered) - f->count) >= 0)
            continue;
        if (is_over)
            return FENCE_BROKEN;
        rc = FENCE_WAITING;
    }
    return rc;
}

void fence_enter(struct fence *f)
{
    struct table_page *hub = table_page(f->table, 0);
    f->count++;
    atomic_store(&table_page(f->table, f->slot)->fence_entered, f->count);
    uint32_t arrivals = atomic_fetch_add(&hub->fence_arrivals, 1) + 1;
    if (!f->table->head->is_wide && arrivals == f->count * (uint32_t)f->table->slots &&
        !check_host(f)) {
        atomic_store(&hub->fence_done, f->count);
        os_futex_wake(&hub->fence_done, INT_MAX);
    }
}

int fence_poll(const struct fence *f)
{
    uint32_t done =
        atomic_load_explicit(&table_page(f->table, 0)->fence_done, memory_order_acquire);
    return (int32_t)(done - f->count) >= 0 ? 0 : FENCE_WAITING;
}

/* The daemon's answer. */
static int check_wide(const struct fence *f)
{
    int rc = fence_poll(f);
    uint32_t failed = atomic_load(&table_page(f->table, 0)->fence_failed);
    return !rc && failed && (int32_t)(f->count - failed) >= 0 ? FENCE_BROKEN : rc;
}

int fence_check(const struct fence *f)
{
    return f->table->head->is_wide ? check_wide(f) : check_host(f);
}

void fence_sleep(const struct fence *f, uint64_t timeout_ns)
{
    struct table_page *hub = table_page(f->table, 0);
    uint32_t done = atomic_load(&hub->fence_done);
    if ((int32_t)(done - f->count) < 0)
        (void)os_futex_wait(&hub->fence_done, done, timeout_ns);
}
