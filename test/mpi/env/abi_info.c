/* SPDX-License-Identifier: BSD-3-Clause */

/* What the ABI lets a program ask and tell: with no MPI_Init at all. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int number(MPI_Info info, const char *key)
{
    char value[16] = "";
    int len = sizeof(value), flag = 0;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag);
    return atoi(value);
}

static void check_sizes(void)
{
    MPI_Info info;
    int major = -1, minor = -1;
    OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
    OK(MPI_Abi_get_info(&info));
    CHECK(number(info, "mpi_aint_size") == (int)sizeof(MPI_Aint));
    CHECK(number(info, "mpi_count_size") == (int)sizeof(MPI_Count));
    CHECK(number(info, "mpi_offset_size") == (int)sizeof(MPI_Offset));
    OK(MPI_Info_free(&info));
}

static void check_booleans(void)
{
    int32_t yes = 1, no = 0, got_yes = -7, got_no = -7;
    int64_t wide;
    int set = -1;
    OK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &set));
    CHECK(!set && got_yes == -7 && got_no == -7);
    OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
    OK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &set));
    CHECK(set && got_yes == 1 && got_no == 0);
    OK(MPI_Abi_get_fortran_booleans(8, &wide, &wide, &set));
    CHECK(!set);
}

static void check_fortran(void)
{
    MPI_Info info, got;
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK(info == MPI_INFO_NULL);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_logical_size", "4"));
    OK(MPI_Info_set(info, "mpi_integer_size", "4"));
    OK(MPI_Info_set(info, "mpi_real_size", "4"));
    OK(MPI_Info_set(info, "mpi_double_precision_size", "8"));
    OK(MPI_Info_set(info, "mpi_integer8_supported", "true"));
    OK(MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_set(info, "mpi_integer_size", "2")); /* a copy was taken */
    OK(MPI_Abi_get_fortran_info(&got));
    CHECK(number(got, "mpi_integer_size") == 4);
    OK(MPI_Info_free(&got));
    OK(MPI_Info_free(&info));
}

/* Errors need a handler that returns, which only a communicator can have here. */
static void check_refused(void)
{
    MPI_Info info;
    int32_t yes = -1, no = 0, one = 1;
    int set;
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ARG, MPI_Abi_get_info(NULL));
    FAILS(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(3, &yes, &no, &set));
    FAILS(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(32, &yes, &no, &set));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Abi_set_fortran_booleans(4, &yes, &no));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, &one, &no));
    OK(MPI_Info_create(&info));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_set(info, "mpi_integer_size", "8"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_set(info, "mpi_integer_size", "4 bytes"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_free(&info));
    FAILS(MPI_ERR_ARG, MPI_Abi_set_fortran_booleans(INT32_MIN, &one, &no));
    FAILS(MPI_ERR_ARG, MPI_Abi_set_fortran_booleans(4, NULL, &no));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Abi_set_fortran_booleans(4, &one, &one));
    FAILS(MPI_ERR_INFO, MPI_Abi_set_fortran_info(MPI_INFO_NULL));
    OK(MPI_Finalize());
}

int main(void)
{
    check_sizes();
    check_booleans();
    check_fortran();
    check_refused();
    return 0;
}
