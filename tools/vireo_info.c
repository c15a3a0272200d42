/* SPDX-License-Identifier: BSD-3-Clause */

/* vireo-info, which `vireo info` runs: the channels that a process has here, with their parameters,
 * and why one is not open. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void get(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL])
{
    int size = MPI_MAX_INFO_VAL, found = 0;
    value[0] = 0;
    MPI_Info_get_string(info, key, &size, value, &found);
}

static void print_params(MPI_Info info)
{
    int count = 0;
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
        MPI_Info_get_nthkey(info, i, key);
        get(info, key, value);
        if (!strncmp(key, "param.", 6))
            printf("    %s = %s\n", key + 6, value);
    }
}

static void print_channel(MPI_Info info)
{
    char name[MPI_MAX_INFO_VAL], value[MPI_MAX_INFO_VAL];
    get(info, "name", name);
    get(info, "open", value);
    if (!strcmp(value, "true")) {
        printf("%s: open\n", name);
    } else {
        get(info, "reason", value);
        printf("%s\n", value); /* which begins with the name */
    }
    get(info, "about", value);
    if (value[0])
        printf("    %s\n", value);
    get(info, "file", value);
    if (value[0])
        printf("    in %s\n", value);
    get(info, "card", value);
    if (value[0])
        printf("    card: %s\n", value);
    print_params(info);
}

int main(void)
{
    MPI_Info info;
    MPI_Init(NULL, NULL);
    printf("Channels, in the order in which equals are tried:\n");
    for (int i = 0; !MPIX_Channel_get_info(i, &info) && info != MPI_INFO_NULL; i++) {
        print_channel(info);
        MPI_Info_free(&info);
    }
    MPI_Finalize();
    return fflush(stdout) ? 1 : 0;
}
