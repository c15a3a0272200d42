/* SPDX-License-Identifier: BSD-3-Clause */

/* Deaths among the processes of one host; see presence.h. Locks of a process, not of an open file: all processes have the
 * same open file. A child of fork() has none of them. */
#include "bnr/client/presence.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/memory/segment.h"

enum { NOT_THERE, PRESENT, LEFT };
#define LOOK_NS 200000000u
#define LOOK_EACH_NS 8000000u /* added for each process: all look at all */

struct presence {
    int fd, index, count;
    uint64_t at, next_ns;
    _Atomic unsigned char *state;
    bool has_ended[]; /* of each: it is known */
};

uint64_t presence_size(int count)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return ((uint64_t)count + page - 1) / page * page;
}

static struct flock lock_of(const struct presence *p, int index)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(p->at + (uint64_t)index), .l_len = 1};
}

struct presence *presence_begin(int fd, uint64_t at, int index, int count)
{
    struct presence *p = calloc(1, sizeof(*p) + (size_t)count * sizeof(p->has_ended[0]));
    if (!p)
        return NULL;
    *p = (struct presence){.fd = fd, .index = index, .count = count, .at = at};
    p->state = os_segment_map(fd, at, presence_size(count), 1);
    struct flock lock = lock_of(p, index);
    if (p->state && !fcntl(fd, F_SETLK, &lock)) {
        atomic_store(&p->state[index], PRESENT);
        return p;
    }
    if (p->state)
        os_segment_unmap((void *)p->state, presence_size(count));
    free(p);
    return NULL;
}

void presence_leave(struct presence *p, bool well)
{
    atomic_store(&p->state[p->index], well ? LEFT : PRESENT);
}

/* The state is read after the lock: it is the last one of a process that has ended. */
static bool is_held(const struct presence *p, int index)
{
    struct flock lock = lock_of(p, index);
    return fcntl(p->fd, F_GETLK, &lock) || lock.l_type != F_UNLCK;
}

void presence_look(struct presence *p, void (*ended)(int index, bool well, void *arg), void *arg)
{
    uint64_t now_ns = os_now_ns();
    if (now_ns < p->next_ns)
        return;
    p->next_ns = now_ns + LOOK_NS + (uint64_t)p->count * LOOK_EACH_NS;
    for (int i = 0; i < p->count; i++) {
        bool is_unknown = p->has_ended[i] || i == p->index || atomic_load(&p->state[i]) == NOT_THERE;
        if (is_unknown || is_held(p, i))
            continue;
        p->has_ended[i] = true;
        ended(i, atomic_load(&p->state[i]) == LEFT, arg);
    }
}
