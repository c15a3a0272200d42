/* SPDX-License-Identifier: BSD-3-Clause */

/* Procedures that take procedures of the user's, and attributes. Compiled twice: see entry.h. */
#include <stdio.h>
#include <stdlib.h>

#include "fortran/attribute.h"
#include "fortran/callback.h"
#include "fortran/entry.h"

/* MPIX_ functions, which another C library may lack. */
#pragma weak MPIX_Op_create_x
#pragma weak PMPIX_Op_create_x
#pragma weak MPIX_Comm_create_errhandler_x
#pragma weak PMPIX_Comm_create_errhandler_x
#pragma weak MPIX_File_create_errhandler_x
#pragma weak PMPIX_File_create_errhandler_x
#pragma weak MPIX_Session_create_errhandler_x
#pragma weak PMPIX_Session_create_errhandler_x
#pragma weak MPIX_Win_create_errhandler_x
#pragma weak PMPIX_Win_create_errhandler_x

#ifdef FORTRAN_PROFILE
#define MPIX_(name) PMPIX_##name
#else
#define MPIX_(name) MPIX_##name
#endif

static int lacks(const char *what)
{
    fprintf(stderr, "MPI for Fortran: this C library cannot call %s that is written in Fortran\n",
            what);
    (void)PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* ---- operations ---- */

static int create_op(MPIX_User_function_x *callback, fortran_procedure user, int commute, int *op)
{
    MPI_Op made;
    if (!MPIX_(Op_create_x))
        return lacks("an operation");
    int rc = MPIX_(Op_create_x)(callback, NULL, commute, callback_state(user), &made);
    if (rc == MPI_SUCCESS)
        *op = fortran_op_int(made);
    return rc;
}

FORTRAN_ENTRY(op_create, fortran_procedure user_fn, const int *commute, int *op, int *ierror)
{
    fortran_error(ierror, create_op(callback_reduce, user_fn, *commute != 0, op));
}

FORTRAN_ENTRY(op_create_c, fortran_procedure user_fn, const int *commute, int *op, int *ierror)
{
    fortran_error(ierror, create_op(callback_reduce_c, user_fn, *commute != 0, op));
}

/* ---- error handlers ---- */

#define CREATE_ERRHANDLER(name, word, call)                                                       \
    FORTRAN_ENTRY(word##_create_errhandler, fortran_procedure user, int *errhandler, int *ierror) \
    {                                                                                             \
        MPI_Errhandler made;                                                                      \
        int rc = MPIX_(name) ? MPIX_(name)(call, NULL, callback_state(user), &made)               \
                             : lacks("an error handler");                                         \
        if (rc == MPI_SUCCESS)                                                                    \
            *errhandler = fortran_errhandler_int(made);                                           \
        fortran_error(ierror, rc);                                                                \
    }
CREATE_ERRHANDLER(Comm_create_errhandler_x, comm, callback_comm_error)
CREATE_ERRHANDLER(File_create_errhandler_x, file, callback_file_error)
CREATE_ERRHANDLER(Session_create_errhandler_x, session, callback_session_error)
CREATE_ERRHANDLER(Win_create_errhandler_x, win, callback_win_error)

/* Their names of MPI-1. */
FORTRAN_ALIAS(void, comm_create_errhandler_, errhandler_create_, fortran_procedure user,
              int *errhandler, int *ierror)
FORTRAN_ENTRY(errhandler_set, const int *comm, const int *errhandler, int *ierror)
{
    fortran_error(ierror, MPI_(Comm_set_errhandler)(fortran_comm(*comm),
                                                    fortran_errhandler(*errhandler)));
}

FORTRAN_ENTRY(errhandler_get, const int *comm, int *errhandler, int *ierror)
{
    MPI_Errhandler got;
    int rc = MPI_(Comm_get_errhandler)(fortran_comm(*comm), &got);
    if (rc == MPI_SUCCESS)
        *errhandler = fortran_errhandler_int(got);
    fortran_error(ierror, rc);
}

/* ---- attributes ---- */

FORTRAN_ENTRY(comm_create_keyval, fortran_procedure copy, fortran_procedure delete, int *keyval,
              const MPI_Aint *extra_state, int *ierror)
{
    void *state = callback_keyval(copy, delete, *extra_state, 0);
    fortran_error(ierror, MPI_(Comm_create_keyval)(callback_copy_comm, callback_delete_comm, keyval,
                                                   state));
}

FORTRAN_ENTRY(type_create_keyval, fortran_procedure copy, fortran_procedure delete, int *keyval,
              const MPI_Aint *extra_state, int *ierror)
{
    void *state = callback_keyval(copy, delete, *extra_state, 0);
    fortran_error(ierror, MPI_(Type_create_keyval)(callback_copy_type, callback_delete_type, keyval,
                                                   state));
}

FORTRAN_ENTRY(win_create_keyval, fortran_procedure copy, fortran_procedure delete, int *keyval,
              const MPI_Aint *extra_state, int *ierror)
{
    void *state = callback_keyval(copy, delete, *extra_state, 0);
    fortran_error(ierror, MPI_(Win_create_keyval)(callback_copy_win, callback_delete_win, keyval,
                                                  state));
}

FORTRAN_ENTRY(keyval_create, fortran_procedure copy, fortran_procedure delete, int *keyval,
              const int *extra_state, int *ierror)
{
    void *state = callback_keyval(copy, delete, *extra_state, 1);
    fortran_error(ierror, MPI_(Comm_create_keyval)(callback_copy_comm, callback_delete_comm, keyval,
                                                   state));
}

FORTRAN_ENTRY(comm_set_attr, const int *comm, const int *keyval, const MPI_Aint *value, int *ierror)
{
    fortran_error(ierror, MPI_(Comm_set_attr)(fortran_comm(*comm), *keyval,
                                              attribute_of_value(*value)));
}

FORTRAN_ENTRY(type_set_attr, const int *type, const int *keyval, const MPI_Aint *value, int *ierror)
{
    fortran_error(ierror, MPI_(Type_set_attr)(fortran_type(*type), *keyval,
                                              attribute_of_value(*value)));
}

FORTRAN_ENTRY(win_set_attr, const int *win, const int *keyval, const MPI_Aint *value, int *ierror)
{
    fortran_error(ierror, MPI_(Win_set_attr)(fortran_win(*win), *keyval, attribute_of_value(*value)));
}

FORTRAN_ENTRY(attr_put, const int *comm, const int *keyval, const int *value, int *ierror)
{
    fortran_error(ierror, MPI_(Comm_set_attr)(fortran_comm(*comm), *keyval,
                                              attribute_of_value(*value)));
}

FORTRAN_ENTRY(comm_get_attr, const int *comm, const int *keyval, MPI_Aint *value, int *flag,
              int *ierror)
{
    void *attribute = NULL;
    int found = 0, rc = MPI_(Comm_get_attr)(fortran_comm(*comm), *keyval, &attribute, &found);
    if (rc == MPI_SUCCESS && found)
        *value = attribute_of_c(*keyval, attribute);
    *flag = fortran_logical(found);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(type_get_attr, const int *type, const int *keyval, MPI_Aint *value, int *flag,
              int *ierror)
{
    void *attribute = NULL;
    int found = 0, rc = MPI_(Type_get_attr)(fortran_type(*type), *keyval, &attribute, &found);
    if (rc == MPI_SUCCESS && found)
        *value = attribute_of_c(*keyval, attribute);
    *flag = fortran_logical(found);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(win_get_attr, const int *win, const int *keyval, MPI_Aint *value, int *flag, int *ierror)
{
    void *attribute = NULL;
    int found = 0, rc = MPI_(Win_get_attr)(fortran_win(*win), *keyval, &attribute, &found);
    if (rc == MPI_SUCCESS && found)
        *value = attribute_of_c(*keyval, attribute);
    *flag = fortran_logical(found);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(attr_get, const int *comm, const int *keyval, int *value, int *flag, int *ierror)
{
    void *attribute = NULL;
    int found = 0, rc = MPI_(Comm_get_attr)(fortran_comm(*comm), *keyval, &attribute, &found);
    if (rc == MPI_SUCCESS && found)
        *value = (int)attribute_of_c(*keyval, attribute);
    *flag = fortran_logical(found);
    fortran_error(ierror, rc);
}

/* ---- generalized requests, data representations ---- */

FORTRAN_ENTRY(grequest_start, fortran_procedure query, fortran_procedure free_fn,
              fortran_procedure cancel, const MPI_Aint *extra_state, int *request, int *ierror)
{
    MPI_Request made;
    struct grequest_functions *state = malloc(sizeof(*state));
    if (!state)
        fortran_end("out of memory for a generalized request");
    *state = (struct grequest_functions){query, free_fn, cancel, *extra_state};
    int rc = MPI_(Grequest_start)(callback_query, callback_free, callback_cancel, state, &made);
    if (rc == MPI_SUCCESS)
        *request = fortran_request_int(made);
    else
        free(state);
    fortran_error(ierror, rc);
}

static struct datarep_functions *datarep(fortran_procedure read, fortran_procedure write,
                                         fortran_procedure extent, MPI_Aint extra_state)
{
    struct datarep_functions *state = malloc(sizeof(*state));
    if (!state)
        fortran_end("out of memory for a data representation");
    *state = (struct datarep_functions){read, write, extent, extra_state};
    return state;
}

/* MPI_CONVERSION_FN_NULL is a procedure in Fortran, known by its address. */
FORTRAN_PUBLIC extern void mpi_conversion_fn_null_(void);
FORTRAN_PUBLIC extern void mpi_conversion_fn_null_c_(void);

static bool is_null(fortran_procedure conversion)
{
    return conversion == mpi_conversion_fn_null_ || conversion == mpi_conversion_fn_null_c_;
}

FORTRAN_ENTRY(register_datarep, const char *name, fortran_procedure read, fortran_procedure write,
              fortran_procedure extent, const MPI_Aint *extra_state, int *ierror, size_t name_len)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    int rc = MPI_(Register_datarep)(fortran_string(&memory, name, name_len, false),
                                    is_null(read) ? MPI_CONVERSION_FN_NULL : callback_read,
                                    is_null(write) ? MPI_CONVERSION_FN_NULL : callback_write,
                                    callback_extent, datarep(read, write, extent, *extra_state));
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(register_datarep_c, const char *name, fortran_procedure read,
              fortran_procedure write, fortran_procedure extent, const MPI_Aint *extra_state,
              int *ierror, size_t name_len)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    int rc = MPI_(Register_datarep_c)(fortran_string(&memory, name, name_len, false),
                                      is_null(read) ? MPI_CONVERSION_FN_NULL_C : callback_read_c,
                                      is_null(write) ? MPI_CONVERSION_FN_NULL_C : callback_write_c,
                                      callback_extent, datarep(read, write, extent, *extra_state));
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}
