/* SPDX-License-Identifier: BSD-3-Clause */

/* A rank's pipes; see ranks_pipes.h. */
#include "bnr/io/ranks_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bnr/io/pty.h"

int ranks_pipes_open(struct ranks_pipes *p, int i, enum ranks_output where)
{
    int *pair = p->pipe[i];
    if (where == RANKS_OUTPUT_PIPE)
        return pipe2(pair, O_CLOEXEC) ? -errno : 0;
    pair[1] = where == RANKS_OUTPUT_NONE ? open("/dev/null", O_WRONLY | O_CLOEXEC)
                                         : fcntl(p->pipe[1][1], F_DUPFD_CLOEXEC, 0);
    return pair[1] < 0 ? -errno : 0;
}

int ranks_pipes_open_terminal(struct ranks_pipes *p, bool reads_stdin, const struct winsize *size)
{
    int rc = pty_open(size, &p->terminal, &p->pipe[0][0]);
    if (rc)
        return rc;
    p->in = p->pipe[0][0];
    p->pipe[1][0] = fcntl(p->terminal, F_DUPFD_CLOEXEC, 0);
    if (reads_stdin)
        p->pipe[0][1] = fcntl(p->terminal, F_DUPFD_CLOEXEC, 0);
    for (int i = 1; i < 3; i++)
        p->pipe[i][1] = fcntl(p->in, F_DUPFD_CLOEXEC, 0);
    bool is_whole = p->pipe[1][0] >= 0 && p->pipe[1][1] >= 0 && p->pipe[2][1] >= 0 &&
                    (!reads_stdin || p->pipe[0][1] >= 0);
    return is_whole ? 0 : -errno;
}
