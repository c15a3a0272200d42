/* SPDX-License-Identifier: BSD-3-Clause */

/* A program that is not linked with the library loads it for itself alone, as interpreters load
 * what was linked with it: once for the world model, and once more for a session. The argument is
 * the library's path. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void die(const char *what)
{
    fprintf(stderr, "not so: %s\n", what);
    exit(1);
}

static void load(const char *path)
{
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        die(dlerror());
    if (dlsym(RTLD_DEFAULT, "MPI_Init"))
        die("the library is there for itself alone");
}

static void *name(const char *function)
{
    void *found = dlsym(library, function);
    if (!found)
        die(function);
    return found;
}

/* The function pointers have the types of the prototypes. */
#define CALL(function, ...)                                                                      \
    do {                                                                                         \
        union {                                                                                  \
            void *object;                                                                        \
            __typeof__(&function) call;                                                          \
        } at = {name(#function)};                                                                \
        if (at.call(__VA_ARGS__) != MPI_SUCCESS)                                                 \
            die(#function);                                                                      \
    } while (0)

static void talk(MPI_Comm comm)
{
    int rank = -1, size = -1, sum = -1;
    CALL(MPI_Comm_rank, comm, &rank);
    CALL(MPI_Comm_size, comm, &size);
    CALL(MPI_Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size * (size - 1) / 2)
        die("the sum of the ranks");
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    if (argc < 2)
        die("the library's path is the argument");
    load(argv[1]);
    CALL(MPI_Init, NULL, NULL);
    talk(MPI_COMM_WORLD);
    CALL(MPI_Finalize);
    if (dlclose(library))
        die(dlerror());
    load(argv[1]);
    CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    CALL(MPI_Group_from_session_pset, session, "mpi://WORLD", &group);
    CALL(MPI_Comm_create_from_group, group, "loaded", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    talk(comm);
    CALL(MPI_Comm_free, &comm);
    CALL(MPI_Group_free, &group);
    CALL(MPI_Session_finalize, &session);
    return dlclose(library) ? 1 : 0;
}
