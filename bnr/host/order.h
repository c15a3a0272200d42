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
 *   ORDER_KILL     u32 kind, u32 id: of a job that the rank has ordered, or 0: its own; then two words: a rank, or
 *                  -1 for all, and the number of a signal
 *
 * The new mpiexec has a socket as its --keepalive. Who started it says ORDER_STAY there, one byte, once the job is to
 * outlive it; and, behind a byte ORDER_SIGNAL, u32 rank (UINT32_MAX: all) and u32 signal. A mpiexec whose note is that of a
 * group (below) tells there in records of three u32: ORDER_TOLD_STARTED, how many processes it has started, 0; and for each that
 * has ended ORDER_TOLD_EXIT, its rank, and its status as wait() has it. To a rank these are letters with the record's first number
 * as status, and the other two as words.
 */
#ifndef BNR_ORDER_H
#define BNR_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum order_kind {
    ORDER_SPAWN = 1,
    ORDER_LINK,
    ORDER_UNLINK,
    ORDER_PUBLISH,
    ORDER_UNPUBLISH,
    ORDER_LOOKUP,
    ORDER_KILL
};

enum { ORDER_SIGNAL = 0x4b, ORDER_SIGNAL_LEN = 9, ORDER_RECORD = 12 };
#define ORDER_TOLD_STARTED 0x80000001u /* no exit code, and no -errno */
#define ORDER_TOLD_EXIT    0x80000002u

enum { ORDER_TAG = 0x7fffffff, ORDER_HEAD = 8, ORDER_STAY = 0x53 };

/*
 * The note, which may be a secret, travels to the new mpiexec in its environment, as command lines can be
 * read by everybody; and from there in that of the new processes, as BNR_NOTE.
 */

/* Write a record. */
void order_record_put(uint8_t at[ORDER_RECORD], uint32_t what, int number, int status);

/* The part of the next record that has come. */
struct order_ear {
    uint8_t at[ORDER_RECORD];
    size_t len;
};

/* Read the next record from a socket, into words. Returns 1; 0: none is whole yet; or -1: it is at its end. */
int order_hear(struct order_ear *ear, int fd, uint32_t words[3]);

/* The environment of an mpiexec with this note ("": without one), to release with one free(); its other strings are
 * those of base. NULL: no memory. */
char **order_environ(char *const *base, const char *note);
/* In mpiexec: its processes get the note that it was started with; or none, as this mpiexec may have been started by
 * a process that has one. */
void order_take_note(void);

/* The note of a job that BNR's groups have spawned: its group's id and size, those of its parent's, and where the root
 * of that can be called. */
struct order_note {
    uint8_t gid[16], parent[16];
    int size, parent_size;
    const char *door; /* in the text */
};

enum { ORDER_NOTE_MAX = 1200 };
void order_note_put(char text[ORDER_NOTE_MAX], const struct order_note *note);
/* Returns 0, or -EINVAL: it is none. */
int order_note_get(struct order_note *note, const char *text);
/* In mpiexec: the id that its note gives its group. Returns whether there is one. */
bool order_gid(uint8_t gid[16]);

#endif
