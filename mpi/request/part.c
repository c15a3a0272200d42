/* SPDX-License-Identifier: BSD-3-Clause */

/* Partitioned communication; see part.h. */
#include "mpi/request/part.h"

#include <stdlib.h>
#include <utlist.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/known.h"
#include "mpi/request/p2p.h"
#include "mpi/request/part_cut.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "os/lock.h"
#include "os/turn.h"

/* One chunk, or the setup at the receiver. */
struct part_chunk {
    struct part *part;
    _Atomic int waiting; /* of a send: partitions that are not ready */
    _Alignas(16) struct mpid_request dev; /* last: the channels' reserved space follows */
};

/* State of a receive. The thread that sets the second of the first two posts the chunks. */
enum {
    MATCHED = 1u << 0, /* the setup is here */
    WANTED = 1u << 1,  /* started */
    POSTED = 1u << 2
};

struct part {
    _Atomic int refs; /* of the request, and of messages in the device */
    _Atomic bool active;
    bool send;
    _Atomic unsigned state;
    struct comm *comm;       /* referenced */
    struct type *type;       /* referenced */
    struct mpid_bytes whole; /* the buffer */
    int partitions, peer, user_tag;
    uint64_t partition_len; /* bytes */
    struct vc *vc;          /* to the other side; of a send NULL: to nobody */

    /* Known to a receive once it is MATCHED. */
    struct part_cut cut;
    char *slots; /* [cut.chunks], slot_size() apart */
    int failed;  /* error class: no chunk is received */

    struct part_chunk *setup;     /* of a receive */
    int64_t said[PART_CUT_WORDS]; /* what it has brought */
    int group;                    /* of a send: partitions in a chunk */
    _Atomic uint32_t *ready;      /* of a send: a bit for each partition */
    _Atomic uint64_t seen;        /* starts << 32 | chunks, from the first on, found complete since */
    struct part *prev, *next;     /* in live */
};

/* Sends that there are: their tags are in use. Tags go up, and begin again far later. */
static struct {
    struct os_lock lock; /* guards the rest */
    struct part *first;
    int64_t next_tag;
    bool again;
} live = {.lock = OS_LOCK_INIT};

enum { TAGS = INT32_MAX }; /* 0 to TAGS - 1 */

/* ---- life ---- */

static size_t slot_size(void)
{
    return (offsetof(struct part_chunk, dev) + mpid_space_seal(MPID_SPACE_REQUEST) + 15) / 16 * 16;
}

static struct part_chunk *slot_at(const struct part *part, int i)
{
    return (struct part_chunk *)(part->slots + (size_t)i * slot_size());
}

static struct part_chunk *slot_of(struct mpid_request *dev)
{
    return (struct part_chunk *)((char *)dev - offsetof(struct part_chunk, dev));
}

/* Slots for chunks that are known. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
static int make_slots(struct part *part)
{
    if (!part->cut.chunks)
        return MPI_SUCCESS;
    part->slots = calloc((size_t)part->cut.chunks, slot_size());
    if (!part->slots)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < part->cut.chunks; i++)
        slot_at(part, i)->part = part;
    return MPI_SUCCESS;
}

/* Locked. If tags from first on collide with those of a living send, return the first behind them;
 * otherwise first itself. */
static int64_t after_collision(int64_t first, int count)
{
    for (const struct part *other = live.first; other; other = other->next)
        if (first < other->cut.tag + other->cut.chunks && other->cut.tag < first + count)
            return other->cut.tag + other->cut.chunks;
    return first;
}

static void take_tags(struct part *part)
{
    os_lock(&live.lock);
    for (int64_t first = live.next_tag;; first = live.next_tag) {
        if (first + part->cut.chunks > TAGS) {
            live.again = true;
            first = 0;
        }
        live.next_tag = live.again ? after_collision(first, part->cut.chunks) : first;
        part->cut.tag = (int32_t)first;
        if (live.next_tag == first)
            break;
    }
    live.next_tag += part->cut.chunks;
    DL_PREPEND(live.first, part);
    os_unlock(&live.lock);
}

static void drop_tags(struct part *part)
{
    os_lock(&live.lock);
    if (part->prev)
        DL_DELETE(live.first, part);
    os_unlock(&live.lock);
}

static void ref(struct part *part)
{
    atomic_fetch_add_explicit(&part->refs, 1, memory_order_relaxed);
}

static void unref(struct part *part)
{
    if (atomic_fetch_sub_explicit(&part->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (part->send)
        drop_tags(part);
    type_unref(part->type);
    comm_unref(part->comm);
    free(part->setup);
    free(part->slots);
    free((void *)part->ready);
    free(part);
}

/* ---- bytes of the buffer ---- */

/* A piece of a buffer that is not contiguous: type is the whole, count its beginning. */
static void pack_piece(const struct mpid_bytes *from, size_t offset, void *to, size_t len)
{
    const struct mpid_bytes *whole = from->type;
    whole->layout->pack(whole, from->count + offset, to, len);
}

static void unpack_piece(const struct mpid_bytes *to, size_t offset, const void *from, size_t len)
{
    const struct mpid_bytes *whole = to->type;
    whole->layout->unpack(whole, to->count + offset, from, len);
}

static const struct mpid_layout piece_layout = {pack_piece, unpack_piece};

/* The place of a chunk; what the buffer lacks, it lacks. */
static struct mpid_bytes place_of(const struct part *part, int chunk)
{
    const struct mpid_bytes *whole = &part->whole;
    uint64_t start = (uint64_t)chunk * part->cut.chunk_len, len = part->cut.total - start;
    if (start > whole->len)
        start = whole->len;
    if (len > part->cut.chunk_len)
        len = part->cut.chunk_len;
    if (len > whole->len - start)
        len = whole->len - start;
    if (!whole->layout)
        return (struct mpid_bytes){.base = len ? (char *)whole->base + start : NULL, .len = len};
    return (struct mpid_bytes){
        .len = len, .layout = &piece_layout, .count = start, .type = whole};
}

static struct mpid_envelope envelope_of(const struct part *part, int rank, int chunk)
{
    return (struct mpid_envelope){part->comm->context + CONTEXT_PART, rank + PART_RANK,
                                  part->cut.tag + chunk};
}

/* ---- completion ---- */

static void slot_done(struct mpid_request *dev)
{
    unref(slot_of(dev)->part);
}

static bool is_done(const struct part *part, int chunk)
{
    return mpid_is_complete(&slot_at(part, chunk)->dev);
}

/* The flags of a receive, which other threads set. */
static unsigned state_of(const struct part *part)
{
    struct part *p = (struct part *)(uintptr_t)part;
    return atomic_load_explicit(&p->state, memory_order_acquire);
}

static bool is_posted(const struct part *part)
{
    return state_of(part) & POSTED;
}

/* Any thread may ask, also while another one starts the part anew. seen comes first: if it is of
 * this start, then so is what is found of the chunks; and if another start comes before it is
 * written back, then it stays as that has set it. */
static bool all_done(struct part *part)
{
    uint64_t seen = atomic_load_explicit(&part->seen, memory_order_acquire);
    if (!part->send && !is_posted(part))
        return false;
    int done = (int)(uint32_t)seen;
    while (done < part->cut.chunks && is_done(part, done))
        done++;
    uint64_t now = seen >> 32 << 32 | (uint32_t)done;
    if (now != seen)
        (void)atomic_compare_exchange_strong_explicit(&part->seen, &seen, now,
                                                      memory_order_release, memory_order_relaxed);
    return done == part->cut.chunks;
}

static bool is_complete(struct request *request)
{
    struct part *part = request->state;
    return !part_is_active(part) || part->peer == MPI_PROC_NULL || all_done(part);
}

/* Chunks that any thread may look at: another one may just be learning of those of a receive. */
static int known_chunks(const struct part *part)
{
    return part->send || state_of(part) & MATCHED ? part->cut.chunks : 0;
}

static void watch_chunks(const struct request *request, struct sleeper *sleeper)
{
    struct part *part = request->state;
    if (part->setup)
        mpid_watch_request(sleeper, &part->setup->dev);
    for (int i = 0; i < known_chunks(part); i++)
        mpid_watch_request(sleeper, &slot_at(part, i)->dev);
}

/* Of a send, each chunk that it has handed over is told, and how many partitions it has not; of a
 * receive, the whole. */
static void tell_chunks(const struct request *request, struct mpid_wait_report *report)
{
    struct part *part = request->state;
    struct mpid_envelope want = {part->comm->context + CONTEXT_PART, part->peer, part->user_tag};
    uint64_t unready = 0;
    if (part->setup)
        mpid_tell_request(report, &part->setup->dev);
    for (int i = 0; i < known_chunks(part); i++) {
        struct part_chunk *slot = slot_at(part, i);
        int waiting = atomic_load_explicit(&slot->waiting, memory_order_acquire);
        if (part->send && !waiting)
            mpid_tell_request(report, &slot->dev);
        unready += part->send && waiting > 0 ? (uint64_t)waiting : 0;
    }
    if (unready)
        mpid_tell_unready(report, &want, unready);
    if (!part->send && is_posted(part) && !all_done(part))
        mpid_tell_receive(report, &want);
}

static int outcome(const struct request *request, MPI_Status *status)
{
    struct part *part = request->state;
    int error = part->failed;
    int64_t count = 0;
    if (!part_is_active(part)) {
        status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (part->peer == MPI_PROC_NULL) {
        status_set(status, part->send ? MPI_ANY_SOURCE : MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < part->cut.chunks; i++) {
        const struct mpid_request *dev = &slot_at(part, i)->dev;
        count += (int64_t)dev->count;
        if (!error)
            error = request_class(dev);
    }
    if (known_is_kept)
        known_any();
    if (part->send)
        status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    else
        status_set(status, part->peer, part->user_tag, count, false);
    return error;
}

bool part_is_active(const struct part *part)
{
    struct part *p = (struct part *)(uintptr_t)part;
    return atomic_load_explicit(&p->active, memory_order_acquire);
}

static bool is_inactive(const struct request *request)
{
    return !part_is_active(request->state);
}

/* It becomes inactive, and stays. */
static int stop(struct request *request, int error, MPI_Request *handle)
{
    struct part *part = request->state;
    atomic_store_explicit(&part->active, false, memory_order_release);
    return error;
}

bool part_is_send(const struct part *part)
{
    return part->send;
}

int part_partitions(const struct part *part)
{
    return part->partitions;
}

/* ---- sending ---- */

/* Once the chunk is complete, another thread may free the part at once. */
static void hand_over(struct part *part, int chunk)
{
    struct part_chunk *slot = slot_at(part, chunk);
    struct mpid_bytes bytes = place_of(part, chunk);
    struct mpid_envelope env = envelope_of(part, part->comm->rank, chunk);
    if (mpid_send(part->vc, &env, &bytes, MPID_STANDARD, &slot->dev) == 0)
        mpid_complete(&slot->dev, MPID_OK); /* mpid_send() announces no request complete at once */
}

bool part_ready(struct part *part, int partition)
{
    uint32_t bit = 1u << partition % 32;
    if (part->peer == MPI_PROC_NULL)
        return true;
    if (atomic_fetch_or(&part->ready[partition / 32], bit) & bit)
        return false;
    int chunk = partition / part->group;
    if (atomic_fetch_sub(&slot_at(part, chunk)->waiting, 1) == 1)
        hand_over(part, chunk);
    return true;
}

static void start_send(struct part *part)
{
    for (int i = 0; i < part->partitions; i += 32)
        atomic_store_explicit(&part->ready[i / 32], 0, memory_order_relaxed);
    for (int i = 0; i < part->cut.chunks; i++) {
        struct part_chunk *slot = slot_at(part, i);
        int left = part->partitions - i * part->group;
        atomic_store_explicit(&slot->waiting, left < part->group ? left : part->group,
                              memory_order_relaxed);
        atomic_store_explicit(&slot->dev.pending, 1, memory_order_relaxed);
        slot->dev.error = MPID_OK;
    }
}

static int tell(const struct part *part)
{
    struct p2p_side to = {part->comm, part->comm->context + CONTEXT_PART, part->peer,
                          part->user_tag};
    struct request *request;
    int64_t *said = malloc(sizeof(part->said));
    if (!said)
        return MPI_ERR_NO_MEM;
    part_cut_say(&part->cut, said);
    int rc = p2p_isend_mode(&to, said, PART_CUT_WORDS, MPI_INT64_T, MPID_STANDARD, &request);
    if (rc || request == &request_done) {
        free(said);
        return rc;
    }
    request->owned = said;
    return request_abandon(request);
}

static int init_send(struct part *part)
{
    part->group = part_cut_make(&part->cut, part->partitions, part->partition_len);
    size_t words = ((size_t)part->partitions + 31) / 32;
    part->ready = calloc(words ? words : 1, sizeof(*part->ready));
    part->vc = comm_vc(part->comm, part->peer);
    if (!part->ready || !part->vc || make_slots(part))
        return MPI_ERR_NO_MEM;
    take_tags(part);
    return tell(part);
}

/* ---- receiving ---- */

/* Receive each chunk. */
static void post(struct part *part)
{
    for (int i = 0; i < part->cut.chunks; i++) {
        struct mpid_request *dev = &slot_at(part, i)->dev;
        struct mpid_bytes bytes = place_of(part, i);
        struct mpid_envelope want = envelope_of(part, part->peer, i);
        ref(part);
        mpid_recv(dev, part->vc, &want, &bytes);
        if (!mpid_when_done(dev, slot_done))
            unref(part);
    }
    atomic_fetch_or_explicit(&part->state, POSTED, memory_order_release);
}

/* Take over what a setup says. More chunks than a sender makes of as many bytes as there is room
 * for are refused. Returns MPI_SUCCESS or an error class. */
static int learn(struct part *part)
{
    const struct mpid_request *dev = &part->setup->dev;
    struct part_cut cut;
    int rc = request_class(dev);
    if (rc)
        return rc;
    if (os_turns)
        os_turn_all(part->said, sizeof(part->said[0]), PART_CUT_WORDS);
    if (dev->count != sizeof(part->said) || !part_cut_hear(&cut, part->said))
        return MPI_ERR_OTHER;
    if ((uint64_t)cut.chunks > PART_CHUNKS + 1 + part->whole.len / PART_CHUNK_LEN)
        return MPI_ERR_TRUNCATE;
    part->cut = cut;
    return make_slots(part);
}

static void matched(struct part *part)
{
    part->failed = learn(part);
    if (part->failed)
        part->cut = (struct part_cut){0};
    if (atomic_fetch_or(&part->state, MATCHED) & WANTED)
        post(part);
    unref(part);
}

static void setup_done(struct mpid_request *dev)
{
    matched(slot_of(dev)->part);
}

static int init_recv(struct part *part)
{
    struct mpid_envelope want = {part->comm->context + CONTEXT_PART, part->peer, part->user_tag};
    struct mpid_bytes bytes = {.base = part->said, .len = sizeof(part->said)};
    part->vc = comm_vc(part->comm, part->peer);
    part->setup = calloc(1, slot_size());
    if (!part->setup || !part->vc)
        return MPI_ERR_NO_MEM;
    part->setup->part = part;
    ref(part);
    mpid_recv(&part->setup->dev, part->vc, &want, &bytes);
    if (!mpid_when_done(&part->setup->dev, setup_done))
        matched(part);
    return MPI_SUCCESS;
}

static void start_recv(struct part *part)
{
    if (atomic_fetch_or(&part->state, WANTED) & MATCHED)
        post(part);
}

bool part_arrived(struct part *part, int partition)
{
    if (!part_is_active(part) || part->peer == MPI_PROC_NULL)
        return true;
    if (!is_posted(part))
        return false;
    int first, end;
    part_cut_find(&part->cut, (uint64_t)partition * part->partition_len, part->partition_len,
                  &first, &end);
    if (end == part->cut.chunks && !first)
        return all_done(part);
    while (first < end && is_done(part, first))
        first++;
    return first == end;
}

/* ---- both ---- */

/* A receive's messages in the device hold references; of a send, those that are on their way
 * get them now. */
static void release(struct request *request)
{
    struct part *part = request->state;
    for (int i = 0; part->send && i < part->cut.chunks; i++) {
        struct part_chunk *slot = slot_at(part, i);
        ref(part);
        if (atomic_load(&slot->waiting) || !mpid_when_done(&slot->dev, slot_done))
            unref(part);
    }
    unref(part);
}

/* Nothing of the new start has been seen. Undo the state of the old one. */
static void renew_seen(struct part *part)
{
    uint64_t starts = atomic_load_explicit(&part->seen, memory_order_relaxed) >> 32;
    atomic_store_explicit(&part->seen, (starts + 1) << 32, memory_order_release);
}

static int abandon(struct request *request)
{
    request_free(request);
    return MPI_SUCCESS;
}

static int start(struct request *request)
{
    struct part *part = request->state;
    if (part->peer != MPI_PROC_NULL && part->send)
        start_send(part);
    else
        atomic_fetch_and(&part->state, MATCHED);
    renew_seen(part);
    atomic_store_explicit(&part->active, true, memory_order_release);
    if (part->peer != MPI_PROC_NULL && !part->send)
        start_recv(part);
    return MPI_SUCCESS;
}

static const struct request_ops ops = {
    .is_complete = is_complete,
    .is_inactive = is_inactive,
    .watch = watch_chunks,
    .tell = tell_chunks,
    .outcome = outcome,
    .end = stop,
    .abandon = abandon,
    .start = start,
    .release = release,
};

/* By a function that no other kind has: attach.c may have given it a table of its own. */
struct part *part_of(const struct request *request)
{
    return request->ops->watch == watch_chunks ? request->state : NULL;
}

/* The buffer as a place. Returns MPI_SUCCESS or an error class. */
static int place(struct part *part, const struct part_what *what)
{
    MPI_Count elements;
    struct type *used;
    if (__builtin_mul_overflow(what->count, (MPI_Count)what->partitions, &elements))
        return MPI_ERR_COUNT;
    int rc = type_place(what->type, what->buf, elements, &part->whole, &used);
    if (!rc && type_may_be_misread(what->type) && comm_misreads(what->comm, what->peer, what->type))
        rc = MPI_ERR_TYPE;
    if (rc)
        return rc;
    part->type = type_placed(what->type);
    type_ref(part->type);
    if (what->partitions)
        part->partition_len = part->whole.len / (uint64_t)what->partitions;
    return MPI_SUCCESS;
}

int part_create(const struct part_what *what, struct request **request)
{
    struct part *part = calloc(1, sizeof(*part));
    struct request *made = part ? request_create(&ops, what->comm) : NULL;
    if (!made) {
        free(part);
        return MPI_ERR_NO_MEM;
    }
    atomic_store_explicit(&part->refs, 1, memory_order_relaxed);
    part->send = what->send;
    part->comm = what->comm;
    object_ref(&part->comm->object);
    part->partitions = what->partitions;
    part->peer = what->peer;
    part->user_tag = what->tag;
    int rc = place(part, what);
    if (!rc && part->peer != MPI_PROC_NULL)
        rc = part->send ? init_send(part) : init_recv(part);
    if (rc) {
        unref(part);
        request_free(made);
        return rc;
    }
    made->owned = made->state = part;
    *request = made;
    return MPI_SUCCESS;
}
