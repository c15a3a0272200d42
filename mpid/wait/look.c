/* SPDX-License-Identifier: BSD-3-Clause */

/* Looks at memory that processes share, between other things; see look.h. */
#include "mpid/wait/look.h"

#include <stddef.h>

#include "include/mpid.h"
#include "mpid/wait/car.h"

struct mpid_look *look_first;

void look_add(struct mpid_look *look)
{
    look->next = look_first;
    look_first = look;
}

int look_poll(struct chan *chan)
{
    int over = 0;
    struct mpid_look **at = &look_first;
    (void)chan;
    while (*at) {
        struct mpid_look *look = *at;
        if (!look->how->is_done(look->arg)) {
            at = &look->next;
            continue;
        }
        *at = look->next;
        over++;
        car_complete(look->request); /* which may end the look's life, once unlocked */
    }
    return over;
}

struct mpid_look *look_take(void)
{
    struct mpid_look *looks = look_first;
    look_first = NULL;
    return looks;
}

void look_give_back(struct mpid_look *looks)
{
    struct mpid_look **end = &look_first;
    while (*end)
        end = &(*end)->next;
    *end = looks;
}

void look_sleeps(struct mpid_look *looks, bool begins)
{
    for (struct mpid_look *look = looks; look; look = look->next)
        look->how->sleeps(look->arg, begins);
}

bool look_all_wait(const struct mpid_look *looks)
{
    while (looks && !looks->how->is_done(looks->arg))
        looks = looks->next;
    return !looks;
}
