/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the shared-memory channel costs by itself: two processes on two cores, a
 * device of nothing, slices of a millisecond interleaved with the raw ping-pong
 * of one cache line. Prints medians, and the median of each slice's ratio.
 *
 * usage: shm_bench [SLICES [BYTES]]
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/channel.h"
#include "os/clock.h"
#include "os/memory/segment.h"

extern const struct chan_ops chan_shm;

enum {
    MEMORY = 32 << 20,
    LARGEST = 4 << 20,
    SLICES_MAX = 2000
};

struct line {
    _Alignas(128) _Atomic uint64_t word;
};

/* What both processes map. */
struct table {
    struct line ping[2];
    char card[2][CHAN_CARD_MAX];
    struct line ready[2];
    uint64_t out[2]; /* where each side's messages are */
};

/* One process; also the device of its channel. */
struct side {
    struct chan_peer peer;
    void *slots[8]; /* of the channels: behind the peer */
    struct chan *chan;
    struct chan_link *link;
    struct table *table;
    struct chan_env env;
    struct chan_sink sink;
    int rank, memory_fd;
    uint64_t turn;
    uint64_t bytes, due; /* arrived, and waited for */
    unsigned char *out, *in;
    size_t at; /* where the next payload goes in in */
};

static void fail(const char *what)
{
    fprintf(stderr, "shm_bench: %s\n", what);
    _exit(1);
}

static void on_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                       size_t len)
{
    struct side *side = (struct side *)peer;
    side->bytes += len;
    if (len <= 40) {
        memcpy(side->in, data, len);
        return;
    }
    memcpy(side->in + side->at, data, len);
    side->at += len;
    if (head->word[1])
        side->at = 0;
}

static enum chan_answer on_asked(void *device, const struct chan_ops *ops,
                                 const struct chan_gid *gid, uint32_t rank, struct chan_peer **peer)
{
    *peer = &((struct side *)device)->peer;
    return CHAN_ACCEPT;
}

static void on_opened(struct chan_link *link)
{
    ((struct side *)link->peer)->link = link;
}

static void on_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    fail(why);
}

static void on_lost(struct chan_link *link, int rc)
{
    fail("lost");
}

static int64_t on_neighbor(void *device, int local_rank)
{
    return local_rank;
}

static int on_memory(void *device, const struct chan_gid *gid, uint32_t rank, int *fd,
                     uint64_t *offset, uint64_t *size)
{
    *fd = ((struct side *)device)->memory_fd;
    *offset = (uint64_t)rank * MEMORY;
    *size = MEMORY;
    return 0;
}

static void set(struct line *line, uint64_t value)
{
    atomic_store_explicit(&line->word, value, memory_order_release);
}

static void await(struct line *line, uint64_t value)
{
    while (atomic_load_explicit(&line->word, memory_order_acquire) < value)
        os_pause();
}

static void meet(struct side *side)
{
    uint64_t turn = side->table->ready[side->rank].word + 1;
    set(&side->table->ready[side->rank], turn);
    await(&side->table->ready[!side->rank], turn);
}

static void side_start(struct side *side)
{
    char why[200] = "";
    side->sink = (struct chan_sink){.arrived = on_arrived,
                                    .asked = on_asked,
                                    .opened = on_opened,
                                    .refused = on_refused,
                                    .lost = on_lost};
    side->env = (struct chan_env){.size = sizeof(side->env),
                                  .device = side,
                                  .sink = &side->sink,
                                  .rank = (uint32_t)side->rank,
                                  .host_id = "bench",
                                  .local_rank = side->rank,
                                  .local_ranks = 2,
                                  .cpus = 2,
                                  .neighbor = on_neighbor,
                                  .memory = on_memory};
    side->out = aligned_alloc(4096, LARGEST);
    side->in = aligned_alloc(4096, LARGEST);
    if (!side->out || !side->in)
        fail("no memory");
    memset(side->out, side->rank + 1, LARGEST);
    memset(side->in, 0, LARGEST);
    if (chan_shm.open(&side->chan, &side->env, why, sizeof(why)))
        fail(why);
    chan_shm.card(side->chan, side->table->card[side->rank]);
    side->table->out[side->rank] = (uintptr_t)side->out;
    meet(side);
    if (side->rank == 0 &&
        chan_shm.link(side->chan, &side->peer, side->table->card[1], &side->link))
        fail("link");
    while (!side->slots[1] || !side->link)
        chan_shm.progress(side->chan);
    meet(side);
}

static void send_packet(struct side *side, const void *base, size_t len, uint64_t last)
{
    struct chan_head head = {{1, last}};
    struct chan_data data = {.base = base, .len = len};
    while (side->link->send(side->link, &head, &data) == CHAN_AGAIN)
        chan_shm.progress(side->chan);
}

/* A message, as the device streams one. */
static void send_message(struct side *side, size_t len)
{
    size_t at = 0;
    do {
        size_t part = len - at < side->link->max_data ? len - at : side->link->max_data;
        send_packet(side, side->out + at, part, at + part == len);
        at += part;
    } while (at < len);
}

static void receive(struct side *side, uint64_t bytes)
{
    side->due += bytes;
    while (side->bytes < side->due)
        side->chan->ops->progress(side->chan);
}

static void line_pingpong(struct side *side, size_t len, int count)
{
    struct line *mine = &side->table->ping[side->rank], *theirs = &side->table->ping[!side->rank];
    for (int i = 0; i < count; i++) {
        side->turn++;
        if (side->rank == 0)
            set(mine, side->turn);
        while (atomic_load_explicit(&theirs->word, memory_order_acquire) != side->turn)
            continue;
        if (side->rank == 1)
            set(mine, side->turn);
    }
}

static void pingpong(struct side *side, size_t len, int count)
{
    for (int i = 0; i < count; i++) {
        if (side->rank == 0)
            send_message(side, len);
        receive(side, len);
        if (side->rank == 1)
            send_message(side, len);
    }
}

/* A word, a direct copy of len bytes by the receiver; and back. */
static void pull(struct side *side, size_t len, int count)
{
    for (int i = 0; i < 2 * count; i++) {
        if (side->rank == i % 2) {
            send_packet(side, side->out, 8, 1);
            receive(side, 1);
        } else {
            receive(side, 8);
            struct chan_remote from = {side->table->out[!side->rank], NULL};
            if (chan_shm.onesided->get(side->link, side->in, &from, len, NULL))
                fail("no direct copies");
            send_packet(side, side->out, 1, 1);
        }
    }
}

/* Windows of 64 messages, and one back. */
static void rate(struct side *side, size_t len, int count)
{
    for (int i = 0; i < count; i++) {
        if (side->rank == 0) {
            for (int m = 0; m < 64; m++)
                send_packet(side, side->out, len, 1);
            receive(side, 1);
        } else {
            receive(side, 64 * len);
            send_packet(side, side->out, 1, 1);
        }
    }
}

typedef void (*way_fn)(struct side *side, size_t len, int count);

static double slice(struct side *side, way_fn way, size_t len, int count)
{
    meet(side);
    uint64_t start = os_now_ns();
    way(side, len, count);
    return (double)(os_now_ns() - start) / count;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof(*value), ascending);
    return value[count / 2];
}

/* trips: one-way messages in a round of way. */
static void measure(struct side *side, const char *name, way_fn way, size_t len, int slices,
                    double trips)
{
    static double line[SLICES_MAX], time[SLICES_MAX], ratio[SLICES_MAX];
    int count = 1;
    double once = 0;
    for (int i = 0; i < 3; i++)
        once = slice(side, way, len, 20);
    if (side->rank == 0)
        set(&side->table->ping[0], (uint64_t)(once < 1000 ? 1000 : 1 + 1000000 / once));
    meet(side);
    count = (int)side->table->ping[0].word;
    meet(side);
    if (side->rank == 0)
        set(&side->table->ping[0], 0);
    set(&side->table->ping[1], 0);
    side->turn = 0;
    for (int i = 0; i < slices; i++) {
        line[i] = slice(side, line_pingpong, 0, 2000) / 2;
        time[i] = slice(side, way, len, count) / trips;
        ratio[i] = time[i] / line[i];
    }
    if (side->rank)
        return;
    double mid = median(time, slices), least = time[0];
    printf("%-8s %8zu B  line %6.1f  least %9.1f  median %9.1f ns  %6.2f x line  %6.2f GB/s\n",
           name, len, median(line, slices), least, mid, median(ratio, slices), (double)len / mid);
    fflush(stdout);
}

static void run(struct side *side, int slices, size_t only)
{
    static const size_t sizes[] = {1,     8,     24,    40,     64,     128,     256,
                                   512,   1024,  1025,  2048,   4096,   8192,    8193,
                                   16384, 32768, 65536, 131072, 262144, 1048576, 4194304};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (!only || sizes[i] == only)
            measure(side, "one-way", pingpong, sizes[i], slices, 2);
    for (size_t len = 4096; len <= LARGEST; len *= 4)
        if (!only || len == only)
            measure(side, "pull", pull, len, slices, 2);
    for (size_t len = 8; len <= 8192; len *= 8)
        if (!only || len == only)
            measure(side, "rate", rate, len, slices, 64);
}

static void pin(int rank)
{
    cpu_set_t all, one;
    int seen = 0;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(all), &all))
        return;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && seen++ == rank)
            CPU_SET(i, &one);
    if (CPU_COUNT(&one))
        sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
    static struct side side;
    int status, slices = argc > 1 ? atoi(argv[1]) : 60;
    pid_t child;

    if (slices < 1 || slices > SLICES_MAX)
        return 2;
    side.table =
        mmap(NULL, sizeof(*side.table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    side.memory_fd = os_segment_create("shm_bench", 2ull * MEMORY, 0);
    if (side.table == MAP_FAILED || side.memory_fd < 0)
        fail("no shared memory");
    child = fork();
    if (child < 0)
        fail("fork");
    side.rank = !child;
    if (!child)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(side.rank);
    side_start(&side);
    run(&side, slices, argc > 2 ? (size_t)atol(argv[2]) : 0);
    meet(&side);
    chan_shm.unlink(side.link);
    chan_shm.close(side.chan);
    if (!child)
        _exit(0);
    return waitpid(child, &status, 0) == child && !status ? 0 : 1;
}
