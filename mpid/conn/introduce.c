/* SPDX-License-Identifier: BSD-3-Clause */

/* Getting to know processes of other groups; see foreign.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpid/conn/connect.h"
#include "mpid/conn/foreign.h"
#include "mpid/conn/ports.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "os/keyed_hash.h"

enum { HOST_MAX = 255 };

/* ---- secrets ---- */

/* 16 bytes that depend on a key and a text. */
static void derive(const uint8_t key[16], const void *text, size_t len, uint8_t out[16])
{
    uint8_t first[16];
    uint64_t half[2];
    half[0] = os_keyed_hash(key, text, len);
    for (int i = 0; i < 16; i++)
        first[i] = (uint8_t)(key[i] ^ 0x5c);
    half[1] = os_keyed_hash(first, text, len);
    memcpy(out, half, 16);
}

/* What this job tells others. */
static void own_key(uint8_t key[16])
{
    static const char purpose[] = "for processes of other jobs";
    derive(device.env.secret, purpose, sizeof(purpose), key);
}

/* The same whichever of the two makes it. */
static void make_secret(const struct chan_gid *gid, const uint8_t theirs[16], uint8_t secret[16])
{
    uint8_t key[16], text[2 * sizeof(*gid)];
    bool less = memcmp(gid, &device.env.gid, sizeof(*gid)) < 0;
    own_key(key);
    for (int i = 0; i < 16; i++)
        key[i] ^= theirs[i];
    memcpy(text, less ? gid : &device.env.gid, sizeof(*gid));
    memcpy(text + sizeof(*gid), less ? &device.env.gid : gid, sizeof(*gid));
    derive(key, text, sizeof(text), secret);
}

/* ---- introductions ---- */

int mpid_present(struct mpid_introduction *me)
{
    int rc = 0;
    bool changed = false;
    os_lock(&device.lock);
    for (int i = 0; i < device.port_count && !rc; i++) {
        struct chan *chan = device.ports[i].chan;
        int said = chan->ops->serve ? chan->ops->serve(chan) : 0;
        changed |= said == 1;
        rc = said == -ENOMEM ? said : 0; /* without this channel others may do */
    }
    if (!rc && changed)
        rc = ports_publish(NULL);
    *me = (struct mpid_introduction){.gid = device.world.gid,
                                     .rank = (uint32_t)device.world.rank,
                                     .host = device.world.host};
    own_key(me->key);
    me->card = strdup(device.card);
    os_unlock(&device.lock);
    return rc ? rc : me->card ? 0 : -ENOMEM;
}

static struct foreign *read_introduction(const struct mpid_introduction *who)
{
    struct foreign *foreign = calloc(1, sizeof(*foreign));
    struct chan_gid gid;
    if (!foreign)
        return NULL;
    memcpy(&gid, &who->gid, sizeof(gid));
    make_secret(&gid, who->key, foreign->secret);
    foreign->card = strndup(who->card, CARD_MAX - 1);
    foreign->host = strndup(who->host, HOST_MAX);
    if (foreign->card && foreign->host)
        return foreign;
    foreign_free(foreign);
    return NULL;
}

/* Whether the process manager knows the process. */
static bool is_own(const struct chan_gid *gid, uint32_t rank)
{
    return device_group_of(gid, rank) != BNR_GROUP_NULL;
}

/* A VC that is there knows its peer already. */
struct vc *mpid_introduce(const struct mpid_introduction *who)
{
    struct chan_gid gid;
    memcpy(&gid, &who->gid, sizeof(gid));
    os_lock(&device.lock);
    struct vc *vc = vc_get(&gid, who->rank);
    if (vc && !vc->foreign && !is_own(&gid, who->rank)) {
        vc->foreign = read_introduction(who);
        device.foreign_count += vc->foreign != NULL;
        if (!vc->foreign) {
            vc_check(vc);
            vc = NULL;
        }
    }
    if (vc && vc->foreign)
        connect_introduced(vc);
    if (vc)
        vc->refs++;
    os_unlock(&device.lock);
    return vc;
}

bool mpid_knows_others(void)
{
    return __atomic_load_n(&device.foreign_count, __ATOMIC_RELAXED) != 0;
}
