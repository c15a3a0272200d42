/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The messages of windows, between an origin and a target whose memory it does not map. They are
 * point-to-point messages in a context of the window's communicator (CONTEXT_WIN), in the byte order
 * that both have, and known by their tags; diagnose/hang_text.h knows the first ones, too:
 *
 *   WIN_TAG_ASK       origin to target: struct win_head, its runs, its data; WIN_MESSAGE_MAX at most
 *   WIN_TAG_POST      MPI_Win_post to MPI_Win_start: nothing
 *   WIN_TAG_COMPLETE  MPI_Win_complete to MPI_Win_wait: nothing
 *   from WIN_TAG_FIRST on, a number that an origin chooses for a question: the target's answer
 *   the same with WIN_TAG_DATA: the origin's data of a WIN_PUT_LONG. Two processes that ask each
 *   other may choose equal numbers, so data and answers must differ
 *
 * A target handles the questions of one origin in their order. The runs say where the data lie,
 * from the displacement on, in bytes; a run with WIN_ROW is the first one of a row of equal runs, and a struct
 * win_row follows it. An answer to WIN_GET, WIN_FETCH and WIN_COMPARE has as many
 * bytes as the runs, one after the other; it is empty where the target has refused the access. The
 * answer to WIN_FLUSH, WIN_UNLOCK and WIN_EPOCH is an error class, 0 for none, and comes once everything that
 * the origin has asked before is done; that to WIN_LOCK is 0. Where the target has no memory for it, it is empty.
 *
 * In a job of network byte order (os/turn.h) heads, runs, rows and words are in that. Data are bytes of the target's
 * memory, which knows no types: their numbers have the order of its machine, and the origin turns them where its own is
 * another.
 */
#ifndef MPI_WIN_WIRE_H
#define MPI_WIN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum win_ask {
    WIN_PUT = 1,
    WIN_PUT_LONG, /* one run; the data follow in a message of their own */
    WIN_GET,
    WIN_ACCUMULATE,
    WIN_FETCH,   /* MPI_Get_accumulate, MPI_Fetch_and_op: change, and answer with what was there */
    WIN_COMPARE, /* two elements of data: what it is compared with, and what it becomes */
    WIN_FLUSH,
    WIN_LOCK_ASK, /* op: enum win_how */
    WIN_UNLOCK,   /* op: WIN_HOW_EXCLUSIVE or _SHARED */
    WIN_EPOCH,    /* a lock as for WIN_LOCK_ASK, the question in the data, if any, and WIN_UNLOCK */
    WIN_ASKS
};

/* How a lock is asked for. */
enum win_how {
    WIN_HOW_EXCLUSIVE,
    WIN_HOW_SHARED,
    WIN_HOW_PASSING /* shared, by an origin that may have other locks, for which others may wait */
};

struct win_head {
    uint8_t ask;      /* enum win_ask */
    uint8_t op;       /* enum op_code, or as above */
    uint8_t type;     /* the row of mpi/type/type_list.inc of the elements */
    uint8_t reserved; /* 0 */
    uint32_t tag;     /* of the answer, or of data less WIN_TAG_DATA; 0: none */
    uint32_t runs;  /* struct win_run and struct win_row behind the head */
    uint32_t len;   /* bytes of data behind these */
    int64_t disp;   /* in the target's units; of a dynamic window an address */
    uint64_t bytes; /* in all runs */
};

struct win_run {
    int64_t offset;
    uint64_t len;
};

#define WIN_ROW (UINT64_C(1) << 63) /* in len */

struct win_row {
    int64_t stride; /* from the begin of one run to that of the next */
    uint64_t count; /* 1 or more */
};

_Static_assert(sizeof(struct win_head) == 32 && sizeof(struct win_run) == 16 && sizeof(struct win_row) == 16,
               "on the wire");

enum {
    WIN_TAG_ASK,
    WIN_TAG_POST,
    WIN_TAG_COMPLETE,
    WIN_TAG_FIRST = 16,
    WIN_TAGS = 1 << 29, /* numbers of questions */
    WIN_TAG_DATA = 1 << 30,

    WIN_RUNS_MAX = 256,
    WIN_DATA_MAX = 32768,
    WIN_QUESTION_LEAST = 2048, /* bytes that a question may have, however few the channel sends at once */
    WIN_PACKED_MAX = 1 << 20, /* a get of more than one run brings no more */
    WIN_LONG_MIN = 8192, /* a contiguous put of more goes by WIN_PUT_LONG */
    WIN_QUESTION_MAX = 32 + 16 * WIN_RUNS_MAX + WIN_DATA_MAX,
    WIN_MESSAGE_MAX = 32 + WIN_QUESTION_MAX,
    /* Bytes of questions that an origin has under way to one target before it asks for a flush. */
    WIN_AHEAD_MAX = 1 << 20
};

/* Whether the job is of network byte order, and whether this process turns what it says and hears. */
bool win_wire_is_network(void);
bool win_wire_turns(void);
/* Turn count numbers of size bytes, in any process. */
void win_wire_turn_all(void *at, size_t size, size_t count);
/* Turn the head and the runs of a question, and those of the question in an epoch's, where this process turns: before it
 * is sent (out), or after it has come, when it may be any bytes. */
void win_wire_turn_question(void *message, size_t len, bool out);

#endif
