/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lists of hosts, as users and schedulers write them. No I/O, no name is resolved.
 *
 *   a list     a,b:4,n[1-3,07]:2,[fd00::1]:8,user@c
 *   a file     a line each: host, host:4, host slots=4 max_slots=8, user@host, host user=name; #
 *              begins a comment.
 *              Words that another launcher knows and this one does not (binding=, ifname=) are
 *              refused by name.
 *   Slurm      SLURM_JOB_NODELIST n[1-3,07],m and SLURM_TASKS_PER_NODE 4(x3),2
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
    char *name, *user; /* user: NULL where none is given */
    uint32_t slots;
    bool has_slots;     /* a number was given */
    bool is_here;       /* it is this machine; whoever knows sets it */
    uint32_t max_slots; /* 0: none is given */
};

struct hosts {
    struct hosts_entry *items;
    size_t count, room;
    void *index;                     /* by name */
    char problem[HOSTS_PROBLEM_LEN]; /* after -EPROTO: what is wrong, and where */
};

/* Begin with zeros. Each adds to what is there. Returns 0, -EPROTO or -ENOMEM. */
int hosts_add_list(struct hosts *h, const char *text, size_t len);
int hosts_add_file(struct hosts *h, const char *text, size_t len);
int hosts_add_slurm(struct hosts *h, const char *nodes, const char *tasks);

void hosts_fini(struct hosts *h);

#endif
