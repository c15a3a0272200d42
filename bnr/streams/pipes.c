/* SPDX-License-Identifier: BSD-3-Clause */

/* The pipes of ranks as ends of streams; see pipes.h. */
#include "bnr/streams/pipes.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bnr/core/hash.h"
#include "bnr/core/stream/hub.h"
#include "bnr/streams/fd_end.h"

enum {
    ENDS = 3 /* of each rank, in the order of its descriptors */
};

struct pipe_end {
    uint32_t id;
    UT_hash_handle hh;
    struct pipes *pipes;
    struct fd_end *end;
};

static uint32_t id_of(int rank, int fd)
{
    return (uint32_t)(ENDS * rank + fd);
}

static struct pipe_end *find(struct pipes *p, uint32_t id)
{
    struct pipe_end *e;
    HASH_FIND(hh, p->ends, &id, sizeof(id), e);
    return e;
}

static void forget(struct pipe_end *e)
{
    HASH_DEL(e->pipes->ends, e);
    free(e);
}

static void end_says(void *arg, const struct hub_message *m)
{
    const struct pipe_end *e = arg;
    e->pipes->say(e->pipes->arg, m);
}

static void end_over(void *arg, uint32_t id)
{
    (void)id;
    forget(arg);
}

static void say(struct pipes *p, enum hub_kind kind, int rank, int fd)
{
    const struct hub_message m = {.kind = (uint8_t)kind,
                                  .id = id_of(rank, fd),
                                  .rank = rank,
                                  .tag = fd,
                                  .flags = fd || kind != HUB_PUBLISH ? 0 : HUB_SINK};
    p->say(p->arg, &m);
}

/* Serve a pipe, which is taken over. */
static int serve(struct pipes *p, int rank, int fd, int pipe)
{
    struct pipe_end *e = calloc(1, sizeof(*e));
    if (!e) {
        close(pipe);
        return -ENOMEM;
    }
    const struct fd_end_hooks hooks = {end_says, end_over, e};
    int rc = fd_end_create(&e->end, p->loop, id_of(rank, fd), pipe,
                           fd ? FD_END_LINES : FD_END_FEED, &hooks);
    if (rc) {
        free(e);
        return rc;
    }
    e->pipes = p;
    e->id = id_of(rank, fd);
    HASH_ADD(hh, p->ends, id, sizeof(e->id), e);
    return 0;
}

static int attach(struct pipes *p, int rank, int fd, int pipe)
{
    int rc = pipe >= 0 ? serve(p, rank, fd, pipe) : 0;
    if (!fd && (rc || pipe < 0))
        return rc;
    say(p, HUB_PUBLISH, rank, fd);
    if (rc || pipe < 0)
        say(p, HUB_CLOSE, rank, fd);
    return rc;
}

int pipes_attach(struct pipes *p, int rank, int in_fd, int out_fd, int err_fd)
{
    p->is_attached[rank] = true;
    int in = attach(p, rank, 0, in_fd);
    int out = attach(p, rank, 1, out_fd);
    int err = attach(p, rank, 2, err_fd);
    return in ? in : out ? out : err;
}

void pipes_skip(struct pipes *p, int rank)
{
    if (!p->is_attached[rank])
        (void)pipes_attach(p, rank, -1, -1, -1);
}

void pipes_rank_ended(struct pipes *p, int rank)
{
    for (int fd = 0; fd < ENDS; fd++) {
        struct pipe_end *e = find(p, id_of(rank, fd));
        if (e)
            fd_end_orphan(e->end);
    }
}

void pipes_unread(struct pipes *p, int fd)
{
    struct pipe_end *e, *next;
    HASH_ITER(hh, p->ends, e, next)
    {
        const struct hub_message m = {.kind = HUB_CLOSE, .id = e->id};
        if ((int)(e->id % ENDS) != fd)
            continue;
        fd_end_destroy(e->end);
        forget(e);
        p->say(p->arg, &m);
    }
}

void pipes_hear(struct pipes *p, const struct hub_message *m)
{
    struct pipe_end *e = find(p, m->id);
    if (e)
        fd_end_hear(e->end, m);
}

int pipes_start(struct pipes *p, uv_loop_t *loop, uint32_t ranks,
                void (*say_to_hub)(void *arg, const struct hub_message *m), void *arg)
{
    *p = (struct pipes){.loop = loop, .say = say_to_hub, .arg = arg};
    p->is_attached = calloc(ranks, sizeof(*p->is_attached));
    return p->is_attached ? 0 : -ENOMEM;
}

void pipes_close(struct pipes *p)
{
    struct pipe_end *e, *next;
    HASH_ITER(hh, p->ends, e, next)
    {
        fd_end_destroy(e->end);
        forget(e);
    }
    free(p->is_attached);
    p->is_attached = NULL;
}
