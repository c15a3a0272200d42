/* SPDX-License-Identifier: BSD-3-Clause */

/* A terminal for a rank; see pty.h. */
#include "bnr/io/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

int pty_open(const struct winsize *size, int *ours, int *theirs)
{
    int one = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), other = -1;
    if (one < 0)
        return -errno;
    if (!grantpt(one) && !unlockpt(one))
        other = ioctl(one, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (other < 0 || ioctl(one, TIOCSWINSZ, size)) {
        int rc = -errno;
        if (other >= 0)
            close(other);
        close(one);
        return rc;
    }
    *ours = one;
    *theirs = other;
    return 0;
}

void pty_end_input(int fd)
{
    struct termios t;
    unsigned number;
    if (ioctl(fd, TIOCGPTN, &number) || tcgetattr(fd, &t))
        return;
    /* The first one ends a line without a newline, if there is one. */
    const char ends[2] = {(char)t.c_cc[VEOF], (char)t.c_cc[VEOF]};
    (void)!write(fd, ends, sizeof(ends));
}
