/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_INFO_ENV and MPI_Info_create_env; started with the arguments "one two". */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static void check_value(MPI_Info info, const char *key, const char *expect)
{
    char value[MPI_MAX_INFO_VAL];
    int len = sizeof(value), flag = -1;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag && !strcmp(value, expect));
}

static void check_command(MPI_Info info, const char *command)
{
    char dir[1024];
    check_value(info, "command", command);
    check_value(info, "argv", "one two");
    check_value(info, "wdir", getcwd(dir, sizeof(dir)));
}

int main(int argc, char **argv)
{
    MPI_Info info;
    char text[MPI_MAX_PROCESSOR_NAME];
    int len = -1;
    OK(MPI_Info_create_env(0, NULL, &info));
    check_command(info, argv[0]); /* the system is asked */
    OK(MPI_Info_free(&info));
    OK(MPI_Info_create_env(argc, argv, &info));
    check_command(info, argv[0]);
    OK(MPI_Info_free(&info));
    OK(MPI_Init(NULL, NULL));
    check_command(MPI_INFO_ENV, argv[0]);
    snprintf(text, sizeof(text), "%d", check_size(MPI_COMM_WORLD));
    check_value(MPI_INFO_ENV, "maxprocs", text);
    check_value(MPI_INFO_ENV, "thread_level", "MPI_THREAD_SINGLE");
    OK(MPI_Get_processor_name(text, &len));
    CHECK(len == (int)strlen(text) && len > 0);
    check_value(MPI_INFO_ENV, "host", text);
    OK(MPI_Info_dup(MPI_INFO_ENV, &info));
    OK(MPI_Info_set(info, "command", "other"));
    check_command(MPI_INFO_ENV, argv[0]);
    OK(MPI_Info_free(&info));
    OK(MPI_Finalize());
    return 0;
}
