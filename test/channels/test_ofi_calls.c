/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls and ends of the ofi channel, between processes that are structs of this one, over a fabric that is a list: one call
 * for each message, so any can be lost, changed, or said again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ofi/link.h"
#include "include/channel_help.h"

enum { CALLERS = 300, ADDRESS_LEN = 16, FRAMES = 4096, MESSAGE_MAX = 1024 };

/* A process, and its one link. */
struct process {
    struct ofi ofi;
    struct chan_env env;
    struct peer {
        struct chan_peer base;
        void *slots[4]; /* behind the peer */
        struct process *of;
        bool open;
    } peers[CALLERS + 1];
    int asked, opened, refused, lost, inserted, arrived;
    bool others_failed; /* what ended_well() tells is the opposite */
    bool refuses;       /* all callers */
};

static struct process *processes; /* 0 is called by all others */

static struct message {
    size_t to, len;
    uint8_t bytes[MESSAGE_MAX] __attribute__((aligned(8)));
} fabric[FRAMES];
static int first, end; /* those under way */

const struct chan_ops vireo_channel = {.name = "ofi"};

static int number, failures;

static void claim(bool truth, const char *what)
{
    printf("%s %d - %s\n", truth ? "ok" : "not ok", ++number, what);
    failures += !truth;
}

/* ---- memory: the channel is compiled to call this one ---- */

static int allocations = -1; /* so many more succeed; -1: all */

void *short_calloc(size_t count, size_t size)
{
    void *memory = allocations ? malloc(count * size) : NULL;
    allocations -= allocations > 0;
    return memory ? memset(memory, 0, count * size) : NULL;
}

/* ---- the fabric ---- */

int ofi_places_reach(struct ofi *ofi, const void *address, size_t len, fi_addr_t *to)
{
    uint64_t index;
    (void)len;
    memcpy(&index, address, sizeof(index));
    *to = index;
    ((struct process *)ofi)->inserted++;
    return index <= CALLERS ? 0 : -EHOSTUNREACH;
}

bool ofi_fabric_post(struct ofi *ofi)
{
    (void)ofi;
    return true;
}

void ofi_fabric_opened(struct ofi *ofi, fi_addr_t to)
{
    (void)ofi, (void)to;
}

static bool takes_none, leads, is_out = true, has_ended; /* the fabric, connections of it, and a process */

bool ofi_sockets_lead(const struct ofi *ofi, fi_addr_t to)
{
    (void)ofi, (void)to;
    return leads;
}

bool ofi_sockets_are_out(const struct ofi *ofi)
{
    (void)ofi;
    return is_out;
}

void ofi_datagrams_hear(struct ofi *ofi)
{
    (void)ofi;
}

static int refusals; /* so many datagrams to process 1 were refused */

size_t ofi_datagrams_refused(struct ofi *ofi, uint8_t address[OFI_ADDRESS_MAX])
{
    (void)ofi;
    address[0] = 1;
    return refusals ? (size_t)refusals-- : 0;
}

bool ofi_places_find(const struct ofi *ofi, const void *address, size_t len, fi_addr_t *to)
{
    (void)ofi, (void)len;
    *to = *(const uint8_t *)address;
    return true;
}

bool ofi_places_has_ended(const struct ofi *ofi, fi_addr_t to)
{
    (void)ofi, (void)to;
    return has_ended;
}

void ofi_leftover_remove(void)
{
}

int ofi_fabric_put(struct ofi *ofi, fi_addr_t to, struct ofi_message *message,
                   const struct chan_data *body, struct ofi_link *link)
{
    (void)ofi, (void)link;
    if (takes_none)
        return CHAN_AGAIN;
    struct message *m = &fabric[end++ % FRAMES];
    m->to = to;
    m->len = sizeof(message->frame) + body->len;
    if (m->len > MESSAGE_MAX || end - first > FRAMES)
        abort();
    memcpy(m->bytes, &message->frame, sizeof(message->frame));
    if (body->len)
        memcpy(m->bytes + sizeof(message->frame), body->base, body->len);
    return 0;
}

static struct message next_message(void)
{
    return fabric[first++ % FRAMES];
}

static void bring(const struct message *m)
{
    (void)ofi_link_receive(&processes[m->to].ofi, m->bytes, m->len);
}

static void bring_all(void)
{
    while (first < end) {
        struct message m = next_message();
        bring(&m);
    }
}

/* No memory is reached here. */
void ofi_memory_stop(struct ofi_link *link)
{
    (void)link;
}

int ofi_memory_give_up(struct ofi_link *link)
{
    (void)link;
    return 0;
}

/* ---- the device ---- */

static enum chan_answer on_asked(void *device, const struct chan_ops *ops, const struct chan_gid *gid,
                                 uint32_t rank, struct chan_peer **peer)
{
    struct process *self = device;
    (void)ops, (void)gid;
    self->asked++;
    if (self->refuses)
        return CHAN_REFUSE_FAILED;
    if (rank > CALLERS || self->peers[rank].open)
        abort(); /* not while a link is open */
    *peer = &self->peers[rank].base;
    return CHAN_ACCEPT;
}

static void on_opened(struct chan_link *link)
{
    struct peer *peer = (struct peer *)link->peer;
    peer->open = true;
    peer->of->opened++;
}

static void on_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    (void)answer, (void)why;
    ((struct peer *)link->peer)->of->refused++;
    ofi_link_free((struct ofi_link *)link);
}

static void on_lost(struct chan_link *link, int rc)
{
    struct peer *peer = (struct peer *)link->peer;
    (void)rc;
    peer->open = false;
    peer->of->lost++;
    ofi_link_free((struct ofi_link *)link);
}

static void on_arrived(struct chan_peer *base, const struct chan_head *head, const void *data, size_t len)
{
    (void)head, (void)data, (void)len;
    ((struct peer *)base)->of->arrived++;
}

static bool on_ended_well(void *device, const struct chan_peer *peer)
{
    (void)peer;
    return !((struct process *)device)->others_failed;
}

static const struct chan_sink sink = {.size = sizeof(sink),
                                      .arrived = on_arrived,
                                      .asked = on_asked,
                                      .opened = on_opened,
                                      .refused = on_refused,
                                      .lost = on_lost};

static void begin(void)
{
    processes = calloc(CALLERS + 1, sizeof(*processes));
    first = end = 0;
    for (size_t i = 0; processes && i <= CALLERS; i++) {
        struct process *p = &processes[i];
        p->env = (struct chan_env){.device = p, .sink = &sink, .rank = (uint32_t)i, .secret = "one for the job",
                                   .ended_well = on_ended_well};
        p->ofi = (struct ofi){.env = &p->env, .address_len = ADDRESS_LEN, .data_max = OFI_DATA_MAX,
                              .timeout_ns = 1u << 30};
        memcpy(p->ofi.address, &i, sizeof(i));
        for (uint32_t k = 0; k <= CALLERS; k++) {
            p->peers[k].of = p;
            p->peers[k].base.rank = k;
        }
    }
}

static void finish(void)
{
    for (int i = 0; i <= CALLERS; i++) {
        while (processes[i].ofi.links)
            ofi_link_free(processes[i].ofi.links);
        ofi_stranger_close(&processes[i].ofi);
    }
    free(processes);
}

/* A process calls the first one. */
static struct ofi_link *call(size_t from, size_t to)
{
    struct ofi *ofi = &processes[from].ofi;
    struct ofi_link *link = ofi_link_make(ofi, &processes[from].peers[to].base, to);
    if (!link || ofi_link_call(link) || !ofi_link_speak(link))
        abort();
    return link;
}

/* ---- claims ---- */

static void strangers_hear_nothing(void)
{
    struct process *callee = &processes[0];
    memcpy(processes[1].env.secret, "one of others!!", 16);
    call(1, 0);
    struct message hello = next_message();
    bring(&hello);
    claim(first == end && !callee->inserted && !callee->ofi.strangers,
          "a HELLO without the secret is answered nothing, nor is its address inserted");
    call(2, 0);
    hello = next_message();
    for (size_t i = sizeof(struct ofi_frame); i < hello.len; i++) {
        struct message changed = hello;
        changed.bytes[i] ^= 0x10;
        bring(&changed);
    }
    claim(first == end && !callee->inserted, "nor one that was changed in a byte, whichever");
    hello.to = 3;
    bring(&hello);
    claim(first == end && !processes[3].inserted, "nor one that is for another process");
    hello.to = 0;
    bring(&hello);
    claim(end == first + 1 && callee->inserted == 1, "a right one is answered");
    bring_all();
    for (int i = 0; i < 3; i++)
        bring(&hello);
    claim(callee->opened == 1 && first == end && callee->inserted == 1,
          "one that was overheard, and is said again, is told nothing");
}

/* Each frame leads to the link whose name it has, however many there are, and to none that has ended. */
static bool all_are_found(struct ofi *ofi, uint64_t ended)
{
    bool all = !ofi_link_find(ofi, ended);
    for (struct ofi_link *link = ofi->links; link; link = link->next)
        all &= ofi_link_find(ofi, link->name) == link && ofi_link_find(ofi, link->called_as) == link;
    return all;
}

static void all_are_let_in(void)
{
    struct ofi *ofi = &processes[0].ofi;
    for (size_t i = 1; i <= CALLERS; i++)
        call(i, 0);
    bring_all(); /* all HELLOs before the first PROOF */
    claim(processes[0].opened == CALLERS, "300 callers at once are let in");
    claim(!ofi->strangers, "and none is kept as a stranger");
    uint64_t ended = ofi->links->name;
    ofi_link_free(ofi->links);
    claim(all_are_found(ofi, ended), "frames find each, but none that has ended");
}

/* Make the time come at which the first one calls again. */
static void pass_time(struct ofi_link *link)
{
    link->again_ns = 1;
    link->ofi->watched = true;
    (void)ofi_link_end_some(link->ofi);
}

static void who_waits_calls_again(void)
{
    struct ofi_link *link = call(1, 0);
    (void)next_message(); /* HELLO is lost */
    pass_time(link);
    bring_all();
    claim(link->state == OFI_OPEN, "a caller that is not heard calls again");
    link = call(2, 0);
    struct message hello = next_message();
    bring(&hello);
    (void)next_message(); /* CHALLENGE is lost */
    pass_time(link);
    bring_all();
    claim(link->state == OFI_OPEN, "so does one that was forgotten");
    link = call(3, 0);
    pass_time(link); /* while the answer to the first one is on its way */
    bring_all();
    claim(link->state == OFI_OPEN && processes[0].opened == 3 && processes[0].asked == 3,
          "who calls twice is let in once");
    claim(!processes[0].ofi.strangers, "and nothing is kept of that");
}

static void who_waits_long_calls_now_and_then(void)
{
    const uint64_t most_ns = 100000000000;
    struct ofi_link *link = call(1, 0);
    for (int i = 0; i < 20; i++) {
        (void)next_message(); /* HELLO is lost */
        pass_time(link);
    }
    claim(link->again_ns < chan_now_ns() + most_ns, "who has called often calls again within 100 seconds");
}

static void an_older_link_ends_first(void)
{
    struct ofi_link *link = call(1, 0);
    bring_all();
    struct ofi *caller = link->ofi;
    ofi_link_free(link);
    processes[1].peers[0].open = false;
    struct message bye = next_message(); /* which comes late */
    link = call(1, 0);
    bring_all();
    claim(link->state == OFI_CALLING && processes[0].asked == 1, "a caller waits while its older link is open");
    bring(&bye);
    (void)ofi_stranger_welcome(&processes[0].ofi);
    bring_all();
    claim(link->state == OFI_OPEN && processes[0].lost == 1 && processes[0].opened == 2,
          "and is let in when that has ended");
    ofi_link_free(caller->links);
}

static void who_gives_up_says_so(void)
{
    struct ofi_link *link = call(1, 0);
    for (int i = 0; i < 2; i++) { /* HELLO, CHALLENGE */
        struct message m = next_message();
        bring(&m);
    }
    ofi_link_free(link); /* with PROOF under way */
    bring_all();
    claim(processes[0].opened == 1 && processes[0].lost == 1 && !processes[0].ofi.links,
          "a link whose caller has given up meanwhile ends");
}

/* Let a time go by in which nothing comes. */
static void be_quiet(struct ofi_link *link, uint64_t ms)
{
    link->since_ns -= ms * 1000000;
    link->ofi->watched = true;
    (void)ofi_link_end_some(link->ofi);
}

/* Its kernel has taken the fabric's connection. */
static void who_stands_still_is_waited_for(void)
{
    struct ofi *ofi = &processes[0].ofi;
    takes_none = leads = true;
    struct ofi_link *link = ofi_link_make(ofi, &processes[0].peers[1].base, 1);
    if (!link || ofi_link_call(link))
        abort();
    link->since_ns -= 5000000000; /* this process stood still, too */
    (void)ofi_link_speak(link);
    (void)ofi_link_end_some(ofi);
    claim(!processes[0].refused, "the time of a call begins with the first try");
    be_quiet(link, 5000);
    claim(!processes[0].refused, "a process that stands still is waited for");
    leads = false;
    be_quiet(link, 5000);
    claim(processes[0].refused == 1, "but not one that the fabric does not lead to");
    takes_none = false;
}

/* To a process of another job, of whose end nobody tells; and the time has come to see whether it lives. */
static struct ofi_link *ask_other_job(bool has_room)
{
    struct ofi_link *link = call(0, 1);
    bring_all();
    takes_none = !has_room;
    processes[0].peers[1].base.gid.b[0] = 1;
    processes[0].ofi.resets = true;
    link->ask_ns = 1;
    be_quiet(link, 0);
    return link;
}

static void who_lives_hears_a_word(void)
{
    struct ofi_link *link = ask_other_job(true);
    claim(end == first + 1 && link->ask_ns > 1, "a process of another job is sent a word now and then");
    bring_all();
    claim(processes[1].ofi.links->state == OFI_OPEN && !processes[0].lost, "which means nothing to it");
}

static void other_jobs_end(void)
{
    is_out = false;
    struct ofi_link *link = ask_other_job(false);
    link->unsaid_ns -= 5000000000;
    be_quiet(link, 0);
    claim(!processes[0].lost, "a link goes on whose words wait behind others that the peer has not taken");
    is_out = true;
    link->unsaid_ns -= 5000000000;
    be_quiet(link, 0);
    claim(processes[0].lost == 1, "but not where there is no connection");
    takes_none = false;
}

static void other_jobs_end_in_memory(void)
{
    has_ended = processes[0].others_failed = true;
    struct ofi_link *link = ask_other_job(true);
    be_quiet(link, 5000);
    claim(processes[0].lost == 1, "nor where the address tells that the process has ended");
    has_ended = false;
}

static void other_jobs_end_by_refusals(void)
{
    struct ofi_link *link = ask_other_job(true);
    be_quiet(link, 0);
    claim(!processes[0].lost, "a link goes on whose peer's host refuses nothing");
    refusals = 1;
    link->ask_ns = 1;
    be_quiet(link, 0);
    claim(processes[0].lost == 1, "but not where it refuses a datagram");
}

static int no_memory(void *device, struct chan_peer *peer)
{
    (void)device, (void)peer;
    return -ENOMEM;
}

static void memory_is_short(void)
{
    struct process *callee = &processes[0];
    callee->ofi.slot = CHAN_SLOT_DYNAMIC;
    callee->env.grow_tail = no_memory;
    call(1, 0);
    bring_all();
    claim(callee->asked == 1 && callee->refused == 1 && !callee->ofi.links && processes[1].refused == 1,
          "where memory is short both hear that there is no link");
}

static void last_words_need_no_memory(void)
{
    struct process *callee = &processes[0];
    struct ofi_link *link = call(1, 0);
    bring_all();
    allocations = 0;
    ofi_link_free(link);
    allocations = -1;
    bring_all();
    claim(callee->opened == 1 && callee->lost == 1, "where memory is short the end of a link is told all the same");
    callee->refuses = true;
    call(2, 0);
    for (int i = 0; i < 2; i++) { /* HELLO, CHALLENGE */
        struct message m = next_message();
        bring(&m);
    }
    allocations = 1; /* for the link that could be */
    struct message proof = next_message();
    bring(&proof);
    allocations = -1;
    bring_all();
    claim(callee->asked == 2 && processes[2].refused == 1, "and so is that there will be none");
}

static void calls_cross(void)
{
    call(1, 0);
    call(0, 1);
    bring_all();
    claim(processes[0].opened == 1 && processes[1].opened == 1 && !processes[0].ofi.strangers &&
              !processes[1].ofi.strangers,
          "calls that cross become one link");
}

/* The fabric could not bring a process's own call. */
static void who_cannot_call_is_called(void)
{
    struct ofi_link *link = call(0, 1);
    (void)next_message();
    ofi_link_break(link, -EHOSTUNREACH);
    call(1, 0);
    bring_all();
    (void)ofi_link_end_some(&processes[0].ofi);
    bring_all();
    claim(link->state == OFI_OPEN && processes[0].opened == 1 && !processes[0].lost && processes[1].opened == 1 &&
              !processes[1].lost,
          "a call that could not be made does not end the peer's own, which was let in meanwhile");
}

/* The link from the second process to the first one, open; it has sent packets, and its process ends. */
static struct ofi_link *send_and_end(int packets, bool well)
{
    struct ofi_link *out = call(1, 0);
    struct chan_head head = {{0, 0}};
    struct chan_data data = {.len = 0};
    bring_all();
    for (int i = 0; i < packets; i++)
        if (out->base.send(&out->base, &head, &data))
            abort();
    if (well && !ofi_link_is_out(out))
        abort();
    processes[0].others_failed = !well;
    struct ofi_link *in = ofi_link_of(&processes[0].ofi, &processes[1].env.gid, 1);
    ofi_link_finish(in);
    return in;
}

static void packets_come_late(void)
{
    struct process *reader = &processes[0];
    be_quiet(send_and_end(3, true), 10000);
    claim(!reader->lost, "a link stays while the last packets of a process that ended well are on their way");
    bring_all();
    (void)ofi_link_end_some(&reader->ofi);
    claim(reader->arrived == 3 && reader->lost == 1, "and ends when they are here");
}

static void nothing_more_comes(void)
{
    struct ofi_link *in = send_and_end(2, false);
    bring_all();
    (void)ofi_link_end_some(in->ofi);
    claim(processes[0].arrived == 2 && !processes[0].lost, "a process that was killed may have sent more");
    be_quiet(in, 5000);
    claim(processes[0].lost == 1, "but not after seconds");
}

static void who_goes_on_ends_again(void)
{
    struct process *reader = &processes[0];
    struct ofi_link *in = send_and_end(1, true);
    struct ofi_link *out = processes[1].ofi.links;
    struct chan_head head = {{0, 0}};
    struct chan_data data = {.len = 0};
    in->ended = false; /* it had only been about to end */
    bring_all();
    claim(!out->base.send(&out->base, &head, &data) && ofi_link_is_out(out), "after its last word a process sends more");
    ofi_link_finish(in);
    bring_all();
    (void)ofi_link_end_some(&reader->ofi);
    claim(reader->arrived == 2 && reader->lost == 1, "which arrives before its next one");
}

int main(void)
{
    static void (*const runs[])(void) = {strangers_hear_nothing, all_are_let_in,
                                         who_waits_calls_again, an_older_link_ends_first,
                                         who_gives_up_says_so, calls_cross,
                                         who_cannot_call_is_called, who_stands_still_is_waited_for,
                                         who_lives_hears_a_word, other_jobs_end,
                                         other_jobs_end_in_memory, other_jobs_end_by_refusals, memory_is_short,
                                         who_waits_long_calls_now_and_then,
                                         last_words_need_no_memory, packets_come_late,
                                         nothing_more_comes, who_goes_on_ends_again};
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        begin();
        runs[i]();
        finish();
    }
    printf("1..%d\n", number);
    return failures != 0;
}
