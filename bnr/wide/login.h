/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Logins that ask. A command that reaches another host, as ssh does, may ask on the terminal for a
 * password, or whether a new host is the right one. It has a process group of its own, which the
 * terminal stops when it asks: then mpiexec lends it the terminal, to one at a time, until the daemon has
 * said who it is, or the command has ended. Keys go there meanwhile, Ctrl-C too.
 */
#ifndef BNR_LOGIN_H
#define BNR_LOGIN_H

#include <stdbool.h>
#include <sys/types.h>

struct login {
    int tty_fd;   /* -1: nobody can answer */
    pid_t holder; /* the group that has the terminal; 0: mpiexec's own */
};

/* Open the terminal, if mpiexec has one and is in its foreground. */
void login_open(struct login *l);
void login_close(struct login *l);

/* Whether a command, the first of its group, asks, or waits to ask. It gets the terminal if that is
 * free. */
bool login_asks(struct login *l, pid_t pid);

/* A command asks no more: have the terminal back, if that had it. Returns whether it had it. */
bool login_over(struct login *l, pid_t pid);

#endif
