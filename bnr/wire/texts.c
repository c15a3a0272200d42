/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of texts that share most of them; see texts.h. */
#include "bnr/wire/texts.h"

#include <errno.h>
#include <stdlib.h>


#include "bnr/core/hash.h"
#include "bnr/wire/field.h"

struct texts_entry {
    const char *text;
    uint32_t number;
    UT_hash_handle hh;
};

static struct texts_entry *find(const struct texts *t, const char *text)
{
    struct texts_entry *entry;
    HASH_FIND_PTR(t->known, &text, entry);
    return entry;
}

static int grow(struct texts *t)
{
    uint32_t room = t->room ? 2 * t->room : 64;
    char **at = t->count < t->room ? t->at : realloc(t->at, room * sizeof(*at));
    if (!at)
        return -ENOMEM;
    t->room = t->count < t->room ? t->room : room;
    t->at = at;
    return 0;
}

int texts_add(struct texts *t, char *const *list)
{
    for (; *list; list++) {
        if (find(t, *list))
            continue;
        struct texts_entry *entry = grow(t) ? NULL : malloc(sizeof(*entry));
        if (!entry)
            return -ENOMEM;
        *entry = (struct texts_entry){.text = *list, .number = t->count};
        HASH_ADD_PTR(t->known, text, entry);
        t->at[t->count++] = *list;
    }
    return 0;
}

void texts_pack(struct packing *p, const struct texts *t)
{
    pack_u32(p, t->count);
    for (uint32_t i = 0; i < t->count; i++)
        pack_text(p, t->at[i]);
}

void texts_pack_list(struct packing *p, const struct texts *t, char *const *list)
{
    uint32_t count = 0;
    while (list[count])
        count++;
    pack_u32(p, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct texts_entry *entry = find(t, list[i]);
        p->failed |= !entry;
        pack_u32(p, entry ? entry->number : 0);
    }
}

void texts_unpack(struct unpacking *u, struct texts *t)
{
    uint32_t count = unpack_u32(u);
    *t = (struct texts){.is_owner = true};
    if (count > u->left / 4) {
        u->failed = true;
        return;
    }
    t->at = calloc((size_t)count + 1, sizeof(*t->at));
    u->failed |= !t->at;
    for (; t->count < count && !u->failed; t->count++)
        u->failed |= !(t->at[t->count] = unpack_text(u, u->left));
}

char **texts_unpack_list(struct unpacking *u, const struct texts *t, uint32_t least)
{
    uint32_t count = unpack_u32(u);
    bool is_good = !u->failed && count <= u->left / 4 && count >= least;
    char **list = is_good ? calloc((size_t)count + 1, sizeof(*list)) : NULL;
    u->failed |= !list;
    for (uint32_t i = 0; i < count && !u->failed; i++) {
        uint32_t number = unpack_u32(u);
        u->failed |= number >= t->count;
        list[i] = u->failed ? NULL : t->at[number];
    }
    return list;
}

void texts_fini(struct texts *t)
{
    struct texts_entry *entry, *next;
    HASH_ITER(hh, t->known, entry, next)
    {
        HASH_DEL(t->known, entry);
        free(entry);
    }
    for (uint32_t i = 0; t->is_owner && i < t->count; i++)
        free(t->at[i]);
    free(t->at);
    *t = (struct texts){0};
}
