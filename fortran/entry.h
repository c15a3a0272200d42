/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The names that Fortran calls. Files with such procedures are compiled twice: mpi_send_ calls
 * MPI_Send, and pmpi_send_, with FORTRAN_PROFILE, PMPI_Send, so that a profiler in C sees all that
 * Fortran calls.
 *
 *     FORTRAN_ENTRY(barrier, const int *comm, int *ierror)
 *     {
 *         fortran_error(ierror, MPI_(Barrier)(fortran_comm(*comm)));
 *     }
 *
 * is mpi_barrier_ for mpif.h and module mpi, and mpi_barrier_f08_ for mpi_f08, where arguments are
 * passed alike. Procedures with choice buffers have another one for descriptors: _f08ts_. The
 * lengths of strings follow all arguments.
 */
#ifndef FORTRAN_ENTRY_H
#define FORTRAN_ENTRY_H

#include "fortran/fortran.h"
#include "fortran/handles.h"

#if defined(FORTRAN_EXTENSION) && defined(FORTRAN_PROFILE) /* beyond the standard */
#define FORTRAN_NAME(name) pmpix_##name
#define MPI_(name)         PMPIX_##name
#elif defined(FORTRAN_EXTENSION)
#define FORTRAN_NAME(name) mpix_##name
#define MPI_(name)         MPIX_##name
#elif defined(FORTRAN_PROFILE)
#define FORTRAN_NAME(name) pmpi_##name
#define MPI_(name)         PMPI_##name
#else
#define FORTRAN_NAME(name) mpi_##name
#define MPI_(name)         MPI_##name
#endif
#define FORTRAN_TEXT(name)  FORTRAN_TEXT_(name)
#define FORTRAN_TEXT_(name) #name

/* A second name for a procedure of this file. */
#define FORTRAN_ALIAS(returns, of, name, ...) \
    FORTRAN_PUBLIC returns FORTRAN_NAME(name)(__VA_ARGS__) \
        __attribute__((alias(FORTRAN_TEXT(FORTRAN_NAME(of)))));
#define FORTRAN_FUNCTION(returns, name, ...) \
    FORTRAN_PUBLIC returns FORTRAN_NAME(name##_)(__VA_ARGS__); \
    FORTRAN_ALIAS(returns, name##_, name##_f08_, __VA_ARGS__) \
    returns FORTRAN_NAME(name##_)(__VA_ARGS__)
#define FORTRAN_ENTRY(name, ...) FORTRAN_FUNCTION(void, name, __VA_ARGS__)
#define FORTRAN_ENTRY_F08TS(name, ...) \
    FORTRAN_PUBLIC void FORTRAN_NAME(name##_f08ts_)(__VA_ARGS__); \
    void FORTRAN_NAME(name##_f08ts_)(__VA_ARGS__)

/* A parameter that lies on the stack is read here: no register is to be saved, and kept for it. */
#define FORTRAN_LATE(parameter) __asm__ volatile("" : "+m"(parameter))

/* What is called where the arguments of a procedure need more than its few instructions. */
#define FORTRAN_SLOW static __attribute__((noinline, cold)) void

#endif
