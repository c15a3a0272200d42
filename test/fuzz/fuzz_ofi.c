/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ofi channel over a fabric that takes everything and says nothing: whatever arrives, callers
 * are believed only with a proof, packets come in order and in one piece, and nothing is written
 * beyond its place.
 *
 * An input is a list of messages: a byte that says to which name of ours it goes, two bytes of
 * length, the message.
 *
 * usage: fuzz_ofi FILE...
 */
#include <errno.h>

#include "channels/ofi/link.h"
#include "test/fuzz/main.h"

enum { PEERS = 3, TO_NOBODY = 3 };

static struct {
    struct chan_peer peer;
    void *slots[8]; /* behind the peer */
    uint64_t packets;
    bool open;
} peers[PEERS];

static struct ofi ofi;
static int asked;

/* ---- the fabric ---- */

int ofi_places_reach(struct ofi *self, const void *address, size_t len, fi_addr_t *to)
{
    (void)self, (void)address;
    require(len == 16, "an address of another length");
    require(false, "a stranger's address is inserted");
    *to = 1;
    return 0;
}

bool ofi_fabric_post(struct ofi *self)
{
    (void)self;
    return true;
}

int ofi_fabric_put(struct ofi *self, fi_addr_t to, struct ofi_message *message,
                   const struct chan_data *body, struct ofi_link *link)
{
    const struct ofi_frame *frame = &message->frame;
    (void)to, (void)link;
    require(frame->kind && frame->kind < OFI_KINDS && frame->len == body->len, "a bad frame");
    return self->names % 7 == 0 ? CHAN_AGAIN : 0;
}

bool ofi_sockets_lead(const struct ofi *self, fi_addr_t to)
{
    (void)self, (void)to;
    return false;
}

bool ofi_sockets_are_out(const struct ofi *self)
{
    (void)self;
    return true;
}

void ofi_datagrams_hear(struct ofi *self)
{
    (void)self;
}

size_t ofi_datagrams_refused(struct ofi *self, uint8_t address[OFI_ADDRESS_MAX])
{
    (void)self, (void)address;
    return 0;
}

bool ofi_places_find(const struct ofi *self, const void *address, size_t len, fi_addr_t *to)
{
    (void)self, (void)address, (void)len, (void)to;
    return false;
}

bool ofi_places_has_ended(const struct ofi *self, fi_addr_t to)
{
    (void)self, (void)to;
    return false;
}

void ofi_leftover_remove(void)
{
}

void ofi_fabric_opened(struct ofi *self, fi_addr_t to)
{
    (void)self;
    require(to == 1, "a link to nobody");
}

/* No memory is reached here. */
void ofi_memory_stop(struct ofi_link *link)
{
    (void)link;
}

int ofi_memory_give_up(struct ofi_link *link)
{
    (void)link;
    return 0;
}

/* ---- the device ---- */

static int index_of(const struct chan_peer *peer)
{
    return (int)((const char *)peer - (const char *)peers) / (int)sizeof(peers[0]);
}

static void on_arrived(struct chan_peer *peer, const struct chan_head *head, const void *data,
                       size_t len)
{
    (void)head;
    require(peers[index_of(peer)].open && len <= OFI_DATA_MAX, "a packet before its time");
    uint8_t *copy = malloc(len + 1);
    require(copy != NULL, "no memory");
    memcpy(copy, data, len);
    free(copy);
    peers[index_of(peer)].packets++;
}

static enum chan_answer on_asked(void *device, const struct chan_ops *ops,
                                 const struct chan_gid *gid, uint32_t rank, struct chan_peer **peer)
{
    (void)device, (void)ops, (void)gid;
    asked++;
    *peer = &peers[rank % PEERS].peer;
    return CHAN_ACCEPT;
}

static void on_opened(struct chan_link *link)
{
    peers[index_of(link->peer)].open = true;
}

static void on_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    require(!peers[index_of(link->peer)].open && answer < CHAN_ANSWERS && why, "a bad refusal");
    ofi_link_free((struct ofi_link *)link);
}

static void on_lost(struct chan_link *link, int rc)
{
    require(peers[index_of(link->peer)].open && rc < 0, "a bad loss");
    peers[index_of(link->peer)].open = false;
    ofi_link_free((struct ofi_link *)link);
}

static const struct chan_sink sink = {.size = sizeof(sink),
                                      .arrived = on_arrived,
                                      .asked = on_asked,
                                      .opened = on_opened,
                                      .refused = on_refused,
                                      .lost = on_lost};
static struct chan_env env = {.sink = &sink, .secret = "a secret of them"};

const struct chan_ops vireo_channel = {.name = "ofi"};

/* ---- inputs ---- */

/* The name that a message is to have: of the peer that calls, or is open; or of a stranger. */
static uint64_t name_for(unsigned which)
{
    if (which < 2) {
        struct ofi_link *link = chan_slot_get(&peers[which].peer, 0);
        return link ? link->name : 0;
    }
    return (uint64_t)ofi.names; /* a guess: strangers' names are random in half */
}

static void deliver(unsigned which, const uint8_t *bytes, size_t len)
{
    uint8_t *message = malloc(len + 1);
    require(message != NULL, "no memory");
    memcpy(message, bytes, len);
    uint64_t name = name_for(which % 4);
    if (which % 4 != TO_NOBODY && len >= sizeof(name) && name)
        memcpy(message, &name, sizeof(name));
    (void)ofi_link_receive(&ofi, message, len);
    (void)ofi_link_end_some(&ofi);
    free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ofi = (struct ofi){.env = &env, .address_len = 16, .data_max = OFI_DATA_MAX,
                       .timeout_ns = 1u << 30};
    memset(peers, 0, sizeof(peers));
    asked = 0;
    for (int i = 0; i < 2; i++) {
        struct ofi_link *link = ofi_link_make(&ofi, &peers[i].peer, 1);
        require(link && !ofi_link_call(link), "no link");
        link->state = i ? OFI_OPEN : OFI_CALLING;
        peers[i].open = i == 1;
    }
    while (len >= 3) {
        size_t part = (size_t)bytes[1] << 8 | bytes[2];
        part = part > len - 3 ? len - 3 : part;
        deliver(bytes[0], bytes + 3, part);
        (void)ofi_stranger_speak(&ofi);
        bytes += 3 + part;
        len -= 3 + part;
    }
    require(!asked, "a caller without a proof was believed");
    require(!ofi.strangers, "a stranger is kept");
    while (ofi.links)
        ofi_link_free(ofi.links);
    ofi_stranger_close(&ofi);
    return 0;
}
