/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Going on without a rank that has died, or with another process in its place.
 *
 * Each rank keeps its block of the field now and then, and gives a copy to the next rank. If one dies, the
 * calls of its neighbours fail. They revoke the communicator, so that everybody gets an error, and all
 * that are left shrink it. The field is put together from the blocks that they have kept, and dealt out anew. Rank
 * 0, which has the plate, has to live.
 */

#include "heat.h"

#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT = 0, TAG_COPY = 99, KILL_AT = 60 /* sweeps */ };

/* A block without its frame, after a sweep. */
struct copy {
    int sweep;
    struct block block;
    double *t;
};

struct survive {
    char **argv;
    int replaces, joins, killed;
    int lost_left;      /* whether the rank before this one is gone */
    struct copy own[2]; /* the last two, as a rank may be one ahead of another */
    struct copy left[2];
};

int survive_begin(struct survive **survive, int argc, char **argv)
{
    MPI_Comm parent;
    int kills = argc > 1 && !strcmp(argv[1], "--kill"), replaces = argc > 1 && !strcmp(argv[1], "--replace");

    *survive = NULL;
    if (!kills && !replaces)
        return 0;
    *survive = calloc(1, sizeof **survive);
    if (!*survive)
        MPI_Abort(MPI_COMM_WORLD, 1);
    (*survive)->argv = argv;
    (*survive)->replaces = replaces;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_dup(MPI_COMM_WORLD, &heat_comm);
    } else {
        (*survive)->joins = (*survive)->killed = 1;
        MPI_Intercomm_merge(parent, 1, &heat_comm);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Comm_set_errhandler(heat_comm, MPI_ERRORS_RETURN);
    return 1;
}

void survive_end(struct survive *s)
{
    if (!s)
        return;
    for (int i = 0; i < 2; i++) {
        free(s->own[i].t);
        free(s->left[i].t);
    }
    free(s);
    MPI_Comm_free(&heat_comm);
}

int survive_replaces(const struct survive *s)
{
    return s->replaces;
}

int survive_joins(const struct survive *s)
{
    return s && s->joins;
}

/* ---- keeping ---- */

/* The older copy of the two is replaced. */
static struct copy *next_of(struct copy copies[2])
{
    return copies[0].sweep <= copies[1].sweep ? &copies[0] : &copies[1];
}

static void make_room(struct copy *copy)
{
    free(copy->t);
    copy->t = malloc(sizeof copy->t[0] * (size_t)copy->block.columns * (size_t)copy->block.rows);
    if (!copy->t)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int survive_keep(struct survive *s, int sweep, const struct block *block, const double *t)
{
    struct copy *own = next_of(s->own), *left = next_of(s->left);
    int rank, ranks, rc;

    MPI_Comm_rank(heat_comm, &rank);
    MPI_Comm_size(heat_comm, &ranks);
    if (sweep >= KILL_AT && !s->killed++ && rank == ranks - 1 && rank != ROOT)
        raise(SIGKILL);
    own->block = *block;
    make_room(own);
    for (int row = 0; row < block->rows; row++)
        memcpy(own->t + (size_t)row * (size_t)block->columns,
               t + (size_t)(row + 1) * (size_t)(block->columns + 2) + 1, sizeof t[0] * (size_t)block->columns);

    int after = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

    rc = MPI_Sendrecv(&own->block, 4, MPI_INT, after, TAG_COPY, &left->block, 4, MPI_INT, before, TAG_COPY, heat_comm,
                      MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        return -1;
    make_room(left);
    rc = MPI_Sendrecv(own->t, block->columns * block->rows, MPI_DOUBLE, after, TAG_COPY, left->t,
                      left->block.columns * left->block.rows, MPI_DOUBLE, before, TAG_COPY, heat_comm,
                      MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        return -1;
    own->sweep = left->sweep = sweep;
    return 0;
}

/* ---- going on ---- */

/* Whether the rank before this one is not among those that are left. */
static int has_lost_left(MPI_Comm left)
{
    MPI_Group was, is;
    int rank, ranks, there;

    MPI_Comm_rank(heat_comm, &rank);
    MPI_Comm_size(heat_comm, &ranks);
    int before = (rank + ranks - 1) % ranks;

    MPI_Comm_group(heat_comm, &was);
    MPI_Comm_group(left, &is);
    MPI_Group_translate_ranks(was, 1, &before, is, &there);
    MPI_Group_free(&was);
    MPI_Group_free(&is);
    return there == MPI_UNDEFINED;
}

/* Start so many processes, which call survive_begin(), behind those that are left. */
static MPI_Comm replace(const struct survive *s, MPI_Comm left, int count)
{
    MPI_Comm children, all;

    MPI_Comm_spawn(s->argv[0], s->argv + 1, count, MPI_INFO_NULL, ROOT, left, &children, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Comm_disconnect(&children);
    MPI_Comm_free(&left);
    return all;
}

void survive_shrink(struct survive *s)
{
    MPI_Comm left;
    int were, are;

    MPIX_Comm_revoke(heat_comm);
    if (MPIX_Comm_shrink(heat_comm, &left) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_size(heat_comm, &were);
    MPI_Comm_size(left, &are);
    s->lost_left = has_lost_left(left);
    MPI_Comm_free(&heat_comm);
    heat_comm = s->replaces ? replace(s, left, were - are) : left;
    MPI_Comm_set_errhandler(heat_comm, MPI_ERRORS_RETURN);
}

/* copies: two */
static void put(const struct copy *copies, int sweep, double *field, int width, int *cells)
{
    const struct copy *copy = copies[0].sweep == sweep ? &copies[0] : &copies[1];

    if (copy->sweep != sweep)
        return;
    for (int row = 0; row < copy->block.rows; row++)
        memcpy(field + (size_t)(copy->block.y + row) * (size_t)width + copy->block.x,
               copy->t + (size_t)row * (size_t)copy->block.columns, sizeof field[0] * (size_t)copy->block.columns);
    *cells += copy->block.columns * copy->block.rows;
}

int survive_restore(struct survive *s, struct plate *plate)
{
    size_t count = (size_t)plate->width * (size_t)plate->height;
    double *field = calloc(count, sizeof field[0]);
    int last = s->own[0].sweep > s->own[1].sweep ? s->own[0].sweep : s->own[1].sweep, sweep, cells = 0, all, rank;

    MPI_Comm_rank(heat_comm, &rank);
    if (!field)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (s->joins)
        last = INT_MAX; /* it has kept nothing */
    MPI_Allreduce(&last, &sweep, 1, MPI_INT, MPI_MIN, heat_comm);
    if (!s->joins)
        put(s->own, sweep, field, plate->width, &cells);
    if (!s->joins && s->lost_left)
        put(s->left, sweep, field, plate->width, &cells);
    MPI_Allreduce(&cells, &all, 1, MPI_INT, MPI_SUM, heat_comm);
    if ((size_t)all != count) {
        fprintf(stderr, "heat: a rank and the one behind it are gone, and with them a part of the field\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* Each cell comes from one rank, and nothing from the others. */
    MPI_Reduce(field, plate->start, (int)count, MPI_DOUBLE, MPI_SUM, ROOT, heat_comm);
    free(field);
    s->joins = s->lost_left = 0;
    s->own[0].sweep = s->own[1].sweep = s->left[0].sweep = s->left[1].sweep = 0;
    return sweep;
}
