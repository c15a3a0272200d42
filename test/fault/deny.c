/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Run a program to which the kernel denies some system calls.
 *
 *   deny CALL=ERROR... -- PROGRAM [ARGUMENT...]
 *
 * ERROR is EPERM or ENOSYS; the calls that can be denied are in calls[] below.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
    unsigned first; /* the only first argument with which it is denied; 0: with any */
} calls[] = {
    {"process_vm_readv", SYS_process_vm_readv, 0},
    {"process_vm_writev", SYS_process_vm_writev, 0},
    {"memfd_create", SYS_memfd_create, 0},
    {"membarrier", SYS_membarrier, 0},
    {"pidfd_open", SYS_pidfd_open, 0},
    {"close_range", SYS_close_range, 0},
    {"getrandom", SYS_getrandom, 0},
    {"io_uring_setup", SYS_io_uring_setup, 0},
    {"epoll_pwait2", SYS_epoll_pwait2, 0},
    {"rseq", SYS_rseq, 0},
    {"sched_getaffinity", SYS_sched_getaffinity, 0},
    {"eventfd2", SYS_eventfd2, 0},
    {"prctl", SYS_prctl, 0},
    {"preadv2", SYS_preadv2, 0},
    {"pwritev2", SYS_pwritev2, 0},
    {"statx", SYS_statx, 0},
    {"accept", SYS_accept, 0},
    {"accept4", SYS_accept4, 0},
    {"futex_waitv", 449, 0}, /* as all of futex2, newer than some headers */
    {"futex_wait", 455, 0},
    {"clone3", 435, 0},
    {"socket_unix", SYS_socket, AF_UNIX},
};

static int find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strlen(calls[i].name) == len && !memcmp(calls[i].name, name, len))
            return (int)i;
    return -1;
}

/* Append to the filter: the call returns error. Returns the number of instructions, or -1. */
static int add(struct sock_filter *at, const char *rule)
{
    size_t len = strcspn(rule, "=");
    int call = find(rule, len);
    unsigned error = !strcmp(rule + len, "=EPERM") ? EPERM : ENOSYS;
    if (call < 0 || (error == ENOSYS && strcmp(rule + len, "=ENOSYS")))
        return -1;
    unsigned first = calls[call].first;
    struct sock_filter deny = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[call].number, 0,
                                         first ? 4 : 1);
    at[1] = deny;
    if (!first)
        return 2;
    at[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                         offsetof(struct seccomp_data, args[0]));
    at[2] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 1);
    at[3] = deny;
    at[4] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                         offsetof(struct seccomp_data, nr));
    return 5;
}

int main(int argc, char **argv)
{
    struct sock_filter filter[64] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short n = 1;
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--"); i++) {
        int added = n < 58 ? add(filter + n, argv[i]) : -1;
        if (added < 0) {
            fprintf(stderr, "deny: there is no rule '%s'\n", argv[i]);
            return 2;
        }
        n = (unsigned short)(n + added);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, filter};
    if (i + 1 >= argc)
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("deny: the filter");
        return 77;
    }
    execvp(argv[i + 1], argv + i + 1);
    perror("deny: the program");
    return 127;
}
