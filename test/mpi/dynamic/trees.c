/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A random tree of jobs: each spawns others, talks with them, splits and merges, parts or stays connected, and ends or is
 * killed. trees.py starts the first one.
 *
 * usage: trees SEED [LEVELS PATH]
 *
 * SEED decides all; PATH names a job of the tree, and both ends of an edge draw the same numbers from it. A job that is
 * killed is connected with none.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHILDREN = 3 };

static int rank, size;
static const char *seed;

struct dice {
    unsigned long long state;
};

static struct dice dice_of(const char *path, const char *what)
{
    unsigned long long hash = 1469598103934665603ull;
    const char *const texts[] = {seed, path, what};
    for (int t = 0; t < 3; t++)
        for (const char *c = texts[t]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
    return (struct dice){hash | 1};
}

static int draw(struct dice *d, int below)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (int)(d->state * 2685821657736338717ull >> 33) % below;
}

static void claim(int holds, const char *what)
{
    if (holds)
        return;
    printf("seed %s, rank %d of %d: not so: %s\n", seed, rank, size, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Messages of a random length around all members of an intracommunicator. */
static void turn_around(MPI_Comm all, struct dice *d)
{
    int me, total, sum = -1, one = 1, len = 1 << draw(d, 19);
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &total);
    char *out = malloc((size_t)len), *in = malloc((size_t)len);
    memset(out, me & 127, (size_t)len);
    int from = (me + total - 1) % total;
    MPI_Request requests[2];
    MPI_Irecv(in, len, MPI_CHAR, from, 4, all, &requests[0]);
    MPI_Isend(out, len, MPI_CHAR, (me + 1) % total, 4, all, &requests[1]);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    claim(sum == total && in[0] == (from & 127) && in[len - 1] == in[0], "a message around");
    free(out);
    free(in);
}

static void leave(MPI_Comm *comm, int how)
{
    if (how)
        MPI_Comm_disconnect(comm);
    else
        MPI_Comm_free(comm);
}

/* Both ends of an edge do the same. is_parent: this end has spawned the other. */
static void converse(MPI_Comm inter, struct dice *d, int is_parent)
{
    for (int steps = draw(d, 4); steps > 0; steps--) {
        MPI_Comm all, part;
        int word = rank, got = -1, theirs, mine;
        switch (draw(d, 4)) {
        case 0:
            MPI_Comm_remote_size(inter, &theirs);
            MPI_Comm_rank(inter, &mine);
            if (mine < theirs)
                MPI_Sendrecv(&word, 1, MPI_INT, mine, 3, &got, 1, MPI_INT, mine, 3, inter, MPI_STATUS_IGNORE);
            claim(mine >= theirs || got == mine, "the peer's rank");
            break;
        case 1:
            MPI_Intercomm_merge(inter, is_parent, &all);
            turn_around(all, d);
            leave(&all, draw(d, 2));
            break;
        case 2: {
            int way = draw(d, 2);
            MPI_Intercomm_merge(inter, !is_parent, &all);
            MPI_Comm_rank(all, &mine);
            MPI_Comm_split(all, mine % 2, -mine, &part);
            turn_around(part, d);
            leave(&all, way);
            turn_around(part, d);
            leave(&part, draw(d, 2));
            break;
        }
        default:
            MPI_Comm_dup(inter, &part);
            MPI_Barrier(part);
            leave(&part, draw(d, 2));
            break;
        }
    }
}

enum { PART_NOT, PART_FREE, PART_DISCONNECT, PARTINGS };

static void part(MPI_Comm *inter, int how)
{
    if (how != PART_NOT)
        leave(inter, how == PART_DISCONNECT);
}

/* Spawn a job, and do this end's part of what follows. */
static void spawn(char *program, const char *path, int levels, int number)
{
    char below[64], level[16];
    snprintf(below, sizeof(below), "%s%c", path, 'a' + number);
    snprintf(level, sizeof(level), "%d", levels - 1);
    struct dice d = dice_of(below, "edge");
    char *words[] = {(char *)(unsigned long)seed, level, below, NULL};
    int count = 1 + draw(&d, 3), root = draw(&d, size), how = draw(&d, PARTINGS);
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    converse(inter, &d, 1);
    part(&inter, how);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int how = PART_DISCONNECT;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = argv[1];
    int levels = argc > 2 ? atoi(argv[2]) : 2;
    const char *path = argc > 3 ? argv[3] : "";
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        struct dice d = dice_of(path, "edge");
        int count = 1 + draw(&d, 3);
        (void)draw(&d, 1); /* the root: the other end knows how many it draws from */
        how = draw(&d, PARTINGS);
        claim(count == size, "as many as were wanted");
        converse(parent, &d, 0);
        part(&parent, how);
    }
    struct dice d = dice_of(path, "job");
    int children = levels ? draw(&d, CHILDREN + 1) : 0;
    for (int i = 0; i < children; i++)
        spawn(argv[0], path, levels, i);
    turn_around(MPI_COMM_WORLD, &d);
    if (*path && !children && how == PART_DISCONNECT && !draw(&d, 4) && rank == draw(&d, size))
        kill(getpid(), SIGKILL);
    MPI_Finalize();
    return 0;
}
