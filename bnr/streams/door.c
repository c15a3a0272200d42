/* SPDX-License-Identifier: BSD-3-Clause */

/* The door of a job; see door.h. */
#include "bnr/streams/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bnr/streams/door_client.h"
#include "os/net/accept.h"
#include "os/log.h"

enum {
    WAITING_MAX = 64 /* connected, and not accepted yet */
};

/* Whether the other side may see what this job does: its user, or root. */
static bool is_friend(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* With no descriptor left, a connection would be announced for ever: accept and close it. */
static void refuse_one(struct door *d)
{
    close(d->spare);
    int fd = os_accept(d->fd);
    if (fd >= 0)
        close(fd);
    d->spare = open_spare();
}

static void on_connect(uv_poll_t *listener, int status, int events)
{
    struct door *d = listener->data;
    (void)events;
    int fd = status ? -1 : os_accept(d->fd);
    if (fd < 0) {
        if (!status && (errno == EMFILE || errno == ENFILE))
            refuse_one(d);
        return;
    }
    if (is_friend(fd) && HASH_COUNT(d->clients) < DOOR_CLIENTS_MAX)
        door_client_create(d, fd);
    else
        close(fd);
}

static int open_socket(enum door_kind kind)
{
    struct sockaddr_un address;
    socklen_t len = door_address(&address, kind, (int)getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (!bind(fd, (struct sockaddr *)&address, len) && !listen(fd, WAITING_MAX))
        return fd;
    if (errno == EADDRINUSE)
        fprintf(stderr,
                "mpiexec: another process on %s listens in the name of this job, so vireo report "
                "cannot ask it; SIGQUIT (Ctrl-\\) still prints the report\n",
                os_host_name());
    close(fd);
    return -1;
}

struct door *door_open(uv_loop_t *loop, enum door_kind kind, const struct door_hooks *hooks)
{
    struct door *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->loop = loop;
    d->hooks = *hooks;
    d->last_party = HUB_TRUSTED;
    d->listener.data = d;
    d->fd = open_socket(kind);
    if (d->fd < 0 || uv_poll_init(loop, &d->listener, d->fd)) {
        if (d->fd >= 0)
            close(d->fd);
        free(d);
        return NULL;
    }
    d->spare = open_spare();
    uv_poll_start(&d->listener, UV_READABLE, on_connect);
    return d;
}

void door_hear(struct door *d, uint64_t party, const struct hub_message *m)
{
    struct door_client *c;
    HASH_FIND(hh, d->clients, &party, sizeof(party), c);
    if (c)
        door_client_hear(c, m);
}

void door_cut(struct door *d, uint64_t party)
{
    struct door_client *c;
    HASH_FIND(hh, d->clients, &party, sizeof(party), c);
    if (c)
        door_client_leave(c);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void door_close(struct door *d)
{
    struct door_client *c, *next;
    if (!d)
        return;
    HASH_ITER(hh, d->clients, c, next)
    door_client_destroy(c);
    uv_close((uv_handle_t *)&d->listener, on_closed);
    close(d->fd);
    if (d->spare >= 0)
        close(d->spare);
}
