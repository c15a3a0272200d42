/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whether the host of a peer still answers. A peer that computes or is stopped reads nothing, for
 * as long as it likes, but its kernel acknowledges bytes and answers each probe of a closed window.
 * A host that is gone answers nothing. A connection on which nothing is under way is watched by the
 * kernel itself, with keepalive probes.
 */
#ifndef TCP_ALIVE_H
#define TCP_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ALIVE_SILENT_MS = 20000, /* a host that answers nothing for so long is gone, ... */
    ALIVE_UNANSWERED = 3     /* ... if so many packets in a row were for nothing */
};

/* The findings of the last look; zeroed at first. */
struct alive {
    uint64_t looked_ns;
    uint32_t resent; /* at the last look by which an answer had come */
};

/* What the kernel knows of a connection. */
struct alive_signs {
    bool waits;         /* something that was sent, or shall be, is not acknowledged */
    uint32_t silent_ms; /* since the last acknowledgement */
    uint32_t probes;    /* of a closed window, since then */
    uint32_t resent;    /* packets sent again, ever */
};

/* Judge the findings of now. Returns false for a host that is gone. */
bool alive_judge(struct alive *alive, const struct alive_signs *signs, uint64_t now_ns);

/* Look at a connected socket. Returns the same. */
bool alive_look(struct alive *alive, int fd, uint64_t now_ns);

#endif
