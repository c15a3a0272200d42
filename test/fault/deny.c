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
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"memfd_create", SYS_memfd_create},
    {"membarrier", SYS_membarrier},
    {"pidfd_open", SYS_pidfd_open},
    {"close_range", SYS_close_range},
    {"getrandom", SYS_getrandom},
    {"io_uring_setup", SYS_io_uring_setup},
    {"epoll_pwait2", SYS_epoll_pwait2},
    {"rseq", SYS_rseq},
    {"sched_getaffinity", SYS_sched_getaffinity},
};

static int number_of(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strlen(calls[i].name) == len && !memcmp(calls[i].name, name, len))
            return (int)calls[i].number;
    return -1;
}

/* Append to the filter: call number returns error. */
static int add(struct sock_filter *at, const char *rule)
{
    size_t len = strcspn(rule, "=");
    int number = number_of(rule, len);
    unsigned error = !strcmp(rule + len, "=EPERM") ? EPERM : ENOSYS;
    if (number < 0 || (error == ENOSYS && strcmp(rule + len, "=ENOSYS")))
        return -1;
    at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    at[1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    return 0;
}

int main(int argc, char **argv)
{
    struct sock_filter filter[64] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short n = 1;
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--"); i++, n += 2) {
        if (n > 60 || add(filter + n, argv[i])) {
            fprintf(stderr, "deny: there is no rule '%s'\n", argv[i]);
            return 2;
        }
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
