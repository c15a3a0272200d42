/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of percent-encoded parameters; see params.h. */
#include "os/params.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int is_plain(unsigned char c)
{
    return c > ' ' && c < 127 && !strchr(";(),=%", c);
}

int os_params_add(char *list, size_t size, const char *key, const char *value)
{
    size_t start = strnlen(list, size), n = start;
    int rc = snprintf(list + n, size - n, "%s%s=", n ? "," : "", key);
    if (rc < 0 || (size_t)rc >= size - n)
        goto full;
    n += (size_t)rc;
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (n + 4 > size)
            goto full;
        n += (size_t)(is_plain(c) ? snprintf(list + n, 2, "%c", c)
                                  : snprintf(list + n, 4, "%%%02X", c));
    }
    return 0;
full:
    list[start] = 0;
    return -ENOSPC;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int decode(const char *text, size_t len, char *value, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (n + 1 >= size)
            return -ENOSPC;
        if (c == '%') {
            int high = i + 2 < len ? hex(text[i + 1]) : -1;
            int low = high >= 0 ? hex(text[i + 2]) : -1;
            if (low < 0 || !(high | low))
                return -EINVAL;
            c = (char)(high << 4 | low);
            i += 2;
        }
        value[n++] = c;
    }
    value[n] = 0;
    return 0;
}

int os_params_get(const char *list, const char *key, int index, char *value, size_t size)
{
    size_t key_len = strlen(key);
    while (*list) {
        size_t len = strcspn(list, ",");
        const char *equals = memchr(list, '=', len);
        if (!equals)
            return -EINVAL;
        if ((size_t)(equals - list) == key_len && !memcmp(list, key, key_len) && !index--)
            return decode(equals + 1, len - key_len - 1, value, size);
        list += len + (list[len] == ',');
    }
    return -ENOENT;
}
