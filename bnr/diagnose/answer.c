/* SPDX-License-Identifier: BSD-3-Clause */

/* Answers of ranks; see answer.h. */
#include "bnr/diagnose/answer.h"

#include <string.h>
#include <unistd.h>

static struct table_page *page_of(const struct table *t, int rank)
{
    return table_page(t, table_slot(t, rank));
}

enum diagnose_state answer_state(const struct table *t, int rank)
{
    if (table_has_ended(t, rank))
        return DIAGNOSE_ENDED;
    const struct table_page *page = page_of(t, rank);
    uint32_t flags = atomic_load(&page->flags);
    if (!(flags & PAGE_INITIALIZED))
        return DIAGNOSE_NOT_INIT;
    if (flags & PAGE_FINALIZED)
        return DIAGNOSE_FINALIZED;
    uint32_t answered = atomic_load_explicit(&page->answered, memory_order_acquire);
    return answered == atomic_load(&t->head->asks) ? DIAGNOSE_ANSWERED : DIAGNOSE_SILENT;
}

/* It has said itself which process it is, so that must be of the rank's process group. */
int answer_process(const struct table *t, int rank)
{
    int leader = t->rank[rank].pid;
    int claimed = atomic_load(&page_of(t, rank)->claim_pid);
    return claimed > 0 && getpgid(claimed) == leader ? claimed : leader > 0 ? leader : 0;
}

size_t answer_copy(const struct table *t, int rank, uint8_t text[TABLE_ANSWER])
{
    uint32_t len = *(const volatile uint32_t *)&page_of(t, rank)->answer_len;
    len = len < TABLE_ANSWER ? len : TABLE_ANSWER;
    memcpy(text, table_answer(t, table_slot(t, rank)), len);
    return len;
}
