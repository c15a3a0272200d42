/* SPDX-License-Identifier: BSD-3-Clause */

/* Sends and receives compared by type signature; see compared.h. */
#include "mpi/request/compared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/call_text.h"
#include "mpi/comm/comm.h"
#include "mpi/known.h"
#include "mpi/request/busy.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "mpi/type/type_hash.h"
#include "mpi/world.h"

bool compared_on;

static const uint64_t note_magic = 0x0065746f6e726576u; /* "vernote" */

/* What a message begins with: numbers in the byte order of the job, which is one. */
struct note {
    uint64_t magic;
    struct mpid_call_site site;
    struct type_hash hash;
    int64_t count; /* of elements of the type, which is called ... */
    char type[MPI_MAX_OBJECT_NAME];
    int32_t rank; /* in MPI_COMM_WORLD, of the sender */
    int32_t untyped;
    struct known known; /* by the sender */
};

/* A note, and the bytes of the program behind it: what a request's bytes name as their type. */
struct noted {
    struct note note;        /* of a send ours, of a receive the sender's */
    struct mpid_bytes inner; /* the program's bytes */
    struct mpid_call_site site;
    const struct type *type; /* of a receive; its request has a reference */
    MPI_Count count;
    void *owned; /* to be freed with it, or NULL */
};


static void pack(const struct mpid_bytes *from, size_t offset, void *to, size_t len)
{
    const struct noted *noted = from->type;
    size_t of_note = offset < sizeof(noted->note) ? sizeof(noted->note) - offset : 0;
    if (of_note > len)
        of_note = len;
    if (of_note)
        memcpy(to, (const char *)&noted->note + offset, of_note);
    if (len > of_note)
        type_pack(&noted->inner, offset + of_note - sizeof(noted->note), (char *)to + of_note,
                  len - of_note);
}

static void unpack(const struct mpid_bytes *to, size_t offset, const void *from, size_t len)
{
    struct noted *noted = (struct noted *)(uintptr_t)to->type;
    size_t of_note = offset < sizeof(noted->note) ? sizeof(noted->note) - offset : 0;
    if (of_note > len)
        of_note = len;
    if (of_note)
        memcpy((char *)&noted->note + offset, from, of_note);
    if (len > of_note)
        type_unpack(&noted->inner, offset + of_note - sizeof(noted->note),
                    (const char *)from + of_note, len - of_note);
}

static const struct mpid_layout layout = {.pack = pack, .unpack = unpack};

void compared_begin(void)
{
    compared_on = true;
    type_shut_quick();
}

int64_t compared_bytes(int64_t bytes)
{
    int64_t note = compared_on ? (int64_t)sizeof(struct note) : 0;
    return bytes > note ? bytes - note : 0;
}

int64_t compared_probed(int64_t bytes)
{
    if (known_is_kept)
        known_any();
    return compared_bytes(bytes);
}

/* Put a note before bytes. */
static struct noted *note_before(struct mpid_bytes *bytes, struct type *type, MPI_Count count)
{
    struct noted *noted = calloc(1, sizeof(*noted));
    if (!noted)
        return NULL;
    noted->inner = *bytes;
    noted->type = type;
    noted->count = count;
    mpid_find_site(&noted->site);
    *bytes = (struct mpid_bytes){
        .len = bytes->len + sizeof(noted->note), .layout = &layout, .type = noted};
    return noted;
}

/* ---- sending ---- */

static void write_note(struct noted *noted, const struct compared_data *data)
{
    struct type *named = type_placed(data->named_type);
    struct note *note = &noted->note;
    note->magic = note_magic;
    note->site = noted->site;
    note->rank = world_facts.rank;
    note->known = known_now();
    note->count = data->named_count;
    note->hash = type_hash(named, data->named_count);
    note->untyped = type_is_untyped(named);
    (void)name_get(&named->name, note->type);
}

/* A send reads from now on. */
static void use_now(const struct busy_place *place, const struct mpid_call_site *site)
{
    busy_claim(place, site);
    busy_touch(place, site, known_step());
}

/* A synchronous send tells of what the receiver has done before, too. */
static int outcome_of_sync(const struct request *request, MPI_Status *status)
{
    known_any();
    return request_send_ops.outcome(request, status);
}

/* Sends and receives are cancelled alike. */
static int cancel(struct request *request)
{
    return request_recv_ops.cancel(request);
}

static const struct request_ops sync_ops = {.outcome = outcome_of_sync, .cancel = cancel};

int compared_isend(const struct p2p_side *to, const struct compared_data *data, unsigned mode,
                   struct request **request)
{
    struct mpid_envelope env = {to->context, to->comm->rank, to->tag};
    struct mpid_bytes bytes;
    struct type *used;
    *request = &request_done;
    if (to->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    struct vc *vc = comm_vc(to->comm, to->peer);
    int rc = vc ? type_place(data->type, data->buf, data->count, &bytes, &used) : MPI_ERR_NO_MEM;
    if (rc)
        return rc;
    struct type *type = type_placed(data->type);
    struct noted *noted = note_before(&bytes, type, data->count);
    const struct request_ops *ops = mode & MPID_SYNC ? &sync_ops : &request_send_ops;
    struct request *made = noted ? request_create(ops, to->comm) : NULL;
    if (!made) {
        free(noted);
        return MPI_ERR_NO_MEM;
    }
    if (data->type == data->named_type)
        use_now(&(struct busy_place){data->buf, data->count, type, false}, &noted->site);
    write_note(noted, data);
    made->owned = noted;
    made->type = type;
    type_ref(type);
    if (mpid_send(vc, &env, &bytes, mode, &made->dev) == 0)
        request_free(made);
    else
        *request = made;
    return MPI_SUCCESS;
}

/* ---- receiving ---- */

static const struct request_ops ops = {
    .outcome = compared_outcome, .cancel = cancel, .release = compared_release};

static int outcome_of_any(const struct request *request, MPI_Status *status)
{
    if (mpid_is_complete(&request->dev))
        return compared_outcome(request, status);
    status_set_empty(status);
    return MPIX_ERR_PROC_FAILED_PENDING;
}

static int end_any(struct request *request, int outcome, MPI_Request *handle)
{
    return request_any_ops.end(request, outcome, handle);
}

static const struct request_ops any_ops = {
    .is_complete = request_is_complete_or_doubted,
    .tell = request_tell_message,
    .outcome = outcome_of_any,
    .end = end_any,
    .cancel = cancel,
    .release = compared_release,
};

static struct noted *noted_of_bytes(const struct mpid_bytes *bytes)
{
    return bytes->layout == &layout ? (struct noted *)(uintptr_t)bytes->type : NULL;
}

static struct noted *noted_of(const struct request *request)
{
    return noted_of_bytes(&request->dev.bytes);
}

int compared_expect(struct request *request, struct mpid_bytes *bytes, MPI_Count count,
                    MPI_Datatype type)
{
    struct type *named = type_placed(type);
    struct noted *noted = note_before(bytes, named, count);
    if (!noted)
        return MPI_ERR_NO_MEM;
    request->ops = &ops;
    request->owned = noted;
    request->type = named;
    type_ref(named);
    return MPI_SUCCESS;
}

int compared_irecv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
                   struct request **request)
{
    struct mpid_bytes bytes;
    struct type *used;
    struct vc *source = NULL;
    if (from->peer == MPI_PROC_NULL)
        return p2p_irecv(from, buf, count, type, request);
    if (from->peer != MPI_ANY_SOURCE && !(source = comm_vc(from->comm, from->peer)))
        return MPI_ERR_NO_MEM;
    int rc = type_place(type, buf, count, &bytes, &used);
    struct request *made = rc ? NULL : request_create(&request_recv_ops, from->comm);
    if (!made)
        return rc ? rc : MPI_ERR_NO_MEM;
    struct busy_place place = {buf, count, type_placed(type), true};
    rc = compared_expect(made, &bytes, count, type);
    if (!rc)
        busy_claim(&place, &noted_of_bytes(&bytes)->site);
    if (rc) {
        request_free(made);
        return rc;
    }
    if (!source)
        made->ops = &any_ops;
    struct mpid_envelope want = p2p_want(from);
    *request = made;
    mpid_recv(&made->dev, source, &want, &bytes);
    return MPI_SUCCESS;
}

int compared_recv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
                  MPI_Status *status)
{
    struct request *request;
    int rc = compared_irecv(from, buf, count, type, &request);
    return rc ? rc : p2p_finish(request, status);
}

static _Noreturn void tell(const struct noted *noted, const char *what)
{
    const struct note *note = &noted->note;
    char mine[CALL_TEXT], theirs[CALL_TEXT], text[4 * CALL_TEXT];
    char their_type[MPI_MAX_OBJECT_NAME], my_type[MPI_MAX_OBJECT_NAME];
    struct type *type = (struct type *)(uintptr_t)noted->type;
    call_text(theirs, note->rank, &note->site, &noted->site);
    call_text(mine, world_facts.rank, &noted->site, &noted->site);
    call_text_clean(their_type, note->type, sizeof(their_type));
    (void)name_get(&type->name, my_type);
    snprintf(text, sizeof(text), "--check: %s with %lld of %s, %s with %lld of %s: %s", theirs,
             (long long)note->count, *their_type ? their_type : "a datatype of the program's", mine,
             (long long)noted->count, *my_type ? my_type : "a datatype of the program's", what);
    mpid_abort(MPI_ERR_OTHER & 0xff, text);
}

/* Compare the message with the receive. A message may be shorter: then it matches the beginning of
 * the receive. */
static void compare(const struct noted *noted, size_t got)
{
    const struct note *note = &noted->note;
    if (got < sizeof(*note) || note->magic != note_magic)
        mpid_abort(MPI_ERR_OTHER & 0xff,
                   "--check: a message has come from a process without --check: set it for all");
    uint64_t mine = type_hash(noted->type, noted->count).elements;
    if (note->untyped || !note->hash.elements || type_is_untyped(noted->type))
        return;
    if (note->hash.elements > mine ||
        type_hash_first(noted->type, note->hash.elements).value != note->hash.value)
        tell(noted, "the basic types that are sent are not those that are received");
}

/* The receive is over: this process knows what the sender did, and the data are where they belong. */
static void heard(const struct noted *noted, size_t got)
{
    const struct mpid_bytes *inner = &noted->inner;
    struct busy_place place = {inner->buf, noted->count, noted->type, true};
    size_t len = got - sizeof(noted->note);
    known_learn(&noted->note.known);
    if (!inner->layout)
        place = (struct busy_place){inner->base, (MPI_Count)(len < inner->len ? len : inner->len), type_placed(MPI_BYTE), true};
    else if (noted->type->size)
        place.count = (MPI_Count)len / noted->type->size;
    busy_touch(&place, &noted->site, known_step());
}

int compared_outcome(const struct request *request, MPI_Status *status)
{
    const struct mpid_request *dev = &request->dev;
    const struct noted *noted = noted_of(request);
    if (!noted)
        return request_recv_ops.outcome(request, status);
    int rc = request_class(dev);
    if (!rc && !dev->cancelled) {
        compare(noted, dev->count);
        heard(noted, dev->count);
    }
    status_set(status, dev->place.env.rank, dev->place.env.tag, compared_bytes((int64_t)dev->count),
               dev->cancelled);
    return rc;
}

void compared_own(struct request *request, void *owned)
{
    struct noted *noted = noted_of(request);
    if (noted)
        noted->owned = owned;
    else
        request->owned = owned;
}

void compared_release(struct request *request)
{
    struct noted *noted = noted_of(request);
    if (noted)
        free(noted->owned);
    free(request->owned);
}
