/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ends that a gone or unreachable process causes: of receives and probes that name it, of those
 * from any process when no sender is left, and all that goes on in a context that fails with it.
 * Locked.
 */
#ifndef MPID_LOST_H
#define MPID_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "include/channel.h"
#include "include/mpid.h"

struct vc;

/* Why no message can come that fits want, or MPID_OK. from: as of mpid_recv(); waits: the caller does nothing but wait
 * for it. */
enum mpid_error lost_why(const struct vc *from, const struct mpid_envelope *want, bool waits);
/* End a receive just posted, if no message can come any more. */
void lost_check_posted(struct mpid_request *request);
/* The process has waited for a while: see that it waits for none that no channel leads to. */
void lost_look(void);
/* Have it look at a VC, or no more. */
void lost_add_vc(struct vc *vc);
void lost_remove_vc(struct vc *vc);
/* How what begins in a context that has failed ends; MPID_OK: it has not failed. */
enum mpid_error lost_context(uint32_t context);
void lost_vc(void); /* a connection has failed */
void lost_finalizes(void); /* a peer of this job is in MPI_Finalize, sooner than this process */
bool lost_is_wanted(const struct vc *vc); /* whether a send to that process, or a receive from it, is not over */
/* A process has ended, or one of another job has gone; failed: otherwise than by MPI_Finalize (mpid/conn/foreign.h). */
void lost_process(const struct chan_gid *gid, uint32_t rank, bool failed);
/* From begin to finish losses are noted, and what they end ends in finish. */
void lost_begin(void);
void lost_finish(void);

/* How send.c ends what in a context waits to be sent; start/rooms.c sets it. */
extern void (*lost_end_sends)(uint32_t context);

#endif
