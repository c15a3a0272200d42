/* SPDX-License-Identifier: BSD-3-Clause */

/* The endpoint of the ofi channel, over one that takes all and completes nothing: each link gets its share of the
 * buffers for sends, each address is inserted once, and those of ended processes are removed. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ofi/link.h"

enum { LINKS = 20, LEN = 8000, MANY = 1000, ENDED = 60, FEW = 20 };

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
    bool are_known = !ofi_places_reach(ofi, a, sizeof(a), &first) && !ofi_places_reach(ofi, b, sizeof(b), &second) &&
                     !ofi_places_reach(ofi, a, sizeof(a), &again);
    claim(are_known && first != second && first == again && inserted == 2,
          "the address of a process that is reached once more is not inserted again");
}

static int removed;
static bool has_removed[2 * ENDED];

static int remove_fake(struct fid_av *av, fi_addr_t *to, size_t addresses, uint64_t flags)
{
    (void)av, (void)addresses, (void)flags;
    has_removed[*to] = true;
    removed++;
    return 0;
}

static ssize_t read_fake(struct fid_cq *cq, void *buf, size_t entries)
{
    (void)cq, (void)buf, (void)entries;
    return -FI_EAGAIN;
}

/* The address that a process of provider shm had. */
static bool had_address(char *name, size_t size)
{
    int ends[2], status = 1;
    if (pipe(ends))
        return false;
    pid_t child = fork();
    if (!child) {
        ofi_leftover_name(name, size);
        _exit(write(ends[1], name, size) != (ssize_t)size);
    }
    bool is_told = child > 0 && read(ends[0], name, size) == (ssize_t)size && waitpid(child, &status, 0) == child;
    close(ends[0]);
    close(ends[1]);
    return is_told && !status;
}

static void test_ended(struct ofi *ofi)
{
    static struct fi_ops_cq ops = {.size = sizeof(ops), .read = read_fake};
    static struct fid_cq cq = {.ops = &ops};
    char name[OFI_ADDRESS_MAX] = "";
    fi_addr_t linked = 0, other = 0, own = 0;
    inserted = 0;
    ofi->cq = &cq;
    ofi_leftover_name(name, sizeof(name));
    bool all = !ofi_places_reach(ofi, name, sizeof(name), &own) && had_address(name, sizeof(name)) &&
               !ofi_places_reach(ofi, name, sizeof(name), &linked);
    links[0].say.to = linked;
    ofi->links = &links[0];
    for (int i = 0; i < ENDED && all; i++)
        all = had_address(name, sizeof(name)) && !ofi_places_reach(ofi, name, sizeof(name), &other);
    claim(all && inserted - removed <= FEW, "of the addresses of processes that have ended few are kept");
    claim(!has_removed[own] && !has_removed[linked], "but those that live, or to which a link leads");
    ofi->links = NULL;
    ofi->cq = NULL;
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
    static struct fi_ops_av av_ops = {.size = sizeof(av_ops), .insert = insert_fake, .remove = remove_fake};
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
    test_ended(&ofi);
    ofi.ep = NULL; /* these cannot be closed */
    ofi.av = NULL;
    ofi.info = NULL;
    ofi_fabric_close(&ofi);
    printf("1..%d\n", number);
    return failures != 0;
}
