/* SPDX-License-Identifier: BSD-3-Clause */

/* C programs of other times: Fortran handles, and names that MPI-3.0 removed. */
#include <stdarg.h>

#include "check.h"

static int called;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    called++;
}

static void handles(void)
{
    MPI_Comm dup;
    MPI_Datatype pair;
    MPI_Group group;
    MPI_Info info;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Comm_group(dup, &group));
    OK(MPI_Info_create(&info));
    MPI_Fint number = MPI_Comm_c2f(dup);
    CHECK(MPI_Comm_f2c(number) == dup && number != MPI_Comm_c2f(MPI_COMM_WORLD));
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(pair)) == pair);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    OK(MPI_Info_free(&info));
    OK(MPI_Group_free(&group));
    OK(MPI_Type_free(&pair));
    OK(MPI_Comm_free(&dup));
}

static void statuses(void)
{
    int word = 7, count;
    MPI_Fint numbers[MPI_F_STATUS_SIZE];
    MPI_Status status, copy;
    OK(MPI_Sendrecv(&word, 1, MPI_INT, check_rank(MPI_COMM_WORLD), 3, &count, 1, MPI_INT,
                    MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status));
    OK(MPI_Status_c2f(&status, numbers));
    CHECK(numbers[MPI_F_TAG] == 3 && numbers[MPI_F_SOURCE] == check_rank(MPI_COMM_WORLD));
    OK(MPI_Status_f2c(numbers, &copy));
    OK(MPI_Get_count(&copy, MPI_INT, &count));
    CHECK(count == 1 && copy.MPI_TAG == 3);
    CHECK(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &copy) == MPI_ERR_ARG);
}

static void removed_types(void)
{
    struct {
        int number;
        double value;
    } one;
    int lengths[] = {1, 1};
    MPI_Aint at[2], base, extent, lb = -1, ub = -1;
    MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE}, type;
    OK(MPI_Address(&one, &base));
    OK(MPI_Address(&one.number, &at[0]));
    OK(MPI_Address(&one.value, &at[1]));
    at[0] -= base;
    at[1] -= base;
    OK(MPI_Type_struct(2, lengths, at, parts, &type));
    OK(MPI_Type_extent(type, &extent));
    OK(MPI_Type_lb(type, &lb));
    OK(MPI_Type_ub(type, &ub));
    CHECK(extent == (MPI_Aint)sizeof(one) && lb == 0 && ub == extent);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_hvector(3, 1, 16, MPI_INT, &type));
    OK(MPI_Type_extent(type, &extent));
    CHECK(extent == 36);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_hindexed(2, lengths, at, MPI_INT, &type));
    OK(MPI_Type_free(&type));
}

static void removed_handlers(void)
{
    MPI_Errhandler handler, now;
    OK(MPI_Errhandler_create(count_error, &handler));
    OK(MPI_Errhandler_set(MPI_COMM_SELF, handler));
    OK(MPI_Errhandler_get(MPI_COMM_SELF, &now));
    CHECK(now == handler);
    FAILS(MPI_ERR_TAG, MPI_Send(&called, 1, MPI_INT, 0, -5, MPI_COMM_SELF));
    CHECK(called == 1);
    OK(MPI_Errhandler_free(&now));
    OK(MPI_Errhandler_free(&handler));
}

int main(void)
{
    MPI_Comm parent = MPI_COMM_WORLD;
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    handles();
    statuses();
    removed_types();
    removed_handlers();
    OK(MPI_Finalize());
    return 0;
}
