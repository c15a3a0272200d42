/* SPDX-License-Identifier: BSD-3-Clause */

/* Collecting answers of ranks at a daemon; see answers.h. */
#include "bnr/daemon/answers.h"

#include <stdlib.h>

#include "bnr/daemon/words.h"
#include "bnr/diagnose/answer.h"
#include "bnr/diagnose/patience.h"
#include "bnr/wire/launch_message.h"
#include "os/clock.h"

enum {
    LOOK_MS = 20,  /* between looks for answers */
    LIMIT_MS = 700 /* for all of them */
};

struct answers {
    uv_timer_t timer;
    const struct table *table;
    struct words *words;
    struct patience patience;
    uint64_t until_ns;
};

static void say_answer(struct answers *a, int rank)
{
    static uint8_t text[TABLE_ANSWER];
    struct packing p = {0};
    enum diagnose_state state = patience_state(&a->patience, rank);
    pack_u32(&p, atomic_load(&a->table->head->asks));
    pack_u32(&p, (uint32_t)state);
    pack_u32(&p, state == DIAGNOSE_ENDED ? 0 : (uint32_t)answer_process(a->table, rank));
    if (state == DIAGNOSE_ANSWERED)
        pack_raw(&p, text, answer_copy(a->table, rank, text));
    struct bytes *all = pack_end(&p);
    if (all)
        words_say(a->words, &(struct record){RECORD_ANSWER, (uint32_t)rank, all->len, all->at});
    bytes_unref(all);
}

static void on_look(uv_timer_t *timer)
{
    struct answers *a = timer->data;
    const struct table *t = a->table;
    for (int r = 0; os_now_ns() < a->until_ns && r < t->world_size; r++)
        if (table_slot(t, r) >= 0 && answer_state(t, r) == DIAGNOSE_SILENT)
            return;
    uv_timer_stop(timer);
    for (int r = 0; r < t->world_size; r++)
        if (table_slot(t, r) >= 0)
            say_answer(a, r);
}

void answers_ask(struct answers *a, const struct table *t, uint32_t number)
{
    a->table = t;
    atomic_store(&t->head->asks, number);
    patience_begin(&a->patience, t);
    a->until_ns = os_now_ns() + LIMIT_MS * 1000000ull;
    uv_timer_start(&a->timer, on_look, LOOK_MS, LOOK_MS);
}

struct answers *answers_make(uv_loop_t *loop, struct words *words)
{
    struct answers *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->words = words;
    uv_timer_init(loop, &a->timer);
    a->timer.data = a;
    return a;
}
