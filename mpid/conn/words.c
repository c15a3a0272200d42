/* SPDX-License-Identifier: BSD-3-Clause */

/* Words that peers have put into the key-value space; see words.h. */
#include "mpid/conn/words.h"

#include <stdlib.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"

/* As BNR_Get_alloc(), of values known on this host. */
static int get_word(const struct vc *vc, const char *key)
{
    void *value;
    size_t len;
    BNR_Group group = device_group_of(&vc->peer.gid, vc->peer.rank);
    if (!group || !device_shows_keys()) /* words come after the last fence */
        return BNR_ERR_NOT_FOUND;
    int rc = BNR_Get_alloc(group, (int)vc->peer.rank, key, &value, &len, BNR_GET_LATER);
    if (!rc)
        free(value);
    return rc;
}

bool words_has(const struct vc *vc, const char *key)
{
    return !get_word(vc, key);
}

bool words_lacks(const struct vc *vc, const char *key)
{
    int rc = get_word(vc, key);
    return rc && rc != BNR_ERR_AGAIN;
}

