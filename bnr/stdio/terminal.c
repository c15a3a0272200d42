/* SPDX-License-Identifier: BSD-3-Clause */

/* mpiexec's own terminal; see terminal.h. */
#include "bnr/stdio/terminal.h"

#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct {
    struct termios modes[2]; /* before it was grabbed, and since */
    bool is_grabbed, is_told; /* told: atexit() */
} own;

bool terminal_grab(void)
{
    if (own.is_grabbed)
        return true;
    if (tcgetpgrp(0) != getpgrp() || tcgetattr(0, &own.modes[0]))
        return false;
    own.modes[1] = own.modes[0];
    cfmakeraw(&own.modes[1]);
    if (tcsetattr(0, TCSANOW, &own.modes[1])) /* a terminal that was stopped never drains */
        return false;
    own.is_grabbed = true;
    if (!own.is_told)
        own.is_told = !atexit(terminal_release);
    return true;
}

void terminal_release(void)
{
    if (own.is_grabbed && tcgetpgrp(0) == getpgrp())
        tcsetattr(0, TCSANOW, &own.modes[0]);
    own.is_grabbed = false;
}

const struct termios *terminal_modes(void)
{
    return own.is_grabbed ? own.modes : NULL;
}

struct winsize terminal_size(void)
{
    struct winsize size;
    for (int fd = 0; fd < 3; fd++)
        if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
            return size;
    return (struct winsize){.ws_row = 24, .ws_col = 80};
}
