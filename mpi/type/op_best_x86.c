/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels for this processor: some are for AVX2. */
#include <stdbool.h>

#include "mpi/type/op_kernels.h"

#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

/* The C library knows the processor: to ask that again, by CPUID, takes a virtual machine 70 us. */
static bool has_avx2(void)
{
    return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) &&
           CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(LZCNT) && CPU_FEATURE_ACTIVE(MOVBE);
}
#else
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
#endif

const op_kernel_fn (*op_kernels_best(void))[OP_CODE_COUNT]
{
    return has_avx2() ? op_kernels_avx2 : op_kernels_any;
}
