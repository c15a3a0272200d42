/* SPDX-License-Identifier: BSD-3-Clause */

/* The libraries that a program needs; see foreign.h. The file may hold anything. */
#include "bnr/launch/foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SEGMENTS_MAX = 64,
    ENTRIES_MAX = 512,
    NAME_MAX_BYTES = 64
};

/* A program's file, and how it lies in memory. */
struct program {
    int fd;
    int count;
    ElfW(Phdr) segment[SEGMENTS_MAX];
};

static bool take(int fd, void *to, size_t len, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, to, len, (off_t)offset) == (ssize_t)len;
}

static bool read_segments(struct program *p)
{
    ElfW(Ehdr) head;
    static const unsigned char own_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (!take(p->fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != own_class || head.e_phentsize != sizeof(p->segment[0]) ||
        head.e_phnum > SEGMENTS_MAX)
        return false;
    p->count = head.e_phnum;
    return take(p->fd, p->segment, (size_t)p->count * sizeof(p->segment[0]), head.e_phoff);
}

/* The offset in the file of what lies at this address. */
static bool find_offset(const struct program *p, uint64_t address, uint64_t *offset)
{
    for (int i = 0; i < p->count; i++) {
        const ElfW(Phdr) *s = &p->segment[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz)
            continue;
        *offset = address - s->p_vaddr + s->p_offset;
        return true;
    }
    return false;
}

static bool is_foreign(const char *name)
{
    static const char *const begins[] = {"libmpi.so", "libmpich", "libmpi_mpifh.so",
                                         "libmpifort.so"};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* Look through the names of the libraries that are needed. */
static bool look(const struct program *p, const ElfW(Phdr) * dynamic, char name[NAME_MAX_BYTES])
{
    ElfW(Dyn) entry[ENTRIES_MAX];
    uint64_t names = 0;
    size_t n = dynamic->p_filesz / sizeof(entry[0]);
    n = n < ENTRIES_MAX ? n : ENTRIES_MAX;
    if (!take(p->fd, entry, n * sizeof(entry[0]), dynamic->p_offset))
        return false;
    for (size_t i = 0; i < n && entry[i].d_tag != DT_NULL; i++)
        if (entry[i].d_tag == DT_STRTAB && !find_offset(p, entry[i].d_un.d_ptr, &names))
            return false;
    for (size_t i = 0; i < n && names && entry[i].d_tag != DT_NULL; i++) {
        uint64_t at = names + entry[i].d_un.d_val;
        ssize_t len = entry[i].d_tag != DT_NEEDED || at > INT64_MAX
                          ? 0
                          : pread(p->fd, name, NAME_MAX_BYTES - 1, (off_t)at);
        name[len > 0 ? len : 0] = 0;
        if (is_foreign(name))
            return true;
    }
    return false;
}

bool foreign_library(const char *path, char *library, size_t size)
{
    struct program p = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    char name[NAME_MAX_BYTES];
    bool found = false;
    if (p.fd < 0)
        return false;
    if (read_segments(&p))
        for (int i = 0; i < p.count && !found; i++)
            found = p.segment[i].p_type == PT_DYNAMIC && look(&p, &p.segment[i], name);
    close(p.fd);
    if (found)
        snprintf(library, size, "%s", name);
    return found;
}
