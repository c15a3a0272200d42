/* SPDX-License-Identifier: BSD-3-Clause */

/* What two processes can do without MPI; raw.h says what each limit is. */

#include "raw.h"

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    LINE = 128, /* two cache lines: adjacent-line prefetch pairs them */
    LINES = 61, /* where a line's home lies in the chip makes a third of its time */
    RING_SLOTS = 64,
    SLOT_WORDS = 8,    /* a 64-byte slot: sequence, then payload */
    CHUNK = 16 * 1024, /* of the pipelined copy */
    CHUNKS = 4,
    SPINS = 1 << 16, /* before a core is offered to others */
};

struct line {
    _Alignas(LINE) _Atomic uint64_t word;
};

struct slot {
    _Alignas(64) _Atomic uint64_t sequence;
    uint64_t payload[SLOT_WORDS - 1];
};

/* One direction; the sender is the rank that indexes it in struct shared. */
struct lane {
    struct line bounced[LINES]; /* raw_line */
    struct line ping;           /* acknowledgements */
    struct line signal;         /* raw_signal */
    struct line full[CHUNKS];
    struct line drained;
    struct slot ring[RING_SLOTS];
    _Alignas(4096) char pool[CHUNKS][CHUNK];
};

struct shared {
    struct lane lane[2];
};

struct raw {
    struct shared *shared;
    struct lane *mine, *theirs; /* I write mine and read theirs */
    int rank, peer_pid, socket;
    uint64_t turn, bounces, ring_sent, ring_seen, chunk_sent, chunk_seen, signals, awaited;
    void *pull_into;
    void *pull_from; /* the peer's address */
};

static void set(struct line *line, uint64_t value)
{
    atomic_store_explicit(&line->word, value, memory_order_release);
}

static void wait_word(_Atomic uint64_t *word, uint64_t value)
{
    int spins = 0;

    while (atomic_load_explicit(word, memory_order_acquire) < value)
        if (++spins % SPINS == 0)
            sched_yield();
}

static void await(struct line *line, uint64_t value)
{
    wait_word(&line->word, value);
}

/* Rank 0 makes nameless memory; rank 1 opens it through /proc. */
static struct shared *share(int rank, int *peer_pid)
{
    int say[2] = {getpid(), -1}, heard[2];
    char path[64];

    if (rank == 0) {
        say[1] = memfd_create("bench", MFD_CLOEXEC);
        if (say[1] < 0 || ftruncate(say[1], sizeof(struct shared)) != 0)
            bench_fail("memfd_create");
    }
    MPI_Sendrecv(say, 2, MPI_INT, !rank, 0, heard, 2, MPI_INT, !rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    *peer_pid = heard[0];
    int fd = say[1];

    if (rank == 1) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", heard[0], heard[1]);
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            bench_fail(path);
    }
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        bench_fail("mmap");
    if (rank == 0)
        memset(memory, 0, sizeof(struct shared));
    /* Rank 1 has opened it before rank 0 closes it. */
    MPI_Sendrecv(say, 1, MPI_INT, !rank, 0, heard, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    close(fd);
    return memory;
}

static int connect_pair(int rank)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, port = 0;

    if (fd < 0)
        bench_fail("socket");
    if (rank == 0) {
        int listener = fd;

        if (bind(listener, (struct sockaddr *)&at, length) != 0 || listen(listener, 1) != 0 ||
            getsockname(listener, (struct sockaddr *)&at, &length) != 0)
            bench_fail("listen");
        port = ntohs(at.sin_port);
        MPI_Send(&port, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        fd = accept(listener, NULL, NULL);
        close(listener);
    } else {
        MPI_Recv(&port, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        at.sin_port = htons((uint16_t)port);
        if (connect(fd, (struct sockaddr *)&at, length) != 0)
            bench_fail("connect");
    }
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
        bench_fail("accept");
    return fd;
}

struct raw *raw_open(bool sockets)
{
    struct raw *raw = calloc(1, sizeof *raw);
    int size;

    if (!raw)
        bench_fail("calloc");
    raw->socket = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &raw->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        errno = EINVAL;
        bench_fail("this benchmark needs two ranks");
    }
    if (raw->rank > 1)
        return raw;
    raw->shared = share(raw->rank, &raw->peer_pid);
    raw->mine = &raw->shared->lane[raw->rank];
    raw->theirs = &raw->shared->lane[!raw->rank];
    if (sockets)
        raw->socket = connect_pair(raw->rank);
    return raw;
}

void raw_close(struct raw *raw)
{
    if (raw->socket >= 0)
        close(raw->socket);
    if (raw->shared)
        munmap(raw->shared, sizeof *raw->shared);
    free(raw);
}

void raw_line(struct raw *raw, int count)
{
    if (raw->rank > 1)
        return;
    struct line *mine = &raw->mine->bounced[raw->bounces % LINES];
    struct line *theirs = &raw->theirs->bounced[raw->bounces++ % LINES];

    for (int i = 0; i < count; i++) {
        raw->turn++;
        if (raw->rank == 0)
            set(mine, raw->turn);
        await(theirs, raw->turn);
        if (raw->rank == 1)
            set(mine, raw->turn);
    }
}

static void ring_push(struct raw *raw)
{
    struct slot *slot = &raw->mine->ring[raw->ring_sent % RING_SLOTS];

    raw->ring_sent++;
    for (int w = 0; w < 3; w++) /* an 8-byte message and its envelope */
        slot->payload[w] = raw->ring_sent + (uint64_t)w;
    atomic_store_explicit(&slot->sequence, raw->ring_sent, memory_order_release);
}

static void ring_pop(struct raw *raw)
{
    struct slot *slot = &raw->theirs->ring[raw->ring_seen % RING_SLOTS];

    raw->ring_seen++;
    wait_word(&slot->sequence, raw->ring_seen);
    if (slot->payload[2] != raw->ring_seen + 2)
        bench_fail("ring: wrong payload");
}

void raw_ring(struct raw *raw, int count)
{
    if (raw->rank > 1)
        return;
    for (int i = 0; i < count; i++) {
        if (raw->rank == 0)
            ring_push(raw);
        ring_pop(raw);
        if (raw->rank == 1)
            ring_push(raw);
    }
}

void raw_ring_window(struct raw *raw, int window, int count)
{
    if (raw->rank > 1)
        return;
    for (int i = 0; i < count; i++) {
        raw->turn++;
        if (raw->rank == 0) {
            for (int m = 0; m < window; m++)
                ring_push(raw);
            set(&raw->mine->ping, raw->turn);
            await(&raw->theirs->ping, raw->turn);
        } else {
            for (int m = 0; m < window; m++)
                ring_pop(raw);
            set(&raw->mine->ping, raw->turn);
        }
    }
}

static void copy_out(struct raw *raw, const char *from, size_t bytes)
{
    struct lane *lane = raw->mine;

    for (size_t at = 0; at < bytes; at += CHUNK) {
        size_t n = bytes - at < CHUNK ? bytes - at : CHUNK;
        uint64_t i = raw->chunk_sent++;

        if (i >= CHUNKS)
            await(&lane->drained, i - CHUNKS + 1);
        memcpy(lane->pool[i % CHUNKS], from + at, n);
        set(&lane->full[i % CHUNKS], i + 1);
    }
}

static void copy_in(struct raw *raw, char *to, size_t bytes)
{
    struct lane *lane = raw->theirs;

    for (size_t at = 0; at < bytes; at += CHUNK) {
        size_t n = bytes - at < CHUNK ? bytes - at : CHUNK;
        uint64_t i = raw->chunk_seen++;

        await(&lane->full[i % CHUNKS], i + 1);
        memcpy(to + at, lane->pool[i % CHUNKS], n);
        set(&lane->drained, i + 1);
    }
}

void raw_copy(struct raw *raw, const void *out, void *in, size_t bytes, int count)
{
    if (raw->rank > 1)
        return;
    for (int i = 0; i < count; i++) {
        if (raw->rank == 0)
            copy_out(raw, out, bytes);
        copy_in(raw, in, bytes);
        if (raw->rank == 1)
            copy_out(raw, out, bytes);
    }
}

static bool pull(struct raw *raw, size_t bytes)
{
    struct iovec to = {raw->pull_into, bytes}, from = {raw->pull_from, bytes};

    return process_vm_readv(raw->peer_pid, &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

bool raw_pull_setup(struct raw *raw, void *out, void *in, size_t bytes)
{
    int works = 1, both = 0;

    if (raw->rank <= 1) {
        MPI_Sendrecv(&out, sizeof out, MPI_BYTE, !raw->rank, 0, &raw->pull_from,
                     sizeof raw->pull_from, MPI_BYTE, !raw->rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        raw->pull_into = in;
        works = pull(raw, bytes);
    }
    MPI_Allreduce(&works, &both, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return both;
}

void raw_pull(struct raw *raw, size_t bytes, int count)
{
    if (raw->rank > 1)
        return;
    for (int i = 0; i < 2 * count; i++) {
        bool sender = i % 2 == raw->rank;

        raw->turn++;
        if (sender) {
            set(&raw->mine->ping, raw->turn);
            await(&raw->theirs->ping, raw->turn);
        } else {
            await(&raw->theirs->ping, raw->turn);
            if (!pull(raw, bytes))
                bench_fail("process_vm_readv");
            set(&raw->mine->ping, raw->turn);
        }
    }
}

void raw_memcpy(struct raw *raw, void *out, void *in, size_t bytes, int count)
{
    if (raw->rank != 0)
        return;
    for (int i = 0; i < count; i++) {
        memcpy(in, out, bytes);
        __asm__ volatile("" ::: "memory");
        memcpy(out, in, bytes);
        __asm__ volatile("" ::: "memory");
    }
}

static void put(struct raw *raw, const char *from, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = send(raw->socket, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno != EAGAIN && errno != EINTR)
            bench_fail("send");
        if (n > 0) {
            from += n;
            bytes -= (size_t)n;
        }
    }
}

static void get(struct raw *raw, char *to, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = recv(raw->socket, to, bytes, MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            bench_fail("recv");
        if (n > 0) {
            to += n;
            bytes -= (size_t)n;
        }
    }
}

void raw_socket(struct raw *raw, void *out, void *in, size_t bytes, int count)
{
    if (raw->rank > 1)
        return;
    for (int i = 0; i < count; i++) {
        if (raw->rank == 0)
            put(raw, out, bytes);
        get(raw, in, bytes);
        if (raw->rank == 1)
            put(raw, out, bytes);
    }
}

void raw_socket_window(struct raw *raw, void *out, void *in, size_t bytes, int window, int count)
{
    char *to = in;

    if (raw->rank > 1)
        return;
    for (int i = 0; i < count; i++) {
        if (raw->rank == 0) {
            for (int m = 0; m < window; m++)
                put(raw, out, bytes);
            get(raw, to, 1);
        } else {
            for (int m = 0; m < window; m++)
                get(raw, to + (size_t)m * bytes, bytes);
            put(raw, out, 1);
        }
    }
}

void raw_signal(struct raw *raw)
{
    set(&raw->mine->signal, ++raw->signals);
}

void raw_await(struct raw *raw)
{
    await(&raw->theirs->signal, ++raw->awaited);
}
