/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files in the place of mpiexec's stdout and stderr: a pattern gives each rank's.
 *
 *     %r  the rank        %R  the same, with as many digits as the last rank's
 *     %h  this host       %t  when the job began, in seconds since 1970
 *     %%  a percent sign  %g, %p  0 (other launchers number groups and proxies)
 *
 * A rank gets its file as a descriptor that appends, so ranks may share one, and
 * nothing passes through mpiexec; unless it is a copy, which mpiexec writes. Folders in the name
 * are made.
 */
#ifndef BNR_OUTFILE_H
#define BNR_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct outfile {
    char *pattern[2]; /* for stdout, for stderr; NULL: mpiexec's own */
    bool is_copied;   /* mpiexec's own gets everything, too */
    int ranks;
    long begun_s;
};

/* Write the name of rank's file by pattern. Returns 0, -ENAMETOOLONG, or -EINVAL where the
 * pattern has another letter after "%", or is empty. */
int outfile_name(const struct outfile *o, const char *pattern, int rank, char *name, size_t size);

/* Make every rank's files, and empty those that are there. Returns 0, or -errno with a
 * sentence in why. */
int outfile_prepare(const struct outfile *o, char *why, size_t size);

/* Open a file of this name. Returns as below. */
int outfile_open_name(const char *name);

/* Open the file of a rank's stdout (0) or stderr (1), which has been prepared. Returns a
 * descriptor, close-on-exec, or -errno. */
int outfile_open(const struct outfile *o, int stream, int rank);

#endif
