/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * mpi-ext.h: the header in which programs look for functions beyond the standard. mpi.h declares
 * all of them, and the error classes of fault tolerance; here are the macros that programs ask for.
 *
 * 1: what a name tells is there. 0: it is not.
 */

#ifndef VIREO_MPI_EXT_H
#define VIREO_MPI_EXT_H

#include <mpi.h>

#define MPIX_CUDA_AWARE_SUPPORT 0 /* buffers may lie in the memory of such an accelerator */
#define MPIX_ROCM_AWARE_SUPPORT 0
#define MPIX_ZE_AWARE_SUPPORT   0

#endif
