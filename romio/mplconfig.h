/* SPDX-License-Identifier: BSD-3-Clause */

/* In place of what MPICH's configure finds out: nothing is needed. */
#ifndef ROMIO_MPLCONFIG_H
#define ROMIO_MPLCONFIG_H
#endif
