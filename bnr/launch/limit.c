/* SPDX-License-Identifier: BSD-3-Clause */

/* Limits of a process; see limit.h. */
#include "bnr/launch/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bnr/host/table.h"
#include "os/file.h"
#include "os/log.h"

enum {
    STACK_MIN = 64 << 10,     /* of mpiexec */
    STACK_SMALL = 128 << 10,  /* below this a rank may need more */
    PROCESS_STACK = 64 << 10, /* of the threads that are started in place of processes */
    PROCESSES_MANY = 8192,    /* a limit that leaves so many is not met */
    FILES_OF_PROCESS = 16,    /* of a rank, besides connections */
    FULL = 64 << 10           /* bytes: a file system with less room counts as full */
};

static struct {
    struct rlimit files, file_size, stack;
    long oom_kills;
} start;

/* A limit that a filter of system calls refuses to tell counts as none. */
static struct rlimit limit_now(int kind)
{
    struct rlimit limit;
    if (getrlimit((unsigned)kind, &limit))
        limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
    return limit;
}

bool limit_raise_stack(char why[512])
{
    struct rlimit limit = limit_now(RLIMIT_STACK);
    start.stack = limit;
    if (limit.rlim_cur >= STACK_MIN)
        return true;
    limit.rlim_cur = limit.rlim_max < STACK_MIN ? limit.rlim_max : STACK_MIN;
    setrlimit(RLIMIT_STACK, &limit);
    snprintf(
        why, 512,
        "the limit of the stack is %ld KiB, which is too low; raise it, by ulimit -s %d or more",
        (long)(limit.rlim_max >> 10), STACK_MIN >> 10);
    return limit.rlim_cur >= STACK_MIN;
}

/* The count behind "oom_kill " in a file of a control group; -1: there is none. */
static long read_kills(const char *format, const char *group)
{
    char path[PATH_MAX], text[1024];
    snprintf(path, sizeof(path), format, (int)strcspn(group, "\n"), group);
    (void)os_read_start(path, text, sizeof(text));
    const char *found = strstr(text, "oom_kill ");
    return found ? strtol(found + strlen("oom_kill "), NULL, 10) : -1;
}

/* How many processes of this control group were killed because memory ran out; 0: unknown. In a
 * container the group may be named by its path outside, and be the root inside. */
static long oom_kills(void)
{
    char groups[4096];
    (void)os_read_start("/proc/self/cgroup", groups, sizeof(groups));
    const char *unified = strstr(groups, "0::/"), *own = strstr(groups, ":memory:/");
    const struct {
        const char *format, *group;
    } places[] = {{"/sys/fs/cgroup%.*s/memory.events", unified ? unified + 3 : NULL},
                  {"/sys/fs/cgroup/memory%.*s/memory.oom_control", own ? own + 8 : NULL},
                  {"/sys/fs/cgroup%.*s/memory.events", ""},
                  {"/sys/fs/cgroup/memory%.*s/memory.oom_control", ""}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        long kills = places[i].group ? read_kills(places[i].format, places[i].group) : -1;
        if (kills >= 0)
            return kills;
    }
    return 0;
}

void limit_remember(void)
{
    start.files = limit_now(RLIMIT_NOFILE);
    start.file_size = limit_now(RLIMIT_FSIZE);
    if (!start.stack.rlim_max)
        start.stack = limit_now(RLIMIT_STACK);
    start.oom_kills = oom_kills();
}

void limit_raise(void)
{
    struct rlimit limit = start.files;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    limit = start.file_size;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too long gives an error, not a signal */
}

uint64_t limit_started(int kind)
{
    struct rlimit limit = start.files;
    if (kind == RLIMIT_FSIZE)
        limit = start.file_size;
    else if (kind == RLIMIT_STACK)
        limit = start.stack;
    else if (kind != RLIMIT_NOFILE)
        limit = limit_now(kind);
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

void limit_restore(void)
{
    setrlimit(RLIMIT_NOFILE, &start.files);
    setrlimit(RLIMIT_FSIZE, &start.file_size);
    setrlimit(RLIMIT_STACK, &start.stack);
}

bool limit_lacks_files(uint32_t others, char text[512])
{
    uint64_t need = (uint64_t)others + FILES_OF_PROCESS;
    if (start.files.rlim_max == RLIM_INFINITY || start.files.rlim_max >= need)
        return false;
    snprintf(text, 512,
             "on %.64s the hard limit of open files is %llu, and a rank that talks to all %u ranks of other hosts needs "
             "%llu; raise it there, by ulimit -n %llu or more",
             os_host_name(), (unsigned long long)start.files.rlim_max, others, (unsigned long long)need,
             (unsigned long long)need);
    return true;
}

/* The limit alone says little: this process may have been started with many open files. The kernel's
 * table of files grows to its size here, while there is one thread: later that takes milliseconds. */
int limit_check_files(int files, char why[512])
{
    int count = 0, rc = 0;
    int *fds = malloc((size_t)files * sizeof(*fds));
    if (fds && (fds[0] = open("/", O_PATH | O_CLOEXEC)) >= 0)
        for (count = 1; count < files; count++)
            if ((fds[count] = fcntl(fds[0], F_DUPFD_CLOEXEC, 0)) < 0)
                break;
    if (!fds)
        rc = -ENOMEM;
    else if (count < files)
        rc = -errno;
    struct rlimit limit = limit_now(RLIMIT_NOFILE);
    if (rc == -EMFILE)
        snprintf(why, 512,
                 "the limit of %ld open files is too low for this job; raise it, by ulimit -n %ld "
                 "or more, or start fewer ranks",
                 (long)limit.rlim_cur, (long)limit.rlim_cur + files - count);
    else if (rc)
        snprintf(why, 512, "the %d files that this job needs cannot be opened on %.64s: %s", files,
                 os_host_name(), strerror(-rc));
    int high = rc ? -1 : fcntl(fds[0], F_DUPFD_CLOEXEC, TABLE_FIRST_FD);
    if (high >= 0)
        close(high);
    while (count > 0)
        close(fds[--count]);
    free(fds);
    return rc;
}

/* ---- processes ---- */

static void *wait_for_end(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* Start threads, up to count, until one cannot be started. Returns 0 or -errno. */
static int start_threads(pthread_t *threads, int *started, int count, pthread_mutex_t *gate)
{
    pthread_attr_t attr;
    int rc = 0;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, PROCESS_STACK);
    while (*started < count && !rc) {
        rc = -pthread_create(&threads[*started], &attr, wait_for_end, gate);
        *started += !rc;
    }
    pthread_attr_destroy(&attr);
    return rc;
}

/* Whether a thread could not be started for lack of memory. */
static bool is_without_memory(void)
{
    void *stack = mmap(NULL, 2 * PROCESS_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return true;
    munmap(stack, 2 * PROCESS_STACK);
    return false;
}

/* Whether the user's limit of processes cannot be met: it is none for this process, or far away. */
static bool has_room(int processes)
{
    struct rlimit limit = limit_now(RLIMIT_NPROC);
    return !geteuid() || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= (rlim_t)processes + PROCESSES_MANY;
}

int limit_check_processes(int processes, char why[512])
{
    if (has_room(processes))
        return 0;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *all = malloc((size_t)processes * sizeof(*all));
    int started = 0;
    pthread_mutex_lock(&gate);
    int rc = all ? start_threads(all, &started, processes, &gate) : -ENOMEM;
    if (rc == -EAGAIN && is_without_memory())
        rc = -ENOMEM;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(all[i], NULL);
    free(all);
    if (rc == -EAGAIN)
        snprintf(why, 512,
                 "this job needs %d processes and threads, and no more than %d can be started "
                 "on %.64s%s, or start fewer ranks",
                 processes, started, os_host_name(), limit_of_error(rc));
    else if (rc)
        snprintf(why, 512, "the processes of this job cannot be counted on %.64s: %s%s",
                 os_host_name(), strerror(-rc), limit_of_error(rc));
    return rc;
}

/* ---- errors and signals ---- */

static const char *name_limit(int resource, long unit, const char *what, const char *cure)
{
    static char text[160];
    struct rlimit limit = limit_now(resource);
    if (limit.rlim_cur == RLIM_INFINITY)
        return NULL;
    snprintf(text, sizeof(text), "; the limit of %s is %ld%s: raise it, by %s", what,
             (long)(limit.rlim_cur / (rlim_t)unit), unit > 1 ? " KiB" : "", cure);
    return text;
}

const char *limit_of_error(int rc)
{
    const char *text = NULL;
    switch (rc) {
    case -EMFILE: text = name_limit(RLIMIT_NOFILE, 1, "open files", "ulimit -n"); break;
    case -EFBIG: text = name_limit(RLIMIT_FSIZE, 1024, "the size of files", "ulimit -f"); break;
    case -ENOMEM:
        text = name_limit(RLIMIT_AS, 1024, "address space", "ulimit -v");
        if (!text)
            text = name_limit(RLIMIT_DATA, 1024, "data", "ulimit -d");
        break;
    case -EAGAIN:
        return "; raise the limit of processes, by ulimit -u, or that of the container (pids.max of "
               "its control group)";
    default: break;
    }
    return text ? text : "";
}

const char *limit_of_signal(int number, int memory_fd)
{
    static char text[160];
    struct statfs fs;
    struct rlimit limit = start.stack;
    text[0] = 0;
    if (number == SIGKILL && oom_kills() > start.oom_kills)
        return "; memory ran out in its control group: raise that limit of the container, or start "
               "fewer ranks";
    if (number == SIGBUS && !fstatfs(memory_fd, &fs) && fs.f_blocks &&
        (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < FULL)
        snprintf(
            text, sizeof(text),
            "; the file system of the job's shared memory, of %lld KiB, is full: give /dev/shm "
            "more room, or allow memfd_create()",
            (long long)fs.f_blocks * (long long)fs.f_bsize / 1024);
    if (number == SIGSEGV && limit.rlim_cur < STACK_SMALL)
        snprintf(text, sizeof(text), "; the limit of its stack is %ld KiB: raise it, by ulimit -s",
                 (long)(limit.rlim_cur >> 10));
    return text;
}
