/* SPDX-License-Identifier: BSD-3-Clause */

/* Cards, and the choice of a channel by them; see bind.h. */

#include "mpid/ground/bind.h"

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "vireo2;arch=";

static const char *own_arch(void)
{
    const uint16_t probe = 1;
    unsigned char low;
    memcpy(&low, &probe, 1);
    return sizeof(void *) == 8 ? (low ? "le64" : "be64") : (low ? "le32" : "be32");
}

/* By the bits of its mantissa. */
static const char *own_long_double(void)
{
    switch (LDBL_MANT_DIG) {
    case 53: return "binary64";
    case 64: return "x87";
    case 106: return "ibm128";
    case 113: return "binary128";
    default: return "other";
    }
}

int card_start(char *card, size_t size)
{
    int n = snprintf(card, size, "%s%s;ld(%s)", magic, own_arch(), own_long_double());
    return n > 0 && (size_t)n < size ? 0 : -ENOSPC;
}

bool card_has_other_long_double(const char *card)
{
    char theirs[CHAN_CARD_MAX];
    return card_find(card, "ld", theirs) || strcmp(theirs, own_long_double());
}

int card_add(char *card, size_t size, const char *name, const char *params)
{
    size_t start = strnlen(card, size);
    int n = snprintf(card + start, size - start, ";%s(%s)", name, params);
    if (n > 0 && (size_t)n < size - start)
        return 0;
    card[start] = 0;
    return -ENOSPC;
}

/* The part of a card behind "arch=", or NULL if it is no card of our kind. */
static const char *body(const char *card)
{
    if (strncmp(card, magic, sizeof(magic) - 1))
        return NULL;
    return card + sizeof(magic) - 1;
}

int card_find(const char *card, const char *name, char params[CHAN_CARD_MAX])
{
    const char *at = body(card);
    size_t name_len = strlen(name);
    if (!at)
        return -EINVAL;
    for (at += strcspn(at, ";"); *at; at += strcspn(at, ";")) {
        size_t len = strcspn(++at, ";");
        size_t open = strcspn(at, "(;");
        if (open + 2 > len || at[open] != '(' || at[len - 1] != ')')
            return -EINVAL;
        if (open != name_len || memcmp(at, name, open))
            continue;
        size_t n = len - open - 2;
        if (n >= CHAN_CARD_MAX)
            return -EINVAL;
        memcpy(params, at + open + 1, n);
        params[n] = 0;
        return 0;
    }
    return -ENOENT;
}

static struct chan_verdict judge(const char *mine, const char *theirs, const struct chan_ops *ops)
{
    char a[CHAN_CARD_MAX], b[CHAN_CARD_MAX];
    if (card_find(mine, ops->name, a))
        return (struct chan_verdict){CHAN_NO, 0, "not open here"};
    switch (card_find(theirs, ops->name, b)) {
    case 0: return ops->match(a, b);
    case -ENOENT: return (struct chan_verdict){CHAN_NO, 0, "the peer has it not open"};
    default: return (struct chan_verdict){CHAN_NO, 0, "the peer's card cannot be read"};
    }
}

/* The arch of a card, as long as ours; or NULL. */
static const char *arch_of(const char *card)
{
    const char *arch = body(card);
    return arch && strcspn(arch, ";") == strlen(own_arch()) ? arch : NULL;
}

bool card_has_other_order(const char *card)
{
    const char *arch = arch_of(card);
    return arch && (arch[0] == 'l' || arch[0] == 'b') && arch[0] != own_arch()[0] && arch[1] == 'e' &&
           !memcmp(arch + 2, own_arch() + 2, strlen(own_arch()) - 2);
}

/* Whether its process belongs to a job of network byte order. */
static bool is_of_network_order(const char *card)
{
    char equal[CHAN_CARD_MAX];
    return !card_find(card, "equal", equal) && strstr(equal, "byte_order=network");
}

/* Whether a channel can lead from here to there. */
static bool fits_arch(const char *mine, const char *theirs, const struct chan_ops *ops)
{
    const char *arch = arch_of(theirs);
    if (!arch)
        return false;
    return !memcmp(arch, own_arch(), strlen(own_arch())) ||
           (ops->turns && card_has_other_order(theirs) && is_of_network_order(mine) && is_of_network_order(theirs));
}

int bind_choose(const char *mine, const char *theirs, const struct chan_ops *const *table,
                int count, struct bind_choice *choice)
{
    *choice = (struct bind_choice){0};
    for (int i = 0; i < count && i < BIND_CHANNELS; i++) {
        struct chan_verdict *verdict = &choice->verdict[i];
        *verdict = fits_arch(mine, theirs, table[i])
                       ? judge(mine, theirs, table[i])
                       : (struct chan_verdict){CHAN_NO, 0, card_has_other_order(theirs) ? "the other byte order"
                                                                                      : "another architecture"};
        if (verdict->fit == CHAN_NO)
            continue;
        int at = choice->count++;
        for (; at > 0; at--) { /* insertion keeps the table's order among equals */
            uint8_t before = choice->candidate[at - 1];
            if (choice->verdict[before].score >= verdict->score)
                break;
            choice->candidate[at] = before;
        }
        choice->candidate[at] = (uint8_t)i;
    }
    return choice->count ? 0 : -EHOSTUNREACH;
}
