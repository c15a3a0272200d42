/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes of other MPI libraries, which speak PMI-1: each has a socket to the daemon of its machine, or to mpiexec,
 * which acts there in its name as a process of ours does by itself (bnr/core/pmi/pmi_server.h). So its values are in the
 * job's key-value space, its fences are BNR's, and its orders go to mpiexec.
 *
 * A key of PMI-1 has no owner. On each host one rank has it, which its hash chooses: its log holds what processes of
 * that host put under it. So a get asks one rank of each host, and none of them where a fence has collected the value.
 *
 * A fence is over, too, when a rank cannot come any more. MPICH does not heed this, and waits for ever. So where a rank
 * has ended without ever having begun, and no MPI_Init can succeed, a fence is not answered, and the job ends.
 *
 * Such a process and one of ours have no common fences and keys, and would wait for each other for ever: where both begin
 * here, the job is aborted.
 */
#ifndef BNR_PMI_PORT_H
#define BNR_PMI_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct core_message;
struct mesh;
struct pmi_port_process;
struct post;
struct ranks;

struct pmi_port {
    uv_loop_t *loop;
    struct ranks *ranks;
    struct mesh *mesh; /* NULL: the job has one machine */
    struct post *post;
    uint64_t group;        /* of all ranks, in the engines */
    uint64_t first_cookie; /* its numbers from there on are in answers for this port */
    struct pmi_port_process **all; /* by rank; NULL: it has no socket, or no process here has */
    struct pmi_port_process *first; /* of those, in a list */
    char *mapping;
    int waiting; /* processes in a fence */
    bool is_mixed; /* one has ended the job because of a process of ours */
    bool has_patient; /* some have waited for a value that was not there */
    uint32_t ends;    /* of ranks, that have been looked at */
    int missing;      /* a rank that has ended without having begun; -1: none is known */
    bool is_ending;   /* others have waited for it */
    void (*missed)(void *arg, int rank, int waiting); /* see serve_hear_missed(); NULL: nobody hears */
    void *missed_arg;
};

/* Be ready for the ranks of the table that are started here, and tell ranks so. group, first_cookie: see above. */
void pmi_port_start(struct pmi_port *p, uv_loop_t *loop, struct ranks *ranks, struct mesh *mesh, struct post *post,
                    uint64_t group, uint64_t first_cookie);
/* The loop must run once more. Accepts a zeroed one. */
void pmi_port_stop(struct pmi_port *p);

/* A fence may be over. */
void pmi_port_look(struct pmi_port *p);
/* The engine's answer to a get with a cookie of this port. */
void pmi_port_value(struct pmi_port *p, const struct core_message *message);
/* mpiexec answers an order: a letter to the rank. Returns whether it is for a process of this port. */
bool pmi_port_told(void *arg, int rank, const uint8_t *letter, size_t len);
/* A rank here has ended. */
void pmi_port_ended(struct pmi_port *p, int rank);

#endif
