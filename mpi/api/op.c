/* SPDX-License-Identifier: BSD-3-Clause */

/* Reduction operations (MPI-5.0 6.9.5 to 6.9.7). */
#include "mpi/type/op.h"

#include <mpi.h>

#include "mpi/comm/errh.h"
#include "mpi/type/type.h"

/* ---- life ---- */

static int create(const char *function, const struct op_user *user, int commute, MPI_Op *op)
{
    if (!user->function && !user->function_c && !user->function_x)
        return errh_comm(NULL, MPI_ERR_ARG, function, "user_fn is NULL");
    if (!op)
        return errh_comm(NULL, MPI_ERR_ARG, function, "op is NULL");
    struct op *made = op_create(user, commute != 0);
    if (!made)
        return errh_comm(NULL, MPI_ERR_NO_MEM, function, "out of memory");
    *op = (MPI_Op)made;
    return MPI_SUCCESS;
}

/*
 * Make an operation of a function of the program.
 *
 * The function computes inoutvec[i] = invec[i] op inoutvec[i] for *len elements; it must be
 * associative. It is called by the thread and within the call that reduces, and must not
 * communicate.
 *
 * user_fn: for MPI_Op_create_c it takes an MPI_Count as len; one that takes an int is called in
 *   parts if there are more elements
 * commute: 1 where the operation is commutative, and operands may come in any order, 0 if not
 * op: the operation, to be freed with MPI_Op_free
 *
 * MPI_ERR_ARG: user_fn or op is NULL.
 *
 * MPI-5.0 6.9.5
 */
int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return create(__func__, &(struct op_user){.function = user_fn}, commute, op);
}

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    return create(__func__, &(struct op_user){.function_c = user_fn}, commute, op);
}

/*
 * Make an operation of a function of the program that gets a state with each call.
 *
 * Beyond the standard, for bindings of other languages, whose functions C cannot call by
 * themselves. The rest is as for MPI_Op_create.
 *
 * user_fn: void fn(void *invec, void *inoutvec, MPI_Count len, MPI_Datatype datatype,
 *   void *extra_state)
 * destructor_fn: called with extra_state once the operation was freed and nothing uses it; NULL: none
 * commute: 1 where the operation is commutative, and operands may come in any order, 0 if not
 * extra_state: what user_fn gets
 * op: the operation, to be freed with MPI_Op_free
 *
 * MPI_ERR_ARG: user_fn or op is NULL.
 *
 * MPI-5.0 6.9.5
 */
int PMPIX_Op_create_x(MPIX_User_function_x *user_fn, MPIX_Destructor_function *destructor_fn,
                      int commute, void *extra_state, MPI_Op *op)
{
    const struct op_user user = {
        .function_x = user_fn, .destroy = destructor_fn, .state = extra_state};
    return create(__func__, &user, commute, op);
}

/* Find the operation of a handle, or report that there is none. */
static int find(const char *function, MPI_Op handle, struct op **op)
{
    *op = op_from(handle);
    if (*op)
        return MPI_SUCCESS;
    return errh_comm(NULL, MPI_ERR_OP, function, "op %s is no operation, or was freed",
                     errh_name(handle).text);
}

/*
 * Free an operation.
 *
 * Calls that use it are completed nevertheless.
 *
 * op (inout): the operation; then MPI_OP_NULL
 *
 * MPI_ERR_OP: op is MPI_OP_NULL, predefined, or not an operation.
 * MPI_ERR_ARG: op is NULL.
 *
 * MPI-5.0 6.9.5
 */
int PMPI_Op_free(MPI_Op *op)
{
    struct op *found;
    if (!op)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "op is NULL");
    int rc = find(__func__, *op, &found);
    if (rc)
        return rc;
    if (found->predefined)
        return errh_comm(NULL, MPI_ERR_OP, __func__, "op is predefined: it cannot be freed");
    op_free(found);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

/*
 * Tell whether an operation is commutative.
 *
 * This call is local: no other process takes part. The predefined operations are commutative. A
 * reduction by another is done in the order of ranks.
 *
 * commute: 1 or 0, as it was created; of the predefined, all but MPI_REPLACE and MPI_NO_OP are
 *
 * MPI-5.0 6.9.7
 */
int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    struct op *found;
    int rc = find(__func__, op, &found);
    if (rc)
        return rc;
    if (!commute)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "commute is NULL");
    *commute = found->commutative;
    return MPI_SUCCESS;
}

/* ---- use ---- */

/* Check one buffer of a local reduction. */
static int check_buffer(const char *function, const char *name, const void *buf, MPI_Count count,
                        MPI_Datatype datatype)
{
    struct mpid_bytes bytes;
    struct type *used;
    if (buf == MPI_IN_PLACE)
        return errh_comm(NULL, MPI_ERR_BUFFER, function, "%s: MPI_IN_PLACE has no meaning here",
                         name);
    switch (type_place(datatype, buf, count, &bytes, &used)) {
    case MPI_SUCCESS: return MPI_SUCCESS;
    case MPI_ERR_TYPE: return errh_bad_type(NULL, datatype, "datatype", function);
    case MPI_ERR_COUNT:
        return errh_comm(NULL, MPI_ERR_COUNT, function, "count %lld: negative or too large",
                         (long long)count);
    default: return errh_comm(NULL, MPI_ERR_BUFFER, function, "%s is NULL", name);
    }
}

/*
 * Combine two buffers of this process, element by element.
 *
 * inoutbuf[i] becomes inbuf[i] op inoutbuf[i]. No other process takes part.
 *
 * inbuf: the left operands
 * inoutbuf (inout): the right operands, and then the results; not inbuf
 *
 * MPI_ERR_OP: not an operation, or a predefined one that is not defined for the datatype.
 * MPI_ERR_BUFFER: a buffer is NULL or MPI_IN_PLACE, or both are the same.
 *
 * MPI-5.0 6.9.7
 */
int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    struct op *found;
    int rc = find(__func__, op, &found);
    if (!rc)
        rc = check_buffer(__func__, "inbuf", inbuf, count, datatype);
    if (!rc)
        rc = check_buffer(__func__, "inoutbuf", inoutbuf, count, datatype);
    if (rc)
        return rc;
    if (op_check(found, datatype))
        return errh_comm(NULL, MPI_ERR_OP, __func__,
                         "op: not defined for this datatype (MPI-5.0 6.9.2)");
    if (inbuf == inoutbuf && inbuf && count > 0)
        return errh_comm(NULL, MPI_ERR_BUFFER, __func__, "inbuf and inoutbuf are the same");
    return op_apply(found, inbuf, inoutbuf, count, datatype);
}

#include "op.gen.h"
