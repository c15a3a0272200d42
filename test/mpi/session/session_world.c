/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions before, beside and after the world model, in every order of beginning and ending;
 * processes that are of one model, of both, or of both at other times; and epochs of their own.
 * The argument says which.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

struct part {
    MPI_Session session;
    MPI_Comm comm;
};

static void begin(struct part *part, const char *set, const char *name)
{
    MPI_Group group;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part->session));
    OK(MPI_Group_from_session_pset(part->session, set, &group));
    OK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part->comm));
    OK(MPI_Group_free(&group));
}

static void end(struct part *part)
{
    OK(MPI_Comm_free(&part->comm));
    OK(MPI_Session_finalize(&part->session));
}

static void ring(MPI_Comm comm)
{
    enum { LONG = 50000 };
    static int out[LONG], in[LONG];
    int rank = check_rank(comm), size = check_size(comm), sum = 0;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    out[LONG - 1] = rank;
    for (int count = 1; count <= LONG; count += LONG - 1) {
        out[0] = rank;
        OK(MPI_Sendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, comm,
                        MPI_STATUS_IGNORE));
        CHECK(in[count - 1] == left);
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2);
}

static void expect_world(int initialized, int finalized)
{
    int flag = -1;
    OK(MPI_Initialized(&flag));
    CHECK(flag == initialized);
    OK(MPI_Finalized(&flag));
    CHECK(flag == finalized);
}

/* A session that ends before MPI_Finalize, one that ends after, one that comes after. */
static void orders(void)
{
    struct part early, late, after;
    begin(&early, "mpi://WORLD", "early");
    expect_world(0, 0);
    ring(early.comm);
    OK(MPI_Init(NULL, NULL));
    expect_world(1, 0);
    ring(MPI_COMM_WORLD);
    ring(early.comm);
    begin(&late, "mpi://WORLD", "late");
    ring(late.comm);
    end(&early);
    ring(MPI_COMM_WORLD);
    OK(MPI_Finalize());
    expect_world(1, 1);
    ring(late.comm);
    begin(&after, "mpi://WORLD", "after");
    ring(after.comm);
    end(&late);
    ring(after.comm);
    end(&after);
    expect_world(1, 1);
    begin(&after, "mpi://WORLD", "again");
    ring(after.comm);
    end(&after);
}

/* MPI_Finalize of some, while a session of others goes on; then all meet once more. Waiting for
 * each other's ends must not hang. */
static void uneven(void)
{
    struct part part = {MPI_SESSION_NULL, MPI_COMM_NULL};
    OK(MPI_Init(NULL, NULL));
    int rank = check_rank(MPI_COMM_WORLD);
    ring(MPI_COMM_WORLD);
    if (rank % 2) /* begins before the end of the world, the others only after it */
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part.session));
    OK(MPI_Finalize());
    if (!(rank % 2))
        usleep(20000);
    struct part all;
    begin(&all, "mpi://WORLD", "all");
    ring(all.comm);
    end(&all);
    if (rank % 2)
        OK(MPI_Session_finalize(&part.session));
    for (int i = 0; i < 20; i++) {
        if ((i + rank) % 3 == 0)
            usleep(1000);
        begin(&all, "mpi://WORLD", "all");
        ring(all.comm);
        end(&all);
    }
}

/* Rank 0 is of the world model and of sessions, the others of sessions alone. */
static void one_of_both(int rank)
{
    struct part part;
    if (!rank)
        OK(MPI_Init(NULL, NULL));
    begin(&part, "mpi://WORLD", "both");
    ring(part.comm);
    if (!rank) {
        OK(MPI_Finalize()); /* which waits for none of them */
        ring(part.comm);
    } else {
        ring(part.comm);
    }
    end(&part);
    begin(&part, "mpi://WORLD", "both");
    ring(part.comm);
    end(&part);
}

/* What is sent before the end of a session arrives although the sender has gone, and the process
 * too. */
static void farewell(int rank)
{
    enum { MANY = 200, LONG = 3000 };
    static int words[LONG];
    struct part part;
    begin(&part, "mpi://WORLD", "farewell");
    int size = check_size(part.comm);
    if (rank) {
        MPI_Request request;
        for (int i = 0; i < MANY; i++) {
            words[0] = i;
            OK(MPI_Send(words, i % 2 ? 1 : LONG, MPI_INT, 0, 3, part.comm));
        }
        OK(MPI_Isend(words, 1, MPI_INT, 0, 4, part.comm, &request));
        OK(MPI_Request_free(&request));
    } else {
        int got[LONG];
        usleep(50000);
        for (int i = 0; i < MANY; i++)
            for (int from = 1; from < size; from++) {
                OK(MPI_Recv(got, LONG, MPI_INT, from, 3, part.comm, MPI_STATUS_IGNORE));
                CHECK(got[0] == i);
            }
        for (int from = 1; from < size; from++)
            OK(MPI_Recv(got, LONG, MPI_INT, from, 4, part.comm, MPI_STATUS_IGNORE));
    }
    end(&part);
}

/* Groups of two sets of processes with epochs of their own, as often as each likes. */
static void apart(int rank)
{
    MPI_Session session;
    MPI_Group world, half;
    int color = rank % 2;
    for (int i = 0; i < 50 + 50 * color; i++) {
        MPI_Comm comm;
        int size, count = 0, ranks[64];
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
        OK(MPI_Group_size(world, &size));
        for (int r = color; r < size; r += 2)
            ranks[count++] = r;
        OK(MPI_Group_incl(world, count, ranks, &half));
        OK(MPI_Comm_create_from_group(half, "half", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        ring(comm);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&half));
        OK(MPI_Group_free(&world));
        OK(MPI_Session_finalize(&session));
    }
}

static int own_rank(void)
{
    MPI_Session session;
    MPI_Group group;
    int rank;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &rank));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
    return rank;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "orders"))
        orders();
    else if (!strcmp(what, "uneven"))
        uneven();
    else if (!strcmp(what, "both"))
        one_of_both(own_rank());
    else if (!strcmp(what, "farewell"))
        farewell(own_rank());
    else if (!strcmp(what, "apart"))
        apart(own_rank());
    else
        CHECK(!"an argument that is known");
    return 0;
}
