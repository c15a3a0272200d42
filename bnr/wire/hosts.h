/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lists of hosts, as users and schedulers write them. No I/O, no name is resolved.
 *
 *   a list     a,b:4,n[1-3,07]:2,[fd00::1]:8,user@c
 *   a file     a line each: host, host:4, n[1-3], host slots=4 max_slots=8, user@host, host
 *              user=name, with blanks around "=" or without; # begins a comment.
 *              Words that another launcher knows and this one does not (binding=, ifname=) are
 *              refused by name.
 *   Slurm      SLURM_JOB_NODELIST n[1-3,07],m and SLURM_TASKS_PER_NODE 4(x3),2
 *   batch      what other systems write: words (a a b), pairs (a 2 b 1), rows (a line each: a 2 ...)
 *
 * A host that is named again has the slots of both; without a number it counts 1 each time.
 */
#ifndef BNR_HOSTS_H
#define BNR_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOSTS_NAME_MAX = 253,
    HOSTS_USER_MAX = 63,
    HOSTS_COUNT_MAX = 1 << 18,
    HOSTS_SLOTS_MAX = 1 << 20,
    HOSTS_PROBLEM_LEN = 256
};

struct hosts_entry {
    char *name, *user; /* user: may be NULL */
    uint32_t slots;
    bool has_slots;     /* a number was given */
    bool is_here;       /* it is this machine; the caller sets it */
    uint32_t max_slots; /* 0: none is given */
};

struct hosts {
    struct hosts_entry *items;
    size_t count, room;
    void *index;                     /* by name */
    char problem[HOSTS_PROBLEM_LEN]; /* after -EPROTO: the mistake and its place */
};

/* Begin with zeros. Each call adds hosts. Returns 0, -EPROTO or -ENOMEM. */
int hosts_add_list(struct hosts *h, const char *text, size_t len);
int hosts_add_file(struct hosts *h, const char *text, size_t len);
int hosts_add_slurm(struct hosts *h, const char *nodes, const char *tasks);

/* How a batch system writes hosts; each has a number of slots. */
enum hosts_form {
    HOSTS_WORDS, /* a name for each slot, parted by blanks or ends of lines */
    HOSTS_PAIRS, /* names and numbers, parted so */
    HOSTS_ROWS   /* a line each: a name, a number, and unused words */
};
int hosts_add_batch(struct hosts *h, enum hosts_form form, const char *text, size_t len);

/* Add a host of this name with so many slots. */
int hosts_add_slots(struct hosts *h, const char *name, uint32_t slots);

/* The host of this name in either of its forms, a.example.org or a; NULL: there is none. */
const struct hosts_entry *hosts_find(const struct hosts *h, const char *name);

void hosts_fini(struct hosts *h);

#endif
