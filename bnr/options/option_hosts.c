/* SPDX-License-Identifier: BSD-3-Clause */

/* Options about hosts, and how many processes their slots make. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "bnr/options/option_reader.h"
#include "os/log.h"

/* Whether an address is one of this host's interfaces'. */
static bool is_own_address(int family, const void *address)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all))
        return false;
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != family)
            continue;
        if (family == AF_INET)
            found = !memcmp(&((struct sockaddr_in *)i->ifa_addr)->sin_addr, address, 4);
        else
            found = !memcmp(&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr, address, 16);
    }
    freeifaddrs(all);
    return found;
}

/* Whether name is this host's: nothing is resolved. */
static bool is_this_host(const char *name)
{
    unsigned char address[16];
    const char *own = os_host_name();
    size_t own_short = strcspn(own, "."), name_short = strcspn(name, ".");
    if (inet_pton(AF_INET, name, address) == 1)
        return address[0] == 127 || is_own_address(AF_INET, address);
    if (inet_pton(AF_INET6, name, address) == 1)
        return is_own_address(AF_INET6, address);
    if (!strcasecmp(name, "localhost") || !strcasecmp(name, own))
        return true;
    bool one_is_short = !own[own_short] || !name[name_short];
    return one_is_short && own_short == name_short && !strncasecmp(own, name, own_short);
}

/* ---- taking them ---- */

/* Turn what adding to hosts has answered into an answer of the reader. */
static int took(struct reader *r, const char *option, const char *source, struct hosts *hosts,
                int rc)
{
    return rc == -EPROTO ? reader_refuse(r, "'%s %s': %s", option, source, hosts->problem) : rc;
}

/* Whether a host of a list is told by its place among others. */
static bool is_relative(const char *list)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        at += strspn(at, " ");
        if (*at == '+')
            return true;
    }
    return false;
}

int option_hosts_take_list(struct reader *r, const char *option, const char *list)
{
    if (is_relative(list) || r->relative)
        return reader_push(&r->relative, strdup(list));
    return took(r, option, list, &r->listed, hosts_add_list(&r->listed, list, strlen(list)));
}

/* Whether a file names no host at all. */
static bool is_empty(const char *text)
{
    bool is_comment = false;
    for (; *text; text++) {
        if (*text == '#' || *text == '\n')
            is_comment = *text == '#';
        else if (!is_comment && !isspace((unsigned char)*text))
            return false;
    }
    return true;
}

static int take_text(struct reader *r, const char *option, const char *name, const char *text,
                     struct hosts *hosts)
{
    return took(r, option, name, hosts, hosts_add_file(hosts, text, strlen(text)));
}

static int take_file(struct reader *r, const char *option, const char *name, struct hosts *hosts)
{
    const char *text;
    int rc = reader_file(r, option, name, &text);
    return rc ? rc : take_text(r, option, name, text, hosts);
}

/* /dev/null is as if it were not given. */
int option_hosts_take_file(struct reader *r, const char *option, const char *name)
{
    return strcmp(name, "/dev/null") ? take_file(r, option, name, &r->filed) : 0;
}

/* Installations have one that holds comments alone, for people to fill in. */
int option_hosts_take_standard(struct reader *r, const char *option, const char *name)
{
    const char *text;
    int rc = reader_file(r, option, name, &text);
    return rc || is_empty(text) ? rc : take_text(r, option, name, text, &r->standard);
}

int option_hosts_take_more(struct reader *r, const char *text, bool is_file)
{
    return reader_push(is_file ? &r->more_files : &r->more_lists, strdup(text));
}

int option_hosts_check_arch(struct reader *r, const char *option, const char *arch)
{
    struct utsname name = {.machine = "unknown"};
    if (!uname(&name) && !strcmp(name.machine, arch))
        return 0;
    return reader_refuse(
        r,
        "'%s %s': all hosts of a job have one architecture, which is %s here; leave the "
        "option out",
        option, arch, name.machine);
}

/* ---- settling ---- */

static const struct hosts_entry *find(const struct hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (!strcmp(hosts->items[i].name, name) ||
            (is_this_host(hosts->items[i].name) && is_this_host(name)))
            return &hosts->items[i];
    return NULL;
}

/* -host picks among those of the file: a name without a number has the slots of its line. */
static int pick(struct reader *r)
{
    for (size_t i = 0; i < r->listed.count; i++) {
        struct hosts_entry *own = &r->listed.items[i];
        const struct hosts_entry *line = find(&r->filed, own->name);
        if (!line)
            return reader_refuse(r,
                                 "-host names '%s', which is not in the hostfile; add it there, "
                                 "or leave one of them out",
                                 own->name);
        if (!own->has_slots) {
            own->slots = line->slots;
            own->has_slots = line->has_slots;
        }
        own->max_slots = line->max_slots;
        if (!own->user && line->user && !(own->user = strdup(line->user)))
            return -ENOMEM;
    }
    return 0;
}

/* If nothing else names hosts: the rankfile's hosts, with a slot for each rank; without any, this
 * host. */
static int take_rankfile(struct reader *r)
{
    const struct placement_file *file = &r->o->plan.start.file;
    struct hosts *hosts = &r->o->plan.hosts;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < file->room; i++) {
        const struct placement_line *line = &file->lines[i];
        if (line->host && line->host[0] != '+') /* +nK counts them */
            rc = took(r, "--rankfile", r->rankfile, hosts,
                      hosts_add_list(hosts, line->host, line->host_len));
    }
    if (!rc && !hosts->count)
        rc = hosts_add_list(hosts, "localhost", strlen("localhost"));
    return rc;
}

/* Which hosts are this one. */
static void look_for_own(struct reader *r)
{
    for (size_t i = 0; i < r->o->plan.hosts.count; i++)
        r->o->plan.hosts.items[i].is_here = is_this_host(r->o->plan.hosts.items[i].name);
}

/* How many processes the hosts take: by their slots, and at most. */
static void add_slots(const struct hosts *hosts, uint64_t *slots, uint64_t *most)
{
    bool is_limited = hosts->count > 0;
    *slots = *most = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        const struct hosts_entry *h = &hosts->items[i];
        *slots += h->max_slots && !h->has_slots ? h->max_slots : h->slots;
        *most += h->max_slots;
        is_limited &= h->max_slots > 0;
    }
    if (!is_limited)
        *most = READER_MAX;
}

/* Leave this host out, under all its names. */
static int leave_own_out(struct reader *r)
{
    struct hosts *hosts = &r->o->plan.hosts;
    size_t kept = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        if (!hosts->items[i].is_here) {
            hosts->items[kept++] = hosts->items[i];
            continue;
        }
        free(hosts->items[i].name);
        free(hosts->items[i].user);
    }
    hosts->count = kept;
    return kept ? 0
                : reader_refuse(r,
                                "nolocal leaves no host, as no other than this one (%s) is named; "
                                "leave it out, or name more hosts",
                                os_host_name());
}

/* How many machines the hosts are; this one is called by several names. */
static int count_machines(const struct hosts *hosts)
{
    int machines = 0, here = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        here += hosts->items[i].is_here;
        machines += !hosts->items[i].is_here;
    }
    machines += here > 0;
    return machines ? machines : 1;
}

/* Give each program a number of processes. */
static int count(struct reader *r)
{
    struct options *o = r->o;
    uint64_t slots, most, objects = 0;
    int machines = count_machines(&o->plan.hosts);
    add_slots(&o->plan.hosts, &slots, &most);
    o->plan.remote.per_host = r->per_host;
    for (int a = 0; a < o->plan.napps; a++) {
        struct plan_app *app = &o->plan.apps[a];
        int rc = !app->count && o->plan.start.ppr && !objects ? option_place_objects(r, &objects) : 0;
        if (rc)
            return rc;
        uint64_t all = o->plan.start.file.count ? o->plan.start.file.count
                       : objects           ? objects * o->plan.start.ppr
                       : app->per_node     ? (uint64_t)app->per_node * (uint64_t)machines
                       : r->per_host       ? (uint64_t)r->per_host * (uint64_t)machines
                       : o->plan.hosts.count    ? slots
                                           : 1;
        if (app->per_node && !o->plan.remote.per_host)
            o->plan.remote.per_host = app->per_node;
        if (app->count && app->per_node && app->count > app->per_node * machines)
            return reader_refuse(r,
                                 "-n %d asks for more than the %d processes a host that are "
                                 "allowed; name more hosts, or leave one of them out",
                                 app->count, app->per_node);
        if (!app->count && all <= READER_MAX)
            app->count = (int)all;
        if (!app->count || app->count > READER_MAX - o->plan.nranks)
            return reader_refuse(r, "more than %d processes are asked for", READER_MAX);
        o->plan.nranks += app->count;
    }
    if ((uint64_t)o->plan.nranks > most)
        return reader_refuse(r,
                             "%d processes are asked for, but the hosts have max_slots=%u "
                             "together; raise it, or start fewer",
                             o->plan.nranks, (unsigned)most);
    return 0;
}

/* Move hosts to the options, so that they are released once. */
static void give(struct options *o, struct hosts *from)
{
    o->plan.hosts = *from;
    *from = (struct hosts){0};
}

/* Have the hosts of an allocation, which is asked for its names later. */
static int copy_hosts(struct hosts *to, const struct hosts *from)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < from->count; i++)
        rc = hosts_add_slots(to, from->items[i].name, from->items[i].slots);
    return rc;
}

/* Add hosts to the list; without named hosts, this one is the first. */
static int add_more(struct reader *r)
{
    struct hosts *hosts = &r->o->plan.hosts;
    int rc = 0;
    if (!hosts->count && (r->more_lists || r->more_files))
        rc = hosts_add_list(hosts, "localhost", strlen("localhost"));
    for (char **m = r->more_lists; !rc && m && *m; m++)
        rc = took(r, "--add-host", *m, hosts, hosts_add_list(hosts, *m, strlen(*m)));
    for (char **m = r->more_files; !rc && m && *m; m++)
        rc = take_file(r, "--add-hostfile", *m, hosts);
    return rc;
}

/* Add +nK, its Kth host from 0, or +nK:SLOTS, as a host of a list. */
static int add_place(struct reader *r, const struct hosts *among, const char *word, size_t len)
{
    char *end, item[HOSTS_NAME_MAX + 32];
    size_t number_len = strcspn(word, ":,");
    unsigned long k = strtoul(word + 2, &end, 10);
    if (word[1] != 'n' || word[2] < '0' || word[2] > '9' || end != word + number_len)
        return reader_refuse(r, "'-host %.*s': +nK is the Kth host, from 0, of a hostfile or of an "
                                "allocation", (int)len, word);
    if (k >= among->count)
        return reader_refuse(r, "'-host %.*s' counts the hosts of a hostfile or of an allocation, and "
                                "there are %zu", (int)len, word, among->count);
    bool is_wide = strchr(among->items[k].name, ':');
    int n = snprintf(item, sizeof(item), "%s%s%s%.*s", is_wide ? "[" : "", among->items[k].name,
                     is_wide ? "]" : "", (int)(len - number_len), word + number_len);
    return took(r, "-host", word, &r->listed, hosts_add_list(&r->listed, item, (size_t)n));
}

/* Add the lists in which hosts are told by their places. */
static int add_relative(struct reader *r, const struct hosts *among)
{
    int rc = 0;
    for (char **list = r->relative; !rc && list && *list; list++)
        for (const char *at = *list; !rc && *at; at += *at == ',') {
            at += strspn(at, " ");
            size_t len = strcspn(at, ",");
            rc = *at == '+' ? add_place(r, among, at, len)
                            : took(r, "-host", *list, &r->listed, hosts_add_list(&r->listed, at, len));
            at += len;
        }
    return rc;
}

/* Choose the source of hosts: options before files, files before batch systems. */
static int choose(struct reader *r)
{
    bool is_named = r->listed.count || r->relative || r->filed.count || r->standard.count;
    int rc = option_allocation_read(r);
    if (rc == -EINVAL && is_named && !r->rmk) { /* what it tells is not needed */
        hosts_fini(&r->allocated);
        rc = 0;
    }
    if (is_named)
        r->o->doubt = NULL;
    if (!rc)
        rc = add_relative(r, r->filed.count      ? &r->filed
                             : r->standard.count ? &r->standard
                                                 : &r->allocated);
    if (!rc && r->listed.count && r->filed.count)
        rc = pick(r);
    if (rc)
        return rc;
    if (r->listed.count)
        give(r->o, &r->listed);
    else if (r->filed.count)
        give(r->o, &r->filed);
    else if (r->standard.count)
        give(r->o, &r->standard);
    else if (r->allocated.count)
        rc = copy_hosts(&r->o->plan.hosts, &r->allocated);
    else if (r->o->plan.start.rankfile)
        rc = take_rankfile(r);
    return rc;
}

int option_hosts_settle(struct reader *r)
{
    int rc = choose(r);
    if (!rc)
        rc = add_more(r);
    if (!rc)
        look_for_own(r);
    if (!rc && r->is_elsewhere)
        rc = leave_own_out(r);
    if (!rc)
        rc = option_allocation_settle(r);
    return rc ? rc : count(r);
}

void option_hosts_release(struct reader *r)
{
    hosts_fini(&r->listed);
    hosts_fini(&r->filed);
    hosts_fini(&r->standard);
    hosts_fini(&r->allocated);
    plan_free_list(r->relative);
    plan_free_list(r->more_lists);
    plan_free_list(r->more_files);
}
