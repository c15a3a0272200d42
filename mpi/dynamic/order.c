/* SPDX-License-Identifier: BSD-3-Clause */

/* Orders to start a job; see order.h. */
#include "mpi/dynamic/order.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/info.h"
#include "os/spawn_keys.h"

/* ---- words ---- */

/* Append a copy to one of the two lists, and keep a NULL behind it. */
static void append(struct order *order, char ***list, size_t *count, size_t *room, const char *word)
{
    if (order->failed)
        return;
    if (*count + 2 > *room) {
        size_t more = *room ? 2 * *room : 16;
        char **grown = realloc(*list, more * sizeof(*grown));
        order->failed = !grown;
        if (!grown)
            return;
        *list = grown;
        *room = more;
    }
    (*list)[*count] = strdup(word);
    order->failed = !(*list)[*count];
    *count += !order->failed;
    (*list)[*count] = NULL;
}

static void say(struct order *order, const char *word)
{
    append(order, &order->programs, &order->program_count, &order->program_room, word);
}

static void say_first(struct order *order, const char *word)
{
    append(order, &order->words, &order->count, &order->room, word);
}

static void say_number(struct order *order, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    say(order, text);
}

/* ---- how many ---- */

/* Read a number; *at moves behind it. */
static bool read_number(const char **at, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(*at, &end, 10);
    bool good = end != *at && !errno && *number >= INT_MIN && *number <= INT_MAX;
    *at = end;
    return good;
}

/* The largest number of first:last:step that is not above max; -1: there is none. */
static long largest(long first, long last, long step, long max)
{
    if (step < 0) {
        long low = first - (first - last) / -step * -step;
        return largest(low, first, -step, max);
    }
    if (!step || first > last || first > max)
        return -1;
    long top = last < max ? last : max;
    return first + (top - first) / step * step;
}

int order_count(const struct info *info, int max)
{
    const char *soft = info ? info_get(info, "soft") : NULL;
    long best = -1;
    for (const char *at = soft; at && *at; at += *at == ',') {
        long n[3] = {0, 0, 1};
        if (!read_number(&at, &n[0]))
            return -1;
        n[1] = n[0];
        if (*at == ':' && (at++, !read_number(&at, &n[1])))
            return -1;
        if (*at == ':' && (at++, !read_number(&at, &n[2])))
            return -1;
        if (*at && *at != ',')
            return -1;
        long found = largest(n[0], n[1], n[2], max);
        best = found > best ? found : best;
    }
    return soft ? (int)best : max;
}

/* ---- info ---- */

/* Keys with a meaning that is no option's. */
static const char others[] = "soft env file";

/* Whether keys, separated by blanks, has this one. */
static bool has_key(const char *keys, const char *key)
{
    size_t len = strlen(key);
    if (!len || strchr(key, ' '))
        return false;
    for (const char *at = keys; (at = strstr(at, key)) != NULL; at += len)
        if ((at == keys || at[-1] == ' ') && (!at[len] || at[len] == ' '))
            return true;
    return false;
}

bool order_has_key(const char *key)
{
    bool is_known = has_key(others, key);
    for (size_t i = 0; i < sizeof(os_spawn_keys) / sizeof(os_spawn_keys[0]) && !is_known; i++)
        is_known = has_key(os_spawn_keys[i].keys, key);
    return is_known;
}

static const char *value_of(const struct info *info, const char *keys)
{
    char key[64];
    for (const char *at = keys; *at;) {
        size_t len = strcspn(at, " ");
        snprintf(key, sizeof(key), "%.*s", (int)len, at);
        const char *value = info_get(info, key);
        if (value)
            return value;
        at += len + (at[len] != 0);
    }
    return NULL;
}

/* NAME=VALUE, one a line. */
static void say_variables(struct order *order, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        char *one = strndup(text, len);
        order->failed |= !one;
        if (one && strchr(one, '=')) {
            say(order, "-x");
            say(order, one);
        }
        free(one);
        text += len + (text[len] != 0);
    }
}

/* A program starts where the process that spawns it is, wherever mpiexec was started. */
static void say_folder(struct order *order)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof(here)))
        return;
    say(order, "-wdir");
    say(order, here);
}

static void say_info(struct order *order, const struct info *info)
{
    if (info)
        info_lock(info);
    for (size_t i = 0; info && i < sizeof(os_spawn_keys) / sizeof(os_spawn_keys[0]); i++) {
        const char *value = value_of(info, os_spawn_keys[i].keys), *words[2];
        int count = value ? os_spawn_key_words(i, value, words) : 0;
        for (int n = 0; n < count; n++)
            (os_spawn_keys[i].of_job ? say_first : say)(order, words[n]);
        order->is_placed |= count && os_spawn_keys[i].places;
    }
    if (!info || !value_of(info, "wdir wd"))
        say_folder(order);
    const char *variables = info ? info_get(info, "env") : NULL;
    if (variables)
        say_variables(order, variables);
    if (info)
        info_unlock(info);
}

/* ---- the whole ---- */

static void check_word(struct order *order, const char *word)
{
    if (!strcmp(word, ":") && !order->why[0])
        snprintf(order->why, sizeof(order->why), "an argument ':' cannot be passed on: mpiexec begins another program there");
}

void order_add(struct order *order, const struct order_program *program, int count)
{
    if (order->program_count)
        say(order, ":");
    say(order, "-n");
    say_number(order, count);
    say_info(order, program->info);
    if (!*program->command || *program->command == '-')
        snprintf(order->why, sizeof(order->why), "'%.64s' is no name of a program", program->command);
    say(order, program->command);
    for (char *const *word = program->argv; word && *word; word++) {
        check_word(order, *word);
        say(order, *word);
    }
}

int order_end(struct order *order)
{
    if (!order->is_placed) { /* their processors may be those of running processes */
        say_first(order, "-bind-to");
        say_first(order, "none");
    }
    for (size_t i = 0; i < order->program_count; i++)
        say_first(order, order->programs[i]);
    return order->failed ? -ENOMEM : order->why[0] ? -EINVAL : 0;
}

void order_free(struct order *order)
{
    for (size_t i = 0; i < order->count; i++)
        free(order->words[i]);
    for (size_t i = 0; i < order->program_count; i++)
        free(order->programs[i]);
    free(order->words);
    free(order->programs);
}
