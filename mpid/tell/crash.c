/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A process that crashes in a call of MPI says in which, and from which line of the program.
 *
 * Signals that mean a crash get a handler where the program has none. It has a copy of the process
 * look at the stack and write a line to stderr, for the crashed thread may hold any lock; the
 * process waits for the copy for two seconds at most, and then ends by the signal as it would
 * without. Setting crash_lines turns that off.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/tell/call_site.h"
#include "os/calls.h"
#include "os/settings.h"

enum { PATIENCE_MS = 2000 };

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* In the copy. */
static void say(int number)
{
    struct call_site site;
    char line[200];
    call_site_find(&site, true);
    if (!*site.function)
        return;
    call_site_line(&site, line, sizeof(line));
    dprintf(STDERR_FILENO, "vireo: rank %u crashed in %s%s%s: %s\n", device.world.rank,
            site.function, *line ? ", called at " : "", line, strsignal(number));
}

/* The end of the copy, whatever it comes to, closes the pipe. */
static void have_copy_say(int number)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return;
    pid_t pid = os_fork_alone();
    if (pid == 0) {
        say(number);
        _exit(0);
    }
    close(ends[1]);
    if (pid > 0) {
        struct pollfd over = {.fd = ends[0], .events = POLLIN};
        (void)poll(&over, 1, PATIENCE_MS);
        kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    close(ends[0]);
}

/* A fault comes again at the same place when this returns; a signal that was sent is sent again. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)context;
    bool was_sent = info->si_code <= 0;
    if (!was_sent || info->si_code == SI_TKILL) /* abort() sends it so */
        have_copy_say(number);
    signal(number, SIG_DFL);
    if (was_sent)
        raise(number);
    errno = error;
}

static int attach(void)
{
    struct sigaction old, mine = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!os_setting(OS_SETTING_CRASH_LINES))
        return 0;
    sigemptyset(&mine.sa_mask);
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
        if (!sigaction(crashes[i], NULL, &old) && !(old.sa_flags & SA_SIGINFO) &&
            old.sa_handler == SIG_DFL)
            (void)sigaction(crashes[i], &mine, NULL);
    return 0;
}

/* Take the handlers back; those that the program has set meanwhile stay. */
static void give_back(void)
{
    struct sigaction now;
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
        if (!sigaction(crashes[i], NULL, &now) && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == on_crash)
            signal(crashes[i], SIG_DFL);
}

const struct life crash_life = {.attach = attach, .close = give_back};
