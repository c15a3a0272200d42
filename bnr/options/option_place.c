/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Options about where ranks run, in the words of both dialects:
 *
 *   --map-by WORD[:qualifiers], ppr:N:WORD[:qualifiers], pe-list=LIST, rankfile, seq
 *   --rank-by WORD[:span], span, fill
 *   --bind-to WORD[:N][:qualifiers], user:LIST, rr, cpu-list, none
 *
 * Qualifiers are parted by colons or commas, and may come in any case.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bnr/launch/hardware.h"
#include "bnr/options/option_reader.h"

/* The words of an option's value, one after the other. */
struct place_words {
    struct reader *r;
    const char *option, *text; /* for messages */
    const char *at;
    size_t len; /* of the word at at */
};

/* Step to the next word; false at the end. */
static bool next_word(struct place_words *w)
{
    w->at += w->len;
    if (!*w->at && w->len)
        return false;
    w->at += w->len && (*w->at == ':' || *w->at == ',');
    w->len = strcspn(w->at, ":,");
    return w->len > 0;
}

static bool is_word(const struct place_words *w, const char *word)
{
    return strlen(word) == w->len && !strncasecmp(w->at, word, w->len);
}

/* The value of a word NAME=VALUE, into text; false for another word. */
static bool has_value(const struct place_words *w, const char *name, char *text, size_t size)
{
    size_t len = strlen(name);
    if (w->len <= len || w->at[len] != '=' || strncasecmp(w->at, name, len))
        return false;
    snprintf(text, size, "%.*s", (int)(w->len - len - 1), w->at + len + 1);
    return true;
}

static bool is_number(const struct place_words *w, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)w->len, w->at);
    return w->len > 0 && w->len < size && text[strspn(text, "0123456789")] == 0;
}

static int unknown(const struct place_words *w, const char *what)
{
    return reader_refuse(w->r, "'%s %s': %s, not '%.*s'", w->option, w->text, what, (int)w->len,
                         w->at);
}

/* All words are read: none is missing behind the last separator, or between two. */
static int check_end(const struct place_words *w)
{
    bool is_whole = !*w->at && (w->at == w->text || (w->at[-1] != ':' && w->at[-1] != ','));
    return is_whole ? 0 : unknown(w, "a qualifier is missing");
}

static int take_count(const struct place_words *w, const char *text, uint32_t *count)
{
    int number;
    int rc = reader_number(w->r, w->option, text, 1, &number);
    if (!rc)
        *count = (uint32_t)number;
    return rc;
}

/* ---- mapping ---- */

int option_place_rankfile(struct reader *r, const char *option, const char *name)
{
    struct start_wish *place = &r->o->plan.start;
    placement_file_fini(&place->file);
    int rc = reader_file(r, option, name, &place->rankfile);
    if (rc)
        return rc;
    r->rankfile = strdup(name);
    rc = reader_push(&r->o->words, r->rankfile);
    if (rc)
        return rc;
    rc = placement_file_read(&place->file, place->rankfile, strlen(place->rankfile));
    return rc == -EINVAL ? reader_refuse(r, "'%s %s': %s", option, name, place->file.problem) : rc;
}

/* file=NAME of a mapping by rankfile, or by a file of hosts */
static int map_file(struct place_words *w)
{
    char *name = strndup(w->at + 5, w->len - 5);
    int rc = !name                          ? -ENOMEM
             : w->r->o->plan.start.is_sequential ? option_hosts_take_file(w->r, w->option, name)
                                            : option_place_rankfile(w->r, w->option, name);
    free(name);
    return rc;
}

static int map_qualifier(struct place_words *w)
{
    struct start_wish *place = &w->r->o->plan.start;
    char text[32];
    if (has_value(w, "pe", text, sizeof(text)))
        return take_count(w, text, &place->pe);
    if (is_number(w, text, sizeof(text)))
        return take_count(w, text, &place->map_width);
    if (is_word(w, "span"))
        place->is_spread = true;
    else if (is_word(w, "oversubscribe"))
        place->is_limited = false;
    else if (is_word(w, "nooversubscribe"))
        place->is_limited = true;
    else if (is_word(w, "hwtcpus"))
        place->by_thread = true;
    else if (is_word(w, "corecpus"))
        place->by_thread = false;
    else if (is_word(w, "ordered") && place->list)
        place->is_ordered = true;
    else if (is_word(w, "nolocal"))
        w->r->is_elsewhere = true;
    else if ((place->is_file || place->is_sequential) && w->len > 5 &&
             !strncasecmp(w->at, "file=", 5))
        return map_file(w);
    else if (!is_word(w, "inherit") && !is_word(w, "noinherit"))
        return unknown(w, "a mapping takes pe=N, span, oversubscribe, nooversubscribe, hwtcpus, "
                          "corecpus");
    return 0;
}

/* ppr:N:WORD */
static int map_ppr(struct place_words *w)
{
    struct start_wish *place = &w->r->o->plan.start;
    char text[32] = "";
    (void)next_word(w);
    snprintf(text, sizeof(text), "%.*s", (int)w->len, w->at);
    int rc = take_count(w, text, &place->ppr);
    if (rc)
        return rc;
    if (!next_word(w) || !placement_word(w->at, w->len, &place->map) || place->map > PLACEMENT_NODE)
        return unknown(w, "ppr:N: takes an object, as node, package, numa, l3cache or core");
    if (place->map == PLACEMENT_NODE) { /* each program has its own */
        w->r->app.per_node = (int)place->ppr;
        place->map = PLACEMENT_SLOT;
        place->ppr = 0;
    }
    return 0;
}

/* pe-list=A,B-C: commas part the list as they part qualifiers, so all digits belong to it. */
static int map_list(struct place_words *w)
{
    struct start_wish *place = &w->r->o->plan.start;
    const char *list = w->at + sizeof("pe-list");
    size_t len = strspn(list, "0123456789,-+");
    while (len && list[len - 1] == ',')
        len--;
    place->list = strndup(list, len);
    w->len = (size_t)(list + len - w->at);
    place->is_mapped = true;
    return reader_push(&w->r->o->words, (char *)place->list);
}

/* dist:DEVICE or device=DEVICE: to the cores by their distance from it. */
static bool map_device(struct place_words *w)
{
    struct start_wish *place = &w->r->o->plan.start;
    static const char *const words[] = {"dist:device=", "dist:", "device="};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);
        if (strncasecmp(w->text, words[i], len) || !w->text[len])
            continue;
        place->device = w->text + len;
        place->by_distance = true;
        return true;
    }
    return false;
}

int option_place_map(struct reader *r, const char *option, const char *text)
{
    struct start_wish *place = &r->o->plan.start;
    struct place_words w = {.r = r, .option = option, .text = text, .at = text};
    int rc = 0;
    w.len = strcspn(text, ":,");
    if (!*text || (!w.len && text[0] != ':'))
        return unknown(&w, "an object is expected, as slot, node, package, numa, l3cache, core");
    place->map_width = 0;
    if (place->by_distance && w.len)
        place->device = NULL;
    place->by_distance &= !w.len;
    if (!w.len)
        w.at++; /* qualifiers alone */
    else if (is_word(&w, "ppr"))
        rc = map_ppr(&w);
    else if (!strncasecmp(text, "pe-list=", 8))
        rc = map_list(&w);
    else if (is_word(&w, "rankfile"))
        place->is_file = true;
    else if (is_word(&w, "seq") || is_word(&w, "sequential")) {
        place->map = PLACEMENT_SLOT;
        place->is_sequential = true;
    } else if (map_device(&w)) {
        place->map = PLACEMENT_SLOT;
        place->is_mapped = true;
        return 0;
    } else if (!placement_word(w.at, w.len, &place->map) || place->map == PLACEMENT_NONE)
        return unknown(&w, "a mapping is by slot, node, package (or socket), numa, l3cache, "
                           "l2cache, l1cache, core or hwthread");
    if (text[0] != ':') {
        if (!is_word(&w, "rankfile") && !place->list)
            place->is_mapped = true;
    } else {
        w.len = strcspn(w.at, ":,");
        if (!w.len)
            return unknown(&w, "qualifiers are expected");
        rc = map_qualifier(&w);
    }
    while (!rc && next_word(&w))
        rc = map_qualifier(&w);
    if (!rc)
        rc = check_end(&w);
    if (!rc && place->is_mapped && !is_word(&w, "ppr") && strncasecmp(text, "ppr", 3))
        place->ppr = 0;
    return rc;
}

/* ---- ranking ---- */

int option_place_rank(struct reader *r, const char *option, const char *text)
{
    struct start_wish *place = &r->o->plan.start;
    struct place_words w = {.r = r, .option = option, .text = text, .at = text};
    w.len = strcspn(text, ":,");
    place->is_filling = is_word(&w, "fill");
    place->is_spanning |= is_word(&w, "span");
    place->is_ranked = true;
    if (is_word(&w, "fill") || is_word(&w, "span"))
        place->rank_by = PLACEMENT_NONE; /* the object of the mapping */
    else if (!placement_word(w.at, w.len, &place->rank_by) || place->rank_by == PLACEMENT_NONE)
        return unknown(&w, "ranks go by slot, node, package (or socket), numa, l3cache, l2cache, "
                           "l1cache, core, hwthread, fill or span");
    while (next_word(&w))
        if (is_word(&w, "span"))
            place->is_spanning = true;
        else
            return unknown(&w, "a ranking takes span");
    return 0;
}

/* ---- binding ---- */

static int bind_qualifier(struct place_words *w)
{
    struct start_wish *place = &w->r->o->plan.start;
    char text[32];
    if (is_number(w, text, sizeof(text)))
        return take_count(w, text, &place->width);
    if (has_value(w, "limit", text, sizeof(text)))
        return take_count(w, text, &w->r->bind_limit);
    if (is_word(w, "overload-allowed") || is_word(w, "overload"))
        place->may_overload = true;
    else if (is_word(w, "if-supported"))
        place->if_supported = true;
    else if (is_word(w, "ordered"))
        place->is_ordered = true;
    else if (!is_word(w, "report"))
        return unknown(w, "a binding takes a number, limit=N, overload-allowed, if-supported, "
                          "ordered");
    else
        place->shows_bindings = true;
    return 0;
}

/* The binding that the first word asks for. */
static int bind_word(struct place_words *w)
{
    struct start_wish *place = &w->r->o->plan.start;
    if (is_word(w, "cpu-list") || is_word(w, "cpulist"))
        place->is_listed = true;
    else if (placement_word(w->at, w->len, &place->bind) && place->bind != PLACEMENT_SLOT)
        place->is_listed = false;
    else
        return unknown(w, "ranks are bound to none, hwthread, core, l1cache ... l5cache, "
                          "numa, package (or socket), user:LIST, rr or cpu-list");
    return 0;
}

/* A device: pci:ID, gpu:N, ib:N, hfi:N, en:N, or a network interface such as eth0. */
static bool is_device(const struct place_words *w)
{
    static const char kinds[] = "pci gpu ib ibp hfi mlx en eth enp ens eno wlan card cuda nvml";
    return w->len && reader_is_word(kinds, w->at, strcspn(w->at, ":,0123456789_"));
}

int option_place_bind(struct reader *r, const char *option, const char *text)
{
    struct start_wish *place = &r->o->plan.start;
    struct place_words w = {.r = r, .option = option, .text = text, .at = text};
    w.len = strcspn(text, ":,");
    place->user = NULL;
    place->width = 0;
    place->is_bound = true;
    place->bind = PLACEMENT_NONE;
    if (!place->by_distance)
        place->device = NULL;
    if (is_device(&w)) {
        place->device = text;
        place->by_distance = false;
        return 0;
    }
    if (is_word(&w, "rr"))
        place->user = "";
    else if (is_word(&w, "user"))
        place->user = text[w.len] ? text + w.len + 1 : ",";
    if (place->user)
        return 0;
    int rc = bind_word(&w);
    while (!rc && next_word(&w))
        rc = bind_qualifier(&w);
    return rc ? rc : check_end(&w);
}

/* ---- memory ---- */

/* Read a list of nodes, as 0,2-3. */
static int read_nodes(struct reader *r, const char *option, const char *text, uint64_t *nodes)
{
    const char *at = text;
    while (isdigit((unsigned char)*at)) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtoul(end + 1, &end, 10);
        if (last < first || last >= START_NODES_MAX)
            break;
        for (; first <= last; first++)
            nodes[first / 64] |= UINT64_C(1) << first % 64;
        if (!*end)
            return 0;
        at = *end == ',' || *end == '+' ? end + 1 : "";
    }
    return reader_refuse(r, "'%s' takes a list of memory nodes below %d, as bind:0,2-3, not '%s'",
                         option, START_NODES_MAX, text);
}

int option_place_memory(struct reader *r, const char *option, const char *text)
{
    struct start_wish *place = &r->o->plan.start;
    memset(place->nodes, 0, sizeof(place->nodes));
    if (!strcasecmp(text, "none"))
        place->memory = START_MEMORY_ANY;
    else if (!strcasecmp(text, "firsttouch"))
        place->memory = START_MEMORY_LOCAL;
    else if (!strncasecmp(text, "bind:", 5)) {
        place->memory = START_MEMORY_BIND;
        return read_nodes(r, option, text + 5, place->nodes);
    } else if (!strncasecmp(text, "interleave:", 11)) {
        place->memory = START_MEMORY_INTERLEAVE;
        return read_nodes(r, option, text + 11, place->nodes);
    } else if (!strcasecmp(text, "nexttouch"))
        return reader_refuse(r, "'%s nexttouch': Linux has no such policy; say firsttouch", option);
    else
        return reader_refuse(r,
                             "'%s' takes none, firsttouch, bind:NODES or interleave:NODES, not "
                             "'%s'",
                             option, text);
    return 0;
}

/* ---- all together ---- */

/* Settle what the user has not said. */
static void complete(struct start_wish *place)
{
    enum placement_level unit = place->by_thread ? PLACEMENT_HWTHREAD : PLACEMENT_CORE;
    bool is_by_object = place->is_mapped && place->map < PLACEMENT_NODE;
    bool is_by_list = start_wish_names_cpus(place) || place->rankfile;
    if (!place->is_bound && !is_by_list)
        place->bind = place->pe ? unit : is_by_object ? place->map : PLACEMENT_NONE;
    if (place->width && place->bind <= PLACEMENT_CORE) {
        place->pe = place->width;
        place->width = 0;
    }
    if (!place->is_mapped && !place->pe && place->bind < PLACEMENT_NODE)
        place->map = place->bind;
    if (place->pe && place->map <= PLACEMENT_CORE && !place->ppr)
        place->map = PLACEMENT_SLOT; /* each takes the next ones anyway */
    if (place->is_ranked && place->rank_by == PLACEMENT_NONE)
        place->rank_by = place->map;
}

int option_place_settle(struct reader *r)
{
    struct start_wish *place = &r->o->plan.start;
    if (place->is_file && !place->rankfile)
        return reader_refuse(r, "a mapping by rankfile needs it: say rankfile:file=FILE");
    if (place->is_listed && !place->list)
        return reader_refuse(r, "to bind to a list, name it: --cpu-list 0,2,5");
    if (!place->is_bound)
        place->width = place->map_width;
    else if (place->map_width && (place->map_width != place->width || place->map != place->bind))
        return reader_refuse(r,
                             "a mapping by %u objects at a time is known only together with the "
                             "same binding; say --bind-to OBJECT:%u",
                             place->map_width, place->map_width);
    if (place->by_distance && place->is_bound && place->bind != PLACEMENT_CORE)
        return reader_refuse(r, "a mapping by distance from a device binds each rank to a core; leave "
                                "--bind-to out");
    if (place->by_distance)
        place->bind = PLACEMENT_NONE;
    complete(place);
    bool is_bound = place->bind < PLACEMENT_NODE || place->list || place->user || place->device ||
                    place->rankfile;
    bool is_shown = place->shows_bindings || place->shows_map || place->shows_hardware;
    place->is_wanted = is_bound || is_shown || place->is_limited || place->allowed;
    return 0;
}

int option_place_limit(struct reader *r)
{
    struct start_wish *place = &r->o->plan.start;
    if (!r->bind_limit)
        return 0;
    if (place->bind >= PLACEMENT_NODE || place->ppr || (place->is_mapped && place->map != place->bind))
        return reader_refuse(r, "a limit of ranks for each object is known where they are bound to objects "
                                "and not mapped by others; leave --map-by out");
    place->map = place->bind;
    place->ppr = r->bind_limit;
    return 0;
}

/* The same on other hosts, too. */
static int ask_objects(struct reader *r, uint64_t *objects)
{
    char why[512];
    int rc = r->ask ? r->ask->objects(r->ask->arg, r->o, objects, why) : 0;
    if (!r->ask)
        return reader_refuse(r, "other hosts cannot be asked for their processors; say -n");
    if (rc && rc != -ENOMEM)
        (void)reader_refuse(r, "%s", why);
    return rc;
}

int option_place_objects(struct reader *r, uint64_t *objects)
{
    const struct start_wish *place = &r->o->plan.start;
    struct hardware hardware;
    char why[512];
    for (size_t i = 0; i < r->o->plan.hosts.count; i++)
        if (!r->o->plan.hosts.items[i].is_here)
            return ask_objects(r, objects);
    if (hardware_read(&hardware, NULL, why))
        return reader_refuse(r, "%s; or say -n", why);
    char problem[PLACEMENT_PROBLEM_LEN] = "this host tells of no such object; say -n";
    int rc = place->allowed ? placement_restrict(hardware.cpus, &hardware.machine.count, place->allowed,
                                                 place->by_thread ? PLACEMENT_BY_THREAD
                                                                  : PLACEMENT_BY_CORE,
                                                 problem)
                            : 0;
    *objects = placement_objects(&hardware.machine, place->map);
    if (hardware.machine.lacks >> place->map & 1)
        *objects = 0;
    hardware_fini(&hardware);
    return !rc && *objects ? 0 : reader_refuse(r, "%s", problem);
}
