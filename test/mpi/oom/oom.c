/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls whose allocations fail, one in each run: usage: oom SCENARIO NUMBER. The call may fail with an
 * error class; the same again, with memory, must not. Status 77: there are not so many allocations.
 * oom_arm() and oom_disarm() are those of the library that is preloaded, fail.c.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma weak oom_arm
#pragma weak oom_disarm
void oom_arm(long number);
long oom_disarm(void);

enum { LONG = 1 << 20, BARRIERS = 12, RANKS = 32 };

static int rank, size;
static char *out, *in;

/* Each rank, from and to the next one: those after the first rank have memory, and wait. */
static int exchange(int count)
{
    MPI_Request request;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (size > 1) /* a send alone, which may be made again */
        return rank ? MPI_SUCCESS : MPI_Send(out, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    int rc = MPI_Irecv(in, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
    if (rc)
        return rc;
    rc = MPI_Send(out, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    if (rc) {
        MPI_Cancel(&request);
        (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
        return rc;
    }
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int contact(void)
{
    return exchange(1);
}

static int contact_long(void)
{
    return exchange(LONG);
}

static int collectives(void)
{
    int value = 1, sum = 0, rc = MPI_SUCCESS;
    for (int i = 0; !rc && i < 12; i++)
        rc = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rc)
        rc = MPI_Allgather(out, 1000, MPI_BYTE, in, 1000, MPI_BYTE, MPI_COMM_WORLD);
    return rc ? rc : MPI_Barrier(MPI_COMM_WORLD);
}

static int nonblocking(void)
{
    MPI_Request request;
    int value = 1, sum = 0;
    int rc = MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int communicators(void)
{
    MPI_Comm dup = MPI_COMM_NULL, half = MPI_COMM_NULL;
    int rc = MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    if (!rc)
        rc = MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &half);
    if (dup != MPI_COMM_NULL)
        (void)MPI_Comm_free(&dup);
    if (half != MPI_COMM_NULL)
        (void)MPI_Comm_free(&half);
    return rc;
}

static int types(void)
{
    MPI_Datatype vector;
    int rc = MPI_Type_vector(10, 1, 2, MPI_INT, &vector);
    if (rc)
        return rc;
    rc = MPI_Type_commit(&vector);
    if (!rc)
        rc = MPI_Sendrecv(out, 1, vector, 0, 1, in, 1, vector, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    (void)MPI_Type_free(&vector);
    return rc;
}

/* Where opening has failed there is no file; any other failure must leave one that can be closed. */
static int files(void)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Datatype blocks;
    MPI_Request request;
    int data[2] = {1, 2}, back[2] = {0, 0};
    int rc = MPI_Type_vector(2, 1, 2, MPI_INT, &blocks);
    rc = rc ? rc : MPI_Type_commit(&blocks);
    if (rc)
        return rc;
    rc = MPI_File_open(MPI_COMM_SELF, "oom.file", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &file);
    if (!rc)
        rc = MPI_File_set_view(file, 4, MPI_INT, blocks, "native", MPI_INFO_NULL);
    if (!rc)
        rc = MPI_File_write_at(file, 0, data, 2, MPI_INT, MPI_STATUS_IGNORE);
    if (!rc)
        rc = MPI_File_iread_at(file, 0, back, 2, MPI_INT, &request);
    if (!rc)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!rc && (back[0] != 1 || back[1] != 2))
        rc = -1;
    if (!rc)
        rc = MPI_File_write_at_all(file, 0, data, 2, MPI_INT, MPI_STATUS_IGNORE);
    if (!rc)
        rc = MPI_File_read_at_all(file, 0, back, 2, MPI_INT, MPI_STATUS_IGNORE);
    if (file != MPI_FILE_NULL) {
        int closed = MPI_File_close(&file);
        rc = rc ? rc : closed;
    }
    (void)MPI_Type_free(&blocks);
    return rc;
}

static void share_memory(void)
{
    for (int i = 0; i < BARRIERS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Through memory that ranks share, of so many that the copy of its arrays needs memory. */
static int arrays(void)
{
    MPI_Request request;
    MPI_Datatype types[RANKS];
    int counts[RANKS], places[RANKS], wrong = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
        types[i] = MPI_BYTE;
        out[i] = (char)(rank + i);
    }
    int rc = MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, &request);
    rc = rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; !rc && i < size; i++)
        wrong |= in[i] != (char)(rank + i);
    return wrong ? -1 : rc;
}

static const struct {
    const char *name;
    int (*run)(void); /* NULL: MPI_Init, or MPI_Finalize */
    void (*before)(void); /* then all ranks lack memory, else the first */
} scenarios[] = {{"init", NULL, NULL},
                 {"contact", contact, NULL},
                 {"contact_long", contact_long, NULL},
                 {"collectives", collectives, NULL},
                 {"nonblocking", nonblocking, NULL},
                 {"communicators", communicators, NULL},
                 {"types", types, NULL},
                 {"arrays", arrays, share_memory},
                 {"files", files, NULL},
                 {"end", NULL, NULL}};

static void arm(long number, int all)
{
    if (!oom_arm)
        exit(1);
    oom_arm(rank && !all ? -1 : number);
}

/* Whether the number was of no allocation. */
static int is_over(long number)
{
    return oom_disarm() <= number;
}

static int end(int code)
{
    MPI_Finalize();
    return code;
}

int main(int argc, char **argv)
{
    size_t i = 0;
    if (argc != 3 || !(out = calloc(2, LONG)))
        return 1;
    in = out + LONG;
    while (strcmp(scenarios[i].name, argv[1]))
        if (++i == sizeof(scenarios) / sizeof(scenarios[0]))
            return 1;
    long number = atol(argv[2]);
    if (!i)
        arm(number, 0);
    MPI_Init(NULL, NULL);
    if (!i)
        return end(is_over(number) ? 77 : 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (!scenarios[i].run) {
        (void)contact();
        if (size > 1 && rank == 1)
            MPI_Recv(in, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arm(number, 0);
        MPI_Finalize();
        return is_over(number) && !rank ? 77 : 0;
    }
    int all = scenarios[i].before != NULL;
    if (all)
        scenarios[i].before();
    arm(number, all);
    int first = scenarios[i].run(), over = is_over(number);
    int again = size > 1 && !all && !first ? MPI_SUCCESS : scenarios[i].run();
    if (size > 1 && rank == 1 && !all)
        MPI_Recv(in, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (again)
        printf("%s, allocation %ld: first %d, and again %d\n", argv[1], number, first, again);
    fflush(stdout);
    if (again && size > 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return end(again ? 2 : over && !rank ? 77 : 0);
}
