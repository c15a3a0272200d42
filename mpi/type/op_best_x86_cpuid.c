/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels for this processor, on x86-64 without glibc 2.33: the compiler's library asks the processor. */
#include <stdbool.h>

#include "mpi/type/op_kernels.h"

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}

const op_kernel_fn (*op_kernels_best(void))[OP_CODE_COUNT]
{
    return has_avx2() ? op_kernels_avx2 : op_kernels_any;
}
