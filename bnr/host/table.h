/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The two segments that mpiexec makes before it starts a rank, and that every
 * rank of the host inherits.
 *
 * The host table describes the job and the state of its ranks. Only mpiexec writes it; ranks map it
 * read-only, and the kernel holds them to that.
 *
 *     struct table_head | struct table_host per host | struct table_rank per rank |
 *     members: u32 per rank | order: u32 per rank
 *
 * The job's hosts have numbers, and so have the ranks on each. members lists the ranks host by
 * host, each host's by their numbers there. order[i] is the rank that ended as number i + 1;
 * head.ends counts them. So a rank learns by one load whether ranks have ended, and reads on to
 * learn which.
 *
 * A rank of this machine has a slot: its place in the host memory. With --pretend-hosts all ranks
 * are on this machine, though the job has several hosts. In a job over several machines each has
 * segments of its own, which its daemon makes (mpiexec is one), and the ranks there have the slots.
 *
 * The host memory is written by the ranks: one page each for BNR's words, one log each for the
 * key-value space, one place each for what they answer when mpiexec asks what they wait for, one
 * for what the daemon answers them, two rings each for letters to and from the daemon, and one
 * region each that belongs to the channels. It is sparse: parts that no process touches take no
 * memory.
 *
 *     pages | logs | answers | replies | letters | (padding to 2 MiB) | regions
 *
 * A rank that wants something of its daemon, which is mpiexec where the job has one machine, says so
 * in its page and rings: it writes a byte into a pipe that it has inherited.
 *
 * A reader checks all bytes that another rank wrote.
 */
#ifndef BNR_TABLE_H
#define BNR_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/host/host.h"
#include "bnr/host/kvs.h"
#include "bnr/host/mail.h"

enum {
    TABLE_VERSION = 9,
    TABLE_PAGE = 4096,         /* bytes of a rank's page */
    TABLE_LOG = 1 << 20,       /* bytes of a rank's log */
    TABLE_ANSWER = 1 << 16,    /* bytes of a rank's answer to mpiexec */
    TABLE_REPLY = 1 << 18,     /* bytes of a daemon's answer to a rank */
    TABLE_LETTERS = 1 << 19,   /* bytes of a ring to or from a daemon */
    TABLE_REGION = 128 << 20,  /* bytes of a rank's memory for channels and host regions */
    TABLE_ALIGN = 2 << 20,     /* of the first region */
    TABLE_RANKS_MAX = 1 << 20, /* in a job */
    TABLE_SLOTS_MAX = 1 << 16, /* ranks on a machine */
    TABLE_MESSAGE_MAX = 1024,  /* an abort's message with its NUL */
    TABLE_FIRST_FD = 200,      /* programs in shell use the small numbers for their own */
};

#define TABLE_MAGIC 0x766972656f626e72u /* "vireobnr" */

enum table_state {
    TABLE_WAITING,
    TABLE_RUNNING,
    TABLE_ENDED
};

struct table_rank {
    _Atomic uint32_t state; /* enum table_state; ENDED is stored with release after status */
    uint32_t app;           /* which program of the command line */
    int32_t pid;            /* 0 until it runs; also its process group */
    int32_t status;         /* as wait() gives it, once ENDED */
    uint32_t host;          /* its number */
    uint32_t local_rank;    /* its number on the host */
    uint32_t
        slot; /* its page, log, answer, reply and region are at this index; or TABLE_NO_SLOT */
    uint32_t end; /* TABLE_END_ bits: how a rank without a slot has ended */
};

enum {
    TABLE_END_FAILED = 1, /* though its status may be 0 */
    TABLE_END_ABORTED = 2,
    TABLE_END_JOINED = 4, /* it had begun: PAGE_INITIALIZED */
    TABLE_END_HOST_LOST = 8, /* nothing is heard of its host any more */
};

#define TABLE_NO_SLOT UINT32_MAX

struct table_host {
    uint32_t first; /* in members */
    uint32_t ranks; /* here, at least 1 */
    uint32_t cpus;  /* that they may use, at least 1 */
    uint32_t reserved;
    char id[HOST_ID_MAX];
    char name[256]; /* for people */
};

struct table_head {
    uint64_t magic;
    uint32_t version;
    uint32_t world_size;
    uint32_t slots; /* in the host memory */
    uint32_t universe_size;
    uint32_t cpus; /* of this machine, that the ranks here may use */
    uint32_t app_count;
    uint32_t hosts;
    uint32_t is_wide; /* the job has several machines: there is a daemon to ask */
    uint8_t gid[16];
    uint8_t secret[16];
    _Alignas(64) _Atomic uint32_t ends; /* stored with release after order and rank */
    _Atomic uint32_t asks; /* how often mpiexec has asked the ranks what they wait for */
    _Atomic uint32_t held; /* futex: ranks wait in MPI_Init while a debugger takes hold of them */
};

_Static_assert(sizeof(struct table_rank) == 32, "two records a cache line");
_Static_assert(sizeof(struct table_host) == 464, "layout of version 4");
_Static_assert(sizeof(struct table_head) == 128 + 64, "layout of version 4");

enum {
    PAGE_INITIALIZED = 1,
    PAGE_FINALIZED = 2,
    PAGE_TOLERANT = 4 /* if ranks fail, the others go on: see BNR_Tolerate() */
};

/* A rank's question to its daemon: a key of a rank that has no slot here. The rank writes it, then
 * counts up asked; the daemon writes status, len and the reply, then stores told = asked. */
struct table_question {
    _Atomic uint32_t asked; /* stored with release */
    _Atomic uint32_t told;  /* futex; stored with release */
    uint32_t owner;
    uint32_t how; /* enum table_how */
    uint32_t key_len;
    uint32_t status; /* enum table_answer */
    uint32_t len;    /* bytes of the reply */
    uint32_t reserved;
    char key[256];
};

enum table_how {
    TABLE_WAIT,
    TABLE_NOWAIT, /* not found, in place of waiting */
    TABLE_LATER   /* the same, if not known on this machine yet */
};

enum table_answer {
    TABLE_ANSWER_GOOD,
    TABLE_ANSWER_ABSENT,
    TABLE_ANSWER_ENDED, /* the owner has ended without */
    TABLE_ANSWER_ASKED, /* not known on this machine, and its owner's is asked */
    TABLE_ANSWER_FAILED
};

/* A rank's words. Only the rank writes its page. Exceptions: all ranks use the fence words in the
 * page of slot 0, get_waiters, awaited and news, and the daemon writes its part of the question. */
struct table_page {
    _Atomic int32_t claim_pid; /* the process that is this rank; 0: none yet */
    _Atomic uint32_t flags;    /* PAGE_ bits */
    _Atomic uint32_t aborted;  /* stored with release after code and message */
    int32_t abort_code;
    _Atomic uint32_t fence_entered; /* fences that this rank has come to */
    _Atomic uint32_t answered; /* head.asks as answered; stored with release after the answer */
    uint32_t answer_len;       /* bytes */
    uint32_t reserved[9];

    _Alignas(64) _Atomic uint64_t log_used; /* watermark of the log, stored with release after the entry */
    _Atomic uint32_t puts;                  /* futex: counts puts, after log_used */
    _Atomic uint32_t get_waiters; /* whether some process sleeps on puts, or is about to; in one order with puts */
    _Atomic uint64_t awaited;     /* bit s % 64: the rank at slot s wants news of the next put; set before it looks at
                                   * the log, taken after a put: see give_news() */
    _Atomic uint32_t news;        /* futex: counts what this rank wanted, and may have come */

    _Alignas(64) _Atomic uint32_t fence_arrivals; /* in all fences, of all ranks; after puts */
    _Alignas(64) _Atomic uint32_t fence_done;     /* futex: fences complete */
    _Atomic uint32_t fence_failed; /* the first that has failed; stored before fence_done */

    _Alignas(64) char message[TABLE_MESSAGE_MAX];
    struct table_question question;
    struct mail_words sent; /* letters of the rank to its daemon */
    struct mail_words come; /* and from there */
};

_Static_assert(sizeof(struct table_page) <= TABLE_PAGE, "a rank's words are one page");
_Static_assert(offsetof(struct table_page, message) == 256, "layout of version 4");

/* Both segments, mapped. The counts are copies, checked once. */
struct table {
    struct table_head *head;
    struct table_host *host; /* hosts */
    struct table_rank *rank; /* world_size */
    uint32_t *members;       /* world_size */
    uint32_t *order;         /* world_size */
    uint8_t *area;           /* pages, logs, answers and replies */
    size_t head_size, area_size;
    int world_size, slots, hosts;
    int head_fd, memory_fd;
};

/* A job over several machines. */
struct table_wide {
    const struct table_host *hosts; /* id, name and cpus of each */
    const uint32_t *host_of;        /* each rank's host; every host has some */
    int self;                       /* this machine; -1: it has no ranks of the job */
    const uint8_t *gid, *secret;    /* 16 bytes each */
};

struct table_spec {
    int world_size, app_count, cpus;
    const int *apps;   /* each rank's program */
    int universe_size; /* at least world_size; 0: the same */
    int hosts;         /* of wide; or that the machine pretends to be; 0: none, it is itself */
    const struct table_wide *wide; /* NULL: all ranks are on this machine */
};

/* Make both segments, filled. Pretended hosts get ranks in blocks whose
 * sizes differ by one at most, and there are as many as ranks at most. mpiexec and daemons only.
 * Returns 0 or -errno. */
int table_create(struct table *t, const struct table_spec *spec);

/* Map the memory of fds, after a check that it is a table of this version. Returns 0, or -EPROTO,
 * -errno with the reason in why. Takes neither descriptor. */
int table_attach(struct table *t, int head_fd, int memory_fd, char *why, size_t size);

/* Unmap; the descriptors stay open. Accepts a zeroed table. */
void table_detach(struct table *t);

/* Record that rank runs as pid, or has ended. mpiexec and daemons only. */
void table_started(struct table *t, int rank, int pid);
void table_ended(struct table *t, int rank, int status);

/* A key may be there that the rank at a slot wants. */
void table_give_news(struct table *t, int slot);

static inline int table_has_ended(const struct table *t, int rank)
{
    return atomic_load_explicit(&t->rank[rank].state, memory_order_acquire) == TABLE_ENDED;
}

/* Where rank lies in the host memory, or -1: a damaged record. */
static inline int table_slot(const struct table *t, int rank)
{
    uint32_t slot = t->rank[rank].slot;
    return slot < (uint32_t)t->slots ? (int)slot : -1;
}

/* The number of rank's host; of a damaged record, that of the first. */
static inline int table_node(const struct table *t, int rank)
{
    uint32_t host = t->rank[rank].host;
    return host < (uint32_t)t->hosts ? (int)host : 0;
}

static inline const struct table_host *table_host(const struct table *t, int rank)
{
    return &t->host[table_node(t, rank)];
}

/* Write the name of the host, or how many hosts there are. */
void table_name_hosts(const struct table *t, char *text, size_t size);

/* The rank that is number local_rank on a host, or -1. */
int table_member(const struct table *t, int host, int local_rank);

static inline struct table_page *table_page(const struct table *t, int slot)
{
    return (struct table_page *)(void *)(t->area + (size_t)slot * TABLE_PAGE);
}

/* The log of a slot. */
struct kvs table_log(const struct table *t, int slot);

/* The TABLE_ANSWER bytes of a slot. */
static inline uint8_t *table_answer(const struct table *t, int slot)
{
    return t->area + (size_t)t->slots * (TABLE_PAGE + TABLE_LOG) + (size_t)slot * TABLE_ANSWER;
}

/* The TABLE_REPLY bytes of a slot. */
static inline uint8_t *table_reply(const struct table *t, int slot)
{
    return t->area + (size_t)t->slots * (TABLE_PAGE + TABLE_LOG + TABLE_ANSWER) +
           (size_t)slot * TABLE_REPLY;
}

/* The rings of a slot. */
struct mail table_sent(const struct table *t, int slot);
struct mail table_come(const struct table *t, int slot);

/* The bytes of memory that so many slots are sure to use. */
uint64_t table_need(int slots);
/* Where a slot's channel memory begins in the memory descriptor. */
uint64_t table_region_offset(const struct table *t, int slot);

/* Copy the message of an aborted rank, as text for a terminal. */
void table_abort_message(const struct table *t, int slot, char text[TABLE_MESSAGE_MAX]);

#endif
