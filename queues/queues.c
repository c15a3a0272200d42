/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The library that a debugger loads to show the message queues of a stopped process: mqs.h is what
 * it does for the debugger, include/queues.h what it knows of the process.
 *
 * The memory that it reads may be in any state, as the process was stopped anywhere, and may be
 * damaged: nothing of it is followed for ever, and an address that cannot be read ends the list.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "include/queues.h"
#include "queues/mqs.h"

enum {
    ITEMS_MAX = 1 << 20, /* operations, communicators or members at most */
    SHIFT_LEAST = 34,    /* of a table: so many buckets at most */

    error_no_memory = mqs_first_user_code,
    error_no_symbol,
    error_version,
    error_memory,
    error_damaged
};

struct _mqs_image_info {
    const mqs_image_callbacks *calls;
};

struct one_comm {
    uint64_t address, group, remote;
    uint32_t context;
    int32_t rank, size;
    char name[64];
};

struct _mqs_process_info {
    mqs_process *process;
    const mqs_process_callbacks *calls;
    struct queues_device device;
    struct queues_layout comms;
    struct one_comm *list; /* communicators */
    int count, at;
    mqs_pending_operation *operations; /* of one, and one class */
    int operation_count, operation_room, operation_at;
};

static const mqs_basic_callbacks *basic;
static char symbol[] = "MPIR_queues";

/* ---- about this library ---- */

void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks)
{
    basic = callbacks;
}

char *mqs_version_string(void)
{
    static char text[] = "Vireo MPI message queues, version 1";
    return text;
}

int mqs_version_compatibility(void)
{
    return MQS_INTERFACE_COMPATIBILITY;
}

int mqs_dll_taddr_width(void)
{
    return (int)sizeof(mqs_taddr_t);
}

char *mqs_dll_error_string(int code)
{
    static char unknown[] = "unknown error", none[] = "no error";
    static char memory[] = "the debugger has no memory left";
    static char no_symbol[] =
        "the process does not use Vireo MPI, or its library's symbols are not known yet";
    static char version[] =
        "the process's MPI library and libvireo-mqs.so are of different versions";
    static char fetch[] = "memory of the process cannot be read";
    static char damaged[] = "the queues are damaged, or change: stop all threads of the process";
    switch (code) {
    case mqs_ok: return none;
    case error_no_memory: return memory;
    case error_no_symbol: return no_symbol;
    case error_version: return version;
    case error_memory: return fetch;
    case error_damaged: return damaged;
    default: return unknown;
    }
}

/* ---- images ---- */

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    mqs_image_info *info = basic->mqs_malloc_fp(sizeof(*info));
    if (!info)
        return error_no_memory;
    info->calls = callbacks;
    basic->mqs_put_image_info_fp(image, info);
    return mqs_ok;
}

int mqs_image_has_queues(mqs_image *image, char **message)
{
    const mqs_image_info *info = basic->mqs_get_image_info_fp(image);
    mqs_taddr_t address;
    *message = NULL;
    return info && !info->calls->mqs_find_symbol_fp(image, symbol, &address) ? mqs_ok
                                                                             : error_no_symbol;
}

void mqs_destroy_image_info(mqs_image_info *info)
{
    basic->mqs_free_fp(info);
}

/* ---- memory of the process ---- */

static int fetch(const mqs_process_info *info, uint64_t address, void *to, size_t len)
{
    return info->calls->mqs_fetch_data_fp(info->process, address, (int)len, to) ? error_memory : 0;
}

static int fetch_pointer(const mqs_process_info *info, uint64_t address, uint64_t *value)
{
    return fetch(info, address, value, sizeof(*value));
}

static int fetch_number(const mqs_process_info *info, uint64_t address, int32_t *value)
{
    return fetch(info, address, value, sizeof(*value));
}

/* ---- processes ---- */

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    mqs_process_info *info = basic->mqs_malloc_fp(sizeof(*info));
    if (!info)
        return error_no_memory;
    memset(info, 0, sizeof(*info));
    info->process = process;
    info->calls = callbacks;
    basic->mqs_put_process_info_fp(process, info);
    return mqs_ok;
}

/* Find out where everything is. */
static int read_layout(mqs_process_info *info)
{
    mqs_image *image = info->calls->mqs_get_image_fp(info->process);
    const mqs_image_info *image_info = basic->mqs_get_image_info_fp(image);
    struct queues_layout *layout = &info->comms;
    mqs_taddr_t address;
    if (!image_info || image_info->calls->mqs_find_symbol_fp(image, symbol, &address))
        return error_no_symbol;
    if (fetch(info, address, layout, sizeof(*layout)))
        return error_memory;
    if (strncmp(layout->magic, "VIREOQ", sizeof(layout->magic)) != 0 ||
        layout->version != QUEUES_VERSION || layout->size != sizeof(*layout) || !layout->contexts)
        return error_version;
    return fetch(info, (uintptr_t)layout->device, &info->device, sizeof(info->device));
}

int mqs_process_has_queues(mqs_process *process, char **message)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    int rc = read_layout(info);
    *message = rc ? mqs_dll_error_string(rc) : NULL;
    return rc;
}

void mqs_destroy_process_info(mqs_process_info *info)
{
    basic->mqs_free_fp(info->list);
    basic->mqs_free_fp(info->operations);
    basic->mqs_free_fp(info);
}

/* ---- communicators ---- */

/* Room for one more; NULL: no memory. */
static void *grow(void *items, int count, int *room, size_t size)
{
    if (count < *room)
        return items;
    int more = *room ? 2 * *room : 16;
    void *made = basic->mqs_malloc_fp((size_t)more * size);
    if (made && count)
        memcpy(made, items, (size_t)count * size);
    if (made && items)
        basic->mqs_free_fp(items);
    *room = made ? more : *room;
    return made;
}

static int read_comm(const mqs_process_info *info, uint64_t address, struct one_comm *comm)
{
    const struct queues_layout *c = &info->comms;
    memset(comm, 0, sizeof(*comm));
    comm->address = address;
    size_t name_len = c->name_max < sizeof(comm->name) ? c->name_max : sizeof(comm->name) - 1;
    int rc = fetch(info, address + c->in_comm.context, &comm->context, sizeof(comm->context)) |
             fetch_number(info, address + c->in_comm.rank, &comm->rank) |
             fetch_pointer(info, address + c->in_comm.group, &comm->group) |
             fetch_pointer(info, address + c->in_comm.remote, &comm->remote) |
             fetch(info, address + c->in_comm.name, comm->name, name_len);
    return rc || !comm->group ? rc
                              : fetch_number(info, comm->group + c->in_group.size, &comm->size);
}

int mqs_update_communicator_list(mqs_process *process)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    const struct queues_layout *c = &info->comms;
    uint64_t at;
    int room = 0, rc = fetch_pointer(info, (uintptr_t)c->first, &at);
    if (info->list)
        basic->mqs_free_fp(info->list);
    info->list = NULL;
    info->count = info->at = 0;
    while (!rc && at) {
        struct one_comm *list = grow(info->list, info->count, &room, sizeof(*list));
        if (!list)
            return error_no_memory;
        info->list = list;
        rc = read_comm(info, at, &list[info->count]);
        /* Those inside of intercommunicators are the library's own. */
        info->count += !rc && list[info->count].context % c->contexts == 0;
        if (!rc)
            rc = fetch_pointer(info, at + c->in_comm.next, &at);
        if (info->count == ITEMS_MAX)
            return error_damaged;
    }
    return rc;
}

int mqs_setup_communicator_iterator(mqs_process *process)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    info->at = 0;
    return info->count ? mqs_ok : mqs_end_of_list;
}

int mqs_next_communicator(mqs_process *process)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    return ++info->at < info->count ? mqs_ok : mqs_end_of_list;
}

int mqs_get_communicator(mqs_process *process, mqs_communicator *communicator)
{
    const mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    if (info->at >= info->count)
        return mqs_no_information;
    const struct one_comm *comm = &info->list[info->at];
    communicator->unique_id = comm->address;
    communicator->local_rank = comm->rank;
    communicator->size = comm->size;
    memcpy(communicator->name, comm->name, sizeof(communicator->name));
    return mqs_ok;
}

/* A member of a group: its rank in MPI_COMM_WORLD; -1: of another job, or unknown. */
static int64_t world_rank(const mqs_process_info *info, uint64_t group, int64_t member)
{
    const struct queues_layout *c = &info->comms;
    char gid[QUEUES_GID_LEN], world[QUEUES_GID_LEN];
    uint64_t ranks, gids;
    int64_t first, stride;
    int32_t rank, size;
    if (!group || fetch_number(info, group + c->in_group.size, &size) || member < 0 ||
        member >= size || fetch_pointer(info, group + c->in_group.ranks, &ranks) ||
        fetch_pointer(info, group + c->in_group.gids, &gids) ||
        fetch(info, (uintptr_t)c->world, world, sizeof(world)) ||
        fetch(info, gids ? gids + (uint64_t)member * sizeof(gid) : group + c->in_group.gid, gid, sizeof(gid)) ||
        memcmp(gid, world, sizeof(gid)) != 0)
        return -1;
    if (ranks)
        return fetch_number(info, ranks + (uint64_t)member * sizeof(rank), &rank) ? -1 : rank;
    if (fetch(info, group + c->in_group.first, &first, sizeof(first)) ||
        fetch(info, group + c->in_group.stride, &stride, sizeof(stride)))
        return -1;
    return first + member * stride;
}

int mqs_get_comm_group(mqs_process *process, int *ranks)
{
    const mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    if (info->at >= info->count)
        return mqs_no_information;
    const struct one_comm *comm = &info->list[info->at];
    for (int i = 0; i < comm->size && i < ITEMS_MAX; i++)
        ranks[i] = (int)world_rank(info, comm->group, i);
    return mqs_ok;
}

/* The group that messages of a communicator go to and come from. */
static uint64_t peers(const struct one_comm *comm)
{
    return comm->remote ? comm->remote : comm->group;
}

/* ---- operations ---- */

/* The envelope at a place. Returns whether it is of this communicator: 1 or 0; or an error. */
static int read_place(const mqs_process_info *info, uint64_t place, int32_t *rank, int32_t *tag,
                      bool *fits)
{
    const struct queues_device *d = &info->device;
    uint32_t context;
    int rc = fetch(info, place + d->in_place.context, &context, sizeof(context)) |
             fetch_number(info, place + d->in_place.rank, rank) |
             fetch_number(info, place + d->in_place.tag, tag);
    *fits = !rc && context == info->list[info->at].context;
    return rc;
}

/* A new operation, with what all have; NULL: no memory. */
static mqs_pending_operation *add(mqs_process_info *info, int32_t rank, int32_t tag)
{
    mqs_pending_operation *all =
        grow(info->operations, info->operation_count, &info->operation_room, sizeof(*all));
    if (!all)
        return NULL;
    info->operations = all;
    mqs_pending_operation *made = &all[info->operation_count++];
    memset(made, 0, sizeof(*made));
    made->desired_local_rank = made->actual_local_rank = rank;
    made->desired_global_rank = made->actual_global_rank =
        world_rank(info, peers(&info->list[info->at]), rank);
    made->tag_wild = tag < 0;
    made->desired_tag = made->actual_tag = tag;
    return made;
}

/* A request that is posted, and whether it is of this communicator. */
struct posted {
    int32_t rank, tag;
    uint64_t base, len;
    bool fits;
};

static int read_request(const mqs_process_info *info, uint64_t request, struct posted *r)
{
    const struct queues_device *d = &info->device;
    return read_place(info, request + d->in_request.place, &r->rank, &r->tag, &r->fits) |
           fetch_pointer(info, request + d->in_request.base, &r->base) |
           fetch_pointer(info, request + d->in_request.len, &r->len);
}

static mqs_pending_operation *add_request(mqs_process_info *info, const struct posted *r,
                                          int32_t rank)
{
    mqs_pending_operation *made = add(info, rank, r->tag);
    if (!made)
        return NULL;
    made->status = mqs_st_pending;
    made->desired_length = (mqs_tword_t)r->len;
    made->buffer = r->base;
    return made;
}

static int take_receive(mqs_process_info *info, uint64_t request)
{
    struct posted r;
    int rc = read_request(info, request, &r);
    if (rc || !r.fits)
        return rc;
    return add_request(info, &r, r.rank) ? 0 : error_no_memory;
}

/* All requests of one key stand in a ring. */
static int take_ring(mqs_process_info *info, uint64_t first)
{
    const struct queues_device *d = &info->device;
    uint64_t place = first;
    int rc = 0;
    for (int i = 0; !rc && i < ITEMS_MAX; i++) {
        rc = take_receive(info, place - d->in_request.place);
        if (!rc)
            rc = fetch_pointer(info, place + d->in_place.next, &place);
        if (place == first)
            return rc;
    }
    return rc ? rc : error_damaged;
}

static int take_receives(mqs_process_info *info)
{
    const struct queues_device *d = &info->device;
    uint64_t match = (uintptr_t)d->match, alone, buckets, place;
    uint32_t shift;
    int rc = fetch_pointer(info, match + d->in_match.alone, &alone) |
             fetch_pointer(info, match + d->in_match.buckets, &buckets) |
             fetch(info, match + d->in_match.shift, &shift, sizeof(shift));
    if (!rc && alone)
        rc = take_receive(info, alone);
    if (!rc && buckets && (shift < SHIFT_LEAST || shift > 64))
        rc = error_damaged;
    uint64_t count = !rc && buckets && shift < 64 ? (uint64_t)1 << (64 - shift) : 0;
    for (uint64_t i = 0; !rc && i < count; i++) {
        rc = fetch_pointer(info, buckets + i * sizeof(place), &place);
        for (int turns = 0; !rc && place; turns++) {
            rc = turns == ITEMS_MAX ? error_damaged : take_ring(info, place);
            if (!rc)
                rc = fetch_pointer(info, place + d->in_place.chain, &place);
        }
    }
    return rc;
}

static int take_unexpected(mqs_process_info *info)
{
    const struct queues_device *d = &info->device;
    uint64_t at, total, data;
    int32_t rank, tag;
    bool fits;
    int rc = fetch_pointer(info, (uintptr_t)d->match + d->in_match.unexpected, &at);
    for (int turns = 0; !rc && at; turns++) {
        rc = read_place(info, at + d->in_unexpected.place, &rank, &tag, &fits) |
             fetch_pointer(info, at + d->in_unexpected.total, &total) |
             fetch_pointer(info, at + d->in_unexpected.data, &data);
        mqs_pending_operation *made = !rc && fits ? add(info, rank, tag) : NULL;
        if (!rc && fits && !made)
            return error_no_memory;
        if (made) {
            made->status = mqs_st_matched; /* the envelope is known */
            made->system_buffer = 1;
            made->buffer = data;
            made->desired_length = made->actual_length = (mqs_tword_t)total;
        }
        if (!rc)
            rc = turns == ITEMS_MAX ? error_damaged
                                    : fetch_pointer(info, at + d->in_unexpected.next, &at);
    }
    return rc;
}

/* The rank in the communicator of the process at the other end of a VC; -1: no member. */
static int32_t peer_rank(const mqs_process_info *info, uint64_t vc)
{
    const struct queues_device *d = &info->device;
    const struct one_comm *comm = &info->list[info->at];
    char gid[QUEUES_GID_LEN], world[QUEUES_GID_LEN];
    int32_t rank, size;
    if (fetch(info, vc + d->in_vc.gid, gid, sizeof(gid)) ||
        fetch_number(info, vc + d->in_vc.rank, &rank) ||
        fetch(info, (uintptr_t)info->comms.world, world, sizeof(world)) ||
        memcmp(gid, world, sizeof(gid)) != 0 ||
        fetch_number(info, peers(comm) + info->comms.in_group.size, &size))
        return -1;
    for (int32_t i = 0; i < size && i < ITEMS_MAX; i++)
        if (world_rank(info, peers(comm), i) == rank)
            return i;
    return -1;
}

static int take_send(mqs_process_info *info, uint64_t vc, uint64_t request)
{
    struct posted r;
    int rc = read_request(info, request, &r);
    if (rc || !r.fits)
        return rc;
    mqs_pending_operation *made = add_request(info, &r, peer_rank(info, vc));
    if (!made)
        return error_no_memory;
    made->actual_length = made->desired_length;
    return 0;
}

static int take_sends(mqs_process_info *info)
{
    const struct queues_device *d = &info->device;
    const int lists = sizeof(d->in_vc.sends) / sizeof(d->in_vc.sends[0]);
    uint64_t vc, request;
    int rc = fetch_pointer(info, (uintptr_t)d->vcs, &vc), turns = 0;
    for (; !rc && vc; turns++) {
        for (int i = 0; !rc && i < lists; i++) {
            rc = fetch_pointer(info, vc + d->in_vc.sends[i], &request);
            for (; !rc && request; turns++) {
                rc = turns >= ITEMS_MAX ? error_damaged : take_send(info, vc, request);
                if (!rc)
                    rc = fetch_pointer(info, request + d->in_request.next, &request);
            }
        }
        if (!rc)
            rc = turns >= ITEMS_MAX ? error_damaged : fetch_pointer(info, vc + d->in_vc.next, &vc);
    }
    return rc;
}

int mqs_setup_operation_iterator(mqs_process *process, int op_class)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    info->operation_count = info->operation_at = 0;
    if (info->at >= info->count)
        return mqs_no_information;
    int rc = op_class == mqs_pending_receives      ? take_receives(info)
             : op_class == mqs_unexpected_messages ? take_unexpected(info)
             : op_class == mqs_pending_sends       ? take_sends(info)
                                                   : mqs_no_information;
    return rc || info->operation_count ? rc : mqs_end_of_list;
}

int mqs_next_operation(mqs_process *process, mqs_pending_operation *operation)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    if (info->operation_at >= info->operation_count)
        return mqs_end_of_list;
    *operation = info->operations[info->operation_at++];
    return mqs_ok;
}
