/* SPDX-License-Identifier: BSD-3-Clause */

/* The messages of the ofi channel; see wire.h. */
#include "channels/ofi/wire.h"

#include <string.h>

#include "os/keyed_hash.h"

/* The role in a proof. Each has its own proofs, so no role can repeat a proof that it has heard as
 * its own. */
enum { ROLE_CALLER = 1, ROLE_CALLEE, ROLE_STRANGER };

uint64_t ofi_wire_proof(const uint8_t secret[16], const struct ofi_talk *talk, bool of_caller)
{
    struct {
        struct ofi_talk talk;
        uint64_t role;
    } text;
    memset(&text, 0, sizeof(text));
    text.talk = *talk;
    text.role = of_caller ? ROLE_CALLER : ROLE_CALLEE;
    return os_keyed_hash(secret, &text, sizeof(text));
}

uint64_t ofi_wire_hello_proof(const uint8_t secret[16], const struct ofi_hello *hello, const struct chan_gid *to,
                              uint32_t to_rank)
{
    struct {
        struct ofi_hello hello;
        struct chan_gid to;
        uint64_t to_rank, role;
    } text;
    memset(&text, 0, sizeof(text));
    memcpy(&text.hello, hello, offsetof(struct ofi_hello, address) + hello->address_len);
    text.hello.proof = 0;
    text.to = *to;
    text.to_rank = to_rank;
    text.role = ROLE_STRANGER;
    return os_keyed_hash(secret, &text, sizeof(text));
}

static bool is_good_len(const struct ofi_frame *frame, const void *body)
{
    struct ofi_hello hello;
    size_t head = offsetof(struct ofi_hello, address);
    switch (frame->kind) {
    case OFI_HELLO:
        if (frame->len < head || frame->len > sizeof(hello))
            return false;
        memcpy(&hello, body, head);
        return hello.address_len && hello.address_len == frame->len - head;
    case OFI_CHALLENGE: return frame->len == sizeof(struct ofi_challenge);
    case OFI_PROOF: return frame->len == sizeof(struct ofi_proof);
    case OFI_WELCOME: return frame->len == sizeof(struct ofi_welcome);
    case OFI_DATA: return frame->len <= OFI_DATA_MAX;
    case OFI_REFUSED:
        return !frame->len && frame->value < CHAN_ANSWERS;
    case OFI_CREDIT:
    case OFI_LAST:
    case OFI_BYE: return !frame->len;
    default: return false;
    }
}

const struct ofi_frame *ofi_wire_read(const void *message, size_t len, const void **body)
{
    const struct ofi_frame *frame = message;
    if (len < sizeof(*frame))
        return NULL;
    *body = frame + 1;
    bool is_good = frame->len == len - sizeof(*frame) &&
                   (frame->kind == OFI_HELLO) == !frame->to && frame->credit <= OFI_WINDOW &&
                   is_good_len(frame, *body);
    return is_good ? frame : NULL;
}
