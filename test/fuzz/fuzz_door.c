/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes at the door of a job that say what they like: messages that are mostly well-formed, with pipes,
 * sockets, terminals and files, in a random order that follows from a seed. door.py runs the job, and says
 * what must hold.
 *
 * usage: fuzz_door PID SEED ROUNDS
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bnr/client/door_link.h"

enum {
    CLIENTS = 4,
    ENDS = 12,
    RANKS = 2,
    FILE_MAX = 300000
};

struct fuzz_end {
    bool is_used, has_fd, is_writer;
    int fd[2]; /* [0] is read, [1] written */
    uint64_t granted, sent;
};

static struct fuzz_client {
    struct door_link link;
    bool is_on;
    struct fuzz_end ends[ENDS];
} clients[CLIENTS];

static uint64_t state;

static unsigned below(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void close_fds(struct fuzz_end *e)
{
    for (int i = 0; i < 2; i++) {
        if (e->fd[i] >= 0)
            close(e->fd[i]);
        e->fd[i] = -1;
    }
}

static void leave(struct fuzz_client *c)
{
    door_link_close(&c->link);
    for (int i = 0; i < ENDS; i++) {
        if (c->ends[i].is_used)
            close_fds(&c->ends[i]);
        c->ends[i].is_used = false;
    }
    c->is_on = false;
}

/* ---- descriptors ---- */

static void open_terminal(int fd[2])
{
    fd[0] = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd[0] >= 0 && !grantpt(fd[0]) && !unlockpt(fd[0]))
        fd[1] = open(ptsname(fd[0]), O_RDWR | O_NOCTTY | O_NONBLOCK);
}

static void open_file(int fd[2])
{
    static char bytes[FILE_MAX];
    char name[] = "fuzzXXXXXX";
    fd[0] = mkstemp(name);
    unlink(name);
    (void)!write(fd[0], bytes, below(FILE_MAX));
    (void)lseek(fd[0], 0, SEEK_SET);
    fd[1] = dup(fd[0]);
}

static void open_any(int fd[2])
{
    fd[0] = fd[1] = -1;
    switch (below(6)) {
    case 0: (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, fd); break;
    case 1: open_terminal(fd); break;
    case 2: open_file(fd); break;
    case 3: fd[0] = fd[1] = -1; fd[0] = open("/dev/null", O_RDWR); break;
    default: (void)!pipe(fd); break;
    }
}

/* ---- messages ---- */

static void say(struct fuzz_client *c, const struct hub_message *m, int fd)
{
    if (c->is_on && door_link_send(&c->link, m, fd))
        leave(c);
}

static void take(struct fuzz_client *c, const struct hub_message *m)
{
    struct fuzz_end *e = m->id < ENDS ? &c->ends[m->id] : NULL;
    if (!e)
        return;
    if (m->kind == HUB_GRANT)
        e->granted = m->off;
    if (m->kind == HUB_OPENED && m->status) {
        close_fds(e);
        e->is_used = false;
    }
    if (m->kind == HUB_FRAGMENT && below(10)) /* some are never taken */
        say(c, &(struct hub_message){.kind = HUB_TAKEN,
                                     .id = m->id,
                                     .stream = m->stream,
                                     .off = m->off + (below(8) ? m->len : below(m->len + 1)),
                                     .flags = m->flags & HUB_EOF},
            -1);
}

static void hear(struct fuzz_client *c)
{
    struct hub_message m;
    int rc = 0;
    for (int i = 0; c->is_on && i < 200 && (rc = door_link_next(&c->link, &m, 0)) > 0; i++)
        take(c, &m);
    if (c->is_on && rc < 0)
        leave(c);
}

static void open_end(struct fuzz_client *c, struct fuzz_end *e, struct hub_message *m)
{
    static const uint8_t kinds[] = {HUB_PUBLISH, HUB_PUBLISH, HUB_PUSH, HUB_SUBSCRIBE};
    unsigned what = below(4);
    *e = (struct fuzz_end){.is_used = true, .is_writer = what == 0 || what == 2, .fd = {-1, -1}};
    m->kind = kinds[what];
    m->policy = (uint8_t)below(HUB_POLICY_END);
    if (what < 2 && m->rank < 0)
        m->rank = 0;
    if (what >= 2 && !below(3))
        m->rank = HUB_ANY;
    if (what == 1)
        m->flags = HUB_SINK;
    if (what == 3) {
        m->flags = (uint8_t)((below(2) ? HUB_OBSERVER : 0) | (below(2) ? HUB_OPEN : 0));
        m->off = below(2) ? HUB_FROM_OLDEST : below(2) ? HUB_FROM_NOW : below(100000);
    }
    int ours = e->is_writer ? 0 : 1, fd = -1;
    if (below(3)) {
        open_any(e->fd);
        fd = e->fd[ours];
    }
    e->has_fd = fd >= 0;
    m->flags |= fd >= 0 ? HUB_HAS_FD : 0;
    say(c, m, fd);
    if (c->is_on && fd >= 0 && below(2)) {
        close(fd);
        e->fd[ours] = -1;
    }
}

/* Bytes through a descriptor, or as a message. */
static void move(struct fuzz_client *c, struct fuzz_end *e, struct hub_message *m)
{
    static uint8_t bytes[HUB_DATA_MAX];
    uint64_t room = e->granted - e->sent;
    int fd = e->fd[e->is_writer];
    if (e->has_fd && fd >= 0) {
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
        (void)!(e->is_writer ? write(fd, bytes, 1 + below(5000))
                             : read(fd, bytes, 1 + below(HUB_DATA_MAX)));
    } else if (!e->has_fd && e->is_writer && room) {
        m->kind = HUB_DATA;
        m->data = bytes;
        m->len = below((unsigned)(room < HUB_DATA_MAX ? room : HUB_DATA_MAX) + 1);
        m->off = e->granted;
        m->flags = below(2) ? HUB_OPEN : 0;
        e->sent += m->len;
        say(c, m, -1);
    }
}

static void act(struct fuzz_client *c)
{
    unsigned id = below(ENDS);
    struct fuzz_end *e = &c->ends[id];
    struct hub_message m = {.id = id,
                            .rank = (int32_t)below(RANKS) - !below(8),
                            .tag = (int32_t)(below(3) ? 16 + below(3) : below(3))};
    unsigned what = below(12);
    if (!e->is_used) {
        open_end(c, e, &m);
    } else if (what == 0) {
        m.kind = HUB_CLOSE;
        m.flags = below(2) ? HUB_BROKEN : 0;
        say(c, &m, -1);
        if (below(2))
            close_fds(e);
        e->is_used = false;
    } else if (what < 3) {
        m.kind = what == 1 ? HUB_FLUSH : HUB_STAT;
        m.off = below(1000);
        say(c, &m, -1);
    } else if (what == 3) {
        close_fds(e);
    } else if (what < 10) {
        move(c, e, &m);
    } else if (!below(60)) { /* anything */
        m.kind = (uint8_t)(1 + below(HUB_KIND_END - 1));
        m.off = below(1u << 30);
        say(c, &m, -1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    state = strtoull(argv[2], NULL, 10);
    for (long i = 0, rounds = atol(argv[3]); i < rounds; i++) {
        struct fuzz_client *c = &clients[below(CLIENTS)];
        if (!c->is_on) {
            memset(c, 0, sizeof(*c));
            if (door_link_open(&c->link, DOOR_OF_JOB, atoi(argv[1]), DOOR_STREAMS)) {
                fprintf(stderr, "fuzz_door: the door is closed in round %ld of seed %s\n", i, argv[2]);
                return 1;
            }
            (void)fcntl(c->link.fd, F_SETFL, O_NONBLOCK);
            c->is_on = true;
        }
        act(c);
        hear(c);
        if (c->is_on && !below(400))
            leave(c);
    }
    return 0;
}
