/* SPDX-License-Identifier: BSD-3-Clause */

/* The output of ranks as JSON, an object for each line; see json_lines.h. */
#include "bnr/stdio/json_lines.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bnr/host/table.h"
#include "bnr/stdio/prefix.h"
#include "os/clock.h"
#include "os/log.h"

/* The length of the UTF-8 character that data begins with; 0: it begins with none. */
static size_t character_len(const unsigned char *data, size_t len)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } kinds[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 1; n <= 4 && n <= len; n++) {
        if ((data[0] & kinds[n - 1].mask) != kinds[n - 1].lead)
            continue;
        uint32_t code = data[0] & (uint32_t)(unsigned char)~kinds[n - 1].mask;
        for (size_t i = 1; i < n; i++) {
            if ((data[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (data[i] & 0x3f);
        }
        bool is_good = code >= kinds[n - 1].least && code <= 0x10ffff && code >> 11 != 0xd800 >> 11;
        return is_good ? n : 0;
    }
    return 0;
}

static bool is_utf8(const char *data, size_t len)
{
    while (len) {
        size_t n = character_len((const unsigned char *)data, len);
        if (!n)
            return false;
        data += n;
        len -= n;
    }
    return true;
}

/* Append data with "\\xE9" for each byte that is not UTF-8, and two backslashes for one. */
static int escape(const char *data, size_t len, struct lines_buffer *out)
{
    char byte[8];
    int rc = 0;
    while (len && !rc) {
        size_t n = character_len((const unsigned char *)data, len);
        if (!n)
            snprintf(byte, sizeof(byte), "\\x%02X", (unsigned char)*data);
        if (!n || *data == '\\')
            rc = lines_append(out, n ? "\\\\" : byte, n ? 2 : 4);
        else
            rc = lines_append(out, data, n);
        n += !n;
        data += n;
        len -= n;
    }
    return rc;
}

/* The text of a line as a value. */
static json_t *text_of(const struct lines_line *line, bool *is_escaped)
{
    struct lines_buffer text = {0};
    *is_escaped = !is_utf8(line->data, line->len);
    if (!*is_escaped)
        return json_stringn_nocheck(line->data, line->len);
    json_t *value = escape(line->data, line->len, &text)
                        ? NULL
                        : json_stringn_nocheck(text.data, text.len);
    free(text.data);
    return value;
}

static void write_time(uint64_t ns, char *text, size_t size)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || !strftime(text, size, "%FT%T", &parts))
        text[0] = 0;
    size_t used = strlen(text);
    snprintf(text + used, size - used, ".%06dZ", (int)(ns % 1000000000 / 1000));
}

static json_t *object_of(const struct prefix *p, const struct lines_line *line)
{
    bool is_own = line->label == LINES_OWN, is_escaped;
    int rank = is_own ? 0 : line->label % p->ranks;
    char time[64];
    json_t *object = json_object();
    write_time(line->read_ns ? line->read_ns : os_real_ns(), time, sizeof(time));
    int failed =
        json_object_set_new(object, "rank", is_own ? json_null() : json_integer(rank)) |
        json_object_set_new(object, "host",
                            json_string(is_own ? os_host_name()
                                               : table_host(p->table, rank)->name)) |
        json_object_set_new(object, "stream",
                            json_string(is_own                   ? "mpiexec"
                                        : line->label < p->ranks ? "stdout"
                                                                 : "stderr")) |
        json_object_set_new(object, "time", json_string(time)) |
        json_object_set_new(object, "text", text_of(line, &is_escaped));
    if (!line->has_newline)
        failed |= json_object_set_new(object, "newline", json_false());
    if (is_escaped)
        failed |= json_object_set_new(object, "escaped", json_true());
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static int take(const char *data, size_t len, void *out)
{
    return lines_append(out, data, len);
}

int json_lines_record(const void *prefix, const struct lines_line *line, struct lines_buffer *out)
{
    json_t *object = object_of(prefix, line);
    size_t before = out->len;
    int rc = !object || json_dump_callback(object, take, out, JSON_COMPACT) ? -ENOMEM : 0;
    json_decref(object);
    if (!rc)
        rc = lines_append(out, "\n", 1);
    if (rc)
        out->len = before;
    return rc;
}
