/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Any text as a list of hosts, a file of them, what batch systems tell, Slurm's two variables (the
 * second after a byte of 0), a rankfile, a list of processors, an order, a job and its wishes as a daemon gets them, a machine
 * as a daemon tells of it, a call about a name and its answer, and as the beginning of a link: read or refused, with a problem that can be
 * shown.
 *
 * usage: fuzz_hosts FILE...
 */
#include <ctype.h>
#include <errno.h>

#include "bnr/core/place/placement.h"
#include "bnr/wire/hello.h"
#include "bnr/wire/hosts.h"
#include "bnr/wire/launch_message.h"
#include "bnr/wire/machine_message.h"
#include "bnr/wire/name_message.h"
#include "bnr/wire/wish_message.h"
#include "test/fuzz/main.h"

static void look(struct hosts *h, int rc)
{
    require(rc == 0 || rc == -EPROTO, "a text is read, or refused");
    require(rc == 0 || h->problem[0], "a refusal says why");
    for (const char *c = h->problem; *c; c++)
        require(isprint((unsigned char)*c), "a problem can be shown");
    require(h->count <= HOSTS_COUNT_MAX && (rc || h->count), "so many hosts");
    for (size_t i = 0; i < h->count; i++) {
        const struct hosts_entry *e = &h->items[i];
        require(e->name[0] && e->name[0] != '-' && strlen(e->name) <= HOSTS_NAME_MAX,
                "a name is one");
        require(e->slots >= 1 && e->slots <= HOSTS_SLOTS_MAX, "slots are in bounds");
        require(!strpbrk(e->name, " ;|&$`'\"\\\n/"), "a shell finds nothing in a name");
    }
    hosts_fini(h);
}

static void place_by_file(const char *text, size_t len, const struct placement_machine *machine)
{
    static const char *const list[] = {"a", "here"};
    const struct placement_names names = {list, 2, 1};
    struct placement_file f;
    struct placement p = {0};
    uint32_t hosts[16];
    int rc = placement_file_read(&f, text, len);
    require(rc == 0 || (rc == -EINVAL && f.problem[0]), "a rankfile is read, or refused");
    uint32_t ranks = f.count < 16 ? f.count : 16;
    if (!rc) {
        rc = placement_file_hosts(&f, &names, ranks, hosts, p.problem);
        require(rc == 0 || (rc == -EINVAL && p.problem[0]), "its hosts are known, or refused");
    }
    for (uint32_t i = 0; !rc && i < ranks; i++)
        require(hosts[i] < 2, "each rank has a host");
    if (!rc) {
        const struct placement_share share = {
            .file = &f, .machine = machine, .host = "a", .ranks = ranks};
        rc = placement_bind_file(&p, &share);
        require(rc == 0 || (rc == -EINVAL && p.problem[0]), "its cores are there, or refused");
    }
    for (uint32_t i = 0; i < p.count; i++)
        require(p.ranks[i].cpu_count >= 1 && p.ranks[i].cpu_count <= 4, "each rank is somewhere");
    placement_fini(&p);
    placement_file_fini(&f);
}

/* The user's wishes, as a daemon gets them. */
static void wish(const uint8_t *bytes, size_t len, const struct placement_machine *machine)
{
    struct unpacking u = {.at = bytes, .left = len};
    struct start_wish got;
    wish_unpack(&u, &got);
    if (!u.failed) {
        require(got.map <= PLACEMENT_SLOT && got.bind <= PLACEMENT_NONE, "levels are in bounds");
        require(!got.rankfile || strlen(got.rankfile) <= PLACEMENT_FILE_MAX, "so is the rankfile");
        if (got.rankfile)
            place_by_file(got.rankfile, strlen(got.rankfile), machine);
    }
    wish_fini(&got);
}

/* All of a job, as a daemon gets it. */
static void launch(const uint8_t *bytes, size_t len)
{
    struct launch_message job;
    int rc = launch_unpack((struct unpacking){.at = bytes, .left = len}, &job);
    require(rc == 0 || rc == -EPROTO || rc == -ENOMEM, "a job is taken, or refused");
    for (uint32_t a = 0; !rc && a < job.app_count; a++)
        require(job.apps[a].name && job.apps[a].wdir && job.apps[a].argv[0], "a program is whole");
    for (uint32_t r = 0; !rc && r < job.world_size; r++)
        require(job.app_of[r] < job.app_count && job.host_of[r] < job.host_count,
                "each rank has a program and a host");
    launch_fini(&job);
}

static void order(const uint8_t *bytes, size_t len)
{
    struct launch_order got;
    int rc = order_unpack(bytes, len, &got);
    require(rc == 0 || rc == -EPROTO, "an order is taken, or refused");
    require(rc || (got.self >= 1 && got.self < got.count), "it is of one of the nodes");
}

/* The processors of another host: ranks are placed on them. */
static void machine(const uint8_t *bytes, size_t len)
{
    struct machine_told told;
    int rc = machine_unpack((struct unpacking){.at = bytes, .left = len}, &told);
    require(rc == 0 || rc == -EPROTO || rc == -ENOMEM, "a machine is taken, or refused");
    for (enum placement_level level = 0; !rc && told.machine.count && level < PLACEMENT_NODE; level++) {
        struct placement_host host = {"a", 0, 0, &told.machine};
        struct placement p;
        uint32_t objects = placement_objects(&told.machine, level);
        require(objects >= 1 && objects <= told.machine.count, "its objects can be counted");
        rc = placement_make(&p, &(struct placement_request){.hosts = &host,
                                                            .host_count = 1,
                                                            .ranks = 3,
                                                            .map = level,
                                                            .rank_by = PLACEMENT_CORE,
                                                            .is_spread = true,
                                                            .is_spanning = true,
                                                            .bind = PLACEMENT_L2,
                                                            .may_overload = true});
        require(rc == 0 || (rc == -EINVAL && p.problem[0]), "ranks are placed, or refused");
        for (uint32_t i = 0; i < p.count; i++)
            require(p.ranks[i].cpu_count >= 1 &&
                        p.ranks[i].cpus[p.ranks[i].cpu_count - 1] < told.machine.count,
                    "each is bound to processors that there are");
        placement_fini(&p);
        rc = 0;
    }
    machine_fini(&told);
}

/* A call about a name, and an answer. */
static void name(const uint8_t *bytes, size_t len)
{
    const struct unpacking u = {.at = bytes, .left = len};
    struct name_ask ask;
    struct name_answer answer;
    int rc = name_ask_unpack(u, &ask);
    require(rc == -EPROTO || (rc == 0 && ask.name && ask.text), "a call is taken, or refused");
    require(rc || (ask.call >= NAME_PUBLISH && ask.call <= NAME_FIND && strlen(ask.name) <= NAME_MAX_LEN &&
                   strlen(ask.text) <= NAME_MAX_LEN),
            "it is one of the calls, about a name");
    name_ask_fini(&ask);
    rc = name_answer_unpack(u, &answer);
    require(rc == -EPROTO || (rc == 0 && answer.text && strlen(answer.text) <= NAME_MAX_LEN && answer.error < 4096),
            "an answer is taken, or refused");
    name_answer_fini(&answer);
}

static void place(const char *text, const char *exact, size_t len)
{
    struct placement_cpu cpus[4] = {0};
    struct placement_machine machine = {cpus, 4, 0};
    struct placement_host host = {"a", 0, 0, &machine};
    struct placement p;
    char problem[PLACEMENT_PROBLEM_LEN] = "";
    uint32_t count = 4;
    for (uint32_t i = 0; i < 4; i++) {
        cpus[i].os_index = i;
        cpus[i].object[PLACEMENT_CORE] = i;
        cpus[i].object[PLACEMENT_PACKAGE] = i / 2;
    }
    place_by_file(exact, len, &machine);
    wish((const uint8_t *)exact, len, &machine);
    int rc = placement_make(&p, &(struct placement_request){.hosts = &host,
                                                        .host_count = 1,
                                                        .ranks = 2,
                                                        .map = PLACEMENT_SLOT,
                                                        .rank_by = PLACEMENT_SLOT,
                                                        .bind = PLACEMENT_NONE});
    require(rc == 0, "two ranks are placed");
    rc = placement_bind_list(
        &p, &(struct placement_words){&machine, text, PLACEMENT_BY_SYSTEM, len % 2});
    require(rc == 0 || (rc == -EINVAL && p.problem[0]), "a list binds, or is refused");
    for (uint32_t i = 0; rc == 0 && i < p.count; i++)
        require(p.ranks[i].cpu_count >= 1 && p.ranks[i].cpu_count <= 4, "each rank is somewhere");
    placement_fini(&p);
    for (enum placement_unit unit = PLACEMENT_BY_SYSTEM; unit <= PLACEMENT_BY_THREAD; unit++) {
        count = 4;
        rc = placement_restrict(cpus, &count, text, unit, problem);
        require(rc == 0 ? count >= 1 && count <= 4 : rc == -EINVAL && problem[0],
                "a list is read, or refused");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const uint8_t secret[16];
    struct hosts h = {0};
    struct hello hello = {0};
    char *text = malloc(len + 1), *exact = malloc(len ? len : 1);
    require(text && exact, "memory");
    memcpy(text, bytes, len);
    memcpy(exact, bytes, len);
    text[len] = 0;
    look(&h, hosts_add_list(&h, exact, len));
    look(&h, hosts_add_file(&h, exact, len));
    size_t nodes = strlen(text);
    for (enum hosts_form form = HOSTS_WORDS; form <= HOSTS_ROWS; form++)
        look(&h, hosts_add_batch(&h, form, exact, len));
    look(&h, hosts_add_slurm(&h, text, nodes < len ? text + nodes + 1 : NULL));
    if (len >= HELLO_LEN)
        require(hello_get(bytes, &hello, secret) == -EPROTO, "nobody guesses a proof");
    launch(bytes, len);
    order(bytes, len);
    machine(bytes, len);
    name(bytes, len);
    place(text, exact, len);
    free(text);
    free(exact);
    return 0;
}
