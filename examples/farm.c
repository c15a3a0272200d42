/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A task farm: a manager hands numbers to workers, who factor them.
 *
 * Shows: Probe with any source and any tag, messages whose length only the sender knows, and
 * balance without a plan: a worker gets its next number when it has finished the last, so fast
 * workers do more. To make speeds uneven on one machine too, a worker does each number one, two or
 * three times, depending on its rank.
 *
 *   mpicc -O2 farm.c -o farm
 *   mpiexec -n 4 ./farm numbers.txt
 *
 * The file has a number a line; '#' begins a comment. Rank 0 manages; when
 * it is alone it does all the work.
 */

#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANAGER = 0,
    TAG_READY = 1, /* worker: I am here, without a task */
    TAG_TASK,      /* manager: index, number */
    TAG_RESULT,    /* worker: index, nanoseconds, factors */
    TAG_STOP,      /* manager: no more */
    FACTORS_MAX = 64,
    RESULT_HEAD = 2,
    SHOWN = 5,
};

struct task {
    uint64_t number;
    uint64_t factor[FACTORS_MAX];
    int factors, worker;
};

struct farm {
    struct task *task;
    int count, handed, done;
    int *tasks;      /* done, by worker */
    double *seconds; /* worked, by worker */
};

/* How often this rank does each task. */
static int slowness(int rank)
{
    return 1 + rank % 3;
}

/* The prime factors of n by trial division, in order; returns how many. */
static int factor(uint64_t n, uint64_t out[FACTORS_MAX])
{
    int count = 0;

    for (uint64_t p = 2; p <= n / p; p += p == 2 ? 1 : 2) {
        while (n % p == 0) {
            out[count++] = p;
            n /= p;
        }
    }
    if (n > 1)
        out[count++] = n;
    return count;
}

/* Do one task; returns the length of the result. */
static int work(int rank, uint64_t index, uint64_t number,
                uint64_t result[RESULT_HEAD + FACTORS_MAX])
{
    double start = MPI_Wtime();
    int count = 0;

    for (int i = 0; i < slowness(rank); i++)
        count = factor(number, result + RESULT_HEAD);
    result[0] = index;
    result[1] = (uint64_t)((MPI_Wtime() - start) * 1e9);
    return RESULT_HEAD + count;
}

static void run_worker(int rank)
{
    uint64_t task[2], result[RESULT_HEAD + FACTORS_MAX];
    MPI_Status status;

    MPI_Send(NULL, 0, MPI_UINT64_T, MANAGER, TAG_READY, MPI_COMM_WORLD);
    for (;;) {
        /* The tag says whether a task follows or the end. */
        MPI_Recv(task, 2, MPI_UINT64_T, MANAGER, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_STOP)
            return;
        int length = work(rank, task[0], task[1], result);

        MPI_Send(result, length, MPI_UINT64_T, MANAGER, TAG_RESULT, MPI_COMM_WORLD);
    }
}

static void file_result(struct farm *farm, int worker, const uint64_t *result, int length)
{
    struct task *task = &farm->task[result[0]];

    task->factors = length - RESULT_HEAD;
    memcpy(task->factor, result + RESULT_HEAD, sizeof task->factor[0] * (size_t)task->factors);
    task->worker = worker;
    farm->tasks[worker]++;
    farm->seconds[worker] += (double)result[1] / 1e9;
    farm->done++;
}

/* Give a worker the next number, or tell it that there is none. */
static void hand_out(struct farm *farm, int worker)
{
    if (farm->handed == farm->count) {
        MPI_Send(NULL, 0, MPI_UINT64_T, worker, TAG_STOP, MPI_COMM_WORLD);
        return;
    }
    uint64_t task[2] = {(uint64_t)farm->handed, farm->task[farm->handed].number};

    farm->handed++;
    MPI_Send(task, 2, MPI_UINT64_T, worker, TAG_TASK, MPI_COMM_WORLD);
}

/* Every message of a worker is answered with one. */
static void run_manager(struct farm *farm, int ranks)
{
    uint64_t result[RESULT_HEAD + FACTORS_MAX];
    int stopped = 0;

    while (stopped < ranks - 1) {
        MPI_Status status;
        int length;

        /* Look at the first message, its sender and its length, then receive just that message. */
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_UINT64_T, &length);
        MPI_Recv(result, length, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (status.MPI_TAG == TAG_RESULT)
            file_result(farm, status.MPI_SOURCE, result, length);
        if (farm->handed == farm->count)
            stopped++;
        hand_out(farm, status.MPI_SOURCE);
    }
}

static void run_alone(struct farm *farm)
{
    uint64_t result[RESULT_HEAD + FACTORS_MAX];

    for (int i = 0; i < farm->count; i++) {
        int length = work(MANAGER, (uint64_t)i, farm->task[i].number, result);

        file_result(farm, MANAGER, result, length);
    }
}

/* Append one number; the array doubles when it is full. */
static int add_task(struct farm *farm, uint64_t number)
{
    if ((farm->count & (farm->count + 1)) == 0) {
        size_t room = 2 * ((size_t)farm->count + 1);
        struct task *more = realloc(farm->task, sizeof more[0] * room);

        if (!more)
            return -1;
        farm->task = more;
    }
    farm->task[farm->count++] = (struct task){.number = number};
    return 0;
}

static int read_numbers(struct farm *farm, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256], extra;
    int rc = 0;

    if (!file) {
        fprintf(stderr, "farm: %s: %s\n", path, strerror(errno));
        return -1;
    }
    for (int at = 1; rc == 0 && fgets(line, sizeof line, file); at++) {
        uint64_t number;

        line[strcspn(line, "#\n")] = '\0';
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        if (strchr(line, '-') || sscanf(line, "%" SCNu64 " %c", &number, &extra) != 1 ||
            number == 0) {
            fprintf(stderr, "farm: %s, line %d: not a positive number: \"%s\"\n", path, at, line);
            rc = -1;
        } else {
            rc = add_task(farm, number);
        }
    }
    fclose(file);
    return rc;
}

/* Whether each number is the product of its factors. */
static int check(const struct farm *farm)
{
    for (int i = 0; i < farm->count; i++) {
        uint64_t product = 1;

        for (int f = 0; f < farm->task[i].factors; f++)
            product *= farm->task[i].factor[f];
        if (product != farm->task[i].number) {
            fprintf(stderr, "farm: %" PRIu64 " is wrong\n", farm->task[i].number);
            return -1;
        }
    }
    return 0;
}

static void print_report(const struct farm *farm, int ranks, double seconds)
{
    for (int i = 0; i < farm->count && i < SHOWN; i++) {
        const struct task *t = &farm->task[i];

        printf("%" PRIu64 " =", t->number);
        for (int f = 0; f < t->factors; f++)
            printf("%s%" PRIu64, f ? " x " : " ", t->factor[f]);
        printf("%s  (worker %d)\n", t->factors ? "" : " 1", t->worker);
    }
    printf("%s%d numbers in %.2f s, each product checked\n", farm->count > SHOWN ? "...\n" : "",
           farm->done, seconds);
    printf("worker  slowness  numbers  seconds of work\n");
    for (int r = ranks > 1 ? 1 : 0; r < ranks; r++)
        printf("%6d  %8d  %7d  %15.3f\n", r, slowness(r), farm->tasks[r], farm->seconds[r]);
}

static int manage(const char *path, int ranks)
{
    struct farm farm = {0};
    double start = MPI_Wtime();
    int status = 1;

    farm.tasks = calloc((size_t)ranks, sizeof farm.tasks[0]);
    farm.seconds = calloc((size_t)ranks, sizeof farm.seconds[0]);
    if (!farm.tasks || !farm.seconds)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int readable = path && read_numbers(&farm, path) == 0;

    /* Without a task the workers are stopped, too. */
    if (!readable)
        farm.count = 0;
    if (ranks > 1)
        run_manager(&farm, ranks);
    else
        run_alone(&farm);
    if (readable && check(&farm) == 0) {
        print_report(&farm, ranks, MPI_Wtime() - start);
        status = 0;
    }
    free(farm.task);
    free(farm.tasks);
    free(farm.seconds);
    return status;
}

int main(int argc, char **argv)
{
    int rank, ranks, status = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == MANAGER && argc < 2)
        fprintf(stderr, "usage: %s NUMBERS\n", argv[0]);
    if (rank == MANAGER)
        status = manage(argc > 1 ? argv[1] : NULL, ranks);
    else
        run_worker(rank);
    MPI_Finalize();
    return status;
}
