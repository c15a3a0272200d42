/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Codes of errors: an error class is a code; codes with a text are class + k * ERRH_TEXT_STEP. Codes above
 * MPI_ERR_LASTCODE are the user's. May be called before MPI_Init and after MPI_Finalize, by any thread.
 */
#ifndef MPI_ERRH_CODE_H
#define MPI_ERRH_CODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Return the class of a code; MPI_ERR_UNKNOWN for a number that is no code. */
int errh_class(int code);
/* Write the text of a code, of MPI_MAX_ERROR_STRING bytes. Returns whether it is a code. */
bool errh_string(int code, char *text);

/* The error class that a peer has sent, or MPI_ERR_OTHER if it is none. */
int errh_class_of_peer(int32_t sent);

/* Classes and codes of the user, from MPI_ERR_LASTCODE + 1 on. Return MPI_SUCCESS or the
 * class of the error; error_class 0 adds a class. */
int errh_add_code(int error_class, int *code);
int errh_remove_code(int code, bool is_class);
int errh_set_string(int code, const char *text); /* NULL: no longer */
extern int errh_last_used; /* MPI_LASTUSEDCODE */

#endif
