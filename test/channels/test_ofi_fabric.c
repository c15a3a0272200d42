/* SPDX-License-Identifier: BSD-3-Clause */

/* The endpoint of the ofi channel, over one that takes all and completes nothing: each link gets its share of the
 * buffers for sends, and each address is inserted once. */
#include <stdio.h>

#include "channels/ofi/link.h"

enum { LINKS = 20, LEN = 8000, MANY = 1000 };

const struct chan_ops vireo_channel = {.name = "ofi"};

static struct fi_info info;
static struct fi_domain_attr domain;
static struct ofi_link links[LINKS];
static struct ofi_op *under_way[MANY];
static int count; /* of those */
static int number, failures;

static void claim(bool truth, const char *what)
{
    printf("%s %d - %s\n", truth ? "ok" : "not ok", ++number, what);
    failures += !truth;
}

static ssize_t sendmsg_fake(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    (void)ep, (void)flags;
    under_way[count++] = message->context;
    return 0;
}

static int inserted;

static int insert_fake(struct fid_av *av, const void *address, size_t addresses, fi_addr_t *to, uint64_t flags, void *context)
{
    (void)av, (void)address, (void)flags, (void)context;
    *to = (fi_addr_t)++inserted;
    return (int)addresses;
}

static void test_addresses(struct ofi *ofi)
{
    static const char a[] = "one process", b[] = "yet another";
    fi_addr_t first = 0, second = 0, again = 0;
    bool are_known = !ofi_fabric_reach(ofi, a, sizeof(a), &first) && !ofi_fabric_reach(ofi, b, sizeof(b), &second) &&
                     !ofi_fabric_reach(ofi, a, sizeof(a), &again);
    claim(are_known && first != second && first == again && inserted == 2,
          "the address of a process that is reached once more is not inserted again");
}

/* Send long packets until there is no buffer. Returns how many. */
static int fill(struct ofi *ofi, struct ofi_link *link)
{
    static uint8_t bytes[LEN];
    struct ofi_message message = {.frame = {.kind = OFI_DATA, .len = LEN}};
    const struct chan_data body = {.base = bytes, .len = LEN};
    int sent = 0;
    while (count < MANY && !ofi_fabric_put(ofi, 0, &message, &body, link))
        sent++;
    return sent;
}

static void complete_all(struct ofi *ofi)
{
    while (count)
        ofi_fabric_done(ofi, under_way[--count]);
}

int main(void)
{
    static struct fi_ops_msg ops = {.size = sizeof(ops), .sendmsg = sendmsg_fake};
    static struct fi_ops_av av_ops = {.size = sizeof(av_ops), .insert = insert_fake};
    static struct fid_ep ep = {.msg = &ops};
    static struct fid_av av = {.ops = &av_ops};
    static struct ofi ofi;
    int least = MANY;
    info.domain_attr = &domain;
    ofi = (struct ofi){.info = &info, .ep = &ep, .av = &av, .socket = -1, .epoll = -1, .timer = -1};
    claim(fill(&ofi, &links[0]) >= OFI_LEAST, "a link has some buffers");
    for (int i = 1; i < LINKS; i++) {
        int sent = fill(&ofi, &links[i]);
        least = sent < least ? sent : least;
    }
    claim(least >= OFI_LEAST, "and so has each of 20, while the others give none back");
    claim(!fill(&ofi, &links[0]), "one that has its share waits");
    claim(fill(&ofi, NULL) > 0, "words to processes without a link do not");
    complete_all(&ofi);
    claim(fill(&ofi, &links[0]) == OFI_SHARE, "of many idle ones a link takes no more than its share");
    claim(fill(&ofi, &links[1]) >= OFI_LEAST, "and leaves others theirs");
    complete_all(&ofi);
    claim(!links[0].flying && !links[1].flying, "completions give all back");
    test_addresses(&ofi);
    ofi.ep = NULL; /* these cannot be closed */
    ofi.av = NULL;
    ofi.info = NULL;
    ofi_fabric_close(&ofi);
    printf("1..%d\n", number);
    return failures != 0;
}
