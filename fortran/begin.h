/* SPDX-License-Identifier: BSD-3-Clause */

/* What happens at MPI_Init, or MPI_Session_init, of a Fortran program. */
#ifndef FORTRAN_BEGIN_H
#define FORTRAN_BEGIN_H

/* Before MPI begins: end a program that has Fortran objects of another MPI, with a sentence. */
void fortran_check_program(const char *procedure);
void fortran_begin_process(void);

#endif
