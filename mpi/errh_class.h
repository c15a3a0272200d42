/* SPDX-License-Identifier: BSD-3-Clause */

/* The texts of the predefined error classes. */
#ifndef MPI_ERRH_CLASS_H
#define MPI_ERRH_CLASS_H

/* The text of a predefined class (MPI_SUCCESS has one too), or NULL. */
const char *errh_class_text(int error_class);

#endif
