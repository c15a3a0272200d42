/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Long messages from and to addresses whose memory is another one each time, and around fork(). A
 * channel that still had the former pages registered would send what lies there, or write there.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pattern.h"

enum {
    LEN = 1 << 20,
    ROUNDS = 12
};

struct buffer {
    uint8_t *at;
    int file; /* twice as long as the buffer: its halves are other memory at the same address */
};

static void *map_half(struct buffer *buffer, int half)
{
    int fixed = buffer->at ? MAP_FIXED_NOREPLACE : 0;
    return mmap(buffer->at, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, buffer->file,
                (off_t)half * LEN);
}

static struct buffer open_buffer(void)
{
    struct buffer buffer = {.file = memfd_create("remap", MFD_CLOEXEC)};
    CHECK(buffer.file >= 0 && !ftruncate(buffer.file, 2 * LEN));
    buffer.at = map_half(&buffer, 0);
    CHECK(buffer.at != MAP_FAILED);
    return buffer;
}

static void close_buffer(struct buffer *buffer)
{
    CHECK(!munmap(buffer->at, LEN));
    close(buffer->file);
}

/* ---- other memory at the same address ---- */

static void by_munmap(struct buffer *buffer, int round)
{
    CHECK(!munmap(buffer->at, LEN));
    CHECK(map_half(buffer, round % 2) == buffer->at);
}

/* The old mapping moves away, and lives on. */
static void by_mremap(struct buffer *buffer, int round)
{
    void *away = mremap(buffer->at, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED,
                        mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(away != MAP_FAILED && away != buffer->at);
    CHECK(map_half(buffer, round % 2) == buffer->at);
    memset(away, 0xee, LEN); /* the half that is not mapped at the address */
    CHECK(!munmap(away, LEN));
}

/* Private memory whose pages the kernel takes, and gives new ones when they are touched. */
static void by_madvise(struct buffer *buffer, int round)
{
    if (round == 1) {
        CHECK(!munmap(buffer->at, LEN));
        CHECK(mmap(buffer->at, LEN, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == buffer->at);
    }
    CHECK(!madvise(buffer->at, LEN, MADV_DONTNEED));
}

static void exchange(const struct buffer *out, const struct buffer *in, uint32_t seed)
{
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    int left = (me + size - 1) % size, right = (me + 1) % size;
    pattern_fill(out->at, LEN, seed + (uint32_t)me);
    memset(in->at, 0xa5, LEN);
    OK(MPI_Sendrecv(out->at, LEN, MPI_BYTE, right, 1, in->at, LEN, MPI_BYTE, left, 1,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(pattern_is(in->at, LEN, seed + (uint32_t)left));
}

static void remap(void (*change)(struct buffer *buffer, int round))
{
    struct buffer out = open_buffer(), in = open_buffer();
    exchange(&out, &in, 1);
    for (int round = 0; round < ROUNDS; round++) {
        change(&out, round + 1);
        change(&in, round + 1);
        exchange(&out, &in, 10u * (uint32_t)round + 2);
    }
    close_buffer(&out);
    close_buffer(&in);
}

/* ---- fork ---- */

/* A child that writes over its copy of both buffers, and lives until the pipe is closed. */
static pid_t spoil(uint8_t *out, uint8_t *in, int pipe_ends[2])
{
    char byte = 0;
    int ready[2];
    CHECK(!pipe(pipe_ends) && !pipe(ready));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        close(pipe_ends[1]);
        memset(out, 0x11, LEN);
        memset(in, 0x22, LEN);
        if (write(ready[1], &byte, 1) != 1 || read(pipe_ends[0], &byte, 1) != 0)
            _exit(1);
        _exit(0);
    }
    close(pipe_ends[0]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

/* The child is made while both messages are under way; then the parent's pages become others, as it
 * writes to those that it shares with the child. */
static void forked(int len, uint8_t *out, uint8_t *in)
{
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), status = -1, ends[2];
    int left = (me + size - 1) % size, right = (me + 1) % size;
    MPI_Request requests[2];
    for (uint32_t round = 0; round < 4; round++) {
        uint32_t seed = 100 * round + 7;
        memset(in, 0xa5, LEN);
        pattern_fill(out, (size_t)len, seed + (uint32_t)me);
        OK(MPI_Irecv(in, len, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(out, len, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]));
        pid_t child = spoil(out, in, ends);
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(pattern_is(in, (size_t)len, seed + (uint32_t)left));
        pattern_fill(out, (size_t)len, seed + 50 + (uint32_t)me);
        OK(MPI_Sendrecv(out, len, MPI_BYTE, right, 3, in, len, MPI_BYTE, left, 3, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK(pattern_is(in, (size_t)len, seed + 50 + (uint32_t)left));
        close(ends[1]);
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    }
}

int main(int argc, char **argv)
{
    uint8_t *out, *in;
    OK(MPI_Init(&argc, &argv));
    remap(by_munmap);
    remap(by_mremap);
    remap(by_madvise);
    out = pattern_alloc(LEN);
    in = pattern_alloc(LEN);
    forked(64, out, in);
    forked(LEN, out, in);
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}
