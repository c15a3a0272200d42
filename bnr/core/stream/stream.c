/* SPDX-License-Identifier: BSD-3-Clause */

/* Streams of blocks; see stream.h. */
#include "bnr/core/stream/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stream_out_init(struct stream_out *s, uint32_t self, uint32_t to, uint32_t tag, size_t window)
{
    *s = (struct stream_out){
        .self = self, .to = to, .tag = tag, .window = window, .retry_ns = STREAM_RETRY_NS};
}

void stream_out_fini(struct stream_out *s)
{
    for (size_t i = 0; i < s->count; i++)
        bytes_unref(s->blocks[i]);
    free(s->blocks);
    s->blocks = NULL;
    s->count = s->room = s->bytes = 0;
}

bool stream_out_has_room(const struct stream_out *s)
{
    return s->bytes < s->window;
}

bool stream_out_is_empty(const struct stream_out *s)
{
    return !s->count;
}

static void say(const struct stream_out *s, size_t i, struct effects *effects)
{
    struct core_message message = {.kind = MESSAGE_STREAM,
                                   .origin = s->self,
                                   .to = s->to,
                                   .tag = s->tag,
                                   .number = s->taken + 1 + i,
                                   .data = s->blocks[i]};
    effects_add(effects, EFFECT_SEND, s->to, &message);
}

int stream_out_put(struct stream_out *s, struct bytes *block, int64_t now, struct effects *effects)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        struct bytes **blocks = realloc(s->blocks, room * sizeof(*blocks));
        if (!blocks)
            return -ENOMEM;
        s->blocks = blocks;
        s->room = room;
    }
    if (!s->count)
        s->due_ns = now + s->retry_ns;
    s->blocks[s->count++] = bytes_ref(block);
    s->bytes += block->len;
    say(s, s->count - 1, effects);
    return 0;
}

/* Forget the blocks that the receiver is done with. */
static void drop_taken(struct stream_out *s, uint64_t news, int64_t now)
{
    for (uint64_t i = 0; i < news; i++) {
        s->bytes -= s->blocks[i]->len;
        bytes_unref(s->blocks[i]);
    }
    s->count -= news;
    memmove(s->blocks, s->blocks + news, s->count * sizeof(*s->blocks));
    s->taken += news;
    s->retry_ns = STREAM_RETRY_NS;
    s->due_ns = now + s->retry_ns;
}

void stream_out_credit(struct stream_out *s, const struct core_message *credit, int64_t now,
                       struct effects *effects)
{
    uint64_t news = credit->number > s->taken ? credit->number - s->taken : 0;
    if (news > s->count)
        return;
    if (news)
        drop_taken(s, news, now);
    if (!credit->other || credit->other != s->asked)
        return;
    s->asked++; /* one answer to a question is enough */
    for (size_t i = 0; i < s->count && s->taken + 1 + i <= s->asked_last; i++)
        say(s, i, effects);
}

void stream_out_tick(struct stream_out *s, bool is_new, int64_t now, struct effects *effects)
{
    if (!s->count || (!is_new && now < s->due_ns))
        return;
    struct core_message question = {.kind = MESSAGE_STREAM,
                                    .origin = s->self,
                                    .to = s->to,
                                    .tag = s->tag,
                                    .other = ++s->asked};
    s->asked_last = s->taken + s->count;
    effects_add(effects, EFFECT_SEND, s->to, &question);
    if (!is_new && s->retry_ns < STREAM_RETRY_MAX_NS)
        s->retry_ns *= 2;
    s->due_ns = now + s->retry_ns;
}

int stream_in_take(struct stream_in *s, const struct core_message *block)
{
    if (block->number != s->taken + 1)
        return STREAM_OLD;
    s->taken++;
    return 0;
}

struct core_message stream_in_credit(struct stream_in *s, const struct core_message *block,
                                     uint64_t done)
{
    s->credited = done;
    return (struct core_message){.kind = MESSAGE_CREDIT,
                                 .origin = block->to,
                                 .to = block->origin,
                                 .tag = block->tag,
                                 .other = block->number ? 0 : block->other,
                                 .number = done};
}
