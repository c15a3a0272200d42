/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What members of BNR's groups, roots of others, and spawners say: frames of calls, words of roots that meet, keys of
 * joint groups, notes. The first byte chooses.
 *
 * usage: fuzz_groups FILE...
 */
#include "bnr/client/team.h"
#include "bnr/group/meet.h"
#include "bnr/group/rallies.h"
#include "bnr/host/order.h"
#include "test/fuzz/main.h"

enum { PARENT = 3, CHILDREN = 2, SIZE = 7 };
static const BNR_Gid gid = {"the group of all"};
static int sent;

static void on_send(void *arg, const struct rally *r, int link, const struct rally_frame *frame)
{
    require(arg == NULL && rally_has(r, link), "a frame to nobody");
    require(frame->kind != RALLY_DOWN || link != PARENT, "a decision goes up");
    sent++;
}

static void on_refuse(void *arg, int link, const BNR_Gid *which)
{
    require(arg == NULL && link >= 0 && which != NULL, "a refusal to nobody");
}

/* Make the calls that a member makes. */
static void go_on(struct rally *r, int turn)
{
    if (r->state == RALLY_GATHERED) {
        size_t at = 0, len;
        int rank, count = 0;
        const uint8_t *bytes;
        while (rally_next(r->bytes, &at, &rank, &bytes, &len))
            count++;
        require(count == SIZE && at == r->bytes->len, "a call without some member");
        rally_decide(r, 0, "decided", 7);
    }
    if (r->state == RALLY_IDLE)
        require(!rally_begin(r, 7, 0, "said", 4), "no call can be made");
    else if (turn % 16 == 15)
        rally_leave(r, BNR_ERR_TIMEOUT);
}

/* Frames, each behind a byte that tells its link. */
static void hear_frames(const uint8_t *bytes, size_t len, bool is_root)
{
    static const struct rally_hooks hooks = {on_send, NULL, NULL};
    const int child[CHILDREN] = {1, 2};
    struct rallies all;
    struct rally rally;
    rallies_init(&all, &hooks, NULL);
    all.refuse = on_refuse;
    require(!rally_init(&rally, 0, SIZE, is_root ? -1 : PARENT, child, CHILDREN), "no memory");
    struct rallies_member *member = rallies_add(&all, &gid, &rally, NULL);
    require(member != NULL, "no memory");
    for (int turn = 0; len > RALLIES_HEAD; turn++) {
        struct rally_frame frame;
        BNR_Gid which;
        int link = bytes[0] % 4;
        long more = rallies_get_head(bytes + 1, &which, &frame);
        bytes += 1 + RALLIES_HEAD;
        len -= 1 + RALLIES_HEAD;
        if (more < 0)
            break;
        size_t body = (size_t)more < len ? (size_t)more : len;
        frame.bytes = body ? rally_bytes_new(body) : NULL;
        if (body)
            memcpy(frame.bytes->at, bytes, body);
        bytes += body;
        len -= body;
        rallies_make(&all, turn % 8 == 1 ? 1 : turn % 8 == 7 ? -all.making : 0);
        go_on(&member->rally, turn);
        if (rallies_heard(&all, link, &which, &frame))
            rallies_lost(&all, link);
        rally_bytes_unref(frame.bytes);
    }
    rallies_make(&all, -all.making);
    rallies_fini(&all);
}

static void read_meet(const uint8_t *bytes, size_t len)
{
    struct meet said, again;
    struct meet_part part = {{"here"}, 3};
    const struct meet own = {.why = MEET_CONNECT, .gid = {"here"}, .size = 3, .part_count = 1, .part = &part};
    BNR_Gid made;
    bool other_first;
    if (meet_get(&said, bytes, len))
        return;
    size_t back_len = meet_len(&said);
    uint8_t *back = malloc(back_len);
    require(back && back_len == len, "another length");
    meet_put(&said, back);
    require(!memcmp(back, bytes, len), "it comes back as another one");
    require(!meet_get(&again, back, back_len) && again.size == said.size, "it does not come back");
    if (!meet_join(&own, &said, &made, &other_first))
        require(said.size + own.size <= MEET_SIZE_MAX && memcmp(&said.gid, &own.gid, sizeof(made)), "joined with itself");
    meet_fini(&again);
    meet_fini(&said);
    free(back);
}

static void take_keys(const uint8_t *bytes, size_t len)
{
    struct bnr_group g = {.kind = TEAM_JOINT, .size = 3, .rank = 0};
    struct rally_bytes *all = rally_bytes_new(len);
    require(all != NULL, "no memory");
    memcpy(all->at, bytes, len);
    (void)team_keys_take(&g, all, 0);
    for (const struct team_key *k = g.keys; k; k = k->next)
        require(k->owner > 0 && k->owner < 3 && *k->key && strlen(k->key) <= BNR_MAX_KEY && k->len <= BNR_MAX_VALUE,
                "a key that nobody could put");
    team_keys_drop(&g);
    rally_bytes_unref(all);
}

static void read_note(const uint8_t *bytes, size_t len)
{
    struct order_note note, again;
    char back[ORDER_NOTE_MAX], *text = strndup((const char *)bytes, len);
    require(text != NULL, "no memory");
    if (!order_note_get(&note, text)) {
        order_note_put(back, &note);
        require(!order_note_get(&again, back) && !memcmp(again.gid, note.gid, sizeof(note.gid)) &&
                    again.size == note.size && again.parent_size == note.parent_size,
                "a note does not come back");
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!len)
        return 0;
    switch (bytes[0] % 5) {
    case 0: hear_frames(bytes + 1, len - 1, true); break;
    case 1: hear_frames(bytes + 1, len - 1, false); break;
    case 2: read_meet(bytes + 1, len - 1); break;
    case 3: take_keys(bytes + 1, len - 1); break;
    default: read_note(bytes + 1, len - 1); break;
    }
    return 0;
}
