/* SPDX-License-Identifier: BSD-3-Clause */

/* The pipes, or the terminal, by which a rank reads and writes: made before it is started, by the reader of its
 * output. */
#ifndef BNR_RANKS_PIPES_H
#define BNR_RANKS_PIPES_H

#include <stdbool.h>

struct winsize;

/* The pipes of a rank: [0] is read, [1] written; -1: there is none. in: what it gets as stdin.
 * terminal: our side of its terminal, -1: it has none. */
struct ranks_pipes {
    int pipe[3][2];
    int in, terminal;
};

/* Where a rank's stdout or stderr goes. */
enum ranks_output {
    RANKS_OUTPUT_PIPE,
    RANKS_OUTPUT_NONE,  /* nowhere */
    RANKS_OUTPUT_STDOUT /* of stderr: where its stdout goes */
};

/* Make the pipe of stream i, 1 or 2, or its replacement. Returns 0 or -errno. */
int ranks_pipes_open(struct ranks_pipes *p, int i, enum ranks_output where);

/* Make a terminal in the place of a rank's pipes. Returns 0 or -errno. */
int ranks_pipes_open_terminal(struct ranks_pipes *p, bool reads_stdin, const struct winsize *size);

#endif
