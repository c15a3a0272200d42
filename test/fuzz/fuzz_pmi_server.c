/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Any bytes as the requests of a process with PMI-1: what it has the owner do stays within the limits, and each
 * request is answered by one line at most. The first byte says how the bytes come, and when outcomes do.
 *
 * usage: fuzz_pmi_server FILE...
 */
#include "bnr/core/pmi/pmi_server.h"
#include "test/fuzz/main.h"

struct owner {
    struct pmi_server server;
    int owed; /* outcomes */
    bool is_late, has_looked, is_owed_again;
};

static void say(void *arg, const char *text, size_t len)
{
    (void)arg;
    require(len > 4, "a reply says something");
    if (!memcmp(text, "cmd=", 4)) /* not a frame of PMI-2 */
        require(text[len - 1] == '\n' && !memchr(text, '\n', len - 1), "a reply is one line");
    else
        require((size_t)strtol(text, NULL, 10) == len - 6, "a frame tells its length");
}

static bool put(void *arg, const char *key, const char *value)
{
    (void)arg;
    require(strlen(key) < 2 * PMI_SERVER_KEY && strlen(value) <= PMI_SERVER_VALUE, "a value is not too long");
    return strlen(value) % 2 == 0;
}

static void owe(struct owner *o)
{
    require(!o->owed, "one request at a time");
    o->owed = 1;
}

static void pay(struct owner *o)
{
    o->owed = 0;
    switch (o->server.waits) {
    case PMI_WAITS_VALUE: (void)pmi_server_found(&o->server, "value"); break;
    case PMI_WAITS_FENCE: (void)pmi_server_released(&o->server, true); break;
    case PMI_WAITS_ORDER: (void)pmi_server_told(&o->server, 0, "text"); break;
    case PMI_WAITS_PUT:
    case PMI_WAITS_NONE: require(0, "an outcome is waited for"); break;
    }
}

static void ask(struct owner *o)
{
    owe(o);
    if (!o->is_late)
        pay(o);
}

static void get(void *arg, const char *key, bool is_here)
{
    struct owner *o = arg;
    require(strlen(key) < 2 * PMI_SERVER_KEY, "a key is not too long");
    if (is_here && !o->has_looked) {
        o->has_looked = true; /* it is put later */
        (void)pmi_server_found(&o->server, NULL);
        if (o->server.waits == PMI_WAITS_PUT)
            o->is_owed_again = true;
        return;
    }
    ask(arg);
}

static void enter(void *arg)
{
    ask(arg);
}

static void order(void *arg, enum pmi_call call, const void *words, size_t len)
{
    (void)call;
    require(len && len <= PMI_SPAWN_MAX + 64 && !((const char *)words)[len - 1], "words end, and are not too many");
    ask(arg);
}

static const char *folder(void *arg)
{
    (void)arg;
    return "/";
}

static void begun(void *arg, bool is_over)
{
    (void)arg;
    (void)is_over;
}

static void end_job(void *arg, int code, const char *message)
{
    (void)arg;
    (void)code;
    require(strlen(message) < PMI_SERVER_IN, "a message is part of a line");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct pmi_hooks hooks = {&pmi_dialect_2, say, put, get, enter, order, folder, begun, end_job};
    static const struct pmi_process process = {
        .size = 2, .universe = 2, .space = "k", .mapping = "(vector,(0,1,2))", .note = PMI_NOTE "a=b\nc\n=d\n"};
    struct owner *o = len ? calloc(1, sizeof(*o)) : NULL;
    if (!o)
        return 0;
    size_t part = (size_t)(bytes[0] >> 1) + 1;
    o->is_late = bytes[0] & 1;
    pmi_server_init(&o->server, &hooks, o, &process);
    for (size_t at = 1; at < len;) {
        size_t n = len - at < part ? len - at : part;
        n = n < pmi_server_room(&o->server) ? n : pmi_server_room(&o->server);
        if ((n && pmi_server_take(&o->server, bytes + at, n)) || (!n && !o->owed && !o->is_owed_again))
            break;
        at += n;
        if (o->is_owed_again) {
            o->is_owed_again = false;
            (void)pmi_server_again(&o->server);
        }
        for (int i = 0; i < PMI_SERVER_IN && o->owed; i++)
            pay(o);
    }
    pmi_server_fini(&o->server);
    free(o);
    return 0;
}
