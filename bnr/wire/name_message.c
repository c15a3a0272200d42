/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls about names as bytes; see name_message.h. */
#include "bnr/wire/name_message.h"

#include <errno.h>

#include "bnr/wire/field.h"

enum { ERRNO_MAX = 4095 };

static const struct wire_field ask_fields[] = {
    {FIELD_U32, offsetof(struct name_ask, number), 0, 0, UINT32_MAX},
    {FIELD_U32, offsetof(struct name_ask, call), 0, NAME_PUBLISH, NAME_FIND},
    {FIELD_TEXT, offsetof(struct name_ask, name), 0, 0, NAME_MAX_LEN},
    {FIELD_TEXT, offsetof(struct name_ask, text), 0, 0, NAME_MAX_LEN},
};

static const struct wire_field answer_fields[] = {
    {FIELD_U32, offsetof(struct name_answer, number), 0, 0, UINT32_MAX},
    {FIELD_U32, offsetof(struct name_answer, error), 0, 0, ERRNO_MAX},
    {FIELD_TEXT, offsetof(struct name_answer, text), 0, 0, NAME_MAX_LEN},
};

void name_ask_pack(struct packing *p, const struct name_ask *ask)
{
    fields_pack(p, FIELDS(ask_fields), ask);
}

int name_ask_unpack(struct unpacking u, struct name_ask *ask)
{
    *ask = (struct name_ask){0};
    fields_unpack(&u, FIELDS(ask_fields), ask);
    return u.failed || u.left ? -EPROTO : 0;
}

void name_ask_fini(struct name_ask *ask)
{
    fields_release(FIELDS(ask_fields), ask);
    *ask = (struct name_ask){0};
}

void name_answer_pack(struct packing *p, const struct name_answer *answer)
{
    fields_pack(p, FIELDS(answer_fields), answer);
}

int name_answer_unpack(struct unpacking u, struct name_answer *answer)
{
    *answer = (struct name_answer){0};
    fields_unpack(&u, FIELDS(answer_fields), answer);
    return u.failed || u.left ? -EPROTO : 0;
}

void name_answer_fini(struct name_answer *answer)
{
    fields_release(FIELDS(answer_fields), answer);
    *answer = (struct name_answer){0};
}
