/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events (MPI-5.0 15.3.8). The device notes what happens, with the time, while it is locked; the
 * callbacks run later, when the device is unlocked, in the thread whose call has made progress. So
 * they may call everything, whatever safety they were registered with; of several callbacks of a
 * registration the one that needs the least is called. One thread delivers at a time, in order;
 * what others notice meanwhile it delivers too.
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
    size_t size; /* bytes of what MPI_T_event_copy gives: up to the end of the last element */
    enum tool_category category;
    struct tool_enum elements; /* their names */
};

int tool_event_count(void);
const struct tool_event *tool_event_row(int i);

/* Return an MPI_T code. */
int tool_event_alloc(int index, MPI_T_event_registration *handle);
/* free_cb may be NULL; it is called when no callback will run any more: maybe before the return. */
int tool_event_free(MPI_T_event_registration handle, void *user_data,
                    MPI_T_event_free_cb_function *free_cb);
/* MPI_SUCCESS where the handle is one. */
int tool_event_check(MPI_T_event_registration handle);

/* The number of a safety, 0 to TOOL_SAFETIES - 1, or -1. */
int tool_event_safety(MPI_T_cb_safety safety);
/* callback NULL: none any more. */
int tool_event_set_callback(MPI_T_event_registration handle, int safety, void *user_data,
                            MPI_T_event_cb_function *callback);
/* MPI_SUCCESS where there is one. */
int tool_event_check_callback(MPI_T_event_registration handle, int safety);
int tool_event_set_dropped(MPI_T_event_registration handle,
                           MPI_T_event_dropped_cb_function *dropped);

/* The last tool is gone: no registration is one any more. Then, with no lock held, free them. */
void tool_event_end_all(void);
void tool_event_sweep(void);

struct tool_instance {
    int index;
    uint64_t time_ns;
    unsigned char data[TOOL_EVENT_BYTES]; /* as MPI_T_event_copy gives it */
};

/* Get what an instance leads to, while the callbacks are called that have got it. Returns whether
 * it is one. */
bool tool_instance_get(MPI_T_event_instance handle, struct tool_instance *instance);

#endif
