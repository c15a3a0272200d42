/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a query of the library costs, in nanoseconds of the whole process per query: threads that
 * each ask for what is their own, and (all) for what they share.
 *
 *     queries [THREADS [MILLISECONDS]]       THREADS 0: one, which has promised to be alone
 *
 * Not a test: `ninja bench_queries`, then run it by hand, on one rank, and by turns with what it is
 * to be compared with. Where threads do not wait for each other, two of them on two processors
 * halve the time that one needs.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    THREADS_MAX = 64,
    BATCH = 64
};

/* What one thread has. */
struct own {
    pthread_t id;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Session session;
    int code, number;
    uint64_t count;
};

static int none; /* a keyval of which there are no attributes */

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* ---- queries ---- */

static void comm_name(struct own *own, char *text)
{
    int len;
    MPI_Comm_get_name(own->comm, text, &len);
}

static void world_name(struct own *own, char *text)
{
    int len;
    (void)own;
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &len);
}

static void type_name(struct own *own, char *text)
{
    int len;
    (void)own;
    MPI_Type_get_name(MPI_DOUBLE, text, &len);
}

static void comm_handler(struct own *own, char *text)
{
    MPI_Errhandler handler;
    (void)text;
    MPI_Comm_get_errhandler(own->comm, &handler);
    MPI_Errhandler_free(&handler);
}

static void session_handler(struct own *own, char *text)
{
    MPI_Errhandler handler;
    (void)text;
    MPI_Session_get_errhandler(own->session, &handler);
}

static void no_attribute(struct own *own, char *text)
{
    void *value;
    int flag;
    (void)text;
    MPI_Comm_get_attr(own->comm, none, &value, &flag);
}

static void info_string(struct own *own, char *text)
{
    int len = MPI_MAX_INFO_VAL, flag;
    MPI_Info_get_string(own->info, "key", &len, text, &flag);
}

static void info_env(struct own *own, char *text)
{
    int len = MPI_MAX_INFO_VAL, flag;
    (void)own;
    MPI_Info_get_string(MPI_INFO_ENV, "command", &len, text, &flag);
}

static void info_dup(struct own *own, char *text)
{
    MPI_Info copy;
    (void)text;
    MPI_Info_dup(own->info, &copy);
    MPI_Info_free(&copy);
}

static void to_int(struct own *own, char *text)
{
    (void)text;
    own->number = MPI_Comm_toint(own->comm);
}

static void from_int(struct own *own, char *text)
{
    (void)text;
    own->comm = MPI_Comm_fromint(own->number);
}

static void code_class(struct own *own, char *text)
{
    int error_class;
    (void)text;
    MPI_Error_class(own->code, &error_class);
}

static void code_string(struct own *own, char *text)
{
    int len;
    MPI_Error_string(own->code, text, &len);
}

static void fixed_string(struct own *own, char *text)
{
    int len;
    (void)own;
    MPI_Error_string(MPI_ERR_TAG, text, &len);
}

static void f90_type(struct own *own, char *text)
{
    MPI_Datatype type;
    (void)own;
    (void)text;
    MPI_Type_create_f90_integer(9, &type);
}

static const struct query {
    const char *name;
    void (*ask)(struct own *own, char *text);
} queries[] = {
    {"Comm_get_name", comm_name},
    {"Comm_get_name (all)", world_name},
    {"Type_get_name (all)", type_name},
    {"Comm_get_errhandler", comm_handler},
    {"Session_get_errhandler", session_handler},
    {"Comm_get_attr, none", no_attribute},
    {"Info_get_string", info_string},
    {"Info_get_string (all)", info_env},
    {"Info_dup", info_dup},
    {"Comm_toint", to_int},
    {"Comm_fromint", from_int},
    {"Error_class", code_class},
    {"Error_string", code_string},
    {"Error_string (all)", fixed_string},
    {"Type_create_f90 (all)", f90_type},
};

enum {
    QUERIES = sizeof(queries) / sizeof(queries[0])
};

/* ---- measuring ---- */

static const struct query *query; /* that all threads ask; NULL: no more */
static pthread_barrier_t barrier;
static _Atomic int stop;

static void *work(void *arg)
{
    char text[MPI_MAX_INFO_VAL];
    struct own *own = arg;
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (!query)
            return NULL;
        own->count = 0;
        while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
            for (int i = 0; i < BATCH; i++)
                query->ask(own, text);
            own->count += BATCH;
        }
        pthread_barrier_wait(&barrier);
    }
}

static void print(double seconds, uint64_t count)
{
    printf("%-24s %8.1f\n", query->name, seconds * 1e9 / (double)count);
}

static void measure(const struct own *own, int threads, int ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    uint64_t count = 0;
    stop = 0;
    pthread_barrier_wait(&barrier);
    double begin = MPI_Wtime();
    nanosleep(&pause, NULL);
    stop = 1;
    pthread_barrier_wait(&barrier);
    double seconds = MPI_Wtime() - begin;
    for (int i = 0; i < threads; i++)
        count += own[i].count;
    print(seconds, count);
}

/* In a process without locks. */
static void measure_alone(struct own *own, int ms)
{
    char text[MPI_MAX_INFO_VAL];
    uint64_t count = 0;
    double begin = MPI_Wtime(), now;
    do {
        for (int i = 0; i < BATCH; i++)
            query->ask(own, text);
        count += BATCH;
        now = MPI_Wtime();
    } while (now < begin + ms * 1e-3);
    print(now - begin, count);
}

static void make(struct own *own, int alone)
{
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_SELF, &own->comm);
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_set_errhandler(own->comm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_name(own->comm, "a communicator of mine");
    MPI_Info_create(&own->info);
    MPI_Info_set(own->info, "key", "a value of some length");
    own->session = MPI_SESSION_NULL;
    if (!alone) /* a session switches locks on */
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own->session);
    MPI_Add_error_class(&own->code);
    MPI_Add_error_string(own->code, "an error of mine");
    own->number = MPI_Comm_toint(own->comm);
}

static void drop(struct own *own)
{
    MPI_Comm_free(&own->comm);
    MPI_Info_free(&own->info);
    if (own->session != MPI_SESSION_NULL)
        MPI_Session_finalize(&own->session);
    MPI_Remove_error_class(own->code);
}

static void run_alone(struct own *own, int ms)
{
    make(own, 1);
    for (size_t i = 0; i < QUERIES; i++) {
        query = &queries[i];
        if (query->ask != session_handler)
            measure_alone(own, ms);
    }
    drop(own);
}

static void run_threads(struct own *own, int threads, int ms)
{
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        make(&own[i], 0);
        pthread_create(&own[i].id, NULL, work, &own[i]);
    }
    for (size_t i = 0; i < QUERIES; i++) {
        query = &queries[i];
        measure(own, threads, ms);
    }
    query = NULL;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < threads; i++) {
        pthread_join(own[i].id, NULL);
        drop(&own[i]);
    }
}

int main(int argc, char **argv)
{
    static struct own own[THREADS_MAX];
    int level, threads = argc > 1 ? atoi(argv[1]) : 8, ms = argc > 2 ? atoi(argv[2]) : 50;
    if (threads < 0 || threads > THREADS_MAX || ms < 1) {
        fprintf(stderr, "usage: queries [THREADS [MILLISECONDS]]\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL);
    if (threads)
        run_threads(own, threads, ms);
    else
        run_alone(own, ms);
    MPI_Comm_free_keyval(&none);
    MPI_Finalize();
    return 0;
}
