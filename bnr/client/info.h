/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects of BNR: pairs of texts, in the order in which they were set. */
#ifndef BNR_CLIENT_INFO_H
#define BNR_CLIENT_INFO_H

#include "include/bnr.h"

/* The value of a key; NULL: there is none, or no info. */
const char *info_value(BNR_Info info, const char *key);
/* A number of at least 0; -1: there is none. */
double info_number(BNR_Info info, const char *key);

#endif
