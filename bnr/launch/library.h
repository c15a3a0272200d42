/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where the MPI library of this installation is. A program that was linked before the installed tree
 * was moved names a folder that is gone: it is started with a setting for the loader.
 */
#ifndef BNR_LIBRARY_H
#define BNR_LIBRARY_H

#include <stdbool.h>

enum {
    LIBRARY_SETTINGS = 2
};

/* Variables for the loader, with which the program at path, in this environment, is started:
 * LD_LIBRARY_PATH if it would not find the library by itself; LD_PRELOAD with the library that
 * profiles if VIREO_TRACE or VIREO_SUMMARY ask for that. Sets a NULL-terminated list. Returns 0,
 * -ENOMEM, or -ENOENT with a line in the log: this installation has no library that profiles. */
int library_settings(const char *path, char *const *environment,
                     char *settings[LIBRARY_SETTINGS + 1]);
/* Whether the program at path is linked with the library itself: a script, and a program that loads it, are not. */
bool library_is_needed(const char *path);
void library_settings_free(char **settings);

/* The programs of a job, as library_check() has seen them: a path of one with our library, and of one with MPICH's or one
 * of its kin; NULL: none. Begins as zero. */
struct library_use {
    const char *own, *kin;
};

/* Whether the program at path, which stays there, can be one of a job of so many ranks, beside those before. Returns 0, or
 * LAUNCH_NOT_EXECUTABLE with a sentence: several processes of a program of Open MPI would each be alone, and
 * programs of two libraries would wait for each other for ever. */
int library_check(struct library_use *use, const char *path, int ranks, char why[512]);

#endif
