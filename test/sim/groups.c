/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups of processes, simulated: the engine of bnr/group in many processes at once, with worlds that fence, merge,
 * unmerge, while processes die, links break, calls are left, and each link delivers when chance has it.
 *
 *     groups seeds FIRST N   so many plays
 *     groups large N COUNT   so many plays with COUNT processes each
 *
 * Each play has a plan: a list of calls of groups, which each process makes in its order, as far as it has the group.
 * At the end: every call has ended at every process that lives; all that ended well at a call have the same bytes, with
 * what each member said; and a call of which no process, link or group had any harm has ended well for all.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/group/rallies.h"
#include "bnr/group/meet.h"
#include "os/be.h"

enum { WORLDS_MAX = 6, GROUPS_MAX = 40, OPS_MAX = 80, PROCESSES_MAX = 4000, LINKS_MAX = 3 * PROCESSES_MAX };
enum op_kind { OP_FENCE, OP_MERGE, OP_UNMERGE };
enum { LOST_MARK = 99 };

struct packet {
    struct packet *next;
    size_t len;
    uint8_t bytes[];
};

struct queue {
    struct packet *first, **end;
};

/* Between two processes; end 0 writes into way 0. */
struct line {
    int process[2];
    struct queue way[2];
    bool is_broken;
    bool is_told[2]; /* whether that end knows of the loss */
    int op;          /* the merge that it is for; -1: of a world */
};

/* A group as the plan has it. */
struct group {
    BNR_Gid gid;
    int side[2];  /* groups; -1: a world */
    int count;
    int *process; /* by rank */
    bool is_harmed, is_over; /* is_over: the plan has unmerged it */
};

struct op {
    enum op_kind kind;
    int group[2], made; /* groups */
    int bridge;         /* a line; -1: none yet */
    bool has_met[2];    /* whether the root of each group has heard of the other one, and what */
    struct meet met[2];
    struct meet_part met_part[2];
    bool is_left, is_refused;
    bool has_bytes;
    uint64_t sum; /* of the bytes that came out */
    int ended_well, ended;
};

struct process {
    bool is_dead;
    struct rallies all;
    int at;            /* the op that it is at */
    bool is_calling;
    bool has_said_meet; /* of the merge under way */
};

struct play {
    uint64_t random;
    int process_count, group_count, op_count, line_count, wave;
    struct process process[PROCESSES_MAX];
    struct group group[GROUPS_MAX];
    struct op op[OPS_MAX];
    struct line line[LINKS_MAX];
    int busy_count, busy[2 * LINKS_MAX]; /* ways that may have packets: 2 * line + way */
    bool in_busy[2 * LINKS_MAX];
    int hearing; /* the process whose engine runs */
    bool has_harm;
    uint64_t packets, deaths, breaks, leaves, good, bad;
};

static struct play *play;

static void require(bool truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "groups: %s\n", what);
    abort();
}

static uint64_t draw(uint64_t below)
{
    play->random ^= play->random << 13;
    play->random ^= play->random >> 7;
    play->random ^= play->random << 17;
    return below ? play->random % below : 0;
}

/* ---- lines ---- */

static bool is_in(const struct group *g, int process)
{
    for (int i = 0; i < g->count; i++)
        if (g->process[i] == process)
            return true;
    return false;
}

static int other_end(const struct line *line, int process)
{
    return line->process[0] == process ? 1 : 0;
}

static void put(int number, int way, const void *head, size_t head_len, const struct rally_bytes *bytes)
{
    struct queue *q = &play->line[number].way[way];
    size_t more = bytes ? bytes->len : 0;
    struct packet *p = malloc(sizeof(*p) + head_len + more);
    require(p != NULL, "no memory");
    p->next = NULL;
    p->len = head_len + more;
    memcpy(p->bytes, head, head_len);
    if (more)
        memcpy(p->bytes + head_len, bytes->at, more);
    *q->end = p;
    q->end = &p->next;
    if (!play->in_busy[2 * number + way]) {
        play->in_busy[2 * number + way] = true;
        play->busy[play->busy_count++] = 2 * number + way;
    }
}

static int new_line(int a, int b, int op)
{
    require(play->line_count < LINKS_MAX, "too many lines");
    struct line *line = &play->line[play->line_count];
    *line = (struct line){.process = {a, b}, .op = op};
    line->way[0].end = &line->way[0].first;
    line->way[1].end = &line->way[1].first;
    return play->line_count++;
}

static void harm_line(int number)
{
    for (int g = 0; g < play->group_count; g++)
        for (int i = 0; i < play->group[g].count && !play->group[g].is_harmed; i++) {
            struct process *p = &play->process[play->group[g].process[i]];
            struct rallies_member *m = p->is_dead ? NULL : rallies_find(&p->all, &play->group[g].gid);
            if (m && rally_has(&m->rally, number))
                play->group[g].is_harmed = true;
        }
}

/* Lose what is under way from some point on, both ways; each end is told of it behind the rest. */
static void break_line(int number)
{
    struct line *line = &play->line[number];
    static const uint8_t mark = LOST_MARK;
    if (line->is_broken)
        return;
    play->has_harm = true;
    harm_line(number);
    if (line->op >= 0)
        play->group[play->op[line->op].made].is_harmed = true;
    line->is_broken = true;
    for (int way = 0; way < 2; way++) {
        struct packet **at = &line->way[way].first;
        while (*at && draw(3))
            at = &(*at)->next;
        while (*at) {
            struct packet *p = *at;
            *at = p->next;
            free(p);
        }
        line->way[way].end = at;
        put(number, way, &mark, sizeof(mark), NULL);
    }
}

/* ---- the engine's hooks ---- */

static void on_send(void *arg, const struct rally *a, int link, const struct rally_frame *frame)
{
    struct process *p = arg;
    struct line *line = &play->line[link];
    uint8_t head[RALLIES_HEAD];
    int way = line->process[0] == (int)(p - play->process) ? 0 : 1;
    if (line->is_broken)
        return;
    rallies_put_head(head, &rallies_of(a)->gid, frame);
    put(link, way, head, sizeof(head), frame->bytes);
}

static void on_refuse(void *arg, int link, const BNR_Gid *gid)
{
    struct process *p = arg;
    const struct rally_frame frame = {RALLY_FAIL, 0, BNR_ERR_PROC_FAILED, 0, NULL};
    struct line *line = &play->line[link];
    uint8_t head[RALLIES_HEAD];
    if (line->is_broken)
        return;
    rallies_put_head(head, gid, &frame);
    put(link, line->process[0] == (int)(p - play->process) ? 0 : 1, head, sizeof(head), NULL);
}

/* The call that this process has left has made a group for others: its bytes are the id. */
static void on_late(void *arg, struct rally *a, const struct rally_frame *down)
{
    struct process *p = arg;
    BNR_Gid gid;
    if (!down->bytes || down->bytes->len != sizeof(gid.b))
        return;
    memcpy(gid.b, down->bytes->at, sizeof(gid.b));
    rallies_shun(&p->all, rallies_of(a), &gid);
}

static const struct rally_hooks hooks = {on_send, on_late, NULL};

/* ---- worlds ---- */

static void add_member(int number, const struct group *g, int rank, int parent, const int *child, int count)
{
    struct rally a;
    struct rallies *all = &play->process[number].all;
    struct rallies_member *base = NULL;
    for (int i = 0; i < 2 && !base && g->side[i] >= 0; i++)
        base = is_in(&play->group[g->side[i]], number) ? rallies_find(all, &play->group[g->side[i]].gid) : NULL;
    require(!rally_init(&a, rank, g->count, parent, child, count), "no memory");
    struct rallies_member *m = rallies_add(all, &g->gid, &a, base);
    require(m != NULL, "no memory");
    for (int i = -1; i < count; i++) {
        int link = i < 0 ? parent : child[i];
        if (link >= 0 && play->line[link].is_broken && play->line[link].is_told[other_end(&play->line[link], number) ^ 1])
            rally_lost(&m->rally, link);
    }
}

static void draw_gid(BNR_Gid *gid)
{
    for (int i = 0; i < 16; i++)
        gid->b[i] = (uint8_t)draw(256);
}

static void make_world(int size)
{
    struct group *g = &play->group[play->group_count++];
    int radix = 1 + (int)draw(4), first = play->process_count, lines[PROCESSES_MAX];
    *g = (struct group){.side = {-1, -1}, .count = size, .process = calloc((size_t)size, sizeof(int))};
    draw_gid(&g->gid);
    for (int r = 0; r < size; r++) {
        g->process[r] = play->process_count++;
        play->process[g->process[r]] = (struct process){0};
        rallies_init(&play->process[g->process[r]].all, &hooks, &play->process[g->process[r]]);
        play->process[g->process[r]].all.refuse = on_refuse;
        lines[r] = r ? new_line(first + (r - 1) / radix, first + r, -1) : -1;
    }
    for (int r = 0; r < size; r++) {
        int child[8], count = 0;
        for (int c = r * radix + 1; c <= r * radix + radix && c < size; c++)
            child[count++] = lines[c];
        add_member(first + r, g, r, lines[r], child, count);
    }
}

/* ---- the plan ---- */

static bool are_apart(const struct group *a, const struct group *b)
{
    for (int i = 0; i < a->count; i++)
        if (is_in(b, a->process[i]))
            return false;
    return true;
}

static void plan_merge(struct op *op, int a, int b)
{
    op->kind = OP_MERGE;
    op->group[0] = a;
    op->group[1] = b;
    op->made = play->group_count;
    struct group *g = &play->group[play->group_count++];
    *g = (struct group){.side = {a, b}};
    bool swap = memcmp(play->group[b].gid.b, play->group[a].gid.b, 16) < 0;
    const struct group *first = &play->group[swap ? b : a], *second = &play->group[swap ? a : b];
    g->count = first->count + second->count;
    g->process = malloc(sizeof(int) * (size_t)g->count);
    memcpy(g->process, first->process, sizeof(int) * (size_t)first->count);
    memcpy(g->process + first->count, second->process, sizeof(int) * (size_t)second->count);
    draw_gid(&g->gid);
}

static void make_plan(int ops)
{
    for (; play->op_count < ops; play->op_count++) {
        struct op *op = &play->op[play->op_count];
        int a = (int)draw((uint64_t)play->group_count), b = (int)draw((uint64_t)play->group_count);
        *op = (struct op){.kind = OP_FENCE, .group = {a, -1}, .made = -1, .bridge = -1};
        while (play->group[op->group[0]].is_over)
            op->group[0] = (int)draw((uint64_t)play->group_count);
        a = op->group[0];
        if (draw(3) == 0 && play->group_count < GROUPS_MAX && !play->group[b].is_over &&
            are_apart(&play->group[a], &play->group[b])) {
            plan_merge(op, a, b);
        } else if (draw(6) == 0 && play->group[a].side[0] >= 0) {
            op->kind = OP_UNMERGE;
            play->group[a].is_over = true;
        }
    }
}

/* The group that the process calls in an op; -1: it has no part. */
static int called_by(const struct op *op, int process)
{
    if (is_in(&play->group[op->group[0]], process))
        return op->group[0];
    return op->kind == OP_MERGE && is_in(&play->group[op->group[1]], process) ? op->group[1] : -1;
}

/* ---- calls ---- */

static void said_by(uint8_t said[12], int op, int process)
{
    os_be32_put(said, (uint32_t)op);
    os_be32_put(said + 4, (uint32_t)process);
    os_be32_put(said + 8, (uint32_t)(op * 31 + process));
}

/* Of the bytes that have come up: all members, each with what it said. */
static void check_gathered(const struct rally *a, const struct group *g, int op)
{
    size_t at = 0, len;
    int rank, count = 0;
    const uint8_t *bytes;
    uint8_t want[12];
    while (rally_next(a->bytes, &at, &rank, &bytes, &len)) {
        said_by(want, op, g->process[rank]);
        require(len == sizeof(want) && !memcmp(bytes, want, len), "a member has said something else");
        count++;
    }
    require(count == g->count, "not all members have come");
}

static uint64_t sum_of(const struct rally_bytes *bytes)
{
    uint64_t sum = 1469598103934665603u;
    for (size_t i = 0; bytes && i < bytes->len; i++)
        sum = (sum ^ bytes->at[i]) * 1099511628211u;
    return sum;
}

/* What the root says to that of the other group. */
static void say_meet(struct process *p, struct op *op, int own)
{
    const struct group *g = &play->group[op->group[own]], *other = &play->group[op->group[!own]];
    struct meet_part part = {g->gid, g->count};
    const struct meet m = {.why = MEET_MERGE, .gid = g->gid, .wanted = other->gid, .proposal = play->group[op->made].gid,
                           .part = &part, .part_count = 1, .door = "here"};
    int way = play->line[op->bridge].process[0] == (int)(p - play->process) ? 0 : 1;
    struct rally_bytes *bytes = rally_bytes_new(meet_len(&m));
    require(bytes != NULL, "no memory");
    meet_put(&m, bytes->at);
    if (!play->line[op->bridge].is_broken)
        put(op->bridge, way, "M", 1, bytes);
    rally_bytes_unref(bytes);
}

/* The root of a group has all of it together: it meets the other one. */
static void meet(int number, struct rally *a)
{
    struct process *p = &play->process[number];
    struct op *op = &play->op[p->at];
    int own = is_in(&play->group[op->group[0]], number) ? 0 : 1;
    int other = play->group[op->group[!own]].process[0];
    bool swap;
    BNR_Gid gid;
    if (op->is_refused || play->process[other].is_dead) {
        rally_decide(a, BNR_ERR_PROC_FAILED, NULL, 0);
        return;
    }
    if (op->bridge < 0)
        op->bridge = new_line(number, other, p->at);
    if (!p->has_said_meet)
        say_meet(p, op, own);
    p->has_said_meet = true;
    const struct line *line = &play->line[op->bridge];
    if (op->has_met[own]) {
        struct meet_part part = {play->group[op->group[own]].gid, play->group[op->group[own]].count};
        const struct meet mine = {.why = MEET_MERGE, .gid = part.gid, .wanted = play->group[op->group[!own]].gid,
                                  .proposal = play->group[op->made].gid, .size = part.size, .part_count = 1, .part = &part};
        require(!meet_join(&mine, &op->met[own], &gid, &swap), "they do not fit");
        require(!memcmp(gid.b, play->group[op->made].gid.b, 16), "another group comes out");
        rally_decide(a, 0, gid.b, sizeof(gid.b));
    } else if (line->is_broken && line->is_told[number == line->process[1]]) {
        rally_decide(a, BNR_ERR_PROC_FAILED, NULL, 0);
    }
}

/* This process is of the group that a merge has made. */
static void adopt(int number, const struct op *op, const struct rally *a)
{
    const struct group *g = &play->group[op->made];
    int rank = 0, child[16], count = a->child_count, parent = a->parent;
    memcpy(child, a->child, sizeof(int) * (size_t)count);
    while (g->process[rank] != number)
        rank++;
    int own = is_in(&play->group[op->group[0]], number) ? 0 : 1;
    if (parent < 0 && !rank)
        child[count++] = op->bridge;
    else if (parent < 0 && play->group[op->group[own]].process[0] == number)
        parent = op->bridge;
    add_member(number, g, rank, parent, child, count);
}

/* The root of one of the groups will not come. */
static void refuse(struct op *op)
{
    op->is_refused = true;
    play->group[op->made].is_harmed = true;
    if (op->bridge >= 0)
        break_line(op->bridge);
}

static void begin(int number)
{
    struct process *p = &play->process[number];
    struct op *op = &play->op[p->at];
    int group = called_by(op, number);
    struct rallies_member *m = group < 0 ? NULL : rallies_find(&p->all, &play->group[group].gid);
    uint8_t said[12];
    if (!m) {
        if (op->kind == OP_MERGE && group >= 0 && play->group[group].process[0] == number)
            refuse(op);
        p->at++;
        return;
    }
    said_by(said, p->at, number);
    if (op->kind == OP_MERGE)
        rallies_make(&p->all, 1);
    p->is_calling = true;
    p->has_said_meet = false;
    require(!rally_begin(&m->rally, (uint64_t)p->at, 0, said, sizeof(said)), "a call is under way");
}

static void end(int number, struct rallies_member *m)
{
    struct process *p = &play->process[number];
    struct op *op = &play->op[p->at];
    const struct rally *a = &m->rally;
    op->ended++;
    if (!a->code) {
        require(!op->has_bytes || op->sum == sum_of(a->bytes) || op->kind == OP_MERGE, "the bytes differ");
        op->has_bytes = true;
        op->sum = sum_of(a->bytes);
        op->ended_well++;
        play->good++;
    } else {
        play->bad++;
        require(play->has_harm, "a call has failed without harm");
    }
    if (op->kind == OP_MERGE) {
        int own = is_in(&play->group[op->group[0]], number) ? 0 : 1;
        if (a->code && play->group[op->group[own]].process[0] == number)
            refuse(op);
        if (a->code)
            play->group[op->made].is_harmed = true;
        else
            adopt(number, op, a);
        rallies_make(&p->all, -1);
    }
    if (op->kind == OP_UNMERGE)
        rallies_remove(&p->all, m);
    p->is_calling = false;
    p->at++;
}

/* Let a process go on as far as it can. */
static void go_on(int number)
{
    struct process *p = &play->process[number];
    while (!p->is_dead && p->at < play->op_count) {
        if (!p->is_calling)
            begin(number);
        if (!p->is_calling)
            continue;
        struct op *op = &play->op[p->at];
        struct rallies_member *m = rallies_find(&p->all, &play->group[called_by(op, number)].gid);
        require(m != NULL, "the group is gone");
        if (m->rally.state == RALLY_GATHERED) {
            check_gathered(&m->rally, &play->group[called_by(op, number)], p->at);
            if (op->kind == OP_MERGE)
                meet(number, &m->rally);
            else
                rally_decide(&m->rally, 0, m->rally.bytes->at, m->rally.bytes->len);
        }
        if (m->rally.state != RALLY_IDLE)
            return;
        end(number, m);
    }
}

/* ---- what happens ---- */

static void hear_meet(int number, struct op *op, const struct packet *p)
{
    int own = is_in(&play->group[op->group[0]], number) ? 0 : 1;
    struct meet *met = &op->met[own];
    require(!meet_get(met, p->bytes + 1, p->len - 1), "what was said cannot be read");
    op->met_part[own] = met->part[0];
    meet_fini(met);
    met->part = &op->met_part[own];
    met->part_count = 1;
    op->has_met[own] = true;
}

static void hear(int number, int way)
{
    struct line *line = &play->line[number];
    struct packet *p = line->way[way].first;
    int to = line->process[!way];
    struct process *process = &play->process[to];
    struct rally_frame frame;
    BNR_Gid gid;
    line->way[way].first = p->next;
    if (!p->next)
        line->way[way].end = &line->way[way].first;
    play->packets++;
    if (process->is_dead) {
        ;
    } else if (p->len == 1) {
        line->is_told[!way] = true;
        rallies_lost(&process->all, number);
    } else if (p->bytes[0] == 'M') {
        hear_meet(to, &play->op[line->op], p);
    } else {
        long len = rallies_get_head(p->bytes, &gid, &frame);
        require(len >= 0 && (size_t)len == p->len - RALLIES_HEAD, "a frame cannot be read");
        frame.bytes = len ? rally_bytes_new((size_t)len) : NULL;
        if (len)
            memcpy(frame.bytes->at, p->bytes + RALLIES_HEAD, (size_t)len);
        require(!rallies_heard(&process->all, number, &gid, &frame), "a peer has broken the rules");
        rally_bytes_unref(frame.bytes);
    }
    free(p);
    go_on(to);
}

static void die(int number)
{
    struct process *p = &play->process[number];
    if (p->is_dead)
        return;
    play->has_harm = true;
    play->deaths++;
    for (int g = 0; g < play->group_count; g++)
        play->group[g].is_harmed |= is_in(&play->group[g], number);
    for (int i = 0; i < play->line_count; i++)
        if (play->line[i].process[0] == number || play->line[i].process[1] == number)
            break_line(i);
    for (int i = p->at; i < play->op_count; i++) /* nobody meets it */
        if (play->op[i].kind == OP_MERGE && called_by(&play->op[i], number) >= 0)
            refuse(&play->op[i]);
    p->is_dead = true;
    rallies_fini(&p->all);
    for (int i = 0; i < play->process_count; i++)
        go_on(i);
}

static void leave(int number)
{
    struct process *p = &play->process[number];
    if (p->is_dead || !p->is_calling)
        return;
    struct op *op = &play->op[p->at];
    struct rallies_member *m = rallies_find(&p->all, &play->group[called_by(op, number)].gid);
    if (m->rally.state == RALLY_IDLE || op->kind == OP_UNMERGE)
        return;
    play->has_harm = true;
    play->leaves++;
    op->is_left = true;
    if (op->kind == OP_MERGE)
        play->group[op->made].is_harmed = true;
    rally_leave(&m->rally, BNR_ERR_TIMEOUT);
    go_on(number);
}

static void happen(unsigned harm)
{
    if (harm && draw(harm) == 0) {
        switch (draw(3)) {
        case 0: die((int)draw((uint64_t)play->process_count)); break;
        case 1:
            play->breaks++;
            break_line((int)draw((uint64_t)play->line_count));
            break;
        default: leave((int)draw((uint64_t)play->process_count)); break;
        }
    }
    if (!play->busy_count)
        return;
    int i = (int)draw((uint64_t)play->busy_count), number = play->busy[i];
    if (play->line[number / 2].way[number % 2].first)
        hear(number / 2, number % 2);
    if (!play->line[number / 2].way[number % 2].first) {
        play->in_busy[number] = false;
        play->busy[i] = play->busy[--play->busy_count];
    }
}

/* Whether an op had to end well: nothing has happened to its groups. */
static bool is_sure(const struct op *op)
{
    return !op->is_left && !op->is_refused && !play->group[op->group[0]].is_harmed &&
           (op->kind != OP_MERGE || (!play->group[op->group[1]].is_harmed && !play->group[op->made].is_harmed));
}

static void check(void)
{
    for (int i = 0; i < play->process_count; i++) {
        const struct process *p = &play->process[i];
        if (p->is_dead || p->at == play->op_count)
            continue;
        const struct op *op = &play->op[p->at];
        fprintf(stderr, "groups: process %d waits in op %d of kind %d of groups %d %d, bridge %d%s\n", i, p->at, op->kind,
                op->group[0], op->group[1], op->bridge, op->is_refused ? ", refused" : "");
        require(false, "a process waits for ever");
    }
    for (int i = 0; i < play->op_count; i++) {
        const struct op *op = &play->op[i];
        int all = play->group[op->group[0]].count + (op->kind == OP_MERGE ? play->group[op->group[1]].count : 0);
        if (is_sure(op) && op->ended_well != all) {
            fprintf(stderr, "groups: op %d of kind %d ended well for %d of %d\n", i, op->kind, op->ended_well, all);
            require(false, "a call without harm has failed");
        }
    }
}

static void run(uint64_t seed, int processes, uint64_t totals[6])
{
    *play = (struct play){.random = seed * 0x2545f4914f6cdd1du + 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 8; i++)
        (void)draw(2);
    int worlds = 1 + (int)draw(WORLDS_MAX);
    for (int i = 0; i < worlds; i++)
        make_world(processes ? processes / worlds : 1 + (int)draw(12));
    make_plan(processes ? 20 : 5 + (int)draw(OPS_MAX - 5));
    unsigned harm = draw(3) ? (processes ? 2000u : 20u) << draw(7) : 0;
    for (int i = 0; i < play->process_count; i++)
        go_on(i);
    while (play->busy_count)
        happen(harm);
    check();
    const uint64_t counts[] = {play->packets, play->deaths, play->breaks, play->leaves, play->good, play->bad};
    for (int i = 0; i < 6; i++)
        totals[i] += counts[i];
    for (int i = 0; i < play->process_count; i++)
        if (!play->process[i].is_dead)
            rallies_fini(&play->process[i].all);
    for (int i = 0; i < play->group_count; i++)
        free(play->group[i].process);
}

int main(int argc, char **argv)
{
    uint64_t totals[6] = {0};
    if (argc != 4 || (strcmp(argv[1], "seeds") && strcmp(argv[1], "large"))) {
        fprintf(stderr, "usage: groups seeds FIRST N | groups large N COUNT\n");
        return 2;
    }
    bool is_large = !strcmp(argv[1], "large");
    uint64_t first = is_large ? 1 : strtoull(argv[2], NULL, 10), count = strtoull(argv[is_large ? 2 : 3], NULL, 10);
    int processes = is_large ? (int)strtol(argv[3], NULL, 10) : 0;
    play = calloc(1, sizeof(*play));
    require(play && processes <= PROCESSES_MAX, "no memory");
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (getenv("GROUPS_SEED"))
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        run(seed, processes, totals);
    }
    free(play);
    printf("%llu plays: %llu packets, %llu deaths, %llu broken links, %llu calls left; %llu calls ended well, %llu failed\n",
           (unsigned long long)count, (unsigned long long)totals[0], (unsigned long long)totals[1],
           (unsigned long long)totals[2], (unsigned long long)totals[3], (unsigned long long)totals[4],
           (unsigned long long)totals[5]);
    return 0;
}
