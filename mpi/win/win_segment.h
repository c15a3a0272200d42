/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The memory of a window that the members of a host share: one anonymous segment, made by the first
 * of them, which the others find by that process's descriptor. It begins with a queue
 * (mpi/win/win_queue.h) for each member; behind that lie their parts of the window, where it has
 * any. Pages are there once they are first touched, by the member that touches them.
 */
#ifndef MPI_WIN_SEGMENT_H
#define MPI_WIN_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

struct win_queue;

/* What the others need to find it. */
struct win_segment_place {
    int64_t pid, fd;
    uint64_t dev, ino, len;
};

struct win_segment {
    unsigned char *base;
    size_t len, queue_len;
    int fd; /* of its maker until all have opened it; -1 */
};

/* Why none was made: bytes of data, and how many there are; UINT64_MAX: there may be as many. */
struct win_segment_lack {
    uint64_t bytes, room;
};

/* Make shared memory of len bytes, of which need will surely be used, that others find. Returns a descriptor, or
 * -errno; the others, as long as that is open, a descriptor of the same, or -errno. */
int win_segment_create(const char *label, uint64_t len, uint64_t need, struct win_segment_place *place);
int win_segment_find(const struct win_segment_place *place);

/* Make one for so many members and bytes of data. Returns 0, or -errno with lack. */
int win_segment_make(struct win_segment *segment, uint32_t members, uint64_t data,
                     struct win_segment_place *place, struct win_segment_lack *lack);
/* Map it. Returns 0 or -errno. */
int win_segment_open(struct win_segment *segment, uint32_t members,
                     const struct win_segment_place *place);
/* All have opened it; or it is not used any more. */
void win_segment_opened(struct win_segment *segment);
void win_segment_close(struct win_segment *segment);

struct win_queue *win_segment_queue(const struct win_segment *segment, uint32_t member);
/* Where the data begin: at a page. */
unsigned char *win_segment_data(const struct win_segment *segment, uint32_t members);

#endif
