/* SPDX-License-Identifier: BSD-3-Clause */

/* Published names on a daemon's host; see names_far.h. */
#include "bnr/daemon/names_far.h"

#include <errno.h>
#include <string.h>

#include "bnr/host/names.h"
#include "bnr/daemon/words.h"
#include "bnr/wire/launch_message.h"

static void answer(struct words *words, int rank, const struct name_answer *answer)
{
    struct packing p = {0};
    name_answer_pack(&p, answer);
    struct bytes *all = pack_end(&p);
    if (all)
        words_say(words, &(struct record){RECORD_NAME, (uint32_t)rank, all->len, all->at});
    bytes_unref(all);
}

void names_far_take(struct words *words, int rank, struct unpacking u)
{
    char found[NAMES_MAX + 1], other[NAMES_MAX + 1];
    struct name_ask ask;
    if (!name_ask_unpack(u, &ask)) {
        int rc = names_call((enum name_task)ask.call, ask.name, ask.text, found);
        if (rc == -EEXIST && !names_find(ask.name, other) && !strcmp(other, ask.text))
            rc = 0; /* mpiexec, or another of its daemons, has its node on this machine, too */
        answer(words, rank, &(struct name_answer){ask.number, (uint32_t)-rc, found});
    }
    name_ask_fini(&ask);
}
