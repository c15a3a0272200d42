/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Helpers for channels, beside channel.h: the parameters of cards, a clock, and a
 * reader of bytes that come from outside. All of them are in this header.
 *
 * A card is a list "key=value,key=value,...". A key may occur more than once. A value is any text;
 * characters that are not plain are written as %XX. The functions that read take bytes from other
 * processes: they are bounded, and trust nothing.
 */
#ifndef CHANNEL_HELP_H
#define CHANNEL_HELP_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- time ---- */

/* The monotonic clock, in nanoseconds. */
static inline uint64_t chan_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- parameters ---- */

/* Write bytes as 2 * len hexadecimal digits and a NUL. */
static inline void chan_hex_write(char *text, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        uint8_t b = ((const uint8_t *)bytes)[i];
        text[2 * i] = digits[b >> 4];
        text[2 * i + 1] = digits[b & 15];
    }
    text[2 * len] = 0;
}

/* Append key=value to list (a NUL-terminated buffer of size bytes), with a comma unless it is the
 * first. Returns 0, or -ENOSPC with list unchanged. */
static inline int chan_params_add(char *list, size_t size, const char *key, const char *value)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t start = strnlen(list, size), n = start, key_len = strlen(key);
    if (start + key_len + 3 > size)
        return -ENOSPC;
    if (n)
        list[n++] = ',';
    memcpy(list + n, key, key_len);
    n += key_len;
    list[n++] = '=';
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        bool plain = c > ' ' && c < 127 && !strchr(";(),=%", c);
        if (n + 4 > size) {
            list[start] = 0;
            return -ENOSPC;
        }
        list[n++] = plain ? (char)c : '%';
        if (!plain) {
            list[n++] = digits[c >> 4];
            list[n++] = digits[c & 15];
        }
    }
    list[n] = 0;
    return 0;
}

/* The value of a hexadecimal digit, or -1. */
static inline int chan_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline int chan_params_decode(const char *text, size_t len, char *value, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (n + 1 >= size)
            return -ENOSPC;
        if (c == '%') {
            int high = i + 2 < len ? chan_hex(text[i + 1]) : -1;
            int low = high >= 0 ? chan_hex(text[i + 2]) : -1;
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

/* Copy the decoded value of the index-th occurrence of key into value. Returns
 * 0, -ENOENT if there is none, -ENOSPC, or -EINVAL for bytes that are no list. */
static inline int chan_params_get(const char *list, const char *key, int index, char *value,
                                  size_t size)
{
    size_t key_len = strlen(key);
    while (*list) {
        size_t len = strcspn(list, ",");
        const char *equals = (const char *)memchr(list, '=', len);
        if (!equals)
            return -EINVAL;
        if ((size_t)(equals - list) == key_len && !memcmp(list, key, key_len) && !index--)
            return chan_params_decode(equals + 1, len - key_len - 1, value, size);
        list += len + (list[len] == ',');
    }
    return -ENOENT;
}

/* Whether key stands in both cards with the same value. */
static inline bool chan_params_agree(const char *mine, const char *theirs, const char *key)
{
    char a[300], b[300];
    return !chan_params_get(mine, key, 0, a, sizeof(a)) &&
           !chan_params_get(theirs, key, 0, b, sizeof(b)) && !strcmp(a, b);
}

/* The same of bytes, which stand in hexadecimal digits. -EINVAL unless there are exactly len. */
static inline int chan_params_add_bytes(char *list, size_t size, const char *key,
                                        const void *bytes, size_t len)
{
    char text[1024];
    if (2 * len >= sizeof(text))
        return -ENOSPC;
    chan_hex_write(text, bytes, len);
    return chan_params_add(list, size, key, text);
}

/* Returns how many bytes there were, size at most; or -EINVAL, -ENOENT, -ENOSPC. */
static inline int chan_params_get_bytes(const char *list, const char *key, void *bytes, size_t size)
{
    char text[1024];
    int rc = chan_params_get(list, key, 0, text, sizeof(text));
    size_t len = rc ? 0 : strlen(text) / 2;
    if (rc)
        return rc;
    if (strlen(text) % 2)
        return -EINVAL;
    if (len > size)
        return -ENOSPC;
    for (size_t i = 0; i < len; i++) {
        int high = chan_hex(text[2 * i]), low = chan_hex(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return -EINVAL;
        ((uint8_t *)bytes)[i] = (uint8_t)(high << 4 | low);
    }
    return (int)len;
}

/* ---- bytes from outside ---- */

/* The rest of a message that is read. Once a value is missing, bad is set and stays, and all
 * further values are 0: so one look at the end is enough. */
struct chan_reader {
    const uint8_t *at;
    size_t left;
    bool bad;
};

/* The next len bytes, or NULL. */
static inline const void *chan_read_bytes(struct chan_reader *reader, size_t len)
{
    if (reader->bad || len > reader->left) {
        reader->bad = true;
        return NULL;
    }
    const uint8_t *at = reader->at;
    reader->at += len;
    reader->left -= len;
    return at;
}

/* The next number of len bytes, 8 at most, in network byte order. */
static inline uint64_t chan_read_number(struct chan_reader *reader, size_t len)
{
    const uint8_t *at = (const uint8_t *)chan_read_bytes(reader, len);
    uint64_t number = 0;
    for (size_t i = 0; at && i < len; i++)
        number = number << 8 | at[i];
    return number;
}

/* Write a number in network byte order. Returns the place behind it. */
static inline uint8_t *chan_write_number(uint8_t *at, uint64_t number, size_t len)
{
    for (size_t i = len; i-- > 0; number >>= 8)
        at[i] = (uint8_t)number;
    return at + len;
}

/* Whether two secrets are equal, in a time independent of the place of a difference. */
static inline bool chan_equal_secret(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = (const volatile uint8_t *)a, *y = (const volatile uint8_t *)b;
    uint8_t differ = 0;
    for (size_t i = 0; i < len; i++)
        differ |= (uint8_t)(x[i] ^ y[i]);
    return !differ;
}

#endif
