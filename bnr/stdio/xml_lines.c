/* SPDX-License-Identifier: BSD-3-Clause */

/* The output of ranks as XML, an element for each line; see xml_lines.h. */
#include "bnr/stdio/xml_lines.h"

#include <stdio.h>
#include <string.h>

#include "bnr/stdio/prefix.h"

/* The text that stands for a byte. */
static const char *escape(unsigned char byte, char text[8])
{
    switch (byte) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    default:
        snprintf(text, 8, byte < ' ' || byte >= 127 ? "&#%03d;" : "%c", byte);
        return text;
    }
}

static int append(struct lines_buffer *out, const char *text)
{
    return lines_append(out, text, strlen(text));
}

int xml_lines_record(const void *prefix, const struct lines_line *line, struct lines_buffer *out)
{
    const struct prefix *p = prefix;
    const char *stream = line->label < p->ranks ? "stdout" : "stderr";
    char begin[48], end[32], byte[8];
    size_t before = out->len;
    snprintf(begin, sizeof(begin), "<%s rank=\"%d\">", stream, line->label % p->ranks);
    snprintf(end, sizeof(end), "%s</%s>\n", line->has_newline ? "&#010;" : "", stream);
    int rc = append(out, begin);
    for (size_t i = 0; !rc && i < line->len; i++)
        rc = append(out, escape((unsigned char)line->data[i], byte));
    if (!rc)
        rc = append(out, end);
    if (rc)
        out->len = before;
    return rc;
}
