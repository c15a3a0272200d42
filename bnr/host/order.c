/* SPDX-License-Identifier: BSD-3-Clause */

/* The environment of an mpiexec that a job has ordered, and the records that it tells; see order.h. */
#include "bnr/host/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "os/be.h"

static const char from[] = "BNR_SPAWN_NOTE", to[] = "BNR_NOTE";

char **order_environ(char *const *base, const char *note)
{
    size_t count = 0, len = sizeof(from) + strlen(note) + 1, at = 0;
    while (base[count])
        count++;
    char **all = malloc((count + 2) * sizeof(*all) + len);
    if (!all)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(base[i], from, sizeof(from) - 1) != 0)
            all[at++] = base[i];
    if (*note) {
        all[at] = (char *)(all + count + 2);
        snprintf(all[at++], len, "%s=%s", from, note);
    }
    all[at] = NULL;
    return all;
}

void order_take_note(void)
{
    const char *note = getenv(from);
    if (note)
        (void)setenv(to, note, 1);
    else
        (void)unsetenv(to);
    (void)unsetenv(from);
}

/* ---- notes of groups ---- */

static const char prefix[] = "bnr1 ";

static char *put_gid(char *at, const uint8_t gid[16])
{
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%02x", gid[i]);
    return at;
}

void order_note_put(char text[ORDER_NOTE_MAX], const struct order_note *note)
{
    char *at = text + sprintf(text, "%s", prefix);
    at = put_gid(at, note->gid);
    at = put_gid(at + sprintf(at, " %d ", note->size), note->parent);
    at += sprintf(at, " %d ", note->parent_size);
    snprintf(at, (size_t)(text + ORDER_NOTE_MAX - at), "%s", note->door);
}

static bool get_gid(uint8_t gid[16], const char **at)
{
    for (int i = 0; i < 16; i++, *at += 2) {
        unsigned value;
        if (sscanf(*at, "%2x", &value) != 1 || strspn(*at, "0123456789abcdef") < 2)
            return false;
        gid[i] = (uint8_t)value;
    }
    return *(*at)++ == ' ';
}

static bool get_size(int *size, const char **at)
{
    char *end;
    long number = strtol(*at, &end, 10);
    *size = (int)number;
    *at = end + 1;
    return *end == ' ' && number > 0 && number <= 1 << 24;
}

int order_note_get(struct order_note *note, const char *text)
{
    if (strncmp(text, prefix, sizeof(prefix) - 1) != 0 || strlen(text) >= ORDER_NOTE_MAX)
        return -EINVAL;
    text += sizeof(prefix) - 1;
    if (!get_gid(note->gid, &text) || !get_size(&note->size, &text) || !get_gid(note->parent, &text) ||
        !get_size(&note->parent_size, &text))
        return -EINVAL;
    note->door = text;
    return 0;
}

bool order_gid(uint8_t gid[16])
{
    struct order_note note;
    const char *text = getenv(to);
    if (!text || order_note_get(&note, text))
        return false;
    memcpy(gid, note.gid, sizeof(note.gid));
    return true;
}

void order_record_put(uint8_t at[ORDER_RECORD], uint32_t what, int number, int status)
{
    os_be32_put(at, what);
    os_be32_put(at + 4, (uint32_t)number);
    os_be32_put(at + 8, (uint32_t)status);
}

int order_hear(struct order_ear *ear, int fd, uint32_t words[3])
{
    ssize_t n;
    while ((n = recv(fd, ear->at + ear->len, ORDER_RECORD - ear->len, MSG_DONTWAIT)) > 0) {
        ear->len += (size_t)n;
        if (ear->len < ORDER_RECORD)
            continue;
        ear->len = 0;
        for (int i = 0; i < 3; i++)
            words[i] = os_be32_get(ear->at + 4 * i);
        return 1;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}
