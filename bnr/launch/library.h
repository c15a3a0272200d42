/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where the MPI library of this installation is. A program that was linked before the installed tree
 * was moved names a folder that is gone: it is started with a setting for the loader.
 */
#ifndef BNR_LIBRARY_H
#define BNR_LIBRARY_H

/* "LD_LIBRARY_PATH=..." with which the program at path, in this environment, finds the library,
 * malloc'ed; NULL where it does without, or memory is out. */
char *library_setting(const char *path, char *const *environment);

#endif
