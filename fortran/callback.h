/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions of the user's that are Fortran: each kind is called by a C function, which gets what it
 * needs to know as its extra state.
 */
#ifndef FORTRAN_CALLBACK_H
#define FORTRAN_CALLBACK_H

#include <mpi.h>

typedef void (*fortran_procedure)(void); /* any: which one is said by who calls it */

/* The procedures of one key of attributes. Those of MPI-1 have INTEGERs as values. Never freed: nobody
 * says when the last attribute is gone. */
struct keyval_functions {
    fortran_procedure copy, delete;
    MPI_Aint extra_state;
    int is_old;
};
struct keyval_functions *callback_keyval(fortran_procedure copy, fortran_procedure delete,
                                         MPI_Aint extra_state, int is_old);
int callback_copy_comm(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag);
int callback_copy_type(MPI_Datatype type, int keyval, void *state, void *in, void *out, int *flag);
int callback_copy_win(MPI_Win win, int keyval, void *state, void *in, void *out, int *flag);
int callback_delete_comm(MPI_Comm comm, int keyval, void *value, void *state);
int callback_delete_type(MPI_Datatype type, int keyval, void *value, void *state);
int callback_delete_win(MPI_Win win, int keyval, void *value, void *state);

/* Operations and error handlers: the state is the procedure. */
void callback_reduce(void *in, void *inout, MPI_Count len, MPI_Datatype type, void *state);
void callback_reduce_c(void *in, void *inout, MPI_Count len, MPI_Datatype type, void *state);
void callback_comm_error(MPI_Comm comm, int code, void *state);
void callback_file_error(MPI_File file, int code, void *state);
void callback_session_error(MPI_Session session, int code, void *state);
void callback_win_error(MPI_Win win, int code, void *state);
void *callback_state(fortran_procedure procedure);

/* A generalized request; freed by its free function. */
struct grequest_functions {
    fortran_procedure query, free, cancel;
    MPI_Aint extra_state;
};
int callback_query(void *state, MPI_Status *status);
int callback_free(void *state);
int callback_cancel(void *state, int complete);

/* A data representation of files; never freed, as it is not. */
struct datarep_functions {
    fortran_procedure read, write, extent;
    MPI_Aint extra_state;
};
int callback_read(void *buf, MPI_Datatype type, int count, void *file, MPI_Offset position,
                  void *state);
int callback_write(void *buf, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   void *state);
int callback_read_c(void *buf, MPI_Datatype type, MPI_Count count, void *file,
                    MPI_Offset position, void *state);
int callback_write_c(void *buf, MPI_Datatype type, MPI_Count count, void *file,
                     MPI_Offset position, void *state);
int callback_extent(MPI_Datatype type, MPI_Aint *extent, void *state);

#endif
