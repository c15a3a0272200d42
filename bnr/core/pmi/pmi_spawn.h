/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lines of a spawn by PMI-1, as an order to mpiexec (bnr/host/order.h): "mcmd=spawn", one "FIELD=VALUE" a line, and
 * "endcmd", once for each program. It does no I/O, and trusts no byte.
 */
#ifndef BNR_PMI_SPAWN_H
#define BNR_PMI_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

#include "bnr/core/bytes.h"

enum {
    PMI_SPAWN_MAX = 256 << 10, /* bytes of all words */
    PMI_SPAWN_KEY = 64         /* of a key, its NUL included */
};

/* The note with which the new processes are started begins so; behind it are lines "KEY=VALUE". */
#define PMI_NOTE "pmi\n"

struct pmi_spawn {
    struct packing note, job, programs; /* of the order */
    struct packing options, arguments;  /* of the program that is being told */
    char *program;
    char info_key[PMI_SPAWN_KEY], put_key[PMI_SPAWN_KEY];
    int processes; /* of this program */
    int told, all; /* programs */
    size_t len;    /* bytes so far */
    bool has_folder;
    const char *why; /* it cannot be done; NULL: nothing is wrong */
};

/* Begin to hear of a program: another one of the same spawn, or the first. */
void pmi_spawn_begin(struct pmi_spawn *s);
/* A line between mcmd=spawn and endcmd. */
void pmi_spawn_line(struct pmi_spawn *s, const char *line);
/* It has ended; folder: where the spawner is, "": not known. Returns whether this was the last program. */
bool pmi_spawn_end(struct pmi_spawn *s, const char *folder);
/* The words of the order, each with its NUL, to be freed; NULL: it cannot be done, and why is set. */
struct bytes *pmi_spawn_words(struct pmi_spawn *s);
/* Forget all, also of a zeroed one. */
void pmi_spawn_reset(struct pmi_spawn *s);

#endif
