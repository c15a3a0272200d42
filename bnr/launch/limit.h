/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The limits of a process: checks before a job starts, and the limit that an error comes from. For
 * the launcher; nothing here prints.
 */
#ifndef BNR_LIMIT_H
#define BNR_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raise the stack limit as far as allowed; call this first. Returns whether the stack is enough for
 * mpiexec; if not, why is a sentence. */
bool limit_raise_stack(char why[512]);

enum {
    LIMIT_FILES_OWN = 26, /* of mpiexec or a daemon: the loop, the table, the wardens, a question and spare ones */
    LIMIT_FILES_OF_RANK = 3,
    LIMIT_FILES_OF_HOST = 5 /* of mpiexec: three pipes, and at most two links */
};

/* Save the limits, which limit_restore() gives to a child that is about to execute a program. Then
 * raise this process's limits of open files and of file size, and give its threads small stacks. */
void limit_remember(void);
void limit_raise(void);
void limit_restore(void);

/* The soft limit of a kind (RLIMIT_) that processes start with; UINT64_MAX: none. */
uint64_t limit_started(int kind);

/* Check that this process can open so many files more, by opening them. Returns 0, or -errno with a
 * sentence in why that names the limit to raise. */
int limit_check_files(int files, char why[512]);

/* Whether a process that is started here may not have as many files as it needs for a connection over tcp with each of
 * so many others. Then text is a sentence that names limit, need and cure. */
bool limit_lacks_files(uint32_t others, char text[512]);

/* Check the same for so many processes, where the user's limit of them may be near, by starting as many
 * threads for a moment. */
int limit_check_processes(int processes, char why[512]);

/* The limit that an error of the system may come from, and the cure, as text to follow the error's:
 * "; raise the limit ..." or "". Valid until the next call. */
const char *limit_of_error(int rc);

/* The same for a signal that has killed a process of the job; memory_fd: the descriptor of its
 * shared memory. */
const char *limit_of_signal(int number, int memory_fd);

#endif
