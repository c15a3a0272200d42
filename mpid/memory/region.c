/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Regions: memory that processes of one host share; see include/mpid.h.
 *
 * Each process has a part of the host's one segment from the process manager. The channels use the
 * first half of it, and the regions that the process owns lie in the second. So no descriptor is
 * handed over, and what no region has touched takes no memory.
 *
 * A region begins with a count of its users. Its owner takes the room back once all have closed it,
 * when it next makes or closes one: a user that is slow may still read it before that.
 */
#include "mpid/memory/region.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/memory/region_room.h"
#include "mpid/wait/look.h"
#include "os/memory/segment.h"

/* At the beginning of the memory. */
struct head {
    _Alignas(REGION_HEAD) _Atomic uint32_t users; /* that have not closed it. Counted down after their last
                                                     * access; pairs with the owner, before it uses the memory again */
};

_Static_assert(sizeof(struct head) == REGION_HEAD, "the data begin on a line of their own");

struct mpid_region {
    struct mpid_region *next, **link; /* in all or closed */
    struct head *head;
    size_t size;    /* bytes that are mapped */
    uint64_t where; /* in the owner's half */
    bool owned;     /* by this process */
};

/* Guarded by the device's lock. */
static struct {
    struct mpid_region *all;    /* that are open here */
    struct mpid_region *closed; /* owned, and maybe still used by others */
    struct region_room room;           /* of this process's half */
    dev_t device;               /* what the segment's descriptor names */
    ino_t inode;
} regions;

/* ---- the memory ---- */

int region_channel_memory(const struct chan_gid *gid, uint32_t rank, int *fd, uint64_t *offset,
                          uint64_t *size)
{
    unsigned long long at, bytes;
    BNR_Group group = device_group_of(gid, rank);
    if (!group || BNR_Get_host_memory(group, (int)rank, fd, &at, &bytes))
        return -ENOTSUP;
    *offset = at;
    *size = bytes / 2;
    return 0;
}

/* The half for regions. The program may have closed the descriptor, which is not its own, and then
 * have opened another file by that number. */
static int find_half(const struct chan_gid *gid, uint32_t rank, int *fd, uint64_t *offset,
                     uint64_t *size)
{
    struct stat is;
    int rc = region_channel_memory(gid, rank, fd, offset, size);
    if (rc)
        return rc;
    if (fstat(*fd, &is))
        return -errno;
    if (!regions.inode) {
        regions.device = is.st_dev;
        regions.inode = is.st_ino;
    }
    *offset += *size;
    return is.st_dev == regions.device && is.st_ino == regions.inode ? 0 : -EBADF;
}

static int map(struct mpid_region *region, const struct chan_gid *gid, uint32_t owner)
{
    uint64_t offset, room;
    int fd, rc = find_half(gid, owner, &fd, &offset, &room);
    if (rc)
        return rc;
    if (region->where % REGION_GRAIN || region->where > room || region->size > room - region->where)
        return -EPROTO;
    region->head = os_segment_map(fd, offset + region->where, region->size, 1);
    return region->head ? 0 : -errno;
}

/* Give the pages back; the next user finds zeros. */
static void clear(struct mpid_region *region)
{
    uint64_t offset, room;
    int fd;
    if (find_half(&device.env.gid, device.env.rank, &fd, &offset, &room) ||
        os_segment_clear(fd, offset + region->where, region->size))
        memset(region->head, 0, region->size);
}

/* ---- life ---- */

static void insert(struct mpid_region **list, struct mpid_region *region)
{
    region->next = *list;
    region->link = list;
    if (region->next)
        region->next->link = &region->next;
    *list = region;
}

static void take_out(struct mpid_region *region)
{
    *region->link = region->next;
    if (region->next)
        region->next->link = region->link;
}

static void destroy(struct mpid_region *region)
{
    os_segment_unmap(region->head, region->size);
    free(region);
}

/* Take back what nobody uses any more. */
static void collect(void)
{
    struct mpid_region *next;
    for (struct mpid_region *region = regions.closed; region; region = next) {
        next = region->next;
        if (atomic_load_explicit(&region->head->users, memory_order_acquire))
            continue;
        take_out(region);
        clear(region);
        region_room_give(&regions.room, region->where);
        destroy(region);
    }
}

static struct mpid_region *new_region(size_t size)
{
    struct mpid_region *region = calloc(1, mpid_space_seal(MPID_SPACE_REGION));
    if (region)
        region->size = (size + REGION_HEAD + REGION_GRAIN - 1) / REGION_GRAIN * REGION_GRAIN;
    return region;
}

static int make(struct mpid_region *region, uint32_t users)
{
    collect();
    int rc = region_room_take(&regions.room, region->size, &region->where);
    if (rc)
        return rc;
    rc = map(region, &device.env.gid, device.env.rank);
    if (rc) {
        region_room_give(&regions.room, region->where);
        return rc;
    }
    region->owned = true;
    atomic_store_explicit(&region->head->users, users, memory_order_release);
    insert(&regions.all, region);
    return 0;
}

int mpid_region_create(size_t size, uint32_t users, struct mpid_region **made, uint64_t *where)
{
    struct mpid_region *region = new_region(size);
    if (!region)
        return -ENOMEM;
    os_lock(&device.lock);
    int rc = make(region, users);
    os_unlock(&device.lock);
    if (rc) {
        free(region);
        return rc;
    }
    *made = region;
    *where = region->where;
    return 0;
}

int mpid_region_open(const struct mpid_gid *gid, uint32_t owner, uint64_t where, size_t size,
                     struct mpid_region **opened)
{
    struct mpid_region *region = new_region(size);
    struct chan_gid id;
    if (!region)
        return -ENOMEM;
    memcpy(&id, gid, sizeof(id));
    region->where = where;
    os_lock(&device.lock);
    int rc = map(region, &id, owner);
    if (!rc)
        insert(&regions.all, region);
    os_unlock(&device.lock);
    if (rc) {
        free(region);
        return rc;
    }
    *opened = region;
    return 0;
}

void *mpid_region_memory(const struct mpid_region *region)
{
    return region->head + 1;
}

void mpid_region_close(struct mpid_region *region, uint32_t users)
{
    if (!region)
        return;
    os_lock(&device.lock);
    atomic_fetch_sub_explicit(&region->head->users, users, memory_order_acq_rel);
    take_out(region);
    if (region->owned)
        insert(&regions.closed, region);
    else
        destroy(region);
    collect();
    os_unlock(&device.lock);
}

/* The child goes on with memory of its own in the same place, so that what it writes there reaches
 * nobody. */
void region_orphan(void)
{
    for (struct mpid_region *region = regions.all; region; region = region->next)
        (void)os_segment_leave(region->head, region->size);
    regions.closed = NULL;
}

static void destroy_all(struct mpid_region *list)
{
    while (list) {
        struct mpid_region *next = list->next;
        destroy(list);
        list = next;
    }
}

static int start(void)
{
    uint64_t offset;
    int fd;
    memset(&regions, 0, sizeof(regions));
    mpid_space_open(MPID_SPACE_REGION, sizeof(struct mpid_region));
    if (find_half(&device.env.gid, device.env.rank, &fd, &offset, &regions.room.size))
        regions.room.size = 0;
    return 0;
}

/* Unmap all, also open regions. */
static void end(void)
{
    look_first = NULL; /* they look at regions */
    destroy_all(regions.all);
    destroy_all(regions.closed);
    region_room_fini(&regions.room);
    regions.all = regions.closed = NULL;
}

const struct life region_life = {.start = start, .end = end};

/* ---- sharers of memory, and their wake-up ---- */

/* The index on this host of a rank of our group, or -1: it is elsewhere. */
static int index_of(const struct chan_gid *gid, uint32_t rank)
{
    int node, local_rank;
    if (!device_is_own_group(gid) ||
        BNR_Get_locality(device.group, (int)rank, &node, &local_rank, NULL) || node != device.node)
        return -1;
    return local_rank;
}

bool mpid_is_near(const struct mpid_gid *gid, uint32_t rank)
{
    struct chan_gid id;
    bool rings = false;
    memcpy(&id, gid, sizeof(id));
    os_lock(&device.lock);
    for (int i = 0; i < device.port_count; i++)
        rings |= device.ports[i].chan->ops->wake != NULL;
    bool near = rings && regions.room.size && index_of(&id, rank) >= 0;
    os_unlock(&device.lock);
    return near;
}

void mpid_ring(const struct vc *vc)
{
    os_lock(&device.lock);
    int index = index_of(&vc->peer.gid, vc->peer.rank);
    for (int i = 0; i < device.port_count && index >= 0; i++) {
        struct chan *chan = device.ports[i].chan;
        if (chan->ops->wake)
            chan->ops->wake(chan, (uint32_t)index);
    }
    os_unlock(&device.lock);
}
