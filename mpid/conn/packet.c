/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of packet kinds, which modules fill when the device starts, and the way in. */
#include "mpid/conn/packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "os/turn.h"

static const struct packet_kind *kinds[PACKET_KINDS];

int packet_add(uint32_t type, const struct packet_kind *kind)
{
    if (type == PACKET_NONE || type >= PACKET_KINDS || (kinds[type] && kinds[type] != kind))
        return -EEXIST;
    kinds[type] = kind;
    return 0;
}

void packet_turn(enum packet_type type, void *payload)
{
    static const char *const fields[PACKET_TYPES] = {[PACKET_RTS] = "8844", [PACKET_CTS] = "4444888"};
    if (fields[type])
        os_turn_fields(payload, fields[type]);
}

static const struct packet_kind *kind_of(const struct chan_head *head)
{
    uint32_t type = packet_type(head);
    return type < PACKET_KINDS ? kinds[type] : NULL;
}

/* The peer breaks the rules: its connection ends. */
static void refuse(struct vc *vc, const struct packet_kind *kind, const char *what)
{
    char why[128];
    snprintf(why, sizeof(why), "it sent %s %s packet", what, kind->name);
    vc_fail(vc, MPID_LOST, why);
}

void packet_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    const struct packet_kind *kind = kind_of(head);
    if (!kind)
        vc_fail(vc, MPID_LOST, "it sent a packet of no known kind");
    else if (len < kind->least)
        refuse(vc, kind, "a short");
    else
        kind->arrived(vc, head, data, len);
}

void packet_drop_landing(struct vc *vc)
{
    struct landing *landing = vc->landing;
    vc->landing = NULL;
    if (!landing)
        return;
    free(landing->temp);
    os_pool_put(&device.landings, landing);
}

void *packet_place(struct chan_peer *peer, const struct chan_head *head, size_t len, void **token)
{
    struct vc *vc = (struct vc *)peer;
    const struct packet_kind *kind = kind_of(head);
    packet_drop_landing(vc);
    *token = vc;
    void *place = NULL;
    struct landing *landing = vc->landing = os_pool_get(&device.landings);
    if (!landing) {
        vc_fail(vc, MPID_NO_MEMORY, "no memory for a message");
        return NULL;
    }
    *landing = (struct landing){.len = len, .kind = kind};
    if (kind && kind->place)
        place = kind->place(vc, head, landing);
    if (!place)
        vc_fail(vc, MPID_LOST, "it sent data that nobody asked for");
    return place;
}

void *packet_land_at(struct landing *landing, struct mpid_request *request)
{
    const struct mpid_bytes *bytes = &request->bytes;
    landing->request = request;
    if (!bytes->layout && landing->offset + landing->len <= bytes->len)
        return (char *)bytes->base + landing->offset;
    landing->temp = malloc(landing->len);
    return landing->temp;
}

void packet_copy(struct mpid_request *request, size_t offset, const void *data, size_t len)
{
    const struct mpid_bytes *bytes = &request->bytes;
    if (offset >= bytes->len)
        return;
    if (len > bytes->len - offset)
        len = bytes->len - offset;
    if (bytes->layout)
        bytes->layout->unpack(bytes, offset, data, len);
    else if (len)
        memcpy((char *)bytes->base + offset, data, len);
}

void packet_landed(struct chan_peer *peer, void *token)
{
    struct vc *vc = token;
    struct landing landing = *vc->landing;
    vc->landing->temp = NULL;
    packet_drop_landing(vc);
    (void)peer;
    if (landing.request && landing.temp)
        packet_copy(landing.request, landing.offset, landing.temp, landing.len);
    if (landing.kind)
        landing.kind->landed(vc, &landing);
    free(landing.temp);
}
