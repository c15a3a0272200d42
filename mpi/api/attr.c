/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes of communicators and datatypes (MPI-5.0 7.7). */

#include "mpi/comm/comm.h"
#include "mpi/comm/comm_attr.h"
#include "mpi/comm/errh.h"
#include "mpi/type/type.h"
#include "mpi/type/type_attr.h"
#include "mpi/world.h"

/* Say what went wrong with a keyval; a callback's own code goes to the user as it is. */
static int report(struct comm *comm, int rc, int keyval, const char *function)
{
    switch (rc) {
    case MPI_SUCCESS: return MPI_SUCCESS;
    case MPI_ERR_KEYVAL:
        return errh_comm(comm, rc, function, "%d is no key of attributes here, or was freed",
                         keyval);
    case MPI_ERR_ARG:
        return errh_comm(comm, rc, function, "the object has no attribute of key %d", keyval);
    case MPI_ERR_NO_MEM: return errh_comm(comm, rc, function, "no memory for an attribute");
    default:
        return errh_comm(comm, rc, function, "a callback of key %d returned error code %d",
                         keyval, rc);
    }
}

static bool is_predefined(int keyval)
{
    return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}

/* ---- communicators ---- */

static int create_comm_keyval(union attr_copy copy, union attr_delete delete, void *extra_state,
                              int *keyval, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (!keyval)
        return errh_comm(NULL, MPI_ERR_ARG, function, "the place for the key is NULL");
    return report(NULL, attr_create_keyval(ATTR_COMM, copy, delete, extra_state, keyval), 0,
                  function);
}

static int free_keyval(enum attr_kind kind, int *keyval, const char *function)
{
    if (!keyval)
        return errh_comm(NULL, MPI_ERR_ARG, function, "the key is NULL");
    int rc = attr_free_keyval(kind, *keyval);
    if (rc)
        return report(NULL, rc, *keyval, function);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static int set_comm(MPI_Comm comm, int keyval, void *value, const char *function)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, function);
    if (is_predefined(keyval))
        return errh_comm(on, MPI_ERR_KEYVAL, function, "attribute %d is predefined", keyval);
    return report(on, attr_set(comm_attr_of(on), keyval, value), keyval, function);
}

static int get_comm(MPI_Comm comm, int keyval, void *value, int *flag, const char *function)
{
    bool found = false;
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, function);
    if (!value || !flag)
        return errh_comm(on, MPI_ERR_ARG, function, "an argument is NULL");
    int rc = attr_get(comm_attr_of(on), keyval, value, &found);
    if (!rc)
        *flag = found;
    return report(on, rc, keyval, function);
}

static int delete_comm(MPI_Comm comm, int keyval, const char *function)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, function);
    if (is_predefined(keyval))
        return errh_comm(on, MPI_ERR_KEYVAL, function, "attribute %d is predefined", keyval);
    return report(on, attr_delete(comm_attr_of(on), keyval), keyval, function);
}

/*
 * Make a key under which communicators carry attributes.
 *
 * A callback that returns another code than MPI_SUCCESS makes the call fail that has brought it
 * about, with that code. Callbacks may use attributes themselves.
 *
 * comm_copy_attr_fn: called by MPI_Comm_dup and MPI_Comm_idup for each attribute, to say whether
 *   and how it is copied; MPI_COMM_NULL_COPY_FN: it is not; MPI_COMM_DUP_FN: as it is
 * comm_delete_attr_fn: called when an attribute is deleted or replaced, and by MPI_Comm_free;
 *   MPI_COMM_NULL_DELETE_FN: nothing is done
 * comm_keyval: the key, to be freed with MPI_Comm_free_keyval
 *
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.7.2
 */
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
    MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state)
{
    return create_comm_keyval((union attr_copy){.comm = comm_copy_attr_fn},
                              (union attr_delete){.comm = comm_delete_attr_fn}, extra_state,
                              comm_keyval, __func__);
}

/*
 * Free a key of attributes.
 *
 * Attributes that communicators have under it stay.
 *
 * comm_keyval (inout): the key; then MPI_KEYVAL_INVALID
 *
 * MPI_ERR_KEYVAL: not a key of communicators.
 * MPI_ERR_ARG: comm_keyval is NULL.
 *
 * MPI-5.0 7.7.2
 */
int PMPI_Comm_free_keyval(int *comm_keyval)
{
    return free_keyval(ATTR_COMM, comm_keyval, __func__);
}

/*
 * Give a communicator an attribute.
 *
 * An old one under the same key is deleted first, with its callback.
 *
 * comm_keyval: key of MPI_Comm_create_keyval
 * attribute_val (in): the attribute, which the library only keeps
 *
 * MPI_ERR_KEYVAL: not a key of communicators, or a predefined one.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.7.2
 */
int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    return set_comm(comm, comm_keyval, attribute_val, __func__);
}

/*
 * Read an attribute of a communicator.
 *
 * The value of a predefined key, such as MPI_TAG_UB, is a pointer to an int.
 *
 * comm_keyval: key of MPI_Comm_create_keyval, or a predefined one
 * attribute_val: address of a pointer, which is set to the attribute
 * flag: 1 if there is one, 0 if not
 *
 * MPI_ERR_KEYVAL: not a key of communicators.
 *
 * MPI-5.0 7.7.2
 */
int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    return get_comm(comm, comm_keyval, attribute_val, flag, __func__);
}

/*
 * Delete an attribute of a communicator.
 *
 * Its callback is called first; if that fails, the attribute stays.
 *
 * comm_keyval: key of MPI_Comm_create_keyval
 *
 * MPI_ERR_KEYVAL: not a key of communicators, or a predefined one.
 * MPI_ERR_ARG: there is no attribute under this key.
 *
 * MPI-5.0 7.7.2
 */
int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    return delete_comm(comm, comm_keyval, __func__);
}

/* ---- the deprecated names of the same ---- */

/*
 * Make a key under which communicators carry attributes.
 *
 * MPI_Comm_create_keyval replaces it. A callback that returns another code than MPI_SUCCESS
 * makes the call fail that has brought it about, with that code. Callbacks may use attributes
 * themselves.
 *
 * copy_fn: called by MPI_Comm_dup and MPI_Comm_idup for each attribute, to say whether and how
 *   it is copied; MPI_NULL_COPY_FN: it is not; MPI_DUP_FN: as it is
 * delete_fn: called when an attribute is deleted or replaced, and by MPI_Comm_free;
 *   MPI_NULL_DELETE_FN: nothing is done
 * keyval: the key, to be freed with MPI_Keyval_free
 *
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
    void *extra_state)
{
    return create_comm_keyval((union attr_copy){.comm = copy_fn},
                              (union attr_delete){.comm = delete_fn}, extra_state, keyval,
                              __func__);
}

/*
 * Free a key of attributes.
 *
 * MPI_Comm_free_keyval replaces it. Attributes that communicators have under it stay.
 *
 * keyval (inout): the key; then MPI_KEYVAL_INVALID
 *
 * MPI_ERR_KEYVAL: not a key of communicators.
 * MPI_ERR_ARG: keyval is NULL.
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Keyval_free(int *keyval)
{
    return free_keyval(ATTR_COMM, keyval, __func__);
}

/*
 * Give a communicator an attribute.
 *
 * MPI_Comm_set_attr replaces it. An old one under the same key is deleted first, with its
 * callback.
 *
 * keyval: key of MPI_Keyval_create
 * attribute_val (in): the attribute, which the library only keeps
 *
 * MPI_ERR_KEYVAL: not a key of communicators, or a predefined one.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    return set_comm(comm, keyval, attribute_val, __func__);
}

/*
 * Read an attribute of a communicator.
 *
 * MPI_Comm_get_attr replaces it. The value of a predefined key, such as MPI_TAG_UB, is a pointer
 * to an int.
 *
 * keyval: key of MPI_Keyval_create, or a predefined one
 * attribute_val: address of a pointer, which is set to the attribute
 * flag: 1 if there is one, 0 if not
 *
 * MPI_ERR_KEYVAL: not a key of communicators.
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return get_comm(comm, keyval, attribute_val, flag, __func__);
}

/*
 * Delete an attribute of a communicator.
 *
 * MPI_Comm_delete_attr replaces it. Its callback is called first; if that fails, the
 * attribute stays.
 *
 * keyval: key of MPI_Keyval_create
 *
 * MPI_ERR_KEYVAL: not a key of communicators, or a predefined one.
 * MPI_ERR_ARG: there is no attribute under this key.
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return delete_comm(comm, keyval, __func__);
}

/* ---- datatypes ---- */

static int bad_type(MPI_Datatype datatype, const char *function)
{
    return errh_bad_type(NULL, datatype, "datatype", function);
}

/*
 * Make a key under which datatypes carry attributes.
 *
 * A callback that returns another code than MPI_SUCCESS makes the call fail that has brought it
 * about, with that code. Callbacks may use attributes themselves.
 *
 * type_copy_attr_fn: called by MPI_Type_dup for each attribute, to say whether and how it is
 *   copied; MPI_TYPE_NULL_COPY_FN: it is not; MPI_TYPE_DUP_FN: as it is
 * type_delete_attr_fn: called when an attribute is deleted or replaced, and by MPI_Type_free;
 *   MPI_TYPE_NULL_DELETE_FN: nothing is done
 * type_keyval: the key, to be freed with MPI_Type_free_keyval
 *
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.7.4
 */
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
    MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!type_keyval)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "the place for the key is NULL");
    int rc = attr_create_keyval(ATTR_TYPE, (union attr_copy){.type = type_copy_attr_fn},
                                (union attr_delete){.type = type_delete_attr_fn}, extra_state,
                                type_keyval);
    return report(NULL, rc, 0, __func__);
}

/*
 * Free a key of attributes.
 *
 * Attributes that datatypes have under it stay.
 *
 * type_keyval (inout): the key; then MPI_KEYVAL_INVALID
 *
 * MPI_ERR_KEYVAL: not a key of datatypes.
 * MPI_ERR_ARG: type_keyval is NULL.
 *
 * MPI-5.0 7.7.4
 */
int PMPI_Type_free_keyval(int *type_keyval)
{
    return free_keyval(ATTR_TYPE, type_keyval, __func__);
}

/*
 * Give a datatype an attribute.
 *
 * An old one under the same key is deleted first, with its callback.
 *
 * type_keyval: key of MPI_Type_create_keyval
 * attribute_val (in): the attribute, which the library only keeps
 *
 * MPI_ERR_KEYVAL: not a key of datatypes.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.7.4
 */
int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    struct type *type = type_from(datatype);
    if (!type)
        return bad_type(datatype, __func__);
    return report(NULL, attr_set(type_attr_of(type), type_keyval, attribute_val), type_keyval,
                  __func__);
}

/*
 * Read an attribute of a datatype.
 *
 * This call is local: no other process takes part. An attribute is set by MPI_Type_set_attr under a
 * key of MPI_Type_create_keyval.
 *
 * type_keyval: key of MPI_Type_create_keyval
 * attribute_val: address of a pointer, which is set to the attribute
 * flag: 1 if there is one, 0 if not
 *
 * MPI_ERR_KEYVAL: not a key of datatypes.
 *
 * MPI-5.0 7.7.4
 */
int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    bool found = false;
    struct type *type = type_from(datatype);
    if (!type)
        return bad_type(datatype, __func__);
    if (!attribute_val || !flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "an argument is NULL");
    int rc = attr_get(type_attr_of(type), type_keyval, attribute_val, &found);
    if (!rc)
        *flag = found;
    return report(NULL, rc, type_keyval, __func__);
}

/*
 * Delete an attribute of a datatype.
 *
 * Its callback is called first; if that fails, the attribute stays.
 *
 * type_keyval: key of MPI_Type_create_keyval
 *
 * MPI_ERR_KEYVAL: not a key of datatypes.
 * MPI_ERR_ARG: there is no attribute under this key.
 *
 * MPI-5.0 7.7.4
 */
int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
    struct type *type = type_from(datatype);
    if (!type)
        return bad_type(datatype, __func__);
    return report(NULL, attr_delete(type_attr_of(type), type_keyval), type_keyval, __func__);
}

#include "attr.gen.h"
