/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What MPI_Comm_spawn wants, as the words of an mpiexec command line. Info keys are those of the standard,
 * and names of mpiexec's options with '_' or '-' between their parts. Keys without a meaning are passed
 * over, and told of in mpiexec's report.
 */
#ifndef MPI_ORDER_H
#define MPI_ORDER_H

#include <stdbool.h>
#include <stddef.h>

struct info;

struct order {
    char **words; /* NULL-terminated */
    size_t count, room;
    char **programs; /* behind the words of the whole job */
    size_t program_count, program_room;
    bool failed;   /* memory is out */
    bool is_placed; /* an info key says where processes are bound */
    char why[160]; /* what is wrong; "": nothing */
};

/* One program of the job. */
struct order_program {
    const char *command;
    char *const *argv; /* NULL-terminated, without the command; NULL: none */
    const struct info *info; /* NULL: none */
};

/* The largest number up to max that the key "soft" allows: "3,5:9,10:20:5" as MPI-5.0 11.8.4 has it. Returns max without
 * the key, and -1 where it cannot be read or allows none. */
int order_count(const struct info *info, int max);

/* Whether an info key has a meaning. */
bool order_has_key(const char *key);

/* Add a program, with so many processes. */
void order_add(struct order *order, const struct order_program *program, int count);
/* Complete the words. Returns 0, -ENOMEM or -EINVAL, with the reason in why. */
int order_end(struct order *order);
void order_free(struct order *order);

#endif
