/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How members of groups find each other: the door of this process, at which others call; the tree of links of the
 * world, whose members look up their parent's door in the world's keys; and strangers, who have come through the
 * door, and whose first frame says why.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/client/team.h"
#include "os/clock.h"

enum { STRANGERS_MAX = 256, REFUSALS_MAX = 64, REFUSING_S = 60 };
static const char door_key[] = "vireo.group.door";
static const uint64_t look_ns = 20000000u;       /* between looks for members that are missing */
static const uint64_t patience_ns = 60000000000u; /* with a stranger who says nothing */

struct stranger_tie {
    struct stranger_tie *next;
    int tie;
    uint64_t until_ns; /* 0: its words are here */
    struct meet said;
};

/* A root that will not come (any more) to meet the group wanted; or one that is not wanted, when it comes. */
struct refusal {
    struct refusal *next;
    BNR_Gid gid, wanted;
};

/* Word to another door. */
struct refusing {
    struct refusing *next;
    struct os_call *call;
    BNR_Gid own, other;
};

static struct {
    struct os_port *door;
    struct os_reception *reception;
    bool is_public; /* the door's name is in the world's keys */
    int parent; /* tie; 0: none */
    struct os_call *call; /* to it */
    int child[TEAM_RADIX];
    uint64_t look_ns; /* next time */
    struct stranger_tie *strangers;
    int stranger_count;
    struct refusal *refusals, *shunned;
    int refusal_count, shunned_count;
    struct refusing *refusing;
    int refusing_count;
} links;

/* ---- the door ---- */

const char *team_door(int *rc)
{
    const char *step;
    *rc = BNR_SUCCESS;
    if (!links.door) {
        int failed = os_port_open(&links.door, &step);
        links.reception = failed ? NULL : os_reception_begin(links.door, &ties_watch);
        if (!links.reception) {
            os_port_close(links.door);
            links.door = NULL;
            *rc = failed && failed != -ENOMEM ? BNR_FAIL : BNR_ERR_NOMEM;
        }
    }
    return *rc ? NULL : os_port_text(links.door);
}

/* The place of one in the list, or that of its end. */
static struct stranger_tie **place_of(int tie)
{
    struct stranger_tie **at = &links.strangers;
    while (*at && (*at)->tie != tie)
        at = &(*at)->next;
    return at;
}

bool team_is_stranger(int tie)
{
    return *place_of(tie) != NULL;
}

/* Take one off the list. */
static void release(int tie)
{
    struct stranger_tie **at = place_of(tie), *s = *at;
    if (!s)
        return;
    *at = s->next;
    links.stranger_count--;
    meet_fini(&s->said);
    free(s);
}

/* Somebody who has proven to know the name of a port is there. Returns the tie, or -1. */
int team_stranger(int fd)
{
    struct stranger_tie *s = links.stranger_count < STRANGERS_MAX ? calloc(1, sizeof(*s)) : NULL;
    int tie = s ? tie_new() : -1;
    if (tie < 0) {
        free(s);
        close(fd);
        return -1;
    }
    *s = (struct stranger_tie){.next = links.strangers, .tie = tie, .until_ns = os_now_ns() + patience_ns};
    links.strangers = s;
    links.stranger_count++;
    tie_take(tie, fd);
    return tie;
}

/* ---- the world's tree ---- */

static int parent_rank(int rank)
{
    return (rank - 1) / TEAM_RADIX;
}

/* Have the door's name known to the members below. */
static int publish(struct backend *b, bool has_children)
{
    int rc = BNR_SUCCESS;
    const char *name = has_children ? team_door(&rc) : NULL;
    if (rc || links.is_public)
        return rc;
    if (has_children)
        rc = b->ops->put(b, door_key, name, strlen(name), BNR_PUT_REPLACE);
    if (!rc && !(b->ops->caps & BNR_CAP_LAZYGET) && b->size > 1)
        rc = b->ops->fence(b);
    links.is_public = !rc;
    return rc;
}

static int count_children(const struct bnr_group *g)
{
    int first = g->rank * TEAM_RADIX + 1, count = g->size - first;
    return count < 0 ? 0 : count > TEAM_RADIX ? TEAM_RADIX : count;
}

static void say_hello(const struct bnr_group *g, int tie)
{
    const struct rally_frame hello = {(enum rally_kind)TIE_HELLO, 0, g->rank, 0, NULL};
    tie_send(tie, &g->gid, &hello);
}

/* Make the links, to which sockets come later. */
static int make_world(struct bnr_group *g, int children)
{
    struct rally rally;
    int parent = g->rank ? tie_new() : -1, count = 0;
    g->tie = calloc(TEAM_RADIX + 1, sizeof(*g->tie));
    while (g->tie && count < children && (links.child[count] = tie_new()) > 0)
        count++;
    if (!g->tie || count < children || (g->rank && parent < 0) ||
        rally_init(&rally, g->rank, g->size, parent, links.child, children))
        return BNR_ERR_NOMEM;
    memcpy(g->tie, links.child, sizeof(int) * (size_t)children);
    g->tie_count = children;
    if (parent > 0)
        g->tie[g->tie_count++] = parent;
    g->rally = rallies_add(&teams.rallies, &g->gid, &rally, NULL);
    if (!g->rally)
        return BNR_ERR_NOMEM;
    links.parent = parent < 0 ? 0 : parent;
    if (links.parent)
        say_hello(g, links.parent);
    return BNR_SUCCESS;
}

int team_ready(struct bnr_group *g)
{
    if (g->rally)
        return BNR_SUCCESS;
    if (g->kind != TEAM_WORLD)
        return BNR_ERR_STATE;
    int children = count_children(g), rc = publish(g->backend, children > 0);
    return rc ? rc : make_world(g, children);
}

/* Go on with the call to the parent. */
static void call_parent(const struct bnr_group *g)
{
    struct backend *b = g->backend;
    const void *name;
    char text[MEET_DOOR_MAX + 1];
    size_t len;
    if (!links.call) {
        int rc = b->ops->get(b, parent_rank(g->rank), door_key, &name, &len, BNR_GET_LATER);
        if (rc == BNR_ERR_AGAIN || rc == BNR_ERR_NOT_FOUND)
            return;
        if (!rc && len > MEET_DOOR_MAX)
            rc = BNR_ERR_PROTO;
        if (!rc) {
            memcpy(text, name, len);
            text[len] = 0;
            rc = os_call_begin(&links.call, text, 0, &ties_watch);
        }
        if (rc)
            tie_lose(links.parent);
        if (rc)
            return;
    }
    int fd = os_call_step(links.call);
    if (fd == -EAGAIN)
        return;
    os_call_end(links.call);
    links.call = NULL;
    if (fd >= 0)
        tie_take(links.parent, fd);
    else
        tie_lose(links.parent);
}

/* A member that has ended before its link stood will never call. */
static void look_for_members(const struct bnr_group *g)
{
    struct backend *b = g->backend;
    int first = g->rank * TEAM_RADIX + 1;
    for (int i = 0; i < count_children(g); i++)
        if (!tie_has_socket(links.child[i]) && !tie_is_lost(links.child[i]) && !b->ops->is_alive(b, first + i))
            tie_lose(links.child[i]);
    if (links.parent && !tie_has_socket(links.parent) && !tie_is_lost(links.parent) &&
        !b->ops->is_alive(b, parent_rank(g->rank)))
        tie_lose(links.parent);
}

/* ---- first frames ---- */

static int hear_hello(int tie, const BNR_Gid *gid, const struct rally_frame *frame)
{
    const struct bnr_group *g = teams.world;
    int at = frame->code - (g->rank * TEAM_RADIX + 1);
    if (!g->rally || memcmp(gid->b, g->gid.b, sizeof(gid->b)) != 0 || at < 0 || at >= count_children(g) ||
        tie_has_socket(links.child[at]) || tie_is_lost(links.child[at]))
        return BNR_ERR_PROTO;
    release(tie);
    tie_move(links.child[at], tie);
    return 0;
}

static bool is_equal(const BNR_Gid *a, const BNR_Gid *b)
{
    return !memcmp(a->b, b->b, sizeof(a->b));
}

static bool note(struct refusal **list, int *count, const BNR_Gid *gid, const BNR_Gid *wanted)
{
    struct refusal *r = *count < REFUSALS_MAX ? calloc(1, sizeof(*r)) : NULL;
    if (!r)
        return false;
    *r = (struct refusal){*list, *gid, *wanted};
    *list = r;
    ++*count;
    return true;
}

/* Take one such off the list. Returns whether there was one. */
static bool strike(struct refusal **list, int *count, const BNR_Gid *gid, const BNR_Gid *wanted)
{
    struct refusal **at = list;
    while (*at && !(is_equal(&(*at)->gid, gid) && is_equal(&(*at)->wanted, wanted)))
        at = &(*at)->next;
    struct refusal *r = *at;
    if (!r)
        return false;
    *at = r->next;
    --*count;
    free(r);
    return true;
}

/* The root of gid will not come to meet wanted. */
static void note_refusal(const BNR_Gid *gid, const BNR_Gid *wanted)
{
    if (!strike(&links.shunned, &links.shunned_count, gid, wanted))
        (void)note(&links.refusals, &links.refusal_count, gid, wanted);
}

static int hear_meet(struct stranger_tie *s, const struct rally_frame *frame)
{
    if (!s->until_ns || !frame->bytes)
        return BNR_ERR_PROTO;
    int rc = meet_get(&s->said, frame->bytes->at, frame->bytes->len);
    if (!rc && s->said.why == MEET_MERGE &&
        strike(&links.shunned, &links.shunned_count, &s->said.gid, &s->said.wanted))
        return BNR_ERR_STATE;
    if (!rc)
        s->until_ns = 0;
    return rc;
}

static int hear_refusal(const BNR_Gid *gid, const struct rally_frame *frame)
{
    BNR_Gid wanted;
    if (!frame->bytes || frame->bytes->len != sizeof(wanted.b))
        return BNR_ERR_PROTO;
    memcpy(wanted.b, frame->bytes->at, sizeof(wanted.b));
    note_refusal(gid, &wanted);
    return BNR_ERR_STATE; /* that was all */
}

int team_links_heard(int tie, const BNR_Gid *gid, const struct rally_frame *frame)
{
    switch ((int)frame->kind) {
    case TIE_HELLO: return hear_hello(tie, gid, frame);
    case TIE_MEET: return hear_meet(*place_of(tie), frame);
    case TIE_REFUSE: return hear_refusal(gid, frame);
    default: return BNR_ERR_PROTO;
    }
}

void team_links_lost(int tie)
{
    const struct stranger_tie *s = *place_of(tie);
    if (!s)
        return;
    if (!s->until_ns && s->said.why == MEET_MERGE)
        note_refusal(&s->said.gid, &s->said.wanted);
    release(tie);
    tie_unref(tie);
}

/* Take what a stranger has said, and its tie. */
static int take(struct stranger_tie *s, struct meet *said)
{
    int tie = s->tie;
    *said = s->said;
    s->said = (struct meet){0};
    release(tie);
    return tie;
}

static struct stranger_tie *find_met(enum meet_why why, const BNR_Gid *gid, const BNR_Gid *wanted)
{
    struct stranger_tie *s = links.strangers;
    while (s && !(!s->until_ns && s->said.why == why && is_equal(&s->said.gid, gid) && is_equal(&s->said.wanted, wanted)))
        s = s->next;
    return s;
}

int team_met(enum meet_why why, const BNR_Gid *gid, const BNR_Gid *wanted, struct meet *said)
{
    struct stranger_tie *s = find_met(why, gid, wanted);
    if (s)
        return take(s, said);
    return strike(&links.refusals, &links.refusal_count, gid, wanted) ? -2 : -1;
}

void team_shun(const BNR_Gid *own, const BNR_Gid *other)
{
    struct stranger_tie *s = find_met(MEET_MERGE, other, own);
    int tie = s ? s->tie : -1;
    if (tie >= 0) {
        release(tie);
        tie_lose(tie);
        tie_unref(tie);
    } else if (!strike(&links.refusals, &links.refusal_count, other, own)) {
        (void)note(&links.shunned, &links.shunned_count, other, own);
    }
}

void team_refuse(const BNR_Gid *own, const BNR_Gid *other, const char *door)
{
    struct refusing *r = links.refusing_count < REFUSALS_MAX ? calloc(1, sizeof(*r)) : NULL;
    if (!r || os_call_begin(&r->call, door, REFUSING_S, &ties_watch)) {
        free(r);
        return;
    }
    r->own = *own;
    r->other = *other;
    r->next = links.refusing;
    links.refusing = r;
    links.refusing_count++;
}

static void drop_refusing(struct refusing **at)
{
    struct refusing *r = *at;
    *at = r->next;
    links.refusing_count--;
    os_call_end(r->call);
    free(r);
}

static void send_refusal(const struct refusing *r, int fd)
{
    int tie = tie_new();
    struct rally_frame frame = {(enum rally_kind)TIE_REFUSE, 0, 0, 0, rally_bytes_new(sizeof(r->other.b))};
    if (tie < 0 || !frame.bytes) {
        close(fd);
    } else {
        tie_take(tie, fd);
        memcpy(frame.bytes->at, r->other.b, sizeof(r->other.b));
        tie_send(tie, &r->own, &frame);
    }
    tie_unref(tie);
    rally_bytes_unref(frame.bytes);
}

static void step_refusing(void)
{
    for (struct refusing **at = &links.refusing; *at;) {
        int fd = os_call_step((*at)->call);
        if (fd == -EAGAIN) {
            at = &(*at)->next;
            continue;
        }
        if (fd >= 0)
            send_refusal(*at, fd);
        drop_refusing(at);
    }
}

int team_met_at(int tie, struct meet *said)
{
    struct stranger_tie *s = *place_of(tie);
    return !s ? -2 : s->until_ns ? -1 : take(s, said);
}

void team_links_step(void)
{
    struct bnr_group *g = teams.world;
    uint64_t now = os_now_ns();
    int fd;
    while (links.reception && (fd = os_reception_step(links.reception)) >= 0)
        (void)team_stranger(fd);
    step_refusing();
    if (g->rally && links.parent && !tie_has_socket(links.parent) && !tie_is_lost(links.parent))
        call_parent(g);
    if (now < links.look_ns)
        return;
    links.look_ns = now + look_ns;
    if (g->rally)
        look_for_members(g);
    for (struct stranger_tie *s = links.strangers, *next; s; s = next) {
        next = s->next;
        if (s->until_ns && now > s->until_ns)
            tie_lose(s->tie);
    }
}

void team_links_end(void)
{
    while (links.strangers) {
        int tie = links.strangers->tie;
        release(tie);
        tie_unref(tie);
    }
    while (links.refusals)
        (void)strike(&links.refusals, &links.refusal_count, &links.refusals->gid, &links.refusals->wanted);
    while (links.shunned)
        (void)strike(&links.shunned, &links.shunned_count, &links.shunned->gid, &links.shunned->wanted);
    while (links.refusing)
        drop_refusing(&links.refusing);
    os_call_end(links.call);
    os_reception_end(links.reception);
    os_port_close(links.door);
    memset(&links, 0, sizeof(links));
}
