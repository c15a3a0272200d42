/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicators as their members make them together: copies, parts, intercommunicators; and their end.
 * Each is collective over those that it names.
 */
#ifndef MPI_COMM_MAKE_H
#define MPI_COMM_MAKE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct agree;
struct comm;
struct group;
struct info;
struct request;

/* The functions below return MPI_SUCCESS, an error class or a callback's code. A process
 * that is no member of the new communicator gets NULL. */

/* Make a communicator that inherits from another one as MPI defines; remote is NULL for an
 * intracommunicator. */
int comm_create_from(struct comm *parent, struct group *group, uint32_t context,
                     struct comm **comm);
int comm_create_like(struct comm *parent, struct group *group, struct group *remote,
                     uint32_t context, struct comm **comm);
/* MPI_Comm_dup; info: its hints, or NULL. */
int comm_dup(struct comm *comm, const struct info *info, struct comm **new);
/* MPI_Comm_idup. The copy must not be used before the request is complete; where the request ends
 * in error, the copy is gone. */
int comm_idup(struct comm *comm, const struct info *info, struct comm **copy,
              struct request **request);
/* MPI_Comm_create (tag negative), or MPI_Comm_create_group. */
int comm_create_group(struct comm *comm, struct group *group, int tag, struct comm **new);
/* Split by color (any 64 bits) where member, in order of key. */
struct comm_split {
    bool member;
    uint64_t color;
    int key;
};
int comm_split(struct comm *comm, const struct comm_split *how, struct comm **new);
/* MPI_COMM_TYPE_HW_UNGUIDED: find the outermost level of the hardware at which the members that
 * choose are not all in one instance. Sets color and member, and gives the level's name. Collective
 * over comm; a process that does not choose takes part and gets nothing. */
int comm_split_hardware(struct comm *comm, struct comm_split *how, bool chooses,
                        const char **name);
/* Set color and member for a split into the processes of one instance of a hardware level, or of
 * one process set. */
void comm_split_resource(const char *name, struct comm_split *how);
void comm_split_pset(const char *name, struct comm_split *how);

/* ---- intercommunicators, in comm_inter.c ---- */

/* All members of comm (of both groups of an intercommunicator), as context_agree_among() takes
 * them. */
struct agree comm_everyone(struct comm *comm);
/* Give the other half the group of this half, and get its group. */
int comm_swap_groups(const struct agree *who, const struct group *mine, struct group **theirs);
/* The leader of a new intercommunicator's local group, and the leader that it meets (only the
 * leader's own call needs to know). */
struct comm_bridge {
    int leader;
    struct comm *peer;
    int peer_rank, tag;
};
int comm_intercreate(struct comm *local, const struct comm_bridge *bridge, struct comm **new);
int comm_merge(struct comm *comm, bool high, struct comm **new);
/* Make an intercommunicator of two halves. */
int comm_bind_halves(const struct agree *halves, struct comm **new);

/* The meaning of MPI_ERR_OTHER for a function that makes a communicator. */
const char *comm_other_error(void);

/* ---- the end, in comm_end.c ---- */

/* MPI_Comm_free, or MPI_Comm_disconnect, whose members part in between (NULL: they do not). Returns MPI_SUCCESS or the
 * error's code. */
int comm_end(MPI_Comm *handle, void (*part)(struct comm *comm), const char *function);

#endif
