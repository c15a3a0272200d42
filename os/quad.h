/* SPDX-License-Identifier: BSD-3-Clause */

/* The floating-point number of 128 bits that IEEE 754 defines: long double if it is the same. */
#ifndef OS_QUAD_H
#define OS_QUAD_H

#include <float.h>

#if LDBL_MANT_DIG == 113
typedef long double os_quad;
#else
typedef __float128 os_quad;
#endif

#endif
