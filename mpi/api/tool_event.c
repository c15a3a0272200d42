/* SPDX-License-Identifier: BSD-3-Clause */

/* Events and their sources (MPI-5.0 15.3.8). */
#include <mpi.h>
#include <string.h>

#include "mpi/info.h"
#include "mpi/tool/tool.h"
#include "mpi/tool/tool_event.h"
#include "os/clock.h"

enum {
    SOURCES = 1
};

/* Check an event type's number. Returns MPI_SUCCESS or an error class. */
static int check_index(int i)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return i >= 0 && i < tool_event_count() ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

static int check_source(int i)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return i >= 0 && i < SOURCES ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

/* Give a new info object, with no hints: none are understood. */
static int give_info(MPI_Info *info)
{
    struct info *made = info_create();
    if (!made)
        return MPI_T_ERR_MEMORY;
    *info = info_handle(made);
    return MPI_SUCCESS;
}

static bool is_info(MPI_Info info)
{
    return info == MPI_INFO_NULL || info_from(info);
}

/* ---- sources ---- */

/*
 * Tell how many sources of events there are.
 *
 * There never are more, and none goes.
 *
 * num_sources: number of sources
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID: num_sources is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_source_get_num(int *num_sources)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_sources)
        return MPI_T_ERR_INVALID;
    *num_sources = SOURCES;
    return MPI_SUCCESS;
}

/*
 * Tell what a source of events is.
 *
 * There is one, of all events: their timestamps are those of the system's monotonic clock. Every
 * pointer may be NULL: then that is not told.
 *
 * source_index: 0 to the number of sources less 1
 * name, desc: room for *name_len and *desc_len characters; get name and description, with a 0 after
 * name_len, desc_len (inout): room; then the length, its 0 included
 * ordering: MPI_T_SOURCE_ORDERED: timestamps never go back
 * ticks_per_second: ticks of the clock in a second: 10^9
 * max_ticks: the highest timestamp: 2^63 - 1
 * info (out): a new info object without keys, to be freed with MPI_Info_free
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such source.
 * MPI_T_ERR_MEMORY: out of memory.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                           MPI_Count *max_ticks, MPI_Info *info)
{
    int rc = check_source(source_index);
    if (!rc && info)
        rc = give_info(info);
    if (rc)
        return rc;
    tool_string("vireo", name, name_len);
    tool_string("The device of this process; time is that of the monotonic clock.", desc, desc_len);
    if (ordering)
        *ordering = MPI_T_SOURCE_ORDERED;
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return MPI_SUCCESS;
}

/*
 * Tell the time of a source.
 *
 * This call is local: no other process takes part. MPI_T_source_get_info tells how many ticks a
 * second has.
 *
 * source_index: 0 to the number of sources less 1
 * timestamp: ticks, as MPI_T_event_get_timestamp tells them
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such source.
 * MPI_T_ERR_INVALID: timestamp is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    int rc = check_source(source_index);
    if (rc)
        return rc;
    if (!timestamp)
        return MPI_T_ERR_INVALID;
    *timestamp = (MPI_Count)os_now_ns();
    return MPI_SUCCESS;
}

/* ---- types of events ---- */

/*
 * Tell how many types of events there are.
 *
 * There never are more, and none goes.
 *
 * num_events: number of types of events
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID: num_events is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_get_num(int *num_events)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_events)
        return MPI_T_ERR_INVALID;
    *num_events = tool_event_count();
    return MPI_SUCCESS;
}

/*
 * Tell what a type of events is.
 *
 * Every pointer may be NULL: then that is not told.
 *
 * event_index: 0 to the number of types of events less 1
 * name, desc: room for *name_len and *desc_len characters; get name and description, with a 0 after
 * name_len, desc_len (inout): room; then the length, its 0 included
 * verbosity: MPI_T_VERBOSITY_USER_DETAIL or MPI_T_VERBOSITY_TUNER_BASIC
 * array_of_datatypes, array_of_displacements: room for *num_elements; get type and place, in what
 *   MPI_T_event_copy copies, of each element
 * num_elements (inout): room in the arrays; then the number of elements of an event
 * enumtype: an enumeration with the name of each element
 * info (out): a new info object without keys, to be freed with MPI_Info_free
 * bind: MPI_T_BIND_NO_OBJECT
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such type.
 * MPI_T_ERR_MEMORY: out of memory.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    int rc = check_index(event_index);
    if (!rc && info)
        rc = give_info(info);
    if (rc)
        return rc;
    const struct tool_event *event = tool_event_row(event_index);
    int room = num_elements && *num_elements < event->count ? *num_elements : event->count;
    for (int i = 0; num_elements && i < room; i++) {
        if (array_of_datatypes)
            array_of_datatypes[i] = event->datatypes[i];
        if (array_of_displacements)
            array_of_displacements[i] = event->displacements[i];
    }
    tool_string(event->name, name, name_len);
    tool_string(event->about, desc, desc_len);
    if (verbosity)
        *verbosity = event->verbosity;
    if (num_elements)
        *num_elements = event->count;
    if (enumtype)
        *enumtype = tool_enum_handle(&event->elements);
    if (bind)
        *bind = MPI_T_BIND_NO_OBJECT;
    return MPI_SUCCESS;
}

/*
 * Find a type of events by its name.
 *
 * This call is local: no other process takes part. The number of a name stays the same while the
 * program runs.
 *
 * name: its name
 * event_index: its number
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_NAME: there is no such type.
 * MPI_T_ERR_INVALID: an argument is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_get_index(const char *name, int *event_index)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || !event_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < tool_event_count(); i++) {
        if (!strcmp(tool_event_row(i)->name, name)) {
            *event_index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- registrations ---- */

/* Check a registration. Returns MPI_SUCCESS or an error class. */
static int check(MPI_T_event_registration handle)
{
    return tool_is_on() ? tool_event_check(handle) : MPI_T_ERR_NOT_INITIALIZED;
}

/*
 * Make a registration: a handle for events of a type.
 *
 * This call is local: no other process takes part. Nothing is reported before a callback was
 * registered. Where the type belongs to an object of MPI, the registration is for that object.
 *
 * event_index: 0 to the number of types of events less 1
 * obj_handle (in): is not looked at, as no type of events is bound to an object
 * info: hints, all ignored; or MPI_INFO_NULL
 * event_registration: the registration, to be freed with MPI_T_event_handle_free
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such type.
 * MPI_T_ERR_INVALID: info is no info object, or event_registration is NULL.
 * MPI_T_ERR_OUT_OF_HANDLES: out of memory.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    int rc = check_index(event_index);
    (void)obj_handle;
    if (rc)
        return rc;
    if (!is_info(info) || !event_registration)
        return MPI_T_ERR_INVALID;
    return tool_event_alloc(event_index, event_registration);
}

/*
 * Give hints to a registration: none is understood.
 *
 * This call is local: no other process takes part. Unknown hints are ignored, as everywhere in MPI.
 *
 * event_registration: registration
 * info: hints, or MPI_INFO_NULL
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a registration.
 * MPI_T_ERR_INVALID: info is no info object.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    int rc = check(event_registration);
    if (rc)
        return rc;
    return is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

/*
 * Tell the hints of a registration that are in use: none.
 *
 * This call is local: no other process takes part. The object is new, and the caller's to free.
 *
 * event_registration: registration
 * info_used: a new info object without keys, to be freed with MPI_Info_free
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a registration.
 * MPI_T_ERR_INVALID: info_used is NULL.
 * MPI_T_ERR_MEMORY: out of memory.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    int rc = check(event_registration);
    if (rc)
        return rc;
    return info_used ? give_info(info_used) : MPI_T_ERR_INVALID;
}

/*
 * Free a registration.
 *
 * Its callbacks are not called any more, but for one that is being called now.
 *
 * event_registration: registration
 * user_data (in): given to free_cb_function as it is
 * free_cb_function: called once no callback of the registration runs any more, maybe before this
 *   function returns; or NULL
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a registration.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return tool_event_free(event_registration, user_data, free_cb_function);
}

/* ---- callbacks ---- */

/*
 * Have a function called for each event of a registration.
 *
 * It is called in a thread whose call of MPI has made progress, soon after the event, and before
 * that call returns, or in another that is just calling functions for events; events come one at a
 * time, in order. Where functions are registered for several safeties, the one that requires the
 * least is called. Nothing is required of it, and so it is told: it may call whatever the thread
 * may call.
 *
 * event_registration: registration
 * cb_safety: what the function can bear
 * info: hints, all ignored; or MPI_INFO_NULL
 * user_data (in): given to the function as it is
 * event_cb_function: the function; it replaces that of the same safety; NULL: none any more
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a registration.
 * MPI_T_ERR_INVALID: cb_safety is none, or info no info object.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function)
{
    int rc = check(event_registration), safety = tool_event_safety(cb_safety);
    if (rc)
        return rc;
    if (safety < 0 || !is_info(info))
        return MPI_T_ERR_INVALID;
    return tool_event_set_callback(event_registration, safety, user_data, event_cb_function);
}

/* Check the callback of a safety. Returns MPI_SUCCESS or an error class. */
static int check_callback(MPI_T_event_registration handle, MPI_T_cb_safety cb_safety)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return tool_event_check_callback(handle, tool_event_safety(cb_safety));
}

/*
 * Give hints to a callback: none is understood.
 *
 * This call is local: no other process takes part. Unknown hints are ignored, as everywhere in MPI.
 *
 * event_registration: registration
 * cb_safety: safety that the callback was registered with
 * info: hints, or MPI_INFO_NULL
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a registration.
 * MPI_T_ERR_INVALID: there is no callback of this safety, or info is no info object.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info)
{
    int rc = check_callback(event_registration, cb_safety);
    if (rc)
        return rc;
    return is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

/*
 * Tell the hints of a callback that are in use: none.
 *
 * This call is local: no other process takes part. The object is new, and the caller's to free.
 *
 * event_registration: registration
 * cb_safety: safety that the callback was registered with
 * info_used: a new info object without keys, to be freed with MPI_Info_free
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a registration.
 * MPI_T_ERR_INVALID: there is no callback of this safety, or info_used is NULL.
 * MPI_T_ERR_MEMORY: out of memory.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    int rc = check_callback(event_registration, cb_safety);
    if (rc)
        return rc;
    return info_used ? give_info(info_used) : MPI_T_ERR_INVALID;
}

/*
 * Have a function called where events of a registration were lost.
 *
 * There is room for 1024 events that no call of MPI has come to tell of yet.
 *
 * event_registration: registration
 * dropped_cb_function: called with the number of lost events, and the user_data of the callback
 *   that would have been called; NULL: none any more
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a registration.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return tool_event_set_dropped(event_registration, dropped_cb_function);
}

/* ---- events ---- */

/* Check an instance. Returns MPI_SUCCESS, with its copy in *found, or an error class. */
static int check_instance(MPI_T_event_instance handle, struct tool_instance *found)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return tool_instance_get(handle, found) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

/*
 * Read an element of an event.
 *
 * This call is local: no other process takes part. It may be called in the callback alone, while
 * the event lasts. MPI_T_event_get_info tells the datatypes of the elements.
 *
 * event_instance: event that a callback is called for; it is one until the callback returns
 * element_index: 0 to the number of elements less 1
 * buffer: room for the element
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not an event.
 * MPI_T_ERR_INVALID_INDEX: there is no such element.
 * MPI_T_ERR_INVALID: buffer is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    struct tool_instance instance;
    int rc = check_instance(event_instance, &instance);
    if (rc)
        return rc;
    const struct tool_event *event = tool_event_row(instance.index);
    if (element_index < 0 || element_index >= event->count)
        return MPI_T_ERR_INVALID_INDEX;
    if (!buffer)
        return MPI_T_ERR_INVALID;
    bool wide = event->datatypes[element_index] == MPI_UNSIGNED_LONG_LONG;
    memcpy(buffer, instance.data + event->displacements[element_index],
           wide ? sizeof(unsigned long long) : sizeof(int));
    return MPI_SUCCESS;
}

/*
 * Copy all elements of an event.
 *
 * This call is local: no other process takes part. It may be called in the callback alone, while
 * the event lasts.
 *
 * event_instance: event that a callback is called for; it is one until the callback returns
 * buffer: room for what MPI_T_event_get_info describes: up to the end of the last element
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not an event.
 * MPI_T_ERR_INVALID: buffer is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    struct tool_instance instance;
    int rc = check_instance(event_instance, &instance);
    if (rc)
        return rc;
    if (!buffer)
        return MPI_T_ERR_INVALID;
    memcpy(buffer, instance.data, tool_event_row(instance.index)->size);
    return MPI_SUCCESS;
}

/*
 * Tell when an event was.
 *
 * This call is local: no other process takes part. It may be called in the callback alone, while
 * the event lasts. Ticks are those of the event's source.
 *
 * event_instance: event that a callback is called for; it is one until the callback returns
 * event_timestamp: ticks of its source
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not an event.
 * MPI_T_ERR_INVALID: event_timestamp is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    struct tool_instance instance;
    int rc = check_instance(event_instance, &instance);
    if (rc)
        return rc;
    if (!event_timestamp)
        return MPI_T_ERR_INVALID;
    *event_timestamp = (MPI_Count)instance.time_ns;
    return MPI_SUCCESS;
}

/*
 * Tell which source an event is of.
 *
 * This call is local: no other process takes part. It may be called in the callback alone, while
 * the event lasts.
 *
 * event_instance: event that a callback is called for; it is one until the callback returns
 * source_index: number of the source
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not an event.
 * MPI_T_ERR_INVALID: source_index is NULL.
 *
 * MPI-5.0 15.3.8
 */
int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    struct tool_instance instance;
    int rc = check_instance(event_instance, &instance);
    if (rc)
        return rc;
    if (!source_index)
        return MPI_T_ERR_INVALID;
    *source_index = 0;
    return MPI_SUCCESS;
}

#include "tool_event.gen.h"
