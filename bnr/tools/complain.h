/* SPDX-License-Identifier: BSD-3-Clause */

/* Complaints of mpiexec to its user. */
#ifndef BNR_COMPLAIN_H
#define BNR_COMPLAIN_H

/* Tell why nothing is started; why may hold the user's own words. It becomes one line. */
void complain(char *why);

#endif
