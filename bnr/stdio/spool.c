/* SPDX-License-Identifier: BSD-3-Clause */

/* Appending to files beside the loop; see spool.h. */
#include "bnr/stdio/spool.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/core/hash.h"
#include "bnr/core/stream/lines.h"
#include "bnr/io/aside.h"
#include "os/file.h"

struct spool_stream {
    struct spool_file *file; /* NULL: nothing has been put */
    struct spool_stream *next; /* of those that wait for the file */
    bool is_waiting;
    uint64_t until; /* where its last byte is among the file's */
};

struct spool_file {
    struct aside_work work;
    UT_hash_handle hh;
    struct spool *spool; /* NULL: destroyed, while a thread writes */
    struct lines_buffer waiting, busy;
    struct spool_stream *waits;
    uint64_t put, written;
    int fd; /* of a file that is not regular, and so stays open; or -1 */
    int rc; /* what the thread's call came to */
    bool is_writing, is_broken;
    char name[];
};

struct spool {
    uv_loop_t *loop;
    const struct outfile *files;
    struct spool_hooks hooks;
    struct spool_file *by_name;
    struct spool_stream *streams; /* two of each rank */
    size_t unwritten;             /* files that have bytes */
};

static struct spool_stream *stream_of(const struct spool *s, int rank, int fd)
{
    return &s->streams[2 * rank + fd - 1];
}

static void release(struct spool_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->waiting.data);
    free(f->busy.data);
    free(f);
}

/* ---- in a thread ---- */

/* Only the end of a file tells of all errors: a server may refuse bytes as late as that. */
static int close_file(struct spool_file *f)
{
    struct stat st;
    int fd = f->fd;
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return 0;
    f->fd = -1;
    return close(fd) ? -errno : 0;
}

static void run(struct aside_work *work)
{
    struct spool_file *f = (struct spool_file *)work;
    if (f->fd < 0)
        f->fd = outfile_open_name(f->name);
    f->rc = f->fd < 0 ? f->fd : os_write_all(f->fd, f->busy.data, f->busy.len);
    int rc = close_file(f);
    f->rc = f->rc ? f->rc : rc;
}

/* ---- on the loop ---- */

/* Tell the streams all of whose bytes are written. */
static void tell(struct spool_file *f)
{
    struct spool *s = f->spool;
    for (struct spool_stream **at = &f->waits; *at;) {
        struct spool_stream *stream = *at;
        if (stream->until > f->written) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        stream->is_waiting = false;
        int i = (int)(stream - s->streams);
        s->hooks.written(s->hooks.arg, i / 2, i % 2 + 1);
    }
}

static void fail(struct spool_file *f, int rc)
{
    struct spool *s = f->spool;
    int i = f->waits ? (int)(f->waits - s->streams) : 0;
    if (f->is_broken)
        return;
    f->is_broken = true;
    s->hooks.failed(s->hooks.arg, i / 2, i % 2 + 1, rc);
}

static void done(struct aside_work *work);

static void start(struct spool_file *f)
{
    if (f->is_writing || !f->waiting.len)
        return;
    struct lines_buffer swap = f->busy;
    f->busy = f->waiting;
    f->waiting = swap;
    f->is_writing = true;
    f->work.run = run;
    f->work.done = done;
    aside_start(f->spool->loop, &f->work);
}

static void done(struct aside_work *work)
{
    struct spool_file *f = (struct spool_file *)work;
    f->is_writing = false;
    if (!f->spool) {
        release(f);
        return;
    }
    f->written += f->busy.len;
    f->busy.len = 0;
    if (f->rc) {
        fail(f, f->rc);
        f->written = f->put;
        f->waiting.len = 0;
    }
    start(f);
    f->spool->unwritten -= !f->is_writing;
    tell(f);
}

static struct spool_file *find(struct spool *s, int rank, int fd)
{
    char name[PATH_MAX];
    struct spool_file *f;
    if (outfile_name(s->files, s->files->pattern[fd - 1], rank, name, sizeof(name)))
        return NULL; /* it was made by this name */
    size_t len = strlen(name);
    HASH_FIND(hh, s->by_name, name, len, f);
    if (f)
        return f;
    f = calloc(1, sizeof(*f) + len + 1);
    if (!f)
        return NULL;
    memcpy(f->name, name, len);
    f->spool = s;
    f->fd = -1;
    HASH_ADD_KEYPTR(hh, s->by_name, f->name, len, f);
    return f;
}

int spool_put(struct spool *s, int rank, int fd, const void *data, size_t len)
{
    struct spool_stream *stream = stream_of(s, rank, fd);
    if (!stream->file)
        stream->file = find(s, rank, fd);
    struct spool_file *f = stream->file;
    if (!f)
        return -ENOMEM;
    if (f->is_broken || !len)
        return 0;
    int rc = lines_append(&f->waiting, data, len);
    if (rc)
        return rc;
    if (!stream->is_waiting) {
        stream->is_waiting = true;
        stream->next = f->waits;
        f->waits = stream;
    }
    f->put += len;
    stream->until = f->put;
    s->unwritten += !f->is_writing;
    start(f);
    return 0;
}

bool spool_has(const struct spool *s, int rank, int fd)
{
    const struct spool_stream *stream = s ? stream_of(s, rank, fd) : NULL;
    return stream && stream->is_waiting;
}

bool spool_is_idle(const struct spool *s)
{
    return !s || !s->unwritten;
}

int spool_create(struct spool **made, uv_loop_t *loop, const struct outfile *files,
                 const struct spool_hooks *hooks)
{
    struct spool *s = calloc(1, sizeof(*s));
    struct spool_stream *streams = calloc(2 * (size_t)files->ranks, sizeof(*streams));
    if (!s || !streams) {
        free(s);
        free(streams);
        return -ENOMEM;
    }
    *s = (struct spool){.loop = loop, .files = files, .hooks = *hooks, .streams = streams};
    *made = s;
    return 0;
}

void spool_destroy(struct spool *s)
{
    struct spool_file *f, *next;
    if (!s)
        return;
    HASH_ITER(hh, s->by_name, f, next)
    {
        HASH_DEL(s->by_name, f);
        f->spool = NULL;
        if (!f->is_writing)
            release(f);
    }
    free(s->streams);
    free(s);
}
