/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a process of another job may say over the pair channel: words at a socket, and a ring in shared memory. The
 * first byte chooses; of a ring, the rest are its first bytes, again and again.
 *
 * usage: fuzz_pair FILE...
 */
#include "channels/pair/ring.h"
#include "channels/pair/talk.h"
#include "test/fuzz/main.h"

static void read_words(const uint8_t *bytes, size_t len)
{
    static const uint8_t secret[16] = "nobody knows it";
    static const struct chan_env env = {.gid = {"group"}, .rank = 3};
    struct pair_talk talk = {.nonce = {1}};
    if (pair_talk_hear(&talk, &env, bytes, len))
        require(talk.hello.to_rank == 3 && len == sizeof(talk.hello), "a call of somebody else");
    require(!pair_talk_is_caller(&talk, secret, bytes, len), "a proof by guessing");
    require(!pair_talk_is_owner(&talk, secret, bytes, len), "a challenge by guessing");
    require(pair_talk_answer_of(bytes, len) <= CHAN_ANSWERS, "an answer that there is not");
}

static void read_ring(const uint8_t *bytes, size_t len)
{
    struct pair_ring *ring = aligned_alloc(128, sizeof(*ring));
    struct pair_ring_in in = {.ring = ring};
    struct chan_head head;
    const void *data;
    size_t size;
    require(ring != NULL, "no memory");
    memset(ring, 0, sizeof(*ring));
    for (size_t at = 0; len && at + len <= PAIR_RING; at += len)
        memcpy(ring->bytes + at, bytes, len);
    for (int i = 0; i < 10000; i++) {
        int64_t step = pair_ring_peek(&in, &head, &data, &size);
        if (step <= 0)
            break;
        const unsigned char *first = data;
        require(size <= PAIR_DATA_MAX && first >= ring->bytes && first + size <= ring->bytes + PAIR_RING,
                "a packet outside of the ring");
        pair_ring_pop(&in, step);
        (void)pair_ring_tell(&in, false);
    }
    struct pair_ring_out out = {.ring = ring, .written = in.read};
    uint64_t most = out.written;
    for (int i = 0; i < 100 && pair_ring_put(&out, &head, &(struct chan_data){.base = bytes, .len = len % PAIR_DATA_MAX}); i++)
        most = out.written > most ? out.written : most;
    require(out.written == most && out.read <= out.written, "more was read than written");
    free(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!len)
        return 0;
    if (bytes[0] % 2)
        read_words(bytes + 1, len - 1);
    else
        read_ring(bytes + 1, len - 1);
    return 0;
}
