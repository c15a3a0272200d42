/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Declarations that the files of the heat example share: a plate, as read from its file, and the
 * ways to look at a field of temperatures. Fields are arrays of height rows of width cells, the top
 * row first.
 */

#ifndef HEAT_H
#define HEAT_H

#include <mpi.h>

/* All messages go through this: MPI_COMM_WORLD, or that of the ranks that are left. */
extern MPI_Comm heat_comm;

enum { HEAT_LOST = -2 }; /* instead of a result: a rank is gone */

/* A rectangle of the plate's cells. */
struct block {
    int x, y, columns, rows;
};

/* Those of a rank among so many. */
struct block block_of(int rank, int ranks, int width, int height);

enum heat_side { HEAT_TOP, HEAT_BOTTOM, HEAT_LEFT, HEAT_RIGHT, HEAT_SIDES };

struct plate {
    int width, height;           /* cells */
    int sweeps;                  /* at most */
    double tolerance;            /* degrees: done when no cell changes more */
    double border[HEAT_SIDES];   /* temperature beyond each side */
    int insulated[HEAT_SIDES];   /* or nothing passes there */
    double *start;               /* height * width temperatures */
    unsigned char *fixed;        /* height * width: 1 keeps its temperature */
};

/* Read a plate's file; heat_plate.c has its format. Returns 0, or -1 after a message on stderr with
 * the place of the mistake. */
int plate_read(struct plate *plate, const char *path);
void plate_free(struct plate *plate);

/* Write the field as a PNG picture, warm colours being light, with isotherms.
 * Returns 0, or -1 after a message on stderr. */
int picture_write(const char *path, const double *field, int width, int height);

/* Print the field with characters, at most columns wide. */
void picture_print(const double *field, int width, int height, int columns);

/* A rank's block of the field, inside a frame of one cell. */
struct field {
    int width, height; /* of the plate */
    int x, y, columns, rows;
    double *t; /* (rows + 2) * (columns + 2) temperatures */
};

/* Write the field, a block from each rank, into a file; and read it back, into the blocks of any
 * number of ranks. Collective. Return -1 on an error that was printed; field_load() returns 1, or 0
 * if there is no such file. */
int field_save(const char *path, const struct field *f, int rank);
int field_load(const char *path, const struct field *f, int rank);

/* A run in which the last rank kills itself, and the others go on. NULL stands for a run like any other. */
struct survive;

/* Read the options. Returns how many words they are. */
int survive_begin(struct survive **survive, int argc, char **argv);
void survive_end(struct survive *s);
/* Whether the dead are replaced by new processes, and whether this is one of them. */
int survive_replaces(const struct survive *s);
int survive_joins(const struct survive *s);
/* Keep a block, after a sweep: here, and at the next rank. Returns 0, or -1 where a rank is gone. */
int survive_keep(struct survive *s, int sweep, const struct block *block, const double *t);
/* Have heat_comm be that of the ranks that are left, and of those that replace others. */
void survive_shrink(struct survive *s);
/* Put the last field that all have kept into rank 0's plate. Returns its sweep. */
int survive_restore(struct survive *s, struct plate *plate);

#endif
