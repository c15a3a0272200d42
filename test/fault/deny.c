/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Run a program to which the kernel denies some system calls.
 *
 *   deny CALL=ERROR... -- PROGRAM [ARGUMENT...]
 *   deny list      (of the calls)
 *
 * ERROR is one of errors[], the call one of calls[] below. An old kernel knows no CLONE_PIDFD: the rule
 * clone_pidfd=EINVAL denies clone() with that flag alone.
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

#ifndef SYS_accept /* s390x has the newer one alone */
#define SYS_accept SYS_accept4
#endif

static const struct {
    const char *name;
    unsigned number;
    unsigned first; /* the only first argument with which it is denied; 0: with any */
    unsigned flags; /* denied with any of these bits in the first argument; 0: with any */
} calls[] = {
    {"process_vm_readv", SYS_process_vm_readv, 0, 0},
    {"process_vm_writev", SYS_process_vm_writev, 0, 0},
    {"memfd_create", SYS_memfd_create, 0, 0},
    {"membarrier", SYS_membarrier, 0, 0},
    {"pidfd_open", SYS_pidfd_open, 0, 0},
    {"pidfd_send_signal", 424, 0, 0}, /* numbers alike everywhere, newer than some headers */
    {"close_range", SYS_close_range, 0, 0},
    {"getrandom", SYS_getrandom, 0, 0},
    {"io_uring_setup", SYS_io_uring_setup, 0, 0},
    {"epoll_pwait2", SYS_epoll_pwait2, 0, 0},
    {"rseq", SYS_rseq, 0, 0},
    {"openat2", 437, 0, 0},
    {"faccessat2", 439, 0, 0},
    {"clone3", 435, 0, 0},
    {"clone_pidfd", SYS_clone, 0, 0x1000},
    {"futex_waitv", 449, 0, 0},
    {"futex_wait", 455, 0, 0},
    {"statx", SYS_statx, 0, 0},
    {"sched_getaffinity", SYS_sched_getaffinity, 0, 0},
    {"sched_setaffinity", SYS_sched_setaffinity, 0, 0},
    {"sched_yield", SYS_sched_yield, 0, 0},
    {"getcpu", SYS_getcpu, 0, 0},
    {"get_mempolicy", SYS_get_mempolicy, 0, 0},
    {"set_mempolicy", SYS_set_mempolicy, 0, 0},
    {"mbind", SYS_mbind, 0, 0},
    {"madvise", SYS_madvise, 0, 0},
    {"mremap", SYS_mremap, 0, 0},
    {"fadvise64", SYS_fadvise64, 0, 0},
    {"ftruncate", SYS_ftruncate, 0, 0},
    {"fallocate", SYS_fallocate, 0, 0},
    {"flock", SYS_flock, 0, 0},
    {"eventfd2", SYS_eventfd2, 0, 0},
    {"epoll_create1", SYS_epoll_create1, 0, 0},
    {"signalfd4", SYS_signalfd4, 0, 0},
    {"timerfd_create", SYS_timerfd_create, 0, 0},
    {"timer_create", SYS_timer_create, 0, 0},
    {"prctl", SYS_prctl, 0, 0},
    {"prlimit64", SYS_prlimit64, 0, 0},
    {"ptrace", SYS_ptrace, 0, 0},
    {"personality", SYS_personality, 0, 0},
    {"sysinfo", SYS_sysinfo, 0, 0},
    {"uname", SYS_uname, 0, 0},
    {"setsid", SYS_setsid, 0, 0},
    {"preadv2", SYS_preadv2, 0, 0},
    {"pwritev2", SYS_pwritev2, 0, 0},
    {"accept", SYS_accept, 0, 0},
    {"accept4", SYS_accept4, 0, 0},
    {"sendmmsg", SYS_sendmmsg, 0, 0},
    {"recvmmsg", SYS_recvmmsg, 0, 0},
    {"setsockopt", SYS_setsockopt, 0, 0},
    {"socket_unix", SYS_socket, AF_UNIX, 0},
    {"socket_inet6", SYS_socket, AF_INET6, 0},
    {"socket_netlink", SYS_socket, AF_NETLINK, 0},
};

static const struct {
    const char *name;
    unsigned number;
} errors[] = {
    {"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"EINVAL", EINVAL}, {"EACCES", EACCES}, {"EOPNOTSUPP", EOPNOTSUPP},
};

static int find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strlen(calls[i].name) == len && !memcmp(calls[i].name, name, len))
            return (int)i;
    return -1;
}

/* Returns 0 where there is no such error. */
static unsigned find_error(const char *name)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (!strcmp(errors[i].name, name))
            return errors[i].number;
    return 0;
}

/* Append to the filter: the call returns error. Returns the number of instructions, or -1. */
static int add(struct sock_filter *at, const char *rule)
{
    size_t len = strcspn(rule, "=");
    int call = find(rule, len);
    unsigned error = rule[len] ? find_error(rule + len + 1) : 0;
    if (call < 0 || !error)
        return -1;
    unsigned first = calls[call].first, flags = calls[call].flags;
    struct sock_filter deny = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[call].number, 0,
                                         first || flags ? 4 : 1);
    at[1] = deny;
    if (!first && !flags)
        return 2;
    at[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                         offsetof(struct seccomp_data, args[0]));
    at[2] = first ? (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 1)
                  : (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1);
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
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
            puts(calls[c].name);
        return 0;
    }
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
