/* SPDX-License-Identifier: BSD-3-Clause */

/* The manager's side of PMI-1: the requests of a conversation that Hydra 4.0.2 has had, whole and in parts, and those
 * that break the rules. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/pmi/pmi_line.h"
#include "bnr/core/pmi/pmi_server.h"

/* What the owner was asked, and what it said. */
struct owner {
    struct pmi_server server;
    char said[16384], asked[16384];
    char key[128], value[2048];
    bool is_late; /* outcomes are told after the call */
    int order_rc;
};

static void note(struct owner *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct owner *o, const char *format, ...)
{
    size_t at = strlen(o->asked);
    va_list args;
    va_start(args, format);
    vsnprintf(o->asked + at, sizeof(o->asked) - at, format, args);
    va_end(args);
}

static void say(void *arg, const char *text, size_t len)
{
    struct owner *o = arg;
    assert_true(len && !memchr(text, '\n', len - 1));
    size_t at = strlen(o->said);
    assert_true(at + len < sizeof(o->said));
    memcpy(o->said + at, text, len);
    o->said[at + len] = 0;
}

static bool put(void *arg, const char *key, const char *value)
{
    struct owner *o = arg;
    assert_true(strlen(key) < sizeof(o->key) && strlen(value) <= PMI_SERVER_VALUE);
    strcpy(o->key, key);
    strcpy(o->value, value);
    note(o, "put %s;", key);
    return true;
}

static void get(void *arg, const char *key, bool is_here)
{
    struct owner *o = arg;
    note(o, is_here ? "get here %s;" : "get %s;", key);
    if (!o->is_late)
        (void)pmi_server_found(&o->server, strcmp(key, o->key) ? NULL : o->value);
}

static void enter(void *arg)
{
    struct owner *o = arg;
    note(o, "fence;");
    if (!o->is_late)
        (void)pmi_server_released(&o->server, true);
}

static void order(void *arg, enum pmi_call call, const void *words, size_t len)
{
    struct owner *o = arg;
    assert_true(len && !((const char *)words)[len - 1]);
    note(o, "order %d:", call);
    for (size_t i = 0; i < len; i += strlen((const char *)words + i) + 1)
        note(o, " [%s]", (const char *)words + i);
    note(o, ";");
    if (!o->is_late)
        (void)pmi_server_told(&o->server, o->order_rc, "p1");
}

static const char *folder(void *arg)
{
    (void)arg;
    return "/here";
}

static void begun(void *arg, bool is_over)
{
    note(arg, is_over ? "over;" : "begun;");
}

static void end_job(void *arg, int code, const char *message)
{
    note(arg, "abort %d %s;", code, message);
}

static const struct pmi_hooks hooks = {&pmi_dialect_2, say, put, get, enter, order, folder, begun, end_job};
static const struct pmi_process process = {
    .rank = 1, .size = 2, .app = 0, .universe = 2, .space = "kvs_1", .mapping = "(vector,(0,1,2))",
    .note = PMI_NOTE "PARENT_ROOT_PORT_NAME=tag#0$x=y$\nother=1\n"};

static struct owner *create(void)
{
    struct owner *o = calloc(1, sizeof(*o));
    assert_non_null(o);
    pmi_server_init(&o->server, &hooks, o, &process);
    return o;
}

static void destroy(struct owner *o)
{
    pmi_server_fini(&o->server);
    free(o);
}

static int tell(struct owner *o, const char *text)
{
    return pmi_server_take(&o->server, text, strlen(text));
}

static const char talk[] = "cmd=init pmi_version=1 pmi_subversion=1\n"
                           "cmd=get_maxes\ncmd=get_appnum\ncmd=get_universe_size\ncmd=get_my_kvsname\n"
                           "cmd=get kvsname=kvs_1 key=PMI_process_mapping\n"
                           "cmd=get kvsname=kvs_1 key=not_there\n"
                           "cmd=put kvsname=kvs_1 key=e0 value=a\\ b=c;d e\n"
                           "cmd=barrier_in\n"
                           "cmd=get kvsname=kvs_1 key=e0\n"
                           "cmd=get kvsname=kvs_1 key=PARENT_ROOT_PORT_NAME\n"
                           "cmd=get kvsname=other key=e0\n"
                           "cmd=put kvsname=kvs_1 key=PMI_x value=1\n"
                           "cmd=publish_name service=s1 port=p1\n"
                           "cmd=lookup_name service=s1\n"
                           "cmd=unpublish_name service=s1\n"
                           "cmd=finalize\n";
static const char answers[] = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
                              "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
                              "cmd=appnum appnum=0\ncmd=universe_size size=2\ncmd=my_kvsname kvsname=kvs_1\n"
                              "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n"
                              "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
                              "cmd=put_result rc=0 msg=success\n"
                              "cmd=barrier_out\n"
                              "cmd=get_result rc=0 msg=success value=a\\ b=c;d e\n"
                              "cmd=get_result rc=0 msg=success value=tag#0$x=y$\n"
                              "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
                              "cmd=put_result rc=-1 msg=cannot_be_kept\n"
                              "cmd=publish_result info=ok rc=0 msg=success\n"
                              "cmd=lookup_result port=p1 info=ok rc=0 msg=success\n"
                              "cmd=unpublish_result info=ok rc=0 msg=success\n"
                              "cmd=finalize_ack\n";

static void test_talk(void **state)
{
    (void)state;
    for (size_t part = 1; part <= sizeof(talk); part += part < 64 ? 1 : sizeof(talk)) {
        struct owner *o = create();
        for (size_t at = 0; at < sizeof(talk) - 1; at += part) {
            size_t len = sizeof(talk) - 1 - at < part ? sizeof(talk) - 1 - at : part;
            assert_int_equal(pmi_server_take(&o->server, talk + at, len), 0);
        }
        assert_string_equal(o->said, answers);
        assert_string_equal(o->asked, "begun;get pmi1.not_there;put pmi1.e0;fence;get pmi1.e0;order 1: [s1] [p1];"
                                      "order 3: [s1] [];order 2: [s1] [];over;");
        destroy(o);
    }
}

/* Outcomes that come later: what is said meanwhile waits. */
static void test_later(void **state)
{
    (void)state;
    struct owner *o = create();
    o->is_late = true;
    assert_int_equal(tell(o, "cmd=init pmi_version=1 pmi_subversion=1\ncmd=barrier_in\ncmd=get kvsname=kvs_1 key=k\n"
                             "cmd=get_appnum\n"), 0);
    assert_string_equal(o->asked, "begun;fence;");
    assert_int_equal(pmi_server_found(&o->server, "not waited for"), 0);
    assert_int_equal(pmi_server_told(&o->server, 0, ""), 0);
    assert_int_equal(pmi_server_released(&o->server, false), 0);
    assert_string_equal(o->asked, "begun;fence;get pmi1.k;");
    assert_int_equal(pmi_server_released(&o->server, true), 0);
    assert_int_equal(pmi_server_found(&o->server, "v"), 0);
    assert_string_equal(o->said, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
                                 "cmd=barrier_out rc=-1 msg=a_process_has_ended\n"
                                 "cmd=get_result rc=0 msg=success value=v\ncmd=appnum appnum=0\n");
    destroy(o);
}

static void test_begins_again(void **state)
{
    (void)state;
    struct owner *o = create();
    static const char once[] = "cmd=init pmi_version=1 pmi_subversion=1\ncmd=put kvsname=kvs_1 key=k value=v\ncmd=finalize\n";
    assert_int_equal(tell(o, once), 0);
    assert_int_equal(tell(o, once), 0);
    assert_string_equal(o->asked, "begun;put pmi1.k;over;begun;put pmi2.k;over;");
    destroy(o);
}

static void test_spawn(void **state)
{
    (void)state;
    static const char two[] = "cmd=init pmi_version=1 pmi_subversion=1\n"
                              "mcmd=spawn\nnprocs=2\nexecname=./a b\ntotspawns=2\nspawnssofar=1\narg1=x y\narg2=\nargcnt=2\n"
                              "preput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag=1 2\n"
                              "info_num=2\ninfo_key_0=wdir\ninfo_val_0=/tmp\ninfo_key_1=host\ninfo_val_1=h0,h1\nendcmd\n"
                              "mcmd=spawn\nnprocs=1\nexecname=c\ntotspawns=2\nspawnssofar=2\nargcnt=0\npreput_num=1\n"
                              "preput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag=1 2\ninfo_num=0\nendcmd\n";
    struct owner *o = create();
    assert_int_equal(tell(o, two), 0);
    assert_string_equal(o->asked, "begun;order 0: [pmi\nPARENT_ROOT_PORT_NAME=tag=1 2\n] [-host] [h0,h1] [-bind-to] [none]"
                                  " [-n] [2] [-wdir] [/tmp] [./a b] [x y] [] [:] [-n] [1] [-wdir] [/here] [c];");
    assert_non_null(strstr(o->said, "cmd=spawn_result rc=0\n"));
    destroy(o);
    static const char *const bad[] = {"nprocs=0\nexecname=a\n", "nprocs=1\nexecname=-a\n", "nprocs=1\n",
                                      "nprocs=1\nexecname=a\narg1=:\n", "nprocs=1\nexecname=a\ninfo_key_0=a=b\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        o = create();
        assert_int_equal(tell(o, "cmd=init pmi_version=1 pmi_subversion=1\nmcmd=spawn\n"), 0);
        assert_int_equal(tell(o, bad[i]), 0);
        assert_int_equal(tell(o, "totspawns=1\nendcmd\ncmd=get_appnum\n"), 0);
        assert_string_equal(o->asked, "begun;");
        assert_non_null(strstr(o->said, "cmd=spawn_result rc=-1 msg="));
        assert_non_null(strstr(o->said, "cmd=appnum"));
        destroy(o);
    }
}

/* Words without an end are refused, and take no more memory. */
static void test_long_spawn(void **state)
{
    (void)state;
    char line[3000] = "arg1=";
    struct owner *o = create();
    memset(line + 5, 'x', sizeof(line) - 7);
    line[sizeof(line) - 2] = '\n';
    assert_int_equal(tell(o, "cmd=init pmi_version=1 pmi_subversion=1\nmcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\n"), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(tell(o, line), 0);
    assert_true(o->server.spawn.arguments.bytes->len <= PMI_SPAWN_MAX);
    assert_int_equal(tell(o, "endcmd\n"), 0);
    assert_non_null(strstr(o->said, "cmd=spawn_result rc=-1 msg=its_words_are_too_long"));
    destroy(o);
}

static void test_rules(void **state)
{
    (void)state;
    static char many[PMI_SERVER_IN + 1];
    struct owner *o = create();
    assert_int_equal(tell(o, "cmd=put kvsname=kvs_1 key=k value=v\nmcmd=spawn\ncmd=nonsense\nrubbish\n\n"), 0);
    assert_string_equal(o->asked, "");
    assert_string_equal(o->said, "cmd=put_result rc=-1 msg=not_initialized\ncmd=_result rc=-1 msg=unknown_command\n"
                                 "cmd=nonsense_result rc=-1 msg=unknown_command\ncmd=_result rc=-1 msg=unknown_command\n"
                                 "cmd=_result rc=-1 msg=unknown_command\n");
    assert_int_equal(tell(o, "cmd=init pmi_version=3 pmi_subversion=0\n"), 0);
    assert_string_equal(o->asked, "");
    assert_int_equal(tell(o, "cmd=abort exitcode=7 message=no way\n"), 0);
    assert_string_equal(o->asked, "abort 7 no way;");
    memset(many, 'x', sizeof(many));
    assert_int_equal(pmi_server_take(&o->server, many, PMI_SERVER_IN), -EPROTO); /* a line without an end */
    assert_int_equal(tell(o, "cmd=get_appnum\n"), -EPROTO);
    destroy(o);
}

/* ---- PMI-2 ---- */

/* A frame. */
static int tell2(struct owner *o, const char *text)
{
    char all[PMI_SERVER_IN];
    snprintf(all, sizeof(all), "%-6zu%s", strlen(text), text);
    return tell(o, all);
}

static void begin2(struct owner *o)
{
    assert_int_equal(tell(o, "cmd=init pmi_version=2 pmi_subversion=0\n"), 0);
    assert_string_equal(o->said, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
    o->said[0] = 0;
    o->asked[0] = 0;
}

static void test_talk_2(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"cmd=fullinit;pmijobid=0;pmirank=1;threaded=FALSE;",
         "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=2;appnum=0;spawner-jobid=spawner;"
         "debugged=FALSE;pmiverbose=FALSE;rc=0;"},
        {"cmd=job-getid;thrid=0x7f;", "cmd=job-getid-response;thrid=0x7f;jobid=kvs_1;rc=0;"},
        {"cmd=info-getjobattr;key=PMI_process_mapping;",
         "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,1,2));rc=0;"},
        {"cmd=info-getjobattr;key=universeSize;", "cmd=info-getjobattr-response;found=TRUE;value=2;rc=0;"},
        {"cmd=info-getjobattr;key=zzz;", "cmd=info-getjobattr-response;found=FALSE;rc=0;"},
        {"cmd=info-getjobattr;key=other;", "cmd=info-getjobattr-response;found=TRUE;value=1;rc=0;"},
        {"cmd=kvs-put;key=k0;value=a b=c;;d;", "cmd=kvs-put-response;rc=0;"},
        {"cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"},
        {"cmd=kvs-get;jobid=;srcid=-1;key=k0;", "cmd=kvs-get-response;found=TRUE;value=a b=c;;d;rc=0;"},
        {"cmd=kvs-get;jobid=kvs_2;srcid=-1;key=k0;", "cmd=kvs-get-response;found=FALSE;rc=0;"},
        {"cmd=info-putnodeattr;key=n0;value=x;", "cmd=info-putnodeattr-response;rc=0;"},
        {"cmd=info-getnodeattr;key=n0;wait=TRUE;", "cmd=info-getnodeattr-response;found=TRUE;value=x;rc=0;"},
        {"cmd=info-getnodeattr;key=nope;wait=FALSE;", "cmd=info-getnodeattr-response;found=FALSE;rc=0;"},
        {"cmd=name-publish;name=s1;port=p1;infokeycount=0;", "cmd=name-publish-response;rc=0;"},
        {"cmd=name-lookup;name=s1;infokeycount=0;", "cmd=name-lookup-response;port=p1;found=TRUE;rc=0;"},
        {"cmd=name-unpublish;name=s1;infokeycount=0;", "cmd=name-unpublish-response;rc=0;"},
        {"cmd=name-publish;name=s1;", "cmd=name-publish-response;rc=1;"},
        {"cmd=nonsense;", "cmd=nonsense-response;rc=-1;errmsg=unknown command;"},
        {"cmd=spawn;ncmds=2;preputcount=1;ppkey0=P;ppval0=v;;w;subcmd=a;maxprocs=2;argc=2;argv0=x y;argv1=z;infokeycount=1;"
         "infokey0=host;infoval0=h0;subcmd=b;maxprocs=1;argc=0;infokeycount=0;",
         "cmd=spawn-response;rc=0;jobid=spawned;nerrs=0;"},
        {"cmd=spawn;ncmds=1;preputcount=0;maxprocs=2;", "cmd=spawn-response;rc=-1;errmsg=it_names_no_program;"},
        {"cmd=finalize;", "cmd=finalize-response;rc=0;"},
    };
    struct owner *o = create();
    char frame[1024];
    begin2(o);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        o->said[0] = 0;
        assert_int_equal(tell2(o, rows[i][0]), 0);
        snprintf(frame, sizeof(frame), "%6zu%s", strlen(rows[i][1]), rows[i][1]);
        assert_string_equal(o->said, frame);
    }
    assert_non_null(strstr(o->asked, "order 0: [pmi\nP=v;;w\n] [-host] [h0] [-bind-to] [none] [-n] [2] [-wdir] [/here] [a] "
                                     "[x y] [z] [:] [-n] [1] [-wdir] [/here] [b];"));
    assert_non_null(strstr(o->asked, "put pmi1@0.n0;get here pmi1@0.n0;"));
    assert_int_equal(tell(o, "cmd=init pmi_version=1 pmi_subversion=1\n"), 0); /* another program */
    destroy(o);
}

/* A value that comes later, and bytes that are no frames. */
static void test_rules_2(void **state)
{
    (void)state;
    static const char *const bad[] = {"xxxxxxcmd=", "     0cmd=job-getid;", "-10   cmd=job-getid;", "99999 cmd=job-getid;"};
    struct owner *o = create();
    begin2(o);
    assert_int_equal(tell2(o, "cmd=info-getnodeattr;key=n0;wait=TRUE;"), 0);
    assert_int_equal(pmi_server_again(&o->server), 0);
    assert_string_equal(o->said, "");
    strcpy(o->key, "pmi1@0.n0");
    strcpy(o->value, "x");
    assert_int_equal(pmi_server_again(&o->server), 0);
    assert_string_equal(o->said, "    54cmd=info-getnodeattr-response;found=TRUE;value=x;rc=0;");
    destroy(o);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        o = create();
        begin2(o);
        assert_int_equal(tell(o, bad[i]), -EPROTO);
        destroy(o);
    }
}

/* ---- places ---- */

struct nodes {
    const int *of;
};

static int node_of(const void *arg, int rank)
{
    return ((const struct nodes *)arg)->of[rank];
}

static void test_mapping(void **state)
{
    (void)state;
    static const struct {
        int ranks, node[8];
        const char *text;
    } rows[] = {{1, {0}, "(vector,(0,1,1))"},
                {4, {0, 0, 1, 1}, "(vector,(0,2,2))"},
                {5, {0, 0, 1, 1, 2}, "(vector,(0,2,2),(2,1,1))"},
                {4, {0, 1, 0, 1}, "(vector,(0,2,1),(0,2,1))"},
                {3, {1, 0, 0}, "(vector,(1,1,1),(0,1,2))"}};
    char text[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct nodes nodes = {rows[i].node};
        assert_true(pmi_mapping_write(text, sizeof(text), rows[i].ranks, node_of, &nodes));
        assert_string_equal(text, rows[i].text);
        assert_false(pmi_mapping_write(text, strlen(rows[i].text), rows[i].ranks, node_of, &nodes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_talk),  cmocka_unit_test(test_later),      cmocka_unit_test(test_begins_again),
        cmocka_unit_test(test_spawn), cmocka_unit_test(test_long_spawn), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_talk_2), cmocka_unit_test(test_rules_2), cmocka_unit_test(test_mapping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
