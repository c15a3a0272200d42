/* SPDX-License-Identifier: BSD-3-Clause */

/* The memory of a window that the members of a host share; see win_segment.h. */
#include "mpi/win/win_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/win/win_queue.h"
#include "os/memory/segment.h"

enum {
    DATA_ALIGN = 2 << 20
}; /* a huge page; nothing is allocated for the gap */

static size_t head_len(uint32_t members)
{
    return (win_queue_len(members) * members + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
}

struct win_queue *win_segment_queue(const struct win_segment *segment, uint32_t member)
{
    return (struct win_queue *)(void *)(segment->base + segment->queue_len * member);
}

unsigned char *win_segment_data(const struct win_segment *segment, uint32_t members)
{
    return segment->base + head_len(members);
}

/* ---- how much memory there is ---- */

/* The number in a file, of its line that begins with key, or, where key is NULL, the first. */
static uint64_t number_in(const char *file, const char *key)
{
    char line[256];
    unsigned long long number = UINT64_MAX;
    FILE *in = fopen(file, "re");
    while (in && fgets(line, sizeof(line), in)) {
        size_t len = key ? strlen(key) : 0;
        if (!key || !strncmp(line, key, len)) {
            if (sscanf(line + len, "%llu", &number) != 1)
                number = UINT64_MAX;
            break;
        }
    }
    if (in)
        fclose(in);
    return number;
}

/* Where control groups of a version have their files, and the names of some of these; cached: the
 * lines of stat that count pages of files, which make room. */
struct memory_groups {
    const char *mount, *limit, *used;
    const char *cached[2];
};

static uint64_t number_of(const struct memory_groups *groups, const char *group, const char *name,
                          const char *key)
{
    char file[640];
    snprintf(file, sizeof(file), "%s%s/%s", groups->mount, group, name);
    return number_in(file, key);
}

/* Bytes that a control group leaves. */
static uint64_t room_in(const struct memory_groups *groups, const char *group)
{
    uint64_t limit = number_of(groups, group, groups->limit, NULL);
    uint64_t used = number_of(groups, group, groups->used, NULL);
    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        uint64_t cached = number_of(groups, group, "memory.stat", groups->cached[i]);
        used -= cached < used ? cached : 0;
    }
    return limit < used ? 0 : limit - used;
}

/* Bytes that a control group and those above it leave. Shortens group. */
static uint64_t room_below(const struct memory_groups *groups, char *group)
{
    uint64_t most = UINT64_MAX;
    for (char *end = group; end;) {
        uint64_t here = room_in(groups, group);
        most = here < most ? here : most;
        if ((end = strrchr(group, '/')))
            *end = 0;
    }
    return most;
}

/* Bytes that this process may still get, by the machine and by its control groups. */
static uint64_t room(void)
{
    static const struct memory_groups first = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                        "memory.usage_in_bytes",
                                        {"total_active_file ", "total_inactive_file "}};
    static const struct memory_groups second = {
        "/sys/fs/cgroup", "memory.max", "memory.current", {"active_file ", "inactive_file "}};
    uint64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    uint64_t swap = number_in("/proc/meminfo", "SwapFree:");
    uint64_t most =
        kilobytes == UINT64_MAX ? UINT64_MAX : (kilobytes + (swap == UINT64_MAX ? 0 : swap)) * 1024;
    char line[512];
    FILE *in = fopen("/proc/self/cgroup", "re");
    while (in && fgets(line, sizeof(line), in)) {
        char *group = strchr(line, '/'), *name = strstr(line, ":memory:");
        if (!group || (strncmp(line, "0::", 3) != 0 && !name))
            continue;
        line[strcspn(line, "\n")] = 0;
        uint64_t less = room_below(name ? &first : &second, group);
        most = less < most ? less : most;
    }
    if (in)
        fclose(in);
    return most;
}

/* ---- making and mapping ---- */

/* At an address that is a multiple of DATA_ALIGN, so that parts are aligned in memory as they are
 * in the segment. */
static int map(struct win_segment *segment, int fd, size_t len, uint32_t members)
{
    size_t room = len + DATA_ALIGN;
    unsigned char *place =
        mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return -errno;
    size_t skip = (DATA_ALIGN - (uintptr_t)place % DATA_ALIGN) % DATA_ALIGN;
    int rc = os_segment_remap(place + skip, fd, 0, len, 1);
    if (rc) {
        munmap(place, room);
        return rc;
    }
    if (skip)
        munmap(place, skip);
    munmap(place + skip + len, room - skip - len);
    segment->base = place + skip;
    segment->len = len;
    segment->queue_len = win_queue_len(members);
    return 0;
}

int win_segment_create(const char *label, uint64_t len, uint64_t need, struct win_segment_place *place)
{
    struct stat stat;
    int fd = os_segment_create(label, len, need);
    if (fd >= 0 && fstat(fd, &stat)) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    if (fd >= 0)
        *place = (struct win_segment_place){getpid(), fd, stat.st_dev, stat.st_ino, len};
    return fd;
}

/* The number may be another process's here, in a container of its own. */
int win_segment_find(const struct win_segment_place *place)
{
    char path[64];
    struct stat stat;
    snprintf(path, sizeof(path), "/proc/%lld/fd/%lld", (long long)place->pid, (long long)place->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = fstat(fd, &stat) ? -errno : 0;
    if (!rc && stat.st_dev == place->dev && stat.st_ino == place->ino && (uint64_t)stat.st_size == place->len)
        return fd;
    close(fd);
    return rc ? rc : -ESTALE;
}

int win_segment_make(struct win_segment *segment, uint32_t members, uint64_t data,
                     struct win_segment_place *place, struct win_segment_lack *lack)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), most = room();
    uint64_t len = (head_len(members) + data + page - 1) / page * page;
    *segment = (struct win_segment){.fd = -1};
    *lack = (struct win_segment_lack){data, UINT64_MAX};
    if (data > most || data > PTRDIFF_MAX / 2) {
        lack->room = most;
        return -ENOMEM;
    }
    int fd = win_segment_create("vireo-window", len, len, place);
    if (fd < 0)
        return fd;
    int rc = map(segment, fd, len, members);
    if (rc) {
        close(fd);
        *place = (struct win_segment_place){0};
        return rc;
    }
    segment->fd = fd;
    for (uint32_t i = 0; i < members; i++)
        win_queue_init(win_segment_queue(segment, i), members);
    return 0;
}

int win_segment_open(struct win_segment *segment, uint32_t members,
                     const struct win_segment_place *place)
{
    *segment = (struct win_segment){.fd = -1};
    int fd = place->len < head_len(members) ? -ESTALE : win_segment_find(place);
    if (fd < 0)
        return fd;
    int rc = map(segment, fd, place->len, members);
    close(fd);
    return rc;
}

void win_segment_opened(struct win_segment *segment)
{
    if (segment->fd >= 0)
        close(segment->fd);
    segment->fd = -1;
}

void win_segment_close(struct win_segment *segment)
{
    win_segment_opened(segment);
    if (segment->base)
        os_segment_unmap(segment->base, segment->len);
    segment->base = NULL;
}
