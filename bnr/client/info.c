/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects of BNR; see info.h. */
#include "bnr/client/info.h"

#include <stdlib.h>
#include <string.h>

struct info_text {
    struct info_text *next;
    char *key, *value;
};

struct bnr_info {
    struct info_text *first;
};

static int is_key(const char *key)
{
    return key && *key && strnlen(key, BNR_MAX_INFO_KEY + 1) <= BNR_MAX_INFO_KEY;
}

static struct info_text **find(BNR_Info info, const char *key)
{
    struct info_text **at = &info->first;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

const char *info_value(BNR_Info info, const char *key)
{
    const struct info_text *text = info ? *find(info, key) : NULL;
    return text ? text->value : NULL;
}

double info_number(BNR_Info info, const char *key)
{
    const char *value = info_value(info, key);
    char *end;
    double number = value ? strtod(value, &end) : -1;
    return value && end != value && !*end && number >= 0 ? number : -1;
}

int BNR_Info_create(BNR_Info *info)
{
    if (!info)
        return BNR_ERR_ARG;
    BNR_Info made = calloc(1, sizeof(*made));
    if (!made)
        return BNR_ERR_NOMEM;
    *info = made;
    return BNR_SUCCESS;
}

static void drop(struct info_text **at)
{
    struct info_text *text = *at;
    *at = text->next;
    free(text->key);
    free(text->value);
    free(text);
}

int BNR_Info_free(BNR_Info *info)
{
    if (!info || !*info)
        return BNR_ERR_ARG;
    while ((*info)->first)
        drop(&(*info)->first);
    free(*info);
    *info = BNR_INFO_NULL;
    return BNR_SUCCESS;
}

int BNR_Info_set(BNR_Info info, const char *key, const char *value)
{
    if (!info || !is_key(key) || !value || strnlen(value, BNR_MAX_INFO_VALUE + 1) > BNR_MAX_INFO_VALUE)
        return BNR_ERR_ARG;
    struct info_text **at = find(info, key);
    char *copy = strdup(value);
    if (copy && *at) {
        free((*at)->value);
        (*at)->value = copy;
        return BNR_SUCCESS;
    }
    struct info_text *text = copy ? calloc(1, sizeof(*text)) : NULL;
    if (text)
        text->key = strdup(key);
    if (!text || !text->key) {
        free(text);
        free(copy);
        return BNR_ERR_NOMEM;
    }
    text->value = copy;
    *at = text;
    return BNR_SUCCESS;
}

int BNR_Info_get(BNR_Info info, const char *key, char *value, size_t size)
{
    if (!info || !is_key(key) || !value || !size)
        return BNR_ERR_ARG;
    const char *found = info_value(info, key);
    if (!found)
        return BNR_ERR_NOT_FOUND;
    if (strlen(found) >= size)
        return BNR_ERR_TRUNC;
    strcpy(value, found);
    return BNR_SUCCESS;
}

int BNR_Info_get_valuelen(BNR_Info info, const char *key, size_t *len)
{
    if (!info || !is_key(key) || !len)
        return BNR_ERR_ARG;
    const char *found = info_value(info, key);
    if (!found)
        return BNR_ERR_NOT_FOUND;
    *len = strlen(found);
    return BNR_SUCCESS;
}

int BNR_Info_delete(BNR_Info info, const char *key)
{
    if (!info || !is_key(key))
        return BNR_ERR_ARG;
    struct info_text **at = find(info, key);
    if (!*at)
        return BNR_ERR_NOT_FOUND;
    drop(at);
    return BNR_SUCCESS;
}

int BNR_Info_get_nkeys(BNR_Info info, int *count)
{
    if (!info || !count)
        return BNR_ERR_ARG;
    *count = 0;
    for (const struct info_text *text = info->first; text; text = text->next)
        ++*count;
    return BNR_SUCCESS;
}

int BNR_Info_get_nthkey(BNR_Info info, int n, char key[BNR_MAX_INFO_KEY + 1])
{
    if (!info || n < 0 || !key)
        return BNR_ERR_ARG;
    const struct info_text *text = info->first;
    for (; text && n; n--)
        text = text->next;
    if (!text)
        return BNR_ERR_ARG;
    strcpy(key, text->key);
    return BNR_SUCCESS;
}

int BNR_Info_dup(BNR_Info info, BNR_Info *out)
{
    BNR_Info made = BNR_INFO_NULL;
    if (!info || !out)
        return BNR_ERR_ARG;
    int rc = BNR_Info_create(&made);
    for (const struct info_text *text = info->first; !rc && text; text = text->next)
        rc = BNR_Info_set(made, text->key, text->value);
    if (!rc)
        *out = made;
    else if (made)
        (void)BNR_Info_free(&made);
    return rc;
}
