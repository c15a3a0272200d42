/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files: how fast all ranks together write and read one, in MB/s.
 *
 * contiguous: each rank a piece of its own, by MPI_File_write_at
 * strided: each rank every n-th block, alone, with gaps between
 * together: the same blocks, in one collective access
 * behind work: a nonblocking write, while the rank computes as long as a raw pwrite of it takes
 *
 * The limits are pwrite and pread of the same pieces and blocks; behind work, pwrite by a thread that
 * the rank wakes and awaits. --sizes are the blocks. The file is in
 * $TMPDIR or /tmp, and stays in the system's cache: so this is about the library, and not about a disk.
 */

#include "bench.h"

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 4 << 20 }; /* bytes of each rank */

struct files {
    char name[256];
    MPI_File file; /* seen as bytes */
    MPI_File blocks; /* seen as this rank's blocks */
    MPI_Datatype type;
    int fd, rank, ranks;
    char *buf;
    int block; /* bytes */
    double work; /* ns to compute behind a write */
    pthread_t writer;
    sem_t begun;
    atomic_bool done, ends;
};

static void raw_write(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        if (pwrite(f->fd, f->buf, PIECE, (off_t)f->rank * PIECE) != PIECE)
            bench_fail("pwrite");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void raw_read(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        if (pread(f->fd, f->buf, PIECE, (off_t)f->rank * PIECE) != PIECE)
            bench_fail("pread");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* All blocks of this rank, one by one. */
static void raw_blocks(struct files *f, bool write)
{
    for (off_t at = 0; at < PIECE; at += f->block) {
        off_t place = at * f->ranks + (off_t)f->rank * f->block;
        ssize_t moved = write ? pwrite(f->fd, f->buf + at, (size_t)f->block, place)
                              : pread(f->fd, f->buf + at, (size_t)f->block, place);

        if (moved != f->block)
            bench_fail("a block of the file");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void raw_write_blocks(void *arg, int count)
{
    for (int i = 0; i < count; i++)
        raw_blocks(arg, true);
}

static void raw_read_blocks(void *arg, int count)
{
    for (int i = 0; i < count; i++)
        raw_blocks(arg, false);
}

static void contiguous_write(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        MPI_File_write_at(f->file, (MPI_Offset)f->rank * PIECE, f->buf, PIECE, MPI_BYTE,
                          MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void contiguous_read(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        MPI_File_read_at(f->file, (MPI_Offset)f->rank * PIECE, f->buf, PIECE, MPI_BYTE,
                         MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void strided_write(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        MPI_File_write_at(f->blocks, 0, f->buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void strided_read(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        MPI_File_read_at(f->blocks, 0, f->buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void together_write(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++)
        MPI_File_write_at_all(f->blocks, 0, f->buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void together_read(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++)
        MPI_File_read_at_all(f->blocks, 0, f->buf, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void compute(const struct files *f)
{
    for (double until = bench_now() + f->work; bench_now() < until;)
        ;
}

static void *write_begun(void *arg)
{
    struct files *f = arg;

    for (;;) {
        while (sem_wait(&f->begun))
            ;
        if (f->ends)
            return NULL;
        if (pwrite(f->fd, f->buf, PIECE, (off_t)f->rank * PIECE) != PIECE)
            bench_fail("pwrite");
        f->done = true;
    }
}

static void raw_behind_work(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        f->done = false;
        sem_post(&f->begun);
        compute(f);
        while (!f->done)
            sched_yield();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void behind_work(void *arg, int count)
{
    struct files *f = arg;

    for (int i = 0; i < count; i++) {
        MPI_Request request;

        MPI_File_iwrite_at(f->file, (MPI_Offset)f->rank * PIECE, f->buf, PIECE, MPI_BYTE, &request);
        compute(f);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The same work whatever MPI is measured, and bad moments do not change it: the shortest time. */
static void measure_work(struct files *f)
{
    enum { TIMES = 15 };
    double took[TIMES];

    raw_write(f, 1);
    for (int i = 0; i < TIMES; i++) {
        double start = bench_now();

        raw_write(f, 1);
        took[i] = bench_now() - start;
    }
    (void)bench_median(took, TIMES); /* sorts */
    f->work = took[0];
    MPI_Bcast(&f->work, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void open_files(struct files *f)
{
    const char *folder = getenv("TMPDIR");

    MPI_Comm_rank(MPI_COMM_WORLD, &f->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &f->ranks);
    snprintf(f->name, sizeof f->name, "%.200s/bench-files-%d", folder ? folder : "/tmp", (int)getpid());
    MPI_Bcast(f->name, sizeof f->name, MPI_CHAR, 0, MPI_COMM_WORLD);
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;

    if (MPI_File_open(MPI_COMM_WORLD, f->name, mode, MPI_INFO_NULL, &f->file) ||
        MPI_File_open(MPI_COMM_WORLD, f->name, mode, MPI_INFO_NULL, &f->blocks))
        bench_fail("no file can be opened");
    f->fd = open(f->name, O_RDWR);
    f->buf = bench_alloc(PIECE, false);
    if (f->fd < 0)
        bench_fail("the file cannot be opened");
    measure_work(f);
    if (sem_init(&f->begun, 0, 0) || pthread_create(&f->writer, NULL, write_begun, f))
        bench_fail("a thread that writes");
}

static void close_files(struct files *f)
{
    f->ends = true;
    sem_post(&f->begun);
    pthread_join(f->writer, NULL);
    sem_destroy(&f->begun);
    close(f->fd);
    MPI_File_close(&f->blocks);
    MPI_File_close(&f->file);
    if (f->rank == 0)
        MPI_File_delete(f->name, MPI_INFO_NULL);
    bench_free(f->buf, PIECE);
}

/* Blocks of the ranks take turns. */
static void see_blocks(struct files *f, int bytes)
{
    MPI_Datatype block;

    f->block = bytes;
    MPI_Type_contiguous(bytes, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)bytes * f->ranks, &f->type);
    MPI_Type_commit(&f->type);
    MPI_File_set_view(f->blocks, (MPI_Offset)bytes * f->rank, MPI_BYTE, f->type, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&block);
    MPI_Type_free(&f->type);
}

int main(int argc, char **argv)
{
    struct bench_options o = {
        .slices = 20, .seconds = 5, .whole = true, .sizes = {1024, 16384, 65536, 1048576}, .size_count = 4};
    struct files f;
    char label[64];

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    open_files(&f);
    double scale = (double)PIECE * f.ranks * 1e3; /* MB/s from ns */
    struct bench_way whole[] = {
        {"raw pwrite", "MB/s", BENCH_RATE, scale, raw_write, &f, BENCH_RAW},
        {"raw pread", "MB/s", BENCH_RATE, scale, raw_read, &f, BENCH_RAW},
        {"raw pwrite behind work", "MB/s", BENCH_RATE, scale, raw_behind_work, &f, BENCH_RAW},
        {"contiguous write", "MB/s", BENCH_RATE, scale, contiguous_write, &f, 0},
        {"contiguous read", "MB/s", BENCH_RATE, scale, contiguous_read, &f, 1},
        {"write behind work", "MB/s", BENCH_RATE, scale, behind_work, &f, 2},
    };
    struct bench_way parts[] = {
        {"raw pwrite", "MB/s", BENCH_RATE, scale, raw_write_blocks, &f, BENCH_RAW},
        {"raw pread", "MB/s", BENCH_RATE, scale, raw_read_blocks, &f, BENCH_RAW},
        {"strided write", "MB/s", BENCH_RATE, scale, strided_write, &f, 0},
        {"strided read", "MB/s", BENCH_RATE, scale, strided_read, &f, 1},
        {"write together", "MB/s", BENCH_RATE, scale, together_write, &f, 0},
        {"read together", "MB/s", BENCH_RATE, scale, together_read, &f, 1},
    };

    snprintf(label, sizeof label, "%d", PIECE);
    bench_interleave(&o, label, whole, sizeof whole / sizeof whole[0]);
    for (int i = 0; i < o.size_count; i++) {
        see_blocks(&f, (int)o.sizes[i]);
        snprintf(label, sizeof label, "%zu", o.sizes[i]);
        bench_interleave(&o, label, parts, sizeof parts / sizeof parts[0]);
    }
    close_files(&f);
    MPI_Finalize();
    return 0;
}
