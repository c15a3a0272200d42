/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The texts of errors: one for each class, and those of the errors that were raised last. May be called
 * before MPI_Init and after MPI_Finalize, by any thread.
 */
#ifndef MPI_ERRH_TEXT_H
#define MPI_ERRH_TEXT_H

#include <mpi.h>
#include <stdbool.h>

/* Codes with a text are class + k * this; all are below MPI_ERR_LASTCODE. */
enum { ERRH_TEXT_STEP = 128 };

/* The codes of failures of processes are their classes: programs that go on after these often compare the two. */
extern _Atomic bool errh_failures_are_plain;

/* The text of a predefined class (MPI_SUCCESS has one too), or NULL. */
const char *errh_text_of_class(int error_class);

/* Copy a text, cut to the room that there is. */
void errh_text_put(char text[MPI_MAX_ERROR_STRING], const char *from);

/* Keep the text of an error of a class. Returns its code. */
int errh_text_keep(int error_class, const char *text);
/* Get the text of a code that is among the recent ones. Returns whether it is. */
bool errh_text_recall(int code, char text[MPI_MAX_ERROR_STRING]);

#endif
