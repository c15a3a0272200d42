/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Any bytes as what processes send to the hub of a job's streams: each is taken, or its sender cut
 * off; what is kept stays bounded, and what the hub sends can be read.
 *
 * usage: fuzz_hub FILE...
 */
#include <errno.h>

#include "bnr/wire/hub_frame.h"
#include "test/fuzz/main.h"

enum {
    PARTIES = 3,
    FIRST = 100
};

static void check_effects(struct hub_effects *e)
{
    for (size_t i = 0; i < e->count; i++) {
        uint8_t head[HUB_FRAME_HEAD];
        const struct hub_message *m = &e->items[i].message;
        struct hub_message got;
        require(e->items[i].party >= FIRST && e->items[i].party < FIRST + PARTIES, "a party is one");
        hub_frame_head(head, m);
        ptrdiff_t n = hub_frame_unpack(head, sizeof(head), &got);
        require(n == (m->len ? 0 : HUB_FRAME_HEAD), "a message is one");
        require(m->kind != HUB_FRAGMENT || m->len <= HUB_DATA_MAX, "a fragment has its size");
    }
    hub_effects_clear(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct hub *h = hub_create(4, 8, HUB_WINDOW);
    struct hub_effects e = {0};
    struct hub_message m;
    ptrdiff_t n;
    require(h != NULL, "there is memory");
    for (size_t at = 0; at + 1 < len && (n = hub_frame_unpack(bytes + at + 1, len - at - 1, &m)) > 0;
         at += 1 + (size_t)n) {
        uint64_t party = FIRST + bytes[at] % PARTIES;
        int rc = hub_message(h, party, &m, &e);
        require(rc == 0 || rc == -EPROTO, "a message is taken, or its sender cut off");
        if (rc)
            require(!hub_party_gone(h, party, &e), "a party can go");
        check_effects(&e);
        require(hub_stream_count(h) <= 8 + 1, "streams are bounded");
        require(hub_memory(h) <= 16 * HUB_WINDOW * HUB_ENDS_MAX, "memory is bounded");
    }
    for (uint64_t party = FIRST; party < FIRST + PARTIES; party++)
        require(!hub_party_gone(h, party, &e), "a party can go");
    require(hub_is_quiet(h), "without parties there is quiet");
    check_effects(&e);
    hub_effects_fini(&e);
    hub_destroy(h);
    return 0;
}
