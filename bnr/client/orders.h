/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Orders of this process: jobs that it has started, BNR_Start_job(), and names, BNR_Name(). Under this project's mpiexec a letter to that
 * (bnr/host/order.h) has it run an mpiexec of its own for the new job, and letters back tell of the end.
 * Elsewhere this process itself starts an mpiexec, as its child. Names go the same way: mpiexec keeps
 * those of its ranks, on its host, and others keep their own.
 */
#ifndef BNR_ORDERS_H
#define BNR_ORDERS_H

#include "bnr/client/backend.h"

/* Take what the spawner of this process has left in its environment. */
void orders_take_note(void);

int orders_start(struct backend *b, const BNR_Job_attr *attr, int *id);
int orders_state(int id, int *ended, int *status);
int orders_link(struct backend *b, int id, int is_linked, int *asked);
int orders_name(struct backend *b, enum BNR_Name_call call, const char *name, const char *text, int *id);
int orders_name_state(int id, int *done, int *code, char *text, size_t size);
const char *orders_note(void); /* NULL: none, or one of a group */
/* The note of a group (struct order_note) that has spawned this process; NULL: none has. */
const char *orders_group_note(void);
/* What a job of a group has told, in its order. Returns whether there was something: *what is an ORDER_TOLD_. */
bool orders_report(int id, uint32_t *what, int *number, int *status);
/* Nobody asks for the end of a job any more. */
void orders_let_go(int id);
/* Send a signal to a rank (-1: all) of a job, or, with id 0, of this process's own. Returns a BNR code. */
int orders_kill(struct backend *b, int id, int rank, int sig);
/* Whether a job can be started. */
bool orders_can_start(const struct backend *b);
/* This process ends as it should: the jobs that it has started itself go on. */
void orders_leave(void);
/* A letter of mpiexec's has come. */
void orders_told(const void *data, size_t len);

#endif
