/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions that ROMIO calls of the MPI library around it: they are in glue.c. */
#ifndef ROMIO_MPIR_EXT_H
#define ROMIO_MPIR_EXT_H

#include <mpi.h>

int MPIR_Ext_init(void);
void MPIR_Ext_cs_enter(void);
void MPIR_Ext_cs_exit(void);
int MPIR_Ext_datatype_iscommitted(MPI_Datatype datatype);
int MPIR_Ext_assert_fail(const char *condition, const char *file, int line);
#define MPIR_Ext_assert(condition) \
    ((condition) ? (void)0 : (void)MPIR_Ext_assert_fail(#condition, __FILE__, __LINE__))

#endif
