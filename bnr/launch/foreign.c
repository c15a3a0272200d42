/* SPDX-License-Identifier: BSD-3-Clause */

/* The libraries that a program needs; see foreign.h. The file may hold anything. */
#include "bnr/launch/foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/log.h"

enum {
    SEGMENTS_MAX = 64,
    ENTRIES_MAX = 512,
    NAME_MAX_BYTES = 64,
    FOLDERS_MAX = 4096,
    FAMILY_MAX = 16 /* processes that are looked at */
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

/* The offset in the file of this address. */
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

/* Whether the name is this one, or goes on with a version behind it. */
static bool is_version_of(const char *name, const char *one)
{
    size_t len = strlen(one);
    return !strncmp(name, one, len) && (!name[len] || name[len] == '.');
}

/* Open MPI's. Those of MPICH and its kin speak PMI-1: libmpich.so, and libmpi.so.12 and libmpifort.so.12, as the names
 * are that they have agreed on; their files have longer ones. */
static bool is_foreign(const char *name, const void *arg)
{
    (void)arg;
    static const char *const begins[] = {"libmpi.so", "libmpi_mpifh.so", "libmpifort.so"};
    if (is_version_of(name, "libmpi.so.12") || is_version_of(name, "libmpifort.so.12"))
        return false;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static bool is_kin(const char *name, const void *arg)
{
    (void)arg;
    return is_version_of(name, "libmpich.so") || is_version_of(name, "libmpi.so.12") ||
           is_version_of(name, "libmpifort.so.12");
}

/* The wanted entries of a program. */
struct search {
    bool (*is_sought)(const char *name, const void *arg); /* of a library that is needed */
    const void *arg;
    bool found;
    char name[NAME_MAX_BYTES];   /* of that */
    char folders[FOLDERS_MAX];   /* that the loader looks in */
};

static void take_text(const struct program *p, uint64_t at, char *text, size_t size)
{
    ssize_t len = at > INT64_MAX ? 0 : pread(p->fd, text, size - 1, (off_t)at);
    text[len > 0 ? len : 0] = 0;
}

/* Look through the names of the libraries that are needed. */
static void look(const struct program *p, const ElfW(Phdr) * dynamic, struct search *s)
{
    ElfW(Dyn) entry[ENTRIES_MAX];
    char name[NAME_MAX_BYTES];
    uint64_t names = 0;
    size_t n = dynamic->p_filesz / sizeof(entry[0]);
    n = n < ENTRIES_MAX ? n : ENTRIES_MAX;
    if (!take(p->fd, entry, n * sizeof(entry[0]), dynamic->p_offset))
        return;
    for (size_t i = 0; i < n && entry[i].d_tag != DT_NULL; i++)
        if (entry[i].d_tag == DT_STRTAB && !find_offset(p, entry[i].d_un.d_ptr, &names))
            return;
    for (size_t i = 0; i < n && names && entry[i].d_tag != DT_NULL; i++) {
        uint64_t at = names + entry[i].d_un.d_val;
        if (entry[i].d_tag == DT_RUNPATH || entry[i].d_tag == DT_RPATH)
            take_text(p, at, s->folders, sizeof(s->folders));
        if (entry[i].d_tag != DT_NEEDED || s->found)
            continue;
        take_text(p, at, name, sizeof(name));
        s->found = s->is_sought(name, s->arg);
        if (s->found)
            memcpy(s->name, name, sizeof(name));
    }
}

static bool search_program(const char *path, struct search *s)
{
    struct program p = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (p.fd < 0)
        return false;
    if (read_segments(&p))
        for (int i = 0; i < p.count && !s->found; i++)
            if (p.segment[i].p_type == PT_DYNAMIC)
                look(&p, &p.segment[i], s);
    close(p.fd);
    return s->found;
}

static bool seek_library(const char *path, struct search s, char *library, size_t size)
{
    if (!search_program(path, &s))
        return false;
    snprintf(library, size, "%s", s.name);
    return true;
}

bool foreign_library(const char *path, char *library, size_t size)
{
    return seek_library(path, (struct search){.is_sought = is_foreign}, library, size);
}

bool foreign_kin(const char *path, char *library, size_t size)
{
    return seek_library(path, (struct search){.is_sought = is_kin}, library, size);
}

/* ---- processes ---- */

static FILE *open_of(int pid, const char *what)
{
    char path[128];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
    return fopen(path, "re");
}

/* Whether a variable, NAME=VALUE, is not as mpiexec sets it for a rank of this job: then another launcher has started the
 * process. The loader, too, only lists the libraries of a program that ldd starts. A variable that mpiexec itself has says
 * nothing. */
static bool is_of_another(const char *variable, const char *job)
{
    static const char *const signs[] = {"PMIX_RANK", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid",
                                        "LD_TRACE_LOADED_OBJECTS"};
    static const char jobs[] = "BNR_JOB=";
    size_t len = strlen(variable), own = strlen(job);
    if (!strncmp(variable, jobs, sizeof(jobs) - 1))
        return len < own || strcmp(variable + len - own, job) != 0;
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strcspn(variable, "=") == strlen(signs[i]) && !strncmp(variable, signs[i], strlen(signs[i])))
            return !getenv(signs[i]);
    return false;
}

static bool is_started_by_another(int pid, const char *job)
{
    char *variable = NULL;
    size_t size = 0;
    FILE *all = open_of(pid, "environ");
    bool is = false;
    while (all && !is && getdelim(&variable, &size, 0, all) > 0)
        is = is_of_another(variable, job);
    free(variable);
    if (all)
        fclose(all);
    return is;
}

/* Whether a process has mapped such a library, to run it: the last field of a line is a path. */
static bool has_mapped(int pid, struct foreign_process *found)
{
    static const char *const tools[] = {"ompi_info", "oshmem_info"};
    char line[PATH_MAX + 128];
    FILE *maps = open_of(pid, "maps");
    bool is_mapped = false;
    while (maps && !is_mapped && fgets(line, sizeof(line), maps)) {
        const char *slash = strrchr(line, '/');
        line[strcspn(line, "\n")] = 0;
        is_mapped = slash && strstr(line, " r-x") && is_foreign(slash + 1, NULL);
        if (is_mapped)
            snprintf(found->library, sizeof(found->library), "%s", slash + 1);
    }
    if (maps)
        fclose(maps);
    if (!is_mapped)
        return false;
    FILE *name = open_of(pid, "comm");
    if (!name || !fgets(found->name, sizeof(found->name), name))
        snprintf(found->name, sizeof(found->name), "a program");
    if (name)
        fclose(name);
    found->name[strcspn(found->name, "\n")] = 0;
    os_one_line(found->name);
    os_one_line(found->library);
    found->pid = pid;
    return strcmp(found->name, tools[0]) && strcmp(found->name, tools[1]);
}

/* The process and the first few of those that it has started, without recursion. */
bool foreign_runs(int pid, const char *job, struct foreign_process *found)
{
    int family[FAMILY_MAX] = {pid}, count = 1, child;
    for (int i = 0; i < count; i++) {
        char path[64];
        if (is_started_by_another(family[i], job))
            continue;
        if (has_mapped(family[i], found))
            return true;
        snprintf(path, sizeof(path), "task/%d/children", family[i]);
        FILE *children = open_of(family[i], path);
        while (children && count < FAMILY_MAX && fscanf(children, "%d", &child) == 1)
            family[count++] = child;
        if (children)
            fclose(children);
    }
    return false;
}

/* ---- our own ---- */

static bool is_this(const char *name, const void *arg)
{
    return !strcmp(name, arg);
}

/* Whether a folder of a list has the library; $ORIGIN is that of the program. */
static bool is_in(const char *folders, const char *library, const char *program)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    char file[PATH_MAX];
    const char *slash = strrchr(program, '/');
    for (size_t len; *folders; folders += len + (folders[len] == ':')) {
        int own = 0;
        size_t skip = 0;
        len = strcspn(folders, ":");
        for (size_t i = 0; i < 2 && !skip; i++)
            if (!strncmp(folders, origins[i], strlen(origins[i]))) {
                skip = strlen(origins[i]);
                own = slash ? (int)(slash - program) : 0;
            }
        int n = snprintf(file, sizeof(file), "%.*s%.*s/%s", own, program, (int)(len - skip),
                         folders + skip, library);
        if (n > 0 && (size_t)n < sizeof(file) && !access(file, R_OK))
            return true;
    }
    return false;
}

bool foreign_needs(const char *path, const char *library)
{
    struct search s = {.is_sought = is_this, .arg = library};
    return search_program(path, &s);
}

bool foreign_lacks(const char *path, const char *library, const char *search)
{
    struct search s = {.is_sought = is_this, .arg = library};
    return search_program(path, &s) && !is_in(s.folders, library, path) &&
           !(search && is_in(search, library, path));
}
