/* SPDX-License-Identifier: BSD-3-Clause */

/* Spawning: its arrays of strings end with a blank one, and are read at root alone. Compiled twice: see entry.h. */
#include <string.h>

#include "fortran/entry.h"

/* Whether this process's arguments count; where the communicator or root is wrong, nobody's do. */
static bool is_root(MPI_Comm comm, int root)
{
    int rank, inter;
    return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
           PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

static bool is_blank(const char *text, size_t len)
{
    while (len && text[len - 1] == ' ')
        len--;
    return !len;
}

/* The strings at text, text + step, ... up to a blank one, as C has them. */
static char **read_words(struct fortran_memory *memory, const char *text, size_t len, size_t step)
{
    size_t count = 0;
    while (!is_blank(text + count * step, len))
        count++;
    char **words = fortran_memory_get(memory, count + 1, sizeof(*words));
    for (size_t i = 0; i < count; i++)
        words[i] = fortran_string(memory, text + i * step, len, false);
    words[count] = NULL;
    return words;
}

FORTRAN_ENTRY(comm_spawn, const char *command, const char *argv, const int *maxprocs, const int *info,
              const int *root, const int *comm, int *intercomm, int *array_of_errcodes, int *ierror,
              size_t command_len, size_t argv_len)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    MPI_Comm c_comm = fortran_comm(*comm), made;
    MPI_Info c_info = MPI_INFO_NULL;
    const char *c_command = NULL;
    char **words = MPI_ARGV_NULL;
    int count = 0;
    if (is_root(c_comm, *root)) {
        c_command = fortran_string(&memory, command, command_len, true);
        c_info = fortran_info(*info);
        count = *maxprocs;
        if (fortran_is_plain(argv))
            words = read_words(&memory, argv, argv_len, argv_len);
    }
    int rc = MPI_(Comm_spawn)(c_command, words, count, c_info, *root, c_comm, &made,
                              fortran_address(array_of_errcodes));
    if (rc == MPI_SUCCESS)
        *intercomm = fortran_comm_int(made);
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}

/* The arguments of many programs, at root. */
struct programs {
    char **commands, ***argvs;
    MPI_Info *infos;
};

/* Strings of one length, side by side. */
struct texts {
    const char *at;
    size_t len;
};

/* Of an array (count, *), argument j of program i stands at i + j * count. */
static void read_programs(struct programs *p, struct fortran_memory *memory, size_t count, struct texts commands,
                          struct texts argv, const int *infos)
{
    p->commands = fortran_memory_get(memory, count, sizeof(*p->commands));
    p->infos = fortran_memory_get(memory, count, sizeof(MPI_Info));
    p->argvs = fortran_is_plain(argv.at) ? fortran_memory_get(memory, count, sizeof(*p->argvs)) : MPI_ARGVS_NULL;
    for (size_t i = 0; i < count; i++) {
        p->commands[i] = fortran_string(memory, commands.at + i * commands.len, commands.len, true);
        p->infos[i] = fortran_info(infos[i]);
        if (p->argvs != MPI_ARGVS_NULL)
            p->argvs[i] = read_words(memory, argv.at + i * argv.len, argv.len, count * argv.len);
    }
}

FORTRAN_ENTRY(comm_spawn_multiple, const int *count, const char *array_of_commands, const char *array_of_argv,
              const int *array_of_maxprocs, const int *array_of_info, const int *root, const int *comm,
              int *intercomm, int *array_of_errcodes, int *ierror, size_t commands_len, size_t argv_len)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    MPI_Comm c_comm = fortran_comm(*comm), made;
    struct programs p = {NULL, MPI_ARGVS_NULL, NULL};
    int number = 0;
    if (is_root(c_comm, *root) && *count > 0) {
        number = *count;
        read_programs(&p, &memory, (size_t)number, (struct texts){array_of_commands, commands_len},
                      (struct texts){array_of_argv, argv_len}, array_of_info);
    }
    int rc = MPI_(Comm_spawn_multiple)(number, p.commands, p.argvs, array_of_maxprocs, p.infos, *root, c_comm,
                                       &made, fortran_address(array_of_errcodes));
    if (rc == MPI_SUCCESS)
        *intercomm = fortran_comm_int(made);
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}
