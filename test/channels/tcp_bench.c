/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tcp channel beside raw sockets: latency, message rate and throughput
 * between two processes of this host, in slices that take turns, so that a
 * machine that drifts drifts for both.
 *
 * usage: tcp_bench [SLICES]
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/channel.h"
#include "os/clock.h"

extern const struct chan_ops chan_tcp;

enum {
    LARGEST = 4 << 20,
    SLICES_MAX = 1000,
    RATE_WINDOW = 64
};

struct shared {
    char card[2][CHAN_CARD_MAX];
    _Atomic int ready;
};

/* A device that counts what arrives. */
static struct {
    struct chan_peer peer; /* first: upcalls get it */
    void *slots[8]; /* of the channels: behind the peer */
    struct chan_env env;
    struct chan_sink sink;
    struct chan *chan;
    struct chan_link *link;
    uint64_t arrived, sent;
    size_t request;
    char *to, *from; /* payloads */
    int rank, raw;   /* raw: a socket to the other process */
} me;

static void on_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                       size_t len)
{
    memcpy(me.to, data, len); /* as into a posted receive */
    me.arrived++;
}

static void *on_place(struct chan_peer *peer, const struct chan_head *head, size_t len,
                      void **token)
{
    return me.to;
}

static void on_landed(struct chan_peer *peer, void *token)
{
    me.arrived++;
}

static void on_sent(struct chan_peer *peer, void *cookie)
{
    me.sent++;
}

static enum chan_answer on_asked(void *device, const struct chan_ops *ops,
                                 const struct chan_gid *gid, uint32_t rank, struct chan_peer **peer)
{
    *peer = &me.peer;
    return CHAN_ACCEPT;
}

static void on_opened(struct chan_link *link)
{
    me.link = link;
}

static void on_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    fprintf(stderr, "refused: %s\n", why);
    exit(1);
}

static void on_lost(struct chan_link *link, int rc)
{
    exit(me.rank ? 0 : 1);
}

static int on_reserve(void *device, size_t size, size_t align)
{
    size_t offset = (me.request + align - 1) / align * align;
    me.request = offset + size;
    return (int)offset;
}

static void step(void)
{
    chan_tcp.progress(me.chan);
}

static void channel_open(struct shared *shared, int rank)
{
    char why[200];
    me.rank = rank;
    me.sink = (struct chan_sink){.arrived = on_arrived,
                                 .place = on_place,
                                 .landed = on_landed,
                                 .sent = on_sent,
                                 .asked = on_asked,
                                 .opened = on_opened,
                                 .refused = on_refused,
                                 .lost = on_lost};
    me.env = (struct chan_env){.size = sizeof(me.env),
                               .sink = &me.sink,
                               .rank = (uint32_t)rank,
                               .host_id = "bench",
                               .local_ranks = 2,
                               .cpus = 2,
                               .reserve = on_reserve};
    me.peer.rank = (uint32_t)(1 - rank);
    if (chan_tcp.open(&me.chan, &me.env, why, sizeof(why))) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    chan_tcp.card(me.chan, shared->card[rank]);
    atomic_fetch_add(&shared->ready, 1);
    while (atomic_load(&shared->ready) < 2)
        usleep(100);
    struct chan_link *link;
    if (!rank && chan_tcp.link(me.chan, &me.peer, shared->card[1], &link))
        exit(1);
    while (!me.link)
        step();
}

static void chan_put(size_t len, uint32_t flags)
{
    static char request[4096] __attribute__((aligned(64)));
    struct chan_head head = {{1, 2}};
    struct chan_data data = {
        .base = me.from, .len = len, .flags = flags, .cookie = len > 65536 ? request : NULL};
    uint64_t sent = me.sent;
    int rc;
    while ((rc = me.link->send(me.link, &head, &data)) == CHAN_AGAIN)
        step();
    while (rc == CHAN_PENDING && me.sent == sent)
        step();
}

static void chan_get(uint64_t count)
{
    for (uint64_t until = me.arrived + count; me.arrived < until;)
        step();
}

/* Fragments of max_data, as the device sends a long message. */
static void chan_put_long(size_t len)
{
    for (size_t max = me.link->max_data; len; len -= len < max ? len : max)
        chan_put(len < max ? len : max, 0);
}

static void raw_put(size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = send(me.raw, me.from + done, len - done, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            exit(1);
        done += n > 0 ? (size_t)n : 0;
    }
}

static void raw_get(size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = recv(me.raw, me.to + done, len - done, MSG_DONTWAIT);
        if (!n || (n < 0 && errno != EAGAIN))
            exit(me.rank ? 0 : 1);
        done += n > 0 ? (size_t)n : 0;
    }
}

static void raw_open(int listener)
{
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    int on = 1;
    if (me.rank) {
        getsockname(listener, (struct sockaddr *)&at, &len);
        me.raw = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(me.raw, (struct sockaddr *)&at, sizeof(at)))
            exit(1);
    } else {
        me.raw = accept(listener, NULL, NULL);
    }
    setsockopt(me.raw, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* One slice: rounds of there and back. */
static void slice(bool raw, size_t len, int rounds)
{
    for (int i = 0; i < rounds; i++)
        for (int turn = 0; turn < 2; turn++) {
            if (raw && turn == me.rank)
                raw_put(len);
            else if (raw)
                raw_get(len);
            else if (turn == me.rank)
                chan_put_long(len);
            else
                chan_get((len + me.link->max_data - 1) / me.link->max_data);
        }
}

/* One slice: windows of small messages one way, then a word back. */
static void rate_slice(bool raw, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        if (!me.rank && raw)
            for (int j = 0; j < RATE_WINDOW; j++)
                raw_put(8);
        else if (!me.rank)
            for (int j = 0; j < RATE_WINDOW; j++)
                chan_put(8, CHAN_MORE);
        else if (raw)
            for (int j = 0; j < RATE_WINDOW; j++)
                raw_get(8);
        else
            chan_get(RATE_WINDOW);
        if (raw && me.rank)
            raw_put(1);
        else if (raw)
            raw_get(1);
        else if (me.rank)
            chan_put(1, 0);
        else
            chan_get(1);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_value);
    return values[count / 2];
}

/* Both ways by turns. median() leaves the least value first. */
static void compare(size_t len, int slices)
{
    static double ns[2][SLICES_MAX], ratio[SLICES_MAX];
    int rounds = len <= 1024 ? 100 : len <= 65536 ? 20 : 2;
    double per_slice = len ? 2.0 * rounds : (double)rounds * RATE_WINDOW;
    for (int i = -2; i < slices; i++) {
        for (int raw = 0; raw < 2; raw++) {
            uint64_t start = os_now_ns();
            if (len)
                slice(raw, len, rounds);
            else
                rate_slice(raw, rounds);
            if (i >= 0)
                ns[raw][i] = (double)(os_now_ns() - start) / per_slice;
        }
        if (i >= 0)
            ratio[i] = ns[0][i] / ns[1][i];
    }
    if (me.rank)
        return;
    double channel = median(ns[0], slices), raw = median(ns[1], slices);
    printf("%-8zu %11.3f %11.3f %7.3f %13.3f %11.3f %7.3f\n", len, channel / 1e3, raw / 1e3,
           median(ratio, slices), ns[0][0] / 1e3, ns[1][0] / 1e3, ns[0][0] / ns[1][0]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0,     8,      256,    1024,   4096,    16384,   32768,  65536,
                                   98304, 131072, 262144, 524288, 1048576, 2097152, 4194304};
    int slices = argc > 1 ? atoi(argv[1]) : 40;
    if (slices < 1 || slices > SLICES_MAX)
        return 2;
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (shared == MAP_FAILED || bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
        listen(listener, 1))
        return 1;
    pid_t child = fork();
    alarm(300);
    me.to = malloc(LARGEST);
    me.from = malloc(LARGEST);
    memset(me.to, 1, LARGEST);
    memset(me.from, 2, LARGEST);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(child ? 0 : 1, &one);
    (void)sched_setaffinity(0, sizeof(one), &one); /* on one processor each, where there are two */
    channel_open(shared, child ? 0 : 1);
    raw_open(listener);
    if (child)
        printf("one way, us; 0 bytes: 8 bytes in windows of %d\n"
               "bytes    median tcp         raw   ratio     least tcp         raw   ratio\n",
               RATE_WINDOW);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        compare(sizes[i], slices);
    if (child)
        waitpid(child, NULL, 0);
    return 0;
}
