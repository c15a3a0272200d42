/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A call about a published name as mpiexec passes it to its daemons, and the answer of one, as bytes. Numbers are in
 * network byte order; a text is its length and its bytes. No I/O.
 *
 *     ask       u32 number, u32 enum name_task, the name, and the text that it stands for: "" but to publish
 *     answer    u32 number of the ask, u32 0 or an errno, and the text that was found
 */
#ifndef BNR_NAME_MESSAGE_H
#define BNR_NAME_MESSAGE_H

#include <stdint.h>

#include "bnr/core/bytes.h"

enum { NAME_MAX_LEN = 1023 /* bytes of a name, and of the text that it stands for */ };
enum name_task { NAME_PUBLISH = 1, NAME_UNPUBLISH, NAME_FIND };

struct name_ask {
    uint32_t number, call;
    char *name, *text; /* copies, if it was unpacked */
};

struct name_answer {
    uint32_t number, error;
    char *text; /* the same */
};

void name_ask_pack(struct packing *p, const struct name_ask *ask);
/* Returns 0, or -EPROTO: the bytes are wrong, or memory is out. name_ask_fini() is right after both. */
int name_ask_unpack(struct unpacking u, struct name_ask *ask);
void name_ask_fini(struct name_ask *ask);

/* The same of an answer. */
void name_answer_pack(struct packing *p, const struct name_answer *answer);
int name_answer_unpack(struct unpacking u, struct name_answer *answer);
void name_answer_fini(struct name_answer *answer);

#endif
