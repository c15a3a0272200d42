/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The text of PMI-1, the protocol of process managers such as Hydra, Slurm's pmi2 plugin and Flux: values of replies
 * and places of processes. It does no I/O. Bytes of a reply are not trusted.
 *
 * The lines are those of bnr/core/pmi/pmi_line.h. Managers read a request by one read of PMI_LINE bytes.
 * They hand values back changed if these hold blanks, semicolons or backslashes: binary values travel in an
 * alphabet of 64 characters, cut into chunks that fit a line.
 */
#ifndef BNR_PMI_WIRE_H
#define BNR_PMI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/pmi/pmi_line.h"

enum {
    PMI_LINE = 1024, /* bytes of the longest request, its newline included */
    PMI_NAME = 256,  /* of the name of a key-value space, its NUL included */
    PMI_KEY = 64,    /* likewise */
    PMI_CHUNK_HEAD = 6 /* digits before the first chunk of a value: how long the value is */
};

/* Whether a reply tells of success: by its rc, without one by its info, without either always. */
bool pmi_succeeded(const char *line);

/* Write the key of a chunk of a value: owner, key, number. Returns false for a key that manager_takes() refuses, or
 * that is too long with its numbers. */
bool pmi_chunk_key(char to[PMI_KEY], int owner, const char *key, int number);
/* How many bytes a chunk of a value holds at most: value_max is the manager's limit of characters, name and key go
 * with it in a line. 0: too few. */
size_t pmi_chunk_bytes(int value_max, const char *name, const char *key);
/* Write len bytes in the alphabet, with a NUL. Returns the number of characters, at most 4 for each 3 bytes begun. */
size_t pmi_encode(char *to, const void *data, size_t len);
/* The reverse of len characters. Returns the number of bytes, at most 3 for each 4 characters, or -1. */
long pmi_decode(void *to, const char *text, size_t len);

/* Read PMI_process_mapping, "(vector,(FIRST,NODES,RANKS),...)": node[r] for each of size ranks. Blocks are repeated
 * while ranks are left. Returns false if the text is no such vector. */
bool pmi_mapping(const char *text, int size, int *node);

#endif
