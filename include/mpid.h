/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The device contract: what mpid/ gives the MPI layer. The device moves bytes
 * between processes over virtual connections (VCs). It knows no communicator and
 * no datatype: it is given an envelope (context, rank, tag), a VC, and a place
 * in user memory.
 *
 * Callers: mpi/ only. Any thread, at any time between mpid_init() and mpid_rest(); the device locks
 * for itself. Nothing here blocks but mpid_wait*(), mpid_init(), mpid_end_world() and mpid_drain().
 *
 * Errors: 0 done; negative (-errno) fatal, forward unchanged; positive an
 * outcome named here. A failed message sets its own request's error; a call that only makes
 * progress never returns it.
 */
#ifndef MPID_H
#define MPID_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct vc;           /* a virtual connection to one process */
struct chan_region;
struct mpid_message; /* a message taken out of the queues by a probe */

enum {
    MPID_ANY = -1 /* as rank or tag of a receive or probe: any will do */
};

/* Name of a process group; memcmp() orders them. */
struct mpid_gid {
    uint8_t b[16];
};

struct mpid_process {
    struct mpid_gid gid;
    uint32_t rank; /* in that group */
};

/* Contexts that a communicator has, from a multiple of this on. */
enum { MPID_CONTEXT_STEP = 16 };

/*
 * What a message is known by. context: several for each communicator, one for
 * each purpose; equal on all members.
 * rank: of the sender, in the context's own numbering. tag: 0 or more.
 */
struct mpid_envelope {
    uint32_t context;
    int32_t rank;
    int32_t tag;
};

/*
 * A place in user memory holding len bytes of data: contiguous at base, or,
 * where layout is not NULL, wherever its functions find them. buf, count and type
 * are theirs. What it points to must live until the request is complete.
 */
struct mpid_bytes {
    void *base;
    size_t len;
    const struct mpid_layout *layout;
    void *buf;
    size_t count;
    const void *type;
};

/* Copy the data bytes [offset, offset+len) of a place to or from a plain
 * buffer. Any offset, in any order; cheapest where each call goes on at the end of
 * the last. */
struct mpid_layout {
    void (*pack)(const struct mpid_bytes *from, size_t offset, void *to, size_t len);
    void (*unpack)(const struct mpid_bytes *to, size_t offset, const void *from, size_t len);
};

/* An envelope, and its place while it waits to be matched: mpid/ground/match.c's own. */
struct mpid_place {
    struct mpid_place *next, *prev; /* with an equal envelope, oldest first, in a ring */
    struct mpid_place *chain, **at; /* of the oldest: next in its bucket; the pointer to it */
    struct mpid_envelope env;
};

/* What went wrong with a request. */
enum mpid_error {
    MPID_OK = 0,
    MPID_TRUNCATED, /* the message was longer than the place; the place is full */
    MPID_LOST,      /* the peer is gone */
    MPID_UNREACHABLE, /* no channel reaches the peer; likewise */
    MPID_NO_MEMORY,
    MPID_REVOKED /* the layer above has ended all that goes on in the context */
};

enum mpid_kind {
    MPID_SEND = 1,
    MPID_RECV
};

/*
 * A request: a counter of outstanding CARs (communication agent requests: one
 * send or receive action on one VC) and the first of them, in one allocation; mpid_add_car() adds
 * more.
 * The MPI layer embeds it last in its own request, which is as much longer as mpid_space_seal() says
 * (channels have reserved that), and gives it zeroed
 * or recycled: mpid_send() and mpid_recv() set every field.
 *
 * Complete at pending == 0 (load with acquire); then the outcome is stable and
 * the device has forgotten the request, but for calling done, if set.
 */
struct mpid_request {
    _Atomic int32_t pending;
    uint8_t kind;              /* enum mpid_kind */
    uint8_t error;             /* enum mpid_error */
    bool cancelled;            /* outcome of mpid_cancel() */
    uint8_t state;             /* the device's: enum car_state */

    /* If the layer above puts 56 bytes before this, matching and a small message use the next two
     * cache lines only; the fields behind them serve sends and larger messages. */
    struct mpid_place place; /* the envelope: of a send its own, of a receive the pattern or the
                              * message's */
    size_t count;            /* data bytes received */
    uint64_t order;          /* of posting */

    /* The handler of its completion, or NULL: see mpid_when_done(). */
    void (*done)(struct mpid_request *request);
    struct vc *vc; /* from here on: the first CAR, the device's own */
    struct mpid_bytes bytes;

    struct mpid_request *next, *prev; /* of a send: in a queue of its VC */
    uint64_t total;      /* bytes of the message, where not all have come at once */
    uint64_t moved;      /* bytes handed over or arrived */
    uint32_t id;         /* how the other side names this one; 0: none */
    uint32_t mode;       /* of a send: enum mpid_mode; of a receive: its engine */
    uint64_t peer_id;    /* the request at the other side */
    uint64_t from, end;  /* of a rendezvous: the part of the message that is this CAR's */
    uint64_t left;       /* of its first CAR: bytes of the message in CARs that are not over */
    uint64_t started_ns; /* when its bulk transfer began */
    struct chan_region *region; /* of a send: its memory, while the peer may read it; or NULL */

    /* Of a request with several CARs, and of those that were added: see mpid_add_car(). */
    struct mpid_request *whole; /* what it is a CAR of; NULL: it is the request */
    void (*handler)(struct mpid_request *request); /* its own, in place of done */
};

/* ---- life ---- */

struct mpid_world {
    struct mpid_gid gid;
    int rank, size;    /* of this process's first group */
    int appnum;        /* which of mpiexec's programs; -1: unknown */
    int universe_size; /* 0: unknown */
    const char *host;  /* name of this host, for people */
    const char *host_id; /* the same in all processes of this host, and in no others */
    int local_ranks;   /* ranks of the group on this host */
    int cpus;          /* processors that they share */
};

/* Start: attach to the process manager, open the channels, publish the card; or, after mpid_rest(),
 * go on with the open ones. threads: whether several threads may call at once.
 * request_size: bytes of the upper layer's request from its mpid_request on. Returns 0, or
 * -errno with a sentence in why, which is empty if it has been written to stderr already. Exchanges
 * no message. */
int mpid_init(bool threads, size_t request_size, struct mpid_world *world, char *why,
              size_t size);
/* From here on several threads may call. */
void mpid_use_threads(void);

/* What the device serves, from mpid_use() on: one or both. Returns 0 or -errno. */
enum mpid_model { MPID_WORLD = 1, MPID_SESSIONS = 2 };
int mpid_use(enum mpid_model model);
/* MPI_Finalize: close every VC in two phases, and open it again for sessions that come later.
 * Waits for the peers of the world model that this process has talked to to do the same, as long
 * as they live. alone: no session is there, so wait before until all that was sent is out. */
void mpid_end_world(bool alone);
/* Whether all that was sent is out of this process; and wait for that, and for nothing else. */
bool mpid_is_out(void);
void mpid_drain(void);
/* Nobody uses the device, and all is out. Channels stay open, for another mpid_init(); the process
 * may also exit. Waits for nothing. */
int mpid_rest(void);
/* Give everything back, when the process exits: waits for nobody. Does nothing but after
 * mpid_rest(), in the same process. */
void mpid_close(void);
/* End the whole job; does not return. */
_Noreturn void mpid_abort(int code, const char *message);
/* Around fork(), in the parent: nothing changes here meanwhile. */
void mpid_before_fork(void);
void mpid_after_fork(void);
/* This process is a child that was forked: forget the job, which is the parent's. Sends end in
 * MPID_LOST, nothing arrives, and to wait for what cannot come ends the process. */
void mpid_orphan(void);
/* Whether mpid_abort() can be called: after mpid_init(), even a failed one if it had reached the
 * process manager. */
bool mpid_has_manager(void);

/* The ranks of the world that run mpiexec's program number app: *first and the *size - 1 next
 * ones. Returns whether there are any. */
bool mpid_app(int app, int *first, int *size);
/* The number of the host that a rank of the world runs on, from 0; negative: unknown. */
int mpid_node(uint32_t rank);
/* Have put called when mpiexec's report is made, to append lines of the layer above: three words with
 * tabs between them; the first is no number. Behind "note" comes a sentence. */
void mpid_set_report(void (*put)(FILE *file));
/* Have the report say a sentence, once; where no report is asked for, nothing. */
void mpid_report_note(const char *text);

/* ---- space in objects of other layers ---- */

/*
 * A module may need some bytes in each object of a kind that another one makes. It reserves them
 * before the first object exists, and finds them at the offset that it was given.
 */
enum mpid_space {
    MPID_SPACE_REQUEST, /* struct mpid_request; open from mpid_init() on */
    MPID_SPACE_VC,      /* the device's */
    MPID_SPACE_COMM,    /* the layer above's */
    MPID_SPACE_REGION,  /* struct mpid_region */
    MPID_SPACES
};

/* By the maker: objects take so many bytes (not 0) themselves. Nothing is reserved yet. */
void mpid_space_open(enum mpid_space kind, size_t size);
/* By any module: size bytes in each. Returns their offset from the object's start; -ENOSPC if it is
 * too late, or too early; or -EINVAL: align is no power of two, or above 64. */
int mpid_space_reserve(enum mpid_space kind, size_t size, size_t align);
/* By the maker, before the first object: nothing can be reserved any more. Returns the bytes of an
 * object in all. */
size_t mpid_space_seal(enum mpid_space kind);

/* ---- virtual connections ---- */

/* The VC to a rank of a group, made (unbound) on first use; NULL when memory is
 * out. The same for every caller, and counted: valid until mpid_vc_put() was called as often. Once
 * nobody needs it, it goes, as soon as it has no link. */
struct vc *mpid_vc_get(const struct mpid_gid *gid, uint32_t rank);
void mpid_vc_put(struct vc *vc);

/* Whether long double has another format in the peer's process, so that its bits there are another number. The first
 * answer waits for the peer's card, and makes progress; of a process that has none it is false. */
bool mpid_has_other_long_double(struct vc *vc);
/* The same of its byte order, in a job of network order. */
bool mpid_has_other_order(struct vc *vc);
/* Whether a process has turned out to be out of reach of every channel. */
bool mpid_is_apart(void);

/* ---- processes of other jobs ---- */

/* What a process must know of one of another job to reach it. */
struct mpid_introduction {
    struct mpid_gid gid;
    uint32_t rank;
    uint8_t key[16];        /* its job's, for other jobs */
    const char *card, *host; /* where its channels can be called; the name of its host, for people */
};

/* Be ready for calls of processes of other jobs, and write down what they must know; me->card is to be given
 * to free(). Returns 0 or -errno. */
int mpid_present(struct mpid_introduction *me);
/* Get to know a process, as another one tells it: not to be trusted. Gives the VC to it, as mpid_vc_get()
 * does; NULL: no memory. What is known stays as long as the VC. */
struct vc *mpid_introduce(const struct mpid_introduction *who);
/* Whether any process of another job is known. */
bool mpid_knows_others(void);

/* Have a job started, by an mpiexec with these words behind its name (NULL-terminated); its processes get note. Returns
 * 0, with *id, or -errno. */
int mpid_spawn(const char *const *words, const char *note, int *id);
/* Whether it has ended, and with which exit code; then id means nothing any more. */
bool mpid_spawn_ended(int id, int *status);
/* Its failure is this job's from now on. */
void mpid_spawn_link(int id);
/* It is no longer. Waits until mpiexec has taken note of it. */
void mpid_spawn_unlink(int id);
/* Publish a name, take it back, or look it up; it is known as BNR_Name() says. Waits. Returns 0; -EEXIST, -ENOENT,
 * -EPERM or another -errno; text: of the name, in or out (MPID_NAME_MAX bytes and a NUL). Where a name cannot be published, it
 * gets the host where it cannot be. */
enum mpid_name { MPID_PUBLISH, MPID_UNPUBLISH, MPID_LOOKUP };
enum { MPID_NAME_MAX = 1023 };
int mpid_name(enum mpid_name call, const char *name, char *text);
/* The note that this process got, when it was started so; NULL: it was not. */
const char *mpid_spawn_note(void);

/* Where the program has called MPI, in this thread: the function, "" if unknown; the file that
 * calls it, and the address in that. Slow. */
struct mpid_call_site {
    char function[48], module[208];
    uint64_t offset;
};
void mpid_find_site(struct mpid_call_site *site);
/* The same place as text, "solver.c:12" or "a.out+0x1f", or "" if unknown. It may take two
 * seconds. */
struct mpid_line {
    char text[200];
};
void mpid_find_line(struct mpid_line *line);

/* ---- failures ---- */

/*
 * A process of the job that ends without MPI_Finalize has failed. The device ends all requests
 * between it and this process. It cannot know the effect on other peers: the layer above says which
 * contexts fail with a process. In these nothing goes on: receives, and sends that have to wait for
 * a peer, end in MPID_LOST, at once or when they begin.
 */

/* Have contexts_of called for each process that fails from now on: in any thread, within a call of
 * the device. It calls fail for each context that ends with it, and nothing else here. */
void mpid_set_failed(void (*contexts_of)(const struct mpid_gid *gid, uint32_t rank,
                                         void (*fail)(uint32_t context)));
/* Tell the index-th process that has failed. Returns whether there is one. */
bool mpid_failed(int index, struct mpid_gid *gid, uint32_t *rank);
/* The error of a complete request. A peer that nobody reaches may just have died: that is waited for, at most
 * 300 ms and 8 ms for each rank of this host, and is MPID_LOST. */
enum mpid_error mpid_why(const struct mpid_request *request);
/* Whether the others go on if this process fails, or are ended, as at first. */
void mpid_tolerate(bool on);
/* A connection may break a moment before it is known that the peer's process has ended: wait until
 * that is known of all whose connection has broken, or for a second. */
void mpid_wait_causes(void);
/* End this process, which others take for dead. The rest of the job goes on, if it has asked for that. */
void mpid_give_up(const char *why) __attribute__((noreturn));
/* The same for a context that is made after the failure, or for another reason: MPID_LOST or
 * MPID_REVOKED, which stays. */
void mpid_fail_context(uint32_t context, enum mpid_error error);
/* The context is not used any more, or is about to be used for something else. */
void mpid_forget_context(uint32_t context);

/* ---- notices ---- */

/*
 * A notice is a short message of the layer above that no receive is posted for. A function gets it:
 * called by a thread in a call that makes progress, unlocked, never beside itself or a handler of
 * mpid_when_done(), and what these may call it may call, too. Notices from one process to another come
 * in order. They may also come for a context that this process does not know, now or any more.
 */
enum { MPID_NOTICE_MAX = 8192 };

struct mpid_notice {
    struct mpid_process from;
    uint32_t context;
    uint64_t word;
    const void *data;
    size_t len; /* bytes of data */
};

/* Have arrived called for notices; and look when some process has ended, in whatever way, so after all
 * that it has sent, or mpid_is_finalizing() is true of one more. */
void mpid_set_notice(void (*arrived)(const struct mpid_notice *notice), void (*look)(void));
/* Send one; if the peer is lost, nothing comes of it. Returns 0, or -EMSGSIZE if it is longer than
 * MPID_NOTICE_MAX. */
int mpid_notify(struct vc *vc, uint32_t context, uint64_t word, const void *data, size_t len);
/* Whether a process is known to have ended, in whatever way. One of another job that cannot be reached is taken for
 * failed from then on. */
bool mpid_is_gone(const struct mpid_gid *gid, uint32_t rank);
/* Whether a process of this job is in mpid_end_world(), and this one is not: as one hears from those that it has a
 * connection with. */
bool mpid_is_finalizing(const struct mpid_gid *gid, uint32_t rank);

/* ---- messages ---- */

enum mpid_mode {
    MPID_STANDARD = 0,
    MPID_SYNC = 1u << 0, /* complete only once the receive has matched */
    MPID_MORE = 1u << 1  /* the caller goes on at once: may be held until progress */
};

/* Outcome of mpid_send() besides 0 (complete: the buffer may be reused). */
enum {
    MPID_NEED_REQUEST = 1, /* nothing done: request was NULL, and one is needed */
    MPID_STARTED = 2       /* going on in request */
};

/* Send. With request NULL, send only if that is at once complete. */
int mpid_send(struct vc *vc, const struct mpid_envelope *env, const struct mpid_bytes *bytes,
              unsigned mode, struct mpid_request *request);

/* Up to so many bytes a message goes at once rather than by rendezvous, as far as is known by now. */
size_t mpid_eager_max(struct vc *vc);

/* Rank and tag of a message in one word, as the fast paths take them. */
static inline uint64_t mpid_sender(int32_t rank, int32_t tag)
{
    return (uint64_t)(uint32_t)tag << 32 | (uint32_t)rank;
}

/* The fast path of mpid_send(): contiguous bytes, and only if that is at once
 * complete. Returns whether it was sent. */
bool mpid_send_now(struct vc *vc, uint32_t context, uint64_t sender, const void *base, size_t len,
                   unsigned mode);

/* The fast path of a blocking receive into contiguous memory: one turn of
 * progress, and the message if that brings it. mask has ones where sender matters: all, less
 * MPID_ANY_RANK_BITS and MPID_ANY_TAG_BITS where any will do; there sender has zeros. Signs always
 * matter, so that an impossible message is none that is wanted. Returns whether it came, and then in
 * *from and *count what mpid_request has there. */
#define MPID_ANY_RANK_BITS ((uint64_t)INT32_MAX)
#define MPID_ANY_TAG_BITS  ((uint64_t)INT32_MAX << 32)
struct mpid_wanted {
    uint64_t sender, mask;
    uint32_t context;
    void *base;
    size_t len;
    uint64_t from; /* out: the sender */
    size_t count;  /* out: bytes */
};
bool mpid_recv_now(struct mpid_wanted *wanted);

/* Receive the first message that fits; request completes, maybe before the return: in MPID_LOST or
 * MPID_UNREACHABLE once nothing can come any more. That is so of a receive from one process, to which
 * from leads, when that is lost (otherwise than in order: see mpid_await()); of one from any (from is NULL) when a
 * process of the job has failed and all others of the context's communicator are lost; and in a context that has failed.
 * The first form finds from in request->vc, the pattern in request->place.env, and the buffer in
 * request->bytes; the second sets them: in the caller, so that they are not written twice. */
void mpid_start_recv(struct mpid_request *request);
static inline void mpid_recv(struct mpid_request *request, struct vc *from,
                             const struct mpid_envelope *want, const struct mpid_bytes *bytes)
{
    request->vc = from;
    request->place.env = *want;
    request->bytes = *bytes;
    mpid_start_recv(request);
}

/* The caller does nothing any more but wait for this request, which may be a receive or a send. So a receive ends, too, once
 * the process that it names has left MPI in order, or all have that might send; that from any process does not where
 * another thread of this process may send to itself. */
void mpid_await(struct mpid_request *request);

/* A look for a message. */
struct mpid_probe {
    struct mpid_envelope want;
    struct vc *from; /* as of mpid_recv() */
    bool take; /* the message out of the queues: only mpid_recv_message() gets it */
    struct mpid_envelope found; /* out: of the message; and its bytes */
    size_t len;
    struct mpid_message *message; /* out, where take */
    enum mpid_error error; /* out, if none can come: as that of a receive */
};

/* Outcomes of a probe, besides 0: there is no message. */
enum {
    MPID_FOUND = 1,
    MPID_NONE_CAN_COME = 2 /* as a receive would be lost */
};

/* Look for the first message that fits, after one turn of progress; mpid_probe() in a wait,
 * mpid_iprobe() elsewhere. */
int mpid_probe(struct mpid_probe *probe);
int mpid_iprobe(struct mpid_probe *probe);
void mpid_recv_message(struct mpid_request *request, struct mpid_message *message,
                       const struct mpid_bytes *bytes);

/*
 * Have done called at completion: by a thread in a call that makes progress, unlocked. Handlers run in
 * the order of completions, one at a time; each may call everything here that does not wait, and free the
 * request, which nobody else may free then. Returns false, with nothing set, where the request is
 * complete already.
 */
bool mpid_when_done(struct mpid_request *request, void (*done)(struct mpid_request *request));

/* Have a send or receive that was started by itself be one more CAR of a request: that is complete once
 * all of its CARs are over, and fails if one does; then a receive that it waits to match is
 * withdrawn. The request may be complete, where nobody knows of it yet; the CAR, which must outlive
 * the request's completion, as well. It has no handler of its own. */
void mpid_add_car(struct mpid_request *request, struct mpid_request *car);

/* A request of the layer above, which no message completes: begin it, and complete it. Both set
 * what the device sets otherwise; of the outcome, error is all. */
void mpid_begin(struct mpid_request *request);
void mpid_complete(struct mpid_request *request, enum mpid_error error);

/* Ask that a request be cancelled. It completes in any case: cancelled where the
 * message had not been matched yet, or as if nothing had been asked. */
void mpid_cancel(struct mpid_request *request);

/* ---- the report: awaited requests ---- */

/*
 * mpiexec may ask every process of a job that seems to hang what it waits for. A wait for what the
 * device cannot know has a function that tells it, which is called then: in the thread that
 * waits, within a call of the device. It calls mpid_tell_*() and nothing else here.
 */
struct mpid_wait_report;
typedef void (*mpid_tell_fn)(void *arg, struct mpid_wait_report *report);

/* One awaited request; a complete one is left out. */
void mpid_tell_request(struct mpid_wait_report *report, const struct mpid_request *request);
/* A message that is received in parts. */
void mpid_tell_receive(struct mpid_wait_report *report, const struct mpid_envelope *want);
/* So many parts of a message to there that the program has not made ready. */
void mpid_tell_unready(struct mpid_wait_report *report, const struct mpid_envelope *to, uint64_t parts);
/* A lock: env has the rank that holds it, and as tag the rank whose lock it is. They are the same if
 * its holder is not known. */
void mpid_tell_lock(struct mpid_wait_report *report, const struct mpid_envelope *env);
/* The end of the world model at that rank of it. */
void mpid_tell_finalize(struct mpid_wait_report *report, uint32_t rank);
/* A message that fits want. */
void mpid_tell_probe(struct mpid_wait_report *report, const struct mpid_envelope *want);
/* All sends of this process that are not over; a mpid_tell_fn. */
void mpid_tell_sends(void *arg, struct mpid_wait_report *report);
/* Any one of the told requests would do. */
void mpid_tell_any(struct mpid_wait_report *report);
/* The thread is the library's, and waits for nothing: it is left out. */
void mpid_tell_none(struct mpid_wait_report *report);

/* What the layer above knows of a communicator. peer() is that of the remote group, or NULL. */
struct mpid_comm_view {
    const char *name;
    uint32_t context;
    bool inside; /* of an intercommunicator, which is told of in its place */
    int size, rank, peers;
    uint32_t begun; /* collectives */
    const void *object;
    struct mpid_process (*member)(const void *object, int i);
    struct mpid_process (*peer)(const void *object, int i);
    /* The function that was called as this one of the collectives, and its root, or -1; or NULL. */
    const char *(*call)(const void *object, uint32_t number, int *root);
};

/* Have each called to go through all communicators: take returns whether that was enough. Called
 * in any thread, within a call of the device: it calls nothing here but take. */
void mpid_set_comms(void (*each)(bool (*take)(void *arg, const struct mpid_comm_view *view),
                                 void *arg));

/* A persistent request that is not started: its other side is rank in the context's
 * communicator, -1 for any. */
struct mpid_idle_view {
    bool sends;
    uint32_t context;
    int32_t rank, tag;
};

/* The same for all requests that could be started, and are not. It may still tell of one that is
 * just starting. */
void mpid_set_idle(void (*each)(bool (*take)(void *arg, const struct mpid_idle_view *view),
                                void *arg));

/* Call take for each message that has come and was not received. */
void mpid_each_unreceived(void (*take)(void *arg, const struct mpid_envelope *env, uint64_t bytes),
                          void *arg);

/* ---- progress ---- */

/* One turn of the progress loop. Returns whether anything happened. */
bool mpid_progress(void);

/* The same in a call that looks whether something is there, and that programs repeat until it is: where
 * nothing happened, others that share the processor may run (mpid/wait/polling.h). mpid_iprobe() does so, too. */
bool mpid_poll(void);

static inline bool mpid_is_complete(const struct mpid_request *request)
{
    return atomic_load_explicit(&((struct mpid_request *)(uintptr_t)request)->pending,
                                memory_order_acquire) == 0;
}

/* A request was seen complete by mpid_is_complete() alone, or a word in memory that processes share
 * has told of something: tell a program's thread sanitizer that what the library's threads did came
 * before. mpid_wait() does so itself. */
void mpid_order_completion(void);

/* Wait until the request is complete. Spins while a core is ours, then yields,
 * then sleeps. */
void mpid_wait(struct mpid_request *request);

/* A condition that progress or other threads' calls bring about, to be waited for. */
struct sleeper;
struct mpid_condition {
    /* Runs in the thread that waits, unlocked, between turns, and maybe once more after it has said
     * yes. */
    bool (*is_done)(void *arg);
    /* If several threads may call: name the requests that may end the wait of a thread that goes to
     * sleep; they wake it. Called by the device: it calls mpid_watch_*() and no other function
     * here. If NULL, or if it names none, anything wakes the thread. */
    void (*watch)(void *arg, struct sleeper *sleeper);
    mpid_tell_fn tell; /* NULL: there is nothing to tell */
};
void mpid_wait_condition(const struct mpid_condition *condition, void *arg);
/* The same for a thread that makes progress while the program's threads compute: it leaves the
 * processor to them, and sleeps as soon as nothing is to be done. */
void mpid_wait_aside(const struct mpid_condition *condition, void *arg);

/* This one must come; one that is complete is left out. NULL: another event, which mpid_wake()
 * tells. */
void mpid_watch_request(struct sleeper *sleeper, const struct mpid_request *request);
/* Any one of those that follow would do, not all. */
void mpid_watch_any(struct sleeper *sleeper);

/* Wake threads that sleep in mpid_wait*() so that they look again: after a
 * change that came about outside the device. */
void mpid_wake(void);

/* Have each change of a descriptor, of a layer above, wake threads that sleep in mpid_wait*(): it can be read or
 * written again, or has broken. A caller that tries all it can after each wake misses nothing. Give it back before
 * it is closed. */
void mpid_watch_fd(int fd);
void mpid_unwatch_fd(int fd);

/* ---- memory that processes of one host share ---- */

/*
 * A region: so many bytes, all zero at first, in the memory of one process, its owner, that others
 * map. It has no name and no descriptor of its own: "where" is what its users tell each other. It is
 * there until all of its users have closed it, or the job ends.
 */
struct mpid_region;

/* Whether this process and a rank share memory, and can wake each other. */
bool mpid_is_near(const struct mpid_gid *gid, uint32_t rank);
/* Make a region, which so many will close: this process, and those that open it by *where. Returns
 * 0, -ENOSPC if the memory of this process is used up, or -errno. */
int mpid_region_create(size_t size, uint32_t users, struct mpid_region **region, uint64_t *where);
/* Map the region that another process has made with this size. Returns 0, or -errno: -EPROTO where
 * no such region can be. */
int mpid_region_open(const struct mpid_gid *gid, uint32_t owner, uint64_t where, size_t size,
                     struct mpid_region **region);
/* Reserved space in it, in this process's own memory: at an offset from this, zero at first. */
static inline void *mpid_region_space(struct mpid_region *region, int at)
{
    return (char *)region + at;
}
/* Its bytes, on a pair of cache lines of their own. */
void *mpid_region_memory(const struct mpid_region *region);
/* Unmap it, for so many of its users: one, or, by the owner, also those that never open it. Accepts
 * NULL. */
void mpid_region_close(struct mpid_region *region, uint32_t users);

/* Wake a process of this host, if it sleeps: what a region holds for it was stored before. */
void mpid_ring(const struct vc *vc);

/* How to wait until something is in a region. */
struct mpid_shared_wait {
    /* Whether it is: called at any time by any thread of this process, also within a call of the
     * device: it calls nothing here. */
    bool (*is_done)(void *arg);
    /* Called before each sleep, and behind it: others that store something between the two calls
     * must ring this process. A heavy fence (os/cpu/cpus.h) and is_done() follow before the thread
     * sleeps. */
    void (*sleeps)(void *arg, bool begins);
    mpid_tell_fn tell;
};
void mpid_wait_shared(const struct mpid_shared_wait *how, void *arg);

/* The same while threads do other things: progress looks whether it is there. A request that
 * mpid_begin() has begun is completed then, and the look forgotten before. Until then it must not
 * move. how->tell is not used. */
struct mpid_look {
    struct mpid_look *next; /* the device's own */
    const struct mpid_shared_wait *how;
    void *arg;
    struct mpid_request *request;
};
void mpid_look(struct mpid_look *look);

/* ---- counters ---- */

/*
 * Counts since the first mpid_init(); all are 0 before that, and stay when the device rests. May be
 * asked for at any time. A message's bytes are all of its data, also those that its receive has no
 * room for. An eager message is sent once a channel has it, one by rendezvous once its send is
 * complete; either is received once its data are in place.
 */
struct mpid_traffic {
    uint64_t eager_sent, eager_sent_bytes, eager_received, eager_received_bytes;
    uint64_t rndv_sent, rndv_sent_bytes, rndv_received, rndv_received_bytes;
};

/* Levels, which rise and fall. */
enum mpid_level {
    MPID_LEVEL_POSTED,           /* receives that wait for a message */
    MPID_LEVEL_UNEXPECTED,       /* messages that wait for a receive */
    MPID_LEVEL_UNEXPECTED_BYTES, /* of those, the data that are kept here */
    MPID_LEVELS
};

enum {
    MPID_CHANNELS_MAX = 8, /* that can be built in */
    MPID_STATES = 12,      /* of a connection */
    MPID_ENGINES = 3       /* of a rendezvous: streamed, pulled by the receiver, split */
};

struct mpid_stats {
    struct mpid_traffic traffic; /* with all peers */
    uint64_t level[MPID_LEVELS];
    uint64_t unexpected;                /* messages that came before their receive */
    uint64_t engine[MPID_ENGINES];      /* rendezvous that this process has received by each */
    uint64_t connections[MPID_STATES];  /* in each state now */
    uint64_t left;                      /* connections that were let go, as they were idle */
    uint64_t sleeps, sleep_ns;          /* of waits; their length */
    uint64_t yields;                    /* of the processor, by waits */
    uint64_t wakes;                     /* of sleeping processes and threads, by this one */
    uint64_t idle_ns; /* that waits had nothing to do, asleep or not; while mpid_time_idle() */
};
/* Without peers the figures that need a look at each peer stay 0: traffic and connections. */
void mpid_stats(struct mpid_stats *stats, bool peers);

/* The highest that a level has been since the last call for it. */
uint64_t mpid_level_most(enum mpid_level level);
/* Have idle_ns counted, until it is called with false as often as with true. */
void mpid_time_idle(bool on);

/* ---- channels ---- */

enum { MPID_CHANNEL_PARAMS = 16, MPID_CHANNEL_CARD = 960 };

struct mpid_channel_param {
    const char *name; /* NULL: there are no more */
    const char *value, *about;
};

/* A channel, or a file that should have been one. */
struct mpid_channel {
    const char *name, *about;
    const char *file;   /* "" of one that is built in */
    const char *closed; /* why it is not open; NULL: it is */
    char card[MPID_CHANNEL_CARD];
    struct mpid_channel_param params[MPID_CHANNEL_PARAMS];
};

/* The path of a file that is installed beside this library; size bytes. */
void mpid_own_file(const char *name, char *file, size_t size);

/* Load a channel from a shared object, and offer it to peers to which no connection stands. Returns
 * 0; or -EINVAL with a sentence in why. */
int mpid_channel_load(const char *file, char *why, size_t size);
/* The same of each shared object of a list, as VIREO_CHANNEL_PATH has it, that is not loaded yet; the
 * first that is refused ends it. */
int mpid_channel_load_path(const char *path, char *why, size_t size);
/* Tell of the index-th channel that there is. Returns whether there is one. */
bool mpid_channel_describe(int index, struct mpid_channel *channel);

/* The built-in channels, by number, whether open or not; NULL: no more of them. */
const char *mpid_channel_name(int channel);
/* What went over one: with the peers that were bound to it last. */
void mpid_stats_channel(int channel, struct mpid_traffic *traffic);

/* One word for each state of a connection. */
const char *mpid_state_name(int state);
/* The known facts of a process; makes nothing for them. */
struct mpid_peer {
    struct mpid_traffic traffic;
    int state;
    int channel; /* -1: none yet */
};
void mpid_stats_peer(const struct mpid_gid *gid, uint32_t rank, struct mpid_peer *peer);

/* ---- events ---- */

enum mpid_event_kind {
    MPID_EVENT_ARRIVED,    /* a message has come, or the announcement of one */
    MPID_EVENT_UNEXPECTED, /* the same, and no receive is posted for it */
    MPID_EVENT_CONNECTION, /* the state of a connection has changed */
    MPID_EVENT_KINDS
};

struct mpid_event {
    uint64_t time_ns; /* of os_now_ns() */
    enum mpid_event_kind kind;
    int32_t peer;              /* rank of the other process in its group */
    struct mpid_envelope from; /* of the message; not CONNECTION */
    uint64_t bytes;            /* of its data */
    bool rendezvous;           /* it asks first */
    int old_state, state;      /* CONNECTION */
};

/* Keep events of these kinds (bits 1 << kind) from now on, and have deliver called when there
 * are some: by any call that makes progress, unlocked, soon after. Any time. */
void mpid_events_want(unsigned kinds, void (*deliver)(void));
/* Take the oldest event. Returns whether there was one. */
bool mpid_event_take(struct mpid_event *event);
/* How many of a kind found no room since the last call. */
uint64_t mpid_events_dropped(enum mpid_event_kind kind);

#endif
