/* SPDX-License-Identifier: BSD-3-Clause */

/* Bytes to values: the beginning of a link, frames, messages of streams, jobs, machines, lists of
 * hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/bytes.h"
#include "bnr/wire/frame.h"
#include "bnr/wire/hello.h"
#include "bnr/wire/hosts.h"
#include "bnr/wire/hub_frame.h"
#include "bnr/wire/launch_message.h"
#include "bnr/wire/machine_message.h"
#include "bnr/wire/wish_message.h"

static const uint8_t secret[16] = "the job's secret", other[16] = "somebody else's.";

static struct hello a_hello(void)
{
    struct hello h = {.from = 3, .to = 70000, .number = 12};
    memset(h.job, 0x11, sizeof(h.job));
    memset(h.dialer_nonce, 0x22, sizeof(h.dialer_nonce));
    memset(h.listener_nonce, 0x33, sizeof(h.listener_nonce));
    return h;
}

static void both_ends_agree(void **state)
{
    struct hello dialer = a_hello(), listener = {0};
    uint8_t hello[HELLO_LEN], challenge[HELLO_CHALLENGE_LEN], proof[HELLO_PROOF_LEN];
    uint8_t keys[4][16];
    hello_put(hello, &dialer, secret);
    assert_int_equal(hello_get(hello, &listener, secret), 0);
    assert_int_equal(listener.from, 3);
    assert_int_equal(listener.to, 70000);
    assert_int_equal(listener.number, 12);
    memset(listener.listener_nonce, 0x77, HELLO_NONCE_LEN);
    hello_challenge_put(challenge, &listener, secret);
    assert_int_equal(hello_challenge_get(challenge, &dialer, secret), 0);
    hello_proof_put(proof, &dialer, secret);
    assert_int_equal(hello_proof_get(proof, &listener, secret), 0);
    hello_keys(&dialer, secret, keys[0], keys[1]);
    hello_keys(&listener, secret, keys[2], keys[3]);
    assert_memory_equal(keys[0], keys[2], 16);
    assert_memory_equal(keys[1], keys[3], 16);
    assert_memory_not_equal(keys[0], keys[1], 16);
    assert_memory_not_equal(keys[0], keys[0] + 8, 8);
    listener.listener_nonce[0] ^= 1; /* another link */
    assert_int_equal(hello_proof_get(proof, &listener, secret), -EPROTO);
    hello_keys(&listener, secret, keys[2], keys[3]);
    assert_memory_not_equal(keys[0], keys[2], 16);
}

static void strangers_and_changes_are_refused(void **state)
{
    struct hello h = a_hello(), got = a_hello();
    uint8_t hello[HELLO_LEN], challenge[HELLO_CHALLENGE_LEN], proof[HELLO_PROOF_LEN];
    hello_put(hello, &h, other);
    assert_int_equal(hello_get(hello, &got, secret), -EPROTO);
    hello_put(hello, &h, secret);
    hello_challenge_put(challenge, &h, secret);
    hello_proof_put(proof, &h, secret);
    for (size_t i = 0; i < 8 * sizeof(hello); i++) {
        hello[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(hello_get(hello, &got, secret), -EPROTO);
        hello[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < 8 * sizeof(challenge); i++) {
        challenge[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(hello_challenge_get(challenge, &got, secret), -EPROTO);
        challenge[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < 8 * sizeof(proof); i++) {
        proof[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(hello_proof_get(proof, &got, secret), -EPROTO);
        proof[i / 8] ^= (uint8_t)(1u << i % 8);
    }
}

static void frames_come_once_in_order_unchanged(void **state)
{
    struct frame_link out, in;
    struct core_message got, message = {.kind = MESSAGE_FENCE,
                                        .mode = 1,
                                        .status = 2,
                                        .flags = 3,
                                        .origin = 0x01020304,
                                        .to = 5,
                                        .tag = 6,
                                        .group = 7ull << 40,
                                        .number = 8,
                                        .other = UINT64_MAX,
                                        .data = bytes_create("data", 4)};
    size_t len;
    frame_link_init(&out, secret);
    frame_link_init(&in, secret);
    struct bytes *one = frame_pack(&out, &message), *two = frame_pack(&out, &message);
    assert_int_equal(frame_len(one->at, &len), 0);
    assert_int_equal(len, one->len);
    assert_int_equal(frame_unpack(&in, two->at, two->len, &got), -EPROTO); /* not its turn */
    for (size_t i = 0; i < 8 * one->len; i++) {
        one->at[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(frame_unpack(&in, one->at, one->len, &got), -EPROTO);
        one->at[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    assert_int_equal(frame_unpack(&in, one->at, one->len, &got), 0);
    assert_memory_equal(got.data->at, "data", 4);
    bytes_unref(got.data);
    got.data = message.data;
    assert_memory_equal(&got, &message, offsetof(struct core_message, data));
    assert_int_equal(frame_unpack(&in, one->at, one->len, &got), -EPROTO); /* again */
    assert_int_equal(frame_unpack(&in, two->at, two->len, &got), 0);
    bytes_unref(got.data);
    frame_link_init(&in, other);
    assert_int_equal(frame_unpack(&in, one->at, one->len, &got), -EPROTO); /* another link */
    one->at[0] = 0x7f;
    assert_int_equal(frame_len(one->at, &len), -EPROTO);
    bytes_unref(one);
    bytes_unref(two);
    bytes_unref(message.data);
}

/* As name:slots, with ? where no number was given, <max_slots, user@. */
static void show(const struct hosts *h, char *text, size_t room)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < h->count && at < room; i++) {
        const struct hosts_entry *e = &h->items[i];
        at += (size_t)snprintf(text + at, room - at, "%s%s%s%s:%u%s", i ? " " : "",
                               e->user ? e->user : "", e->user ? "@" : "", e->name, e->slots,
                               e->has_slots ? "" : "?");
        if (e->max_slots && at < room)
            at += (size_t)snprintf(text + at, room - at, "<%u", e->max_slots);
    }
}

struct host_row {
    const char *text, *tasks; /* tasks: Slurm's */
    const char *hosts;        /* NULL: refused */
    const char *problem;      /* a part of it */
};

typedef int read_fn(struct hosts *h, const struct host_row *row);

static void read_rows(const struct host_row *rows, read_fn *read)
{
    for (; rows->text; rows++) {
        struct hosts h = {0};
        char text[1024];
        int rc = read(&h, rows);
        show(&h, text, sizeof(text));
        if (rows->hosts ? rc || strcmp(text, rows->hosts)
                        : rc != -EPROTO || !strstr(h.problem, rows->problem))
            fail_msg("'%s': %d, '%s', '%s'", rows->text, rc, text, h.problem);
        hosts_fini(&h);
    }
}

static int read_list(struct hosts *h, const struct host_row *row)
{
    return hosts_add_list(h, row->text, strlen(row->text));
}

static int read_file(struct hosts *h, const struct host_row *row)
{
    return hosts_add_file(h, row->text, strlen(row->text));
}

static int read_slurm(struct hosts *h, const struct host_row *row)
{
    return hosts_add_slurm(h, row->text, row->tasks);
}

static void lists_are_read(void **state)
{
    static const struct host_row rows[] = {
        {"a", NULL, "a:1?", NULL},
        {"a,b,c", NULL, "a:1? b:1? c:1?", NULL},
        {"a:4, b:2", NULL, "a:4 b:2", NULL},
        {"a,b,a", NULL, "a:2? b:1?", NULL},
        {"a:2,a:3", NULL, "a:5", NULL},
        {"n[1-3,07]:2,m", NULL, "n1:2 n2:2 n3:2 n07:2 m:1?", NULL},
        {"n[08-11]x", NULL, "n08x:1? n09x:1? n10x:1? n11x:1?", NULL},
        {"10.0.0.1:3,[fd00::1]:8,fd00::2", NULL, "10.0.0.1:3 fd00::1:8 fd00::2:1?", NULL},
        {"node-1.cluster_a.example", NULL, "node-1.cluster_a.example:1?", NULL},
        {"me@a:2,you@n[1-2],b", NULL, "me@a:2 you@n1:1? you@n2:1? b:1?", NULL},
        {"me@[fd00::1]:8", NULL, "me@fd00::1:8", NULL},
        {"-me@a", NULL, NULL, "no name of a user"},
        {"me@", NULL, NULL, "'' is no name of a host"},
        {"@a", NULL, NULL, "no name of a user"},
        {"me@you@a", NULL, NULL, "no name of a host"},
        {"", NULL, NULL, "empty"},
        {"a,,b", NULL, NULL, "no name"},
        {"a:0", NULL, NULL, "slots"},
        {"a:x", NULL, NULL, "slots"},
        {"a:-1", NULL, NULL, "slots"},
        {"a:9999999", NULL, NULL, "slots"},
        {"-oProxyCommand=x", NULL, NULL, "no name"},
        {"a b", NULL, NULL, "no name"},
        {"n[1-3", NULL, NULL, "not closed"},
        {"n[]", NULL, NULL, "empty"},
        {"n[3-1]", NULL, NULL, "no range"},
        {"n[1-]", NULL, NULL, "no range"},
        {"n[1-2][3-4]", NULL, NULL, "more than one"},
        {"n[1-999999999]", NULL, NULL, "no range"},
        {0}};
    read_rows(rows, read_list);
}

static void files_are_read(void **state)
{
    static const struct host_row rows[] = {
        {"a\nb\n", NULL, "a:1? b:1?", NULL},
        {"a:4\nb:2", NULL, "a:4 b:2", NULL},
        {"# all of them\n\n a slots=4 # one\nb\tslots=2 max_slots=8\r\n", NULL, "a:4 b:2<8", NULL},
        {"a slots=2 max-slots=4\na slots=2\n", NULL, "a:4<4", NULL},
        {"root@a slots=2\n", NULL, "root@a:2", NULL},
        {"a\na\na\n", NULL, "a:3?", NULL},
        {"a slots=2 user=root\nb user=me", NULL, "root@a:2 me@b:1?", NULL},
        {"a user=-l\n", NULL, NULL, "line 1: '-l' is no name of a user"},
        {"fd00::1 slots=2\n", NULL, "fd00::1:2", NULL},
        {"a slots = 2 max_slots= 4\nb slots =3", NULL, "a:2<4 b:3", NULL},
        {"n[1-3]\nm[1,7] slots=2 user = me", NULL, "n1:1? n2:1? n3:1? me@m1:2 me@m7:2", NULL},
        {"[fd00::1]:2\nn[2-3]:4", NULL, "fd00::1:2 n2:4 n3:4", NULL},
        {"a slots =\n", NULL, NULL, "line 1: 'slots'"},
        {"a = 2\n", NULL, NULL, "line 1: '= 2'"},
        {"n[1-\n", NULL, NULL, "not closed"},
        {"", NULL, NULL, "no line"},
        {"# nothing\n", NULL, NULL, "no line"},
        {"a\nb slots=\n", NULL, NULL, "line 2: 'slots='"},
        {"a\n\nb slots=4 binding=user\n", NULL, NULL, "line 3: 'binding=user' is not known"},
        {"a slots=4 max_slots=2\n", NULL, NULL, "max_slots=2"},
        {"a b\n", NULL, NULL, "'b' is not known here: slots=N, max_slots=N and user=NAME are, and each "
                              "host has a line"},
        {"a\001b\n", NULL, NULL, "'a?b'"},
        {"x;y@a\n", NULL, NULL, "user"},
        {0}};
    read_rows(rows, read_file);
}

static int read_words(struct hosts *h, const struct host_row *row)
{
    return hosts_add_batch(h, HOSTS_WORDS, row->text, strlen(row->text));
}

static int read_pairs(struct hosts *h, const struct host_row *row)
{
    return hosts_add_batch(h, HOSTS_PAIRS, row->text, strlen(row->text));
}

static int read_rows_of_numbers(struct hosts *h, const struct host_row *row)
{
    return hosts_add_batch(h, HOSTS_ROWS, row->text, strlen(row->text));
}

static void other_systems_are_read(void **state)
{
    static const struct host_row words[] = {{"a\nb\na\n", NULL, "a:2 b:1", NULL},
                                            {" a  b c", NULL, "a:1 b:1 c:1", NULL},
                                            {" \n ", NULL, NULL, "no host"},
                                            {"a\n$(x)\n", NULL, NULL, "'$(x)' is no name"},
                                            {0}};
    static const struct host_row pairs[] = {{"a 4 b 2 a 1", NULL, "a:5 b:2", NULL},
                                            {"a 4 b", NULL, NULL, "'' behind host b"},
                                            {"a 0", NULL, NULL, "'0' behind host a"},
                                            {0}};
    static const struct host_row table[] = {{"a 4 q@a UNDEFINED\n\nb 2\n", NULL, "a:4 b:2", NULL},
                                            {"a\n4 b", NULL, NULL, "'' behind host a"},
                                            {0}};
    read_rows(words, read_words);
    read_rows(pairs, read_pairs);
    read_rows(table, read_rows_of_numbers);
}

static void slurm_is_read(void **state)
{
    static const struct host_row rows[] = {
        {"n[1-2]", "2(x2)", "n1:2 n2:2", NULL},
        {"n[1-3,07],m", "4(x3),2,1", "n1:4 n2:4 n3:4 n07:2 m:1", NULL},
        {"n1", "16", "n1:16", NULL},
        {"n1,n2", NULL, "n1:1? n2:1?", NULL},
        {"rack1-n[001-003]", "8(x3)", "rack1-n001:8 rack1-n002:8 rack1-n003:8", NULL},
        {"", "1", NULL, "empty"},
        {"n[1-2]", "2(x3)", NULL, "more hosts"},
        {"n[1-3]", "2(x2)", NULL, "fewer hosts"},
        {"n1", "2(x)", NULL, "number of tasks"},
        {"n1", "2(1)", NULL, "number of tasks"},
        {"n1", "(x2)", NULL, "number of tasks"},
        {"n1", "2(x1", NULL, "number of tasks"},
        {0}};
    read_rows(rows, read_slurm);
}

/* ---- wishes ---- */

static void wishes_travel(void **state)
{
    const struct start_wish wish = {.is_wanted = true,
                                    .map = PLACEMENT_NUMA,
                                    .rank_by = PLACEMENT_SLOT,
                                    .bind = PLACEMENT_CORE,
                                    .pe = 3,
                                    .may_overload = true,
                                    .stop = START_STOP_INIT,
                                    .agent = "env -i",
                                    .limits_gpus = true,
                                    .gpus = 2,
                                    .memory = START_MEMORY_BIND,
                                    .nodes = {5, [15] = 1},
                                    .user = "",
                                    .terminals = "1,3",
                                    .rows = 24,
                                    .columns = 80,
                                    .list = "0,2-5",
                                    .rankfile = "rank 0=a slot=0\n"};
    struct packing p = {0};
    struct start_wish got;
    (void)state;
    wish_pack(&p, &wish);
    struct bytes *all = pack_end(&p);
    assert_non_null(all);
    struct unpacking u = unpack_begin(all);
    wish_unpack(&u, &got);
    assert_false(u.failed);
    assert_int_equal(u.left, 0);
    assert_true(got.is_wanted && got.may_overload && got.limits_gpus);
    assert_false(got.is_filling || got.debugs || got.names_ranks || got.by_thread);
    assert_int_equal(got.map, PLACEMENT_NUMA);
    assert_int_equal(got.bind, PLACEMENT_CORE);
    assert_int_equal(got.pe, 3);
    assert_int_equal(got.gpus, 2);
    assert_int_equal(got.memory, START_MEMORY_BIND);
    assert_int_equal(got.nodes[0], 5);
    assert_int_equal(got.nodes[15], 1);
    assert_int_equal(got.stop, START_STOP_INIT);
    assert_string_equal(got.agent, "env -i");
    assert_string_equal(got.user, "");
    assert_string_equal(got.terminals, "1,3");
    assert_int_equal(got.rows, 24);
    assert_int_equal(got.columns, 80);
    assert_string_equal(got.list, "0,2-5");
    assert_string_equal(got.rankfile, "rank 0=a slot=0\n");
    assert_int_equal(got.file.count, 1);
    assert_null(got.allowed);
    wish_fini(&got);
    for (size_t len = 0; len < all->len; len++) { /* whatever is cut off */
        struct unpacking cut = {.at = all->at, .left = len};
        wish_unpack(&cut, &got);
        assert_true(cut.failed);
        wish_fini(&got);
    }
    for (size_t word = 0; word < 19; word++) { /* flags, levels, numbers that there are not */
        uint8_t *at = all->at + 4 * word, old = at[0];
        struct unpacking bad = unpack_begin(all);
        at[0] = 0xff;
        wish_unpack(&bad, &got);
        assert_true(bad.failed);
        wish_fini(&got);
        at[0] = old;
    }
    bytes_unref(all);
}

/* ---- jobs ---- */

enum { PROGRAMS = 400, VARIABLES = 12, LONG = 100000 };

/* A job of many programs that share a long environment, but for one text. Returns its bytes. */
static struct bytes *packed_job(struct launch_app *apps, uint32_t count)
{
    static uint32_t app_of[PROGRAMS], host_of[PROGRAMS];
    struct launch_host host = {0, 1, "id", "name"};
    struct launch_message job = {.world_size = count,
                                 .app_count = count,
                                 .host_count = 1,
                                 .blocked = 1ull << 63,
                                 .ignored = 2,
                                 .outer = "",
                                 .apps = apps,
                                 .app_of = app_of,
                                 .host_of = host_of,
                                 .hosts = &host};
    struct packing p = {0};
    for (uint32_t i = 0; i < count; i++)
        app_of[i] = i;
    launch_pack(&p, &job);
    struct bytes *all = pack_end(&p);
    assert_non_null(all);
    return all;
}

static void programs_share_what_is_the_same(void **state)
{
    static struct launch_app apps[PROGRAMS];
    static char variables[VARIABLES][LONG], own[PROGRAMS][16];
    static char *arguments[] = {"program", NULL}, *environments[PROGRAMS][VARIABLES + 2];
    struct launch_message got;
    (void)state;
    for (int v = 0; v < VARIABLES; v++)
        memset(variables[v], 'a' + v, LONG - 1);
    for (int i = 0; i < PROGRAMS; i++) {
        for (int v = 0; v < VARIABLES; v++)
            environments[i][v] = variables[v];
        snprintf(own[i], sizeof(own[i]), "OWN=%d", i);
        environments[i][VARIABLES] = own[i];
        apps[i] = (struct launch_app){
            .name = "program", .wdir = "/", .argv = arguments, .environment = environments[i]};
    }
    struct bytes *all = packed_job(apps, PROGRAMS);
    assert_in_range(all->len, VARIABLES * (LONG - 1), 2 * VARIABLES * LONG);
    assert_int_equal(launch_unpack(unpack_begin(all), &got), 0);
    assert_int_equal(got.app_count, PROGRAMS);
    assert_true(got.blocked == 1ull << 63 && got.ignored == 2);
    for (int i = 0; i < PROGRAMS; i++) {
        assert_string_equal(got.apps[i].argv[0], "program");
        assert_null(got.apps[i].argv[1]);
        assert_ptr_equal(got.apps[i].environment[3], got.apps[0].environment[3]);
        assert_string_equal(got.apps[i].environment[VARIABLES], own[i]);
        assert_null(got.apps[i].environment[VARIABLES + 1]);
    }
    assert_string_equal(got.apps[7].environment[3], variables[3]);
    launch_fini(&got);
    bytes_unref(all);
}

static void jobs_that_are_cut_or_changed_are_refused(void **state)
{
    static char *arguments[] = {"program", NULL}, *environment[] = {"A=1", "B=2", NULL};
    struct launch_app app = {
        .name = "program", .wdir = "/", .argv = arguments, .environment = environment};
    struct launch_message got;
    (void)state;
    struct bytes *all = packed_job(&app, 1);
    for (size_t len = 0; len < all->len; len++) {
        assert_int_equal(launch_unpack((struct unpacking){all->at, len, false}, &got), -EPROTO);
        launch_fini(&got);
    }
    for (size_t i = 0; i < all->len; i++) /* a huge number anywhere does no harm */
        for (uint8_t byte = 0x7f; byte; byte = byte == 0x7f ? 0xff : 0) {
            uint8_t old = all->at[i];
            all->at[i] = byte;
            if (!launch_unpack(unpack_begin(all), &got))
                for (char **e = got.apps[0].environment; *e; e++)
                    assert_true(strlen(*e) < 4);
            launch_fini(&got);
            all->at[i] = old;
        }
    bytes_unref(all);
}

static void messages_of_streams_are_read_as_written(void **state)
{
    uint8_t bytes[HUB_FRAME_HEAD + 3];
    const struct hub_message m = {
        HUB_FRAGMENT,           HUB_GAP, HUB_HOLD, 1, 2, 3, -1, 16, 1ull << 40, 5, 6,
        (const uint8_t *)"abc", 3, 0};
    struct hub_message got;
    (void)state;
    hub_frame_head(bytes, &m);
    memcpy(bytes + HUB_FRAME_HEAD, m.data, 3);
    for (size_t i = 0; i < sizeof(bytes); i++)
        assert_int_equal(hub_frame_unpack(bytes, i, &got), 0);
    assert_int_equal(hub_frame_unpack(bytes, sizeof(bytes), &got), sizeof(bytes));
    assert_memory_equal(got.data, "abc", 3);
    got.data = m.data;
    assert_int_equal(got.kind, m.kind);
    assert_int_equal(got.flags, m.flags);
    assert_int_equal(got.policy, m.policy);
    assert_int_equal(got.id, 1);
    assert_int_equal(got.stream, 2);
    assert_int_equal(got.status, 3);
    assert_int_equal(got.rank, -1);
    assert_int_equal(got.tag, 16);
    assert_int_equal(got.off, 1ull << 40);
    assert_int_equal(got.head, 5);
    assert_int_equal(got.taken, 6);
    bytes[0] = 1;
    assert_int_equal(hub_frame_unpack(bytes, sizeof(bytes), &got), -EPROTO);
}

/* Bytes go through text, and a text that ends amid a byte, or has others, gives the bytes before. */
static void digits_come_back(void **state)
{
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xab, 0xff};
    static const struct {
        const char *text;
        uint32_t len;
    } odd[] = {{"", 0}, {"a", 0}, {"0aF", 1}, {"0aFf", 2}, {"00 1", 1}, {"g0", 0}, {"0x11", 0}, {"ab\n", 1}};
    char text[2 * sizeof(bytes) + 1];
    struct packing p = {0};
    (void)state;
    bytes_digits(text, bytes, sizeof(bytes));
    assert_string_equal(text, "00017f80abff");
    pack_digits(&p, text);
    struct bytes *all = pack_end(&p);
    assert_int_equal(all->len, sizeof(bytes));
    assert_memory_equal(all->at, bytes, sizeof(bytes));
    bytes_unref(all);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct packing some = {0};
        pack_digits(&some, odd[i].text);
        all = pack_end(&some);
        assert_int_equal(all->len, odd[i].len);
        bytes_unref(all);
    }
}

static struct bytes *packed_machine(const struct machine_told *told)
{
    struct packing p = {0};
    machine_pack(&p, told);
    return pack_end(&p);
}

static void machines_come_back(void **state)
{
    struct placement_cpu cpus[3] = {{.os_index = 0}, {.os_index = 7}, {.os_index = 14, .is_near = true}};
    struct machine_told after, before = {.cpus = cpus, .machine = {cpus, 3, 0x60}, .is_own = true};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t level = 0; level < PLACEMENT_NODE; level++)
            cpus[i].object[level] = 1 + (level < PLACEMENT_L3 ? i : i / 2);
    struct bytes *all = packed_machine(&before);
    assert_int_equal(machine_unpack(unpack_begin(all), &after), 0);
    assert_true(after.is_own);
    assert_null(after.problem);
    assert_int_equal(after.machine.lacks, 0x60);
    assert_int_equal(after.machine.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(after.cpus[i].os_index, cpus[i].os_index);
        assert_int_equal(after.cpus[i].is_near, cpus[i].is_near);
        assert_memory_equal(after.cpus[i].object, cpus[i].object, sizeof(cpus[i].object));
    }
    machine_fini(&after);
    for (size_t cut = 0; cut < all->len; cut++) {
        assert_int_equal(machine_unpack((struct unpacking){all->at, cut, false}, &after), -EPROTO);
        machine_fini(&after);
    }
    bytes_unref(all);
}

static void machines_that_are_not_known_say_why(void **state)
{
    struct machine_told after, before = {.problem = "there is no hwloc here"};
    struct bytes *all = packed_machine(&before);
    assert_int_equal(machine_unpack(unpack_begin(all), &after), 0);
    assert_string_equal(after.problem, "there is no hwloc here");
    assert_int_equal(after.machine.count, 0);
    machine_fini(&after);
    bytes_unref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wishes_travel),
        cmocka_unit_test(digits_come_back),
        cmocka_unit_test(programs_share_what_is_the_same),
        cmocka_unit_test(jobs_that_are_cut_or_changed_are_refused),
        cmocka_unit_test(both_ends_agree),
        cmocka_unit_test(strangers_and_changes_are_refused),
        cmocka_unit_test(frames_come_once_in_order_unchanged),
        cmocka_unit_test(messages_of_streams_are_read_as_written),
        cmocka_unit_test(machines_come_back),
        cmocka_unit_test(machines_that_are_not_known_say_why),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(slurm_is_read),
        cmocka_unit_test(other_systems_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
