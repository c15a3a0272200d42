/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A terminal for a rank (a pseudo-terminal): the launcher has one side of it, and what the rank writes
 * is read there; the rank has the other one as stdin, stdout, stderr and controlling terminal.
 */
#ifndef BNR_PTY_H
#define BNR_PTY_H

#include <sys/ioctl.h>

/* Make one. Returns 0 with both sides, close-on-exec, or -errno. */
int pty_open(const struct winsize *size, int *ours, int *theirs);

/* The side that is ours was given all that stdin has: say that it has ended, as by Ctrl-D. Any other
 * descriptor is left alone. */
void pty_end_input(int fd);

#endif
