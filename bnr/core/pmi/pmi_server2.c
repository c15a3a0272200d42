/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * PMI-2, for programs that were built with it, as in sites with Slurm; see pmi_server.h. A request is six digits, the
 * length of the rest, and "cmd=NAME;FIELD=VALUE;...": a semicolon of a value stands twice. Values are kept as they are
 * written, and given back so.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/pmi/pmi_dialect.h"

enum {
    FRAME_HEAD = 6,
    TEXT_MAX = PMI_SERVER_IN - FRAME_HEAD - 1,
    FIELD_MAX = 1100
};

/* ---- texts ---- */

/* The length of a value, up to a semicolon that stands alone. */
static size_t value_len(const char *at)
{
    size_t len = 0;
    while (at[len] && !(at[len] == ';' && at[len + 1] != ';'))
        len += at[len] == ';' ? 2 : 1;
    return len;
}

/* Copy a field, from *at on, which moves behind it; at NULL: from the beginning. Returns false where there is none, or
 * it does not fit. */
static bool field(const char *text, const char **at, const char *name, char *to, size_t size)
{
    size_t name_len = strlen(name), len;
    for (const char *word = at && *at ? *at : text; *word; word += len + (word[len] == ';')) {
        len = value_len(word);
        if (len <= name_len || word[name_len] != '=' || memcmp(word, name, name_len) != 0)
            continue;
        if (len - name_len > size)
            return false;
        memcpy(to, word + name_len + 1, len - name_len - 1);
        to[len - name_len - 1] = 0;
        if (at)
            *at = word + len + (word[len] == ';');
        return true;
    }
    return false;
}

static int number(const char *text, const char *name)
{
    char digits[16];
    return field(text, NULL, name, digits, sizeof(digits)) ? atoi(digits) : -1;
}

static void reply(struct pmi_server *s, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void reply(struct pmi_server *s, const char *command, const char *format, ...)
{
    char text[PMI_SERVER_IN + 128], head[16];
    int n = snprintf(text, sizeof(text), "%*scmd=%s-response;", FRAME_HEAD, "", command);
    if (*s->thread)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "thrid=%s;", s->thread);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
    va_end(args);
    if (more < 0 || n + more >= (int)sizeof(text)) {
        s->is_cut = true;
        return;
    }
    snprintf(head, sizeof(head), "%*d", FRAME_HEAD, n + more - FRAME_HEAD);
    memcpy(text, head, FRAME_HEAD);
    s->hooks->say(s->arg, text, (size_t)(n + more));
}

/* ---- requests ---- */

static void begin(struct pmi_server *s, const char *text)
{
    const struct pmi_process *p = s->process;
    (void)text;
    reply(s, "fullinit", "pmi-version=2;pmi-subversion=0;rank=%d;size=%d;appnum=%d;%sdebugged=FALSE;pmiverbose=FALSE;rc=0;",
          p->rank, p->size, p->app, *p->note ? "spawner-jobid=spawner;" : "");
}

static void tell_job(struct pmi_server *s, const char *text)
{
    (void)text;
    reply(s, "job-getid", "jobid=%s;rc=0;", s->process->space);
}

/* The name of the reply, by what the key is asked as. */
static const char *asked_as(const struct pmi_server *s)
{
    return s->asked == PMI_ASKED_JOB ? "info-getjobattr" : s->asked == PMI_ASKED_NODE ? "info-getnodeattr" : "kvs-get";
}

static void get_job(struct pmi_server *s, const char *text)
{
    char key[PMI_SERVER_KEY] = "";
    (void)field(text, NULL, "key", key, sizeof(key));
    s->asked = PMI_ASKED_JOB;
    if (!strcmp(key, "universeSize"))
        reply(s, "info-getjobattr", "found=TRUE;value=%d;rc=0;", s->process->universe);
    else
        pmi_server_look(s, key, false);
}

static void get_node(struct pmi_server *s, const char *text)
{
    char key[PMI_SERVER_KEY] = "", wait[8] = "";
    (void)field(text, NULL, "key", key, sizeof(key));
    s->asked = PMI_ASKED_NODE;
    s->is_patient = field(text, NULL, "wait", wait, sizeof(wait)) && !strcmp(wait, "TRUE");
    pmi_server_look(s, key, true);
}

static void get(struct pmi_server *s, const char *text)
{
    char key[PMI_SERVER_KEY] = "", job[256] = "";
    (void)field(text, NULL, "key", key, sizeof(key));
    bool is_own = !field(text, NULL, "jobid", job, sizeof(job)) || !*job || !strcmp(job, s->process->space);
    s->asked = PMI_ASKED_KEY;
    pmi_server_look(s, is_own ? key : "", false);
}

static void keep(struct pmi_server *s, const char *text, bool is_here, const char *command)
{
    char key[PMI_SERVER_KEY], value[FIELD_MAX], name[2 * PMI_SERVER_KEY];
    bool is_good = field(text, NULL, "key", key, sizeof(key)) && field(text, NULL, "value", value, sizeof(value)) &&
                   strlen(value) <= PMI_SERVER_VALUE && !strchr(value, '\n') && strncmp(key, "PMI_", 4) != 0 &&
                   pmi_server_name(s, key, is_here, name) && s->hooks->put(s->arg, name, value);
    reply(s, command, is_good ? "rc=0;" : "rc=-1;errmsg=cannot be kept;");
}

static void put(struct pmi_server *s, const char *text)
{
    keep(s, text, false, "kvs-put");
}

static void put_node(struct pmi_server *s, const char *text)
{
    keep(s, text, true, "info-putnodeattr");
}

static void fence(struct pmi_server *s, const char *text)
{
    (void)text;
    s->waits = PMI_WAITS_FENCE;
    s->hooks->enter(s->arg);
}

static void order_name(struct pmi_server *s, const char *text, enum pmi_call call)
{
    char service[FIELD_MAX] = "", port[FIELD_MAX] = "";
    if (call == PMI_CALL_PUBLISH && !field(text, NULL, "port", port, sizeof(port)))
        *service = 0;
    else if (!field(text, NULL, "name", service, sizeof(service)))
        *service = 0;
    pmi_server_order_name(s, call, service, port);
}

static void publish(struct pmi_server *s, const char *text)
{
    order_name(s, text, PMI_CALL_PUBLISH);
}

static void unpublish(struct pmi_server *s, const char *text)
{
    order_name(s, text, PMI_CALL_UNPUBLISH);
}

static void look_up(struct pmi_server *s, const char *text)
{
    order_name(s, text, PMI_CALL_LOOKUP);
}

/* Say a field to the spawn, as a line of PMI-1 says it. */
static void tell_spawn(struct pmi_server *s, const char *name, const char *value)
{
    char line[FIELD_MAX + 64];
    snprintf(line, sizeof(line), "%s=%s", name, value);
    pmi_spawn_line(&s->spawn, line);
}

/* One "subcmd" and what follows it up to the next one. Returns where that is. */
static const char *take_program(struct pmi_server *s, const char *text)
{
    static const struct {
        const char *name, *line;
        bool is_numbered;
    } names[] = {{"subcmd", "execname", false},      {"maxprocs", "nprocs", false},     {"argv", "arg1", true},
                 {"infokey", "info_key_0", true},    {"infoval", "info_val_0", true}};
    char value[FIELD_MAX];
    bool has_begun = false;
    size_t len;
    for (; *text; text += len + (text[len] == ';')) {
        len = value_len(text);
        if (has_begun && !strncmp(text, "subcmd=", 7))
            break;
        has_begun |= !strncmp(text, "subcmd=", 7);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            size_t name_len = strlen(names[i].name), digits;
            if (strncmp(text, names[i].name, name_len) != 0)
                continue;
            digits = names[i].is_numbered ? strspn(text + name_len, "0123456789") : 0;
            size_t head = name_len + digits + 1;
            if (text[head - 1] != '=' || names[i].is_numbered != (digits > 0) || len < head || len - head >= sizeof(value))
                continue;
            memcpy(value, text + head, len - head);
            value[len - head] = 0;
            tell_spawn(s, names[i].line, value);
        }
    }
    return text;
}

static void spawn(struct pmi_server *s, const char *text)
{
    char value[FIELD_MAX], name[24];
    int programs = number(text, "ncmds"), puts = number(text, "preputcount");
    const char *at = strstr(text, "subcmd=");
    s->spawn = (struct pmi_spawn){0};
    pmi_spawn_begin(&s->spawn);
    for (int i = 0; i < puts && i < PMI_SERVER_IN; i++) {
        snprintf(name, sizeof(name), "ppkey%d", i);
        if (!field(text, NULL, name, value, sizeof(value)))
            break;
        tell_spawn(s, "preput_key_0", value);
        snprintf(name, sizeof(name), "ppval%d", i);
        if (field(text, NULL, name, value, sizeof(value)))
            tell_spawn(s, "preput_val_0", value);
    }
    snprintf(value, sizeof(value), "%d", programs);
    for (int i = 0; at && *at && i < programs; i++) {
        if (i)
            pmi_spawn_begin(&s->spawn);
        tell_spawn(s, "totspawns", value);
        at = take_program(s, at);
        (void)pmi_spawn_end(&s->spawn, s->hooks->folder(s->arg));
    }
    if (!s->spawn.told)
        (void)pmi_spawn_end(&s->spawn, ""); /* which refuses a program without a name */
    pmi_server_order_spawn(s);
}

static void abort_job(struct pmi_server *s, const char *text)
{
    char message[FIELD_MAX] = "";
    (void)field(text, NULL, "msg", message, sizeof(message));
    s->hooks->abort(s->arg, 1, message);
}

static void finalize(struct pmi_server *s, const char *text)
{
    (void)text;
    pmi_server_finalize(s);
    reply(s, "finalize", "rc=0;");
    s->dialect = s->first; /* another program of the rank chooses again */
}

static void hear(struct pmi_server *s, const char *text)
{
    static const struct {
        const char *command;
        void (*act)(struct pmi_server *s, const char *text);
    } requests[] = {{"fullinit", begin},
                    {"job-getid", tell_job},
                    {"info-getjobattr", get_job},
                    {"info-getnodeattr", get_node},
                    {"info-putnodeattr", put_node},
                    {"kvs-put", put},
                    {"kvs-get", get},
                    {"kvs-fence", fence},
                    {"name-publish", publish},
                    {"name-unpublish", unpublish},
                    {"name-lookup", look_up},
                    {"spawn", spawn},
                    {"abort", abort_job},
                    {"finalize", finalize}};
    char name[32] = "";
    if (!field(text, NULL, "thrid", s->thread, sizeof(s->thread)))
        s->thread[0] = 0;
    (void)field(text, NULL, "cmd", name, sizeof(name));
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (strcmp(name, requests[i].command) != 0)
            continue;
        if (s->has_begun)
            requests[i].act(s, text);
        else
            reply(s, name, "rc=-1;errmsg=not initialized;");
        return;
    }
    reply(s, name, "rc=-1;errmsg=unknown command;");
}

/* ---- frames ---- */

static size_t cut(struct pmi_server *s, size_t at, char **text)
{
    char digits[FRAME_HEAD + 1] = "", *end;
    if (s->len - at < FRAME_HEAD)
        return 0;
    memcpy(digits, s->in + at, FRAME_HEAD);
    long len = strtol(digits, &end, 10);
    if (end == digits || *(end + strspn(end, " ")) || len < 1 || len > TEXT_MAX) {
        s->is_cut = true;
        return 0;
    }
    if (s->len - at < FRAME_HEAD + (size_t)len)
        return 0;
    /* In place of the head: a NUL behind the text would be in the next frame. */
    memmove(s->in + at, s->in + at + FRAME_HEAD, (size_t)len);
    s->in[at + (size_t)len] = 0;
    *text = s->in + at;
    return FRAME_HEAD + (size_t)len;
}

/* ---- outcomes ---- */

static void say_found(struct pmi_server *s, const char *value)
{
    if (value)
        reply(s, asked_as(s), "found=TRUE;value=%s;rc=0;", value);
    else
        reply(s, asked_as(s), "found=FALSE;rc=0;");
}

static void say_released(struct pmi_server *s, bool is_good)
{
    reply(s, "kvs-fence", is_good ? "rc=0;" : "rc=-1;errmsg=a process has ended;");
}

static void say_told(struct pmi_server *s, int status, const char *text)
{
    static const char *const commands[] = {"spawn", "name-publish", "name-unpublish", "name-lookup"};
    if (s->call == PMI_CALL_SPAWN && status)
        reply(s, "spawn", "rc=-1;errmsg=%s;", text);
    else if (s->call == PMI_CALL_SPAWN)
        reply(s, "spawn", "rc=0;jobid=spawned;nerrs=0;");
    else if (s->call == PMI_CALL_LOOKUP && !status)
        reply(s, "name-lookup", "port=%s;found=TRUE;rc=0;", text);
    else
        reply(s, commands[s->call], s->call == PMI_CALL_LOOKUP ? "found=FALSE;rc=%d;" : "rc=%d;", status ? 1 : 0);
}

const struct pmi_dialect pmi_dialect_2 = {cut, hear, say_found, say_released, say_told};
