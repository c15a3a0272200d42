/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mpiexec's own terminal while a rank has one, too (--pty): each key goes to the rank's terminal,
 * which does with it what the rank's program wants, Ctrl-C included.
 */
#ifndef BNR_STDIO_TERMINAL_H
#define BNR_STDIO_TERMINAL_H

#include <stdbool.h>
#include <sys/ioctl.h>
#include <termios.h>

/* Have stdin, a terminal in whose foreground mpiexec is, pass on every key as it is. Returns whether it
 * does; it is as it was again after terminal_release(), or when the process exits. */
bool terminal_grab(void);
void terminal_release(void);

/* Its modes before and since terminal_grab(); NULL unless grabbed. */
const struct termios *terminal_modes(void);

/* The size of the terminal that mpiexec runs in; 24 lines of 80 without one. */
struct winsize terminal_size(void);

#endif
