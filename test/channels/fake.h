/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A device of a few hundred lines, for tests of channels: it links, sends
 * numbered packets with checkable contents, and ends its process with a
 * sentence when a channel breaks the contract of channel.h.
 *
 * A world is what the processes of one case share: a barrier, mailboxes for
 * cards, and the host memory that env->memory() hands out. Each process of the
 * case has one struct fake, and talks to the others through its peers.
 *
 * Each packet is checked: the number of each packet on its link, its
 * length, every byte, and that upcalls come only when they may.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>

#include "include/channel.h"
#include "slots.h"

enum {
    FAKE_PROCS = 4,         /* at most, in one world */
    FAKE_MEMORY = 64 << 20, /* bytes of address space per rank */
    FAKE_PARAMS = 16,       /* texts of parameters of a channel */
    FAKE_FLAGS = 32         /* words that cases may use between processes */
};

struct fake_world {
    _Atomic uint32_t waiting, phase; /* barrier */
    _Atomic uint32_t flag[FAKE_FLAGS];
    _Atomic uint64_t word[FAKE_FLAGS];
    char card[FAKE_PROCS][CHAN_CARD_MAX];
    _Atomic int32_t pid[FAKE_PROCS];
    char why[FAKE_PROCS][256]; /* what went wrong, or why the channel cannot run */
    struct chan_gid gid;
    int memory_fd; /* FAKE_PROCS parts of FAKE_MEMORY bytes */
};

/* How a payload is handed to send(). */
enum fake_form {
    FAKE_PLAIN = 0,
    FAKE_COOKIE = 1u << 0, /* with a cookie: may become pending */
    FAKE_PIECES = 1u << 1, /* not contiguous: by read() */
    FAKE_MORE = 1u << 2,   /* with CHAN_MORE */
    FAKE_TRY = 1u << 3     /* give up at CHAN_AGAIN */
};

struct fake_peer {
    struct chan_peer base;
    void *slots[ENDPOINT_SLOTS]; /* of built-in channels: behind base */
    struct fake *fake;
    struct chan_link *link; /* NULL: none */
    bool open;              /* opened(), and not yet gone */
    bool may_lose;          /* lost() is no error now */
    bool failed;            /* its process ends without is_out() */
    bool ended;             /* its process has ended, and the channel is told so of each link */
    int opened, refused, lost, asked;
    enum chan_answer answer; /* of the last refused(), and its reason */
    char reason[128];
    uint64_t out, in;        /* packets sent, arrived; numbers them */
    uint64_t bytes_in;
};

struct fake {
    struct fake_world *world;
    const struct chan_ops *ops;
    struct chan *chan;
    struct chan_env env;
    struct chan_sink sink;
    int rank, procs;
    struct fake_peer peer[FAKE_PROCS];
    bool in_progress;
    bool ending;         /* links may go away now */
    int refuse;          /* the answer of asked(); 0: the right one */
    char *params[FAKE_PARAMS]; /* texts that the environment gave, until the end */
    int param_count;
    size_t request_size; /* bytes, with what the channel has reserved */
    bool requests_exist;
    int pending, placed, landed;
    int done, done_due, done_rc; /* one-sided operations that are over; looked at; how it ended */
    void *places; /* places named and not yet landed */
    /* Also called for each packet that has arrived, once it is checked; may be NULL. */
    void (*arrived)(struct fake *fake, struct fake_peer *peer, size_t len);
};

/* Make a world for the processes that will be forked; NULL where memory is out. */
struct fake_world *fake_world_create(void);
void fake_world_destroy(struct fake_world *world);

/* Open the channel as rank of procs, with the job's secret (or another), publish the card
 * and wait for the others. Ends the process with status FAKE_SKIP if it cannot run here. */
enum {
    FAKE_SKIP = 77
};
void fake_start(struct fake *fake, struct fake_world *world, const struct chan_ops *ops, int rank,
                int procs, bool right_secret);
/* Wait for the others, unlink, close. */
void fake_finish(struct fake *fake);

/* Write a sentence to the world and end this process. */
void fake_fail(struct fake *fake, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#define FAKE_CHECK(fake, truth, ...)      \
    do {                                  \
        if (!(truth))                     \
            fake_fail(fake, __VA_ARGS__); \
    } while (0)

extern int fake_patience; /* all limits are so many times as long */

/* progress(), once; ends the process when deadline_ns (os_now_ns) has passed. */
int fake_step(struct fake *fake, uint64_t deadline_ns, const char *what);
/* Progress until *counter >= value, at most ms milliseconds. */
void fake_until(struct fake *fake, const int *counter, int value, int ms, const char *what);
void fake_until_packets(struct fake *fake, struct fake_peer *peer, uint64_t in, int ms);
void fake_until_idle(struct fake *fake, int ms); /* no packet of ours is pending */
void fake_run(struct fake *fake, int ms);        /* progress for so long */

/* Meet the other processes; with progress or without. */
void fake_barrier(struct fake *fake);
void fake_barrier_still(struct fake *fake);

/* Start a link to rank, through its card in the world. */
struct fake_peer *fake_link(struct fake *fake, int rank);

/* The rank that is not this one, of two; or this one, if it is alone. */
int fake_other(const struct fake *fake);
/* Rank 0 links to rank 1, and both wait until the link is open. */
struct fake_peer *fake_join(struct fake *fake);
/* The data that one packet may carry, or 8 MiB if that is less. */
size_t fake_largest(const struct fake_peer *peer);
void fake_unlink(struct fake_peer *peer);

/* Wait until the process of a rank has ended, without progress, and tell the channel. */
void fake_await_end(struct fake *fake, int rank);

/* Send the next packet of this link, with len bytes (max_data at most) made from its number.
 * Returns false at CHAN_AGAIN with FAKE_TRY; without, it makes progress until it is taken. */
bool fake_send(struct fake_peer *peer, size_t len, unsigned form);

#endif
