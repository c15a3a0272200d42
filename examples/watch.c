/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Look into a running simulation from another job, as often as you like.
 *
 *     mpicc -o watch watch.c -lm
 *     mpiexec -n 4 ./watch simulate 20 &
 *     ./watch view
 *     mpiexec -n 1 ./watch view
 *
 * The simulation is a wave on a ring, in parts on its ranks. Rank 0 opens a port, publishes its name, and has a thread
 * that accepts viewers, while the simulation goes on. Between two steps the ranks give a viewer the field as it is
 * then. A viewer may come and go at any time, and may be killed: its error is returned to rank 0, and the simulation goes on.
 */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 960, SHOWN = 64, HEIGHT = 8, STEPS_A_SECOND = 200, TAG_FIELD = 1 };

static const char name[] = "watch-example";

static void must(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "watch: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- the simulation ---- */

static struct {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm viewer; /* that waits for a picture; MPI_COMM_NULL: none */
    pthread_mutex_t lock;
    pthread_cond_t free;
    int is_over;
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER, .free = PTHREAD_COND_INITIALIZER};

/* Accept one viewer after the other, until the port is closed. */
static void *receive(void *unused)
{
    MPI_Comm viewer;
    while (MPI_Comm_accept(desk.port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &viewer) == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(viewer, MPI_ERRORS_RETURN);
        pthread_mutex_lock(&desk.lock);
        desk.viewer = viewer;
        while (desk.viewer != MPI_COMM_NULL && !desk.is_over)
            pthread_cond_wait(&desk.free, &desk.lock);
        pthread_mutex_unlock(&desk.lock);
    }
    return unused;
}

static int has_viewer(void)
{
    pthread_mutex_lock(&desk.lock);
    int has = desk.viewer != MPI_COMM_NULL;
    pthread_mutex_unlock(&desk.lock);
    return has;
}

/* The viewer gets the field and leaves; or it has gone already. */
static void show(const double *field)
{
    if (MPI_Send(field, CELLS, MPI_DOUBLE, 0, TAG_FIELD, desk.viewer) == MPI_SUCCESS)
        printf("simulation: a viewer has the picture\n");
    else
        printf("simulation: a viewer has gone without one\n");
    fflush(stdout);
    MPI_Comm_free(&desk.viewer);
    pthread_mutex_lock(&desk.lock);
    desk.viewer = MPI_COMM_NULL;
    pthread_cond_signal(&desk.free);
    pthread_mutex_unlock(&desk.lock);
}

static void fill(double *part, int count, int first, double time)
{
    for (int i = 0; i < count; i++) {
        double at = 2 * M_PI * (first + i) / CELLS;
        part[i] = sin(2 * at - time) + 0.5 * sin(5 * at + 2 * time);
    }
}

static int simulate(double seconds)
{
    int rank, size;
    pthread_t receiver;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (CELLS % size) {
        fprintf(stderr, "watch: the number of ranks must divide %d\n", CELLS);
        return 1;
    }
    int count = CELLS / size;
    double *part = malloc((size_t)count * sizeof(*part)), *field = malloc(CELLS * sizeof(*field));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    desk.viewer = MPI_COMM_NULL;
    if (!rank) {
        must(MPI_Open_port(MPI_INFO_NULL, desk.port), "MPI_Open_port");
        must(MPI_Publish_name(name, MPI_INFO_NULL, desk.port), "MPI_Publish_name");
        pthread_create(&receiver, NULL, receive, NULL);
    }
    for (int step = 0; step < seconds * STEPS_A_SECOND; step++) {
        fill(part, count, rank * count, step / 50.0);
        usleep(1000000 / STEPS_A_SECOND); /* which stands for work */
        int wanted = !rank && has_viewer();
        MPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!wanted)
            continue;
        MPI_Gather(part, count, MPI_DOUBLE, field, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (!rank)
            show(field);
    }
    if (!rank) {
        pthread_mutex_lock(&desk.lock);
        desk.is_over = 1;
        pthread_cond_signal(&desk.free);
        pthread_mutex_unlock(&desk.lock);
        must(MPI_Unpublish_name(name, MPI_INFO_NULL, desk.port), "MPI_Unpublish_name");
        must(MPI_Close_port(desk.port), "MPI_Close_port");
        pthread_join(receiver, NULL);
        printf("simulation: done\n");
    }
    free(part);
    free(field);
    return 0;
}

/* ---- the viewer ---- */

static void draw(const double *field)
{
    for (int row = 0; row < HEIGHT; row++) {
        char line[SHOWN + 1] = "";
        for (int i = 0; i < SHOWN; i++) {
            int level = (int)((field[i * CELLS / SHOWN] + 1.6) / 3.2 * HEIGHT);
            line[i] = level == HEIGHT - 1 - row ? '*' : ' ';
        }
        printf("|%s|\n", line);
    }
}

static int view(void)
{
    char port[MPI_MAX_PORT_NAME];
    static double field[CELLS];
    MPI_Comm simulation;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int tries = 0; MPI_Lookup_name(name, MPI_INFO_NULL, port); tries++) {
        if (tries == 50) {
            fprintf(stderr, "watch: no simulation is running here\n");
            return 1;
        }
        usleep(100000);
    }
    must(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &simulation), "MPI_Comm_connect");
    if (getenv("WATCH_DIES"))
        _exit(1); /* to try what becomes of the simulation */
    MPI_Recv(field, CELLS, MPI_DOUBLE, 0, TAG_FIELD, simulation, MPI_STATUS_IGNORE);
    MPI_Comm_free(&simulation);
    draw(field);
    return 0;
}

int main(int argc, char **argv)
{
    int given, rc;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    if (argc > 2 && !strcmp(argv[1], "simulate"))
        rc = simulate(atof(argv[2]));
    else if (argc > 1 && !strcmp(argv[1], "view"))
        rc = view();
    else {
        fprintf(stderr, "usage: watch simulate SECONDS | watch view\n");
        rc = 2;
    }
    MPI_Finalize();
    return rc;
}
