/* SPDX-License-Identifier: BSD-3-Clause */

/* Options about the environment, and what it becomes by them. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/options/option_reader.h"

static size_t name_len(const char *variable)
{
    return strcspn(variable, "=");
}

/* NAME VALUE or NAME=VALUE; first is the first word. */
static int set_variable(struct reader *r, const char *option, const char *first, char ***set)
{
    const char *value = NULL;
    char *text;
    if (!*first || *first == '=')
        return reader_refuse(r, "'%s' needs the name of a variable", option);
    if (strchr(first, '='))
        return reader_push(set, strdup(first));
    int rc = reader_next(r, option, &value);
    if (rc)
        return rc;
    return asprintf(&text, "%s=%s", first, value) < 0 ? -ENOMEM : reader_push(set, text);
}

static int export_variable(struct reader *r, const char *option, const char *text)
{
    if (!*text || *text == '=')
        return reader_refuse(r, "'%s' needs the name of a variable", option);
    return reader_push(strchr(text, '=') ? &r->app.env.set : &r->app.env.list, strdup(text));
}

/* Add the names of a list, which commas part. */
static int add_names(char ***list, const char *names)
{
    int rc = 0;
    while (!rc && *names) {
        size_t n = strcspn(names, ",");
        if (n)
            rc = reader_push(list, strndup(names, n));
        names += n + (names[n] == ',');
    }
    return rc;
}

/* A variable's value so far: by these options, or in mpiexec's own environment. */
static const char *value_of(const struct reader *r, const char *name, size_t len)
{
    char *const *lists[] = {r->app.env.set, r->o->plan.env.set};
    const char *found = NULL;
    char copy[256];
    for (size_t i = 0; !found && i < sizeof(lists) / sizeof(lists[0]); i++)
        for (char *const *at = lists[i]; at && *at; at++)
            if (name_len(*at) == len && !memcmp(*at, name, len))
                found = *at + len + 1; /* the last one counts */
    snprintf(copy, sizeof(copy), "%.*s", (int)len, name);
    return found ? found : getenv(copy);
}

/* NAME[c] VALUE: put the value behind what the variable has, or before it, with c between. */
static int extend(struct reader *r, const char *option, const char *first, bool is_behind)
{
    const char *value;
    char *text;
    size_t len = strcspn(first, "[");
    if (!len || !first[len] || !first[len + 1] || strcmp(first + len + 2, "]"))
        return reader_refuse(r, "'%s' takes a name and what parts its values, as PATH[:], not '%s'",
                             option, first);
    int rc = reader_next(r, option, &value);
    if (rc)
        return rc;
    const char *old = value_of(r, first, len);
    int n = !old ? asprintf(&text, "%.*s=%s", (int)len, first, value)
            : is_behind
                ? asprintf(&text, "%.*s=%s%c%s", (int)len, first, old, first[len + 1], value)
                : asprintf(&text, "%.*s=%s%c%s", (int)len, first, value, first[len + 1], old);
    return n < 0 ? -ENOMEM : reader_push(&r->app.env.set, text);
}

int option_env_apply(struct reader *r, enum option_action action, const char *option,
                     const char *value)
{
    struct plan_env *mine = &r->app.env, *all = &r->o->plan.env;
    switch (action) {
    case OPTION_ENV: return set_variable(r, option, value, &mine->set);
    case OPTION_GENV: return set_variable(r, option, value, &all->set);
    case OPTION_EXPORT: return export_variable(r, option, value);
    case OPTION_ENVLIST: mine->pass = PLAN_PASS_LIST; return add_names(&mine->list, value);
    case OPTION_GENVLIST: all->pass = PLAN_PASS_LIST; return add_names(&all->list, value);
    case OPTION_ENVALL: mine->pass = PLAN_PASS_ALL; return 0;
    case OPTION_GENVALL: all->pass = PLAN_PASS_ALL; return 0;
    case OPTION_ENVNONE: mine->pass = PLAN_PASS_NONE; return 0;
    case OPTION_ENVEXCL: return add_names(&mine->without, value);
    case OPTION_GENVEXCL: return add_names(&all->without, value);
    case OPTION_APPEND: return extend(r, option, value, true);
    case OPTION_PREPEND: return extend(r, option, value, false);
    default: all->pass = PLAN_PASS_NONE; return 0;
    }
}
