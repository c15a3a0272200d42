/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Properties of datatypes (MPI-5.0 5.1): sizes, bounds, names, how they were made; and predefined
 * ones by what they hold.
 */

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <mpi.h>

#include "mpi/api/type_argument.h"
#include "mpi/comm/errh.h"
#include "mpi/type/type.h"
#include "mpi/type/type_make.h"
#include "mpi/type/type_match.h"
#include "mpi/type/type_tree.h"

/* ---- sizes and addresses ---- */

/*
 * Tell how many bytes of data a datatype has.
 *
 * Gaps do not count.
 *
 * size: bytes; MPI_UNDEFINED where an int cannot hold it
 *
 * MPI-5.0 5.1.5
 */
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (rc)
        return rc;
    if (!size)
        return type_no_pointer(__func__, "size");
    *size = type->size;
    return MPI_SUCCESS;
}

/*
 * Tell how many bytes of data a datatype has, as an MPI_Count.
 *
 * The same as MPI_Type_size_c, which replaces it.
 *
 * size: bytes
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    return PMPI_Type_size_c(datatype, size);
}

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    /* programs ask for sizes of predefined types in inner loops */
    int64_t constant = type_constant_bytes(datatype, 1);
    if (constant > 0 && size) {
        *size = (int)constant;
        return MPI_SUCCESS;
    }
    MPI_Count wide = 0;
    int rc = PMPI_Type_size_c(datatype, size ? &wide : NULL);

    if (!rc)
        *size = wide > INT_MAX ? MPI_UNDEFINED : (int)wide;
    return rc;
}

/*
 * Tell the bounds of a datatype.
 *
 * This call is local: no other process takes part. In a row of elements, each begins extent bytes
 * after the one before.
 *
 * lb: lower bound in bytes
 * extent: bytes from one element of an array to the next
 *
 * MPI-5.0 5.1.7
 */
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (rc)
        return rc;
    if (!lb || !extent)
        return type_no_pointer(__func__, "lb or extent");
    *lb = type->lb;
    *extent = type->extent;
    return MPI_SUCCESS;
}

/*
 * Tell the bounds of a datatype, as MPI_Count.
 *
 * The same as MPI_Type_get_extent_c, which replaces it.
 *
 * lb: lower bound in bytes
 * extent: bytes from one element of an array to the next
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return PMPI_Type_get_extent_c(datatype, lb, extent);
}

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    return PMPI_Type_get_extent_c(datatype, lb, extent);
}

/*
 * Tell where the data of a datatype lie, without regard to bounds set by hand.
 *
 * This call is local: no other process takes part. A buffer for one element needs so many bytes,
 * from the true lower bound on.
 *
 * true_lb: the first byte of data
 * true_extent: bytes from there to the end of the last one: the memory that one element needs
 *
 * MPI-5.0 5.1.8
 */
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (rc)
        return rc;
    if (!true_lb || !true_extent)
        return type_no_pointer(__func__, "true_lb or true_extent");
    *true_lb = type->true_lb;
    *true_extent = type->true_extent;
    return MPI_SUCCESS;
}

/*
 * Tell where the data of a datatype lie, as MPI_Count.
 *
 * The same as MPI_Type_get_true_extent_c, which replaces it.
 *
 * true_lb: the first byte of data
 * true_extent: bytes from there to the end of the last one
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return PMPI_Type_get_true_extent_c(datatype, true_lb, true_extent);
}

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    return PMPI_Type_get_true_extent_c(datatype, true_lb, true_extent);
}

/*
 * Tell the address of a place in memory.
 *
 * In C it is what a cast gives; buffers whose datatype has addresses as displacements begin at
 * MPI_BOTTOM.
 *
 * location: the place
 * address: its address; MPI_Aint_add and MPI_Aint_diff compute with it
 *
 * MPI-5.0 5.1.5
 */
int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    if (!address)
        return type_no_pointer(__func__, "address");
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

/* ---- names ---- */

/*
 * Give a datatype a name.
 *
 * This call is local: no other process takes part. Names show up in the library's messages, and in
 * tools.
 *
 * type_name: at most MPI_MAX_OBJECT_NAME - 1 characters are kept
 *
 * MPI_ERR_ARG: type_name is NULL.
 *
 * MPI-5.0 7.8
 */
int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (rc)
        return rc;
    if (!type_name)
        return type_no_pointer(__func__, "type_name");
    name_set(&type->name, type_name);
    return MPI_SUCCESS;
}

/*
 * Tell the name of a datatype.
 *
 * This call is local: no other process takes part. Predefined datatypes have their own names from
 * the beginning; another has an empty one until MPI_Type_set_name gives it one.
 *
 * datatype: maybe MPI_DATATYPE_NULL, which has its own name
 * type_name: room for MPI_MAX_OBJECT_NAME characters; gets the name, empty if it has none,
 *   with a 0 after it
 * resultlen: length of the name in characters
 *
 * MPI-5.0 7.8
 */
int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    struct type *type;

    if (!type_name || !resultlen)
        return type_no_pointer(__func__, "type_name or resultlen");
    if (datatype == MPI_DATATYPE_NULL) {
        *resultlen = (int)strlen(strcpy(type_name, "MPI_DATATYPE_NULL"));
        return MPI_SUCCESS;
    }
    int rc = type_argument(__func__, datatype, &type);
    if (rc)
        return rc;
    *resultlen = name_get(&type->name, type_name);
    return MPI_SUCCESS;
}

/* ---- how a type was made ---- */

/*
 * Tell which call has made a datatype, and how many arguments that had.
 *
 * MPI_Type_get_contents then tells the arguments. A datatype that was made by a _c function has
 * large counts; only MPI_Type_get_envelope_c can tell them.
 *
 * num_integers: arguments that are ints
 * num_addresses: arguments that are addresses
 * num_large_counts: arguments that are MPI_Count
 * num_datatypes: arguments that are datatypes
 * combiner: the call, such as MPI_COMBINER_VECTOR; MPI_COMBINER_NAMED: the datatype is
 *   predefined
 *
 * MPI_ERR_TYPE: not a datatype; or one with large counts, of MPI_Type_get_envelope.
 *
 * MPI-5.0 5.1.13
 */
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
                             MPI_Count *num_addresses, MPI_Count *num_large_counts,
                             MPI_Count *num_datatypes, int *combiner)
{
    struct type_tree_counts counts;
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (rc)
        return rc;
    if (!num_integers || !num_addresses || !num_large_counts || !num_datatypes || !combiner)
        return type_no_pointer(__func__, "an argument for a result");
    type_tree_envelope(type, &counts);
    *num_integers = counts.integers;
    *num_addresses = counts.addresses;
    *num_large_counts = counts.larges;
    *num_datatypes = counts.types;
    *combiner = counts.combiner;
    return MPI_SUCCESS;
}

/* Refuse what the calls without large counts cannot tell. */
static int check_small(const char *function, const struct type *type,
                       struct type_tree_counts *counts)
{
    type_tree_envelope(type, counts);
    if (counts->larges || counts->integers > INT_MAX || counts->addresses > INT_MAX ||
        counts->types > INT_MAX)
        return errh_comm(NULL, MPI_ERR_TYPE, function,
                         "the datatype was made with large counts: call %s_c", function + 1);
    return MPI_SUCCESS;
}

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    struct type_tree_counts counts;
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (!rc && (!num_integers || !num_addresses || !num_datatypes || !combiner))
        rc = type_no_pointer(__func__, "an argument for a result");
    if (!rc)
        rc = check_small(__func__, type, &counts);
    if (rc)
        return rc;
    *num_integers = (int)counts.integers;
    *num_addresses = (int)counts.addresses;
    *num_datatypes = (int)counts.types;
    *combiner = counts.combiner;
    return MPI_SUCCESS;
}

/* Check that the user's arrays are long enough. */
static int check_contents(const char *function, struct type *type,
                          const struct type_tree_counts *room)
{
    struct type_tree_counts counts;

    type_tree_envelope(type, &counts);
    if (counts.combiner == MPI_COMBINER_NAMED) {
        char name[MPI_MAX_OBJECT_NAME];
        (void)name_get(&type->name, name);
        return errh_comm(NULL, MPI_ERR_TYPE, function, "%s is predefined", name);
    }
    if (room->integers < counts.integers || room->addresses < counts.addresses ||
        room->larges < counts.larges || room->types < counts.types)
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "the datatype has %lld integers, %lld addresses, %lld large counts and "
                         "%lld datatypes, more than the arrays hold",
                         (long long)counts.integers, (long long)counts.addresses,
                         (long long)counts.larges, (long long)counts.types);
    return MPI_SUCCESS;
}

/* Give out what a type was made of: objects of the user's own, but for predefined ones. */
static int give_types(const char *function, const struct type *type, MPI_Datatype *types)
{
    const struct type_tree *tree = type->tree;

    for (int64_t i = 0; i < tree->type_count; i++) {
        struct type *made = tree->types[i];
        if (!made->predefined && type_make_again(made, &made)) {
            while (i-- > 0)
                type_unref(type_from(types[i]));
            return errh_comm(NULL, MPI_ERR_NO_MEM, function, "out of memory");
        }
        types[i] = made->handle;
    }
    return MPI_SUCCESS;
}

/*
 * Tell the arguments of the call that has made a datatype.
 *
 * The numbers of MPI_Type_get_envelope are how long the arrays must be. Datatypes that are given
 * out are new objects, without attributes and name, and must be freed by MPI_Type_free, unless
 * they are predefined.
 *
 * max_integers: length of array_of_integers
 * max_addresses: length of array_of_addresses
 * max_large_counts: length of array_of_large_counts
 * max_datatypes: length of array_of_datatypes
 * array_of_integers: arguments that are ints
 * array_of_addresses: arguments that are addresses
 * array_of_large_counts: arguments that are MPI_Count
 * array_of_datatypes: arguments that are datatypes
 *
 * MPI_ERR_TYPE: not a datatype; or a predefined one; or one with large counts, of
 *   MPI_Type_get_contents.
 * MPI_ERR_ARG: an array is too short.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 5.1.13
 */
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes,
                             int array_of_integers[], MPI_Aint array_of_addresses[],
                             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    const struct type_tree_counts room = {max_integers, max_addresses, max_large_counts,
                                          max_datatypes, 0};
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (!rc)
        rc = check_contents(__func__, type, &room);
    if (!rc)
        rc = give_types(__func__, type, array_of_datatypes);
    if (!rc)
        type_tree_contents(type, array_of_integers, array_of_addresses, array_of_large_counts);
    return rc;
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    const struct type_tree_counts room = {max_integers, max_addresses, 0, max_datatypes, 0};
    struct type_tree_counts counts;
    struct type *type;
    int rc = type_argument(__func__, datatype, &type);

    if (!rc)
        rc = check_small(__func__, type, &counts);
    if (!rc)
        rc = check_contents(__func__, type, &room);
    if (!rc)
        rc = give_types(__func__, type, array_of_datatypes);
    if (!rc)
        type_tree_contents(type, array_of_integers, array_of_addresses, NULL);
    return rc;
}

/* ---- predefined types by what they hold ---- */

/* Matching Fortran kinds (MPI-5.0 19.1): the handle is a predefined, committed one, which is
 * the same for the same arguments. */
static int match_f90(const char *function, int combiner, int p, int r, MPI_Datatype *newtype)
{
    struct type *found;

    if (!newtype)
        return type_no_pointer(function, "newtype");
    int rc = type_match_f90(combiner, p, r, &found);
    if (rc == MPI_ERR_NO_MEM)
        return errh_comm(NULL, rc, function, "out of memory");
    if (rc && combiner == MPI_COMBINER_F90_INTEGER)
        return errh_comm(NULL, rc, function, "no integer has a range of 10^%d", r);
    if (rc)
        return errh_comm(NULL, rc, function, "no real has a precision of %d and a range of %d", p,
                         r);
    *newtype = found->handle;
    return MPI_SUCCESS;
}

/*
 * Find the datatype of Fortran's reals of a precision and range.
 *
 * It is predefined and committed, and must not be freed.
 *
 * p: decimal digits, or MPI_UNDEFINED
 * r: decimal exponent, or MPI_UNDEFINED
 * newtype: the datatype, the same for the same arguments
 *
 * MPI_ERR_ARG: there is no such real, or newtype is NULL.
 *
 * MPI-5.0 19.1
 */
int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    return match_f90(__func__, MPI_COMBINER_F90_REAL, p, r, newtype);
}

/*
 * Find the datatype of Fortran's complex numbers of a precision and range.
 *
 * It is predefined and committed, and must not be freed.
 *
 * p: decimal digits, or MPI_UNDEFINED
 * r: decimal exponent, or MPI_UNDEFINED
 * newtype: the datatype, the same for the same arguments
 *
 * MPI_ERR_ARG: there is no such number, or newtype is NULL.
 *
 * MPI-5.0 19.1
 */
int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    return match_f90(__func__, MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}

/*
 * Find the datatype of Fortran's integers of a range.
 *
 * It is predefined and committed, and must not be freed.
 *
 * r: decimal digits
 * newtype: the datatype, the same for the same arguments
 *
 * MPI_ERR_ARG: there is no such integer, or newtype is NULL.
 *
 * MPI-5.0 19.1
 */
int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    return match_f90(__func__, MPI_COMBINER_F90_INTEGER, 0, r, newtype);
}

/*
 * Find a predefined datatype by its class and size.
 *
 * This call is local: no other process takes part. The datatype is predefined: it is not to be
 * freed.
 *
 * typeclass: MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER or MPI_TYPECLASS_COMPLEX
 * size: bytes
 * datatype: the datatype, which must not be freed
 *
 * MPI_ERR_ARG: there is none, typeclass is none, or datatype is NULL.
 * MPI_ERR_NO_MEM: never
 *
 * MPI-5.0 19.1
 */
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    struct type *found = type_match_size(typeclass, size);

    if (!datatype)
        return type_no_pointer(__func__, "datatype");
    if (!found)
        return errh_comm(NULL, MPI_ERR_ARG, __func__,
                         "typeclass %d has no type of %d bytes (or is not an MPI_TYPECLASS_)",
                         typeclass, size);
    *datatype = found->handle;
    return MPI_SUCCESS;
}

/*
 * Find the datatype of pairs of a value and an index, as for MPI_MAXLOC.
 *
 * This call is local: no other process takes part. It is MPI_DATATYPE_NULL if there is none for
 * these two types.
 *
 * value_type: of the value, predefined
 * index_type: of the index, predefined
 * pair_type: the datatype, predefined and not to be freed; MPI_DATATYPE_NULL if there is none
 *
 * MPI_ERR_TYPE: value_type or index_type is not a datatype.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 6.9.4
 */
int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                              MPI_Datatype *pair_type)
{
    struct type *value, *index, *found;
    int rc = type_argument(__func__, value_type, &value);

    if (!rc)
        rc = type_argument(__func__, index_type, &index);
    if (!rc && !pair_type)
        rc = type_no_pointer(__func__, "pair_type");
    if (rc)
        return rc;
    if (type_match_pair(value, index, &found))
        return errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    *pair_type = found ? found->handle : MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

#include "type_query.gen.h"
