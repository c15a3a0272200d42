/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events (MPI-5.0 15.3.8). The device notes events, with the time, while it is locked; the
 * callbacks run later, when the device is unlocked, in the thread whose call has made progress. So
 * they may call everything, whatever safety they were registered with; of several callbacks of a
 * registration the one with the least safety is called. One thread delivers at a time, in order; it
 * also delivers the events that other threads notice meanwhile.
 *
 * Events that do not fit the device's store are counted, and the handlers of dropped events get the
 * count.
 *
 * A lock of this file's own guards registrations. Callbacks run without it. A registration that
 * is freed while its callback may run stays until that is over.
 */
#ifndef MPI_TOOL_EVENT_H
#define MPI_TOOL_EVENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/tool/tool.h"

enum {
    TOOL_EVENT_ELEMENTS = 6,
    TOOL_EVENT_BYTES = 32,
    TOOL_SAFETIES = 4
};

/* A type of event: index is its enum mpid_event_kind. */
struct tool_event {
    const char *name, *about;
    int verbosity, count;
    MPI_Datatype datatypes[TOOL_EVENT_ELEMENTS];
    MPI_Aint displacements[TOOL_EVENT_ELEMENTS];
    size_t size; /* bytes that MPI_T_event_copy gives: up to the end of the last element */
    enum tool_category category;
    struct tool_enum elements; /* their names */
};

int tool_event_count(void);
const struct tool_event *tool_event_row(int i);

/* Return an MPI_T code. */
int tool_event_alloc(int index, MPI_T_event_registration *handle);
/* free_cb may be NULL; it is called when no callback runs any more, maybe before this returns. */
int tool_event_free(MPI_T_event_registration handle, void *user_data,
                    MPI_T_event_free_cb_function *free_cb);
/* Returns MPI_SUCCESS for a valid handle. */
int tool_event_check(MPI_T_event_registration handle);

/* The number of a safety, 0 to TOOL_SAFETIES - 1, or -1. */
int tool_event_safety(MPI_T_cb_safety safety);
/* callback NULL: remove the callback. */
int tool_event_set_callback(MPI_T_event_registration handle, int safety, void *user_data,
                            MPI_T_event_cb_function *callback);
/* Returns MPI_SUCCESS if there is one. */
int tool_event_check_callback(MPI_T_event_registration handle, int safety);
int tool_event_set_dropped(MPI_T_event_registration handle,
                           MPI_T_event_dropped_cb_function *dropped);

/* The last tool is gone: all registrations become invalid. Then, with no lock held, free them. */
void tool_event_end_all(void);
void tool_event_sweep(void);

struct tool_instance {
    int index;
    uint64_t time_ns;
    unsigned char data[TOOL_EVENT_BYTES]; /* in the layout of MPI_T_event_copy */
};

/* Get the event of an instance while its callbacks run. Returns whether the instance is valid. */
bool tool_instance_get(MPI_T_event_instance handle, struct tool_instance *instance);

#endif
