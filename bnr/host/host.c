/* SPDX-License-Identifier: BSD-3-Clause */

/* The host's identity; see host.h. */
#include "bnr/host/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "os/log.h"

/* Copy the first word of a file, with letters, digits and '-' only; "-" without one. */
static void read_word(const char *path, char *word, size_t size)
{
    size_t n = 0;
    char text[64];
    ssize_t got = os_read_start(path, text, sizeof(text));
    for (ssize_t i = 0; i < got && n + 1 < size; i++) {
        char c = text[i], lower = (char)(c | 0x20);
        if (!((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            break;
        word[n++] = c;
    }
    if (!n)
        word[n++] = '-';
    word[n] = 0;
}

void host_id(char id[HOST_ID_MAX])
{
    char machine[48], boot[48];
    struct stat ns;
    read_word("/etc/machine-id", machine, sizeof(machine));
    read_word("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
    int has_ns = !stat("/proc/self/ns/ipc", &ns);
    if (machine[0] == '-' && boot[0] == '-' && !has_ns)
        snprintf(id, HOST_ID_MAX, "%.*s", HOST_ID_MAX - 1, os_host_name());
    else if (has_ns)
        snprintf(id, HOST_ID_MAX, "%s.%s.%llu", machine, boot, (unsigned long long)ns.st_ino);
    else
        snprintf(id, HOST_ID_MAX, "%s.%s.-", machine, boot);
}
