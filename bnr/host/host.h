/* SPDX-License-Identifier: BSD-3-Clause */

/* The identity of this host. */
#ifndef BNR_HOST_H
#define BNR_HOST_H

enum {
    HOST_ID_MAX = 192
};

/* Write the host's identity, "machine.boot.namespace" without blanks: equal for
 * processes that can share memory. Parts that cannot be read are "-"; with all
 * of them missing it is the host's name. */
void host_id(char id[HOST_ID_MAX]);

#endif
