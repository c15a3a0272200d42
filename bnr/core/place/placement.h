/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which rank runs on which host, and on which of its processors. Pure: the caller describes hosts
 * and their hardware.
 *
 * First each process gets a host, in an order; that is the mapping. Mapped by slot, or by an
 * object inside of hosts, each host takes as many as it has slots, then the next one; by node,
 * they are dealt out one by one. When all slots are taken and there is more to place, it begins
 * again, unless that is forbidden. ppr:N:OBJECT puts N on each object of each host. Spread over
 * objects, each object of all hosts has one, then each its second, while its host has slots.
 *
 * On its host, process k is mapped to object k modulo their number (ppr: k / N), and bound: to the
 * least used object of the binding's kind inside, or to the one around. Mapped by slot or node, it
 * is mapped to core k.
 *
 * Ranks are numbered in the order of mapping, or by node, or by objects: dealt out, or one object
 * filled after the other.
 */
#ifndef BNR_PLACEMENT_H
#define BNR_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Objects, from small to large. */
enum placement_level {
    PLACEMENT_HWTHREAD,
    PLACEMENT_CORE,
    PLACEMENT_L1,
    PLACEMENT_L2,
    PLACEMENT_L3,
    PLACEMENT_L4,
    PLACEMENT_L5,
    PLACEMENT_NUMA,
    PLACEMENT_PACKAGE,
    PLACEMENT_NODE,
    PLACEMENT_SLOT, /* mapping and ranking alone */
    PLACEMENT_NONE, /* binding alone */
};

/* A hardware thread that may be used. Objects have numbers that no other object of their kind on
 * this host has; all threads of an object stand together. */
struct placement_cpu {
    uint32_t os_index, object[PLACEMENT_NODE]; /* HWTHREAD ... PACKAGE */
    bool is_near; /* it is near the device that was asked for */
};

struct placement_machine {
    const struct placement_cpu *cpus;
    uint32_t count;
    uint32_t lacks; /* bit L: it tells of no objects of level L */
};

struct placement_host {
    const char *name;
    uint32_t slots;     /* 0: as many as it has cores */
    uint32_t max_slots; /* 0: no limit */
    const struct placement_machine *machine;
};

struct placement_request {
    const struct placement_host *hosts;
    uint32_t host_count;
    uint32_t ranks; /* 0: with ppr, as many as that makes */
    enum placement_level map;
    uint32_t ppr; /* processes on each object of the mapping; 0: no such thing */
    enum placement_level rank_by;
    bool is_spread;   /* mapped to the objects of all hosts in turn */
    bool is_spanning; /* ranks are dealt out to the objects of all hosts */
    bool is_filling;  /* ranks fill an object before they go to the next */
    enum placement_level bind;
    uint32_t pe;     /* cores (bound to hwthreads: these) for each process; 0: not said */
    uint32_t width;  /* objects of the binding for each process, in turn; 0: one, as mapped */
    uint32_t ppn;    /* processes that a host takes at a time, in place of its slots; 0: not said */
    bool is_limited; /* not more than slots */
    bool may_overload; /* more than one may be bound to a core or hwthread */
};

/* One rank. cpus: indices into its machine's, ascending; none if it is not bound. */
struct placement_rank {
    uint32_t host;
    uint32_t *cpus;
    uint32_t cpu_count;
};

enum {
    PLACEMENT_PROBLEM_LEN = 256,
    PLACEMENT_RANKS_MAX = 1 << 24
};

struct placement {
    struct placement_rank *ranks;
    uint32_t count;
    char problem[PLACEMENT_PROBLEM_LEN]; /* after -EINVAL: what cannot be done, and why */
};

/* Place all ranks. Returns 0, -EINVAL, -ENOMEM. */
int placement_make(struct placement *p, const struct placement_request *request);
void placement_fini(struct placement *p);

/* ---- rankfiles: a line for each rank, in any order ----
 *
 *     rank N=HOST slot=CORES      # HOST is one of the job's, or +nK, the Kth of them
 *
 * CORES counts the host's cores from 0: 0, 0-3, 0,2, or with a package 1:0-3, 1:*, 0:0,1;1:0. First
 * mpiexec says from it on which host each rank is; then each host binds its own ranks. */

enum {
    PLACEMENT_FILE_MAX = 4 << 20 /* bytes of a rankfile */
};

/* Texts are parts of the file's. */
struct placement_line {
    const char *host, *cores; /* host: NULL where the rank has no line */
    uint32_t host_len, cores_len;
    uint32_t number; /* of the line in the file, from 1 */
};

struct placement_file {
    struct placement_line *lines; /* by rank */
    uint32_t room, count;         /* of these; ranks that have one */
    char problem[PLACEMENT_PROBLEM_LEN];
};

/* Read a rankfile, whose text stays. Hosts and their hardware are not looked at. Returns 0, -EINVAL
 * with a problem, -ENOMEM. */
int placement_file_read(struct placement_file *f, const char *text, size_t len);
void placement_file_fini(struct placement_file *f);

/* Names that a rankfile may use for hosts. */
struct placement_names {
    const char *const *names;
    uint32_t count, listed; /* listed: those before other names of the same hosts */
};

/* Say for each rank which of the names its host is. Returns 0, -EINVAL with a problem. */
int placement_file_hosts(const struct placement_file *f, const struct placement_names *names,
                         uint32_t ranks, uint32_t *host_of, char problem[PLACEMENT_PROBLEM_LEN]);

/* The ranks of one host. */
struct placement_share {
    const struct placement_file *file;
    const struct placement_machine *machine;
    const char *host; /* for people */
    uint32_t ranks;
    const uint32_t *number_of; /* in the job; NULL: they are all of it */
};

/* Place these, each bound to what its line says. Returns 0, -EINVAL with a problem, -ENOMEM. */
int placement_bind_file(struct placement *p, const struct placement_share *share);

/* The unit that the numbers of a list of processors count. */
enum placement_unit {
    PLACEMENT_BY_SYSTEM, /* hardware threads, as the system numbers them */
    PLACEMENT_BY_CORE,   /* cores of the machine from 0, in its order: all their threads */
    PLACEMENT_BY_THREAD, /* hardware threads of the machine from 0, in its order */
};

/* Keep of a machine's processors those that a list names, as 0,2-5. Returns 0, -EINVAL with a
 * problem, -ENOMEM. */
int placement_restrict(struct placement_cpu *cpus, uint32_t *count, const char *list,
                       enum placement_unit unit, char problem[PLACEMENT_PROBLEM_LEN]);

/* The processors that ranks of one host are bound to by a list: the kth of them to its kth word. */
struct placement_words {
    const struct placement_machine *machine;
    const char *list; /* 0,2-4 or 0+2,1+4,3 */
    enum placement_unit unit;
    bool begins_again; /* if there are more ranks than words; otherwise that is refused */
};

/* Bind all ranks, which are on one host. Returns 0, -EINVAL with a problem, -ENOMEM. */
int placement_bind_list(struct placement *p, const struct placement_words *words);

/* How many objects of a kind a machine has. */
uint32_t placement_objects(const struct placement_machine *machine, enum placement_level level);

/* Write which hardware threads a rank is bound to: [BB/..][../..], packages in brackets, cores
 * parted by strokes; cut off if it is longer than len. */
void placement_picture(const struct placement_machine *machine, const struct placement_rank *rank,
                       char *text, size_t len);

/* The kind of object that a word means; PLACEMENT_NONE for none. Returns false for another. */
bool placement_word(const char *word, size_t len, enum placement_level *level);

#endif
