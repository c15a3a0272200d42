/* SPDX-License-Identifier: BSD-3-Clause */

/* The manager's side of PMI-1; see pmi_server.h. Replies are worded as Hydra words them. */
#include "bnr/core/pmi/pmi_server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bnr/core/pmi/pmi_dialect.h"
#include "bnr/core/pmi/pmi_line.h"

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

void pmi_server_begin(struct pmi_server *s)
{
    s->beginnings += !s->has_begun;
    s->has_begun = true;
    s->hooks->begun(s->arg, false);
}

void pmi_server_finalize(struct pmi_server *s)
{
    s->has_begun = false;
    s->hooks->begun(s->arg, true);
}

static void begin(struct pmi_server *s, const char *line)
{
    int version = 0;
    if (!pmi_number(line, "pmi_version", &version) || (version != 1 && version != 2)) {
        reply(s, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1");
        return;
    }
    pmi_server_begin(s);
    reply(s, "cmd=response_to_init pmi_version=%d pmi_subversion=%d rc=0", version, version == 1 ? 1 : 0);
    if (version == 2)
        s->dialect = s->hooks->second;
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
    pmi_server_finalize(s);
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

bool pmi_server_name(const struct pmi_server *s, const char *key, bool is_here, char to[2 * PMI_SERVER_KEY])
{
    if (!*key || strlen(key) >= PMI_SERVER_KEY)
        return false;
    if (is_here)
        snprintf(to, 2 * PMI_SERVER_KEY, "pmi%u@%d.%s", s->beginnings, s->process->node, key);
    else
        snprintf(to, 2 * PMI_SERVER_KEY, "pmi%u.%s", s->beginnings, key);
    return true;
}

/* The key of a line about this job's space. */
static bool take_key(const struct pmi_server *s, const char *line, char key[PMI_SERVER_KEY])
{
    char space[256];
    return pmi_text(line, "kvsname", space, sizeof(space)) && !strcmp(space, s->process->space) &&
           pmi_text(line, "key", key, PMI_SERVER_KEY);
}

static void put(struct pmi_server *s, const char *line)
{
    char key[PMI_SERVER_KEY], name[2 * PMI_SERVER_KEY];
    const char *value = rest_of(line, "value");
    bool is_good = take_key(s, line, key) && pmi_server_name(s, key, false, name) && strncmp(key, "PMI_", 4) != 0 && value &&
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

void pmi_server_look(struct pmi_server *s, const char *key, bool is_here)
{
    char left[PMI_SERVER_IN];
    s->waits = PMI_WAITS_VALUE;
    if (!pmi_server_name(s, key, is_here, s->key)) {
        s->is_patient = false;
        (void)pmi_server_found(s, NULL);
    } else if (!strcmp(key, "PMI_process_mapping") && *s->process->mapping) {
        (void)pmi_server_found(s, s->process->mapping);
    } else if (!strncmp(key, "PMI_", 4) && !is_here) {
        (void)pmi_server_found(s, NULL);
    } else if (!is_here && find_left(s, key, left)) {
        (void)pmi_server_found(s, left);
    } else {
        s->hooks->get(s->arg, s->key, is_here);
    }
}

static void get(struct pmi_server *s, const char *line)
{
    char key[PMI_SERVER_KEY];
    pmi_server_look(s, take_key(s, line, key) ? key : "", false);
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

void pmi_server_order_name(struct pmi_server *s, enum pmi_call call, const char *service, const char *text)
{
    char words[2 * NAME_LEN_MAX + 2];
    size_t len = strlen(service) + 1;
    if (len > 1 && len <= NAME_LEN_MAX + 1 && strlen(text) <= NAME_LEN_MAX) {
        strcpy(words, service);
        strcpy(words + len, text);
        order(s, call, words, len + strlen(text) + 1);
    } else {
        s->call = call;
        s->waits = PMI_WAITS_ORDER;
        (void)pmi_server_told(s, -EINVAL, "");
    }
}

static void order_name(struct pmi_server *s, const char *line, enum pmi_call call)
{
    char service[NAME_LEN_MAX + 1] = "";
    const char *text = call == PMI_CALL_PUBLISH ? rest_of(line, "port") : "";
    if (!text || !pmi_text(line, "service", service, sizeof(service)))
        *service = 0;
    pmi_server_order_name(s, call, service, text ? text : "");
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

void pmi_server_order_spawn(struct pmi_server *s)
{
    struct bytes *words = pmi_spawn_words(&s->spawn);
    s->call = PMI_CALL_SPAWN;
    if (words) {
        order(s, PMI_CALL_SPAWN, words->at, words->len);
    } else {
        s->waits = PMI_WAITS_ORDER;
        (void)pmi_server_told(s, -EINVAL, s->spawn.why);
    }
    bytes_unref(words);
    pmi_spawn_reset(&s->spawn);
}

/* A line of a spawn. */
static void hear_spawn(struct pmi_server *s, const char *line)
{
    if (strcmp(line, "endcmd") != 0) {
        pmi_spawn_line(&s->spawn, line);
        return;
    }
    s->is_spawning = false;
    if (pmi_spawn_end(&s->spawn, s->hooks->folder(s->arg)))
        pmi_server_order_spawn(s);
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

static size_t cut_line(struct pmi_server *s, size_t at, char **text)
{
    char *line = s->in + at, *end = memchr(line, '\n', s->len - at);
    if (!end)
        return 0;
    *end = 0;
    *text = line;
    return (size_t)(end - line) + 1;
}

/* Hear what has come, until an outcome is waited for. */
static int go_on(struct pmi_server *s)
{
    size_t at = 0, len;
    char *text;
    if (s->is_hearing)
        return 0; /* the caller is told within its call */
    s->is_hearing = true;
    while (s->waits == PMI_WAITS_NONE && !s->is_cut && (len = s->dialect->cut(s, at, &text))) {
        at += len;
        s->dialect->hear(s, text);
    }
    s->is_hearing = false;
    memmove(s->in, s->in + at, s->len - at);
    s->len -= at;
    if (s->waits == PMI_WAITS_NONE && s->len == PMI_SERVER_IN)
        s->is_cut = true; /* a request without an end */
    return s->is_cut ? -EPROTO : 0;
}

/* ---- outcomes ---- */

static void say_found(struct pmi_server *s, const char *value)
{
    if (value)
        reply(s, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        reply(s, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

static void say_released(struct pmi_server *s, bool is_good)
{
    reply(s, is_good ? "cmd=barrier_out" : "cmd=barrier_out rc=-1 msg=a_process_has_ended");
}

static void say_told(struct pmi_server *s, int status, const char *text)
{
    static const char *const replies[] = {"spawn", "publish", "unpublish", "lookup"};
    const char *port = s->call == PMI_CALL_LOOKUP && !status ? text : NULL;
    const char *why = status == -EEXIST ? "key_already_present" : status ? "service_not_found" : "success";
    if (s->call == PMI_CALL_SPAWN)
        reply(s, "cmd=spawn_result rc=%d%s%s", status ? -1 : 0, status ? " msg=" : "", status ? text : "");
    else
        reply(s, "cmd=%s_result %s%s%sinfo=%s rc=%d msg=%s", replies[s->call], port ? "port=" : "", port ? port : "",
              port ? " " : "", status ? "fail" : "ok", status ? 1 : 0, why);
}

static const struct pmi_dialect pmi_dialect_1 = {cut_line, hear, say_found, say_released, say_told};

int pmi_server_found(struct pmi_server *s, const char *value)
{
    if (s->waits != PMI_WAITS_VALUE)
        return 0;
    s->waits = !value && s->is_patient ? PMI_WAITS_PUT : PMI_WAITS_NONE;
    if (s->waits == PMI_WAITS_NONE) {
        s->is_patient = false;
        s->dialect->found(s, value);
    }
    return go_on(s);
}

int pmi_server_again(struct pmi_server *s)
{
    if (s->waits != PMI_WAITS_PUT)
        return 0;
    s->waits = PMI_WAITS_VALUE;
    s->hooks->get(s->arg, s->key, true);
    return s->is_cut ? -EPROTO : 0;
}

int pmi_server_released(struct pmi_server *s, bool is_good)
{
    if (s->waits != PMI_WAITS_FENCE)
        return 0;
    s->waits = PMI_WAITS_NONE;
    s->dialect->released(s, is_good);
    return go_on(s);
}

int pmi_server_told(struct pmi_server *s, int status, const char *text)
{
    if (s->waits != PMI_WAITS_ORDER)
        return 0;
    s->waits = PMI_WAITS_NONE;
    s->dialect->told(s, status, text);
    return go_on(s);
}

/* ---- life ---- */

void pmi_server_init(struct pmi_server *s, const struct pmi_hooks *hooks, void *arg, const struct pmi_process *process)
{
    *s = (struct pmi_server){.dialect = &pmi_dialect_1, .first = &pmi_dialect_1, .hooks = hooks, .arg = arg, .process = process};
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
