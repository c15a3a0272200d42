/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Folders in which the ranks of this machine start (--set-cwd-to-session-dir): one a rank, in one of
 * the job's own below TMPDIR, or /tmp, which only the user may enter. They go with the job.
 */
#ifndef BNR_SESSION_FOLDER_H
#define BNR_SESSION_FOLDER_H

#include <limits.h>

struct session_folder {
    char path[PATH_MAX - 16]; /* of the job; "": there is none */
    char of_rank[PATH_MAX];   /* of the last rank that got one */
};

/* Make the job's. Returns 0 or -errno. */
int session_folder_make(struct session_folder *s);

/* Make a rank's, in of_rank. Returns 0 or -errno. */
int session_folder_add(struct session_folder *s, int rank);

/* Remove a folder with all that is in it, as far as the user may; "": nothing. Only calls the
 * kernel. */
void session_folder_remove(const char *path);

#endif
