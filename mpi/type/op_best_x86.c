/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels for this processor, on x86-64: some are for AVX2. */
#include <stdbool.h>
#include <sys/platform/x86.h>

#include "mpi/type/op_kernels.h"

/* The C library knows the processor: to ask that again, by CPUID, takes a virtual machine 70 us. */
static bool has_avx2(void)
{
    return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) &&
           CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(LZCNT) && CPU_FEATURE_ACTIVE(MOVBE);
}

const op_kernel_fn (*op_kernels_best(void))[OP_CODE_COUNT]
{
    return has_avx2() ? op_kernels_avx2 : op_kernels_any;
}
