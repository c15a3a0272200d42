/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cards of other processes, and the lists of parameters in them: any bytes. The answers stay
 * within their buffers, and choosing is the same from both sides.
 *
 * usage: fuzz_card FILE...
 */
#include <errno.h>

#include "include/channel_help.h"
#include "mpid/ground/bind.h"
#include "test/fuzz/main.h"

static char card[CARD_MAX];

/* A verdict that depends on both, and on neither's order. */
static struct chan_verdict match(const char *mine, const char *theirs)
{
    char a[16], b[16];
    require(strlen(mine) < CHAN_CARD_MAX && strlen(theirs) < CHAN_CARD_MAX, "parameters too long");
    int fails = chan_params_get(mine, "v", 0, a, sizeof(a)) | chan_params_get(theirs, "v", 0, b, 16);
    int fit = fails ? CHAN_NO : strcmp(a, b) ? CHAN_MAYBE : CHAN_YES;
    return (struct chan_verdict){(enum chan_fit)fit, (a[0] + b[0]) & 63, "by the test"};
}

static const struct chan_ops one = {.name = "one", .match = match};
static const struct chan_ops two = {.name = "two", .match = match};
static const struct chan_ops longer = {.name = "onetwo", .match = match};
static const struct chan_ops *const table[] = {&one, &two, &longer};

static void fuzz_card(void)
{
    char mine[CARD_MAX], found[CHAN_CARD_MAX], *exact = strdup(card);
    struct bind_choice choice, back;
    require(exact != NULL, "no memory");
    require(!card_start(mine, CARD_MAX) && !card_add(mine, CARD_MAX, "one", "v=1,w=2") &&
                !card_add(mine, CARD_MAX, "onetwo", "v=%41") &&
                !card_add(mine, CARD_MAX, "two", ""),
            "an own card is refused");
    int rc = bind_choose(mine, exact, table, 3, &choice);
    require(choice.count <= 3 && (rc == 0) == (choice.count > 0), "a choice out of bounds");
    for (int i = 0; i < choice.count; i++)
        require(choice.candidate[i] < 3 && choice.verdict[choice.candidate[i]].fit != CHAN_NO,
                "a candidate that is none");
    for (int i = 1; i < choice.count; i++)
        require(choice.verdict[choice.candidate[i - 1]].score >=
                    choice.verdict[choice.candidate[i]].score,
                "candidates out of order");
    (void)bind_choose(exact, mine, table, 3, &back);
    size_t head = strlen("vireo2;arch=le64");
    if (!strncmp(exact, mine, head) && (!exact[head] || exact[head] == ';')) /* of our kind */
        require(choice.count == back.count &&
                    !memcmp(choice.candidate, back.candidate, choice.count),
                "the two sides choose differently");
    for (int i = 0; i < 3; i++) {
        memset(found, 1, sizeof(found));
        if (!card_find(exact, table[i]->name, found))
            require(memchr(found, 0, sizeof(found)) != NULL, "parameters without an end");
    }
    free(exact);
}

static void fuzz_params(void)
{
    char list[256] = "", back[CARD_MAX], value[64], *exact = strdup(card);
    require(exact != NULL, "no memory");
    for (int i = 0; i < 4; i++)
        for (size_t size = 1; size <= sizeof(value); size *= 4) {
            int rc = chan_params_get(exact, i & 1 ? "a" : "key", i / 2, value, size);
            require(rc == -ENOENT || rc == -EINVAL || rc == -ENOSPC || !rc, "another answer");
            require(rc || strlen(value) < size, "a value without an end");
        }
    if (!chan_params_add(list, sizeof(list), "x", "1") &&
        !chan_params_add(list, sizeof(list), "key", exact)) { /* what goes in comes out */
        require(!chan_params_get(list, "key", 0, back, sizeof(back)) && !strcmp(back, exact),
                "a value has changed");
        require(strlen(list) < sizeof(list) && !strpbrk(list, ";()"), "a list breaks its card");
    } else {
        require(!strcmp(list, "x=1"), "a failure has left something");
    }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!len)
        return 0;
    size_t n = len - 1 < sizeof(card) - 1 ? len - 1 : sizeof(card) - 1;
    memcpy(card, bytes + 1, n);
    card[n] = 0;
    if (bytes[0] & 1)
        fuzz_params();
    else
        fuzz_card();
    return 0;
}
