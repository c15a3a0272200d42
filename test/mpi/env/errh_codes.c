/* SPDX-License-Identifier: BSD-3-Clause */

/* Classes, codes and texts: predefined ones, those of real errors, and the user's own. */
#include <mpi-ext.h>
#include <string.h>
#include <time.h>

#include "check.h"

static void predefined(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int len = -1, error_class = -1;
    for (int i = 0; i <= MPI_ERR_ABI; i++) {
        OK(MPI_Error_class(i, &error_class));
        CHECK(error_class == i);
        OK(MPI_Error_string(i, text, &len));
        CHECK(len == (int)strlen(text) && len > 10 && !strncmp(text, "MPI_", 4));
    }
    for (int i = MPIX_ERR_PROC_FAILED_PENDING; i <= MPIX_ERR_REVOKED; i++) {
        OK(MPI_Error_class(i, &error_class));
        CHECK(error_class == i);
        OK(MPI_Error_string(i, text, &len));
        CHECK(!strncmp(text, "MPIX_", 5));
    }
    OK(MPI_Error_class(MPIX_ERR_REVOKED + 1, &error_class));
    CHECK(error_class == MPI_ERR_UNKNOWN);
    OK(MPI_Error_class(MPI_T_ERR_INVALID, &error_class));
    CHECK(error_class == MPI_T_ERR_INVALID);
    OK(MPI_Error_class(-5, &error_class));
    CHECK(error_class == MPI_ERR_UNKNOWN);
}

/* The text says which function, what, where; a later error has its own. */
static void real(void)
{
    char text[MPI_MAX_ERROR_STRING], where[64];
    int first, second, len;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_name(comm, "my own"));
    first = MPI_Send(NULL, 0, MPI_INT, 0, -3, comm);
    second = MPI_Send(NULL, 0, MPI_INT, 1000000, 3, comm);
    CHECK(first != second && first <= MPI_ERR_LASTCODE && second <= MPI_ERR_LASTCODE);
    FAILS(MPI_ERR_TAG, first);
    FAILS(MPI_ERR_RANK, second);
    OK(MPI_Error_string(first, text, &len));
    CHECK(!strncmp(text, "MPI_Send: ", 10) && strstr(text, "-3") && strstr(text, "'my own'"));
    snprintf(where, sizeof(where), "rank %d on ", check_rank(comm));
    CHECK(strstr(text, where));
    OK(MPI_Error_string(second, text, &len));
    CHECK(strstr(text, "1000000"));
    /* Long after, the text is gone, and the class is told. */
    for (int i = 0; i < 1000; i++) {
        FAILS(MPI_ERR_TAG, MPI_Send(NULL, 0, MPI_INT, 0, -3, comm));
        OK(MPI_Error_string(second, text, &len));
        CHECK(!strstr(text, "tag -3")); /* that of another class is not its own */
    }
    FAILS(MPI_ERR_RANK, second);
    OK(MPI_Error_string(second, text, &len));
    CHECK(len > 0);
    OK(MPI_Comm_free(&comm));
}

static void own(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int error_class, code, other, of = -1, len = -1;
    OK(MPI_Add_error_class(&error_class));
    OK(MPI_Add_error_code(error_class, &code));
    OK(MPI_Add_error_code(MPI_ERR_IO, &other));
    CHECK(error_class > MPI_ERR_LASTCODE && code > error_class && other > code);
    OK(MPI_Error_class(code, &of));
    CHECK(of == error_class);
    OK(MPI_Error_class(error_class, &of));
    CHECK(of == error_class);
    OK(MPI_Error_class(other, &of));
    CHECK(of == MPI_ERR_IO);
    OK(MPI_Error_string(code, text, &len));
    CHECK(len == 0 && !text[0]);
    OK(MPI_Add_error_string(code, "out of cheese"));
    OK(MPI_Error_string(code, text, &len));
    CHECK(!strcmp(text, "out of cheese") && len == 13);
    FAILS(MPI_ERR_ARG, MPI_Add_error_string(MPI_ERR_IO, "mine now"));
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(error_class + 999, &of));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(error_class)); /* it has a code */
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(code)); /* it has a string */
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(error_class));
    OK(MPI_Remove_error_code(other));
    OK(MPI_Error_class(error_class, &of));
    CHECK(of == MPI_ERR_UNKNOWN);
}

static int last_used(void)
{
    int *value = NULL, found = 0;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found));
    CHECK(found);
    return *value;
}

/* What was removed is gone, its text too, and makes room; what is left stays as it is. */
static void removed(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int first, second, code, again, of = -1, len = -1, before = last_used();
    OK(MPI_Add_error_class(&first));
    OK(MPI_Add_error_string(first, "first"));
    OK(MPI_Add_error_class(&second));
    OK(MPI_Add_error_code(second, &code));
    OK(MPI_Add_error_string(code, "code"));
    CHECK(last_used() == code);
    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(code)); /* a code is no class, nor the other way */
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(first));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(MPI_ERR_IO));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(MPI_ERR_IO));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_string(MPI_ERR_IO));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_string(second)); /* it has none */
    OK(MPI_Remove_error_class(first));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(first));
    FAILS(MPI_ERR_ARG, MPI_Error_string(first, text, &len));
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(first, &of));
    CHECK(last_used() == code);
    OK(MPI_Error_class(code, &of));
    CHECK(of == second);
    OK(MPI_Error_string(code, text, &len));
    CHECK(!strcmp(text, "code"));
    OK(MPI_Add_error_class(&again));
    OK(MPI_Error_string(again, text, &len));
    CHECK(!len); /* no text of an older one */
    OK(MPI_Remove_error_string(code));
    OK(MPI_Error_string(code, text, &len));
    CHECK(!len);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(second));
    OK(MPI_Remove_error_class(again));
    CHECK(last_used() == before);
}

/* As many classes as there can be, or keyvals, take no time that grows with their square. */
static void many(void)
{
    enum { MANY = 65536, KEYVALS = 30000, MOST_SECONDS = 3 };
    static int ids[MANY];
    clock_t begin = clock();
    int count = 0;
    while (count < MANY && !MPI_Add_error_class(&ids[count]))
        count++;
    CHECK(count > MANY / 2);
    while (count)
        OK(MPI_Remove_error_class(ids[--count]));
    for (count = 0; count < KEYVALS; count++)
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &ids[count], NULL));
    while (count)
        OK(MPI_Comm_free_keyval(&ids[--count]));
    CHECK(clock() - begin < MOST_SECONDS * CLOCKS_PER_SEC);
}

/* There is no support of accelerators, and the header agrees with the functions. */
static void accelerators(void)
{
    CHECK(MPIX_Query_cuda_support() == 0 && MPIX_Query_rocm_support() == 0 &&
          MPIX_Query_ze_support() == 0);
    CHECK(!MPIX_CUDA_AWARE_SUPPORT && !MPIX_ROCM_AWARE_SUPPORT && !MPIX_ZE_AWARE_SUPPORT);
}

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int early, len;
    OK(MPI_Add_error_class(&early)); /* at any time, and for good */
    OK(MPI_Add_error_string(early, "early"));
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    predefined();
    real();
    own();
    removed();
    accelerators();
    many();
    OK(MPI_Finalize());
    OK(MPI_Error_string(early, text, &len));
    CHECK(!strcmp(text, "early"));
    OK(MPI_Remove_error_class(early));
    return 0;
}
