/* SPDX-License-Identifier: BSD-3-Clause */

/* Replaces the results of MPICH's configure: ROMIO needs none. */
#ifndef ROMIO_MPLCONFIG_H
#define ROMIO_MPLCONFIG_H
#endif
