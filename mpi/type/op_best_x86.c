/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels for this processor, where there are some for AVX2. */
#include "mpi/type/op_kernels.h"

const op_kernel_fn (*op_kernels_best(void))[OP_CODE_COUNT]
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                   __builtin_cpu_supports("bmi2")
               ? op_kernels_avx2
               : op_kernels_any;
}
