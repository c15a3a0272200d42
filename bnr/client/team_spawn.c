/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups that are spawned: opened, told of commands, closed, which starts them; and what is heard of them then. The root of the
 * group that opens has an mpiexec start the job (orders.h), and tells the others of its ends along their tree.
 *
 * A member's commands on the wire: for each u32 count, u32 length of the words of the whole job, u32 length of those of
 * the program, and both, each word with its 0. The root's bytes after a start: u32 size, then for each command u32
 * member, u32 first rank.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/client/team_calls.h"
#include "bnr/client/info.h"
#include "bnr/client/orders.h"
#include "bnr/host/order.h"
#include "os/be.h"
#include "os/random.h"
#include "os/spawn_keys.h"

enum { KIND_OPEN = 16, KIND_CLOSE };
enum { HEAD = 12, COUNT_MAX = 1 << 20 };

/* ---- commands ---- */

/* Words, each with its 0. */
struct spawn_text {
    char *at;
    size_t len, room;
    bool failed;
};

static void say(struct spawn_text *t, const char *word)
{
    size_t len = strlen(word) + 1;
    if (t->len + len > t->room) {
        size_t room = 2 * (t->len + len) + 256;
        char *grown = t->failed ? NULL : realloc(t->at, room);
        t->failed |= !grown;
        if (!grown)
            return;
        t->at = grown;
        t->room = room;
    }
    memcpy(t->at + t->len, word, len);
    t->len += len;
}

static const char *value_of(BNR_Info info, const char *keys)
{
    char key[64];
    for (const char *at = keys; *at;) {
        size_t len = strcspn(at, " ");
        snprintf(key, sizeof(key), "%.*s", (int)len, at);
        const char *value = info_value(info, key);
        if (value)
            return value;
        at += len + (at[len] != 0);
    }
    return NULL;
}

static void say_variable(struct spawn_text *t, const char *variable, size_t len)
{
    char *one = strndup(variable, len);
    t->failed |= !one;
    if (one && strchr(one, '=')) {
        say(t, "-x");
        say(t, one);
    }
    free(one);
}

static void say_info(struct spawn_text *job, struct spawn_text *program, BNR_Info info)
{
    char here[4096];
    for (size_t i = 0; i < sizeof(os_spawn_keys) / sizeof(os_spawn_keys[0]); i++) {
        const char *value = value_of(info, os_spawn_keys[i].keys), *words[2];
        int count = value ? os_spawn_key_words(i, value, words) : 0;
        for (int n = 0; n < count; n++)
            say(os_spawn_keys[i].of_job ? job : program, words[n]);
    }
    if (!value_of(info, "wdir wd") && getcwd(here, sizeof(here))) {
        say(program, "-wdir");
        say(program, here);
    }
    for (const char *at = info_value(info, "env"); at && *at;) {
        size_t len = strcspn(at, "\n");
        say_variable(program, at, len);
        at += len + (at[len] != 0);
    }
}

static bool is_word(const char *word)
{
    return word && strcmp(word, ":") != 0; /* mpiexec begins another program there */
}

int team_spawn(struct bnr_group *open, int count, const char *command, char *const argv[], char *const envp[], BNR_Info info,
                struct team_command **made)
{
    struct spawn_text job = {0}, program = {0};
    char number[16];
    if (count < 1 || count > COUNT_MAX || !is_word(command) || !*command || *command == '-')
        return BNR_ERR_ARG;
    snprintf(number, sizeof(number), "%d", count);
    say(&program, "-n");
    say(&program, number);
    say_info(&job, &program, info);
    for (; envp && *envp; envp++)
        say_variable(&program, *envp, strlen(*envp));
    say(&program, command);
    bool is_good = true;
    for (; argv && *argv; argv++) {
        is_good &= is_word(*argv);
        say(&program, *argv);
    }
    struct team_command *c = calloc(1, sizeof(*c));
    uint8_t *words = c ? malloc(HEAD + job.len + program.len) : NULL;
    if (words && !job.failed && !program.failed && is_good) {
        os_be32_put(words, (uint32_t)count);
        os_be32_put(words + 4, (uint32_t)job.len);
        os_be32_put(words + 8, (uint32_t)program.len);
        if (job.len)
            memcpy(words + HEAD, job.at, job.len);
        memcpy(words + HEAD + job.len, program.at, program.len);
        *c = (struct team_command){.count = count, .first = -1, .words = words, .len = HEAD + job.len + program.len};
        *open->commands_end = c;
        open->commands_end = &c->next;
        *made = c;
    } else {
        free(words);
        free(c);
    }
    free(job.at);
    free(program.at);
    return !is_good ? BNR_ERR_ARG : words && !job.failed && !program.failed ? BNR_SUCCESS : BNR_ERR_NOMEM;
}

/* ---- open ---- */

static int decide_open(struct bnr_req *req, uint8_t **bytes, size_t *len)
{
    BNR_Gid gid;
    (void)req;
    if (os_random(gid.b, sizeof(gid.b)))
        return BNR_FAIL;
    *bytes = team_calls_outcome(&gid, 0, len);
    return *bytes ? BNR_SUCCESS : BNR_ERR_NOMEM;
}

static int finish_open(struct bnr_req *req, int code, const struct rally_bytes *bytes)
{
    BNR_Gid gid;
    if (!code && !team_calls_made(bytes, &gid))
        code = BNR_ERR_PROTO;
    if (code || !req->made)
        return code;
    struct bnr_group *open = team_new(TEAM_OPEN, &gid, 0, -1);
    if (!open)
        return BNR_ERR_NOMEM;
    open->side[0] = req->group;
    team_ref(req->group);
    *req->made = open;
    return BNR_SUCCESS;
}

const struct team_call_ops team_call_open = {.kind = KIND_OPEN, .decide = decide_open, .finish = finish_open};

/* ---- close ---- */

/* All commands, at the root. */
struct close_state {
    char **job, **programs; /* words, which point into the members' bytes */
    size_t job_count, program_count;
    uint8_t *firsts; /* u32 member, u32 first rank, of each command */
    size_t first_len;
    int size;
    struct rally_bytes *all;
};

static int begin_close(struct bnr_req *req)
{
    struct bnr_group *open = req->other;
    req->what = os_be64_get(open->gid.b);
    if (open->kind != TEAM_OPEN || open->side[0] != req->group)
        return BNR_ERR_STATE;
    for (const struct team_command *c = open->commands; c; c = c->next)
        req->said_len += c->len;
    uint8_t *at = req->said = malloc(req->said_len + 1);
    if (!at)
        return BNR_ERR_NOMEM;
    for (const struct team_command *c = open->commands; c; at += c->len, c = c->next)
        memcpy(at, c->words, c->len);
    return BNR_SUCCESS;
}

static bool add_words(char ***list, size_t *count, char *at, size_t len)
{
    if (len && at[len - 1])
        return false;
    for (size_t i = 0; i < len; i += strlen(at + i) + 1)
        (*list)[(*count)++] = at + i;
    return true;
}

/* Take the commands of one member. */
static int add_commands(struct close_state *s, int member, uint8_t *at, size_t len)
{
    static char colon[] = ":";
    while (len) {
        uint32_t count = len < HEAD ? 0 : os_be32_get(at), job = len < HEAD ? 0 : os_be32_get(at + 4);
        uint32_t program = len < HEAD ? 0 : os_be32_get(at + 8);
        if (!count || count > COUNT_MAX || job > len - HEAD || program > len - HEAD - job || !program)
            return BNR_ERR_PROTO;
        if (s->program_count)
            s->programs[s->program_count++] = colon;
        if (!add_words(&s->job, &s->job_count, (char *)at + HEAD, job) ||
            !add_words(&s->programs, &s->program_count, (char *)at + HEAD + job, program))
            return BNR_ERR_PROTO;
        os_be32_put(s->firsts + s->first_len, (uint32_t)member);
        os_be32_put(s->firsts + s->first_len + 4, (uint32_t)s->size);
        s->first_len += 8;
        s->size += (int)count;
        if (s->size > MEET_SIZE_MAX)
            return BNR_ERR_ARG;
        at += HEAD + job + program;
        len -= HEAD + job + program;
    }
    return BNR_SUCCESS;
}

static void free_close(struct close_state *s)
{
    if (!s)
        return;
    free(s->job);
    free(s->programs);
    free(s->firsts);
    rally_bytes_unref(s->all);
    free(s);
}

/* In the order of members. */
static int read_commands(struct close_state *s, int members)
{
    size_t at = 0, len;
    int member, rc = BNR_SUCCESS;
    const uint8_t *bytes, **of = calloc((size_t)members, sizeof(*of));
    size_t *lens = calloc((size_t)members, sizeof(*lens));
    size_t room = s->all->len + 8; /* a word has a byte at least */
    s->job = calloc(room, sizeof(*s->job));
    s->programs = calloc(room, sizeof(*s->programs));
    s->firsts = malloc(room);
    if (!of || !lens || !s->job || !s->programs || !s->firsts)
        rc = BNR_ERR_NOMEM;
    while (!rc && rally_next(s->all, &at, &member, &bytes, &len)) { /* each is there once */
        of[member] = bytes;
        lens[member] = len;
    }
    for (int i = 0; !rc && i < members; i++)
        rc = add_commands(s, i, (uint8_t *)(uintptr_t)of[i], lens[i]);
    free(of);
    free(lens);
    return rc || s->size ? rc : BNR_ERR_ARG;
}

static bool is_placed(const struct close_state *s)
{
    for (size_t i = 0; i < s->job_count; i++)
        if (!strcmp(s->job[i], "-map-by") || !strcmp(s->job[i], "-bind-to") || !strcmp(s->job[i], "-ppr"))
            return true;
    return false;
}

/* Have the job started. */
static int start(struct bnr_req *req, const struct close_state *s)
{
    char note[ORDER_NOTE_MAX];
    struct order_note what = {.size = s->size, .parent_size = req->group->size};
    int rc;
    what.door = team_door(&rc);
    const char **words = rc ? NULL : calloc(s->job_count + s->program_count + 3, sizeof(*words));
    if (!words)
        return rc ? rc : BNR_ERR_NOMEM;
    memcpy(what.gid, req->other->gid.b, sizeof(what.gid));
    memcpy(what.parent, req->group->gid.b, sizeof(what.parent));
    order_note_put(note, &what);
    size_t count = 0;
    if (!is_placed(s)) { /* their processors may be those of running processes */
        words[count++] = "-bind-to";
        words[count++] = "none";
    }
    for (size_t i = 0; i < s->job_count; i++)
        words[count++] = s->job[i];
    for (size_t i = 0; i < s->program_count; i++)
        words[count++] = s->programs[i];
    const BNR_Job_attr attr = {sizeof(attr), words, note};
    rc = orders_start(teams.world->backend, &attr, &req->job);
    free(words);
    return rc == BNR_ERR_NOT_FOUND ? BNR_ERR_SPAWN : rc;
}

static bool hear_job(struct bnr_group *g, int job);

/* Whether the job runs. */
static int look_at(struct bnr_req *req)
{
    int status, ended;
    struct bnr_group *g = req->other;
    if (hear_job(g, req->job))
        return BNR_SUCCESS;
    if (orders_state(req->job, &ended, &status) || !ended)
        return BNR_ERR_AGAIN;
    req->job = 0;
    g->is_over = true;
    return status ? BNR_ERR_SPAWN : BNR_SUCCESS;
}

static int decide_close(struct bnr_req *req, uint8_t **bytes, size_t *len)
{
    int rc;
    if (!req->close) {
        req->close = calloc(1, sizeof(*req->close));
        if (!req->close)
            return BNR_ERR_NOMEM;
        req->close->all = req->group->rally->rally.bytes;
        req->close->all->refs++;
        rc = read_commands(req->close, req->group->size);
        if (!rc)
            rc = start(req, req->close);
        if (rc)
            return rc;
        req->other->size = req->close->size; /* exits may come before the start is known */
    }
    rc = look_at(req);
    if (rc)
        return rc;
    *bytes = team_calls_outcome(NULL, 4 + req->close->first_len, len);
    if (!*bytes)
        return BNR_ERR_NOMEM;
    os_be32_put(*bytes + CALL_HEAD, (uint32_t)req->close->size);
    memcpy(*bytes + CALL_HEAD + 4, req->close->firsts, req->close->first_len);
    return BNR_SUCCESS;
}

/* Take the size, and where this process's commands have begun. */
static int take_start(struct bnr_req *req, const struct rally_bytes *bytes)
{
    struct bnr_group *g = req->other;
    struct team_command *c = g->commands;
    size_t at = CALL_HEAD + 4;
    if (bytes->len < at || os_be32_get(bytes->at + CALL_HEAD) > MEET_SIZE_MAX)
        return BNR_ERR_PROTO;
    g->size = (int)os_be32_get(bytes->at + CALL_HEAD);
    for (; at + 8 <= bytes->len; at += 8) {
        if ((int)os_be32_get(bytes->at + at) != req->group->rank || !c)
            continue;
        c->first = (int)os_be32_get(bytes->at + at + 4);
        c = c->next;
    }
    return BNR_SUCCESS;
}

static int finish_close(struct bnr_req *req, int code, const struct rally_bytes *bytes)
{
    struct bnr_group *g = req->other;
    if (!code)
        code = take_start(req, bytes);
    for (int i = 0; req->errcodes && i < req->errcode_count; i++)
        req->errcodes[i] = code;
    if (code && req->job) { /* the others gave up: nobody would meet it */
        (void)orders_kill(teams.world->backend, req->job, -1, SIGKILL);
        orders_let_go(req->job);
        req->job = 0;
    }
    if (g->kind != TEAM_OPEN)
        return code;
    g->kind = TEAM_FAR;
    g->relation = MEET_SPAWNER;
    g->job = req->job;
    g->is_over |= code != 0;
    return code;
}

static void drop_close(struct bnr_req *req)
{
    free_close(req->close);
    req->close = NULL;
}

const struct team_call_ops team_call_close = {KIND_CLOSE, false, begin_close, decide_close, finish_close, NULL, drop_close};

/* ---- ends ---- */

/* An end of which the program is to hear. */
struct spawn_end {
    struct spawn_end *next;
    struct bnr_group *group; /* counted */
    int rank, status;
};

static struct spawn_end *ends, **ends_end = &ends;
static bool is_telling;

/* The members below hear of it, too. */
static void pass_on(const struct bnr_group *g, int rank, int status)
{
    const struct bnr_group *opener = g->side[0];
    struct rally_frame frame = {(enum rally_kind)TIE_EXIT, (uint32_t)rank, status, 0, NULL};
    for (int i = 0; opener && opener->rally && i < opener->rally->rally.child_count; i++)
        tie_send(opener->rally->rally.child[i], &g->gid, &frame);
}

static void note_exit(struct bnr_group *g, int rank, int status)
{
    if (rank < 0 || rank >= g->size)
        return;
    if (!g->ended)
        g->ended = calloc(((size_t)g->size + 7) / 8, 1);
    struct spawn_end *end = g->ended ? calloc(1, sizeof(*end)) : NULL;
    if (!end || g->ended[rank / 8] >> rank % 8 & 1) {
        free(end);
        return;
    }
    g->ended[rank / 8] |= (unsigned char)(1u << rank % 8);
    *end = (struct spawn_end){.group = g, .rank = rank, .status = status};
    team_ref(g);
    *ends_end = end;
    ends_end = &end->next;
}

/* Take what a job of a group has told. Returns whether it has started. */
static bool hear_job(struct bnr_group *g, int job)
{
    uint32_t what;
    int number, status;
    bool has_started = false;
    while (orders_report(job, &what, &number, &status)) {
        has_started |= what == ORDER_TOLD_STARTED;
        if (what == ORDER_TOLD_EXIT)
            note_exit(g, number, status);
    }
    return has_started;
}

static void look_at_job(struct bnr_group *g)
{
    int status, ended;
    (void)hear_job(g, g->job);
    if (orders_state(g->job, &ended, &status) || ended) {
        g->job = 0;
        g->is_over = true;
    }
}

void team_spawn_end(void)
{
    while (ends) {
        struct spawn_end *end = ends;
        ends = end->next;
        team_unref(end->group);
        free(end);
    }
    ends_end = &ends;
}

/* Tell the program. */
static void tell(const struct spawn_end *end)
{
    for (const struct team_command *c = end->group->commands; c; c = c->next)
        if (c->notify && c->first >= 0 && end->rank >= c->first && end->rank - c->first < c->count)
            (void)c->notify(end->group, end->rank, end->status);
}

void team_spawn_step(void)
{
    for (struct bnr_group *g = teams.world; g; g = g->next)
        if (g->job && g->kind == TEAM_FAR)
            look_at_job(g);
    if (is_telling)
        return;
    is_telling = true;
    while (ends) {
        struct spawn_end *end = ends;
        if (end->group->kind == TEAM_OPEN)
            break; /* where its commands have begun is not known yet */
        ends = end->next;
        if (!ends)
            ends_end = &ends;
        pass_on(end->group, end->rank, end->status);
        tell(end);
        team_unref(end->group);
        free(end);
    }
    is_telling = false;
}

int team_spawn_heard(int tie, const BNR_Gid *gid, const struct rally_frame *frame)
{
    struct bnr_group *g = team_find(gid), *opener = g && (g->kind == TEAM_FAR || g->kind == TEAM_OPEN) ? g->side[0] : NULL;
    if (frame->kind != (enum rally_kind)TIE_EXIT && frame->kind != (enum rally_kind)TIE_KILL)
        return BNR_ERR_PROTO;
    if (!opener || !opener->rally || !rally_has(&opener->rally->rally, tie))
        return BNR_SUCCESS; /* it is known here no more */
    if (frame->kind == (enum rally_kind)TIE_EXIT)
        note_exit(g, (int)frame->call, frame->code);
    else
        (void)team_kill(g, frame->call == UINT32_MAX ? -1 : (int)frame->call, frame->code);
    return BNR_SUCCESS;
}

/* ---- kill ---- */

static int has_ended(const struct bnr_group *g, int rank)
{
    return g->is_over || (rank >= 0 && g->ended && g->ended[rank / 8] >> rank % 8 & 1);
}

/* Of a spawned group: its opener's root has the job. */
static int kill_spawned(struct bnr_group *g, int rank, int sig)
{
    const struct bnr_group *opener = g->side[0];
    if (has_ended(g, rank))
        return BNR_ERR_PROC_FAILED;
    if (!sig)
        return BNR_SUCCESS;
    if (g->job)
        return orders_kill(teams.world->backend, g->job, rank, sig);
    if (!opener || !opener->rally || opener->rally->rally.parent < 0)
        return BNR_ERR_UNSUPPORTED;
    const struct rally_frame frame = {(enum rally_kind)TIE_KILL, (uint32_t)rank, sig, 0, NULL};
    tie_send(opener->rally->rally.parent, &g->gid, &frame);
    return BNR_SUCCESS;
}

static int kill_world(struct bnr_group *g, int rank, int sig)
{
    if (rank >= 0 && !g->backend->ops->is_alive(g->backend, rank))
        return BNR_ERR_PROC_FAILED;
    return sig ? orders_kill(g->backend, 0, rank, sig) : BNR_SUCCESS;
}

int team_kill(struct bnr_group *g, int rank, int sig)
{
    if (rank < -1 || rank >= g->size || sig < 0 || sig > SIGRTMAX)
        return BNR_ERR_ARG;
    if (g->kind == TEAM_WORLD)
        return kill_world(g, rank, sig);
    if (g->kind == TEAM_OPEN)
        return BNR_ERR_STATE;
    if (g->kind == TEAM_FAR)
        return g->side[0] ? kill_spawned(g, rank, sig) : BNR_ERR_UNSUPPORTED;
    for (int side = 0, at = 0; side < 2; at += g->side[g->first ^ side]->size, side++) {
        struct bnr_group *of = g->side[g->first ^ side];
        int rc = BNR_SUCCESS;
        if (rank < 0)
            rc = team_kill(of, -1, sig);
        else if (rank >= at && rank < at + of->size)
            return team_kill(of, rank - at, sig);
        if (rc)
            return rc;
    }
    return BNR_SUCCESS;
}
