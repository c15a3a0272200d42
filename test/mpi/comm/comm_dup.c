/* SPDX-License-Identifier: BSD-3-Clause */

/* Duplicates: their messages are apart, they inherit the error handler, and their hints are
 * their own. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { DUPS = 50 };

/* The same tag and peer on many communicators, received in another order. */
static void apart(void)
{
    MPI_Comm comms[DUPS];
    MPI_Request requests[DUPS];
    int sent[DUPS], rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int i = 0; i < DUPS; i++)
        OK(MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < DUPS; i++) {
        sent[i] = 1000 * rank + i;
        OK(MPI_Isend(&sent[i], 1, MPI_INT, (rank + 1) % size, 0, comms[i], &requests[i]));
    }
    for (int i = DUPS - 1; i >= 0; i--) {
        int got = -1;
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i],
                    MPI_STATUS_IGNORE));
        CHECK(got == 1000 * ((rank + size - 1) % size) + i);
    }
    OK(MPI_Waitall(DUPS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < DUPS; i++)
        OK(MPI_Comm_free(&comms[i]));
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void inherit(void)
{
    MPI_Comm parent, child;
    MPI_Errhandler mine, got;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_set_errhandler(parent, mine));
    OK(MPI_Comm_dup(parent, &child));
    OK(MPI_Comm_get_errhandler(child, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine));
    CHECK(mine == MPI_ERRHANDLER_NULL);
    OK(MPI_Comm_free(&parent));
    FAILS(MPI_ERR_TAG, MPI_Send(NULL, 0, MPI_INT, 0, -7, child));
    OK(MPI_Comm_free(&child));
}

/* The value of a hint in use. */
static void check_hint(MPI_Comm comm, const char *key, const char *expect)
{
    MPI_Info info;
    char value[16];
    int len = sizeof(value), flag = 0;
    OK(MPI_Comm_get_info(comm, &info));
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(expect ? flag && !strcmp(value, expect) : !flag);
    OK(MPI_Info_free(&info));
}

static void hints(void)
{
    MPI_Comm with, plain;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Info_set(info, "nobody_knows_this", "1"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with));
    OK(MPI_Info_free(&info));
    check_hint(with, "mpi_assert_no_any_tag", "true");
    check_hint(with, "mpi_assert_exact_length", "false");
    check_hint(with, "nobody_knows_this", NULL);
    OK(MPI_Comm_dup(with, &plain));
    check_hint(plain, "mpi_assert_no_any_tag", "false");
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    OK(MPI_Comm_set_info(plain, info));
    check_hint(plain, "mpi_assert_exact_length", "true");
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&plain));
    OK(MPI_Comm_free(&with));
}

/* A message received after its communicator is freed, since a request holds it. */
static void free_early(void)
{
    enum { LEN = 300000 };
    MPI_Comm comm;
    MPI_Request requests[2];
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    char *out = malloc(LEN), *in = calloc(1, LEN);
    memset(out, rank + 1, LEN);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Irecv(in, LEN, MPI_CHAR, (rank + size - 1) % size, 3, comm, &requests[0]));
    OK(MPI_Isend(out, LEN, MPI_CHAR, (rank + 1) % size, 3, comm, &requests[1]));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(in[0] == (rank + size - 1) % size + 1 && in[LEN - 1] == in[0]);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    apart();
    inherit();
    hints();
    free_early();
    OK(MPI_Finalize());
    return 0;
}
