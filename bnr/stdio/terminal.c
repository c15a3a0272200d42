/* SPDX-License-Identifier: BSD-3-Clause */

/* mpiexec's own terminal; see terminal.h. */
#include "bnr/stdio/terminal.h"

#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct {
    struct termios before;
    bool is_grabbed, is_told; /* told: atexit() */
} own;

bool terminal_grab(void)
{
    struct termios raw;
    if (own.is_grabbed)
        return true;
    if (tcgetpgrp(0) != getpgrp() || tcgetattr(0, &own.before))
        return false;
    raw = own.before;
    cfmakeraw(&raw);
    if (tcsetattr(0, TCSADRAIN, &raw))
        return false;
    own.is_grabbed = true;
    if (!own.is_told)
        own.is_told = !atexit(terminal_release);
    return true;
}

void terminal_release(void)
{
    if (own.is_grabbed && tcgetpgrp(0) == getpgrp())
        tcsetattr(0, TCSADRAIN, &own.before);
    own.is_grabbed = false;
}

struct winsize terminal_size(void)
{
    struct winsize size;
    for (int fd = 0; fd < 3; fd++)
        if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
            return size;
    return (struct winsize){.ws_row = 24, .ws_col = 80};
}
