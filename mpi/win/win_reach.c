/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of another process of this host; see win_reach.h. */
#include "mpi/win/win_reach.h"

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/random.h"

enum {
    PIECE = 1 << 30
}; /* bytes of one call: the kernel copies 2 GiB at most */

enum {
    REACH_UNTRIED,
    REACH_PROVEN,
    REACH_REFUSED
};

struct win_reach win_reach_of(struct win_shown *shown, const void *base)
{
    if (os_random(&shown->word, sizeof(shown->word)))
        return (struct win_reach){0};
    return (struct win_reach){.pid = getpid(),
                              .shown_at = (uintptr_t)shown,
                              .word = shown->word,
                              .base = (uintptr_t)base};
}

/* ---- pieces ---- */

enum { PIECES = sizeof(((struct win_shown *)0)->pieces) / sizeof(struct win_shown_piece) };

static uint64_t check_of(uint64_t word, const struct win_shown_piece *piece)
{
    return word ^ piece->base * 0x9e3779b97f4a7c15u ^ piece->size * 0xc2b2ae3d27d4eb4fu;
}

void win_reach_show(struct win_shown *shown, uint64_t base, uint64_t size)
{
    struct win_shown_piece *piece = shown->pieces, *end = piece + PIECES;
    while (piece < end && piece->size)
        piece++;
    if (piece == end)
        return;
    *piece = (struct win_shown_piece){base, size, 0};
    piece->check = check_of(shown->word, piece);
}

void win_reach_hide(struct win_shown *shown, uint64_t base)
{
    for (struct win_shown_piece *piece = shown->pieces; piece < shown->pieces + PIECES; piece++)
        if (piece->size && piece->base == base)
            *piece = (struct win_shown_piece){0};
}

static bool has(const struct win_shown_piece *piece, uint64_t at, uint64_t len)
{
    return at >= piece->base && len <= piece->size && at - piece->base <= piece->size - len;
}

/* ---- access ---- */

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
        bool good = copy(reach, reach->shown_at, &word, sizeof(word), false) && word == reach->word;
        found = good ? REACH_PROVEN : REACH_REFUSED;
        atomic_store_explicit(&reach->found, found, memory_order_relaxed);
    }
    return found == REACH_PROVEN;
}

bool win_reach_shows(const struct win_reach *reach, uint64_t at, uint64_t len)
{
    struct win_shown shown;
    if (!copy(reach, reach->shown_at, &shown, sizeof(shown), false) || shown.word != reach->word)
        return false;
    for (const struct win_shown_piece *piece = shown.pieces; piece < shown.pieces + PIECES; piece++)
        if (has(piece, at, len) && piece->check == check_of(reach->word, piece))
            return true;
    return false;
}

bool win_reach_write(const struct win_reach *reach, uint64_t offset, const void *from, size_t len)
{
    return copy(reach, reach->base + offset, (void *)(uintptr_t)from, len, true);
}

bool win_reach_read(const struct win_reach *reach, uint64_t offset, void *to, size_t len)
{
    return copy(reach, reach->base + offset, to, len, false);
}
