/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * System calls and flags that are newer than the headers of some systems in use (glibc 2.28, musl 1.2.3). Their numbers
 * are alike on all machines. A kernel may know them although the headers do not, or the reverse. And how a refused call
 * is told.
 */
#ifndef OS_CALLS_H
#define OS_CALLS_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

/* fork() without the handlers that libraries have registered, and without their locks: the child may call
 * functions that are safe in a signal handler. Returns as fork() does. */
static inline pid_t os_fork_alone(void)
{
#ifdef __s390__ /* the stack comes first there */
    return (pid_t)syscall(SYS_clone, NULL, SIGCHLD, NULL, NULL, NULL);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
}

/* Whether a filter of system calls, or an older kernel, refuses a call by this error (> 0). */
static inline bool os_is_refused(int error)
{
    return error == ENOSYS || error == EPERM || error == EACCES || error == EOPNOTSUPP;
}

static inline pid_t os_thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

#endif
