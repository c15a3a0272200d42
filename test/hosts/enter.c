/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How a program gets into a host: a connection to the agent there carries the descriptors of its
 * streams and its words, and takes its exit status back. As with ssh, a program goes on when who
 * asked for it is killed; it begins in /, with few words of environment.
 */
#include "test/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* On the socket: this, then strings, each with its 0: folder, words, environment. */
struct request {
    uint32_t len, word_count, variable_count, as_here;
};

enum {
    REQUEST_MAX = 8 << 20,
    STREAMS = 3
};

static bool move_all(int fd, void *bytes, size_t len, bool is_write)
{
    char *at = bytes;
    while (len) {
        ssize_t done = is_write ? send(fd, at, len, MSG_NOSIGNAL) : read(fd, at, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        len -= (size_t)done;
    }
    return true;
}

static size_t strings_len(char *const *strings, uint32_t *count)
{
    size_t len = 0;
    for (*count = 0; strings[*count]; ++*count)
        len += strlen(strings[*count]) + 1;
    return len;
}

static char *strings_put(char *at, char *const *strings)
{
    for (; *strings; strings++)
        at = stpcpy(at, *strings) + 1;
    return at;
}

/* ---- who asks ---- */

static int dial(const char *host)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), WORLD_FOLDER "/%s.agent",
                         host) >= sizeof(address.sun_path) ||
        strchr(host, '/') || fd < 0 || connect(fd, (void *)&address, sizeof(address)))
        die("there is no host '%s' here (is this a program of test/hosts/run?)", host);
    return fd;
}

static bool send_request(int fd, const struct request *request, char *strings)
{
    int streams[STREAMS] = {0, 1, 2};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(streams))];
    } control = {.header = {CMSG_LEN(sizeof(streams)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec part = {(void *)request, sizeof(*request)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control.bytes)};
    memcpy(CMSG_DATA(&control.header), streams, sizeof(streams));
    return sendmsg(fd, &message, MSG_NOSIGNAL) == sizeof(*request) &&
           move_all(fd, strings, request->len, true);
}

int enter_host(const char *host, char **program, bool as_here)
{
    extern char **environ;
    static char *nothing[] = {NULL};
    char **variables = as_here ? environ : nothing;
    struct request request = {.as_here = as_here};
    int status, fd = dial(host);
    char *folder = as_here ? getcwd(NULL, 0) : strdup("/");
    if (!folder)
        die("the folder here: %s", strerror(errno));
    for (int stream = 0; stream < STREAMS; stream++)
        if (fcntl(stream, F_GETFD) < 0)
            open("/dev/null", O_RDWR);
    request.len = (uint32_t)(strlen(folder) + 1 + strings_len(program, &request.word_count) +
                             strings_len(variables, &request.variable_count));
    char *strings = malloc(request.len);
    if (!strings || request.len > REQUEST_MAX)
        die("the words of the program are too long");
    strings_put(strings_put(stpcpy(strings, folder) + 1, program), variables);
    if (!send_request(fd, &request, strings) || !move_all(fd, &status, sizeof(status), false))
        die("host '%s' went away", host);
    free(strings);
    free(folder);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- who serves ---- */

static bool take_request(int fd, struct request *request, int streams[STREAMS])
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(STREAMS * sizeof(int))];
    } control;
    struct iovec part = {request, sizeof(*request)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control.bytes)};
    if (recvmsg(fd, &message, MSG_WAITALL) != sizeof(*request) || !CMSG_FIRSTHDR(&message) ||
        CMSG_FIRSTHDR(&message)->cmsg_len != CMSG_LEN(STREAMS * sizeof(int)))
        return false;
    memcpy(streams, CMSG_DATA(&control.header), STREAMS * sizeof(int));
    return request->len <= REQUEST_MAX && request->word_count <= request->len &&
           request->variable_count <= request->len;
}

static char **take_strings(char **at, uint32_t count)
{
    char **strings = calloc(count + 1, sizeof(*strings));
    for (uint32_t i = 0; strings && i < count; i++) {
        strings[i] = *at;
        *at += strlen(*at) + 1;
    }
    return strings;
}

/* In a child of the agent: become the program. */
static noreturn void serve(int fd)
{
    extern char **environ;
    struct request request;
    int streams[STREAMS];
    sigset_t none;
    if (!take_request(fd, &request, streams))
        _exit(126);
    char *strings = malloc(request.len), *at = strings;
    if (!strings || !move_all(fd, strings, request.len, false))
        _exit(126);
    char **folder = take_strings(&at, 1), **words = take_strings(&at, request.word_count);
    char **variables = take_strings(&at, request.variable_count);
    for (int stream = 0; stream < STREAMS; stream++) /* what is passed lies above 2 */
        dup2(streams[stream], stream);
    close_range(STREAMS, ~0u, 0);
    if (!request.as_here)
        setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (request.as_here)
        environ = variables;
    if (chdir(folder[0]) == 0)
        execvp(words[0], words);
    fprintf(stderr, "hosts: cannot run '%s' in '%s': %s\n", words[0], folder[0], strerror(errno));
    _exit(127);
}

struct served {
    pid_t pid; /* 0: not used */
    int fd;
};

static struct served *find_served(struct served **table, size_t *count, pid_t pid)
{
    for (size_t i = 0; i < *count; i++)
        if ((*table)[i].pid == pid)
            return &(*table)[i];
    if (pid)
        return NULL;
    *table = realloc(*table, (*count + 64) * sizeof(**table));
    if (!*table)
        die("no memory");
    memset(*table + *count, 0, 64 * sizeof(**table));
    *count += 64;
    return &(*table)[*count - 64];
}

void agent_main(int listener)
{
    struct served *table = NULL, *entry;
    size_t count = 0;
    sigset_t set;
    int status;
    pid_t pid;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    struct pollfd fds[] = {{listener, POLLIN, 0}, {signalfd(-1, &set, SFD_CLOEXEC), POLLIN, 0}};
    for (;;) {
        struct signalfd_siginfo info;
        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[1].revents && read(fds[1].fd, &info, sizeof(info)) > 0)
            while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
                if ((entry = find_served(&table, &count, pid))) {
                    send(entry->fd, &status, sizeof(status), MSG_NOSIGNAL | MSG_DONTWAIT);
                    close(entry->fd);
                    entry->pid = 0;
                }
        int fd = fds[0].revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd < 0)
            continue;
        pid = fork();
        if (pid == 0)
            serve(fd);
        if (pid > 0)
            *find_served(&table, &count, 0) = (struct served){pid, fd};
        else
            close(fd);
    }
}
