/* SPDX-License-Identifier: BSD-3-Clause */

/* The tool interface: life, enumerations, categories; see tool.h. */
#include "mpi/tool/tool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/comm/errh.h"
#include "mpi/tool/tool_cvar.h"
#include "mpi/tool/tool_event.h"
#include "mpi/tool/tool_pvar.h"
#include "mpi/world.h"
#include "os/lock.h"
#include "os/settings.h"

static struct os_lock lock = OS_LOCK_INIT;
static _Atomic int users;

/* ---- life ---- */

void tool_lock(void)
{
    os_lock_slow(&lock);
}

void tool_unlock(void)
{
    os_unlock_slow(&lock);
}

bool tool_is_on(void)
{
    return users > 0;
}

int tool_use(int required, int *provided)
{
    if (os_settings_load(NULL, 0))
        return MPI_T_ERR_CANNOT_INIT;
    tool_lock();
    users++;
    int most = world_tool_threads(required == MPI_THREAD_MULTIPLE);
    *provided = required < most ? required : most;
    tool_unlock();
    return MPI_SUCCESS;
}

int tool_drop(void)
{
    tool_lock();
    bool on = tool_is_on(), last = on && users == 1;
    if (last) {
        tool_session_free_all();
        tool_cvar_free_all();
        tool_event_end_all();
        world_tool_gone();
    }
    if (on)
        users--;
    tool_unlock();
    if (last)
        tool_event_sweep(); /* unlocked: it may call the tool */
    return on ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

void tool_text(const char *text, int text_len, char *to, int *len)
{
    if (!len)
        return;
    if (to && *len > 0) {
        int n = text_len < *len ? text_len : *len - 1;
        memcpy(to, text, (size_t)n);
        to[n] = 0;
    }
    *len = text_len + 1;
}

void tool_string(const char *text, char *to, int *len)
{
    tool_text(text, (int)strlen(text), to, len);
}

/* ---- enumerations ---- */

const struct tool_enum tool_enum_bool = {"bool", "no|yes"};

/* There are few categories, and they are read rarely. */
const struct tool_enum *tool_enum_from(MPI_T_enum handle)
{
    const struct tool_enum *e = (const struct tool_enum *)handle;
    bool known = e == &tool_enum_bool;
    for (int i = 0; i < tool_cvar_count() && !known; i++)
        known = e == tool_cvar_enum(i);
    for (int i = 0; i < tool_pvar_count() && !known; i++)
        known = e == tool_pvar_enum(i);
    for (int i = 0; i < tool_event_count() && !known; i++)
        known = e == &tool_event_row(i)->elements;
    return known ? e : NULL;
}

int tool_enum_count(const struct tool_enum *e)
{
    int count = 1;
    for (const char *c = e->words; *c; c++)
        count += *c == '|';
    return count;
}

const char *tool_enum_item(const struct tool_enum *e, int i)
{
    const char *word = e->words;
    for (; i > 0 && word; i--) {
        word = strchr(word, '|');
        word = word ? word + 1 : NULL;
    }
    return i < 0 ? NULL : word;
}

/* ---- categories ---- */

static const struct {
    const char *name, *about;
    int above; /* itself: the root */
} categories[TOOL_CATEGORIES] = {
    [TOOL_VIREO] = {"vireo", "All of this library.", TOOL_VIREO},
    [TOOL_LAUNCH] = {"launch", "What mpiexec and the processes that it starts agree on.",
                     TOOL_VIREO},
    [TOOL_MPID] = {"mpid", "The device: messages between processes.", TOOL_VIREO},
    [TOOL_MATCHING] = {"mpid.matching", "Queues of receives and of messages that wait for them.",
                       TOOL_MPID},
    [TOOL_MESSAGES] = {"mpid.messages", "What is sent and received.", TOOL_MPID},
    [TOOL_CONNECTIONS] = {"mpid.connections", "Virtual connections to other processes.", TOOL_MPID},
    [TOOL_WAITING] = {"mpid.wait", "How waits pass their time.", TOOL_MPID},
    [TOOL_CHANNEL] = {"channel", "The transports that messages travel over.", TOOL_VIREO},
};

/* Names of the channels' categories, made once. */
static char channel_names[MPID_CHANNELS_MAX][32];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void name_channels(void)
{
    for (int i = 0; mpid_channel_name(i); i++)
        snprintf(channel_names[i], sizeof(channel_names[i]), "channel.%s", mpid_channel_name(i));
}

int tool_category_count(void)
{
    int count = TOOL_CATEGORIES;
    for (int i = 0; mpid_channel_name(i); i++)
        count++;
    return count;
}

const char *tool_category_name(int i)
{
    pthread_once(&once, name_channels);
    return i < TOOL_CATEGORIES ? categories[i].name : channel_names[i - TOOL_CATEGORIES];
}

const char *tool_category_about(int i)
{
    return i < TOOL_CATEGORIES ? categories[i].about : "One transport.";
}

int tool_category_of_channel(const char *name)
{
    for (int i = 0; mpid_channel_name(i); i++)
        if (!strcmp(mpid_channel_name(i), name))
            return TOOL_CATEGORIES + i;
    return TOOL_CHANNEL;
}

/* The category that a member is in; -1: none. */
static int category_of(enum tool_kind kind, int i)
{
    switch (kind) {
    case TOOL_OF_CVAR: return tool_cvar_category(i);
    case TOOL_OF_PVAR: return tool_pvar_category(i);
    case TOOL_OF_EVENT: return (int)tool_event_row(i)->category;
    default: break;
    }
    if (i >= TOOL_CATEGORIES)
        return TOOL_CHANNEL;
    return categories[i].above == i ? -1 : categories[i].above;
}

int tool_category_members(int category, enum tool_kind kind, int len, int *indices)
{
    int all = kind == TOOL_OF_CVAR    ? tool_cvar_count()
              : kind == TOOL_OF_PVAR  ? tool_pvar_count()
              : kind == TOOL_OF_EVENT ? tool_event_count()
                                      : tool_category_count();
    int found = 0;
    for (int i = 0; i < all; i++) {
        if (category_of(kind, i) != category)
            continue;
        if (found < len)
            indices[found] = i;
        found++;
    }
    return found;
}
