/* SPDX-License-Identifier: BSD-3-Clause */

/* A ring of letters that is full, in every order of its ends' steps: the writer is rung, or sees the room. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bnr/host/mail.h"
#include "test/steps/steps.h"

enum { SIZE = 4, LETTER = 7 };

static struct mail_words words;
static unsigned char ring[SIZE], heard[LETTER];
static const struct mail mail = {&words, ring, SIZE};
static const char letter[LETTER + 1] = "letters";
static _Atomic int rings;

static void begin(void)
{
    memset(&words, 0, sizeof(words));
    memset(heard, 0, sizeof(heard));
    atomic_store(&rings, 0);
}

/* As the daemon does: it says that there is no room, tries once more, and sleeps until it is rung. */
static void write_all(void)
{
    for (size_t done = 0; done < LETTER;) {
        int seen = atomic_load(&rings);
        long now = mail_write(&mail, letter + done, LETTER - done);
        if (!now) {
            mail_say_full(&mail);
            now = mail_write(&mail, letter + done, LETTER - done);
        }
        while (!now && atomic_load(&rings) == seen)
            steps_idle();
        if (now < 0)
            steps_fail("the writer finds counts that do not fit");
        done += (size_t)now;
    }
}

static void read_all(void)
{
    for (size_t done = 0; done < LETTER;) {
        long now = mail_read(&mail, heard + done, LETTER - done);
        if (now < 0)
            steps_fail("the reader finds counts that do not fit");
        if (now > 0 && mail_has_waiter(&mail))
            atomic_fetch_add(&rings, 1);
        if (!now)
            steps_idle();
        done += (size_t)now;
    }
}

static void end(void)
{
    if (memcmp(heard, letter, LETTER))
        steps_fail("another letter has come");
}

int main(void)
{
    static const struct steps steps = {begin, {write_all, read_all}, end, 2, 1};
    printf("1..1\n");
    long orders = steps_run(&steps);
    printf("# %ld orders\n%s 1 - a writer that waits for room is rung\n", orders, orders > 100 ? "ok" : "not ok");
    fflush(stdout);
    _exit(0);
}
