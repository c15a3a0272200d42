/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Asks whether the process of a link lives. The launcher tells of the ends of this job's
 * processes, but not of another job's, and libfabric tells nothing until something is sent. So now and then such a
 * peer is sent a CREDIT, of none if none is owed. A fabric that knows of the end answers by an error. Provider
 * tcp;ofi_rxm tries to connect anew instead, and has no room until then. Over provider shm the address tells. Over
 * udp;ofi_rxd the peer's host refuses the datagram.
 */
#include <errno.h>

#include "channels/ofi/link.h"
#include "include/channel_help.h"

enum { ASKS = 4 }; /* in the time that a call may take */

bool ofi_alive_asks(const struct ofi_link *link)
{
    const struct chan_gid *own = &link->ofi->env->gid;
    return link->state == OFI_OPEN && !link->ended && !link->broken &&
           memcmp(&link->base.peer->gid, own, sizeof(*own)) != 0;
}

void ofi_alive_begin(struct ofi_link *link)
{
    link->ask_ns = chan_now_ns() + link->ofi->timeout_ns / ASKS;
    link->ofi->watched = true;
    if (ofi_alive_asks(link))
        ofi_datagrams_hear(link->ofi);
}

static void break_links(struct ofi *ofi, fi_addr_t to)
{
    for (struct ofi_link *link = ofi->links; link; link = link->next)
        if (link->say.to == to && ofi_alive_asks(link)) {
            link->broken = -ECONNREFUSED;
            ofi->watched = true;
        }
}

void ofi_alive_hear(struct ofi *ofi)
{
    uint8_t address[OFI_ADDRESS_MAX];
    fi_addr_t to;
    for (size_t len; (len = ofi_datagrams_refused(ofi, address));)
        if (ofi_places_find(ofi, address, len, &to))
            break_links(ofi, to);
}

bool ofi_alive_has_ended(const struct ofi_link *link)
{
    bool ended = ofi_places_has_ended(link->ofi, link->say.to);
    if (ended)
        ofi_leftover_remove();
    return ended;
}

uint64_t ofi_alive_limit(const struct ofi_link *link)
{
    const struct ofi *ofi = link->ofi;
    return link->unsaid_ns && ofi->resets && ofi_alive_asks(link) ? link->unsaid_ns + ofi->timeout_ns : UINT64_MAX;
}

bool ofi_alive_goes_on(struct ofi_link *link, uint64_t now_ns)
{
    const struct ofi *ofi = link->ofi;
    bool is_open = link->state == OFI_OPEN;
    if (link->ended || link->broken)
        return false;
    /* A connection leads there, or one of the peer's leads here, and bytes wait in it while the peer takes nothing. */
    if (ofi_sockets_lead(ofi, link->say.to) || (is_open && !ofi_sockets_are_out(ofi))) {
        *(is_open ? &link->unsaid_ns : &link->since_ns) = now_ns;
        return true;
    }
    if (is_open)
        link->broken = -ECONNRESET;
    return false;
}
