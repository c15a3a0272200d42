/* SPDX-License-Identifier: BSD-3-Clause */

/* C's side of procedures that the user wrote in Fortran; see callback.h. */
#include "fortran/callback.h"

#include <limits.h>
#include <stdlib.h>

#include "fortran/attribute.h"
#include "fortran/fortran.h"
#include "fortran/handles.h"

/* ---- attributes ---- */

typedef void copy_procedure(int *object, int *keyval, MPI_Aint *extra_state, MPI_Aint *in,
                            MPI_Aint *out, int *flag, int *ierror);
typedef void copy_procedure_old(int *object, int *keyval, int *extra_state, int *in, int *out,
                                int *flag, int *ierror);
typedef void delete_procedure(int *object, int *keyval, MPI_Aint *value, MPI_Aint *extra_state,
                              int *ierror);
typedef void delete_procedure_old(int *object, int *keyval, int *value, int *extra_state,
                                  int *ierror);

struct keyval_functions *callback_keyval(fortran_procedure copy, fortran_procedure delete,
                                         MPI_Aint extra_state, int is_old)
{
    struct keyval_functions *made = malloc(sizeof(*made));
    if (!made)
        fortran_end("out of memory for a key of attributes");
    *made = (struct keyval_functions){copy, delete, extra_state, is_old};
    return made;
}

static int copy(int object, int keyval, struct keyval_functions *f, void *in, void *out, int *flag)
{
    MPI_Aint value = attribute_value(in), copied = value;
    int rc = MPI_SUCCESS, copies = fortran_logical(0);
    if (f->is_old) {
        int old = (int)value, old_copied = old, old_state = (int)f->extra_state;
        ((copy_procedure_old *)f->copy)(&object, &keyval, &old_state, &old, &old_copied, &copies,
                                        &rc);
        copied = old_copied == old ? value : old_copied;
    } else {
        ((copy_procedure *)f->copy)(&object, &keyval, &f->extra_state, &value, &copied, &copies,
                                    &rc);
    }
    *flag = copies != 0;
    /* A value that C has set is passed on as it is. */
    if (copies)
        *(void **)out = copied == value ? in : attribute_of_value(copied);
    return rc;
}

static int delete(int object, int keyval, struct keyval_functions *f, void *in)
{
    MPI_Aint value = attribute_value(in);
    int rc = MPI_SUCCESS, old = (int)value, old_state = (int)f->extra_state;
    if (f->is_old)
        ((delete_procedure_old *)f->delete)(&object, &keyval, &old, &old_state, &rc);
    else
        ((delete_procedure *)f->delete)(&object, &keyval, &value, &f->extra_state, &rc);
    return rc;
}

int callback_copy_comm(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    return copy(fortran_comm_int(comm), keyval, state, in, out, flag);
}

int callback_copy_type(MPI_Datatype type, int keyval, void *state, void *in, void *out, int *flag)
{
    return copy(fortran_type_int(type), keyval, state, in, out, flag);
}

int callback_copy_win(MPI_Win win, int keyval, void *state, void *in, void *out, int *flag)
{
    return copy(fortran_win_int(win), keyval, state, in, out, flag);
}

int callback_delete_comm(MPI_Comm comm, int keyval, void *value, void *state)
{
    return delete(fortran_comm_int(comm), keyval, state, value);
}

int callback_delete_type(MPI_Datatype type, int keyval, void *value, void *state)
{
    return delete(fortran_type_int(type), keyval, state, value);
}

int callback_delete_win(MPI_Win win, int keyval, void *value, void *state)
{
    return delete(fortran_win_int(win), keyval, state, value);
}

/* ---- operations and error handlers ---- */

typedef void reduce_procedure(void *in, void *inout, int *len, int *type);
typedef void reduce_procedure_c(void *in, void *inout, MPI_Count *len, int *type);
typedef void error_procedure(int *object, int *code);

void *callback_state(fortran_procedure procedure)
{
    return (void *)(uintptr_t)procedure;
}

static fortran_procedure procedure_of(void *state)
{
    return (fortran_procedure)(uintptr_t)state;
}

void callback_reduce(void *in, void *inout, MPI_Count len, MPI_Datatype type, void *state)
{
    int number = fortran_type_int(type);
    MPI_Aint lb, extent = 0;
    if (len > INT_MAX)
        (void)PMPI_Type_get_extent(type, &lb, &extent);
    for (MPI_Count done = 0; done < len;) {
        int some = len - done > INT_MAX ? INT_MAX : (int)(len - done);
        ((reduce_procedure *)procedure_of(state))((char *)in + done * extent,
                                                  (char *)inout + done * extent, &some, &number);
        done += some;
    }
}

void callback_reduce_c(void *in, void *inout, MPI_Count len, MPI_Datatype type, void *state)
{
    int number = fortran_type_int(type);
    ((reduce_procedure_c *)procedure_of(state))(in, inout, &len, &number);
}

static void tell(int object, int code, void *state)
{
    ((error_procedure *)procedure_of(state))(&object, &code);
}

void callback_comm_error(MPI_Comm comm, int code, void *state)
{
    tell(fortran_comm_int(comm), code, state);
}

void callback_file_error(MPI_File file, int code, void *state)
{
    tell(fortran_file_int(file), code, state);
}

void callback_session_error(MPI_Session session, int code, void *state)
{
    tell(fortran_session_int(session), code, state);
}

void callback_win_error(MPI_Win win, int code, void *state)
{
    tell(fortran_win_int(win), code, state);
}

/* ---- generalized requests ---- */

typedef void query_procedure(MPI_Aint *extra_state, MPI_Status *status, int *ierror);
typedef void free_procedure(MPI_Aint *extra_state, int *ierror);
typedef void cancel_procedure(MPI_Aint *extra_state, int *complete, int *ierror);

int callback_query(void *state, MPI_Status *status)
{
    struct grequest_functions *f = state;
    int rc = MPI_SUCCESS;
    ((query_procedure *)f->query)(&f->extra_state, status, &rc);
    return rc;
}

int callback_free(void *state)
{
    struct grequest_functions *f = state;
    int rc = MPI_SUCCESS;
    ((free_procedure *)f->free)(&f->extra_state, &rc);
    free(f);
    return rc;
}

int callback_cancel(void *state, int complete)
{
    struct grequest_functions *f = state;
    int rc = MPI_SUCCESS, is_complete = fortran_logical(complete != 0);
    ((cancel_procedure *)f->cancel)(&f->extra_state, &is_complete, &rc);
    return rc;
}

/* ---- data representations ---- */

typedef void convert_procedure(void *buf, int *type, int *count, void *file, MPI_Offset *position,
                               MPI_Aint *extra_state, int *ierror);
typedef void convert_procedure_c(void *buf, int *type, MPI_Count *count, void *file,
                                 MPI_Offset *position, MPI_Aint *extra_state, int *ierror);
typedef void extent_procedure(int *type, MPI_Aint *extent, MPI_Aint *extra_state, int *ierror);

int callback_read(void *buf, MPI_Datatype type, int count, void *file, MPI_Offset position,
                  void *state)
{
    struct datarep_functions *f = state;
    int rc = MPI_SUCCESS, number = fortran_type_int(type);
    ((convert_procedure *)f->read)(buf, &number, &count, file, &position, &f->extra_state, &rc);
    return rc;
}

int callback_write(void *buf, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   void *state)
{
    struct datarep_functions *f = state;
    int rc = MPI_SUCCESS, number = fortran_type_int(type);
    ((convert_procedure *)f->write)(buf, &number, &count, file, &position, &f->extra_state, &rc);
    return rc;
}

int callback_read_c(void *buf, MPI_Datatype type, MPI_Count count, void *file,
                    MPI_Offset position, void *state)
{
    struct datarep_functions *f = state;
    int rc = MPI_SUCCESS, number = fortran_type_int(type);
    ((convert_procedure_c *)f->read)(buf, &number, &count, file, &position, &f->extra_state, &rc);
    return rc;
}

int callback_write_c(void *buf, MPI_Datatype type, MPI_Count count, void *file,
                     MPI_Offset position, void *state)
{
    struct datarep_functions *f = state;
    int rc = MPI_SUCCESS, number = fortran_type_int(type);
    ((convert_procedure_c *)f->write)(buf, &number, &count, file, &position, &f->extra_state,
                                      &rc);
    return rc;
}

int callback_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    struct datarep_functions *f = state;
    int rc = MPI_SUCCESS, number = fortran_type_int(type);
    ((extent_procedure *)f->extent)(&number, extent, &f->extra_state, &rc);
    return rc;
}
