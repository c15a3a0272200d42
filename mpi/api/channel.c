/* SPDX-License-Identifier: BSD-3-Clause */

/* Channels of this process: what is beyond the standard. */
#include <stdio.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/comm/errh.h"
#include "mpi/info.h"
#include "mpi/world.h"

/*
 * Load a channel, a transport of messages, from a shared object.
 *
 * The object exports vireo_channel, as doc/channel-howto.md tells. It is tried in a copy of this
 * process first: one that crashes, is made for another version, or writes no proper card is refused,
 * and changes nothing. Peers to which no connection stands yet may choose it from now on, if they
 * have it too; connections that stand stay as they are. The processes of a job may load it at
 * different times, or some of them not at all.
 *
 * file: the path of the object
 *
 * MPI_ERR_FILE: the channel is refused; the message says why.
 * MPI_ERR_ARG: file is NULL.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Channel_load(const char *file)
{
    char why[512];
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!file)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "file is NULL");
    if (mpid_channel_load(file, why, sizeof(why)))
        return errh_comm(NULL, MPI_ERR_FILE, __func__, "the channel is refused: %s", why);
    return MPI_SUCCESS;
}

/* name=value, value and what it means, for each parameter. */
static int set_params(struct info *info, const struct mpid_channel *channel)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < MPID_CHANNEL_PARAMS && channel->params[i].name && !rc; i++) {
        const struct mpid_channel_param *param = &channel->params[i];
        char key[128], text[MPI_MAX_INFO_VAL];
        snprintf(key, sizeof(key), "param.%.100s", param->name);
        snprintf(text, sizeof(text), "%.300s: %.600s", param->value, param->about);
        rc = info_set(info, key, text);
    }
    return rc;
}

/*
 * Tell of a channel that this process has, or of a file that was to be one.
 *
 * The keys are name, about, file (empty for one that is built in), open (true or false), reason (why
 * it is not open), card (what peers are told), and param.NAME for each parameter: its value and what
 * it means.
 *
 * index: from 0 on
 * info: a new info object, which the caller frees; MPI_INFO_NULL if there are not so many
 *
 * MPI_ERR_ARG: index is negative, or info is NULL.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Channel_get_info(int index, MPI_Info *info)
{
    struct mpid_channel channel;
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (index < 0 || !info)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "index is %d, or info is NULL", index);
    if (!mpid_channel_describe(index, &channel)) {
        *info = MPI_INFO_NULL;
        return MPI_SUCCESS;
    }
    struct info *made = info_create();
    int rc = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    const char *const pairs[][2] = {{"name", channel.name},
                                    {"about", channel.about},
                                    {"file", channel.file},
                                    {"open", channel.closed ? "false" : "true"},
                                    {"reason", channel.closed ? channel.closed : ""},
                                    {"card", channel.card}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && !rc; i++)
        rc = info_set(made, pairs[i][0], pairs[i][1]);
    if (!rc)
        rc = set_params(made, &channel);
    if (rc) {
        info_destroy(made);
        return errh_comm(NULL, rc, __func__, "no memory for an info object");
    }
    *info = info_handle(made);
    return MPI_SUCCESS;
}

#include "channel.gen.h"
