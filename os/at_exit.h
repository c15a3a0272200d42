/* SPDX-License-Identifier: BSD-3-Clause */

/* A function for the end of the process, with the status where the C library tells it. */
#ifndef OS_AT_EXIT_H
#define OS_AT_EXIT_H

#include <stdlib.h>

#ifdef __GLIBC__

/* Has exit() call fn(status, arg); status: of the process. Without memory nothing is called. */
static inline void os_at_exit(void (*fn)(int status, void *arg), void *arg)
{
    (void)on_exit(fn, arg);
}

#else

static void (*os_exit_fn)(int status, void *arg);
static void *os_exit_arg;

static inline void os_exit_call(void)
{
    os_exit_fn(-1, os_exit_arg);
}

/* The same, once a file that includes this; the status is not known: -1. */
static inline void os_at_exit(void (*fn)(int status, void *arg), void *arg)
{
    os_exit_fn = fn;
    os_exit_arg = arg;
    (void)atexit(os_exit_call);
}

#endif

#endif
