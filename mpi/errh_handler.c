/* SPDX-License-Identifier: BSD-3-Clause */

/* Error handlers, and the slots that hold them; see errh_handler.h. */
#include "mpi/errh_handler.h"

#include <stdatomic.h>

#include "mpi/store.h"
#include "os/settings.h"

static struct store store = {.lock = OS_LOCK_INIT};

/* In the order of their handles, and of the setting's words. */
static struct errhandler predefined[] = {
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_FATAL},
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_ABORT},
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_RETURN},
};

struct errh_slot errh_file_default = {.has = &predefined[2]};

struct errhandler *errh_from(MPI_Errhandler handle)
{
    if (handle_is_constant(handle)) {
        uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_ERRORS_ARE_FATAL;
        return i < 3 ? &predefined[i] : NULL;
    }
    struct errhandler *errhandler = (struct errhandler *)handle;
    bool good = handle_leads_to(handle, OBJECT_ERRHANDLER) &&
                atomic_load_explicit(&errhandler->given, memory_order_relaxed) > 0;
    return good ? errhandler : NULL;
}

struct errhandler *errh_for(MPI_Errhandler handle, enum errh_on on)
{
    struct errhandler *errhandler = errh_from(handle);
    return errhandler && (errhandler->kind != ERRH_USER || errhandler->on == on) ? errhandler : NULL;
}

MPI_Errhandler errh_give(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER) {
        handle_given(&errhandler->given);
        return (MPI_Errhandler)errhandler;
    }
    uintptr_t i = (uintptr_t)(errhandler - predefined);
    return (MPI_Errhandler)((uintptr_t)MPI_ERRORS_ARE_FATAL + i);
}

void errh_take_back(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER && handle_taken_back(&errhandler->given))
        errh_unref(errhandler);
}

struct errhandler *errh_initial(void)
{
    return &predefined[os_setting(OS_SETTING_INITIAL_ERRHANDLER)];
}

const char *errh_initial_name(void)
{
    static const char *const names[] = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                        "mpi_errors_return"};
    return names[os_setting(OS_SETTING_INITIAL_ERRHANDLER)];
}

struct errhandler *errh_create(enum errh_on on, union errh_function function,
                               const struct errh_state *state)
{
    struct errhandler *errhandler = store_make(&store, sizeof(*errhandler), OBJECT_ERRHANDLER);
    if (!errhandler)
        return NULL;
    errhandler->kind = ERRH_USER;
    errhandler->on = (uint8_t)on;
    errhandler->function = function;
    if (state)
        errhandler->state = *state;
    return errhandler;
}

void errh_ref(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER)
        object_ref(&errhandler->object);
}

void errh_unref(struct errhandler *errhandler)
{
    if (errhandler->kind != ERRH_USER || !object_unref(&errhandler->object))
        return;
    if (errhandler->state.destroy)
        errhandler->state.destroy(errhandler->state.state);
    store_free(&store, errhandler);
}

void errh_start(struct errh_slot *slot, struct errhandler *errhandler)
{
    atomic_store_explicit(&slot->has, errhandler, memory_order_relaxed);
}

void errh_stop(struct errh_slot *slot)
{
    errh_unref(atomic_load_explicit(&slot->has, memory_order_relaxed));
}

void errh_set(struct errh_slot *slot, struct errhandler *errhandler)
{
    errh_ref(errhandler);
    os_lock(&slot->lock);
    struct errhandler *old = atomic_load_explicit(&slot->has, memory_order_relaxed);
    atomic_store_explicit(&slot->has, errhandler, memory_order_release);
    os_unlock(&slot->lock);
    errh_unref(old);
}

/* Recognised by its address: a user's handler may be gone by now. */
static bool is_predefined(const struct errhandler *errhandler)
{
    return (uintptr_t)errhandler - (uintptr_t)predefined < sizeof(predefined);
}

struct errhandler *errh_get(struct errh_slot *slot)
{
    struct errhandler *errhandler = atomic_load_explicit(&slot->has, memory_order_acquire);
    if (is_predefined(errhandler))
        return errhandler;
    os_lock(&slot->lock);
    errhandler = atomic_load_explicit(&slot->has, memory_order_relaxed);
    errh_ref(errhandler);
    os_unlock(&slot->lock);
    return errhandler;
}

bool errh_is_fatal(const struct errh_slot *slot)
{
    const struct errhandler *errhandler = atomic_load_explicit(&slot->has, memory_order_acquire);
    return is_predefined(errhandler) &&
           (errhandler->kind == ERRH_FATAL || errhandler->kind == ERRH_ABORT);
}

void errh_fini(void)
{
    errh_set(&errh_file_default, &predefined[2]);
}
