/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random accesses, by seeds, against a model that writes serially, on a system that misbehaves. The
 * cells of a file belong to ranks at random; each writes and reads its own by random calls, hints and
 * layouts, and at the end the file must be what the model says.
 *
 *   io_random KIND FIRST COUNT
 *
 * KIND says what the system calls of this program do, by the seed:
 *   plain    what they are asked for; reads take long, so that a change of the same bytes needs a
 *            lock
 *   short    a part of it, or EINTR
 *   nolocks  there are no locks, and reads take long
 *   errors   they fail now and then, in any process: then all processes of a collective access must
 *            get an error, none may hang, and bytes outside a failed access must be right
 *   full     nothing can be written past a place in the file
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "io.h"

enum {
    CELLS = 96,
    CALLS = 8,
    SHORT = 24, /* bytes of a cell: ROMIO sieves these, and uses two phases */
    LONG = 40000 /* each cell is a system call */
};

/* ---- random numbers ---- */

struct random {
    uint64_t state;
};

static uint32_t draw(struct random *random, uint32_t below)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->state >> 33) % below;
}

/* ---- the system; the library calls these in place of libc's (with _FILE_OFFSET_BITS they are its
 * pread64() and so on) ---- */

static struct {
    bool is_slow, is_short, has_no_locks, fails;
    off_t room; /* 0: any */
    _Atomic uint64_t calls;
    uint64_t seed;
    atomic_int failures;
} faults;

static uint32_t chance(uint32_t below)
{
    struct random random = {faults.seed + atomic_fetch_add(&faults.calls, 1) * 977};
    (void)draw(&random, below);
    return draw(&random, below);
}

static ssize_t transfer(long call, int fd, void *buf, size_t len, off_t offset)
{
    if (faults.is_slow && call == SYS_pread64) {
        ssize_t early = syscall(call, fd, buf, len, offset);
        (void)usleep(500);
        return early;
    }
    if (faults.is_short && chance(4) == 0) {
        errno = EINTR;
        return -1;
    }
    if (faults.is_short && len > 1)
        len = 1 + chance((uint32_t)len);
    if (faults.fails && chance(12) == 0) {
        faults.failures++;
        errno = EIO;
        return -1;
    }
    if (faults.room && call == SYS_pwrite64 && offset + (off_t)len > faults.room) {
        faults.failures++;
        errno = ENOSPC;
        return -1;
    }
    return syscall(call, fd, buf, len, offset);
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset)
{
    return transfer(SYS_pread64, fd, buf, len, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t offset)
{
    return transfer(SYS_pwrite64, fd, (void *)(uintptr_t)buf, len, offset);
}

static int control(int fd, int command, void *argument)
{
    bool is_lock = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
                   command == F_OFD_SETLKW;
    if (is_lock && faults.has_no_locks) {
        errno = ENOLCK;
        return -1;
    }
    if (is_lock && faults.is_short && chance(4) == 0) {
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return control(fd, command, argument);
}

/* ---- the model ---- */

static int rank, size;
static int mine[CELLS], count; /* the cells of this rank, in the order of the file */
static int cell_len;
static unsigned char model[CELLS * LONG];
static bool unknown[CELLS]; /* after a write that has failed */

static MPI_Info draw_hints(struct random *random)
{
    static const char *const words[] = {"enable", "disable", "automatic"};
    static const char *const little[] = {"64", "777", "4096", "65536"};
    static const char *const much[] = {"65536", "100000", "300000", "4000000"};
    const char *const *sizes = cell_len == SHORT ? little : much;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "romio_cb_write", words[draw(random, 3)]));
    OK(MPI_Info_set(info, "romio_cb_read", words[draw(random, 3)]));
    OK(MPI_Info_set(info, "romio_ds_write", words[draw(random, 3)]));
    OK(MPI_Info_set(info, "romio_ds_read", words[draw(random, 3)]));
    OK(MPI_Info_set(info, "cb_buffer_size", sizes[draw(random, 4)]));
    OK(MPI_Info_set(info, "ind_wr_buffer_size", sizes[draw(random, 4)]));
    OK(MPI_Info_set(info, "ind_rd_buffer_size", sizes[draw(random, 4)]));
    if (draw(random, 2))
        OK(MPI_Info_set(info, "cb_config_list", "*:*"));
    return info;
}

static void set_view(MPI_File file, struct random *random)
{
    MPI_Datatype cell, cells;
    MPI_Aint places[CELLS + 1] = {0};
    int turns = 1 + (int)draw(random, 6);
    count = 0;
    for (int i = 0; i < CELLS; i++) {
        int owner = (int)draw(random, 3) ? (int)draw(random, (uint32_t)size) : i / turns % size;
        if (owner == rank) {
            mine[count] = i;
            places[count++] = (MPI_Aint)i * cell_len;
        }
    }
    memset(model, 0, sizeof(model));
    memset(unknown, 0, sizeof(unknown));
    OK(MPI_Type_contiguous(cell_len, MPI_BYTE, &cell));
    OK(MPI_Type_create_hindexed_block(count, 1, places, cell, &cells));
    OK(MPI_Type_commit(&cell));
    OK(MPI_Type_commit(&cells));
    OK(MPI_File_set_view(file, 0, cell, cells, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&cell));
    OK(MPI_Type_free(&cells));
}

/* One access to some of the own cells. */
struct call {
    int from, cells; /* of mine */
    bool write, collective, background, split;
    unsigned char *buf;
    MPI_Datatype type; /* of one cell in memory */
    int stride;
};

static int start(MPI_File file, const struct call *call, MPI_Request *request, MPI_Status *status)
{
    if (call->write && call->collective)
        return call->background
                   ? MPI_File_iwrite_at_all(file, call->from, call->buf, call->cells, call->type, request)
                   : MPI_File_write_at_all(file, call->from, call->buf, call->cells, call->type, status);
    if (call->write)
        return call->background
                   ? MPI_File_iwrite_at(file, call->from, call->buf, call->cells, call->type, request)
                   : MPI_File_write_at(file, call->from, call->buf, call->cells, call->type, status);
    if (call->collective)
        return call->background
                   ? MPI_File_iread_at_all(file, call->from, call->buf, call->cells, call->type, request)
                   : MPI_File_read_at_all(file, call->from, call->buf, call->cells, call->type, status);
    return call->background
               ? MPI_File_iread_at(file, call->from, call->buf, call->cells, call->type, request)
               : MPI_File_read_at(file, call->from, call->buf, call->cells, call->type, status);
}

static int run(MPI_File file, const struct call *call)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int rc = start(file, call, &request, &status);
    if (!rc && call->background)
        rc = MPI_Wait(&request, &status);
    CHECK(rc || io_count(&status, MPI_BYTE) == call->cells * cell_len);
    return rc;
}

static void note_write(const struct call *call, bool failed)
{
    for (int i = 0; i < call->cells; i++) {
        int cell = mine[call->from + i];
        unknown[cell] |= failed;
        memcpy(model + cell * cell_len, call->buf + i * call->stride, cell_len);
    }
}

static void check_read(const struct call *call)
{
    for (int i = 0; i < call->cells; i++) {
        int cell = mine[call->from + i];
        CHECK(unknown[cell] || !memcmp(model + cell * cell_len, call->buf + i * call->stride, cell_len));
    }
}

/* Returns whether it has failed. */
static bool one_call(MPI_File file, struct random *common, struct random *own)
{
    static unsigned char buf[CELLS * LONG * 2];
    struct call call = {.write = draw(common, 3) > 0, .collective = draw(common, 2),
                        .background = draw(common, 2), .buf = buf, .stride = cell_len};
    MPI_Datatype cell;
    call.from = count ? (int)draw(own, (uint32_t)count) : 0;
    call.cells = count ? (int)draw(own, (uint32_t)(count - call.from) + 1) : 0;
    OK(MPI_Type_contiguous(cell_len, MPI_BYTE, &cell));
    if (draw(own, 2))
        call.stride = 2 * cell_len;
    OK(MPI_Type_create_resized(cell, 0, call.stride, &call.type));
    OK(MPI_Type_commit(&call.type));
    for (int i = 0; i < call.cells * call.stride; i++)
        buf[i] = call.write ? (unsigned char)draw(own, 256) : 0xee;
    int rc = run(file, &call), any, all;
    if (call.write)
        note_write(&call, rc);
    else if (!rc)
        check_read(&call);
    int failed = rc != MPI_SUCCESS;
    OK(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK(!call.collective || any == all);
    OK(MPI_Type_free(&cell));
    OK(MPI_Type_free(&call.type));
    return any;
}

/* The file's content, but for unknown bytes. */
static void compare(const char *name)
{
    static unsigned char all[CELLS * LONG], file[CELLS * LONG];
    unsigned char known[CELLS] = {0}, known_all[CELLS];
    for (int i = 0; i < count; i++)
        known[mine[i]] = !unknown[mine[i]];
    OK(MPI_Reduce(model, all, CELLS * cell_len, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD));
    OK(MPI_Reduce(known, known_all, CELLS, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD));
    if (rank)
        return;
    FILE *stream = fopen(name, "r");
    CHECK(stream && fread(file, (size_t)cell_len, CELLS, stream) == CELLS);
    fclose(stream);
    for (int i = 0; i < CELLS; i++)
        CHECK(!known_all[i] || !memcmp(all + i * cell_len, file + i * cell_len, cell_len));
}

static void run_seed(const char *kind, uint64_t seed)
{
    struct random common = {seed * 7919 + 1}, own = {seed * 7919 + 100 + (uint64_t)rank};
    cell_len = seed % 8 ? SHORT : LONG;
    MPI_Info info = draw_hints(&common);
    MPI_File file;
    bool failed = false;
    faults.has_no_locks = !strcmp(kind, "nolocks");
    OK(MPI_File_open(MPI_COMM_WORLD, io_name("random"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_File_set_size(file, CELLS * cell_len));
    if (draw(&common, 4) == 0 && (size == 1 || !faults.has_no_locks))
        OK(MPI_File_set_atomicity(file, 1));
    set_view(file, &common);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    faults.seed = seed * 104729 + (uint64_t)rank * 31;
    atomic_store(&faults.calls, 0);
    faults.is_slow = !strcmp(kind, "plain") || !strcmp(kind, "nolocks");
    faults.is_short = !strcmp(kind, "short");
    faults.fails = !strcmp(kind, "errors");
    faults.room = strcmp(kind, "full") ? 0 : (off_t)draw(&common, CELLS) * cell_len;
    for (int i = 0; i < CALLS; i++)
        failed |= one_call(file, &common, &own);
    faults.is_slow = faults.is_short = faults.fails = false;
    faults.room = 0;
    OK(MPI_Info_free(&info));
    OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
    CHECK(!failed || !strcmp(kind, "errors") || !strcmp(kind, "full"));
    compare(io_name("random"));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        OK(MPI_File_delete(io_name("random"), MPI_INFO_NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int failures = 0, all = 0;
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    CHECK(argc == 4);
    uint64_t first = strtoull(argv[2], NULL, 10), seeds = strtoull(argv[3], NULL, 10);
    io_begin();
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        if (rank == 0 && getenv("VIREO_TEST_SEEDS"))
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        run_seed(argv[1], seed);
    }
    failures = atomic_load(&faults.failures);
    OK(MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK((all > 0) == (!strcmp(argv[1], "errors") || !strcmp(argv[1], "full")));
    CHECK(io_end() == 0);
    OK(MPI_Finalize());
    return 0;
}
