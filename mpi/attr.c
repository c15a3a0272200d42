/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Attributes. A keyval is an index into a table, from KEYVAL_FIRST on. It counts its attributes
 * and, until it is freed, its user.
 */
#include "mpi/attr.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/errh_code.h"
#include "os/lock.h"
#include "os/memory/shelf.h"

enum { KEYVAL_FIRST = 1024 }; /* above the predefined ones */

struct keyval {
    enum attr_kind kind;
    bool freed;
    int refs; /* attributes, and one more until it is freed */
    int id;
    union attr_copy copy;
    union attr_delete delete;
    void *extra_state;
};

struct attr {
    struct attr *next;
    struct keyval *keyval;
    void *value;
};

/* Whether a keyval exists is found out without a lock. */
struct attr_place {
    struct keyval *keyval; /* NULL: none */
    _Atomic uint8_t kind;  /* enum attr_kind of it; 0: none */
};

/* Guards places, keyvals and lists. A thread that changes a list also holds its object's lock. The
 * object's lock alone is enough to search the list, so lookups do not wait for each other. */
static struct os_lock lock = OS_LOCK_INIT;
static struct os_shelf places = {.size = sizeof(struct attr_place)};
static int place_count;
static int places_used; /* all places before this one are */

static int tag_ub = INT_MAX, io = MPI_ANY_SOURCE, host = MPI_PROC_NULL;
static int wtime_is_global, appnum = -1, universe_size;

void attr_init(const struct mpid_world *world)
{
    appnum = world->appnum;
    universe_size = world->universe_size;
    /* All processes of a host share one clock: MPI_Wtime() is the host's. */
    wtime_is_global = world->local_ranks == world->size;
}

static struct attr_place *place_at(int i)
{
    return os_shelf_at(&places, (uint32_t)i);
}

void attr_fini(void)
{
    for (int i = 0; i < place_count; i++)
        free(place_at(i)->keyval);
    os_shelf_fini(&places);
    place_count = places_used = 0;
}

/* ---- keyvals ---- */

static struct attr_place *place_of(int id)
{
    return id < KEYVAL_FIRST ? NULL : place_at(id - KEYVAL_FIRST);
}

static bool exists(enum attr_kind kind, int id)
{
    const struct attr_place *place = place_of(id);
    return place && atomic_load_explicit(&place->kind, memory_order_relaxed) == kind;
}

/* Locked. Return the keyval of an id, or NULL. */
static struct keyval *lookup(enum attr_kind kind, int id)
{
    return exists(kind, id) ? place_of(id)->keyval : NULL;
}

/* Locked. */
static void put(struct attr_place *place, struct keyval *keyval)
{
    place->keyval = keyval;
    atomic_store_explicit(&place->kind, keyval ? (uint8_t)keyval->kind : 0, memory_order_relaxed);
}

/* Locked. Drop a reference. */
static void unref(struct keyval *keyval)
{
    if (--keyval->refs)
        return;
    put(place_of(keyval->id), NULL);
    if (places_used > keyval->id - KEYVAL_FIRST)
        places_used = keyval->id - KEYVAL_FIRST;
    free(keyval);
    while (place_count && !place_at(place_count - 1)->keyval)
        place_count--;
}

/* Locked. Return the number of an empty place, or -1. */
static int find_place(void)
{
    for (; places_used < place_count; places_used++)
        if (!place_at(places_used)->keyval)
            return places_used;
    if (place_count > INT_MAX - KEYVAL_FIRST - 1 || os_shelf_reach(&places, (uint32_t)place_count))
        return -1;
    return place_count++;
}

int attr_create_keyval(enum attr_kind kind, union attr_copy copy, union attr_delete delete,
                       void *extra_state, int *id)
{
    struct keyval *keyval = malloc(sizeof(*keyval));
    if (!keyval)
        return MPI_ERR_NO_MEM;
    os_lock(&lock);
    int i = find_place();
    if (i >= 0) {
        *keyval = (struct keyval){.kind = kind,
                                  .refs = 1,
                                  .id = KEYVAL_FIRST + i,
                                  .copy = copy,
                                  .delete = delete,
                                  .extra_state = extra_state};
        put(place_at(i), keyval);
        *id = keyval->id;
    }
    os_unlock(&lock);
    if (i < 0)
        free(keyval);
    return i < 0 ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/* A keyval exists as long as attributes are under it, and freeing it once more is no error (MPI-5.0
 * 7.7.2): delete callbacks do that. */
int attr_free_keyval(enum attr_kind kind, int id)
{
    os_lock(&lock);
    struct keyval *keyval = lookup(kind, id);
    if (keyval && !keyval->freed) {
        keyval->freed = true;
        unref(keyval);
    }
    os_unlock(&lock);
    return keyval ? MPI_SUCCESS : MPI_ERR_KEYVAL;
}

/* ---- callbacks ---- */

static int call_delete(const struct keyval *keyval, void *handle, void *value)
{
    if (keyval->kind == ATTR_COMM) {
        if (keyval->delete.comm == MPI_COMM_NULL_DELETE_FN)
            return MPI_SUCCESS;
        return keyval->delete.comm((MPI_Comm)handle, keyval->id, value, keyval->extra_state);
    }
    if (keyval->kind == ATTR_WIN) {
        if (keyval->delete.win == MPI_WIN_NULL_DELETE_FN)
            return MPI_SUCCESS;
        return keyval->delete.win((MPI_Win)handle, keyval->id, value, keyval->extra_state);
    }
    if (keyval->delete.type == MPI_TYPE_NULL_DELETE_FN)
        return MPI_SUCCESS;
    return keyval->delete.type((MPI_Datatype)handle, keyval->id, value, keyval->extra_state);
}

static int call_copy(const struct keyval *keyval, void *handle, void *value, void **copy,
                     int *flag)
{
    *flag = 0;
    *copy = value;
    if (keyval->kind == ATTR_COMM) {
        if (keyval->copy.comm == MPI_COMM_NULL_COPY_FN)
            return MPI_SUCCESS;
        if (keyval->copy.comm != MPI_COMM_DUP_FN)
            return keyval->copy.comm((MPI_Comm)handle, keyval->id, keyval->extra_state, value,
                                     copy, flag);
    } else {
        if (keyval->copy.type == MPI_TYPE_NULL_COPY_FN)
            return MPI_SUCCESS;
        if (keyval->copy.type != MPI_TYPE_DUP_FN)
            return keyval->copy.type((MPI_Datatype)handle, keyval->id, keyval->extra_state,
                                     value, copy, flag);
    }
    *flag = 1;
    return MPI_SUCCESS;
}

/* ---- attributes ---- */

/* Locked. Return the link that leads to the attribute, or to the end of the list. */
static struct attr **link_to(struct attr **list, int id)
{
    while (*list && (*list)->keyval->id != id)
        list = &(*list)->next;
    return list;
}

/* The value of a predefined attribute; NULL: no such keyval. Where the value is unknown, *found is
 * false. */
static int *predefined(int keyval, bool *found)
{
    *found = true;
    switch (keyval) {
    case MPI_TAG_UB: return &tag_ub;
    case MPI_IO: return &io;
    case MPI_HOST: return &host;
    case MPI_WTIME_IS_GLOBAL: return &wtime_is_global;
    case MPI_LASTUSEDCODE: return &errh_last_used;
    case MPI_APPNUM: *found = appnum >= 0; return &appnum;
    case MPI_UNIVERSE_SIZE: *found = universe_size > 0; return &universe_size;
    default: return NULL;
    }
}

static bool find(struct attr_owner owner, int id, void **value)
{
    os_lock(owner.lock);
    struct attr *attr = *link_to(owner.list, id);
    if (attr)
        *value = attr->value;
    os_unlock(owner.lock);
    return attr != NULL;
}

int attr_get(struct attr_owner owner, int id, void **value, bool *found)
{
    int *known = owner.kind == ATTR_COMM ? predefined(id, found) : NULL;
    if (known) {
        if (*found)
            *value = known;
        return MPI_SUCCESS;
    }
    *found = find(owner, id, value);
    if (*found)
        return MPI_SUCCESS;
    return exists(owner.kind, id) ? MPI_SUCCESS : MPI_ERR_KEYVAL;
}

/* Locked. Put a new attribute on top; takes over the reference that keyval has for it. */
static void push(struct attr_owner owner, struct attr *attr, struct keyval *keyval, void *value)
{
    *attr = (struct attr){.next = *owner.list, .keyval = keyval, .value = value};
    os_lock(owner.lock);
    *owner.list = attr;
    os_unlock(owner.lock);
}

/* Delete the attribute of a keyval, which the caller knows to exist, callback first. Where the
 * callback fails the attribute stays. */
static int remove_one(struct attr_owner owner, struct keyval *keyval, void *value)
{
    int rc = call_delete(keyval, owner.handle, value);
    if (rc)
        return rc;
    os_lock(&lock);
    struct attr **link = link_to(owner.list, keyval->id);
    struct attr *attr = *link;
    if (attr) {
        os_lock(owner.lock);
        *link = attr->next;
        os_unlock(owner.lock);
        unref(attr->keyval);
    }
    os_unlock(&lock);
    free(attr);
    return MPI_SUCCESS;
}

int attr_delete(struct attr_owner owner, int id)
{
    os_lock(&lock);
    struct keyval *keyval = lookup(owner.kind, id);
    struct attr *attr = *link_to(owner.list, id);
    void *value = attr ? attr->value : NULL;
    os_unlock(&lock);
    if (!keyval)
        return MPI_ERR_KEYVAL;
    return attr ? remove_one(owner, keyval, value) : MPI_ERR_ARG;
}

int attr_set(struct attr_owner owner, int id, void *value)
{
    struct attr *new = malloc(sizeof(*new));
    if (!new)
        return MPI_ERR_NO_MEM;
    os_lock(&lock);
    struct keyval *keyval = lookup(owner.kind, id);
    if (keyval)
        keyval->refs++;
    struct attr *old = *link_to(owner.list, id);
    void *old_value = old ? old->value : NULL;
    os_unlock(&lock);
    int rc = !keyval ? MPI_ERR_KEYVAL : MPI_SUCCESS;
    if (old)
        rc = remove_one(owner, keyval, old_value);
    os_lock(&lock);
    if (!rc)
        push(owner, new, keyval, value);
    else if (keyval)
        unref(keyval);
    os_unlock(&lock);
    if (rc)
        free(new);
    return rc;
}

int attr_delete_all(struct attr_owner owner)
{
    for (;;) {
        os_lock(&lock);
        struct attr *attr = *owner.list;
        struct keyval *keyval = attr ? attr->keyval : NULL;
        void *value = attr ? attr->value : NULL;
        os_unlock(&lock);
        if (!attr)
            return MPI_SUCCESS;
        int rc = remove_one(owner, keyval, value);
        if (rc)
            return rc;
    }
}

/* The attributes of an object, oldest first, each with a reference on its keyval. Returns
 * how many, or -1 when memory is out. */
static int snapshot(struct attr_owner owner, struct attr **copy)
{
    int n = 0;
    os_lock(&lock);
    for (struct attr *attr = *owner.list; attr; attr = attr->next)
        n++;
    *copy = malloc((size_t)(n ? n : 1) * sizeof(**copy));
    if (*copy) {
        int i = n;
        for (struct attr *attr = *owner.list; attr; attr = attr->next) {
            (*copy)[--i] = *attr;
            attr->keyval->refs++;
        }
    }
    os_unlock(&lock);
    return *copy ? n : -1;
}

static bool has_none(struct attr_owner owner)
{
    os_lock(owner.lock);
    bool none = !*owner.list;
    os_unlock(owner.lock);
    return none;
}

int attr_copy(struct attr_owner from, struct attr_owner to)
{
    struct attr *old;
    if (has_none(from))
        return MPI_SUCCESS;
    int n = snapshot(from, &old);
    int rc = n < 0 ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        int flag = 0;
        void *value = NULL;
        struct attr *new = NULL;
        if (!rc)
            rc = call_copy(old[i].keyval, from.handle, old[i].value, &value, &flag);
        if (!rc && flag) {
            new = malloc(sizeof(*new));
            rc = new ? MPI_SUCCESS : MPI_ERR_NO_MEM;
        }
        os_lock(&lock);
        if (new)
            push(to, new, old[i].keyval, value); /* takes the snapshot's reference */
        else
            unref(old[i].keyval);
        os_unlock(&lock);
    }
    free(old);
    return rc;
}
