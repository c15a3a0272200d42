/* SPDX-License-Identifier: BSD-3-Clause */

/* The predefined communicators, and asking any of its properties. */
#include <string.h>

#include "check.h"

static int itself(int member, void *arg)
{
    (void)arg;
    return member;
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longest[2 * MPI_MAX_OBJECT_NAME];
    int len = -1;
    MPI_Comm comm;
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &len));
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && len == 14);
    OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &len));
    CHECK(!strcmp(name, "MPI_COMM_SELF"));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_get_name(comm, name, &len));
    CHECK(!name[0] && len == 0);
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = 0;
    OK(MPI_Comm_set_name(comm, longest));
    OK(MPI_Comm_get_name(comm, name, &len));
    CHECK(len == MPI_MAX_OBJECT_NAME - 1 && !strncmp(name, longest, (size_t)len));
    OK(MPI_Comm_set_name(comm, "short"));
    OK(MPI_Comm_get_name(comm, name, &len));
    CHECK(!strcmp(name, "short"));
    OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL);
}

static void compare(void)
{
    MPI_Comm same, turned;
    int result = -1, size = check_size(MPI_COMM_WORLD), rank = check_rank(MPI_COMM_WORLD);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result));
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &same));
    OK(MPI_Comm_compare(MPI_COMM_WORLD, same, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned));
    CHECK(check_rank(turned) == size - 1 - rank);
    OK(MPI_Comm_compare(turned, same, &result));
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    OK(MPI_Comm_free(&turned));
    OK(MPI_Comm_free(&same));
}

static void wrong(void)
{
    MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD, new;
    int n;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_rank((MPI_Comm)0, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_rank((MPI_Comm)MPI_INT, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &new));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&null));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&world));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &n));
    FAILS(MPI_ERR_ARG, MPI_Comm_size(MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_SELF, -1, 0, &new));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &new));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    int flag = -1, on = 1;
    OK(MPI_Init(&argc, &argv));
    CHECK(check_rank(MPI_COMM_SELF) == 0 && check_size(MPI_COMM_SELF) == 1);
    CHECK(check_rank(MPI_COMM_WORLD) < check_size(MPI_COMM_WORLD));
    if (argc > 1 && sscanf(argv[1], "%d", &on) == 1)
        CHECK(check_size(MPI_COMM_WORLD) == on);
    OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &flag));
    CHECK(!flag);
    check_ring(MPI_COMM_WORLD, itself, NULL);
    names();
    compare();
    wrong();
    OK(MPI_Finalize());
    return 0;
}
