/* SPDX-License-Identifier: BSD-3-Clause */

/* The numbers of xcasts and streams between mpiexec and its daemons. */
#ifndef BNR_LAUNCH_TAGS_H
#define BNR_LAUNCH_TAGS_H

/* xcasts of mpiexec's to all daemons. */
enum launch_tag {
    LAUNCH_TAG_JOB = 16, /* a launch */
    LAUNCH_TAG_SIGNAL,   /* u32 signal, u32 rank; -1: all */
    LAUNCH_TAG_ENDED,    /* ranks that have ended: u32 first, count, status, TABLE_END_ bits each */
    LAUNCH_TAG_PAUSE,    /* u32 whether mpiexec stands still */
    LAUNCH_TAG_END,      /* the job is over */
    LAUNCH_TAG_ASK,      /* u32 number: ranks are asked what they wait for */
    LAUNCH_TAG_LETTER,   /* of BNR_Xcast, from any daemon: see bnr/wide/post.h */
    LAUNCH_TAG_WINDOW,   /* u32 rows, columns: the new size of ranks' terminals */
    LAUNCH_TAG_GO,       /* ranks that wait for a debugger go on */
    LAUNCH_TAG_UNREAD,   /* u32 descriptor, 1 or 2: mpiexec's reader of it has gone */
    LAUNCH_TAG_ORDER,    /* to mpiexec, of a rank: see bnr/host/order.h */
    LAUNCH_TAG_NAME,     /* a call about a published name: see name_message.h */
};

/* Streams between mpiexec and a daemon. */
enum launch_stream {
    LAUNCH_STREAM_WORDS,
    LAUNCH_STREAM_PARTY, /* of ranks' pipes and of processes at the daemon's door, both ways
                            (bnr/wide/party_link.h) */
    LAUNCH_STREAMS
};

#endif
