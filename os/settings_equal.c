/* SPDX-License-Identifier: BSD-3-Clause */

/* Settings that all processes of a job must have alike; see settings_equal.h. */
#include "os/settings_equal.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "os/settings.h"

enum {
    VALUE_MAX = 48 /* of one value, NUL included; of a longer text the end counts */
};

/* What may be changed while MPI runs, or is for mpiexec, is not compared. */
static bool counts(const struct os_setting_row *row)
{
    return row->equal && row->until == OS_UNTIL_START;
}

static void write_word(const char *words, int64_t index, char value[VALUE_MAX])
{
    for (; index > 0 && strchr(words, '|'); index--)
        words = strchr(words, '|') + 1;
    snprintf(value, VALUE_MAX, "%.*s", (int)strcspn(words, "|"), words);
}

/* A text without the letters that lists and cards need. */
static void write_text(const char *text, char value[VALUE_MAX])
{
    size_t len = strlen(text);
    snprintf(value, VALUE_MAX, "%s", len < VALUE_MAX ? text : text + len - (VALUE_MAX - 1));
    for (char *c = value; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("/._-+", *c))
            *c = '?';
}

static void write_value(const struct os_setting_row *row, int64_t number, const char *text,
                        char value[VALUE_MAX])
{
    if (row->type == OS_TYPE_TEXT)
        write_text(text, value);
    else if (row->type == OS_TYPE_CHOICE)
        write_word(row->unit, number, value);
    else
        snprintf(value, VALUE_MAX, "%lld", (long long)number);
}

static void write_own(int i, char value[VALUE_MAX])
{
    enum os_setting_id id = (enum os_setting_id)i;
    write_value(&os_settings[i], os_setting(id), os_setting_text(id), value);
}

static void write_initial(int i, char value[VALUE_MAX])
{
    const struct os_setting_row *row = &os_settings[i];
    write_value(row, os_setting_initial((enum os_setting_id)i), row->initial, value);
}

void os_equal_write(char text[OS_EQUAL_MAX])
{
    size_t len = 0;
    text[0] = 0;
    for (int i = 0; i < OS_SETTING_COUNT; i++) {
        char own[VALUE_MAX], initial[VALUE_MAX], item[2 * VALUE_MAX];
        if (!counts(&os_settings[i]))
            continue;
        write_own(i, own);
        write_initial(i, initial);
        int n = snprintf(item, sizeof(item), "%s%s=%s", len ? "," : "", os_settings[i].name, own);
        if (!strcmp(own, initial) || len + (size_t)n >= OS_EQUAL_MAX)
            continue;
        memcpy(text + len, item, (size_t)n + 1);
        len += (size_t)n;
    }
}

/* The value of a setting in a list, or its initial value. */
static void find_value(const char *list, int i, char value[VALUE_MAX])
{
    const char *name = os_settings[i].name;
    size_t len = strlen(name);
    write_initial(i, value);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, name, len) != 0 || at[len] != '=')
            continue;
        snprintf(value, VALUE_MAX, "%.*s", (int)strcspn(at + len + 1, ","), at + len + 1);
        for (char *c = value; *c; c++)
            if (!isprint((unsigned char)*c))
                *c = '?';
        return;
    }
}

bool os_equal_check(const char *theirs, char *why, size_t size)
{
    char mine[OS_EQUAL_MAX], here[VALUE_MAX], there[VALUE_MAX];
    os_equal_write(mine);
    if (!strcmp(mine, theirs))
        return true;
    for (int i = 0; i < OS_SETTING_COUNT; i++) {
        if (!counts(&os_settings[i]))
            continue;
        find_value(mine, i, here);
        find_value(theirs, i, there);
        if (!strcmp(here, there))
            continue;
        const char *name = os_settings[i].name;
        snprintf(why, size, "setting %s is '%s' here and '%s' there, and all processes must have the "
                 "same: give it by mpiexec --set %s=VALUE", name, here, there, name);
        return false;
    }
    return true;
}
