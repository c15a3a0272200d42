/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Orders of this process: jobs that it has started, BNR_Spawn(), and names, BNR_Name(). Under this project's mpiexec a letter to that
 * (bnr/host/order.h) has it run an mpiexec of its own for the new job, and letters back tell of the end.
 * Elsewhere this process itself starts an mpiexec, as its child. Names go the same way: mpiexec keeps
 * those of its ranks, on its host, and others keep their own.
 */
#ifndef BNR_ORDERS_H
#define BNR_ORDERS_H

#include "bnr/client/backend.h"

/* Take what the spawner of this process has left in its environment. */
void orders_take_note(void);

int orders_start(struct backend *b, const BNR_Spawn_attr *attr, int *id);
int orders_state(int id, int *ended, int *status);
int orders_link(struct backend *b, int id, int is_linked, int *asked);
int orders_name(struct backend *b, enum BNR_Name_call call, const char *name, const char *text, int *id);
int orders_name_state(int id, int *done, int *code, char *text, size_t size);
const char *orders_note(void);
/* This process ends as it should: the jobs that it has started itself go on. */
void orders_leave(void);
/* A letter of mpiexec's has come. */
void orders_told(const void *data, size_t len);

#endif
