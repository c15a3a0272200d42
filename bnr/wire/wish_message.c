/* SPDX-License-Identifier: BSD-3-Clause */

/* See wish_message.h. */
#include "bnr/wire/wish_message.h"

#include <string.h>

#include "bnr/wire/field.h"
#include "bnr/wire/launch_message.h"

enum {
    TEXT_MAX = 1 << 16
};

#define AT(member)           offsetof(struct start_wish, member)
#define FLAG(member)         {.kind = FIELD_FLAG, .at = AT(member)}
#define NUMBER(member, most) {FIELD_U32, AT(member), 0, 0, most}
#define TEXT(member)         {FIELD_SOME, AT(member), 0, 0, TEXT_MAX}

static const struct wire_field fields[] = {
    FLAG(is_wanted),
    FLAG(is_filling),
    FLAG(may_overload),
    FLAG(by_thread),
    FLAG(if_supported),
    FLAG(is_ordered),
    FLAG(by_distance),
    FLAG(shows_bindings),
    FLAG(shows_map),
    FLAG(debugs),
    FLAG(names_ranks),
    FLAG(limits_gpus),
    NUMBER(map, PLACEMENT_SLOT),
    NUMBER(rank_by, PLACEMENT_SLOT),
    NUMBER(bind, PLACEMENT_NONE),
    NUMBER(ppr, LAUNCH_RANKS_MAX),
    NUMBER(pe, LAUNCH_RANKS_MAX),
    NUMBER(width, LAUNCH_RANKS_MAX),
    NUMBER(memory, START_MEMORY_INTERLEAVE),
    NUMBER(gpus, LAUNCH_RANKS_MAX),
    NUMBER(stop, START_STOP_INIT),
    {FIELD_U64, AT(nodes), START_NODES_MAX / 64, 0, 0},
    TEXT(allowed),
    TEXT(list),
    TEXT(user),
    TEXT(device),
    NUMBER(rows, UINT16_MAX),
    NUMBER(columns, UINT16_MAX),
    TEXT(agent),
    TEXT(xterm),
    TEXT(terminals),
    TEXT(output_from),
    TEXT(stdin_to),
    {FIELD_SOME, AT(rankfile), 0, 0, PLACEMENT_FILE_MAX},
};

void wish_pack(struct packing *p, const struct start_wish *wish)
{
    fields_pack(p, FIELDS(fields), wish);
}

void wish_unpack(struct unpacking *u, struct start_wish *wish)
{
    *wish = (struct start_wish){0};
    fields_unpack(u, FIELDS(fields), wish);
    const char *text = u->failed ? NULL : wish->rankfile;
    if (text && placement_file_read(&wish->file, text, strlen(text)))
        u->failed = true;
}

void wish_fini(struct start_wish *wish)
{
    placement_file_fini(&wish->file);
    fields_release(FIELDS(fields), wish);
    *wish = (struct start_wish){0};
}
