/* SPDX-License-Identifier: BSD-3-Clause */

/* Notices of the layer above: include/mpid.h has the functions for it. All here is locked. */
#ifndef MPID_NOTICE_H
#define MPID_NOTICE_H

/* A process has ended, or is in MPI_Finalize: have the layer above look, soon. */
void notice_look(void);

#endif
