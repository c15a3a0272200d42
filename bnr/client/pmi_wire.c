/* SPDX-License-Identifier: BSD-3-Clause */

/* The text of PMI-1; see pmi_wire.h. */
#include "bnr/client/pmi_wire.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/client/manager.h"

bool pmi_succeeded(const char *line)
{
    static const char fail[] = "fail";
    int rc;
    const char *at;
    size_t len;
    if (pmi_field(line, "rc", &at, &len))
        return pmi_number(line, "rc", &rc) && !rc;
    return !pmi_field(line, "info", &at, &len) || len != sizeof(fail) - 1 || memcmp(at, fail, len) != 0;
}

/* ---- values ---- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool pmi_chunk_key(char to[PMI_KEY], int owner, const char *key, int number)
{
    int n = manager_takes(key) ? snprintf(to, PMI_KEY, "v%d.%s.%d", owner, key, number) : 0;
    return n > 0 && n < PMI_KEY;
}

size_t pmi_chunk_bytes(int value_max, const char *name, const char *key)
{
    size_t rest = strlen("cmd=put kvsname= key= value=\n") + strlen(name) + strlen(key);
    size_t room = rest < PMI_LINE ? PMI_LINE - rest : 0;
    size_t most = value_max > 0 ? (size_t)value_max - 1 : 0; /* Hydra 4.0 cuts the last one */
    if (room > most)
        room = most;
    return room > PMI_CHUNK_HEAD ? (room - PMI_CHUNK_HEAD) / 4 * 3 : 0;
}

size_t pmi_encode(char *to, const void *data, size_t len)
{
    const unsigned char *from = data;
    char *begin = to;
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i < 3 ? len - i : 3;
        uint32_t bits = (uint32_t)from[i] << 16;
        if (left > 1)
            bits |= (uint32_t)from[i + 1] << 8;
        if (left > 2)
            bits |= from[i + 2];
        for (size_t c = 0; c <= left; c++)
            *to++ = alphabet[bits >> (18 - 6 * c) & 63];
    }
    *to = 0;
    return (size_t)(to - begin);
}

long pmi_decode(void *to, const char *text, size_t len)
{
    unsigned char *out = to;
    if (len % 4 == 1)
        return -1;
    for (size_t i = 0; i < len; i += 4) {
        size_t left = len - i < 4 ? len - i : 4;
        uint32_t bits = 0;
        for (size_t c = 0; c < left; c++) {
            const char *found = text[i + c] ? strchr(alphabet, text[i + c]) : NULL;
            if (!found)
                return -1;
            bits |= (uint32_t)(found - alphabet) << (18 - 6 * c);
        }
        for (size_t c = 0; c + 1 < left; c++)
            *out++ = (unsigned char)(bits >> (16 - 8 * c));
    }
    return out - (unsigned char *)to;
}

/* ---- places ---- */

/* Read a number from 0 on, and the character behind it. */
static bool take_number(const char **at, char behind, int *number)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    long value = strtol(*at, &end, 10);
    if (value > INT_MAX / 2 || *end != behind)
        return false;
    *number = (int)value;
    *at = end + 1;
    return true;
}

bool pmi_mapping(const char *text, int size, int *node)
{
    static const char begin[] = "(vector,(";
    if (strncmp(text, begin, sizeof(begin) - 1))
        return false;
    const char *at = text + sizeof(begin) - 1;
    int first, nodes, ranks, rank = 0;
    bool is_last = false;
    while (rank < size) {
        if (!take_number(&at, ',', &first) || !take_number(&at, ',', &nodes) || !take_number(&at, ')', &ranks) ||
            !nodes || !ranks)
            return false;
        for (int n = 0; n < nodes && rank < size; n++)
            for (int r = 0; r < ranks && rank < size; r++)
                node[rank++] = first + n;
        is_last = *at == ')' && !at[1];
        if (!is_last && strncmp(at, ",(", 2))
            return false;
        at = is_last ? text + sizeof(begin) - 1 : at + 2;
    }
    return true;
}
