/* SPDX-License-Identifier: BSD-3-Clause */

/* The last error that the code under test has reported: "PMPI_Type_size: ...". */
#ifndef FAKE_ERRH_H
#define FAKE_ERRH_H

extern char fake_errh_text[512];

#endif
