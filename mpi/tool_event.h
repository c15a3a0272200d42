/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events (MPI-5.0 15.3.8). The device notes what happens, with the time, while it is locked; the
 * callbacks run later, when the device is unlocked, in the thread whose call has made progress. So
 * they may call everything, whatever safety they were registered with; of several callbacks of a
 * registration the one that needs the least is called. One thread delivers at a time, in order.
 *
 * What does not fit the device's store is counted, and told to the handlers of dropped events.
 *
 * A lock of this file's own guards registrations. Callbacks run without it. A registration that
 * is freed while its callback may run stays until that is over.
 */
#ifndef MPI_TOOL_EVENT_H
#define MPI_TOOL_EVENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "include/mpid.h"
#include "mpi/tool.h"

enum { TOOL_EVENT_ELEMENTS = 6, TOOL_SAFETIES = 4 };

/* A type of event: index is its enum mpid_event_kind. */
struct tool_event {
    const char *name, *about;
    int verbosity, count;
    MPI_Datatype datatypes[TOOL_EVENT_ELEMENTS];
    MPI_Aint displacements[TOOL_EVENT_ELEMENTS];
    size_t size; /* bytes of what MPI_T_event_copy gives */
    enum tool_category category;
    struct tool_enum elements; /* their names */
};

int tool_event_count(void);
const struct tool_event *tool_event_row(int i);

struct tool_registration;

/* The living registration of a handle, or NULL. */
struct tool_registration *tool_registration_from(MPI_T_event_registration handle);
/* NULL: no memory. */
struct tool_registration *tool_event_alloc(int index);
/* free_cb may be NULL; it is called when no callback will run any more: maybe before the return. */
void tool_event_free(struct tool_registration *registration, void *user_data,
                     MPI_T_event_free_cb_function *free_cb);
void tool_event_free_all(void);

/* The number of a safety, 0 to TOOL_SAFETIES - 1, or -1. */
int tool_event_safety(MPI_T_cb_safety safety);
/* callback NULL: none any more. */
void tool_event_set_callback(struct tool_registration *registration, int safety, void *user_data,
                             MPI_T_event_cb_function *callback);
bool tool_event_has_callback(struct tool_registration *registration, int safety);
void tool_event_set_dropped(struct tool_registration *registration,
                            MPI_T_event_dropped_cb_function *dropped);

/* What an instance leads to, during the callback that got it. */
struct tool_instance {
    _Alignas(8) uint32_t word;
    int index;
    uint64_t time_ns;
    unsigned char data[64]; /* as MPI_T_event_copy gives it */
};

#endif
