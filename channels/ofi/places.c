/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The addresses of peers that the provider has. Each is inserted once, since some providers make a connection for
 * each time. Provider shm maps the memory of a process with its address, which the kernel then keeps when the
 * process has ended, and it takes 256 addresses at most. So addresses there are removed once their processes have
 * ended and nothing here is under way to them. With other providers an address takes a KiB, and stays.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ofi/link.h"
#include "os/hash.h"

enum { SWEEP = 16 }; /* addresses from one look for ended processes to the next */

struct ofi_place {
    UT_hash_handle hh;
    fi_addr_t to;
    uint8_t address[]; /* the key, and a 0 behind it */
};

static void forget(struct ofi *ofi, struct ofi_place *place)
{
    HASH_DEL(ofi->places, place);
    free(place);
}

void ofi_places_close(struct ofi *ofi)
{
    struct ofi_place *place, *next;
    HASH_ITER(hh, ofi->places, place, next)
        forget(ofi, place);
}

/* Without memory for that it is inserted again. */
static void note(struct ofi *ofi, const void *address, size_t len, fi_addr_t to)
{
    struct ofi_place *place = calloc(1, sizeof(*place) + len + 1);
    if (!place)
        return;
    place->to = to;
    memcpy(place->address, address, len);
    HASH_ADD_KEYPTR(hh, ofi->places, place->address, (unsigned)len, place);
    if (!os_hash_has(hh, place))
        free(place);
}

/* Whether a link leads there, or has led there and is leaving. */
static bool has_link(const struct ofi *ofi, fi_addr_t to)
{
    const struct ofi_link *link = ofi->links, *leaving = ofi->leaving;
    while (link && link->say.to != to)
        link = link->next;
    while (leaving && leaving->say.to != to)
        leaving = leaving->next;
    return link || leaving;
}

/* Whether anything here is under way there, or may be. */
static bool is_used(const struct ofi *ofi, fi_addr_t to)
{
    bool used = has_link(ofi, to);
    for (const struct ofi_stranger *stranger = ofi->strangers; stranger && !used; stranger = stranger->next)
        used = stranger->say.to == to;
    for (const struct ofi_op *op = ofi->sends; op && !used; op = op->other)
        used = op->to == to;
    for (int i = 0; i < OFI_TRANSFERS && !used; i++)
        used = ofi->transfers[i].op.to == to;
    return used;
}

static bool has_ended(const struct ofi_place *place)
{
    struct ofi_owner owner;
    return ofi_owner_read((const char *)place->address, &owner) && ofi_owner_has_ended(&owner);
}

bool ofi_places_has_ended(const struct ofi *ofi, fi_addr_t to)
{
    const struct ofi_place *place = ofi->places;
    while (place && place->to != to)
        place = place->hh.next;
    return place && has_ended(place);
}

bool ofi_places_find(const struct ofi *ofi, const void *address, size_t len, fi_addr_t *to)
{
    const struct ofi_place *place;
    HASH_FIND(hh, ofi->places, address, (unsigned)len, place);
    if (place)
        *to = place->to;
    return place;
}

/* Take messages of ended processes first: the provider looks up their addresses then. */
static void remove_ended(struct ofi *ofi)
{
    struct ofi_place *place, *next;
    struct fi_cq_msg_entry none;
    ofi_enter(ofi);
    (void)fi_cq_read(ofi->cq, &none, 0);
    ofi_leave(ofi);
    HASH_ITER(hh, ofi->places, place, next) {
        if (!has_ended(place) || is_used(ofi, place->to))
            continue;
        ofi_enter(ofi);
        int rc = fi_av_remove(ofi->av, &place->to, 1, 0);
        ofi_leave(ofi);
        if (!rc)
            forget(ofi, place);
    }
}

static int insert(struct ofi *ofi, const void *address, fi_addr_t *to)
{
    ofi_enter(ofi);
    int inserted = fi_av_insert(ofi->av, address, 1, to, 0, NULL);
    ofi_leave(ofi);
    return inserted == 1 ? 0 : -EHOSTUNREACH;
}

int ofi_places_reach(struct ofi *ofi, const void *address, size_t len, fi_addr_t *to)
{
    struct ofi_place *place;
    struct ofi_owner owner;
    uint8_t whole[OFI_ADDRESS_MAX] = {0}; /* the provider reads as much as its addresses have */
    HASH_FIND(hh, ofi->places, address, (unsigned)len, place);
    if (place) {
        *to = place->to;
        return 0;
    }
    memcpy(whole, address, len);
    whole[OFI_ADDRESS_MAX - 1] = 0;
    if (ofi_owner_read((const char *)whole, &owner) && ++ofi->met % SWEEP == 0)
        remove_ended(ofi);
    ofi_guard_meet(ofi, (const char *)whole);
    int rc = insert(ofi, whole, to);
    if (!rc)
        note(ofi, address, len, *to);
    return rc;
}
