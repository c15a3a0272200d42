/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A ring of bytes in shared memory, from one process to another: letters between a rank and the
 * daemon of its host. One end alone writes, the other alone reads; neither waits here.
 *
 * A letter is its length as a u32, then that many bytes; numbers are in network byte order. The
 * ring is a stream, so a letter may be longer than the ring.
 *
 * Neither end trusts the other: counts that do not fit the ring are -EPROTO.
 */
#ifndef BNR_MAIL_H
#define BNR_MAIL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    MAIL_DATA_MAX = 8 << 20, /* bytes of a message to many */
    MAIL_RANGES_MAX = 1024,  /* of ranks that it is for */
};

/* How it spreads, as a rank writes it down. */
enum mail_mode {
    MAIL_AUTO,
    MAIL_DIRECT,
    MAIL_LINEAR,
    MAIL_BINOMIAL,
    MAIL_RADIX,
    MAIL_BINARY,
    MAIL_ORDER, /* to mpiexec alone: see order.h */
    MAIL_MODE_END
};

/* The words of a ring. */
struct mail_words {
    _Alignas(64) _Atomic uint64_t put; /* bytes so far; stored with release after them */
    _Alignas(64) _Atomic uint64_t taken; /* the same; pairs with mail_write(), and is_full with mail_say_full() */
    _Atomic uint32_t turns;   /* futex: counts reads, for a writer that sleeps */
    _Atomic uint32_t is_full; /* the daemon waits for room: ring when there is some */
};

struct mail {
    struct mail_words *words;
    uint8_t *base;
    size_t size; /* a power of two */
};

/* Write as much of data as there is room for. Returns how much, or -EPROTO. */
long mail_write(const struct mail *m, const void *data, size_t len);
/* Read at most len bytes. Returns how many, or -EPROTO. */
long mail_read(const struct mail *m, void *data, size_t len);
/* There was no room: mail_has_waiter() is to say so once there is some. Then the writer tries once more. */
void mail_say_full(const struct mail *m);
/* After a read: whether the writer waits for room, and is to be rung. It does not wait any more. */
bool mail_has_waiter(const struct mail *m);
/* How many bytes wait to be read. */
uint64_t mail_waiting(const struct mail *m);

#endif
