/* SPDX-License-Identifier: BSD-3-Clause */

/* The manager's side of PMI-1; see pmi_server.h. Replies are worded as Hydra words them. */
#include "bnr/core/pmi_server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bnr/core/pmi_line.h"

enum {
    REPLY_MAX = PMI_SERVER_IN + 128,
    NAME_LEN_MAX = 1023 /* of a published name, and of its text */
};

static void reply(struct pmi_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void reply(struct pmi_server *s, const char *format, ...)
{
    char text[REPLY_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text) - 1, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof(text) - 1) {
        s->is_cut = true;
        return;
    }
    text[n] = '\n';
    s->hooks->say(s->arg, text, (size_t)n + 1);
}

/* What stands behind "NAME=" up to the end of the line; NULL: there is no such field. It is raw: newer processes escape
 * blanks, and read what they have written. */
static const char *rest_of(const char *line, const char *name)
{
    const char *at;
    size_t len;
    return pmi_field(line, name, &at, &len) ? at : NULL;
}

/* ---- what it may ask of its job ---- */

static void begin(struct pmi_server *s, const char *line)
{
    int version = 0;
    if (!pmi_number(line, "pmi_version", &version) || version != 1) {
        reply(s, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1");
        return;
    }
    s->beginnings += !s->has_begun;
    s->has_begun = true;
    s->hooks->begun(s->arg, false);
    reply(s, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
}

static void tell_limits(struct pmi_server *s, const char *line)
{
    (void)line;
    reply(s, "cmd=maxes kvsname_max=256 keylen_max=%d vallen_max=%d", PMI_SERVER_KEY, PMI_SERVER_VALUE);
}

static void tell_app(struct pmi_server *s, const char *line)
{
    (void)line;
    reply(s, "cmd=appnum appnum=%d", s->process->app);
}

static void tell_universe(struct pmi_server *s, const char *line)
{
    (void)line;
    reply(s, "cmd=universe_size size=%d", s->process->universe);
}

static void tell_space(struct pmi_server *s, const char *line)
{
    (void)line;
    reply(s, "cmd=my_kvsname kvsname=%s", s->process->space);
}

static void finalize(struct pmi_server *s, const char *line)
{
    (void)line;
    s->has_begun = false;
    s->hooks->begun(s->arg, true);
    reply(s, "cmd=finalize_ack");
}

static void abort_job(struct pmi_server *s, const char *line)
{
    int code = 1;
    const char *message = rest_of(line, "message");
    (void)pmi_number(line, "exitcode", &code);
    s->hooks->abort(s->arg, code, message ? message : "");
}

/* ---- keys ---- */

/* The key under which a value is kept. */
static bool name_key(const struct pmi_server *s, const char *line, char key[PMI_SERVER_KEY], char to[2 * PMI_SERVER_KEY])
{
    char space[256];
    if (!pmi_text(line, "kvsname", space, sizeof(space)) || strcmp(space, s->process->space) != 0 ||
        !pmi_text(line, "key", key, PMI_SERVER_KEY) || !*key)
        return false;
    snprintf(to, 2 * PMI_SERVER_KEY, "pmi%u.%s", s->beginnings, key);
    return true;
}

static void put(struct pmi_server *s, const char *line)
{
    char key[PMI_SERVER_KEY], name[2 * PMI_SERVER_KEY];
    const char *value = rest_of(line, "value");
    bool is_good = name_key(s, line, key, name) && strncmp(key, "PMI_", 4) != 0 && value &&
                   strlen(value) <= PMI_SERVER_VALUE && s->hooks->put(s->arg, name, value);
    reply(s, is_good ? "cmd=put_result rc=0 msg=success" : "cmd=put_result rc=-1 msg=cannot_be_kept");
}

/* A value that the spawner has left. Returns false if there is none. */
static bool find_left(const struct pmi_server *s, const char *key, char value[PMI_SERVER_IN])
{
    const char *note = s->process->note;
    size_t key_len = strlen(key);
    if (strncmp(note, PMI_NOTE, sizeof(PMI_NOTE) - 1) != 0)
        return false;
    for (note += sizeof(PMI_NOTE) - 1; *note; note += strcspn(note, "\n"), note += *note == '\n') {
        size_t len = strcspn(note, "\n");
        if (len <= key_len || note[key_len] != '=' || memcmp(note, key, key_len) != 0 || len - key_len > PMI_SERVER_IN)
            continue;
        snprintf(value, PMI_SERVER_IN, "%.*s", (int)(len - key_len - 1), note + key_len + 1);
        return true;
    }
    return false;
}

static void get(struct pmi_server *s, const char *line)
{
    char key[PMI_SERVER_KEY], name[2 * PMI_SERVER_KEY], left[PMI_SERVER_IN];
    s->waits = PMI_WAITS_VALUE;
    if (!name_key(s, line, key, name))
        (void)pmi_server_found(s, NULL);
    else if (!strcmp(key, "PMI_process_mapping") && *s->process->mapping)
        (void)pmi_server_found(s, s->process->mapping);
    else if (!strncmp(key, "PMI_", 4))
        (void)pmi_server_found(s, NULL);
    else if (find_left(s, key, left))
        (void)pmi_server_found(s, left);
    else
        s->hooks->get(s->arg, name);
}

static void fence(struct pmi_server *s, const char *line)
{
    (void)line;
    s->waits = PMI_WAITS_FENCE;
    s->hooks->enter(s->arg);
}

/* ---- orders ---- */

static void order(struct pmi_server *s, enum pmi_call call, const void *words, size_t len)
{
    s->waits = PMI_WAITS_ORDER;
    s->call = call;
    s->hooks->order(s->arg, call, words, len);
}

static void order_name(struct pmi_server *s, const char *line, enum pmi_call call)
{
    char words[2 * NAME_LEN_MAX + 2];
    const char *text = call == PMI_CALL_PUBLISH ? rest_of(line, "port") : "";
    size_t len = 0;
    s->call = call;
    if (pmi_text(line, "service", words, NAME_LEN_MAX + 1) && *words && text && strlen(text) <= NAME_LEN_MAX) {
        len = strlen(words) + 1;
        strcpy(words + len, text);
        len += strlen(text) + 1;
    }
    if (len) {
        order(s, call, words, len);
    } else {
        s->waits = PMI_WAITS_ORDER;
        (void)pmi_server_told(s, -EINVAL, "");
    }
}

static void publish(struct pmi_server *s, const char *line)
{
    order_name(s, line, PMI_CALL_PUBLISH);
}

static void unpublish(struct pmi_server *s, const char *line)
{
    order_name(s, line, PMI_CALL_UNPUBLISH);
}

static void look_up(struct pmi_server *s, const char *line)
{
    order_name(s, line, PMI_CALL_LOOKUP);
}

/* A line of a spawn. */
static void hear_spawn(struct pmi_server *s, const char *line)
{
    if (strcmp(line, "endcmd") != 0) {
        pmi_spawn_line(&s->spawn, line);
        return;
    }
    s->is_spawning = false;
    if (!pmi_spawn_end(&s->spawn, s->hooks->folder(s->arg)))
        return;
    struct bytes *words = pmi_spawn_words(&s->spawn);
    if (words)
        order(s, PMI_CALL_SPAWN, words->at, words->len);
    else
        reply(s, "cmd=spawn_result rc=-1 msg=%s", s->spawn.why);
    bytes_unref(words);
    pmi_spawn_reset(&s->spawn);
}

/* ---- lines ---- */

static void hear(struct pmi_server *s, const char *line)
{
    static const struct {
        const char *command;
        void (*act)(struct pmi_server *s, const char *line);
        bool any_time; /* before its beginning, too */
    } requests[] = {
        {"init", begin, true},           {"get_maxes", tell_limits, false},       {"get_appnum", tell_app, false},
        {"get_universe_size", tell_universe, false}, {"get_my_kvsname", tell_space, false},
        {"put", put, false},             {"get", get, false},                     {"barrier_in", fence, false},
        {"publish_name", publish, false}, {"unpublish_name", unpublish, false},   {"lookup_name", look_up, false},
        {"finalize", finalize, false},   {"abort", abort_job, true},
    };
    char name[32] = "";
    if (s->is_spawning) {
        hear_spawn(s, line);
        return;
    }
    if (!strcmp(line, "mcmd=spawn") && s->has_begun) {
        s->is_spawning = true;
        pmi_spawn_begin(&s->spawn);
        return;
    }
    (void)pmi_text(line, "cmd", name, sizeof(name));
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (strcmp(name, requests[i].command) != 0)
            continue;
        if (s->has_begun || requests[i].any_time)
            requests[i].act(s, line);
        else
            reply(s, "cmd=%s_result rc=-1 msg=not_initialized", name);
        return;
    }
    reply(s, "cmd=%s_result rc=-1 msg=unknown_command", name);
}

/* Hear what has come, until an outcome is waited for. */
static int go_on(struct pmi_server *s)
{
    size_t at = 0;
    if (s->is_hearing)
        return 0; /* the caller is told within its call */
    s->is_hearing = true;
    while (s->waits == PMI_WAITS_NONE && !s->is_cut) {
        char *line = s->in + at, *end = memchr(line, '\n', s->len - at);
        if (!end)
            break;
        *end = 0;
        at += (size_t)(end - line) + 1;
        hear(s, line);
    }
    s->is_hearing = false;
    memmove(s->in, s->in + at, s->len - at);
    s->len -= at;
    if (s->waits == PMI_WAITS_NONE && s->len == PMI_SERVER_IN)
        s->is_cut = true; /* a line without an end */
    return s->is_cut ? -EPROTO : 0;
}

void pmi_server_init(struct pmi_server *s, const struct pmi_hooks *hooks, void *arg, const struct pmi_process *process)
{
    *s = (struct pmi_server){.hooks = hooks, .arg = arg, .process = process};
}

void pmi_server_fini(struct pmi_server *s)
{
    pmi_spawn_reset(&s->spawn);
}

int pmi_server_take(struct pmi_server *s, const void *bytes, size_t len)
{
    if (len > pmi_server_room(s))
        s->is_cut = true;
    if (s->is_cut)
        return -EPROTO;
    memcpy(s->in + s->len, bytes, len);
    s->len += len;
    return go_on(s);
}

/* ---- outcomes ---- */

int pmi_server_found(struct pmi_server *s, const char *value)
{
    if (s->waits != PMI_WAITS_VALUE)
        return 0;
    s->waits = PMI_WAITS_NONE;
    if (value)
        reply(s, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        reply(s, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
    return go_on(s);
}

int pmi_server_released(struct pmi_server *s, bool is_good)
{
    if (s->waits != PMI_WAITS_FENCE)
        return 0;
    s->waits = PMI_WAITS_NONE;
    reply(s, is_good ? "cmd=barrier_out" : "cmd=barrier_out rc=-1 msg=a_process_has_ended");
    return go_on(s);
}

int pmi_server_told(struct pmi_server *s, int status, const char *text)
{
    static const char *const replies[] = {"spawn", "publish", "unpublish", "lookup"};
    if (s->waits != PMI_WAITS_ORDER)
        return 0;
    s->waits = PMI_WAITS_NONE;
    const char *port = s->call == PMI_CALL_LOOKUP && !status ? text : NULL;
    const char *why = status == -EEXIST ? "key_already_present" : status ? "service_not_found" : "success";
    if (s->call == PMI_CALL_SPAWN)
        reply(s, "cmd=spawn_result rc=%d", status ? -1 : 0);
    else
        reply(s, "cmd=%s_result %s%s%sinfo=%s rc=%d msg=%s", replies[s->call], port ? "port=" : "", port ? port : "",
              port ? " " : "", status ? "fail" : "ok", status ? 1 : 0, why);
    return go_on(s);
}
