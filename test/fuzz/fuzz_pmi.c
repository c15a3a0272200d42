/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Any line as a reply of a manager with PMI-1: fields are within it, numbers and values are read or refused, and a
 * mapping gives each rank a node.
 *
 * usage: fuzz_pmi FILE...
 */
#include "bnr/client/pmi_wire.h"
#include "test/fuzz/main.h"

enum { LINE_MAX_LEN = 4096, RANKS = 40 };

static void look_at_field(const char *line, size_t len, const char *name)
{
    const char *at;
    size_t field_len;
    char text[64];
    int number;
    if (pmi_field(line, name, &at, &field_len)) {
        require(at > line && at + field_len <= line + len, "a field is within its line");
        require(!memchr(at, ' ', field_len), "a field ends at a blank");
        require(pmi_text(line, name, text, sizeof(text)) == (field_len < sizeof(text)), "a text that fits is copied");
        unsigned char *value = malloc(field_len / 4 * 3 + 3);
        require(value != NULL, "memory");
        long n = pmi_decode(value, at, field_len);
        require(n >= -1 && n <= (long)(field_len / 4 * 3 + 2), "a value is no longer than its text allows");
        char *back = n >= 0 ? malloc((size_t)n * 2 + 8) : NULL;
        if (back) {
            size_t chars = pmi_encode(back, value, (size_t)n);
            require(chars == field_len, "a value that is read has one text");
        }
        free(back);
        free(value);
    } else {
        require(!pmi_text(line, name, text, sizeof(text)) && !pmi_number(line, name, &number), "it is not there");
    }
    (void)pmi_number(line, name, &number);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const char *const names[] = {"cmd", "rc", "value", "kvsname", "vallen_max", "size", "msg", "info"};
    char line[LINE_MAX_LEN + 1];
    int node[RANKS];
    len = len < LINE_MAX_LEN ? len : LINE_MAX_LEN;
    memcpy(line, bytes, len);
    line[len] = 0;
    len = strlen(line);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        look_at_field(line, len, names[i]);
    (void)pmi_succeeded(line);
    if (pmi_mapping(line, RANKS, node))
        for (int r = 0; r < RANKS; r++)
            require(node[r] >= 0, "a node is a number from 0 on");
    return 0;
}
