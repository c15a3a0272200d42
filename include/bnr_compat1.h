/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls of bnr.h in the forms of 2001, without attributes and info: BNR_Init(), BNR_Open_group(local, &fresh),
 * BNR_Close(fresh), BNR_Merge(local, remote, &joint). To be included in the place of bnr.h, whose forms go on to work.
 */
#ifndef BNR_COMPAT1_H
#define BNR_COMPAT1_H

#include "bnr.h"

#define BNR_COMPAT1_PICK(_1, _2, _3, _4, name, ...)    name
#define BNR_COMPAT1_MERGE3(local, remote, joint)       BNR_Merge(local, remote, BNR_INFO_NULL, joint)
#define BNR_COMPAT1_MERGE4(local, remote, info, joint) BNR_Merge(local, remote, info, joint)
#define BNR_COMPAT1_OPEN2(local, fresh)                BNR_Open_group(local, BNR_INFO_NULL, fresh)
#define BNR_COMPAT1_OPEN3(local, info, fresh)          BNR_Open_group(local, info, fresh)

#define BNR_Init(...)       BNR_Init((const BNR_Init_attr *)(__VA_ARGS__ + 0))
#define BNR_Merge(...)      BNR_COMPAT1_PICK(__VA_ARGS__, BNR_COMPAT1_MERGE4, BNR_COMPAT1_MERGE3, , )(__VA_ARGS__)
#define BNR_Open_group(...) BNR_COMPAT1_PICK(__VA_ARGS__, , BNR_COMPAT1_OPEN3, BNR_COMPAT1_OPEN2, )(__VA_ARGS__)
#define BNR_Close(fresh)    BNR_Close_group(fresh, NULL, 0)

#endif
