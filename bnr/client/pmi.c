/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A manager that speaks PMI-1: Hydra, Slurm's pmi2 plugin, Flux; see manager.h, and pmi_wire.h for the text. Each
 * request is one line of one write and has one reply.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bnr/client/manager.h"
#include "bnr/client/pmi_wire.h"
#include "include/bnr.h"
#include "os/log.h"

enum {
    REPLY_MS = 60000, /* a manager that is silent for so long has failed */
    GOODBYE_MS = 5000,
    RANKS_MAX = 1 << 22,
    LINES = 4 * PMI_LINE
};

struct pmi {
    struct manager base;
    int fd;
    int value_max;
    char name[PMI_NAME]; /* of the key-value space */
    char in[LINES];
    size_t in_len;
};

static struct pmi *self_of(struct manager *m)
{
    return (struct pmi *)(void *)m;
}

/* ---- requests ---- */

static int say(struct pmi *p, const char *line, size_t len)
{
    ssize_t n;
    do { /* one call: some managers take the bytes of one read for one request */
        n = send(p->fd, line, len, MSG_NOSIGNAL);
        if (n < 0 && errno == ENOTSOCK)
            n = write(p->fd, line, len);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EIO;
}

/* Wait until the manager says something. limit_ms < 0: for ever. Returns 0, -ETIMEDOUT or another -errno. */
static int await(struct pmi *p, int limit_ms)
{
    enum { SLICE_MS = 10 };
    struct pollfd one = {.fd = p->fd, .events = POLLIN};
    for (int waited = 0; limit_ms < 0 || waited < limit_ms; waited += SLICE_MS) {
        int n = poll(&one, 1, SLICE_MS);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (p->base.idle)
            p->base.idle(p->base.idle_arg);
    }
    return -ETIMEDOUT;
}

/* Read a line of at most size - 1 bytes. */
static int hear(struct pmi *p, char *line, size_t size, int limit_ms)
{
    for (;;) {
        char *end = memchr(p->in, '\n', p->in_len);
        if (end) {
            size_t len = (size_t)(end - p->in);
            if (len >= size || memchr(p->in, 0, len))
                return -EPROTO;
            memcpy(line, p->in, len);
            line[len] = 0;
            p->in_len -= len + 1;
            memmove(p->in, end + 1, p->in_len);
            return 0;
        }
        if (p->in_len == sizeof(p->in))
            return -EPROTO;
        int rc = await(p, limit_ms);
        if (rc)
            return rc;
        ssize_t n = recv(p->fd, p->in + p->in_len, sizeof(p->in) - p->in_len, 0);
        if (n < 0 && errno == ENOTSOCK)
            n = read(p->fd, p->in + p->in_len, sizeof(p->in) - p->in_len);
        if (n == 0)
            return -ECONNRESET;
        if (n < 0 && errno != EINTR)
            return -errno;
        p->in_len += n > 0 ? (size_t)n : 0;
    }
}

static int lost(const char *request, int rc)
{
    return os_fail(rc,
                   "the process manager that started this program (PMI-1) does not answer '%.*s' as it should; start "
                   "the program with Vireo's own mpiexec",
                   (int)strcspn(request, " \n"), request);
}

/* Send a request, and put its reply, of this name, into line. Returns 0, or -errno after one line on stderr. */
static int ask(struct pmi *p, const char *reply, char line[LINES], const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int ask(struct pmi *p, const char *reply, char line[LINES], const char *format, ...)
{
    char request[PMI_LINE + 1];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(request, sizeof(request), format, args);
    va_end(args);
    int rc = n > 0 && n <= PMI_LINE ? 0 : -EMSGSIZE;
    if (!rc)
        rc = say(p, request, (size_t)n);
    if (!rc)
        rc = hear(p, line, LINES, REPLY_MS);
    if (!rc && !pmi_is(line, reply))
        rc = -EPROTO;
    return rc ? lost(request + strlen("cmd="), rc) : 0;
}

static int pmi_fence(struct manager *m)
{
    struct pmi *p = self_of(m);
    static const char request[] = "cmd=barrier_in\n";
    char line[LINES];
    int rc = say(p, request, sizeof(request) - 1);
    if (!rc)
        rc = hear(p, line, sizeof(line), MANAGER_PATIENCE_S * 1000);
    if (rc == -ETIMEDOUT) {
        manager_tell_wait(m);
        rc = hear(p, line, sizeof(line), -1);
    }
    if (!rc && (!pmi_is(line, "barrier_out") || !pmi_succeeded(line)))
        rc = -EPROTO;
    return rc ? lost("barrier_in", rc) : 0;
}

/* ---- keys ---- */

static int pmi_put(struct manager *m, const char *key, const void *value, size_t len)
{
    struct pmi *p = self_of(m);
    char line[LINES], at[PMI_KEY], text[PMI_LINE];
    size_t sent = 0;
    int number = 0;
    do {
        if (!pmi_chunk_key(at, p->base.rank, key, number))
            return 0;
        size_t most = pmi_chunk_bytes(p->value_max, p->name, at), part = len - sent < most ? len - sent : most;
        if (!most)
            return lost("get_maxes", -EPROTO);
        pmi_encode(text, (const unsigned char *)value + sent, part);
        char head[PMI_CHUNK_HEAD + 1] = "";
        if (!number)
            snprintf(head, sizeof(head), "%06x", (unsigned)len & 0xffffffu);
        int rc = ask(p, "put_result", line, "cmd=put kvsname=%s key=%s value=%s%s\n", p->name, at, head, text);
        if (!rc && !pmi_succeeded(line))
            rc = lost("put", -EPROTO);
        if (rc)
            return rc;
        sent += part;
        number++;
    } while (sent < len);
    return 0;
}
_Static_assert(BNR_MAX_VALUE < 1 << (4 * PMI_CHUNK_HEAD), "the length fits into its digits");

/* Get one chunk, decoded into to, which holds room bytes. Returns how many, -ENOENT, or another -errno. *len is set
 * by the first one. */
static long get_chunk(struct pmi *p, int owner, const char *key, int number, unsigned char *to, size_t room, size_t *len)
{
    char line[LINES], at[PMI_KEY];
    const char *value;
    size_t chars, head = number ? 0 : PMI_CHUNK_HEAD;
    if (!pmi_chunk_key(at, owner, key, number))
        return -ENOENT;
    int rc = ask(p, "get_result", line, "cmd=get kvsname=%s key=%s\n", p->name, at);
    if (rc)
        return rc;
    if (!pmi_succeeded(line) || !pmi_field(line, "value", &value, &chars))
        return number ? -EPROTO : -ENOENT;
    if (chars < head || (chars - head) / 4 * 3 + 2 > room)
        return -EPROTO;
    if (head) {
        char digits[PMI_CHUNK_HEAD + 1] = "", *end;
        memcpy(digits, value, head);
        *len = strtoul(digits, &end, 16);
        if (*end || *len > BNR_MAX_VALUE)
            return -EPROTO;
    }
    long n = pmi_decode(to, value + head, chars - head);
    return n < 0 ? -EPROTO : n;
}

static long pmi_get(struct manager *m, int owner, const char *key, unsigned char **value)
{
    size_t len = 0, have = 0, room = PMI_LINE;
    int number = 0;
    do {
        unsigned char *larger = realloc(*value, have + room);
        if (!larger)
            return -ENOMEM;
        *value = larger;
        long n = get_chunk(self_of(m), owner, key, number, *value + have, room, &len);
        if (n < 0)
            return n;
        if ((!n && len) || have + (size_t)n > len)
            return -EPROTO;
        have += (size_t)n;
        number++;
    } while (have < len);
    return (long)have;
}

/* ---- the rest ---- */

static bool read_variable(const char *name, int *number)
{
    const char *text = getenv(name);
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    if (!text || end == text || *end || value < 0 || value > RANKS_MAX)
        return false;
    *number = (int)value;
    return true;
}

/* Hydra tells by a variable that all ranks are on one node, which saves each of them a request. */
static int pmi_places(struct manager *m, int *node)
{
    struct pmi *p = self_of(m);
    char line[LINES], text[PMI_LINE];
    int local = 0;
    if (read_variable("MPI_LOCALNRANKS", &local) && local == m->size) {
        memset(node, 0, (size_t)m->size * sizeof(*node));
        return 1;
    }
    int rc = ask(p, "get_result", line, "cmd=get kvsname=%s key=PMI_process_mapping\n", p->name);
    return rc ? rc : pmi_succeeded(line) && pmi_text(line, "value", text, sizeof(text)) && pmi_mapping(text, m->size, node);
}

/* Any answer will do, or none. */
static void say_last(struct pmi *p, const char *request)
{
    char line[LINES];
    if (!say(p, request, strlen(request)))
        (void)hear(p, line, sizeof(line), GOODBYE_MS);
}

static void pmi_abort(struct manager *m, int exit_code, const char *msg)
{
    char request[64];
    snprintf(request, sizeof(request), "cmd=abort exitcode=%d\n", exit_code);
    say_last(self_of(m), request);
}

static void pmi_leave(struct manager *m)
{
    struct pmi *p = self_of(m);
    say_last(p, "cmd=finalize\n");
    close(p->fd);
    free(p);
}

static const struct manager_ops pmi_ops = {
    .name = "pmi",
    .put = pmi_put,
    .fence = pmi_fence,
    .get = pmi_get,
    .places = pmi_places,
    .abort = pmi_abort,
    .leave = pmi_leave,
};

/* ---- joining ---- */

/* Connect to PMI_PORT, "host:port". */
static int dial(const char *port)
{
    const char *colon = strrchr(port, ':');
    char host[256];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (!colon || (size_t)(colon - port) >= sizeof(host))
        return -EINVAL;
    memcpy(host, port, (size_t)(colon - port));
    host[colon - port] = 0;
    if (getaddrinfo(host, colon + 1, &hints, &found))
        return -EHOSTUNREACH;
    int fd = -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen)) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd < 0 ? -ECONNREFUSED : fd;
}

/* In port mode the manager tells rank and size after a first greeting. */
static int greet_port(struct pmi *p, const char *id)
{
    char line[LINES];
    int rc = ask(p, "initack", line, "cmd=initack pmiid=%s\n", id);
    bool has_rank = false, has_size = false;
    for (int i = 0; !rc && i < 3; i++) { /* size, rank, debug */
        rc = hear(p, line, sizeof(line), REPLY_MS);
        if (!rc && !pmi_is(line, "set"))
            rc = -EPROTO;
        if (rc)
            return lost("initack", rc);
        has_rank |= pmi_number(line, "rank", &p->base.rank);
        has_size |= pmi_number(line, "size", &p->base.size);
    }
    return rc ? rc : has_rank && has_size ? 0 : lost("initack", -EPROTO);
}

/* Find the manager. Returns 0, -ENOENT without one, or -errno after one line on stderr. */
static int find_manager(struct pmi *p)
{
    const char *port = getenv("PMI_PORT"), *id = getenv("PMI_ID");
    if (read_variable("PMI_FD", &p->fd)) {
        if (fcntl(p->fd, F_SETFD, FD_CLOEXEC))
            return -ENOENT;
        if (read_variable("PMI_RANK", &p->base.rank) && read_variable("PMI_SIZE", &p->base.size))
            return 0;
        return os_fail(-EINVAL, "PMI_FD is set, but PMI_RANK and PMI_SIZE are no numbers");
    }
    if (!port || !id)
        return -ENOENT;
    p->fd = dial(port);
    if (p->fd < 0)
        return os_fail(p->fd, "the process manager at PMI_PORT=%.200s cannot be reached; its host must have a name that "
                       "this one knows", port);
    return greet_port(p, id);
}

/* The first requests, in the words that all managers know. */
static int introduce(struct pmi *p)
{
    char line[LINES];
    int rc = ask(p, "response_to_init", line, "cmd=init pmi_version=1 pmi_subversion=1\n");
    if (!rc && !pmi_succeeded(line))
        rc = lost("init", -EPROTO);
    if (!rc)
        rc = ask(p, "maxes", line, "cmd=get_maxes\n");
    if (!rc && !pmi_number(line, "vallen_max", &p->value_max))
        rc = lost("get_maxes", -EPROTO);
    if (!rc)
        rc = ask(p, "my_kvsname", line, "cmd=get_my_kvsname\n");
    if (!rc && !pmi_text(line, "kvsname", p->name, sizeof(p->name)))
        rc = lost("get_my_kvsname", -EPROTO);
    if (!rc)
        rc = ask(p, "appnum", line, "cmd=get_appnum\n");
    if (!rc && !pmi_number(line, "appnum", &p->base.appnum))
        p->base.appnum = -1;
    if (!rc)
        rc = ask(p, "universe_size", line, "cmd=get_universe_size\n");
    if (!rc && !pmi_number(line, "size", &p->base.universe))
        p->base.universe = 0;
    return rc;
}

int pmi_find(struct manager **m)
{
    struct pmi *p = calloc(1, sizeof(*p));
    if (!p)
        return os_fail(-ENOMEM, "cannot join the job of the process manager");
    p->fd = -1;
    p->base.ops = &pmi_ops;
    int rc = find_manager(p);
    if (!rc)
        rc = introduce(p);
    if (rc) {
        free(p);
        return rc;
    }
    *m = &p->base;
    return 0;
}
