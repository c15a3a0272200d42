/* SPDX-License-Identifier: BSD-3-Clause */

/* Datatypes that the I/O library holds and makes. */
#include "romio/types.h"

bool types_is_predefined(MPI_Datatype type)
{
    MPI_Count integers, addresses, larges, types;
    int combiner;
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &larges, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_VALUE_INDEX;
}

MPI_Datatype types_many(MPI_Count count, MPI_Datatype type)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (PMPI_Type_contiguous_c(count, type, &made))
        return MPI_DATATYPE_NULL;
    if (PMPI_Type_commit(&made)) {
        PMPI_Type_free(&made);
        return MPI_DATATYPE_NULL;
    }
    return made;
}

MPI_Datatype types_hold(MPI_Datatype type)
{
    return types_is_predefined(type) ? type : types_many(1, type);
}

void types_release(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL && !types_is_predefined(*type))
        PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
}
