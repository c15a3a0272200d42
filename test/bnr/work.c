/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rank that does what its arguments say, one after the other, by MPI calls:
 * see acts[] at the end. "word=N" hands N to the act, "word" 1. All that is
 * received is checked; the first byte that is wrong ends the rank with status 99.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    TAG = 7,
    BYTES_MAX = 4 << 20
};

static int rank, size;
static unsigned char *out, *in;

static void check(int truth, const char *what, int line)
{
    if (truth)
        return;
    fprintf(stderr, "work: rank %d: line %d: %s\n", rank, line, what);
    _exit(99);
}
#define CHECK(truth) check((truth) != 0, #truth, __LINE__)

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Processor time of this process. */
static double cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

/* ---- life ---- */

/* A line and a part of one, which leave this process as far as stdout lets them. */
static void part(int code)
{
    printf("line\npart");
    _exit(code);
}

static void begin(int threads)
{
    int given;
    if (threads > 1)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &given);
    else
        MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = malloc(BYTES_MAX);
    in = malloc(BYTES_MAX);
    if (!out || !in) {
        fprintf(stderr, "work: no memory for the buffers of this test\n");
        exit(99);
    }
}

static void finalize(int arg)
{
    free(out);
    free(in);
    MPI_Finalize();
}

static void hello(int arg)
{
    printf("rank %d of %d\n", rank, size);
    fflush(stdout);
}

static void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* ---- communication ---- */

/* A token that each adds itself to. */
static void ring(int arg)
{
    int token = 0, next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (rank)
        MPI_Recv(&token, 1, MPI_INT, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token += rank;
    if (size > 1)
        MPI_Send(&token, 1, MPI_INT, next, TAG, MPI_COMM_WORLD);
    if (rank || size == 1)
        return;
    MPI_Recv(&token, 1, MPI_INT, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(token == size * (size - 1) / 2);
}

static void barrier(int count)
{
    for (int i = 0; i < count; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int count)
{
    for (int i = 0; i < count; i++) {
        long mine = rank + i, sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == (long)size * (size - 1) / 2 + (long)i * size);
    }
}

/* The last rank calls a reduction late, when the farthest from it have sent their part and left. The first one
 * connects them. */
static void late(int ms)
{
    long double mine = 1, sum = 0;
    int none = 0, nothing;
    MPI_Reduce(&none, &nothing, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
    if (rank == size - 1)
        pause_ms(ms);
    MPI_Reduce(&mine, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD);
    CHECK(rank < size - 1 || sum == size);
}

static void fill(unsigned char *at, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++)
        at[i] = (unsigned char)(i * 31 + (i >> 8) + seed);
}

/* Everybody sends len bytes to who is step ranks further on. */
static void shift(int len, int step)
{
    MPI_Status status;
    int to = (rank + step) % size, from = (rank + size - step % size) % size, count;
    fill(out, (size_t)len, (unsigned)(rank + step));
    memset(in, 0, (size_t)len);
    MPI_Sendrecv(out, len, MPI_BYTE, to, TAG, in, len, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == len && status.MPI_SOURCE == from);
    fill(out, (size_t)len, (unsigned)(from + step));
    CHECK(!memcmp(in, out, (size_t)len));
}

static void message(int len)
{
    shift(len, 1);
}

static int goes_on(double until)
{
    int on = now_ms() < until;
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

static void p2p(int ms)
{
    static const int lengths[] = {0, 8, 100, 5000, 70000, 1 << 20};
    double until = now_ms() + ms;
    for (int i = 0; goes_on(until); i++)
        shift(lengths[i % 6], i % size);
}

static void colls(int ms)
{
    double until = now_ms() + ms;
    for (int i = 0; goes_on(until); i++) {
        int root = i % size, len = i % 3 == 2 && size <= BYTES_MAX / 65536 ? 65536 : 64;
        size_t last = (size_t)len * (size_t)(size - 1);
        allreduce(1);
        fill(out, (size_t)len, rank == root ? (unsigned)i : 1000u + (unsigned)rank);
        MPI_Bcast(out, len, MPI_BYTE, root, MPI_COMM_WORLD);
        fill(in, (size_t)len, (unsigned)i);
        CHECK(!memcmp(in, out, (size_t)len));
        MPI_Allgather(out, len, MPI_BYTE, in, len, MPI_BYTE, MPI_COMM_WORLD);
        CHECK(!memcmp(in + last, out, (size_t)len));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void traffic(int ms)
{
    double until = now_ms() + ms;
    while (goes_on(until)) {
        p2p(20);
        colls(20);
    }
}

/* Everybody but rank 0 waits in MPI_Recv this long: at less than 1 % of a core. */
static void block(int ms)
{
    double began = now_ms(), before = cpu_ms(), share, most;
    if (rank == 0) {
        usleep((useconds_t)ms * 1000);
        for (int i = 1; i < size; i++)
            MPI_Send(NULL, 0, MPI_BYTE, i, TAG, MPI_COMM_WORLD);
        before = cpu_ms();
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    share = 100 * (cpu_ms() - before) / (now_ms() - began);
    MPI_Reduce(&share, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank)
        return;
    printf("at most %.2f %% of a core\n", most);
    fflush(stdout);
    CHECK(most < 1);
}

/* ---- streams ---- */

/* Rank 0 reads stdin to its end, with a pause of ms every 5 MB, and prints size and sum. */
static void drink(int ms)
{
    static unsigned char buf[1 << 16];
    uint64_t sum = 1469598103934665603u, total = 0;
    ssize_t n;
    if (rank)
        return;
    while ((n = read(0, buf, sizeof(buf))) > 0) {
        for (ssize_t i = 0; i < n; i++)
            sum = (sum ^ buf[i]) * 1099511628211u;
        if (total % 5000000 + (uint64_t)n >= 5000000)
            usleep((useconds_t)ms * 1000);
        total += (uint64_t)n;
    }
    CHECK(n == 0);
    printf("%llu %016llx\n", (unsigned long long)total, (unsigned long long)sum);
    fflush(stdout);
}

static void lines(int count)
{
    for (int i = 0; i < count; i++)
        printf("rank %d line %d abcdefghijklmnopqrstuvwxyz\n", rank, i);
    fflush(stdout);
}

/* ---- ends ---- */

static void leave_at_once(int code) /* all do where MPI_Init has not been called */
{
    if (rank == 0)
        _exit(code);
}

static void leave(int who)
{
    if (rank == who)
        exit(0);
}

static void die(int who)
{
    if (rank == who)
        raise(SIGKILL);
}

static void crash(int who)
{
    if (rank == who)
        raise(SIGSEGV);
}

static void end_all(int code)
{
    if (rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, code);
}

static void wrong(int who)
{
    if (rank == who)
        MPI_Send(NULL, 0, MPI_BYTE, size + 3, TAG, MPI_COMM_WORLD);
}

/* ---- facts ---- */

static void universe(int expected)
{
    int *value = NULL, found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
    CHECK(found && *value == expected);
}

/* Which channel each rank is reached by, after a byte to each and from each. */
static void channels(int arg)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_enum words;
    int index, count = 0, given, *by = malloc((size_t)size * sizeof(int));
    for (int i = 0; i < size; i++)
        MPI_Sendrecv(out, 1, MPI_BYTE, (rank + i) % size, TAG, in, 1, MPI_BYTE, (rank + size - i) % size, TAG, world,
                     MPI_STATUS_IGNORE);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &given);
    CHECK(MPI_T_pvar_get_index("peer_channel", MPI_T_PVAR_CLASS_STATE, &index) == MPI_SUCCESS);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL, NULL, NULL);
    MPI_T_pvar_session_create(&session);
    CHECK(by && MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) == MPI_SUCCESS && count == size);
    MPI_T_pvar_read(session, handle, by);
    char line[1024];
    int used = snprintf(line, sizeof(line), "rank %d:", rank);
    for (int i = 0; i < size; i++) {
        char name[64];
        int value, len = sizeof(name);
        MPI_T_enum_get_item(words, by[i], &value, name, &len);
        used += snprintf(line + used, sizeof(line) - (size_t)used, " %s", name);
        CHECK((size_t)used < sizeof(line));
    }
    puts(line);
    fflush(stdout);
    free(by);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

/* The script that runs this has seen what it wants to see: it makes a file "seen". At most s seconds. */
static void await_seen(int s)
{
    for (int i = 0; i < s * 100 && access("seen", F_OK); i++)
        usleep(10000);
}

static const struct {
    const char *word;
    void (*act)(int arg);
} acts[] = {
    {"init", begin},        {"finalize", finalize},   {"hello", hello},        {"ring", ring},
    {"barrier", barrier},   {"allreduce", allreduce}, {"message", message},    {"p2p", p2p},
    {"colls", colls},       {"traffic", traffic},     {"block", block},        {"drink", drink},
    {"lines", lines},       {"sleep", pause_ms},      {"exit", leave_at_once}, {"leave", leave},
    {"die", die},           {"crash", crash},         {"abort", end_all},      {"wrong", wrong},
    {"universe", universe},  {"part", part},         {"seen", await_seen},     {"channels", channels},
    {"late", late},
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t len = strcspn(argv[i], "=");
        int known = 0;
        for (size_t a = 0; a < sizeof(acts) / sizeof(acts[0]); a++) {
            if (strlen(acts[a].word) != len || strncmp(acts[a].word, argv[i], len))
                continue;
            acts[a].act(argv[i][len] ? atoi(argv[i] + len + 1) : 1);
            known = 1;
        }
        CHECK(known);
    }
    return 0;
}
