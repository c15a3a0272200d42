/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Orders of ranks to mpiexec: the data of a letter (mail.h) of mode MAIL_ORDER. Numbers are in network byte
 * order.
 *
 *   ORDER_SPAWN    u32 kind, u32 id, then words, each with its 0: the command line of an mpiexec
 *                  behind its name
 *   ORDER_LINK     u32 kind, u32 id: the job with this id is connected to the rank's
 *   ORDER_UNLINK   u32 kind, u32 id: it is no longer
 *   ORDER_PUBLISH, ORDER_UNPUBLISH, ORDER_LOOKUP   u32 kind, u32 id, then two words: a name, and the text
 *                  that it stands for, "" but to publish (names.h)
 *
 * A rank chooses the ids. mpiexec answers by a letter from no rank with tag ORDER_TAG: u32 id, u32 status, and
 * the text of a name that was looked up. The status of a job is its exit code, when it has ended; that of a
 * name 0 or -errno.
 *
 * A process without mpiexec starts one itself, with a socket as its --keepalive, and says ORDER_STAY there, one byte,
 * once the job is to outlive it.
 */
#ifndef BNR_ORDER_H
#define BNR_ORDER_H

enum order_kind {
    ORDER_SPAWN = 1,
    ORDER_LINK,
    ORDER_UNLINK,
    ORDER_PUBLISH,
    ORDER_UNPUBLISH,
    ORDER_LOOKUP
};

enum { ORDER_TAG = 0x7fffffff, ORDER_HEAD = 8, ORDER_STAY = 0x53 };

#endif
