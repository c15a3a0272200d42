/* SPDX-License-Identifier: BSD-3-Clause */

/* Handles as numbers: constants are their own, others come back, many at a time. */
#include <stdint.h>

#include "check.h"

enum {
    MANY = 300
};

static void constants(void)
{
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == (int)(intptr_t)MPI_COMM_WORLD);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_SELF)) == MPI_COMM_SELF);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    CHECK(MPI_Info_fromint(MPI_Info_toint(MPI_INFO_NULL)) == MPI_INFO_NULL);
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_File_toint(MPI_FILE_NULL) == 0x118);
    CHECK(MPI_File_fromint(0x118) == MPI_FILE_NULL);
    CHECK(MPI_Win_toint(MPI_WIN_NULL) == 0x110 && MPI_Win_fromint(0x110) == MPI_WIN_NULL);
    CHECK(MPI_Session_toint(MPI_SESSION_NULL) == 0x120);
    CHECK(MPI_Session_fromint(0x120) == MPI_SESSION_NULL);
}

static void objects(void)
{
    MPI_Datatype types[MANY];
    int numbers[MANY], size;
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Type_contiguous(i + 1, MPI_CHAR, &types[i]));
        numbers[i] = MPI_Type_toint(types[i]);
        CHECK(numbers[i] > 0 && MPI_Type_toint(types[i]) == numbers[i]);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Datatype type = MPI_Type_fromint(numbers[i]);
        OK(MPI_Type_size(type, &size));
        CHECK(type == types[i] && size == i + 1);
        OK(MPI_Type_free(&type));
    }
}

static void strange(void)
{
    int rank;
    MPI_Comm bad[] = {MPI_Comm_fromint(INT32_MAX), MPI_Comm_fromint(-5), MPI_Comm_fromint(0)};
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < 3; i++)
        FAILS(MPI_ERR_COMM, MPI_Comm_rank(bad[i], &rank));
}

int main(int argc, char **argv)
{
    constants(); /* at any time */
    OK(MPI_Init(&argc, &argv));
    objects();
    strange();
    OK(MPI_Finalize());
    return 0;
}
