/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Dims_create: a number as a product of numbers that are close to each other. */
#ifndef MPI_TOPO_DIMS_H
#define MPI_TOPO_DIMS_H

/*
 * Write n (1 or more) as a product of count (1 or more) factors, the greatest first, so that the
 * greatest and the least are as close as possible. Of several ways take the one with the greatest
 * least factor, then with the greatest one before that, and so on.
 */
void topo_dims_balance(int n, int count, int *factors);

#endif
