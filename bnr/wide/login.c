/* SPDX-License-Identifier: BSD-3-Clause */

/* Lending the terminal to commands that log in; see login.h. */
#include "bnr/wide/login.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

void login_open(struct login *l)
{
    l->holder = 0;
    l->tty_fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (l->tty_fd >= 0 && tcgetpgrp(l->tty_fd) != getpgrp())
        login_close(l);
}

void login_close(struct login *l)
{
    if (l->tty_fd < 0)
        return;
    (void)login_over(l, l->holder);
    close(l->tty_fd);
    l->tty_fd = -1;
}

/* Give the terminal to a group, also while this one is in the background. */
static void give(struct login *l, pid_t group)
{
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stop, &before);
    (void)tcsetpgrp(l->tty_fd, group);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool login_asks(struct login *l, pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    if (l->tty_fd < 0 || pid <= 0)
        return false;
    /* Its end is left to the code that waits for it. */
    bool is_stopped = !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) && info.si_pid == pid;
    if (is_stopped && (!l->holder || l->holder == pid)) {
        l->holder = pid;
        give(l, pid);
        kill(-pid, SIGCONT);
    }
    return is_stopped || l->holder == pid;
}

bool login_over(struct login *l, pid_t pid)
{
    if (l->tty_fd < 0 || !l->holder || l->holder != pid)
        return false;
    l->holder = 0;
    give(l, getpgrp());
    return true;
}
