/* SPDX-License-Identifier: BSD-3-Clause */

/* Control variables; see tool_cvar.h. */
#include "mpi/tool/tool_cvar.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "mpi/comm/errh.h"
#include "mpi/tool/tool_handle.h"
#include "mpi/world.h"
#include "os/settings.h"

enum {
    TEXT_MAX = 4096
}; /* most bytes of a text that is written, with its 0 */

/* Facts that the table of settings lacks. A setting that is not listed is the library's own. */
static const struct {
    uint8_t category; /* enum tool_category */
    bool basic;       /* for users rather than for tuning */
} more[OS_SETTING_COUNT] = {
    [OS_SETTING_LOG] = {TOOL_VIREO, true},
    [OS_SETTING_CHANNELS] = {TOOL_CHANNEL, true},
    [OS_SETTING_CHANNEL_PATH] = {TOOL_CHANNEL, true},
    [OS_SETTING_CHANNEL_PARAMS] = {TOOL_CHANNEL, false},
    [OS_SETTING_SPIN_US] = {TOOL_WAITING, false},
    [OS_SETTING_YIELDS] = {TOOL_WAITING, false},
    [OS_SETTING_EAGER_CREDIT] = {TOOL_MESSAGES, false},
    [OS_SETTING_CONNECT_TIMEOUT_MS ... OS_SETTING_CONNECTIONS_IDLE_MS] = {TOOL_CONNECTIONS, false},
    [OS_SETTING_REPORT] = {TOOL_LAUNCH, true},
    [OS_SETTING_SINGLETON] = {TOOL_LAUNCH, true},
    [OS_SETTING_INITIAL_ERRHANDLER] = {TOOL_LAUNCH, true},
    [OS_SETTING_MEMORY_ALLOC_KINDS] = {TOOL_LAUNCH, true},
    [OS_SETTING_KILL_AFTER_MS] = {TOOL_LAUNCH, true},
    [OS_SETTING_OUTPUT_UNREAD] = {TOOL_LAUNCH, true},
    [OS_SETTING_READER_WAIT_MS] = {TOOL_LAUNCH, true},
    [OS_SETTING_IO_REPORT] = {TOOL_VIREO, true},
    [OS_SETTING_SUMMARY ... OS_SETTING_TRACE] = {TOOL_LAUNCH, true},
    [OS_SETTING_COLL_BARRIER... OS_SETTING_CHECK] = {TOOL_VIREO, false},
};

/* Of choices; made once. */
static struct tool_enum words[OS_SETTING_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct tool_cvar_handle *handles;

int tool_cvar_count(void)
{
    return OS_SETTING_COUNT;
}

int tool_cvar_category(int i)
{
    if (i == OS_SETTING_SINGLE_COPY)
        return tool_category_of_channel("shm");
    if (i == OS_SETTING_TCP_ADDRESSES)
        return tool_category_of_channel("tcp");
    return more[i].category;
}

static void make_words(void)
{
    for (int i = 0; i < OS_SETTING_COUNT; i++)
        words[i] = (struct tool_enum){os_settings[i].name, os_settings[i].unit};
}

const struct tool_enum *tool_cvar_enum(int i)
{
    const struct os_setting_row *row = &os_settings[i];
    pthread_once(&once, make_words);
    return row->type == OS_TYPE_BOOL     ? &tool_enum_bool
           : row->type == OS_TYPE_CHOICE ? &words[i]
                                         : NULL;
}

static MPI_Datatype datatype_of(enum os_setting_type type)
{
    switch (type) {
    case OS_TYPE_BOOL:
    case OS_TYPE_CHOICE: return MPI_INT;
    case OS_TYPE_TEXT: return MPI_CHAR;
    default: return MPI_COUNT;
    }
}

void tool_cvar_describe(int i, struct tool_cvar *cvar)
{
    const struct os_setting_row *row = &os_settings[i];
    bool has_unit = row->unit[0] && row->type != OS_TYPE_CHOICE;
    int n = snprintf(cvar->name, sizeof(cvar->name), "VIREO_%s", row->name);
    for (int k = 0; k < n && k < (int)sizeof(cvar->name); k++)
        if (cvar->name[k] >= 'a' && cvar->name[k] <= 'z')
            cvar->name[k] = (char)(cvar->name[k] - 'a' + 'A');
    snprintf(cvar->about, sizeof(cvar->about), "%s%s%s%s Default: %s.", row->about,
             has_unit ? " Unit: " : "", has_unit ? row->unit : "", has_unit ? "." : "",
             row->initial[0] ? row->initial : "empty");
    cvar->verbosity = more[i].basic ? MPI_T_VERBOSITY_USER_BASIC : MPI_T_VERBOSITY_TUNER_BASIC;
    cvar->scope = row->until == OS_UNTIL_NEVER ? MPI_T_SCOPE_READONLY
                  : row->equal                 ? MPI_T_SCOPE_ALL_EQ
                                               : MPI_T_SCOPE_LOCAL;
    cvar->datatype = datatype_of(row->type);
    cvar->enumtype = tool_cvar_enum(i);
}

/* ---- handles ---- */

int tool_cvar_alloc(int index, struct tool_cvar_handle **handle)
{
    struct tool_cvar_handle *made = malloc(sizeof(*made));
    if (!made)
        return MPI_T_ERR_OUT_OF_HANDLES;
    *made = (struct tool_cvar_handle){.own = tool_handle_make(TOOL_CVAR, made),
                                      .index = index,
                                      .count = 1};
    if (!made->own) {
        free(made);
        return MPI_T_ERR_OUT_OF_HANDLES;
    }
    if (os_settings[index].type == OS_TYPE_TEXT) {
        size_t len = strlen(os_setting_text((enum os_setting_id)index)) + 1;
        made->count = len < TEXT_MAX ? TEXT_MAX : (int)len;
    }
    DL_PREPEND(handles, made);
    *handle = made;
    return MPI_SUCCESS;
}

struct tool_cvar_handle *tool_cvar_from(MPI_T_cvar_handle handle)
{
    return tool_handle_find(handle, TOOL_CVAR);
}

void tool_cvar_free(struct tool_cvar_handle *handle)
{
    DL_DELETE(handles, handle);
    tool_handle_drop(handle->own);
    free(handle);
}

void tool_cvar_free_all(void)
{
    while (handles)
        tool_cvar_free(handles);
}

void tool_cvar_read(const struct tool_cvar_handle *handle, void *buf)
{
    enum os_setting_id id = (enum os_setting_id)handle->index;
    MPI_Count number = os_setting(id);
    int small = (int)number;
    switch (os_settings[id].type) {
    case OS_TYPE_TEXT: /* it may be longer now than when the handle was made */
        snprintf(buf, (size_t)handle->count, "%s", os_setting_text(id));
        break;
    case OS_TYPE_BOOL:
    case OS_TYPE_CHOICE: memcpy(buf, &small, sizeof(small)); break;
    default: memcpy(buf, &number, sizeof(number));
    }
}

/* Return the value that is written as the text that a setting takes, or NULL if it is invalid.
 */
static const char *text_of(int index, const void *buf, int count, char *room, size_t size)
{
    const struct os_setting_row *row = &os_settings[index];
    MPI_Count number;
    int item;
    if (row->type == OS_TYPE_TEXT)
        return strnlen(buf, (size_t)count) < (size_t)count ? buf : NULL;
    if (row->type == OS_TYPE_INT || row->type == OS_TYPE_SIZE) {
        memcpy(&number, buf, sizeof(number));
        snprintf(room, size, "%lld", (long long)number);
        return room;
    }
    const struct tool_enum *e = tool_cvar_enum(index);
    memcpy(&item, buf, sizeof(item));
    const char *word = tool_enum_item(e, item);
    if (!word)
        return NULL;
    snprintf(room, size, "%.*s", (int)strcspn(word, "|"), word);
    return room;
}

int tool_cvar_write(const struct tool_cvar_handle *handle, const void *buf)
{
    char room[64];
    enum os_setting_until until = os_settings[handle->index].until;
    /* A setting that the library reads at its start is not read again, even if it starts again. */
    if (until == OS_UNTIL_NEVER || (until == OS_UNTIL_START && mpi_state != MPI_STATE_BEFORE))
        return MPI_T_ERR_CVAR_SET_NEVER;
    const char *text = text_of(handle->index, buf, handle->count, room, sizeof(room));
    int rc = text ? os_setting_put((enum os_setting_id)handle->index, text) : -EINVAL;
    return rc == 0 ? MPI_SUCCESS : rc == -ENOMEM ? MPI_T_ERR_MEMORY : MPI_T_ERR_INVALID;
}
