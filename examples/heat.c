/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Steady heat in a plate, on a grid that is split in two dimensions.
 *
 * Shows: derived datatypes (vectors for columns, subarrays for blocks),
 * nonblocking halo exchange that overlaps with work, Allreduce to decide
 * when to stop. Rank 0 reads the plate and writes a picture of the result;
 * all ranks together write the field, from which a later run goes on.
 *
 *   mpicc -O2 heat.c heat_plate.c heat_picture.c heat_field.c heat_survive.c -o heat -lpng -lm
 *   mpiexec -n 4 ./heat [--kill | --replace] heat.txt [PICTURE.png [FIELD]]
 *
 * With --kill the last rank kills itself on the way, and the others go on; with --replace they
 * start another process in its place. heat_survive.c has that.
 *
 * A free cell ends as the mean of its four neighbours. The cells are coloured
 * like a chess board, and a sweep updates first the black, then the white
 * ones, with over-relaxation. A cell's neighbours have the other colour, so
 * the order within a colour does not matter, and the result is the same, bit
 * for bit, on any number of ranks.
 */

#include "heat.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROOT = 0,
    TAG_START = 1,
    TAG_FIXED,
    TAG_RESULT,
    TAG_HALO,
    CHECK_EVERY = 20,  /* sweeps between looks at the residual */
    REPORT_EVERY = 100,
    VIEW_COLUMNS = 72,
};

MPI_Comm heat_comm = MPI_COMM_NULL;

/* One rank's block, with a frame of one cell around it: the neighbours' cells, or those beyond the
 * plate. */
struct part {
    struct plate plate; /* rank 0 alone has its arrays */
    struct block block;
    int neighbour[HEAT_SIDES]; /* MPI_PROC_NULL at the plate's border */
    int stride;                /* columns + 2 */
    double *t;                 /* (rows + 2) * stride temperatures */
    unsigned char *fixed;      /* the same shape */
    MPI_Datatype row, column;  /* of a block, without the frame */
    double omega;              /* over-relaxation */
    struct survive *survive;   /* NULL: nobody is to die */
};

/* Choose columns and rows of ranks so that blocks have short borders. */
static void split_ranks(int ranks, int width, int height, int *across, int *down)
{
    double best = -1;

    for (int a = 1; a <= ranks; a++) {
        double border = (double)width / a + (double)height / (ranks / a);

        if (ranks % a == 0 && (best < 0 || border < best)) {
            best = border;
            *across = a;
            *down = ranks / a;
        }
    }
}

/* Where block number i begins when length cells are dealt to count blocks. */
static int begin_of(int i, int count, int length)
{
    return (int)((long)i * length / count);
}

struct block block_of(int rank, int ranks, int width, int height)
{
    int across = 1, down = 1;

    split_ranks(ranks, width, height, &across, &down);
    int i = rank % across, j = rank / across;
    struct block b = {.x = begin_of(i, across, width), .y = begin_of(j, down, height)};

    b.columns = begin_of(i + 1, across, width) - b.x;
    b.rows = begin_of(j + 1, down, height) - b.y;
    return b;
}

static void find_neighbours(struct part *p, int rank, int ranks)
{
    int across = 1, down = 1;

    split_ranks(ranks, p->plate.width, p->plate.height, &across, &down);
    int i = rank % across, j = rank / across;

    /* A message to MPI_PROC_NULL goes nowhere, and none comes from it: the exchange below needs no
     * special case at the border. */
    p->neighbour[HEAT_LEFT] = i > 0 ? rank - 1 : MPI_PROC_NULL;
    p->neighbour[HEAT_RIGHT] = i + 1 < across ? rank + 1 : MPI_PROC_NULL;
    p->neighbour[HEAT_TOP] = j > 0 ? rank - across : MPI_PROC_NULL;
    p->neighbour[HEAT_BOTTOM] = j + 1 < down ? rank + across : MPI_PROC_NULL;
}

/* A datatype for a rectangle of an array that is height rows of width. */
static MPI_Datatype rectangle(int width, int height, struct block b, MPI_Datatype element)
{
    int sizes[2] = {height, width}, parts[2] = {b.rows, b.columns}, starts[2] = {b.y, b.x};
    MPI_Datatype type;

    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, element, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The blocks of all ranks without their frames, as parts of the arrays with them. */
static MPI_Datatype inside(const struct part *p, MPI_Datatype element)
{
    struct block b = {.x = 1, .y = 1, .columns = p->block.columns, .rows = p->block.rows};

    return rectangle(p->stride, p->block.rows + 2, b, element);
}

/* Move blocks between rank 0's whole array and the parts of all ranks: out to the parts, or back.
 * Each message is one block; datatypes take it from its place and put it into its place, without a
 * buffer of ours. */
static void move_blocks(const struct part *p, void *whole, void *mine, MPI_Datatype element,
                        int tag, int back)
{
    MPI_Datatype here = inside(p, element);
    MPI_Request *requests = NULL, own;
    int rank, ranks;

    MPI_Comm_rank(heat_comm, &rank);
    MPI_Comm_size(heat_comm, &ranks);
    if (back)
        MPI_Isend(mine, 1, here, ROOT, tag, heat_comm, &own);
    else
        MPI_Irecv(mine, 1, here, ROOT, tag, heat_comm, &own);
    if (rank == ROOT) {
        requests = malloc(sizeof requests[0] * (size_t)ranks);
        if (!requests)
            MPI_Abort(heat_comm, 1);
        for (int r = 0; r < ranks; r++) {
            int width = p->plate.width, height = p->plate.height;
            struct block b = block_of(r, ranks, width, height);
            MPI_Datatype there = rectangle(width, height, b, element);

            if (back)
                MPI_Irecv(whole, 1, there, r, tag, heat_comm, &requests[r]);
            else
                MPI_Isend(whole, 1, there, r, tag, heat_comm, &requests[r]);
            /* Freed when the transfer is complete. */
            MPI_Type_free(&there);
        }
        MPI_Waitall(ranks, requests, MPI_STATUSES_IGNORE);
        free(requests);
    }
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    MPI_Type_free(&here);
}

/* Rank 0 has read the plate; all ranks get the numbers. */
static void share_plate(struct plate *plate)
{
    MPI_Bcast(&plate->width, 1, MPI_INT, ROOT, heat_comm);
    MPI_Bcast(&plate->height, 1, MPI_INT, ROOT, heat_comm);
    MPI_Bcast(&plate->sweeps, 1, MPI_INT, ROOT, heat_comm);
    MPI_Bcast(&plate->tolerance, 1, MPI_DOUBLE, ROOT, heat_comm);
    MPI_Bcast(plate->border, HEAT_SIDES, MPI_DOUBLE, ROOT, heat_comm);
    MPI_Bcast(plate->insulated, HEAT_SIDES, MPI_INT, ROOT, heat_comm);
}

/* Rank 0 reads; all ranks learn whether it succeeded, and get the numbers. */
static int read_plate(struct plate *plate, const char *path, int rank)
{
    int ok = rank != ROOT || plate_read(plate, path) == 0;

    MPI_Bcast(&ok, 1, MPI_INT, ROOT, heat_comm);
    if (!ok)
        return -1;
    share_plate(plate);
    return 0;
}

static double *cell(const struct part *p, int row, int column)
{
    return p->t + (size_t)row * (size_t)p->stride + (size_t)column;
}

/* The frame beyond the plate: the border's temperature or, at an insulated border, the temperature
 * of the cell inside, so that no heat flows. */
static void set_border(const struct part *p, int side)
{
    int vertical = side == HEAT_LEFT || side == HEAT_RIGHT;
    int count = vertical ? p->block.rows : p->block.columns;

    for (int i = 1; i <= count; i++) {
        double *frame, *next;

        if (vertical) {
            frame = cell(p, i, side == HEAT_LEFT ? 0 : p->block.columns + 1);
            next = cell(p, i, side == HEAT_LEFT ? 1 : p->block.columns);
        } else {
            frame = cell(p, side == HEAT_TOP ? 0 : p->block.rows + 1, i);
            next = cell(p, side == HEAT_TOP ? 1 : p->block.rows, i);
        }
        *frame = p->plate.insulated[side] ? *next : p->plate.border[side];
    }
}

static void create_part(struct part *p, int rank, int ranks)
{
    p->block = block_of(rank, ranks, p->plate.width, p->plate.height);
    find_neighbours(p, rank, ranks);
    p->stride = p->block.columns + 2;
    size_t cells = (size_t)(p->block.rows + 2) * (size_t)p->stride;

    p->t = calloc(cells, sizeof p->t[0]);
    p->fixed = calloc(cells, sizeof p->fixed[0]);
    if (!p->t || !p->fixed)
        MPI_Abort(heat_comm, 1);
    /* A column is one element of each row: a vector with the row's stride. */
    MPI_Type_contiguous(p->block.columns, MPI_DOUBLE, &p->row);
    MPI_Type_vector(p->block.rows, 1, p->stride, MPI_DOUBLE, &p->column);
    MPI_Type_commit(&p->row);
    MPI_Type_commit(&p->column);
    /* The best over-relaxation for a rectangle, from its slowest mode. */
    double mode = (cos(M_PI / p->plate.width) + cos(M_PI / p->plate.height)) / 2;

    p->omega = 2 / (1 + sqrt(1 - mode * mode));
    move_blocks(p, p->plate.start, p->t, MPI_DOUBLE, TAG_START, 0);
    move_blocks(p, p->plate.fixed, p->fixed, MPI_UNSIGNED_CHAR, TAG_FIXED, 0);
}

/* This rank's block for a file of the whole field. */
static struct field field_of(const struct part *p)
{
    return (struct field){p->plate.width, p->plate.height,   p->block.x, p->block.y,
                          p->block.columns, p->block.rows, p->t};
}

static void destroy_part(struct part *p)
{
    MPI_Type_free(&p->row);
    MPI_Type_free(&p->column);
    free(p->t);
    free(p->fixed);
}

/* Start to exchange the block's rim with the neighbours' frames. A message's
 * tag says which side of the sender it comes from. */
static void start_exchange(const struct part *p, MPI_Request requests[2 * HEAT_SIDES])
{
    int rows = p->block.rows, columns = p->block.columns;
    const struct {
        int opposite;
        double *frame, *rim;
        MPI_Datatype type;
    } sides[HEAT_SIDES] = {
        [HEAT_TOP] = {HEAT_BOTTOM, cell(p, 0, 1), cell(p, 1, 1), p->row},
        [HEAT_BOTTOM] = {HEAT_TOP, cell(p, rows + 1, 1), cell(p, rows, 1), p->row},
        [HEAT_LEFT] = {HEAT_RIGHT, cell(p, 1, 0), cell(p, 1, 1), p->column},
        [HEAT_RIGHT] = {HEAT_LEFT, cell(p, 1, columns + 1), cell(p, 1, columns), p->column},
    };

    for (int s = 0; s < HEAT_SIDES; s++)
        MPI_Irecv(sides[s].frame, 1, sides[s].type, p->neighbour[s],
                  TAG_HALO + sides[s].opposite, heat_comm, &requests[2 * s]);
    for (int s = 0; s < HEAT_SIDES; s++)
        MPI_Isend(sides[s].rim, 1, sides[s].type, p->neighbour[s], TAG_HALO + s, heat_comm,
                  &requests[2 * s + 1]);
}

/* Update the cells of one colour in a rectangle; return the largest change. */
static double relax(const struct part *p, struct block b, int colour)
{
    double largest = 0;

    for (int r = b.y; r < b.y + b.rows; r++) {
        /* Colours follow the plate's coordinates, not the block's. */
        int first = b.x + ((b.x + p->block.x + r + p->block.y + colour) & 1);

        for (int c = first; c < b.x + b.columns; c += 2) {
            double *t = cell(p, r, c);

            if (p->fixed[t - p->t])
                continue;
            double change = (t[-1] + t[1] + t[-p->stride] + t[p->stride]) / 4 - *t;

            *t += p->omega * change;
            largest = fmax(largest, fabs(change));
        }
    }
    return largest;
}

/* One colour: the cells that need no neighbour while the exchange runs, then the rim. Returns the largest
 * change, or -1 where a neighbour is gone. */
static double half_sweep(const struct part *p, int colour)
{
    int rows = p->block.rows, columns = p->block.columns;
    const struct block rim[] = {
        {1, 1, columns, 1},
        {1, rows, columns, rows > 1},
        {1, 2, 1, rows - 2},
        {columns, 2, columns > 1, rows - 2},
    };
    MPI_Request requests[2 * HEAT_SIDES];
    double largest;

    start_exchange(p, requests);
    largest = relax(p, (struct block){2, 2, columns - 2, rows - 2}, colour);
    if (MPI_Waitall(2 * HEAT_SIDES, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        return -1;
    for (int s = 0; s < HEAT_SIDES; s++)
        if (p->neighbour[s] == MPI_PROC_NULL)
            set_border(p, s);
    for (size_t i = 0; i < sizeof rim / sizeof rim[0]; i++)
        largest = fmax(largest, relax(p, rim[i], colour));
    return largest;
}

/* Sweep until nothing changes any more, from the sweep behind done on. Returns the number of sweeps, -1
 * when the limit came first, or HEAT_LOST when a rank is gone. */
static int solve(const struct part *p, int rank, int done)
{
    for (int sweep = done + 1; sweep <= p->plate.sweeps; sweep++) {
        double black = half_sweep(p, 0), white = half_sweep(p, 1);

        if (black < 0 || white < 0)
            return HEAT_LOST;
        if (sweep % CHECK_EVERY != 0)
            continue;
        double mine = fmax(black, white), all;

        if (MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, heat_comm) != MPI_SUCCESS)
            return HEAT_LOST;
        int settled = all < p->plate.tolerance;

        if (rank == ROOT && (settled || sweep % REPORT_EVERY == 0))
            printf("sweep %5d: largest change %.6f degrees\n", sweep, all);
        if (settled)
            return sweep;
        if (p->survive && survive_keep(p->survive, sweep, &p->block, p->t) != 0)
            return HEAT_LOST;
    }
    return -1;
}

/* Gather the field and look at it. */
static int show(struct part *p, int rank, const char *picture)
{
    int width = p->plate.width, height = p->plate.height, ok = 1;

    /* Rank 0's start is not needed any more: the result takes its place. */
    move_blocks(p, p->plate.start, p->t, MPI_DOUBLE, TAG_RESULT, 1);
    if (rank == ROOT) {
        picture_print(p->plate.start, width, height, VIEW_COLUMNS);
        ok = !picture || picture_write(picture, p->plate.start, width, height) == 0;
        if (ok && picture)
            printf("picture: %s\n", picture);
    }
    MPI_Bcast(&ok, 1, MPI_INT, ROOT, heat_comm);
    return ok ? 0 : -1;
}

/* A rank is gone: go on with the others, from the last sweep that all have kept. Returns its number. */
static int go_on(struct part *p)
{
    int rank, ranks, sweep;

    destroy_part(p);
    survive_shrink(p->survive);
    if (survive_replaces(p->survive))
        share_plate(&p->plate);
    sweep = survive_restore(p->survive, &p->plate);
    MPI_Comm_rank(heat_comm, &rank);
    MPI_Comm_size(heat_comm, &ranks);
    create_part(p, rank, ranks);
    if (rank == ROOT)
        printf("a rank is gone: %d ranks go on from sweep %d\n", ranks, sweep);
    return sweep;
}

/* Whether every rank gets at least one cell in each direction. */
static int fits(const struct plate *plate, int ranks)
{
    int across = 1, down = 1;

    split_ranks(ranks, plate->width, plate->height, &across, &down);
    return across <= plate->width && down <= plate->height;
}

/* Solve, show, and save. done: so many sweeps are done. */
static int finish(struct part *p, int done, const char *picture, const char *path)
{
    double start = MPI_Wtime();
    struct field field = field_of(p);
    int rank, sweeps;

    MPI_Comm_rank(heat_comm, &rank);
    int loaded = path && !p->survive ? field_load(path, &field, rank) : 0;

    if (rank == ROOT && loaded > 0)
        printf("going on from %s\n", path);
    sweeps = loaded < 0 ? -1 : solve(p, rank, done);
    while (sweeps == HEAT_LOST)
        sweeps = solve(p, rank, go_on(p));
    if (rank == ROOT && sweeps > 0)
        printf("settled after %d sweeps, %.2f s\n", sweeps, MPI_Wtime() - start);
    if (rank == ROOT && sweeps < 0 && loaded >= 0)
        fprintf(stderr, "heat: not settled after %d sweeps\n", p->plate.sweeps);
    int failed = show(p, rank, picture) != 0 || sweeps < 0;

    field = field_of(p);
    if (path && loaded >= 0 && field_save(path, &field, rank))
        failed = 1;
    destroy_part(p);
    plate_free(&p->plate);
    return failed;
}

static int run(struct part *p, const char *picture, const char *path)
{
    int rank, ranks;

    MPI_Comm_rank(heat_comm, &rank);
    MPI_Comm_size(heat_comm, &ranks);
    if (!fits(&p->plate, ranks)) {
        if (rank == ROOT)
            fprintf(stderr, "heat: the plate is too small for %d ranks\n", ranks);
        plate_free(&p->plate);
        return 1;
    }
    create_part(p, rank, ranks);
    if (rank == ROOT)
        printf("plate of %d x %d cells, %d ranks, blocks of about %d x %d\n", p->plate.width,
               p->plate.height, ranks, p->block.columns, p->block.rows);
    return finish(p, 0, picture, path);
}

/* This process was started in the place of one that has died. */
static int join(struct part *p, const char *picture, const char *path)
{
    int rank, ranks;

    share_plate(&p->plate);
    int sweep = survive_restore(p->survive, &p->plate);

    MPI_Comm_rank(heat_comm, &rank);
    MPI_Comm_size(heat_comm, &ranks);
    create_part(p, rank, ranks);
    return finish(p, sweep, picture, path);
}

int main(int argc, char **argv)
{
    struct part part = {0};
    int rank, status = 1;

    MPI_Init(&argc, &argv);
    heat_comm = MPI_COMM_WORLD;
    int words = survive_begin(&part.survive, argc, argv); /* of the options */
    char **names = argv + words;

    MPI_Comm_rank(heat_comm, &rank);
    if (argc - words < 2) {
        if (rank == ROOT)
            fprintf(stderr, "usage: %s [--kill | --replace] PLATE [PICTURE.png [FIELD]]\n", argv[0]);
        status = 2;
    } else if (survive_joins(part.survive)) {
        status = join(&part, argc - words > 2 ? names[2] : NULL, argc - words > 3 ? names[3] : NULL);
    } else if (read_plate(&part.plate, names[1], rank) == 0) {
        status = run(&part, argc - words > 2 ? names[2] : NULL, argc - words > 3 ? names[3] : NULL);
    }
    survive_end(part.survive);
    MPI_Finalize();
    return status;
}
