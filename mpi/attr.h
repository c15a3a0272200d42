/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Attributes of communicators, types and windows: keyvals, values, callbacks.
 *
 * One engine serves all kinds of objects. Callbacks run unlocked, and may use attributes
 * themselves. A keyval that was freed lives on until the last attribute under it is gone.
 */
#ifndef MPI_ATTR_H
#define MPI_ATTR_H

#include <mpi.h>
#include <stdbool.h>

#include "include/mpid.h"

struct os_lock;
struct attr; /* a list of (keyval, value) on one object, newest first */

enum attr_kind { ATTR_COMM = 1, ATTR_TYPE, ATTR_WIN };

/* Callbacks of one kind; MPI's constants for none and for "as it is" are values too. */
union attr_copy {
    MPI_Comm_copy_attr_function *comm;
    MPI_Type_copy_attr_function *type;
    MPI_Win_copy_attr_function *win;
};
union attr_delete {
    MPI_Comm_delete_attr_function *comm;
    MPI_Type_delete_attr_function *type;
    MPI_Win_delete_attr_function *win;
};

/* An object that carries attributes: each kind has a function that makes one, as comm_attr_of(). */
struct attr_owner {
    enum attr_kind kind;
    void *handle;       /* MPI_Comm, MPI_Datatype, MPI_Win */
    struct attr **list; /* in the object */
    struct os_lock *lock; /* the object's lock: searches of the list hold it */
};

/* Values of the predefined attributes. */
void attr_init(const struct mpid_world *world);
void attr_fini(void);

/* These return MPI_SUCCESS, an error class, or the code that a callback returned. */
int attr_create_keyval(enum attr_kind kind, union attr_copy copy, union attr_delete delete,
                       void *extra_state, int *keyval);
int attr_free_keyval(enum attr_kind kind, int keyval);
int attr_set(struct attr_owner owner, int keyval, void *value);
int attr_get(struct attr_owner owner, int keyval, void **value, bool *found);
int attr_delete(struct attr_owner owner, int keyval);

/* Copy the attributes of one object to another, as MPI_Comm_dup does. Delete all, in reverse order
 * of setting. */
int attr_copy(struct attr_owner from, struct attr_owner to);
int attr_delete_all(struct attr_owner owner);

#endif
