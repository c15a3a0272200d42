/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What ROMIO 4.0.2 by itself does wrong, and this library does right: counts past INT_MAX, types that
 * are freed early, errors of one process, counts at the end of a file, names, hints, odd types.
 */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io.h"

static int rank, size;

static MPI_Count count_of(MPI_Status *status)
{
    MPI_Count count = -1;
    OK(MPI_Get_elements_c(status, MPI_BYTE, &count));
    return count;
}

/* Memory that is not there until it is written to, which /dev/null does not. */
static char *reserve(size_t len)
{
    char *at = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(at != MAP_FAILED);
    return at;
}

static void counts_past_int(void)
{
    const MPI_Count many = (MPI_Count)INT_MAX + 9;
    char *data = reserve((size_t)many);
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    OK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_c(file, 5, data, many, MPI_BYTE, &status));
    CHECK(count_of(&status) == many);
    OK(MPI_File_write_all_c(file, data, many, MPI_BYTE, &status));
    CHECK(count_of(&status) == many);
    OK(MPI_File_iwrite_at_all_c(file, 0, data, many, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status) == many);
    FAILS(MPI_ERR_COUNT, MPI_File_write_at(file, 0, data, -1, MPI_BYTE, &status));
    OK(MPI_File_close(&file));
    munmap(data, (size_t)many);
}

/* More than 4 GiB with gaps, in memory and in the file. */
static void gaps_past_int(void)
{
    const MPI_Count block = 1 << 29, blocks = 9;
    char *data = reserve((size_t)(2 * block * blocks));
    MPI_File file;
    MPI_Status status;
    MPI_Info info;
    MPI_Datatype part, gaps;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "romio_ds_write", "disable"));
    OK(MPI_Type_contiguous_c(block, MPI_BYTE, &part));
    OK(MPI_Type_create_resized_c(part, 0, 2 * block, &gaps));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, info, &file));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, gaps, "native", info));
    OK(MPI_File_write_at_c(file, 3, data, blocks, gaps, &status));
    CHECK(count_of(&status) == block * blocks);
    OK(MPI_File_close(&file));
    OK(MPI_Type_free(&part));
    OK(MPI_Type_free(&gaps));
    OK(MPI_Info_free(&info));
    munmap(data, (size_t)(2 * block * blocks));
}

/* The type is freed, and others are made, while the access is under way. */
static void freed_type(void)
{
    enum { N = 1000, ROUNDS = 20 };
    static int data[2 * N], got[N];
    MPI_File file = io_open("freed", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Datatype type, others[8];
        MPI_Request request;
        MPI_Offset at = (MPI_Offset)(rank * N) * (int)sizeof(int);
        for (int i = 0; i < N; i++)
            data[2 * i] = rank * 1000000 + round * N + i;
        OK(MPI_Type_vector(N, 1, 2, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
        OK(round % 2 ? MPI_File_iwrite_at_all(file, at, data, 1, type, &request)
                     : MPI_File_iwrite_at(file, at, data, 1, type, &request));
        OK(MPI_Type_free(&type));
        for (int i = 0; i < 8; i++) {
            OK(MPI_Type_vector(N + i, 2, 3, MPI_CHAR, &others[i]));
            OK(MPI_Type_commit(&others[i]));
        }
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, at, got, N, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 0; i < N; i++)
            CHECK(got[i] == data[2 * i]);
        for (int i = 0; i < 8; i++)
            OK(MPI_Type_free(&others[i]));
    }
    OK(MPI_File_close(&file));
}

/* ---- errors ---- */

static int handled;

static void on_error(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
    handled++;
}

static void limit_size(rlim_t bytes)
{
    struct rlimit limit;
    CHECK(!getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = bytes;
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
}

/* One process cannot write far: in accesses of all it is told to all, by their handlers, once. */
static void errors_of_one(void)
{
    enum { BLOCK = 64, BLOCKS = 512 };
    static char data[BLOCK * BLOCKS];
    MPI_File file;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Datatype block, turns;
    MPI_Request request;
    MPI_Status status = {0};
    char text[MPI_MAX_ERROR_STRING];
    int len;
    (void)signal(SIGXFSZ, SIG_IGN);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "4096")); /* several rounds */
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    OK(MPI_File_open(MPI_COMM_WORLD, io_name("errors"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_Info_free(&info));
    OK(MPI_File_create_errhandler(on_error, &handler));
    OK(MPI_File_set_errhandler(file, handler));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Type_contiguous(BLOCK, MPI_CHAR, &block));
    OK(MPI_Type_create_resized(block, 0, (MPI_Aint)BLOCK * size, &turns));
    OK(MPI_Type_commit(&turns));
    OK(MPI_File_set_view(file, (MPI_Offset)BLOCK * rank, MPI_CHAR, turns, "native", MPI_INFO_NULL));
    if (rank == 0) /* the aggregator */
        limit_size(9000);
    int rc = MPI_File_write_at_all(file, 0, data, sizeof(data), MPI_CHAR, &status);
    FAILS(MPI_ERR_IO, rc);
    CHECK(handled == 1);
    OK(MPI_Error_string(rc, text, &len));
    CHECK(strstr(text, "errors")); /* the file */
    CHECK(rank || strstr(text, "ulimit"));
    OK(MPI_File_iwrite_at_all(file, 0, data, sizeof(data), MPI_CHAR, &request));
    FAILS(MPI_ERR_IO, MPI_Wait(&request, &status));
    CHECK(handled == 2 && request == MPI_REQUEST_NULL);
    OK(MPI_File_iwrite_at_all(file, 0, data, sizeof(data), MPI_CHAR, &request));
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(1, &request, &status));
    CHECK(handled == 3 && check_class(status.MPI_ERROR) == MPI_ERR_IO);
    if (rank == 0) {
        OK(MPI_File_iwrite_at(file, 0, data, sizeof(data), MPI_CHAR, &request));
        FAILS(MPI_ERR_IO, MPI_Wait(&request, &status));
        CHECK(handled == 4);
        handled = 3;
    }
    OK(MPI_File_write_at_all_begin(file, 0, data, sizeof(data), MPI_CHAR));
    FAILS(MPI_ERR_IO, MPI_File_write_at_all_end(file, data, &status));
    /* Arguments that are wrong in one process. */
    FAILS(MPI_ERR_TYPE, MPI_File_read_at_all(file, 0, data, 1,
                                             rank == 0 ? MPI_DATATYPE_NULL : MPI_CHAR, &status));
    rc = MPI_File_read_at_all_begin(file, 0, data, rank == size - 1 ? -1 : 1, MPI_CHAR);
    CHECK(check_class(rc) == (rank == size - 1 ? MPI_ERR_COUNT : MPI_SUCCESS));
    if (rank < size - 1)
        FAILS(MPI_ERR_COUNT, MPI_File_read_at_all_end(file, data, &status));
    if (rank == 0)
        limit_size(RLIM_INFINITY);
    OK(MPI_Type_free(&block));
    OK(MPI_Type_free(&turns));
    OK(MPI_File_close(&file));
}

static void error_classes(void)
{
    MPI_File file;
    char data[100] = "";
    OK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    FAILS(MPI_ERR_NO_SPACE, MPI_File_write_at(file, 0, data, 100, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, io_name("none"), MPI_MODE_RDONLY,
                                              MPI_INFO_NULL, &file));
    CHECK(file == MPI_FILE_NULL);
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(io_name("none"), MPI_INFO_NULL));
    FAILS(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_WORLD, io_name("none"),
                                       MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    if (size > 1)
        FAILS(MPI_ERR_NOT_SAME,
              MPI_File_open(MPI_COMM_WORLD, io_name("none"),
                            MPI_MODE_CREATE | (rank ? MPI_MODE_RDWR : MPI_MODE_WRONLY),
                            MPI_INFO_NULL, &file));
    file = io_open("split", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    /* A split access that could not begin is not under way. */
    FAILS(MPI_ERR_COUNT, MPI_File_write_all_begin(file, data, -1, MPI_CHAR));
    FAILS(MPI_ERR_OTHER, MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE));
    OK(MPI_File_write_all_begin(file, data, 10, MPI_CHAR));
    OK(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_UNSUPPORTED_DATAREP,
          MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "nonesuch", MPI_INFO_NULL));
    OK(MPI_File_close(&file));
    FAILS(MPI_ERR_FILE, MPI_File_sync(MPI_FILE_NULL));
}

/* ---- the end of a file ---- */

static void end_of_file(void)
{
    enum { BYTES = 1000 };
    static char data[BYTES], got[2 * BYTES];
    MPI_File file = io_open("end", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Datatype block, gaps;
    MPI_Status status;
    MPI_Request request;
    memset(data, 7, sizeof(data));
    OK(MPI_Type_contiguous(10, MPI_CHAR, &block));
    OK(MPI_Type_create_resized(block, 0, 30, &gaps));
    OK(MPI_Type_commit(&gaps));
    if (rank == 0)
        OK(MPI_File_write_at(file, 0, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_set_view(file, 0, MPI_CHAR, gaps, "native", MPI_INFO_NULL));
    /* 33 turns of 30 bytes, and 10 bytes more */
    OK(MPI_File_read_at(file, 0, got, BYTES, MPI_CHAR, &status));
    CHECK(count_of(&status) == 340);
    OK(MPI_File_read_at_all(file, 0, got, BYTES, MPI_CHAR, &status));
    CHECK(count_of(&status) == 340);
    OK(MPI_File_iread_at_all(file, 335, got, BYTES, MPI_CHAR, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status) == 5);
    OK(MPI_File_iread_at(file, 400, got, BYTES, MPI_CHAR, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status) == 0);
    OK(MPI_Type_free(&block));
    OK(MPI_Type_free(&gaps));
    OK(MPI_File_close(&file));
}

/* ---- names and hints ---- */

static void names(void)
{
    const char *const all[] = {"a:b", "ufs:x", "dir name", "ends:"};
    for (int i = 0; i < 4; i++) {
        MPI_File file = io_open(all[i], MPI_MODE_CREATE | MPI_MODE_RDWR);
        struct stat what;
        OK(MPI_File_write_all(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
        CHECK(!stat(io_name(all[i]), &what) && what.st_size == sizeof(int));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0)
            OK(MPI_File_delete(io_name(all[i]), MPI_INFO_NULL));
    }
}

static void hints(void)
{
    static int data[64], got[64];
    MPI_Info info, used;
    MPI_File file;
    char value[32] = "";
    int len = sizeof(value), flag;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "romio_cb_pfr", "enable"));
    OK(MPI_Info_set(info, "romio_no_indep_rw", "true"));
    OK(MPI_Info_set(info, "cb_buffer_size", "65536"));
    OK(MPI_File_open(MPI_COMM_WORLD, io_name("hints"),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    data[5] = rank;
    OK(MPI_File_write_at_all(file, rank * (int)sizeof(data), data, 64, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, rank * (int)sizeof(data), got, 64, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(!memcmp(data, got, sizeof(data)));
    OK(MPI_File_get_info(file, &used));
    OK(MPI_Info_get_string(used, "cb_buffer_size", &len, value, &flag));
    CHECK(flag && !strcmp(value, "65536"));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&used));
    OK(MPI_File_close(&file));
}

/* ---- types ---- */

/* A view of one element of a type, at the beginning of this process' part, shows its bytes. */
static void round_trip(MPI_Datatype type)
{
    static char data[256], got[256];
    MPI_Count lb, extent, bytes;
    MPI_Status status;
    MPI_File file = io_open("types", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_Type_get_extent_c(type, &lb, &extent));
    OK(MPI_Type_size_c(type, &bytes));
    memset(data, 1 + rank, sizeof(data));
    memset(got, 0, sizeof(got));
    OK(MPI_File_set_view(file, rank * 256, type, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, data, 2, type, &status));
    CHECK(count_of(&status) == 2 * bytes);
    OK(MPI_File_read_at_all(file, 0, got, 2, type, &status));
    CHECK(count_of(&status) == 2 * bytes);
    MPI_Count same = 0;
    for (int i = 0; i < 256; i++)
        same += got[i] == data[i];
    CHECK(same == 2 * bytes);
    OK(MPI_File_close(&file));
}

static void types(void)
{
    const MPI_Datatype pairs[] = {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
                                  MPI_LONG_DOUBLE_INT};
    int lens[] = {1, 0, 1};
    MPI_Aint places[] = {0, 8, 16};
    MPI_Datatype empty, holed, large, f90, inner[3] = {MPI_INT, MPI_INT, MPI_DOUBLE};
    for (int i = 0; i < 6; i++)
        round_trip(pairs[i]);
    OK(MPI_Type_vector(0, 3, 5, MPI_INT, &empty));
    inner[1] = empty;
    OK(MPI_Type_create_struct(3, lens, places, inner, &holed));
    OK(MPI_Type_commit(&holed));
    round_trip(holed);
    OK(MPI_Type_vector_c(3, 2, 4, MPI_SHORT, &large));
    OK(MPI_Type_commit(&large));
    round_trip(large);
    OK(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &f90));
    round_trip(f90);
    OK(MPI_Type_free(&empty));
    OK(MPI_Type_free(&holed));
    OK(MPI_Type_free(&large));
}

/* ---- in the background ---- */

/* What was begun is done without another call of MPI's. */
static void background(void)
{
    static char data[100000];
    MPI_File file = io_open("background", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Request request;
    struct stat what;
    struct timespec pause = {0, 2000000};
    int i = 0;
    OK(MPI_File_iwrite_at_all(file, (MPI_Offset)rank * (int)sizeof(data), data, sizeof(data), MPI_CHAR,
                              &request));
    do {
        nanosleep(&pause, NULL);
        CHECK(!stat(io_name("background"), &what));
    } while (what.st_size < (off_t)sizeof(data) * size && ++i < 5000);
    CHECK(what.st_size == (off_t)sizeof(data) * size);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    if (rank == 0)
        OK(MPI_File_delete(io_name("background"), MPI_INFO_NULL));
}

/* A file that is closed while accesses are under way waits for them; they are completed later. */
static void close_early(void)
{
    enum { ACCESSES = 12, LEN = 200000 };
    static char data[ACCESSES][LEN];
    MPI_File file = io_open("early", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Request requests[ACCESSES];
    MPI_Status statuses[ACCESSES];
    struct stat what;
    for (int i = 0; i < ACCESSES; i++) {
        memset(data[i], 'a' + i, LEN);
        OK(MPI_File_iwrite_at(file, (MPI_Offset)(rank * ACCESSES + i) * LEN, data[i], LEN, MPI_CHAR, &requests[i]));
    }
    OK(MPI_File_close(&file));
    CHECK(!stat(io_name("early"), &what) && what.st_size >= (off_t)(rank + 1) * ACCESSES * LEN);
    OK(MPI_Waitall(ACCESSES, requests, statuses));
    for (int i = 0; i < ACCESSES; i++)
        CHECK(io_count(&statuses[i], MPI_CHAR) == LEN);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        OK(MPI_File_delete(io_name("early"), MPI_INFO_NULL));
}

/* In a forked child no call on a file goes on: nobody would answer it. */
static void child(void)
{
    MPI_File file = io_open("child", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Request request;
    char byte = 1;
    int status = -1;
    OK(MPI_File_iwrite_at(file, rank, &byte, 1, MPI_CHAR, &request));
    pid_t process = fork();
    if (!process) {
        alarm(20);
        fclose(stderr);
        close(STDERR_FILENO);
        _exit(MPI_File_close(&file) ? 1 : 0);
    }
    CHECK(process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    if (rank == 0)
        OK(MPI_File_delete(io_name("child"), MPI_INFO_NULL));
}

int main(void)
{
    OK(MPI_Init(NULL, NULL));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    io_begin();
    counts_past_int();
    gaps_past_int();
    freed_type();
    error_classes();
    errors_of_one();
    end_of_file();
    names();
    hints();
    types();
    background();
    close_early();
    child();
    CHECK(io_end() == 1);
    OK(MPI_Finalize());
    return 0;
}
