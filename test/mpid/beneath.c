/* SPDX-License-Identifier: BSD-3-Clause */

/* A process manager and a channel for tests of the device; see beneath.h. */
#include "test/mpid/beneath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/bnr.h"
#include "os/clock.h"
#include "os/settings.h"

struct beneath beneath;
int beneath_ranks = BENEATH_RANKS;
bool beneath_counts;
unsigned beneath_news;

static struct beneath_link *links_beyond; /* of the ranks from BENEATH_RANKS on */

struct beneath_link *beneath_link(uint32_t rank)
{
    return rank < BENEATH_RANKS ? &beneath.link[rank] : &links_beyond[rank - BENEATH_RANKS];
}

static void require(bool truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "beneath the device: %s\n", what);
    abort();
}

/* ---- the process manager ---- */

static const BNR_Gid gid = {"one and only job"};
const struct chan_gid beneath_other = {"some other group"};

const char *BNR_Strerror(int code)
{
    return code ? "some failure" : "none";
}

int BNR_Init(const BNR_Init_attr *attr)
{
    return attr ? BNR_ERR_ARG : BNR_SUCCESS;
}

int BNR_Finalize(void)
{
    return BNR_SUCCESS;
}

int BNR_Set_asked(void (*fn)(void *arg), void *arg)
{
    return fn || arg ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Answer(const void *text, size_t len)
{
    return text && len ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_group(BNR_Group *g)
{
    *g = (BNR_Group)&beneath;
    return BNR_SUCCESS;
}

int BNR_Get_rank(BNR_Group g, int *rank)
{
    *rank = BENEATH_ME;
    return g ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_size(BNR_Group g, int *size)
{
    *size = beneath_ranks;
    return g ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_gid(BNR_Group g, BNR_Gid *id)
{
    *id = gid;
    return g ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Find_group(const BNR_Gid *id, BNR_Group *group)
{
    if (memcmp(id, &gid, sizeof(gid)) && memcmp(id, &beneath_other, sizeof(gid)))
        return BNR_ERR_NOT_FOUND;
    return BNR_Get_group(group);
}

int BNR_Get_locality(BNR_Group g, int rank, int *node, int *local_rank, int *local_size)
{
    (void)local_size;
    *node = 0;
    if (local_rank)
        *local_rank = rank;
    return g ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_member(BNR_Group g, int node, int local_rank, int *rank)
{
    *rank = local_rank;
    return g && !node && local_rank >= 0 && local_rank < beneath_ranks ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_host(BNR_Group g, int rank, BNR_Host *host)
{
    (void)g, (void)rank;
    *host = (BNR_Host){.id = "host", .name = "host", .cpus = BENEATH_RANKS, .ranks = beneath_ranks};
    return BNR_SUCCESS;
}

int BNR_Get_secret(BNR_Group g, unsigned char secret[16])
{
    memset(secret, 7, 16);
    return g ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_host_memory(BNR_Group g, int rank, int *fd, unsigned long long *offset,
                        unsigned long long *size)
{
    (void)g, (void)rank, (void)fd, (void)offset, (void)size;
    return BNR_ERR_UNSUPPORTED;
}

int BNR_Get_alive(BNR_Group g, unsigned char *bitmap, size_t bytes)
{
    memset(bitmap, 0xff, bytes);
    return g ? BNR_SUCCESS : BNR_ERR_ARG;
}

static BNR_Event_fn on_event;
static BNR_Xcast_fn on_told;
static int told_tag;

int BNR_Event_register(unsigned mask, BNR_Group g, BNR_Event_fn fn, void *arg, int *id)
{
    (void)mask, (void)arg;
    *id = 1;
    on_event = fn;
    return g && fn ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_appnum(int *appnum)
{
    *appnum = 0;
    return BNR_SUCCESS;
}

int BNR_Get_app(BNR_Group g, int appnum, int *first, int *size)
{
    *first = 0;
    *size = beneath_ranks;
    return g && !appnum ? BNR_SUCCESS : BNR_ERR_NOT_FOUND;
}

int BNR_Get_universe_size(int *size)
{
    *size = beneath_ranks;
    return BNR_SUCCESS;
}

int BNR_Put(BNR_Group g, const char *key, const void *val, size_t len, unsigned flags)
{
    (void)flags;
    return g && *key && val && len ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Get_alloc(BNR_Group g, int owner, const char *key, void **val, size_t *len, unsigned flags)
{
    (void)g;
    require(flags == BNR_GET_LATER, "the device asks other hosts");
    bool is_card = !strcmp(key, "card");
    bool is_finished = !strcmp(key, "finished");
    const char *says = owner < BENEATH_RANKS ? beneath.says[owner] : NULL;
    beneath.asked++;
    bool is_said = says && strstr(says, key);
    require(is_card || is_finished || !strcmp(key, "over") || !strcmp(key, "sessions") ||
                !strcmp(key, "world"),
            "the device asks for something else");
    if (!(is_card       ? owner >= BENEATH_RANKS || beneath.has_card[owner]
          : is_finished ? owner < BENEATH_RANKS && beneath.has_finished[owner]
                        : is_said))
        return !is_card && beneath.unknown && beneath.unknown-- ? BNR_ERR_AGAIN : BNR_ERR_NOT_FOUND;
    *val = strdup(is_card ? beneath.card : "1");
    *len = strlen(*val);
    return BNR_SUCCESS;
}

int BNR_Tolerate(int on)
{
    (void)on;
    return BNR_ERR_UNSUPPORTED;
}

int BNR_Backend_name(const char **name)
{
    *name = "beneath";
    return BNR_SUCCESS;
}

int BNR_Get_news(unsigned **news)
{
    *news = &beneath_news;
    return beneath_counts ? BNR_SUCCESS : BNR_ERR_UNSUPPORTED;
}

int BNR_Progress(int *did_work)
{
    BNR_Event event = {.type = beneath.ends_well ? BNR_EV_PROC_EXIT : BNR_EV_PROC_FAILED, .rank = beneath.end - 1, .gid = gid, .joined = !beneath.ends_early};
    if (did_work)
        *did_work = 0;
    if (beneath.ends_elsewhere)
        memcpy(&event.gid, &beneath_other, sizeof(event.gid));
    if (beneath.end && os_now_ns() >= beneath.end_ns) {
        beneath.end = 0;
        on_event(&event, NULL);
    }
    if (beneath.notice_from) {
        uint8_t word = (uint8_t)beneath.notice;
        int from = beneath.notice_from - 1;
        beneath.notice_from = 0;
        on_told((BNR_Group)&beneath, from, told_tag, &word, 1, NULL);
    }
    return BNR_SUCCESS;
}

int BNR_Fence(BNR_Group g)
{
    (void)g;
    return BNR_SUCCESS;
}

int BNR_Query_caps(unsigned long long *caps)
{
    *caps = BNR_CAP_LAZYGET | (beneath.hears ? BNR_CAP_XCAST : 0) | (beneath.tells ? BNR_CAP_EVENTS : 0);
    return BNR_SUCCESS;
}

int BNR_Xcast_register(BNR_Group g, int tag, BNR_Xcast_fn fn, void *arg)
{
    if (!on_told) { /* the first one's messages alone are passed on */
        on_told = fn;
        told_tag = tag;
    }
    return g && fn && !arg ? BNR_SUCCESS : BNR_ERR_ARG;
}

int BNR_Xcast(BNR_Group g, int tag, const void *data, size_t len, const BNR_Xcast_attr *attr)
{
    if (tag != told_tag)
        return BNR_SUCCESS;
    require(g && beneath.hears && len == 1, "a message that is none");
    require(attr->range_count == 1 && attr->ranges[0][0] == attr->ranges[0][1] &&
                attr->ranges[0][0] != BENEATH_ME && attr->ranges[0][0] < BENEATH_RANKS,
            "a word for nobody");
    beneath.word[attr->ranges[0][0]] = *(const uint8_t *)data;
    beneath.words++;
    return BNR_SUCCESS;
}

int BNR_Abort(BNR_Group g, int exit_code, const char *msg)
{
    (void)g, (void)exit_code;
    require(false, msg);
    abort();
}

/* ---- the channels ---- */

static struct chan chans[2];

static struct chan *chan_of(const struct chan_ops *ops)
{
    return &chans[ops != chan_table[0]];
}

static int send_packet(struct chan_link *base, const struct chan_head *head,
                       const struct chan_data *data)
{
    struct beneath_link *link = (struct beneath_link *)base;
    require(link->taken, "sent on a link that is gone");
    require(data->len <= base->max_data, "sent more than a packet holds");
    if (beneath.outcome == CHAN_AGAIN)
        return CHAN_AGAIN;
    struct beneath_packet *packet = malloc(sizeof(*packet) + data->len);
    require(packet != NULL, "no memory");
    bool pending = beneath.outcome == CHAN_PENDING && data->cookie;
    *packet = (struct beneath_packet){
        .head = *head, .cookie = pending ? data->cookie : NULL, .len = data->len};
    if (data->len && data->base)
        memcpy(packet->data, data->base, data->len);
    else if (data->len)
        data->read(data, 0, packet->data, data->len);
    *link->last = packet;
    link->last = &packet->next;
    return pending ? CHAN_PENDING : 0;
}

static struct beneath_link *make_link(struct chan *chan, struct chan_peer *peer, bool from_us)
{
    struct beneath_link *link = beneath_link(peer->rank);
    require(!link->taken, "a second link to one peer");
    bool has_old = beneath.keeps && link->first;
    *link = (struct beneath_link){.taken = true,
                                  .from_us = from_us,
                                  .first = has_old ? link->first : NULL,
                                  .last = has_old ? link->last : &link->first};
    link->base = (struct chan_link){.send = send_packet,
                                    .ops = chan->ops,
                                    .peer = peer,
                                    .eager_max = 4096,
                                    .max_data = 16384};
    chan->links++;
    return link;
}

static int open_first(struct chan **made, const struct chan_env *env, char *why, size_t size)
{
    (void)why, (void)size;
    chans[0] = (struct chan){.ops = chan_table[0], .fd = -1};
    beneath.env = env;
    *made = &chans[0];
    return 0;
}

static int open_second(struct chan **made, const struct chan_env *env, char *why, size_t size)
{
    (void)why, (void)size;
    chans[1] = (struct chan){.ops = chan_table[1], .fd = -1};
    require(env == beneath.env, "another environment");
    *made = &chans[1];
    return 0;
}

static void close_chan(struct chan *made)
{
    require(!made->links, "closed with links");
}

static int card(struct chan *made, char params[CHAN_CARD_MAX])
{
    (void)made;
    strcpy(params, "a=b");
    return 0;
}

static struct chan_verdict match_first(const char *mine, const char *theirs)
{
    (void)mine, (void)theirs;
    return (struct chan_verdict){beneath.fit, 10, "the test wants it so"};
}

static struct chan_verdict match_second(const char *mine, const char *theirs)
{
    (void)mine, (void)theirs;
    return (struct chan_verdict){beneath.second_fit, 5, "the test wants it so"};
}

static int link_to(struct chan *made, struct chan_peer *peer, const char *theirs,
                   struct chan_link **link)
{
    bool listens = strcmp(theirs, "a=none") != 0;
    void (*linking)(void) = beneath.linking;
    beneath.linking = NULL;
    if (linking)
        linking();
    require(!strcmp(theirs, "a=b") || !listens, "another card");
    beneath.links++;
    if (beneath.refusal || !listens)
        return beneath.refusal ? beneath.refusal : -EAGAIN;
    *link = &make_link(made, peer, true)->base;
    return 0;
}

static void forget(struct beneath_link *link)
{
    while (link->first) {
        struct beneath_packet *packet = link->first;
        link->first = packet->next;
        free(packet);
    }
    link->last = &link->first;
}

static void unlink_from(struct chan_link *base)
{
    struct beneath_link *link = (struct beneath_link *)base;
    require(link->taken, "unlinked twice");
    if (!beneath.keeps)
        forget(link);
    link->taken = false;
    beneath.unlinks++;
    chan_of(base->ops)->links--;
}

static void finish(struct chan_link *base)
{
    struct beneath_link *link = (struct beneath_link *)base;
    require(link->taken, "the end of a link that is gone");
    link->finishing = true;
}

static int progress(struct chan *made)
{
    void (*during)(void) = beneath.during;
    beneath.turns++;
    require(made == &chans[0] || made == &chans[1], "another channel");
    beneath.during = NULL;
    if (during)
        during();
    return during != NULL;
}

static int arm(struct chan *made, enum chan_sleep how)
{
    (void)made, (void)how;
    beneath.is_armed = true;
    return CHAN_AGAIN; /* nobody would wake us */
}

static void disarm(struct chan *made)
{
    (void)made;
    beneath.is_armed = false;
}

/* Memory of peers that are not there cannot be had; a test may say that it can. */
static const struct chan_onesided keyed;
static struct chan_region beneath_region = {&keyed};
enum { KEY_LEN = 8 };
static struct chan_ops chan_fake;

static int copy(bool is_there)
{
    return is_there && !beneath.direct_fails ? 0 : CHAN_UNABLE;
}

static int reg(struct chan *made, void *base, size_t len, struct chan_region **region)
{
    (void)made, (void)len;
    beneath.regions++;
    *region = &beneath_region;
    return base && beneath.key_len ? 0 : -EINVAL;
}

static void dereg(struct chan_region *region)
{
    require(region == &beneath_region && beneath.regions > 0, "another region");
    beneath.regions--;
}

static void key(const struct chan_region *region, void *to)
{
    require(region == &beneath_region, "another region");
    memset(to, 'k', KEY_LEN);
}

static int get(struct chan_link *link, void *to, const struct chan_remote *from, size_t len,
               void *cookie)
{
    if (copy(link && from->address))
        return CHAN_UNABLE;
    if (beneath.key_len) {
        if (memcmp(from->key, "kkkkkkkk", KEY_LEN))
            return CHAN_UNABLE;
        if (beneath.got)
            return CHAN_AGAIN;
        beneath.got = cookie;
        beneath.got_of = link->peer;
        return CHAN_PENDING;
    }
    memset(to, 0, len);
    return 0;
}

static int put(struct chan_link *link, const void *from, const struct chan_remote *to, size_t len,
               void *cookie)
{
    uint64_t sum = 0;
    (void)cookie;
    for (size_t i = 0; i < len; i += 64)
        sum += ((const uint8_t *)from)[i];
    return copy(link && to->address && sum + 1);
}

#define ONESIDED .size = sizeof(struct chan_onesided), .reg = reg, .dereg = dereg, .key = key, \
                 .get = get, .put = put
static const struct chan_onesided onesided = {ONESIDED, .at_once = true};
static const struct chan_onesided keyed = {ONESIDED, .key_len = KEY_LEN};

void beneath_end_get(int rc)
{
    void *cookie = beneath.got;
    beneath.got = NULL;
    if (cookie)
        beneath.env->sink->done(beneath.got_of, cookie, rc);
}

void beneath_use_keys(bool on)
{
    beneath.key_len = on ? KEY_LEN : 0;
    chan_fake.onesided = on ? &keyed : &onesided;
}

static enum chan_stage stage(const struct chan_link *link)
{
    require(((const struct beneath_link *)link)->taken, "the stage of a link that is gone");
    return beneath.stage;
}

static const struct chan_ops chan_second = {
    .version = CHAN_VERSION,
    .size = sizeof(struct chan_ops),
    .name = "second",
    .open = open_second,
    .close = close_chan,
    .card = card,
    .match = match_second,
    .link = link_to,
    .unlink = unlink_from,
    .finish = finish,
    .progress = progress,
    .arm = arm,
    .disarm = disarm,
};

static struct chan_ops chan_fake = {
    .version = CHAN_VERSION,
    .size = sizeof(struct chan_ops),
    .name = "fake",
    .open = open_first,
    .close = close_chan,
    .card = card,
    .match = match_first,
    .link = link_to,
    .unlink = unlink_from,
    .finish = finish,
    .progress = progress,
    .arm = arm,
    .disarm = disarm,
    .onesided = &onesided,
    .stage = stage,
};

const struct chan_ops *const chan_table[] = {&chan_fake, &chan_second, NULL};

/* ---- for tests ---- */

void beneath_start(void)
{
    char why[256];
    struct mpid_world world;
    beneath = (struct beneath){.fit = CHAN_MAYBE,
                               .card = BENEATH_CARD("fake(a=b);second(a=b)")};
    memset(beneath.has_card, 1, sizeof(beneath.has_card));
    links_beyond = calloc((size_t)beneath_ranks, sizeof(*links_beyond));
    require(links_beyond != NULL, "no memory");
    require(!os_settings_load(why, sizeof(why)), why);
    require(!mpid_init(false, sizeof(struct mpid_request), &world, why, sizeof(why)), why);
    require(!mpid_use(MPID_WORLD), "the device is of no use");
}

void beneath_stop(void)
{
    memset(beneath.has_card, 1, sizeof(beneath.has_card));
    for (uint32_t rank = 0; rank < (uint32_t)beneath_ranks; rank++)
        if (beneath_link(rank)->taken)
            beneath.env->sink->lost(&beneath_link(rank)->base, -ECONNRESET);
    beneath_end_get(-ECONNRESET);
    mpid_end_world(true);
    mpid_drain();
    require(mpid_is_out() && !mpid_rest(), "the device could not finish");
    mpid_close();
    require(!chans[0].links && !chans[1].links, "links are left");
    free(links_beyond);
    links_beyond = NULL;
}

struct vc *beneath_vc(uint32_t rank)
{
    struct mpid_gid id;
    memcpy(&id, &gid, sizeof(id));
    struct vc *vc = mpid_vc_get(&id, rank);
    require(vc != NULL, "no VC");
    return vc;
}

void beneath_open(uint32_t rank)
{
    require(beneath_link(rank)->taken, "opened without a link");
    beneath.env->sink->opened(&beneath_link(rank)->base);
}

enum chan_answer beneath_ask(uint32_t rank)
{
    struct chan_gid id;
    struct chan_peer *peer = NULL;
    memcpy(&id, &gid, sizeof(id));
    enum chan_answer answer =
        beneath.env->sink->asked(beneath.env->device, &chan_fake, &id, rank, &peer);
    if (answer == CHAN_ACCEPT && !beneath_link(rank)->taken)
        (void)make_link(&chans[0], peer, false);
    return answer;
}

struct beneath_packet *beneath_sent(uint32_t rank)
{
    struct beneath_link *link = beneath_link(rank);
    struct beneath_packet *packet = link->taken || beneath.keeps ? link->first : NULL;
    if (!packet)
        return NULL;
    link->first = packet->next;
    if (!link->first)
        link->last = &link->first;
    if (packet->cookie)
        beneath.env->sink->sent(link->base.peer, packet->cookie);
    return packet;
}

uint32_t beneath_sent_type(uint32_t rank)
{
    struct beneath_packet *packet = beneath_sent(rank);
    uint32_t type = packet ? (uint32_t)packet->head.word[0] : 0;
    free(packet);
    return type;
}

void beneath_drain(uint32_t rank)
{
    struct beneath_packet *packet;
    while ((packet = beneath_sent(rank)))
        free(packet);
}

void beneath_refuse(uint32_t rank, enum chan_answer answer)
{
    struct beneath_link *link = beneath_link(rank);
    while (link->first) {
        struct beneath_packet **at = &link->first;
        while ((*at)->next)
            at = &(*at)->next;
        struct beneath_packet *last = *at;
        *at = NULL;
        beneath.env->sink->returned(&link->base, &last->head, last->data, last->len);
        free(last);
    }
    beneath.env->sink->refused(&link->base, answer, "the test wants it so");
}

void beneath_end(uint32_t rank)
{
    beneath.end = (int)rank + 1;
    for (int i = 0; i < 1100 && beneath.end; i++) /* it is asked now and then */
        (void)mpid_progress();
    require(!beneath.end, "the device does not ask for events");
}

void beneath_notify(uint32_t rank, int word)
{
    beneath.notice_from = (int)rank + 1;
    beneath.notice = word;
    for (int i = 0; i < 1100 && beneath.notice_from; i++)
        (void)mpid_progress();
    require(!beneath.notice_from, "the device does not ask for events");
}

void beneath_arrive(uint32_t rank, struct chan_head head, const void *data, size_t len)
{
    if (beneath_link(rank)->taken)
        beneath.env->sink->arrived(beneath_link(rank)->base.peer, &head, data, len);
}
