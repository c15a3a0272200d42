/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The back end of a process that a manager with PMI-1 started: Hydra, Slurm's pmi2 plugin, Flux. The manager gives
 * a key-value space whose values are seen after a barrier, and no more. So BNR_Init waits for all processes of the
 * job, the device fences once more after its card, and nothing comes later: neither keys, nor events, nor xcasts.
 * Ranks of one host share memory as under mpiexec (pmi_memory.h).
 *
 * Keys of the manager's space: "job" of rank 0 holds the group's id and secret; "host" describes a rank's host.
 * Both are put in chunks (pmi_wire.h), as all values are.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/client/pmi_memory.h"
#include "bnr/client/pmi_wire.h"
#include "bnr/host/host.h"
#include "bnr/host/kvs.h"
#include "bnr/host/table.h"
#include "os/clock.h"
#include "os/cpus.h"
#include "os/log.h"
#include "os/random.h"

enum {
    REPLY_MS = 60000,   /* a manager that is silent for so long has failed */
    BARRIER_MS = 60000, /* after so long a line tells for what this process waits */
    GOODBYE_MS = 5000,
    RANKS_MAX = 1 << 22,
    LINES = 4 * PMI_LINE
};

/* The host of some rank. */
struct pmi_host {
    char id[HOST_ID_MAX], name[256];
    int cpus, appnum; /* of the rank's program; -1: unknown */
};

struct pmi {
    struct backend base;
    int fd; /* the manager's; -1: it has been left */
    pid_t pid;
    bool has_left; /* at the last BNR_Finalize */
    int value_max, appnum, universe;
    char name[PMI_NAME]; /* of the key-value space */
    char in[LINES];
    size_t in_len;
    struct kvs own; /* this process's keys */
    _Atomic uint64_t own_used;
    uint64_t own_sent;    /* bytes of it that the manager has */
    int *node, *local;    /* of each rank */
    int *ranks, nodes;    /* ranks of each node */
    struct pmi_host **host; /* of each rank; NULL: not asked for yet */
    int memory;           /* descriptor; -1: none */
    unsigned char *value; /* of the last get */
};

static const _Atomic uint32_t no_events;
static const _Atomic uint64_t no_letters;

static struct pmi *self_of(struct backend *b)
{
    return (struct pmi *)(void *)b;
}

/* ---- requests ---- */

static int say(struct pmi *p, const char *line, size_t len)
{
    ssize_t n;
    do
        n = write(p->fd, line, len); /* one call: some managers take what one read gives for one request */
    while (n < 0 && errno == EINTR);
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
        if (p->base.ops && !p->has_left)
            backend_idle(&p->base);
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

static int lost(const struct pmi *p, const char *request, int rc)
{
    (void)p;
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
    return rc ? lost(p, request + strlen("cmd="), rc) : 0;
}

static int barrier(struct pmi *p)
{
    static const char request[] = "cmd=barrier_in\n";
    char line[LINES];
    int rc = say(p, request, sizeof(request) - 1);
    if (!rc)
        rc = hear(p, line, sizeof(line), BARRIER_MS);
    if (rc == -ETIMEDOUT) {
        os_log(OS_LOG_WARN, "has waited %d s for the other processes of its job of %d: each must come to MPI_Init",
               BARRIER_MS / 1000, p->base.size);
        rc = hear(p, line, sizeof(line), -1);
    }
    if (!rc && (!pmi_is(line, "barrier_out") || !pmi_succeeded(line)))
        rc = -EPROTO;
    return rc ? lost(p, "barrier_in", rc) : 0;
}

/* ---- keys ---- */

/* Hand one value to the manager. A key that the manager cannot take is known here alone. */
static int send_value(struct pmi *p, const char *key, const unsigned char *value, size_t len)
{
    char line[LINES], at[PMI_KEY], text[PMI_LINE];
    size_t sent = 0;
    int number = 0;
    do {
        if (!pmi_chunk_key(at, p->base.rank, key, number))
            return 0;
        size_t most = pmi_chunk_bytes(p->value_max, p->name, at), part = len - sent < most ? len - sent : most;
        if (!most)
            return lost(p, "get_maxes", -EPROTO);
        pmi_encode(text, value + sent, part);
        char head[PMI_CHUNK_HEAD + 1] = "";
        if (!number)
            snprintf(head, sizeof(head), "%06x", (unsigned)len & 0xffffffu);
        int rc = ask(p, "put_result", line, "cmd=put kvsname=%s key=%s value=%s%s\n", p->name, at, head, text);
        if (!rc && !pmi_succeeded(line))
            rc = lost(p, "put", -EPROTO);
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

/* Get a value into p->value. Returns its length, -ENOENT, or another -errno. */
static long get_value(struct pmi *p, int owner, const char *key)
{
    size_t len = 0, have = 0, room = PMI_LINE;
    int number = 0;
    if (p->fd < 0)
        return -ENOENT;
    do {
        unsigned char *larger = realloc(p->value, have + room + 1);
        if (!larger)
            return -ENOMEM;
        p->value = larger;
        long n = get_chunk(p, owner, key, number, p->value + have, room, &len);
        if (n < 0)
            return n;
        if ((!n && len) || have + (size_t)n > len)
            return -EPROTO;
        have += (size_t)n;
        number++;
    } while (have < len);
    p->value[have] = 0;
    return (long)have;
}

static int pmi_put(struct backend *b, const char *key, const void *val, size_t len, unsigned flags)
{
    switch (kvs_put(&self_of(b)->own, key, val, len, (flags & BNR_PUT_REPLACE) != 0)) {
    case 0: return BNR_SUCCESS;
    case KVS_EXISTS: return BNR_ERR_EXISTS;
    default: return BNR_ERR_NOMEM;
    }
}

static int pmi_get(struct backend *b, int owner, const char *key, const void **val, size_t *len, unsigned flags)
{
    struct pmi *p = self_of(b);
    if (owner == b->rank)
        return kvs_get(&p->own, key, val, len) ? BNR_ERR_NOT_FOUND : BNR_SUCCESS;
    long n = get_value(p, owner, key);
    if (n < 0)
        return n == -ENOENT ? BNR_ERR_NOT_FOUND : n == -ENOMEM ? BNR_ERR_NOMEM : BNR_ERR_COMM;
    *val = p->value;
    *len = (size_t)n;
    return BNR_SUCCESS;
}

/* Hand the manager all keys that were put since the last fence, and wait for the others. */
static int pmi_fence(struct backend *b)
{
    struct pmi *p = self_of(b);
    struct kvs_entry entry;
    char key[BNR_MAX_KEY + 1];
    if (p->fd < 0)
        return BNR_ERR_STATE;
    while (!kvs_next(&p->own, &p->own_sent, &entry)) {
        memcpy(key, entry.key, entry.key_len);
        key[entry.key_len] = 0;
        if (send_value(p, key, entry.value, entry.value_len))
            return BNR_ERR_COMM;
    }
    return barrier(p) ? BNR_ERR_COMM : BNR_SUCCESS;
}

/* ---- places ---- */

/* Describe this host as a value. */
static int put_host(struct pmi *p)
{
    char id[HOST_ID_MAX], text[HOST_ID_MAX + 300];
    host_id(id);
    int n = snprintf(text, sizeof(text), "%s %.255s %d %d", id, os_host_name(), os_cpus_usable(), p->appnum);
    return pmi_put(&p->base, "host", text, (size_t)n, 0) ? -ENOMEM : 0;
}

static bool read_host(const char *text, struct pmi_host *host)
{
    char format[40];
    snprintf(format, sizeof(format), "%%%ds %%255s %%d %%d", HOST_ID_MAX - 1);
    return sscanf(text, format, host->id, host->name, &host->cpus, &host->appnum) == 4 && host->cpus > 0;
}

/* The host of a rank, or NULL. */
static const struct pmi_host *host_of(struct pmi *p, int rank)
{
    const void *text;
    size_t len;
    if (p->host[rank])
        return p->host[rank];
    struct pmi_host *host = calloc(1, sizeof(*host));
    char line[HOST_ID_MAX + 300];
    if (!host || pmi_get(&p->base, rank, "host", &text, &len, 0) || len >= sizeof(line)) {
        free(host);
        return NULL;
    }
    memcpy(line, text, len);
    line[len] = 0;
    if (!read_host(line, host)) {
        free(host);
        return NULL;
    }
    return p->host[rank] = host;
}

/* Number hosts by who can share memory, as each process describes its own. */
static int gather_nodes(struct pmi *p)
{
    int count = 0;
    for (int r = 0; r < p->base.size; r++) {
        const struct pmi_host *host = host_of(p, r);
        if (!host)
            return lost(p, "get", -EPROTO);
        int first = r && !strcmp(p->host[r - 1]->id, host->id) ? r - 1 : 0;
        while (first < r && strcmp(p->host[first]->id, host->id))
            first++;
        p->node[r] = first < r ? p->node[first] : count++;
    }
    return 0;
}

/* Whether exactly the ranks that the manager's mapping puts on this host share memory with this process, as far as
 * that can be known without asking all others. */
static bool is_true_here(struct pmi *p)
{
    const struct pmi_host *own = host_of(p, p->base.rank);
    for (int r = 0; own && r < p->base.size; r++) {
        if (p->node[r] != p->node[p->base.rank])
            continue;
        const struct pmi_host *host = host_of(p, r);
        if (!host || strcmp(host->id, own->id))
            return false;
    }
    return own != NULL;
}

/* All processes must come to one view: each tells whether the mapping is true for it. */
static int find_nodes(struct pmi *p, bool is_mapped)
{
    const void *said;
    size_t len;
    char own = is_mapped && is_true_here(p);
    if (!is_mapped)
        return gather_nodes(p);
    if (pmi_put(&p->base, "mapped", own ? "1" : "0", 1, 0) || pmi_fence(&p->base))
        return -EIO;
    int last = -1;
    for (int r = 0; r < p->base.size; r++) { /* one of each block of a node */
        if (p->node[r] == last)
            continue;
        last = p->node[r];
        if (pmi_get(&p->base, r, "mapped", &said, &len, 0))
            return lost(p, "get", -EPROTO);
        if (len != 1 || *(const char *)said != '1')
            return gather_nodes(p);
    }
    return 0;
}

/* Number nodes from 0 on, in the order of their first ranks, and count the ranks of each. */
static int count_nodes(struct pmi *p)
{
    for (int r = 0; r < p->base.size; r++) {
        int first = r && p->node[r] == p->node[r - 1] ? p->local[r - 1] : 0;
        while (p->node[first] != p->node[r])
            first++;
        p->local[r] = first; /* for now */
    }
    for (int r = 0; r < p->base.size; r++)
        p->node[r] = p->local[r] == r ? p->nodes++ : p->node[p->local[r]];
    p->ranks = calloc((size_t)p->nodes, sizeof(*p->ranks));
    if (!p->ranks)
        return -ENOMEM;
    for (int r = 0; r < p->base.size; r++)
        p->local[r] = p->ranks[p->node[r]]++;
    return 0;
}

static int pmi_is_alive(struct backend *b, int rank)
{
    return 1; /* the manager ends the job when a process fails */
}

static void pmi_locality(struct backend *b, int rank, int *node, int *local_rank, int *local_size)
{
    struct pmi *p = self_of(b);
    *node = p->node[rank];
    *local_rank = p->local[rank];
    *local_size = p->ranks[*node];
}

static int pmi_member(struct backend *b, int node, int local_rank)
{
    struct pmi *p = self_of(b);
    for (int r = 0; r < b->size; r++)
        if (p->node[r] == node && p->local[r] == local_rank)
            return r;
    return -1;
}

static int pmi_host(struct backend *b, int rank, BNR_Host *h)
{
    struct pmi *p = self_of(b);
    const struct pmi_host *host = host_of(p, rank);
    if (!host)
        return BNR_ERR_COMM;
    h->id = host->id;
    h->name = host->name;
    h->cpus = host->cpus;
    h->ranks = p->ranks[p->node[rank]];
    return BNR_SUCCESS;
}

static int pmi_host_memory(struct backend *b, int rank, int *fd, unsigned long long *offset, unsigned long long *size)
{
    struct pmi *p = self_of(b);
    if (p->memory < 0 || p->node[rank] != p->node[b->rank])
        return BNR_ERR_UNSUPPORTED;
    *fd = p->memory;
    *offset = (unsigned long long)p->local[rank] * TABLE_REGION;
    *size = TABLE_REGION;
    return BNR_SUCCESS;
}

/* ---- the rest ---- */

static int pmi_appnum(struct backend *b, int *appnum)
{
    *appnum = self_of(b)->appnum;
    return *appnum < 0 ? BNR_ERR_NOT_FOUND : BNR_SUCCESS;
}

/* Asks for the description of every rank. */
static int pmi_app(struct backend *b, int appnum, int *first, int *size)
{
    int count = 0;
    for (int r = 0; r < b->size; r++) {
        const struct pmi_host *host = host_of(self_of(b), r);
        if (host && host->appnum == appnum && !count++)
            *first = r;
    }
    *size = count;
    return count ? BNR_SUCCESS : BNR_ERR_NOT_FOUND;
}

static int pmi_universe_size(struct backend *b, int *size)
{
    *size = self_of(b)->universe;
    return BNR_SUCCESS;
}

static void pmi_event(struct backend *b, uint32_t index, BNR_Event *ev)
{
    ev->type = 0;
}

static void pmi_abort(struct backend *b, int exit_code, const char *msg)
{
    struct pmi *p = self_of(b);
    char line[LINES];
    os_fail(0, "aborted with code %d%s%s", exit_code, msg && *msg ? ": " : "", msg ? msg : "");
    if (p->fd >= 0 && p->pid == getpid()) {
        int n = snprintf(line, sizeof(line), "cmd=abort exitcode=%d\n", backend_exit_code(exit_code));
        p->has_left = true; /* nothing runs while this process waits for its end */
        if (!say(p, line, (size_t)n))
            (void)hear(p, line, sizeof(line), GOODBYE_MS);
    }
    _exit(backend_exit_code(exit_code));
}

static int pmi_answer(struct backend *b, const void *text, size_t len)
{
    return BNR_ERR_UNSUPPORTED;
}

static int pmi_xcast(struct backend *b, const struct backend_letter *letter)
{
    return BNR_ERR_UNSUPPORTED;
}

static long pmi_hear(struct backend *b, void *at, size_t len)
{
    return 0;
}

static void pmi_leave(struct backend *b)
{
    self_of(b)->has_left = true;
}

static void pmi_rejoin(struct backend *b)
{
    self_of(b)->has_left = false;
}

static const struct backend_ops pmi_ops = {
    .name = "pmi",
    .caps = BNR_CAP_BINARY | BNR_CAP_HOST_MEMORY,
    .put = pmi_put,
    .get = pmi_get,
    .fence = pmi_fence,
    .is_alive = pmi_is_alive,
    .locality = pmi_locality,
    .member = pmi_member,
    .host = pmi_host,
    .host_memory = pmi_host_memory,
    .appnum = pmi_appnum,
    .app = pmi_app,
    .universe_size = pmi_universe_size,
    .event = pmi_event,
    .abort = pmi_abort,
    .answer = pmi_answer,
    .xcast = pmi_xcast,
    .hear = pmi_hear,
    .leave = pmi_leave,
    .rejoin = pmi_rejoin,
};

/* The manager takes a process for failed that closes its connection without a goodbye. One that returns from main()
 * with success has to have called MPI_Finalize. */
static void on_end(int status, void *arg)
{
    struct pmi *p = arg;
    char line[LINES];
    if (p->pid != getpid() || p->fd < 0)
        return;
    if (p->has_left) {
        static const char goodbye[] = "cmd=finalize\n";
        if (!say(p, goodbye, sizeof(goodbye) - 1))
            (void)hear(p, line, sizeof(line), GOODBYE_MS);
        close(p->fd);
        p->fd = -1;
    } else if (!status) {
        fflush(NULL);
        pmi_abort(&p->base, 1, "it exited without MPI_Finalize");
    }
}

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
        has_rank |= !rc && pmi_number(line, "rank", &p->base.rank);
        has_size |= !rc && pmi_number(line, "size", &p->base.size);
        if (rc)
            return lost(p, "initack", rc);
    }
    return rc ? rc : has_rank && has_size ? 0 : lost(p, "initack", -EPROTO);
}

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

/* Find the manager. Returns 0, -ENOENT where there is none, or -errno after one line on stderr. */
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
        rc = lost(p, "init", -EPROTO);
    if (!rc)
        rc = ask(p, "maxes", line, "cmd=get_maxes\n");
    if (!rc && !pmi_number(line, "vallen_max", &p->value_max))
        rc = lost(p, "get_maxes", -EPROTO);
    if (!rc)
        rc = ask(p, "my_kvsname", line, "cmd=get_my_kvsname\n");
    if (!rc && !pmi_text(line, "kvsname", p->name, sizeof(p->name)))
        rc = lost(p, "get_my_kvsname", -EPROTO);
    if (!rc)
        rc = ask(p, "appnum", line, "cmd=get_appnum\n");
    if (!rc && !pmi_number(line, "appnum", &p->appnum))
        p->appnum = -1;
    if (!rc)
        rc = ask(p, "universe_size", line, "cmd=get_universe_size\n");
    if (!rc && (!pmi_number(line, "size", &p->universe) || p->universe < p->base.size))
        p->universe = p->base.size;
    return rc;
}

static int make_room(struct pmi *p)
{
    size_t size = (size_t)p->base.size;
    void *log = mmap(NULL, TABLE_LOG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p->node = calloc(size, sizeof(*p->node));
    p->local = calloc(size, sizeof(*p->local));
    p->host = calloc(size, sizeof(*p->host));
    if (log == MAP_FAILED || !p->node || !p->local || !p->host)
        return -ENOMEM;
    p->own = (struct kvs){.base = log, .size = TABLE_LOG, .used = &p->own_used};
    return 0;
}

/* Rank 0 chooses the group's id and secret. */
static int agree(struct pmi *p)
{
    unsigned char job[sizeof(p->base.gid.b) + sizeof(p->base.secret)];
    const void *got;
    size_t len;
    if (!p->base.rank && (os_random(job, sizeof(job)) || pmi_put(&p->base, "job", job, sizeof(job), 0)))
        return -ENOMEM;
    if (put_host(p))
        return -ENOMEM;
    if (pmi_fence(&p->base))
        return -EIO;
    if (pmi_get(&p->base, 0, "job", &got, &len, 0) || len != sizeof(job))
        return lost(p, "get", -EPROTO);
    memcpy(p->base.gid.b, got, sizeof(p->base.gid.b));
    memcpy(p->base.secret, (const unsigned char *)got + sizeof(p->base.gid.b), sizeof(p->base.secret));
    return 0;
}

static int share_memory(struct pmi *p)
{
    const char *step = "";
    int node = p->node[p->base.rank], count = p->ranks[node];
    if (count < 2)
        return 0;
    p->memory = pmi_memory_share(p->base.secret, node, p->local[p->base.rank], count, (uint64_t)count * TABLE_REGION,
                                 REPLY_MS, &step);
    return p->memory >= 0 ? 0 : os_fail(p->memory, "the memory of the %d processes on this host: cannot %s", count, step);
}

static int join(struct pmi *p)
{
    char line[LINES], text[PMI_LINE];
    int rc = introduce(p);
    if (!rc && (p->base.size < 1 || p->base.rank >= p->base.size || p->base.rank < 0))
        rc = os_fail(-EINVAL, "the process manager says rank %d of %d", p->base.rank, p->base.size);
    if (!rc)
        rc = make_room(p);
    if (rc)
        return rc;
    rc = ask(p, "get_result", line, "cmd=get kvsname=%s key=PMI_process_mapping\n", p->name);
    bool is_mapped = !rc && pmi_succeeded(line) && pmi_text(line, "value", text, sizeof(text)) &&
                     pmi_mapping(text, p->base.size, p->node);
    if (!rc)
        rc = agree(p);
    if (!rc)
        rc = find_nodes(p, is_mapped);
    if (!rc)
        rc = count_nodes(p);
    return rc ? rc : share_memory(p);
}

int pmi_join(struct backend **b)
{
    struct pmi *p = calloc(1, sizeof(*p));
    if (!p)
        return BNR_ERR_NOMEM;
    p->memory = p->fd = -1;
    p->base.events = p->base.asks = &no_events;
    p->base.letters = &no_letters;
    p->pid = getpid();
    int rc = find_manager(p);
    if (rc) {
        free(p);
        return rc == -ENOENT ? BNR_ERR_NOT_FOUND : BNR_ERR_COMM;
    }
    rc = join(p);
    if (rc == -ENOMEM)
        os_fail(rc, "cannot join the job of the process manager");
    if (rc) /* the rest of p goes with the process, which cannot go on */
        return rc == -ENOMEM ? BNR_ERR_NOMEM : BNR_ERR_COMM;
    p->base.ops = &pmi_ops;
    (void)on_exit(on_end, p);
    *b = &p->base;
    return BNR_SUCCESS;
}
