/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starting a process; see launch.h. The child shares this process's memory until it executes the
 * program. So starting copies no page tables, and the child can leave the reason of a failure in a
 * variable. The child calls only the kernel.
 */
#include "bnr/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/launch/limit.h"
#include "bnr/launch/start_signals.h"
#include "os/calls.h"
#include "os/file.h"
#include "os/log.h"

enum {
    CHILD_STACK = 64 << 10,
    SCRIPT_ARGS_MAX = 4096
};

static const char step_execute[] = "execute";

/* ---- finding the program ---- */

enum finding {
    FOUND,
    IS_ABSENT,
    IS_DANGLING,
    IS_FOLDER,
    IS_NOT_EXECUTABLE
};

static enum finding examine(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return errno == EACCES ? IS_NOT_EXECUTABLE : IS_ABSENT;
    if (S_ISLNK(st.st_mode) && stat(path, &st))
        return errno == EACCES ? IS_NOT_EXECUTABLE : IS_DANGLING;
    if (S_ISDIR(st.st_mode))
        return IS_FOLDER;
    return access(path, X_OK) ? IS_NOT_EXECUTABLE : FOUND;
}

/* Prefix a relative path with wdir, as the kernel will read it after chdir(). */
static int join(char *out, size_t size, const char *wdir, const char *dir, size_t dir_len,
                const char *name)
{
    const char *slash = dir_len ? "/" : "";
    int is_relative = dir_len ? *dir != '/' : *name != '/';
    int n = is_relative && wdir
                ? snprintf(out, size, "%s/%.*s%s%s", wdir, (int)dir_len, dir, slash, name)
                : snprintf(out, size, "%.*s%s%s", (int)dir_len, dir, slash, name);
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static bool ends_in(const char *name, const char *const *endings)
{
    const char *dot = strrchr(name, '.');
    for (; dot && *endings; endings++)
        if (!strcmp(dot, *endings))
            return true;
    return false;
}

/* The advice for a file that cannot be executed; sought: in PATH, and found elsewhere. */
static void explain_mode(const char *name, const char *path, bool sought, char why[512])
{
    static const char *const sources[] = {".c",   ".cc", ".cpp", ".cxx", ".C",
                                          ".f90", ".f",  ".F90", NULL};
    static const char *const python[] = {".py", NULL};
    int n = snprintf(why, 512, "'%.160s' on %.64s is ", path, os_host_name());
    if (ends_in(name, sources))
        snprintf(why + n, 512 - (size_t)n, "a source file; compile it first: mpicc %.160s", name);
    else if (ends_in(name, python))
        snprintf(why + n, 512 - (size_t)n,
                 "not executable for this user; say python3 %.160s, or chmod +x it", name);
    else if (!sought)
        snprintf(why + n, 512 - (size_t)n, "not executable for this user; chmod +x may help");
    else
        snprintf(why, 512,
                 "'%.160s' is in no folder of PATH on %.64s, and that in the working folder is not "
                 "executable; chmod +x may help, with ./ before the name",
                 name, os_host_name());
}

static int explain(enum finding f, const char *name, const char *path, char why[512])
{
    if (f == IS_FOLDER)
        snprintf(why, 512, "'%.200s' on %.64s is a folder, not a program; name a file in it", path,
                 os_host_name());
    else if (f == IS_DANGLING)
        snprintf(why, 512, "'%.200s' on %.64s is a link that leads to no file; make it again", path,
                 os_host_name());
    else if (f == IS_NOT_EXECUTABLE)
        explain_mode(name, path, false, why);
    else
        snprintf(why, 512,
                 "there is no program '%.200s' on %.64s; check the spelling and the "
                 "folder",
                 name, os_host_name());
    return f == IS_ABSENT || f == IS_DANGLING ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

/* A name that is in no folder of PATH; here is its path in the working folder. */
static void explain_search(const char *name, const char *here, char why[512])
{
    enum finding f = examine(here);
    if (f == FOUND)
        snprintf(why, 512,
                 "'%.200s' is in no folder of PATH on %.64s, but there is one in the working "
                 "folder: say ./%.128s",
                 name, os_host_name(), name);
    else if (f == IS_NOT_EXECUTABLE)
        explain_mode(name, here, true, why);
    else if (!name[strspn(name, "0123456789")])
        snprintf(why, 512,
                 "there is no program '%.64s' in the folders of PATH on %.64s; to start so many "
                 "processes, say -n %.64s",
                 name, os_host_name(), name);
    else
        snprintf(why, 512,
                 "there is no program '%.200s' in the folders of PATH on %.64s; give its path",
                 name, os_host_name());
}

static int search_path(const char *name, const char *wdir, const char *search, char *path,
                       size_t size, char why[512])
{
    enum finding worst = IS_ABSENT;
    char tried[4096], at_fault[4096];
    for (const char *dir = search;; dir++) {
        size_t len = strcspn(dir, ":");
        if (!join(tried, sizeof(tried), wdir, len ? dir : ".", len ? len : 1, name)) {
            enum finding f = examine(tried);
            if (f == FOUND)
                return snprintf(path, size, "%s", tried) >= (int)size ? LAUNCH_NOT_FOUND : 0;
            if (f != IS_ABSENT && worst == IS_ABSENT) {
                worst = f;
                strcpy(at_fault, tried);
            }
        }
        dir += len;
        if (!*dir)
            break;
    }
    if (worst != IS_ABSENT)
        return explain(worst, name, at_fault, why);
    explain_search(name, join(tried, sizeof(tried), wdir, "", 0, name) ? "" : tried, why);
    return LAUNCH_NOT_FOUND;
}

int launch_resolve(const char *name, const char *wdir, const char *search, char *path, size_t size,
                   char why[512])
{
    if (!*name) {
        snprintf(why, 512,
                 "the name of the program is empty; check the quotes and variables that "
                 "should hold it");
        return LAUNCH_NOT_FOUND;
    }
    bool is_path = strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..");
    if (!is_path)
        return search_path(name, wdir, search ? search : "/usr/local/bin:/usr/bin:/bin", path, size,
                           why);
    if (join(path, size, wdir, "", 0, name)) {
        snprintf(why, 512, "the path of the program is too long");
        return LAUNCH_NOT_FOUND;
    }
    enum finding f = examine(path);
    return f == FOUND ? 0 : explain(f, name, path, why);
}

int launch_seek(const char *name, const char *wdir, const char *first, const char *search,
                char path[PATH_MAX], char why[512])
{
    int rc = LAUNCH_NOT_FOUND;
    if (first)
        rc = launch_resolve(name, wdir, first, path, PATH_MAX, why);
    return rc ? launch_resolve(name, wdir, search, path, PATH_MAX, why) : 0;
}

const char *launch_variable(char *const *environment, const char *name)
{
    size_t len = strlen(name);
    for (; *environment; environment++)
        if (!strncmp(*environment, name, len) && (*environment)[len] == '=')
            return *environment + len + 1;
    return NULL;
}

int launch_find(const char *name, char **path, char why[512])
{
    char found[PATH_MAX];
    int rc = launch_resolve(name, NULL, getenv("PATH"), found, sizeof(found), why);
    if (!rc && !(*path = strdup(found)))
        rc = LAUNCH_NOT_FOUND;
    return rc;
}

/* ---- starting it ---- */

struct child {
    const struct launch *l;
    pid_t parent;
    const char **script_argv; /* to run a file without "#!" by the shell; NULL: too many words */
    int error;
    int pidfd;
    const char *step;
};

/* The sources may be among the descriptors 0 to 2: move those out of the way first. */
static int place_streams(const int stream[3])
{
    int from[3];
    for (int i = 0; i < 3; i++) {
        from[i] = stream[i];
        if (from[i] >= 0 && from[i] < 3 && from[i] != i)
            from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3);
        if (from[i] < 0)
            return -1;
    }
    for (int i = 0; i < 3; i++)
        if (from[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup2(from[i], i) < 0)
            return -1;
    return 0;
}

static int bind(const struct launch_binding *b, const char **step)
{
    *step = "bind it to its processors";
    if (b->cpus && sched_setaffinity(0, b->cpus_len, b->cpus))
        return -1;
    *step = "bind its memory";
    return b->has_policy && syscall(SYS_set_mempolicy, b->policy, b->node_count ? b->nodes : NULL,
                                    b->node_count ? b->node_count + 1 : 0)
               ? -1
               : 0;
}

/* Have the program stop at its first instruction; any process of the user's may debug it. */
static int stop_at_start(const char **step)
{
    *step = "stop it at its start by ptrace()";
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? -1 : 0;
}

static int prepare(struct child *c)
{
    const struct launch *l = c->l;
    c->step = "make a process group";
    if (l->has_terminal ? setsid() < 0 : setpgid(0, 0))
        return -1;
    start_signals_restore();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a help: the warden ends the rank in any case */
    if (getppid() != c->parent) {
        c->step = "begin before its parent ends";
        errno = ESRCH;
        return -1;
    }
    c->step = "connect the streams";
    if (place_streams(l->stream))
        return -1;
    c->step = "give it a terminal";
    if (l->has_terminal && ioctl(0, TIOCSCTTY, 0))
        return -1;
    for (size_t i = 0; i < sizeof(l->keep) / sizeof(l->keep[0]); i++)
        if (l->keep[i] >= 0 && fcntl(l->keep[i], F_SETFD, 0))
            return -1;
    c->step = "enter the working folder";
    if (l->wdir && chdir(l->wdir))
        return -1;
    limit_restore();
    if (bind(&l->binding, &c->step))
        return -1;
    return l->stops ? stop_at_start(&c->step) : 0;
}

static int child_main(void *arg)
{
    struct child *c = arg;
    if (!prepare(c)) {
        c->step = step_execute;
        execve(c->l->path, c->l->argv, c->l->envp);
        if (errno == ENOEXEC && c->script_argv) {
            execve("/bin/sh", (char *const *)c->script_argv, c->l->envp);
            errno = ENOEXEC;
        }
    }
    c->error = errno;
    return 127;
}

/* Whether the file begins as text: then the shell may read it, as execvp() does. */
static int is_text(const char *path)
{
    char first[64];
    ssize_t n = os_read_start(path, first, sizeof(first));
    return n > 0 && !memchr(first, 0, (size_t)n) && first[0] != '\177'; /* a cut ELF header */
}

static const char **script_arguments(const struct launch *l)
{
    static const char *words[SCRIPT_ARGS_MAX];
    int n = 0;
    words[n++] = "sh";
    words[n++] = l->path;
    for (int i = 1; l->argv[0] && l->argv[i]; i++) {
        if (n == SCRIPT_ARGS_MAX - 1)
            return NULL;
        words[n++] = l->argv[i];
    }
    words[n] = NULL;
    return words;
}

/* The child never returns through its frames, and tools that watch stacks would take them for live
 * ones. So each child has a stack of its own. */
static pid_t start_child(struct child *c)
{
    char *stack = aligned_alloc(64, CHILD_STACK);
    sigset_t all, old;
    c->error = 0;
    c->pidfd = -1;
    if (!stack)
        return -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old); /* no handler may run in shared memory */
    int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
    pid_t pid = clone(child_main, stack + CHILD_STACK, flags | CLONE_PIDFD, c, &c->pidfd);
    if (pid < 0 && errno != EAGAIN && errno != ENOMEM) { /* Linux before 5.2, emulators, filters */
        c->pidfd = -1;
        pid = clone(child_main, stack + CHILD_STACK, flags, c);
    }
    int error = errno;
    sigprocmask(SIG_SETMASK, &old, NULL);
    free(stack);
    errno = error;
    return pid;
}

/* Reap a child that could not execute the program. */
static void discard(const struct child *c, pid_t pid)
{
    waitpid(pid, NULL, 0);
    if (c->pidfd >= 0)
        close(c->pidfd);
}

/* A child that this process traces has begun its program: let go of it, and leave it stopped. */
static int leave_stopped(pid_t pid)
{
    int status;
    pid_t found;
    do
        found = waitpid(pid, &status, 0);
    while (found < 0 && errno == EINTR);
    if (found < 0)
        return -errno;
    if (!WIFSTOPPED(status))
        return -ECHILD;
    return ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)SIGSTOP) ? -errno : 0;
}

int launch_start(const struct launch *l, pid_t *pid, int *pidfd, const char **step)
{
    struct child c = {.l = l, .parent = getpid()};
    pid_t child = start_child(&c);
    if (child < 0) {
        *step = "start a process";
        return -errno;
    }
    if (c.error == ENOEXEC && is_text(l->path)) {
        discard(&c, child);
        c.script_argv = script_arguments(l);
        child = start_child(&c);
    }
    if (child < 0 || c.error) {
        int rc = child < 0 ? -errno : -c.error;
        if (child > 0)
            discard(&c, child);
        *step = c.step;
        return rc;
    }
    int rc = l->stops ? leave_stopped(child) : 0;
    if (rc) {
        kill(child, SIGKILL);
        discard(&c, child);
        *step = c.step;
        return rc;
    }
    *pid = child;
    *pidfd = c.pidfd;
    return 0;
}

/* ---- why it did not start ---- */

/* The script at path, which begins with head, could not be executed. */
static void explain_script(char *head, int rc, char *why, size_t size)
{
    char *name = head + 2 + strspn(head + 2, " \t");
    name[strcspn(name, " \t\n")] = 0;
    size_t len = strlen(name);
    bool has_return = len && name[len - 1] == '\r';
    if (has_return)
        name[len - 1] = 0;
    enum finding f = examine(name);
    if (has_return)
        snprintf(why, size, "its first line ends as on Windows; convert it, as by dos2unix");
    else if (rc == -EACCES && f == IS_FOLDER)
        snprintf(why, size, "its interpreter '%.200s' is a folder; correct its first line", name);
    else if (rc == -EACCES && f == IS_NOT_EXECUTABLE)
        snprintf(why, size, "its interpreter '%.200s' is not executable; correct its first line",
                 name);
    else if (rc == -ENOENT && f != FOUND)
        snprintf(why, size,
                 "its interpreter '%.200s' is not there; install it, or correct its "
                 "first line",
                 name);
    else if (rc == -ENOENT)
        snprintf(why, size,
                 "its interpreter '%.200s' lacks its own; name another in its first line", name);
    else
        snprintf(why, size, "its interpreter '%.200s': %s", name, strerror(-rc));
}

/* The program at path, which begins with head (len bytes), could not be executed. */
static void explain_execute(char *head, ssize_t len, int rc, char *why, size_t size)
{
    struct utsname machine = {0};
    (void)uname(&machine);
    if (len > 2 && !memcmp(head, "#!", 2) && (rc == -EACCES || rc == -ENOENT))
        explain_script(head, rc, why, size);
    else if (rc == -ENOENT && len >= 0)
        snprintf(why, size, "the loader that it asks for is not there; build it on this system");
    else if (rc == -ENOEXEC && !len)
        snprintf(why, size, "the file is empty; build it again");
    else if (rc == -ENOEXEC)
        snprintf(why, size, "it is no program for this machine (%s); build it here",
                 machine.machine);
    else if (rc == -E2BIG)
        snprintf(why, size,
                 "its arguments and environment are too long; pass less, as by -envlist");
    else if (rc == -EACCES)
        snprintf(why, size, "%s; its file system may be mounted noexec", strerror(-rc));
    else
        snprintf(why, size, "%s", strerror(-rc));
}

int launch_explain(const char *path, int rc, const char *step, char *why, size_t size)
{
    char head[256];
    if (strcmp(step, step_execute)) {
        snprintf(why, size, "cannot %s: %s%s", step, strerror(-rc), limit_of_error(rc));
        return LAUNCH_NOT_EXECUTABLE;
    }
    ssize_t len = os_read_start(path, head, sizeof(head));
    explain_execute(head, len, rc, why, size);
    os_one_line(why);
    return rc == -ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}
