/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Orders of ranks to mpiexec: the data of a letter (mail.h) of mode MAIL_ORDER. Numbers are in network byte
 * order.
 *
 *   ORDER_SPAWN    u32 kind, u32 id, then words, each with its 0: the note (or ""), and the command line of
 *                  an mpiexec behind its name
 *   ORDER_LINK     u32 kind, u32 id, then a word: the number of a job, which is connected to the rank's
 *   ORDER_UNLINK   u32 kind, u32 id, then the same: it is no longer
 *   ORDER_PUBLISH, ORDER_UNPUBLISH, ORDER_LOOKUP   u32 kind, u32 id, then two words: a name, and the text
 *                  that it stands for, "" but to publish (names.h)
 *
 * A rank chooses the ids. mpiexec answers by a letter from no rank with tag ORDER_TAG: u32 id, u32 status, and
 * the text of a name that was looked up. The status of a job is its exit code, when it has ended; that of
 * others 0 or -errno.
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

/*
 * The note, which may be a secret, travels to the new mpiexec in its environment, as command lines can be
 * read by everybody; and from there in that of the new processes, as BNR_NOTE.
 */

/* The environment of an mpiexec with this note ("": without one), to release with one free(); its other strings are
 * those of base. NULL: no memory. */
char **order_environ(char *const *base, const char *note);
/* In mpiexec: its processes get the note that it was started with; or none, as this mpiexec may have been started by
 * a process that has one. */
void order_take_note(void);

#endif
