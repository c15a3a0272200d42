/* SPDX-License-Identifier: BSD-3-Clause */

/* The channels of this process; see ports.h. */
#include "mpid/conn/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/channel_help.h"
#include "mpid/conn/module.h"
#include "mpid/ground/device.h"
#include "mpid/wait/progress.h"
#include "os/log.h"
#include "os/settings.h"
#include "os/settings_equal.h"
#include "slots.h"

enum { WHY_LEN = 256, FILE_LEN = 4096, SLOTS_DYNAMIC = 64 };

/* A channel that there is, or a file that was to be one. */
struct offer {
    struct offer *next;
    const struct chan_ops *ops; /* NULL: not loaded */
    const struct chan_ops *told; /* of a module of the library's that is not used: for users who ask */
    bool is_own;
    char *file;                 /* NULL: built in */
    char *name;                 /* of its ops, or of the file */
    char *closed;               /* "name: why it is not open"; NULL: it is */
    char *params[MPID_CHANNEL_PARAMS]; /* their parameters, as told */
};

static struct offer *offers;
static uint32_t incarnation; /* of the card */
static char *slot_loaded[SLOTS_DYNAMIC]; /* names of channels whose slots are in the tail */
static int slot_loaded_count;

/* ---- the list ---- */

static void set_closed(struct offer *offer, const char *why)
{
    char *text = NULL;
    if (why && asprintf(&text, "%s: %s", offer->name, why) < 0)
        text = NULL;
    free(offer->closed);
    offer->closed = text;
}

static struct offer *add(const struct chan_ops *ops, const char *file, const char *name)
{
    struct offer **at = &offers, *offer = calloc(1, sizeof(*offer));
    if (!offer)
        return NULL;
    offer->ops = ops;
    offer->file = file ? strdup(file) : NULL;
    offer->name = strdup(name);
    if (!offer->name || (file && !offer->file)) {
        free(offer->name);
        free(offer->file);
        free(offer);
        return NULL;
    }
    while (*at)
        at = &(*at)->next;
    *at = offer;
    return offer;
}

static void forget(struct offer *offer)
{
    struct offer **at = &offers;
    while (*at != offer)
        at = &(*at)->next;
    *at = offer->next;
    for (int i = 0; i < MPID_CHANNEL_PARAMS; i++)
        free(offer->params[i]);
    free(offer->closed);
    free(offer->file);
    free(offer->name);
    free(offer);
}

static void forget_all(void)
{
    while (offers)
        forget(offers);
    while (slot_loaded_count)
        free(slot_loaded[--slot_loaded_count]);
}

/* The channel with this name, or a file that should have been one. */
static struct offer *find(const char *name, size_t len)
{
    struct offer *found = NULL;
    for (struct offer *offer = offers; offer && !(found && found->ops); offer = offer->next)
        if (strlen(offer->name) == len && !memcmp(offer->name, name, len) && (!found || offer->ops))
            found = offer;
    return found;
}

/* The channel that has this name already, or NULL. */
static const struct offer *find_loaded(const char *name)
{
    const struct offer *offer = find(name, strlen(name));
    return offer && offer->ops ? offer : NULL;
}

const char *ports_closed(int index)
{
    for (struct offer *offer = offers; offer; offer = offer->next)
        if (offer->closed && !index--)
            return offer->closed;
    return NULL;
}

/* ---- parameters ---- */

static int param_index(const struct chan_ops *ops, const char *name, size_t len)
{
    for (int i = 0; ops->params && ops->params[i].name && i < MPID_CHANNEL_PARAMS; i++)
        if (strlen(ops->params[i].name) == len && !memcmp(ops->params[i].name, name, len))
            return i;
    return -1;
}

const char *ports_param(void *owner, const struct chan_ops *ops, const char *name)
{
    int index = param_index(ops, name, strlen(name));
    struct offer *offer = find(ops->name, strlen(ops->name));
    char key[128], text[1024];
    (void)owner;
    if (index < 0)
        return NULL;
    snprintf(key, sizeof(key), "%s.%s", ops->name, name);
    if (!offer || chan_params_get(os_setting_text(OS_SETTING_CHANNEL_PARAMS), key, 0, text,
                                  sizeof(text)))
        return ops->params[index].initial;
    if (offer->params[index] && !strcmp(offer->params[index], text))
        return offer->params[index]; /* the channel may still use it */
    free(offer->params[index]);
    offer->params[index] = strdup(text);
    return offer->params[index] ? offer->params[index] : ops->params[index].initial;
}

/* Every parameter that is set is one of a channel that there is. */
static int check_params(char *why, size_t size)
{
    const char *list = os_setting_text(OS_SETTING_CHANNEL_PARAMS);
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        int len = (int)strcspn(list, ",="), dot = (int)strcspn(list, ".,=");
        struct offer *offer = find(list, (size_t)dot);
        if (list[len] != '=' || dot >= len) {
            snprintf(why, size,
                     "VIREO_CHANNEL_PARAMS holds '%.*s', which is not CHANNEL.PARAMETER=VALUE", len,
                     list);
            return -EINVAL;
        }
        if (!offer)
            os_log(OS_LOG_WARN, "VIREO_CHANNEL_PARAMS sets '%.*s', and there is no such channel yet",
                   len, list);
        else if (offer->ops &&
                 param_index(offer->ops, list + dot + 1, (size_t)(len - dot - 1)) < 0) {
            snprintf(why, size, "VIREO_CHANNEL_PARAMS sets '%.*s', which channel %s does not have; "
                     "`vireo info` lists what it has", len, list, offer->name);
            return -EINVAL;
        }
    }
    return 0;
}

/* ---- slots ---- */

int ports_slot_register(void *owner, const char *name)
{
    (void)owner;
    for (int i = 0; i < ENDPOINT_SLOTS; i++)
        if (!strcmp(slot_names[i], name))
            return i;
    for (int i = 0; i < slot_loaded_count; i++)
        if (!strcmp(slot_loaded[i], name))
            return CHAN_SLOT_DYNAMIC + i;
    char *copy = slot_loaded_count < SLOTS_DYNAMIC ? strdup(name) : NULL;
    if (!copy)
        return -ENOMEM;
    slot_loaded[slot_loaded_count] = copy;
    return CHAN_SLOT_DYNAMIC + slot_loaded_count++;
}

int ports_grow_tail(void *owner, struct chan_peer *peer)
{
    uint32_t len = (uint32_t)slot_loaded_count;
    (void)owner;
    void **tail = realloc(peer->tail, len * sizeof(*tail));
    if (!tail)
        return -ENOMEM;
    memset(tail + peer->tail_len, 0, (len - peer->tail_len) * sizeof(*tail));
    peer->tail = tail;
    peer->tail_len = len;
    return 0;
}

/* ---- the card ---- */

/* A card of all that is open, with the next number. */
static int write_card(char card[CARD_MAX])
{
    char params[CHAN_CARD_MAX];
    snprintf(params, sizeof(params), "%u", incarnation);
    if (card_start(card, CARD_MAX) || (incarnation && card_add(card, CARD_MAX, "inc", params)))
        return -ENOSPC;
    os_equal_write(params);
    if (*params && card_add(card, CARD_MAX, "equal", params))
        return -ENOSPC;
    for (int i = 0; i < device.port_count; i++) {
        struct chan *chan = device.ports[i].chan;
        memset(params, 0, sizeof(params));
        if (chan->ops->card(chan, params) || module_lie(chan->ops, params) ||
            card_add(card, CARD_MAX, chan->ops->name, params))
            return -ENOSPC;
    }
    return 0;
}

int ports_publish(void *owner)
{
    char card[CARD_MAX];
    (void)owner;
    incarnation++;
    if (write_card(card))
        return -ENOSPC;
    memcpy(device.card, card, sizeof(card));
    return BNR_Put(device.group, "card", card, strlen(card), BNR_PUT_REPLACE) ? -EIO : 0;
}

/* ---- opening ---- */

/* Whether a channel through memory leads to all processes that may call, or, should one not come that
 * way after all, this process can ask it to listen. */
static bool is_served(void)
{
    unsigned long long caps = 0;
    bool in_memory = device.env.ranks == 1;
    for (int i = 0; i < device.port_count; i++)
        in_memory |= device.ports[i].in_memory;
    return in_memory && device.env.ranks == device.env.local_ranks &&
           (device.env.ranks == 1 || (!BNR_Query_caps(&caps) && (caps & BNR_CAP_XCAST)));
}

static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == len && !memcmp(list, name, len))
            return true;
    return false;
}

/* Returns the hindrance, or NULL. */
static const char *open_port(const struct chan_ops *ops, char why[WHY_LEN])
{
    struct chan *chan;
    if (device.port_count == BIND_CHANNELS) {
        snprintf(why, WHY_LEN, "%d channels are open, and no more can be", BIND_CHANNELS);
        return why;
    }
    snprintf(why, WHY_LEN, "it cannot run here");
    device.env.served = is_served();
    if (ops->open(&chan, &device.env, why, WHY_LEN))
        return why;
    device.ops[device.port_count] = ops;
    device.ports[device.port_count++] = (struct port){
        .progress = ops->progress, .chan = chan, .in_memory = chan->word != NULL};
    char card[CARD_MAX];
    if (!write_card(card)) {
        memcpy(device.card, card, sizeof(card));
        return NULL;
    }
    device.port_count--;
    ops->close(chan);
    return "its card could not be written, or is none";
}

static void open_offer(struct offer *offer)
{
    const char *list = os_setting_text(OS_SETTING_CHANNELS);
    char why[WHY_LEN];
    if (!offer->ops)
        return;
    if (*list && !is_listed(list, offer->name))
        set_closed(offer, "VIREO_CHANNELS leaves it out");
    else
        set_closed(offer, open_port(offer->ops, why));
}

/* ---- modules ---- */

/* Load a file, after a trial if it is not our own. Returns the offer, which may be closed; or NULL
 * (no memory). A channel whose name is taken stays out. */
static struct offer *load(const char *file, const char *name, bool own)
{
    char why[WHY_LEN] = "";
    const struct chan_ops *ops = NULL;
    const struct offer *other = NULL;
    if (module_is_forbidden())
        snprintf(why, sizeof(why), "this process is set-user-id, and loads nothing");
    else if ((own || !module_try(file, &device.env, why, sizeof(why))) &&
             !module_load(file, &ops, why, sizeof(why)) && (other = find_loaded(ops->name))) {
        snprintf(why, sizeof(why), "there is a channel '%s' already, %s%s", ops->name,
                 other->file ? "in " : "built in", other->file ? other->file : "");
        ops = NULL;
    }
    struct offer *offer = add(ops, file, ops ? ops->name : name);
    if (offer && !ops)
        set_closed(offer, why);
    return offer;
}

static void load_from_path(const char *file, void *arg)
{
    (void)arg;
    (void)load(file, file, false);
}

/* The library's own modules: if the user names them, or their hardware is there. */
static void load_own(void)
{
    const char *list = os_setting_text(OS_SETTING_CHANNELS);
    char file[FILE_LEN];
    for (size_t i = 0; module_rows[i].name; i++) {
        const struct module_row *row = &module_rows[i];
        module_own_file(row->name, file, sizeof(file));
        if (*list ? is_listed(list, row->name) : module_is_wanted(row->when)) {
            (void)load(file, row->name, true);
        } else {
            struct offer *offer = add(NULL, file, row->name);
            if (offer)
                offer->is_own = true;
            if (offer)
                set_closed(offer, *list ? "VIREO_CHANNELS leaves it out"
                                        : "this host has no fabric for it, and VIREO_CHANNELS "
                                          "does not ask for it");
        }
    }
}

/* Append to why, from at on, which files were to be channels, and why each is none. */
static void add_refused(char *why, size_t size, size_t at)
{
    for (const struct offer *offer = offers; offer && at < size; offer = offer->next)
        if (!offer->ops && offer->closed && strchr(offer->name, '/'))
            at += (size_t)snprintf(why + at, size - at, "; %s", offer->closed);
}

static int check_list(const char *list, char *why, size_t size)
{
    char known[256] = "";
    for (const struct offer *offer = offers; offer; offer = offer->next)
        if (offer->ops || !offer->closed || !strchr(offer->name, '/'))
            snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
                     *known ? ", " : "", offer->name);
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        size_t len = strcspn(list, ",");
        if (!find(list, len)) {
            int at = snprintf(why, size, "VIREO_CHANNELS names '%.*s'; the channels are %s",
                              (int)len, list, known);
            add_refused(why, size, (size_t)at);
            return -EINVAL;
        }
    }
    return 0;
}

/* Say, once a host, what VIREO_CHANNEL_PATH names in vain: the process goes on without. */
static void tell_refused(void)
{
    const struct offer *first = NULL;
    int more = -1;
    for (const struct offer *offer = offers; offer; offer = offer->next) {
        if (offer->ops || offer->is_own || !offer->closed)
            continue;
        first = first ? first : offer;
        more++;
    }
    if (!first || device.env.local_rank)
        return;
    if (more)
        os_log(OS_LOG_WARN, "VIREO_CHANNEL_PATH: %s; `vireo info` lists %d more that are refused",
               first->closed, more);
    else
        os_log(OS_LOG_WARN, "VIREO_CHANNEL_PATH: %s", first->closed);
}

int ports_open(char *why, size_t size)
{
    incarnation = 0;
    for (int i = 0; chan_table[i]; i++)
        if (!add(chan_table[i], NULL, chan_table[i]->name)) {
            snprintf(why, size, "no memory");
            return -ENOMEM;
        }
    load_own();
    module_each(os_setting_text(OS_SETTING_CHANNEL_PATH), load_from_path, NULL);
    if (check_list(os_setting_text(OS_SETTING_CHANNELS), why, size) || check_params(why, size))
        return -EINVAL;
    if (write_card(device.card)) {
        snprintf(why, size, "this process's card is too long");
        return -ENOSPC;
    }
    tell_refused();
    for (struct offer *offer = offers; offer; offer = offer->next)
        open_offer(offer);
    return 0;
}

void ports_close(void)
{
    while (device.port_count) {
        struct chan *chan = device.ports[--device.port_count].chan;
        chan->ops->close(chan);
    }
    forget_all();
}

bool ports_has_file(const char *file)
{
    const struct offer *offer = offers;
    while (offer && !(offer->ops && offer->file && !strcmp(offer->file, file)))
        offer = offer->next;
    return offer;
}

int ports_load(const char *file, char *why, size_t size)
{
    struct offer *offer = load(file, file, true);
    char text[WHY_LEN];
    if (!offer) {
        snprintf(why, size, "no memory");
        return -ENOMEM;
    }
    if (offer->ops)
        set_closed(offer, open_port(offer->ops, text));
    if (offer->closed) {
        snprintf(why, size, "%s", offer->closed);
        forget(offer); /* as if it had not been asked for */
        return -EINVAL;
    }
    if (ports_publish(&device)) {
        snprintf(why, size, "this process's card could not be published again");
        return -EINVAL;
    }
    progress_look();
    return 0;
}

/* ---- for users ---- */

/* The table of a channel, also of one of the library's that this process does without. */
static const struct chan_ops *ops_of(struct offer *offer)
{
    char why[WHY_LEN];
    if (!offer->ops && !offer->told && offer->is_own && !module_is_forbidden() &&
        module_load(offer->file, &offer->told, why, sizeof(why)))
        offer->told = NULL;
    return offer->ops ? offer->ops : offer->told;
}

bool ports_describe(int index, struct mpid_channel *channel)
{
    struct offer *offer = offers;
    while (offer && index--)
        offer = offer->next;
    if (!offer)
        return false;
    const struct chan_ops *ops = ops_of(offer);
    *channel = (struct mpid_channel){.name = offer->name,
                                     .file = offer->file ? offer->file : "",
                                     .about = ops && ops->about ? ops->about : "",
                                     .closed = offer->closed};
    for (int i = 0; i < device.port_count; i++)
        if (device.ops[i] == offer->ops)
            (void)card_find(device.card, offer->name, channel->card);
    const struct chan_param *params = ops ? ops->params : NULL;
    for (int i = 0; params && params[i].name && i < MPID_CHANNEL_PARAMS; i++)
        channel->params[i] = (struct mpid_channel_param){
            params[i].name, ports_param(&device, ops, params[i].name), params[i].about};
    return true;
}
