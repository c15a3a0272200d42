/* SPDX-License-Identifier: BSD-3-Clause */

/* The environment of the processes of a plan; see plan.h. */
#include <stdlib.h>
#include <string.h>

#include "bnr/plan/plan.h"

static size_t name_len(const char *variable)
{
    return strcspn(variable, "=");
}

/* Whether a list has the variable's name, or NAME* with what it begins with. */
static bool is_listed(char *const *list, const char *variable)
{
    for (; list && *list; list++) {
        size_t len = strlen(*list);
        bool is_start = len && (*list)[len - 1] == '*';
        len -= is_start;
        if ((is_start || len == name_len(variable)) && !strncmp(*list, variable, len))
            return true;
    }
    return false;
}

static bool passes(const struct plan *plan, const struct plan_app *app, const char *variable)
{
    bool own = app->env.pass != PLAN_PASS_DEFAULT;
    enum plan_pass pass = own ? app->env.pass : plan->env.pass;
    if (is_listed(app->env.without, variable) || is_listed(plan->env.without, variable))
        return false;
    if (pass == PLAN_PASS_DEFAULT || pass == PLAN_PASS_ALL)
        return true;
    return is_listed(app->env.list, variable) || (!own && is_listed(plan->env.list, variable));
}

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* Put each of list into out, in place of a variable of the same name. */
static void merge(char **out, size_t *n, char *const *list)
{
    for (; list && *list; list++) {
        size_t len = name_len(*list), i = 0;
        while (i < *n && (name_len(out[i]) != len || memcmp(out[i], *list, len)))
            i++;
        out[i] = *list;
        *n += i == *n;
    }
}

char **plan_environ(const struct plan *plan, const struct plan_app *app, char *const *base,
                       char *const *extra)
{
    char *const *lists[] = {plan->settings, plan->env.set, app->env.set, extra};
    size_t n = 0, most = count(base) + 1;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        most += count(lists[i]);
    char **out = calloc(most, sizeof(*out));
    for (; out && base && *base; base++)
        if (passes(plan, app, *base))
            out[n++] = *base;
    for (size_t i = 0; out && i < sizeof(lists) / sizeof(lists[0]); i++)
        merge(out, &n, lists[i]);
    return out;
}
