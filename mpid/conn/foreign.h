/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes of other groups, which the process manager does not know: other jobs that this one is
 * connected to, or has spawned, or was spawned by.
 *
 * A process is known by an introduction, which members of a new communicator exchange before they use
 * it: its card, its host, and a key of its job. The introduction lies in the VC to it, and goes
 * with that: as soon as no communicator needs the VC, and the link is closed.
 *
 * A link to such a process is closed as soon as either of the two needs it no more: the other one
 * agrees at once, and nothing follows CLOSE. What is sent meanwhile, by a new communicator, waits for another link. The process manager tells nothing of the
 * peer: a link that breaks is its end, and a process that waits makes a link to each, to hear of
 * that.
 *
 * A process has parted once it has freed all communicators with this one, or has called MPI_Finalize: it closes the link
 * then, and may end. Collectives of a communicator that this process still has go on among the others, so they fail with
 * a process only where its link breaks while it is open, or where something is wanted of it: one that cannot be reached
 * any more, and that nothing is wanted of, is taken for one that has parted.
 *
 * Two processes of two jobs prove to each other who they are by a secret that is a hash of the
 * keys of both jobs. A key is a hash of the job's own secret, which stays in the job.
 */
#ifndef MPID_FOREIGN_H
#define MPID_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "include/channel.h"

struct vc;

/* What is known of a process of another group. */
struct foreign {
    char *card, *host;
    uint8_t secret[16]; /* of that process and this one */
};

/* While device.foreign_count is no more than this, a process that waits makes a link to each. */
enum { FOREIGN_WATCHED = 64 };

void foreign_free(struct foreign *foreign); /* accepts NULL */
/* A VC is freed. */
void foreign_forget(struct vc *vc);

#endif
