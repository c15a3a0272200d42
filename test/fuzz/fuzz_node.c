/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Any messages from any nodes: a daemon's engines take them or refuse them. Their messages go to
 * nodes that exist, and memory stays bounded. And frames: a link delivers packed messages
 * alone, unchanged and in order.
 *
 * Input: records of a sender (1 byte), the body of a frame (40 bytes), how long the data is (2
 * bytes), the data. Sender 0xff is the timer: a second passes.
 *
 * usage: fuzz_node FILE...
 */
#include <errno.h>

#include "bnr/core/tree/node.h"
#include "bnr/wire/frame.h"
#include "test/fuzz/main.h"

enum {
    NODES = 9,
    BODY = FRAME_HEAD_LEN - FRAME_PREFIX_LEN
};

static const uint8_t key[16] = "sixteen bytes ..";

static void look(struct node_engine *n, int rc, struct effects *effects)
{
    require(rc == 0 || rc == -EPROTO, "a message is taken, or refused");
    for (size_t i = 0; i < effects->count; i++) {
        const struct effect *e = &effects->items[i];
        require(e->node < NODES, "effects are about nodes that exist");
        require(e->kind != EFFECT_SEND || e->node != n->tree.self, "nothing is sent to itself");
        require(e->kind != EFFECT_ALONE || n->tree.self != NODE_ROOT, "the root is never alone");
    }
    require(n->held_count <= NODE_HELD_MAX && n->xcast.log.count <= 2 * XCAST_WINDOW,
            "what is kept is bounded");
    require(!tree_is_lost(&n->tree, n->tree.self), "a node does not lose itself");
    effects_clear(effects);
}

/* The record as a message: through a frame with a right hash, which then is good once. */
static int make_message(const uint8_t *body, const uint8_t *data, size_t len,
                        struct core_message *message)
{
    struct frame_link out, in;
    struct core_message plain = {.kind = body[0]};
    frame_link_init(&out, key);
    frame_link_init(&in, key);
    struct bytes *frame = frame_pack(&out, &plain);
    struct bytes *whole = bytes_create(NULL, FRAME_HEAD_LEN + len);
    require(frame && whole, "memory");
    memcpy(whole->at, frame->at, FRAME_PREFIX_LEN);
    memcpy(whole->at + FRAME_PREFIX_LEN, body, BODY);
    memcpy(whole->at + FRAME_HEAD_LEN, data, len);
    require(frame_unpack(&in, whole->at, whole->len, message) == -EPROTO ||
                (whole->len == frame->len && !memcmp(whole->at, frame->at, frame->len)),
            "a frame that was changed is refused");
    bytes_unref(frame);
    bytes_unref(message->data);
    *message = (struct core_message){.kind = body[0],
                                     .mode = body[1],
                                     .status = body[2],
                                     .flags = body[3],
                                     .data = bytes_create(data, len)};
    uint32_t words[3];
    memcpy(words, body + 4, sizeof(words));
    message->origin = words[0] % 11;
    message->to = words[1] % 11;
    message->tag = words[2] % 64;
    message->group = body[23] % 3;
    message->number = body[31];
    message->other = body[39];
    bytes_unref(whole);
    return message->kind && message->kind < MESSAGE_KIND_END;
}

static void begin(struct node_engine *n, uint32_t self, struct effects *effects)
{
    static const struct rank_block block = {0, 0, NODES, 2};
    static const struct rank_map group = {1, 2 * NODES, &block, 1};
    struct node_settings settings = {self, NODES, 2, LIVENESS_LIMIT_NS, xcast_choice_default};
    struct tree_fence_entry entry = {1, STATUS_GOOD, 0, NULL};
    look(n, node_init(n, &settings, 0, effects), effects);
    look(n, node_add_group(n, &group, 0, effects), effects);
    for (uint32_t peer = 0; peer < NODES; peer++)
        look(n, node_link(n, peer, LINK_MADE, 0, effects), effects);
    look(n, node_fence(n, 1, &entry, 0, effects), effects);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct node_engine n;
    struct effects effects = {0};
    int64_t now = 0;
    if (!len)
        return 0;
    begin(&n, bytes[0] % 4, &effects);
    bytes++;
    len--;
    while (len >= 1 + BODY + 2) {
        size_t data_len = (size_t)bytes[1 + BODY] << 8 | bytes[2 + BODY];
        struct core_message message = {0};
        if (data_len > len - (1 + BODY + 2))
            data_len = len - (1 + BODY + 2);
        if (bytes[0] == 0xff) {
            now += 1000000000;
            look(&n, node_tick(&n, now, &effects), &effects);
        } else if (make_message(bytes + 1, bytes + 3 + BODY, data_len, &message)) {
            look(&n, node_message(&n, bytes[0] % NODES, &message, now, &effects), &effects);
        }
        bytes_unref(message.data);
        bytes += 3 + BODY + data_len;
        len -= 3 + BODY + data_len;
    }
    effects_fini(&effects);
    node_fini(&n);
    return 0;
}
