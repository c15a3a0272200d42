/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The standard streams of a job, between mpiexec's 0, 1 and 2 and the hub (bnr/core/stream/hub.h).
 * There the ranks' pipes are ends of streams, wherever the ranks run (bnr/streams/pipes.h). This
 * module is a reliable reader of all ranks' output, and writes mpiexec's stdin to its targets
 * (input.h).
 *
 * Rules
 *   - Bytes are exact and none is lost: each byte a rank wrote before its end is
 *     written before drained() is called, to files that mpiexec writes, too. Lines stay whole as lines.h says;
 *     where 1 and 2 are the same file, across both.
 *   - mpiexec's 0, 1 and 2 keep their blocking mode (others share them). Threads
 *     write them, so a stopped terminal or a full pipe never blocks the loop.
 *   - Memory is bounded: a pipe is read as far as the hub grants; while 1 MiB waits for an output,
 *     nothing is taken from the hub for it. stdin is read as far as the slowest target has room.
 *   - A target that closes its stdin or ends is left out; with the last one
 *     mpiexec stops reading. None of this is an error.
 *   - Where stdin is no terminal and has one target, that rank inherits it: no byte is
 *     taken that the rank does not read. A rank with a terminal of its own gets it by that.
 *   - A terminal is read only while mpiexec is in its foreground.
 *   - When the reader of an output has gone (EPIPE) its bytes are dropped in silence; with
 *     ends_unread no more are taken of the streams that go there, and a rank that writes more gets
 *     SIGPIPE.
 *
 * All calls come from the loop's thread. SIGPIPE is ignored from stdio_create() on: give each new
 * process SIG_DFL back.
 */
#ifndef BNR_STDIO_FORWARD_H
#define BNR_STDIO_FORWARD_H

#include <stdbool.h>
#include <uv.h>

struct stdio;
struct lines_labels;
struct hub_message;
struct outfile;

/* A rank's descriptor 0. */
enum stdio_input {
    STDIO_INPUT_NULL,    /* /dev/null, opened for reading */
    STDIO_INPUT_PIPE,    /* the read end of a pipe, whose other end is a sink of the hub */
    STDIO_INPUT_INHERIT, /* mpiexec's own descriptor 0 */
};

struct stdio_config {
    int ranks;
    bool label; /* lines begin with labels */
    const struct lines_labels
        *labels; /* these: the rank, for its stderr ranks more; NULL: "[3] " */
    int records_fd; /* takes the ranks' 1 and 2; 0: mpiexec's own do */
    bool ends_unread;
    const char *stdin_to; /* ranks that read stdin (amend_lists()); NULL: none */
    /* Everything is out: called once, from the loop, after stdio_begin(), when the streams of all
     * ranks have ended and are written. */
    void (*drained)(void *arg);
    /* The reader of fd has gone, and ends_unread: called once. */
    void (*unread)(void *arg, int fd);
    void *arg;
    /* Files in the place of 1 and 2; mpiexec writes those of ranks elsewhere, and copies. */
    const struct outfile *files;
    /* A file that has what this rank writes to fd cannot be written. Called once for a file. */
    void (*file_failed)(void *arg, int rank, int fd, int rc);
    /* For a job over several machines, or NULL. */
    bool (*is_elsewhere)(void *arg, int rank);
    /* Whether a rank has a terminal of its own, by which it reads and writes; or NULL. */
    bool (*has_terminal)(void *arg, int rank);
    /* To the hub, as mpiexec itself. */
    void (*say)(void *arg, const struct hub_message *m);
};

/* Open /dev/null on each of 0, 1, 2 that is closed. Call it first in main(). */
void stdio_guard(void);

/* Make the streams of a job. Returns 0 or -errno. */
int stdio_create(struct stdio **s, uv_loop_t *loop, const struct stdio_config *cfg);

/* The hub says something to mpiexec. */
void stdio_hear(struct stdio *s, const struct hub_message *m);

/* The stdin that a rank of this host gets. */
enum stdio_input stdio_input_of(const struct stdio *s, int rank);

/* All ranks are started: stdin is read from now on. Returns 0 or -errno. */
int stdio_begin(struct stdio *s);

/* Write mpiexec's own text (whole lines, ending in a newline) to stderr, never within
 * a line of a rank. Before drained() it is queued; from drained() on it is
 * written before the call returns. */
void stdio_say(struct stdio *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* mpiexec's terminal does not return at a newline, as typed keys go to a rank's terminal. */
void stdio_set_raw(struct stdio *s, bool is_raw);

/* Whether the ranks' fd, 1 or 2, goes to an output whose reader has gone. */
bool stdio_is_unread(const struct stdio *s, int fd);

/* No rank will write: later lines are written before the call returns, as from drained() on. Only
 * while it is idle. */
void stdio_end(struct stdio *s);

/* Whether all of mpiexec's lines and the ranks' stderr are written. */
bool stdio_is_idle(const struct stdio *s);

/* 0, or the -errno of the first write to 1 or 2 that failed (EPIPE is no failure):
 * output was lost, and the job should not exit with 0. */
int stdio_error(const struct stdio *s);

/* Whether other bytes were lost, which has been said: of a rank or of stdin, which could not be read, or
 * those for a file. The job should not exit with 0. */
bool stdio_has_lost(const struct stdio *s);

/* Close every handle and release s. The loop must run once more (uv_run) before it
 * is closed. Accepts NULL. If an output is stuck (not drained), leave the process by
 * _exit(): exit() would wait for the thread that writes. */
void stdio_destroy(struct stdio *s);

#endif
