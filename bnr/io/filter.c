/* SPDX-License-Identifier: BSD-3-Clause */

/* A text through a program; see filter.h. */
#include "bnr/io/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bnr/launch/launch.h"
#include "os/calls.h"

extern char **environ;

enum {
    CHUNK = 1 << 14,
    OUTPUT_MAX = 16 << 20,
    HANDLES = 3
};

struct filter {
    uv_pipe_t in, out; /* as the program sees them */
    uv_timer_t limit;
    uv_write_t write;
    struct filter_text input, output;
    size_t room; /* of output */
    filter_fn done;
    void *arg;
    int pidfd; /* -1: there is none */
    int open;  /* handles that are not closed yet */
};

static void on_closed(uv_handle_t *handle)
{
    struct filter *f = handle->data;
    if (--f->open)
        return;
    if (f->pidfd >= 0)
        close(f->pidfd);
    free(f->input.bytes);
    free(f->output.bytes);
    free(f);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

void filter_cancel(struct filter *f)
{
    f->done = NULL;
    if (f->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, f->pidfd, SIGKILL, NULL, 0);
    close_handle((uv_handle_t *)&f->in);
    close_handle((uv_handle_t *)&f->out);
    close_handle((uv_handle_t *)&f->limit);
}

static void finish(struct filter *f, int rc)
{
    filter_fn done = f->done;
    if (!done)
        return;
    filter_cancel(f);
    done(f->arg, f->output.bytes ? f->output.bytes : "", rc);
}

static void on_limit(uv_timer_t *timer)
{
    finish(timer->data, -ETIMEDOUT);
}

/* A program that ends before it has read all tells so by its output. */
static void on_written(uv_write_t *write, int status)
{
    struct filter *f = write->data;
    (void)status;
    close_handle((uv_handle_t *)&f->in);
}

/* Room for a chunk and a NUL behind the present text. */
static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct filter *f = handle->data;
    (void)suggested;
    *buf = uv_buf_init(NULL, 0);
    if (f->room - f->output.len <= CHUNK) {
        size_t room = f->room * 2 + CHUNK + 1;
        char *grown = room <= OUTPUT_MAX ? realloc(f->output.bytes, room) : NULL;
        if (!grown)
            return; /* on_output() hears of it */
        f->output.bytes = grown;
        f->output.bytes[f->output.len] = 0;
        f->room = room;
    }
    *buf = uv_buf_init(f->output.bytes + f->output.len, CHUNK);
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct filter *f = stream->data;
    (void)buf;
    if (n > 0) {
        f->output.len += (size_t)n;
        f->output.bytes[f->output.len] = 0;
    } else if (n < 0) {
        finish(f, n == UV_EOF ? 0 : (int)n);
    }
}

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Start the program on two pipes; puts our ends into ends: written, read. *pidfd: the process, or
 * -1. */
static int start(char *const *argv, int ends[2], int *pidfd, const char **step)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    pid_t pid;
    *pidfd = -1;
    *step = "make a pipe";
    int rc = pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ? -errno : 0;
    if (!rc) {
        struct launch l = {.path = argv[0],
                           .argv = argv,
                           .envp = environ,
                           .stream = {in[0], out[1], 2},
                           .keep = {-1, -1, -1, -1}};
        rc = launch_start(&l, &pid, pidfd, step);
    }
    close_all((int[]){in[0], out[1]}, 2);
    ends[0] = in[1];
    ends[1] = out[0];
    if (rc)
        close_all(ends, 2);
    return rc;
}

/* Take the ends of the pipes into the loop. */
static int attach(struct filter *f, int ends[2])
{
    uv_pipe_t *pipes[2] = {&f->in, &f->out};
    int rc = 0;
    for (int i = 0; i < 2; i++) {
        if (!rc)
            rc = uv_pipe_open(pipes[i], ends[i]);
        if (rc)
            close(ends[i]);
    }
    uv_buf_t buf = {.base = f->input.bytes, .len = f->input.len};
    if (!rc)
        rc = uv_write(&f->write, (uv_stream_t *)&f->in, &buf, 1, on_written);
    if (!rc)
        rc = uv_read_start((uv_stream_t *)&f->out, on_room, on_output);
    return rc;
}

int filter_start(struct filter **filter, uv_loop_t *loop, const struct filter_job *job,
                 const char **step)
{
    int ends[2], pidfd;
    struct filter *f = calloc(1, sizeof(*f));
    *step = "find memory";
    int rc = f ? start(job->argv, ends, &pidfd, step) : -ENOMEM;
    if (rc) {
        free(job->input.bytes);
        free(f);
        return rc;
    }
    f->input = job->input;
    f->done = job->done;
    f->arg = job->arg;
    f->pidfd = pidfd;
    f->open = HANDLES;
    uv_pipe_init(loop, &f->in, 0);
    uv_pipe_init(loop, &f->out, 0);
    uv_timer_init(loop, &f->limit);
    f->in.data = f->out.data = f->limit.data = f->write.data = f;
    *step = "connect its streams";
    rc = attach(f, ends);
    if (rc) {
        filter_cancel(f);
        return rc;
    }
    uv_timer_start(&f->limit, on_limit, job->limit_ms, 0);
    *filter = f;
    return 0;
}
