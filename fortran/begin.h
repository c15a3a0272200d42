/* SPDX-License-Identifier: BSD-3-Clause */

/* What happens at MPI_Init of a Fortran program. */
#ifndef FORTRAN_BEGIN_H
#define FORTRAN_BEGIN_H

void fortran_begin_process(void);

#endif
