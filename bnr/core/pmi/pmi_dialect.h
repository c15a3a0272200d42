/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What PMI-1 and PMI-2 have apart: how requests are cut from what comes, what they say, and how outcomes are worded. For
 * pmi_server.c and pmi_server2.c.
 */
#ifndef BNR_PMI_DIALECT_H
#define BNR_PMI_DIALECT_H

#include "bnr/core/pmi/pmi_server.h"

struct pmi_dialect {
    /* Find the end of the first request of s->in + at, and put a NUL there. Returns its length with its frame, and where
     * its text begins; 0: it has not come whole. May set is_cut. */
    size_t (*cut)(struct pmi_server *s, size_t at, char **text);
    void (*hear)(struct pmi_server *s, const char *text);
    void (*found)(struct pmi_server *s, const char *value);
    void (*released)(struct pmi_server *s, bool is_good);
    void (*told)(struct pmi_server *s, int status, const char *text);
};

/* The name under which a key is kept; is_here: for this host. Returns false for one that no process may use. */
bool pmi_server_name(const struct pmi_server *s, const char *key, bool is_here, char to[2 * PMI_SERVER_KEY]);
/* Begin to look for a key: the job's own, one that the spawner has left, or one that was put. */
void pmi_server_look(struct pmi_server *s, const char *key, bool is_here);
/* Give an order about a name, with its text or "". */
void pmi_server_order_name(struct pmi_server *s, enum pmi_call call, const char *service, const char *text);
/* All programs of a spawn have been told. */
void pmi_server_order_spawn(struct pmi_server *s);
void pmi_server_begin(struct pmi_server *s);
void pmi_server_finalize(struct pmi_server *s);

#endif
