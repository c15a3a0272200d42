/* SPDX-License-Identifier: BSD-3-Clause */

/* A descriptor without waiting; see fd_port.h. */
#include "bnr/io/fd_port.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <termios.h>
#include <unistd.h>

#include "bnr/io/aside.h"
#include "os/file.h"
#include "os/file_calls.h"

#define PIPES 0x50495045 /* the file system of pipes without a name */

enum fd_port_way {
    WAY_OWN,    /* it is non-blocking */
    WAY_SOCKET, /* calls of sockets do not wait */
    WAY_NOWAIT, /* other calls that do not wait; if they fail: */
    WAY_ASIDE   /* a thread waits */
};

struct fd_port {
    struct fd_port_spec spec;
    enum fd_port_way way;
    mode_t mode;
    int watch; /* the loop polls this: the descriptor, or an epoll of it; -1: it is always ready */
    uv_poll_t poll;
    uv_timer_t soon;
    int handles;
    bool is_wanted, is_terminal, is_closed;
    /* of a thread's call */
    struct aside_work work;
    bool is_busy, has_result;
    uint8_t *bytes;
    size_t len, at; /* at: of a result that was taken in part */
    ssize_t result;
};

/* ---- waiting ---- */

static void tell(struct fd_port *p)
{
    if (p->is_wanted && !p->is_busy && !p->is_closed)
        p->spec.ready(p->spec.arg);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    tell(poll->data);
}

static void on_soon(uv_timer_t *timer);

static void arm_in(struct fd_port *p, uint64_t ms)
{
    bool is_wanted = p->is_wanted && !p->is_busy;
    bool is_ready = p->has_result || p->watch < 0;
    if (is_wanted && is_ready)
        uv_timer_start(&p->soon, on_soon, ms, 0);
    else
        uv_timer_stop(&p->soon);
    if (p->watch >= 0 && is_wanted && !is_ready)
        (void)uv_poll_start(&p->poll, p->watch == p->spec.fd && p->spec.writes ? UV_WRITABLE : UV_READABLE,
                            on_ready);
    else if (p->watch >= 0)
        uv_poll_stop(&p->poll);
}

static void arm(struct fd_port *p)
{
    arm_in(p, 0);
}

/* Again, if that was in vain: but a timer that is due at once, whose function starts it anew, would keep
 * the loop. */
static void on_soon(uv_timer_t *timer)
{
    struct fd_port *p = timer->data;
    tell(p);
    if (!p->is_closed)
        arm_in(p, 1);
}

void fd_port_want(struct fd_port *p, bool is_wanted)
{
    if (p->is_wanted == is_wanted)
        return;
    p->is_wanted = is_wanted;
    arm(p);
}

/* ---- by a thread ---- */

static void release(struct fd_port *p)
{
    if (p->handles || p->is_busy)
        return;
    free(p->bytes);
    free(p);
}

static void run_aside(struct aside_work *work)
{
    struct fd_port *p = (struct fd_port *)((char *)work - offsetof(struct fd_port, work));
    if (p->spec.writes) {
        int rc = os_write_all(p->spec.fd, p->bytes, p->len);
        p->result = rc ? rc : (ssize_t)p->len;
        return;
    }
    ssize_t n = read(p->spec.fd, p->bytes, p->len);
    p->result = n < 0 ? -errno : n;
}

static void done_aside(struct aside_work *work)
{
    struct fd_port *p = (struct fd_port *)((char *)work - offsetof(struct fd_port, work));
    p->is_busy = false;
    p->has_result = true;
    p->at = 0;
    if (p->is_closed) {
        close(p->spec.fd);
        release(p);
        return;
    }
    tell(p);
    if (!p->is_closed)
        arm(p);
}

static ssize_t start_aside(struct fd_port *p, const void *bytes, size_t len)
{
    if (!p->bytes)
        p->bytes = malloc(FD_PORT_MAX);
    if (!p->bytes)
        return -ENOMEM;
    p->len = len < FD_PORT_MAX ? len : FD_PORT_MAX;
    if (bytes)
        memcpy(p->bytes, bytes, p->len);
    p->is_busy = true;
    p->work.run = run_aside;
    p->work.done = done_aside;
    arm(p);
    aside_start(p->soon.loop, &p->work);
    return -EINPROGRESS;
}

static bool is_ready(const struct fd_port *p, short events)
{
    struct pollfd poll_fd = {.fd = p->spec.fd, .events = events};
    return p->watch < 0 || poll(&poll_fd, 1, 0) > 0;
}

static ssize_t read_aside(struct fd_port *p, void *at, size_t len)
{
    if (p->is_busy)
        return -EINPROGRESS;
    if (!p->has_result)
        return is_ready(p, POLLIN) ? start_aside(p, NULL, len) : -EAGAIN;
    ssize_t left = p->result - (ssize_t)p->at;
    ssize_t n = p->result < 0 ? p->result : left < (ssize_t)len ? left : (ssize_t)len;
    if (n > 0)
        memcpy(at, p->bytes + p->at, (size_t)n);
    p->at += n > 0 ? (size_t)n : 0;
    p->has_result = n >= 0 && n < left;
    arm(p);
    return n == -EIO && fd_port_is_in_background(p) ? -EAGAIN : n;
}

static ssize_t write_aside(struct fd_port *p, const void *at, size_t len)
{
    if (p->is_busy)
        return -EINPROGRESS;
    if (!p->has_result)
        return is_ready(p, POLLOUT) ? start_aside(p, at, len) : -EAGAIN;
    p->has_result = false;
    arm(p);
    return p->result;
}

/* ---- at once ---- */

bool fd_port_is_in_background(const struct fd_port *p)
{
    pid_t front = p->is_terminal ? tcgetpgrp(p->spec.fd) : -1;
    return front >= 0 && front != getpgrp();
}

/* Read from a terminal: in the background that fails with EIO, and stops nobody. */
static ssize_t read_own(const struct fd_port *p, void *at, size_t len)
{
    sigset_t stop, old;
    if (!p->is_terminal)
        return read(p->spec.fd, at, len);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTIN);
    pthread_sigmask(SIG_BLOCK, &stop, &old);
    ssize_t n = read(p->spec.fd, at, len);
    int error = n < 0 && errno == EIO && fd_port_is_in_background(p) ? EAGAIN : errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return n;
}

/* Whether the kernel has refused to do without waiting, for whatever reason, and not the call itself. */
static bool is_refusal(int error)
{
    return error != EAGAIN && error != EINTR && error != EPIPE;
}

ssize_t fd_port_read(struct fd_port *p, void *at, size_t len)
{
    struct iovec part = {at, len};
    ssize_t n = -1;
    switch (p->way) {
    case WAY_OWN: n = read_own(p, at, len); break;
    case WAY_SOCKET: n = recv(p->spec.fd, at, len, MSG_DONTWAIT); break;
    case WAY_NOWAIT:
        n = preadv2(p->spec.fd, &part, 1, -1, RWF_NOWAIT);
        if (n >= 0 || !is_refusal(errno))
            break;
        p->way = WAY_ASIDE;
        return read_aside(p, at, len);
    case WAY_ASIDE: return read_aside(p, at, len);
    }
    return n >= 0 ? n : errno == EINTR ? -EAGAIN : -errno;
}

ssize_t fd_port_write(struct fd_port *p, const void *at, size_t len)
{
    struct iovec part = {(void *)at, len};
    ssize_t n = -1;
    switch (p->way) {
    case WAY_OWN: n = write(p->spec.fd, at, len); break;
    case WAY_SOCKET: n = send(p->spec.fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL); break;
    case WAY_NOWAIT:
        n = pwritev2(p->spec.fd, &part, 1, -1, RWF_NOWAIT);
        if (n >= 0 || !is_refusal(errno))
            break;
        p->way = WAY_ASIDE;
        return write_aside(p, at, len);
    case WAY_ASIDE: return write_aside(p, at, len);
    }
    return n >= 0 ? n : errno == EINTR ? -EAGAIN : -errno;
}

/* ---- what it is ---- */

bool fd_port_is_busy(const struct fd_port *p)
{
    return p->is_busy;
}

bool fd_port_is_file(const struct fd_port *p)
{
    return p->watch < 0;
}

bool fd_port_is_regular(const struct fd_port *p)
{
    return S_ISREG(p->mode);
}

int fd_port_fd(const struct fd_port *p)
{
    return p->spec.fd;
}

/* The mode and size of a file without a question to its server, which may be away. If the system
 * forbids that, ask the server. Returns 0 or -errno. */
static int look_at(int fd, mode_t *mode, uint64_t *size)
{
    struct statx known;
    struct stat asked;
    if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &known)) {
        *mode = known.stx_mode;
        *size = known.stx_size;
        return 0;
    }
    if (fstat(fd, &asked))
        return -errno;
    *mode = asked.st_mode;
    *size = (uint64_t)asked.st_size;
    return 0;
}

uint64_t fd_port_readable(const struct fd_port *p)
{
    int bytes = 0;
    mode_t mode;
    uint64_t size;
    uint64_t here = p->has_result && p->result > 0 ? (uint64_t)p->result - p->at : 0;
    off_t at = fd_port_is_regular(p) ? lseek(p->spec.fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && !look_at(p->spec.fd, &mode, &size))
        return here + (size > (uint64_t)at ? size - (uint64_t)at : 0);
    return here + (!ioctl(p->spec.fd, FIONREAD, &bytes) && bytes > 0 ? (uint64_t)bytes : 0);
}

/* ---- opening ---- */

/* A shared pipe or terminal, opened anew: its mode is this process's alone. Not the control side of
 * a terminal: that would make another one; nor a pipe with a name, which without a writer does not
 * tell its end. Returns a descriptor, or -1. */
static int open_anew(const struct fd_port_spec *spec, mode_t mode)
{
    struct statfs fs;
    unsigned number;
    char path[64];
    int access = fcntl(spec->fd, F_GETFL) & O_ACCMODE, wanted = spec->writes ? O_WRONLY : O_RDONLY;
    bool is_pipe = S_ISFIFO(mode) && !fstatfs(spec->fd, &fs) && fs.f_type == PIPES;
    bool is_terminal = S_ISCHR(mode) && isatty(spec->fd) && ioctl(spec->fd, TIOCGPTN, &number);
    if ((!is_pipe && !is_terminal) || (access != O_RDWR && access != wanted))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", spec->fd);
    return open(path, wanted | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The descriptor that the loop may poll: this makes it non-blocking. *watch becomes -1 if it cannot
 * be polled. */
static int choose_watch(struct fd_port *p)
{
    struct epoll_event event = {.events = p->spec.writes ? EPOLLOUT : EPOLLIN};
    p->watch = p->way == WAY_OWN ? p->spec.fd : epoll_create1(EPOLL_CLOEXEC);
    if (p->watch < 0)
        return -errno;
    if (p->way == WAY_OWN || !epoll_ctl(p->watch, EPOLL_CTL_ADD, p->spec.fd, &event))
        return 0;
    int rc = errno == EPERM ? 0 : -errno;
    close(p->watch);
    p->watch = -1;
    p->way = WAY_ASIDE;
    return rc;
}

static int choose(struct fd_port *p)
{
    uint64_t size;
    int rc = look_at(p->spec.fd, &p->mode, &size);
    if (rc || S_ISDIR(p->mode))
        return rc ? rc : -EISDIR;
    int anew = p->spec.is_own ? -1 : open_anew(&p->spec, p->mode);
    if (anew >= 0) {
        close(p->spec.fd);
        p->spec.fd = anew;
    }
    bool is_own = anew >= 0 || (p->spec.is_own && (S_ISFIFO(p->mode) || isatty(p->spec.fd)));
    p->way = is_own ? WAY_OWN : S_ISSOCK(p->mode) ? WAY_SOCKET : WAY_NOWAIT;
    return choose_watch(p);
}

int fd_port_open(struct fd_port **port, uv_loop_t *loop, const struct fd_port_spec *spec)
{
    struct fd_port *p = calloc(1, sizeof(*p));
    if (!p) {
        close(spec->fd);
        return -ENOMEM;
    }
    p->spec = *spec;
    p->watch = -1;
    int rc = choose(p);
    if (!rc && p->watch >= 0)
        rc = uv_poll_init(loop, &p->poll, p->watch);
    if (rc) {
        if (p->watch >= 0 && p->watch != p->spec.fd)
            close(p->watch);
        close(p->spec.fd);
        free(p);
        return rc;
    }
    uv_timer_init(loop, &p->soon);
    p->poll.data = p->soon.data = p;
    p->handles = p->watch < 0 ? 1 : 2;
    p->is_terminal = !spec->writes && isatty(p->spec.fd) && tcgetsid(p->spec.fd) == getsid(0);
    *port = p;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct fd_port *p = handle->data;
    p->handles--;
    release(p);
}

void fd_port_close(struct fd_port *p)
{
    if (!p)
        return;
    p->is_closed = true;
    uv_close((uv_handle_t *)&p->soon, on_closed);
    if (p->watch >= 0) {
        uv_poll_stop(&p->poll);
        uv_close((uv_handle_t *)&p->poll, on_closed);
    }
    if (p->watch >= 0 && p->watch != p->spec.fd)
        close(p->watch);
    if (!p->is_busy)
        close(p->spec.fd);
}
