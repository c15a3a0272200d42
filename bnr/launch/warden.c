/* SPDX-License-Identifier: BSD-3-Clause */

/* The warden; see warden.h. It may be started while other threads run, so it only calls the kernel
 * and allocates nothing. */
#include "bnr/launch/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/launch/directory.h"
#include "bnr/launch/session_folder.h"
#include "os/calls.h"
#include "os/clock.h"

enum {
    PIPE = 3,     /* the warden's descriptors */
    TERMINAL = 4, /* mpiexec's stdin, if that is a terminal */
    WORD_RAW = 'r',  /* from mpiexec: its terminal is raw, and the modes follow */
    WORD_BACK = 'u', /* from mpiexec: it is as it was */
    ID_LEN = 32,
    ENVIRON_PART = 64 << 10, /* of an environment, at a time */
    LIMIT_S = 30
};

/* The marks of the job's processes. */
struct mark {
    char id[ID_LEN];
    int table_fd; /* as ranks inherit it */
    struct stat table;
};

static int holds_id(const char *list, size_t len, const char *id)
{
    for (size_t at = 0; at + ID_LEN <= len; at += ID_LEN + 1)
        if (!memcmp(list + at, id, ID_LEN))
            return 1;
    return 0;
}

int warden_is_list(const char *text)
{
    for (;; text++) {
        if (strspn(text, "0123456789abcdef") != ID_LEN)
            return 0;
        text += ID_LEN;
        if (*text != ',')
            return !*text;
    }
}

int warden_names_job(const char *block, size_t len, const char *id)
{
    static const char key[] = "BNR_JOB=";
    const size_t key_len = sizeof(key) - 1;
    for (size_t at = 0; at < len;) {
        size_t n = strnlen(block + at, len - at);
        if (n > key_len && !memcmp(block + at, key, key_len) &&
            holds_id(block + at + key_len, n - key_len, id))
            return 1;
        at += n + 1;
    }
    return 0;
}

/* Drop the bytes before end off a block of len bytes. Returns how many are left. */
static size_t cut(char *block, size_t len, const char *end)
{
    size_t n = (size_t)(end - block);
    memmove(block, end, len - n);
    return len - n;
}

int warden_reads_job(int fd, const char *id)
{
    static char block[ENVIRON_PART];
    size_t len = 0;
    int is_inside = 0; /* the block begins in a variable that is too long to be the mark */
    ssize_t n;
    while ((n = read(fd, block + len, sizeof(block) - len)) > 0) {
        len += (size_t)n;
        const char *end = memchr(block, 0, len);
        if (is_inside && end) {
            len = cut(block, len, end + 1);
            is_inside = 0;
        }
        end = is_inside ? NULL : memrchr(block, 0, len);
        if (end && warden_names_job(block, (size_t)(end - block), id))
            return 1;
        if (end)
            len = cut(block, len, end + 1);
        if (is_inside || len == sizeof(block)) {
            is_inside = 1;
            len = 0;
        }
    }
    return !is_inside && warden_names_job(block, len, id);
}

/* Write "NAME/environ", or "NAME/fd/N" where fd is not negative. */
static void write_path(char path[64], const char *name, int fd)
{
    char digits[12];
    size_t n = 0, len = strnlen(name, 20);
    memcpy(path, name, len);
    if (fd < 0) {
        memcpy(path + len, "/environ", sizeof("/environ"));
        return;
    }
    memcpy(path + len, "/fd/", 4);
    len += 4;
    do
        digits[n++] = (char)('0' + fd % 10);
    while (fd /= 10);
    while (n)
        path[len++] = digits[--n];
    path[len] = 0;
}

static int is_of_job(int proc, const char *name, const struct mark *mark)
{
    char path[64];
    struct stat st;
    write_path(path, name, mark->table_fd);
    if (!fstatat(proc, path, &st, 0) && st.st_ino == mark->table.st_ino &&
        st.st_dev == mark->table.st_dev)
        return 1;
    write_path(path, name, -1);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int is_found = warden_reads_job(fd, mark->id);
    close(fd);
    return is_found;
}

/* The number that a name under /proc is, or 0. */
static pid_t number(const char *name)
{
    long n = 0;
    for (; *name; name++) {
        if (*name < '0' || *name > '9' || n > 100000000)
            return 0;
        n = 10 * n + (*name - '0');
    }
    return (pid_t)n;
}

/* Kill a process that bore the mark just now. Its number may have been given to another process
 * since, so the process is held by a descriptor and checked again. */
static void kill_known(int proc, const char *name, pid_t pid, const struct mark *mark)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        kill(pid, SIGKILL);
        return;
    }
    if (is_of_job(proc, name, mark) && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) && errno != ESRCH)
        kill(pid, SIGKILL); /* a filter of system calls may refuse the other call alone */
    close(fd);
}

/* Kill the processes that bear the mark. Returns how many were found. */
static int kill_marked(const struct mark *mark)
{
    static char buffer[32768] __attribute__((aligned(16)));
    int found = 0;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return 0;
    long n;
    while ((n = directory_read(proc, buffer, sizeof(buffer))) > 0) {
        for (long at = 0; at < n;) {
            const struct directory_entry *e = directory_at(buffer, at);
            pid_t pid = number(e->name);
            if (pid > 1 && pid != getpid() && is_of_job(proc, e->name, mark)) {
                found++;
                kill_known(proc, e->name, pid, mark);
            }
            at += e->len;
        }
    }
    close(proc);
    return found;
}

static void take_mark(const struct table *t, struct mark *mark)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < ID_LEN / 2; i++) {
        mark->id[2 * i] = digits[t->head->gid[i] >> 4];
        mark->id[2 * i + 1] = digits[t->head->gid[i] & 15];
    }
    mark->table_fd = t->head_fd;
    memset(&mark->table, 0, sizeof(mark->table));
    fstat(t->head_fd, &mark->table);
}

static void end_job(const struct table *t, const struct mark *mark)
{
    uint64_t until = os_now_ns() + (uint64_t)LIMIT_S * 1000000000u;
    for (int r = 0; r < t->world_size; r++) {
        int pid = t->rank[r].pid;
        if (pid > 1 && atomic_load(&t->rank[r].state) == TABLE_RUNNING)
            kill(-pid, SIGKILL);
    }
    /* Two searches must find none: the second sees a process that was between fork() and its
     * listing. */
    for (int none = 0; none < 2 && os_now_ns() < until;) {
        none = kill_marked(mark) ? 0 : none + 1;
        struct timespec nap = {0, 5000000};
        nanosleep(&nap, NULL);
    }
}

static void close_from(int first)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, first, ~0u, 0))
        return;
#endif
    for (int fd = first; fd < 65536; fd++)
        close(fd);
}

static void take_streams(int pipe_fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int terminal = isatty(0) ? fcntl(0, F_DUPFD_CLOEXEC, TERMINAL + 1) : -1;
    for (int i = 0; i < 3; i++)
        if (null >= 0)
            dup2(null, i);
    dup2(pipe_fd, PIPE);
    if (terminal >= 0)
        dup2(terminal, TERMINAL);
    close_from(terminal < 0 ? TERMINAL : TERMINAL + 1);
}

static void rename_self(char *name, size_t size)
{
    static const char own[] = "vireo-warden";
    prctl(PR_SET_NAME, own);
    if (!name || size < 2)
        return;
    memset(name, 0, size);
    memcpy(name, own, size < sizeof(own) ? size - 1 : sizeof(own));
}

/* Have the terminal as it was, unless another program has set it since. */
static void restore_terminal(const struct termios modes[2])
{
    struct termios now;
    if (!tcgetattr(TERMINAL, &now) && now.c_lflag == modes[1].c_lflag &&
        now.c_iflag == modes[1].c_iflag && now.c_oflag == modes[1].c_oflag)
        tcsetattr(TERMINAL, TCSANOW, &modes[0]);
}

/* Read all of a word. Returns whether it has come: false where mpiexec is dead. */
static int hear(void *word, size_t len)
{
    for (char *at = word; len;) {
        ssize_t n = read(PIPE, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += n;
        len -= (size_t)n;
    }
    return 1;
}

static void watch(const struct wardens *w, const struct mark *mark)
{
    struct termios modes[2];
    int is_raw = 0;
    char word;
    while (hear(&word, 1))
        is_raw = word == WORD_RAW && hear(modes, sizeof(modes));
    if (is_raw)
        restore_terminal(modes);
    end_job(w->table, mark);
    session_folder_remove(w->folder);
    _exit(0);
}

/* Tell a warden how the terminal is. It is one write, which a pipe takes whole or not at all. */
static void tell_modes(const struct wardens *w, int i)
{
    char words[1 + sizeof(w->modes)] = {w->is_raw ? WORD_RAW : WORD_BACK};
    memcpy(words + 1, w->modes, sizeof(w->modes));
    if (w->pid[i]) /* it may have been killed just now: SIGPIPE is ignored */
        (void)!write(w->pipe[i], words, w->is_raw ? sizeof(words) : 1);
}

static int start_one(struct wardens *w, int i)
{
    int ends[2];
    sigset_t all, old;
    w->pid[i] = 0;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old); /* in the warden for ever: only SIGKILL ends it */
    pid_t pid = os_fork_alone(); /* the libraries' handlers may make pipes */
    if (!pid) {
        struct mark mark;
        setsid();
        take_mark(w->table, &mark);
        take_streams(ends[0]);
        rename_self(w->name, w->name_size);
        watch(w, &mark);
    }
    int rc = pid < 0 ? -errno : 0;
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(ends[0]);
    if (rc) {
        close(ends[1]);
        return rc;
    }
    w->pid[i] = pid;
    w->pipe[i] = ends[1];
    if (w->is_raw)
        tell_modes(w, i);
    return 0;
}

void wardens_know(struct wardens *w, const struct termios modes[2])
{
    w->is_raw = modes != NULL;
    if (modes)
        memcpy(w->modes, modes, sizeof(w->modes));
    for (int i = 0; i < WARDENS; i++)
        tell_modes(w, i);
}

int wardens_start(struct wardens *w, const struct table *t, const char *folder, char *name, size_t size)
{
    int rc = 0;
    *w = (struct wardens){.table = t, .folder = folder, .name = name, .name_size = size};
    for (int i = 0; i < WARDENS && !rc; i++)
        rc = start_one(w, i);
    return rc;
}

int wardens_reaped(struct wardens *w, pid_t pid)
{
    for (int i = 0; i < WARDENS; i++)
        if (w->pid[i] == pid) {
            close(w->pipe[i]);
            return start_one(w, i);
        }
    return 0;
}

void wardens_stop(struct wardens *w)
{
    for (int i = 0; i < WARDENS; i++) {
        if (!w->pid[i])
            continue;
        kill(w->pid[i], SIGKILL); /* one that stands still would hear no word */
        waitpid(w->pid[i], NULL, 0);
        close(w->pipe[i]); /* not before: its end means that this process is dead */
        w->pid[i] = 0;
    }
}
