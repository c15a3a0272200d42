/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Run a program and count instructions between its markers (marker.h), one
 * single step at a time. The count is exact on the noisiest machine.
 *
 *   stepper PROGRAM [ARGUMENT...]
 *
 * Prints "steps,NAME,COUNT" for each pair of markers on standard output and
 * ends as the program does. Exits with 77 where tracing is not permitted.
 * A repeated string instruction counts once a repetition.
 */

#include "marker.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_REFUSED = 77, EXIT_USAGE = 2 };

struct count {
    pid_t pid;
    bool stepping;
    long steps;
    unsigned long before; /* where the step began */
    char name[MARKER_NAME_MAX];
};

static void child(char **argv)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(EXIT_REFUSED);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

static void read_name(struct count *c, unsigned long address)
{
    for (size_t at = 0; at + sizeof(long) <= MARKER_NAME_MAX; at += sizeof(long)) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, c->pid, (char *)address + at, NULL);

        if (errno != 0)
            break;
        memcpy(c->name + at, &word, sizeof word);
        if (memchr(&word, '\0', sizeof word))
            break;
    }
    c->name[MARKER_NAME_MAX - 1] = '\0';
}

/* Whether the stop comes from a breakpoint instruction. Between markers only
 * a one-byte step over one is: other code may hold the same byte anywhere,
 * and the signal's code looks the same after a step over a system call. */
static bool at_breakpoint(const struct count *c, unsigned long address)
{
    const long breakpoint = 0xcc;

    if (c->stepping && c->before != address)
        return false;
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, c->pid, (char *)address, NULL);

    return errno == 0 && (word & 0xff) == breakpoint;
}

/* Take a marker, if this stop is one. */
static bool took_marker(struct count *c, const struct user_regs_struct *regs)
{
    if (regs->rax != (c->stepping ? MARKER_END : MARKER_BEGIN))
        return false;
    if (!at_breakpoint(c, regs->rip - 1))
        return false;
    if (c->stepping) {
        printf("steps,%s,%ld\n", c->name, c->steps);
        fflush(stdout);
    } else {
        read_name(c, regs->rdi);
        c->steps = 0;
    }
    c->stepping = !c->stepping;
    return true;
}

/* The signal to hand on to the program, 0 for one that was ours. */
static int take_stop(struct count *c, int sig)
{
    struct user_regs_struct regs;

    if (sig != SIGTRAP || ptrace(PTRACE_GETREGS, c->pid, NULL, &regs) != 0)
        return sig;
    bool stepped = c->stepping;

    if (!took_marker(c, &regs)) {
        if (!stepped)
            return sig;
        c->steps++;
    }
    c->before = regs.rip;
    return 0;
}

static int end_as(int status)
{
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    struct count c = {0};
    int status, sig = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...]\n", argv[0]);
        return EXIT_USAGE;
    }
    c.pid = fork();
    if (c.pid < 0) {
        perror("fork");
        return 1;
    }
    if (c.pid == 0)
        child(argv + 1);
    if (waitpid(c.pid, &status, 0) < 0 || !WIFSTOPPED(status))
        return end_as(status);
    /* The program dies with its tracer, and never runs on alone. */
    ptrace(PTRACE_SETOPTIONS, c.pid, NULL, PTRACE_O_EXITKILL);
    for (;;) {
        if (ptrace(c.stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, c.pid, NULL, sig) != 0 &&
            errno != ESRCH)
            perror("ptrace");
        if (waitpid(c.pid, &status, 0) < 0)
            return 1;
        if (!WIFSTOPPED(status))
            return end_as(status);
        sig = take_stop(&c, WSTOPSIG(status));
    }
}
