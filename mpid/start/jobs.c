/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that this process has started, and names, by the process manager. */
#include <errno.h>

#include "mpid/ground/device.h"

int mpid_spawn(const char *const *words, const char *note, int *id)
{
    const BNR_Job_attr attr = {sizeof(attr), words, note};
    os_lock(&device.lock);
    int rc = BNR_Start_job(&attr, id);
    os_unlock(&device.lock);
    return !rc ? 0 : rc == BNR_ERR_NOMEM ? -ENOMEM : rc == BNR_ERR_NOT_FOUND ? -ENOENT : -EIO;
}

bool mpid_spawn_ended(int id, int *status)
{
    int ended = 0;
    os_lock(&device.lock);
    int rc = BNR_Job_state(id, &ended, status);
    os_unlock(&device.lock);
    return rc || ended;
}

void mpid_spawn_link(int id)
{
    os_lock(&device.lock);
    (void)BNR_Job_link(id, 1, NULL);
    os_unlock(&device.lock);
}

struct unlinking {
    int id;
    bool is_over;
};

static bool is_unlinked(void *arg)
{
    struct unlinking *unlinking = arg;
    int status;
    if (!unlinking->is_over) /* a condition may be asked once more */
        unlinking->is_over = mpid_spawn_ended(unlinking->id, &status);
    return unlinking->is_over;
}

void mpid_spawn_unlink(int id)
{
    static const struct mpid_condition unlinked = {.is_done = is_unlinked};
    struct unlinking unlinking = {0};
    os_lock(&device.lock);
    int rc = BNR_Job_link(id, 0, &unlinking.id);
    os_unlock(&device.lock);
    if (!rc && !is_unlinked(&unlinking))
        mpid_wait_condition(&unlinked, &unlinking);
}

const char *mpid_spawn_note(void)
{
    const char *note = NULL;
    os_lock(&device.lock);
    (void)BNR_Get_note(&note);
    os_unlock(&device.lock);
    return note;
}

/* ---- names ---- */

struct name_call {
    int id, code;
    bool is_over;
    char *text;
};

static bool is_answered(void *arg)
{
    struct name_call *call = arg;
    int done = 0;
    if (call->is_over) /* a condition may be asked once more */
        return true;
    os_lock(&device.lock);
    int rc = BNR_Name_state(call->id, &done, &call->code, call->text, MPID_NAME_MAX + 1);
    os_unlock(&device.lock);
    if (rc)
        call->code = rc;
    call->is_over = rc || done;
    return call->is_over;
}

static int errno_of(int code)
{
    switch (code) {
    case BNR_SUCCESS: return 0;
    case BNR_ERR_EXISTS: return -EEXIST;
    case BNR_ERR_NOT_FOUND: return -ENOENT;
    case BNR_ERR_PERM: return -EPERM;
    case BNR_ERR_ARG: return -EINVAL;
    case BNR_ERR_NOMEM: return -ENOMEM;
    default: return -EIO;
    }
}

int mpid_name(enum mpid_name call, const char *name, char *text)
{
    static const enum BNR_Name_call calls[] = {BNR_NAME_PUBLISH, BNR_NAME_UNPUBLISH, BNR_NAME_LOOKUP};
    static const struct mpid_condition answered = {.is_done = is_answered};
    struct name_call state = {.text = text};
    os_lock(&device.lock);
    int rc = BNR_Name(calls[call], name, call == MPID_PUBLISH ? text : NULL, &state.id);
    os_unlock(&device.lock);
    if (rc)
        return errno_of(rc);
    if (!is_answered(&state))
        mpid_wait_condition(&answered, &state);
    return errno_of(state.code);
}
