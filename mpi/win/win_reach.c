/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of another process of this host; see win_reach.h. */
#include "mpi/win/win_reach.h"

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PIECE = 1 << 30
}; /* bytes of one call: the kernel copies 2 GiB at most */

enum {
    REACH_UNTRIED,
    REACH_PROVEN,
    REACH_REFUSED
};

struct win_reach win_reach_of(const uint64_t *word, const void *base)
{
    return (struct win_reach){
        .pid = getpid(), .word_at = (uintptr_t)word, .word = *word, .base = (uintptr_t)base};
}

static bool copy(const struct win_reach *reach, uint64_t there, void *here, size_t len, bool writes)
{
    while (len) {
        size_t now = len < PIECE ? len : PIECE;
        struct iovec mine = {here, now}, theirs = {(void *)(uintptr_t)there, now};
        ssize_t done = writes ? process_vm_writev((pid_t)reach->pid, &mine, 1, &theirs, 1, 0)
                              : process_vm_readv((pid_t)reach->pid, &mine, 1, &theirs, 1, 0);
        if (done <= 0)
            return false;
        there += (uint64_t)done;
        here = (char *)here + done;
        len -= (size_t)done;
    }
    return true;
}

bool win_reach_try(struct win_reach *reach)
{
    uint64_t word = 0;
    uint8_t found = atomic_load_explicit(&reach->found, memory_order_relaxed);
    if (found == REACH_UNTRIED && reach->pid) {
        bool good = copy(reach, reach->word_at, &word, sizeof(word), false) && word == reach->word;
        found = good ? REACH_PROVEN : REACH_REFUSED;
        atomic_store_explicit(&reach->found, found, memory_order_relaxed);
    }
    return found == REACH_PROVEN;
}

bool win_reach_write(const struct win_reach *reach, uint64_t offset, const void *from, size_t len)
{
    return copy(reach, reach->base + offset, (void *)(uintptr_t)from, len, true);
}

bool win_reach_read(const struct win_reach *reach, uint64_t offset, void *to, size_t len)
{
    return copy(reach, reach->base + offset, to, len, false);
}
