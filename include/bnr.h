/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * BNR: the interface by which a process learns its job, publishes short data for its peers, and
 * hears of their end.
 *
 * A group has a 128-bit id that no other group ever has, a size, and
 * members numbered from 0. Every member owns a part of the group's key-value space: it puts its
 * addresses there, and others get them on demand, and wait for missing ones. So starting up
 * exchanges no message; a fence exists for programs that want one.
 *
 * A process is started in one group, that of its job. It can spawn others, meet groups of other jobs, and merge with
 * them. A call that is collective over a group is made by all its members, in the same order as its other such calls.
 * Once a member has ended, such a call is BNR_ERR_PROC_FAILED for all members for which it has not ended yet; so are
 * all later ones, and those of groups that were made of this one. Calls of different groups, and requests, may be under way at the same time.
 *
 * The back end depends on how the process was started: "native" (by mpiexec of this project), "pmi"
 * (by a manager with PMI-1: Hydra, Slurm's pmi2 plugin, Flux), "pmix" (by one with PMIx: Open MPI's
 * mpirun, Slurm's pmix plugin) or "singleton" (without a launcher: a group of one). Where the environment shows a larger job of a launcher that does not answer, BNR_Init
 * fails. BNR_Query_caps tells what a back end can do.
 *
 * Invariants
 *   - All calls return BNR_SUCCESS or a negative BNR code. Outputs are written
 *     only on success, but for the length of BNR_ERR_TRUNC.
 *   - Calls may come from any thread, one at a time: the caller serialises.
 *     BNR_Abort alone may be called at any moment from any thread.
 *   - Callbacks (events, xcasts, functions of streams, the progress hook) run
 *     only inside BNR_Progress, BNR_Test, BNR_Fence, BNR_Barrier, BNR_Get, BNR_Get_alloc
 *     and the calls of streams and groups that wait, in the caller's thread. They may call
 *     everything here but BNR_Init, BNR_Finalize and collective calls.
 *   - No call starts a thread, or keeps a signal handler.
 *   - What a peer wrote is checked before it is used: a damaged value is
 *     BNR_ERR_PROTO, never a crash.
 *
 * A process that calls BNR_Init must call BNR_Finalize before it exits with
 * status 0: leaving without is a failure of the job.
 */
#ifndef BNR_H
#define BNR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define BNR_VERSION 2 /* 1 was the interface of 2001 */

/* ---- codes ---- */

enum {
    BNR_SUCCESS = 0,
    BNR_FAIL = -1,            /* none of the below */
    BNR_ERR_ARG = -2,         /* an argument makes no sense */
    BNR_ERR_NOT_INIT = -3,    /* before BNR_Init or after BNR_Finalize */
    BNR_ERR_NOMEM = -4,       /* memory, or this process's key-value space, is full */
    BNR_ERR_TRUNC = -5,       /* the buffer is too small; the needed length is returned */
    BNR_ERR_NOT_FOUND = -6,   /* no such key (yet) */
    BNR_ERR_EXISTS = -7,      /* the key has been put before */
    BNR_ERR_STATE = -8,       /* not now, for example a fence inside a fence */
    BNR_ERR_UNSUPPORTED = -9, /* this back end cannot: see BNR_Query_caps */
    BNR_ERR_TIMEOUT = -10,
    BNR_ERR_COMM = -11,        /* the connection to the launcher is lost */
    BNR_ERR_PROC_FAILED = -12, /* a process that this call needs has ended */
    BNR_ERR_SPAWN = -13,       /* processes could not be started */
    BNR_ERR_PERM = -14,        /* another process already is this rank */
    BNR_ERR_PROTO = -15,       /* shared memory, or a peer's message, holds what no member would write */
    BNR_ERR_AGAIN = -16,       /* not now: try again later */
    BNR_ERR_CANCELED = -17,    /* by BNR_Cancel, here or at another member */
    BNR_ERR_MISMATCH = -18     /* members made different calls, or with different arguments */
};

/* A sentence for any code; static, never NULL. */
const char *BNR_Strerror(int code);

/* ---- types and limits ---- */

typedef struct bnr_group *BNR_Group; /* a counted handle */
#define BNR_GROUP_NULL ((BNR_Group)0)

typedef struct {
    unsigned char b[16];
} BNR_Gid; /* ordered as memcmp() orders */

#define BNR_GID_STRLEN 33 /* hexadecimal, with its NUL */
#define BNR_RANK_ANY   (-1)
#define BNR_RANK_ALL   (-2)
#define BNR_MAX_KEY    255     /* bytes, without the NUL; at least 1 */
#define BNR_MAX_VALUE  0x40000 /* bytes */
#define BNR_MAX_PORT   1023    /* bytes of a port's name, without the NUL */

typedef struct bnr_req *BNR_Req; /* a call under way */
#define BNR_REQ_NULL ((BNR_Req)0)

typedef struct bnr_info *BNR_Info; /* more for a call to know; BNR_INFO_NULL: nothing */
#define BNR_INFO_NULL ((BNR_Info)0)

/* ---- life cycle ---- */

typedef struct {
    size_t size; /* of this struct, as the caller knows it */
    /* Called again and again while a call here waits. Must not block. */
    void (*progress)(void *arg);
    void *progress_arg;
} BNR_Init_attr;

/* Join the job that this process was started in. attr may be NULL. Exchanges no message and waits
 * for no process, but by "pmi" and "pmix": there the first call is collective over the job. Counted: a second call only counts (and replaces the hook if it has an attr). May
 * be called again after the last BNR_Finalize. On failure it has written the fault and the cure to
 * stderr, in one line: BNR_ERR_PERM if another live process is this rank, BNR_ERR_UNSUPPORTED if an
 * unknown launcher started more than one process, BNR_ERR_PROTO if the environment does not fit the
 * job, BNR_ERR_ARG for a bad setting. */
int BNR_Init(const BNR_Init_attr *attr);

/* Leave, at the call that matches the first BNR_Init; waits for no process. From here on others see
 * this process as finalized: its keys stay readable, but a fence that needs it fails. Registered
 * callbacks are dropped and handles become invalid. The descriptor of BNR_Get_host_memory stays
 * open until the process ends. */
int BNR_Finalize(void);

/* *flag = 1 between BNR_Init and the last BNR_Finalize. Callable always. */
int BNR_Initialized(int *flag);

#define BNR_CAP_SPAWN       0x001 /* BNR_Close_group finds an mpiexec */
#define BNR_CAP_MERGE       0x002 /* groups can be merged, connected and accepted */
#define BNR_CAP_NAMES       0x008 /* BNR_Publish and BNR_Lookup */
#define BNR_CAP_KILL        0x080 /* BNR_Kill reaches the processes of the own job */
#define BNR_CAP_SUBFENCE    0x200 /* a joint group has a fence, and keys, of its own */
#define BNR_CAP_LAZYGET     0x004 /* BNR_Get waits for a put that has not happened yet */
#define BNR_CAP_STREAMS     0x010
#define BNR_CAP_XCAST       0x020 /* BNR_Xcast reaches other processes */
#define BNR_CAP_EVENTS      0x040
#define BNR_CAP_BINARY      0x100 /* values may hold any bytes */
#define BNR_CAP_HOST_MEMORY 0x400 /* BNR_Get_host_memory works for ranks on this host */
int BNR_Query_caps(unsigned long long *caps);

/* *name = "native", "pmi", "pmix" or "singleton"; static. */
int BNR_Backend_name(const char **name);

/* Run due event callbacks. Cheap enough for every turn of a progress loop: one load when there is
 * no event. *did_work (did_work may be NULL) = number of callbacks run. Never waits. */
int BNR_Progress(int *did_work);

/* *fd = a descriptor to poll for reading: it is readable when a peer of a group has said something, and BNR_Progress,
 * BNR_Test or BNR_Wait have work. It is BNR's: never read or close it. Events, xcasts, questions and the ends of spawned
 * jobs come by memory, and do not show there: call BNR_Progress now and then as well. */
int BNR_Poll_fd(int *fd);

/* ---- groups ---- */

/* The group this process was started in, always the same object. The handle
 * needs no BNR_Free_group, and stands it. */
int BNR_Get_group(BNR_Group *g);
/* The group that spawned this one, by BNR_Spawn; BNR_GROUP_NULL, with success, if none did. */
int BNR_Get_parent(BNR_Group *g);

/* *rank = mine in g; BNR_RANK_ANY: this process is not of it. */
int BNR_Get_rank(BNR_Group g, int *rank);
/* BNR_ERR_STATE for a group that is not closed yet. */
int BNR_Get_size(BNR_Group g, int *size);
/* Valid from BNR_Open_group on. */
int BNR_Get_gid(BNR_Group g, BNR_Gid *gid);
int BNR_Gid_string(const BNR_Gid *gid, char s[BNR_GID_STRLEN]);
/* *order = -1, 0 or 1: by group id, so the same in every process. */
int BNR_Group_compare(BNR_Group a, BNR_Group b, int *order);

/* The group with this id; BNR_ERR_NOT_FOUND if this process knows none. */
int BNR_Find_group(const BNR_Gid *gid, BNR_Group *g);

/* The two groups that a joint group was made of: *local is the one that this process is of. Otherwise *local = g, and
 * *remote = BNR_GROUP_NULL. No new references. */
int BNR_Get_sides(BNR_Group g, BNR_Group *local, BNR_Group *remote);
/* The job that a member was started in: the id of its group, and its rank there. BNR_ERR_STATE: not known, as of
 * the parent's members before a merge. */
int BNR_Get_origin(BNR_Group g, int rank, BNR_Gid *gid, int *origin);

/* The place of rank: *node = number of its host in the group, *local_rank = its index among the
 * *local_size members there. Any output may be NULL. */
int BNR_Get_locality(BNR_Group g, int rank, int *node, int *local_rank, int *local_size);
/* The reverse: *rank = the one with this index on this host of the group. */
int BNR_Get_member(BNR_Group g, int node, int local_rank, int *rank);

/* Set bit r % 8 of bitmap[r / 8] for each rank r that is not known to have ended (a
 * finalized one lives until it exits); clear all others. bytes must be at
 * least (size + 7) / 8. Known are the ends of the own job's members, and, to its spawners, of a spawned group's. */
int BNR_Get_alive(BNR_Group g, unsigned char *bitmap, size_t bytes);

/* One more reference to g. */
int BNR_Dup_group(BNR_Group g, BNR_Group *out);
/* Give a reference back; sets *g to BNR_GROUP_NULL. A joint group whose last one is given back so, instead of by
 * BNR_Unmerge, is over for all its members, as if this process had ended. */
int BNR_Free_group(BNR_Group *g);

/*
 * Merging. Two groups that know each other (parent and child; groups that were merged or connected before) make a third
 * one: it has the members of both, an id and a key-value space of its own, and fences. The side that has spawned the
 * other comes first, else that with the lower id; on each side members keep their order.
 */

/* Merge local, which this process is of, with remote, which it is not of. Collective over both. remote BNR_GROUP_NULL:
 * *joint is one more reference to local, at once. Where the two are merged already, *joint is one more reference to
 * that, after a fence. info: timeout_ms. BNR_ERR_MISMATCH: the other side merges with another group. BNR_ERR_TIMEOUT: it
 * did not come in time: ten minutes without timeout_ms; parents and children wait as long as the other side lives.
 * BNR_ERR_STATE: nobody has told where remote can be reached. */
int BNR_Merge(BNR_Group local, BNR_Group remote, BNR_Info info, BNR_Group *joint);
/* End a joint group: its keys, its fences, and the link between both sides, unless another group needs it. Collective
 * over it. It is over here even if a code says that some member had ended before. Sets *joint to BNR_GROUP_NULL. */
int BNR_Unmerge(BNR_Group *joint);

/* ---- key-value space ---- */

/*
 * The space of a joint group is a copy at each member: values are there for others after the next BNR_Fence, and
 * BNR_Get does not wait. Each member may put 1 MiB, and one fence hands out 16 MiB at most (BNR_ERR_NOMEM). Groups that
 * are neither the job's own nor joint have none: BNR_ERR_STATE.
 */

/* Keep len (at most BNR_MAX_VALUE) bytes under key in this process's part of
 * g's space. Every member can get it as soon as this returns; without BNR_CAP_LAZYGET after the next
 * BNR_Fence. A key is 1 to
 * BNR_MAX_KEY bytes, NUL-terminated. Without BNR_PUT_REPLACE a key that is
 * there already is BNR_ERR_EXISTS. BNR_ERR_NOMEM once about 1 MiB has been
 * put in all (replaced values count: space is not reused). */
int BNR_Put(BNR_Group g, const char *key, const void *val, size_t len, unsigned flags);
#define BNR_PUT_REPLACE 4u

/* Copy what owner has put under key. In: *len = bytes that buf holds; out: bytes of the value, also
 * with BNR_ERR_TRUNC (then buf is untouched). Waits until the owner puts the key, calling the
 * progress hook; BNR_ERR_PROC_FAILED when the owner has ended or finalized without putting it.
 * owner = own rank works, and does not wait. A value put before its owner died is still found. A
 * value replaced before the call is not found: the owner's host is asked each time. */
int BNR_Get(BNR_Group g, int owner, const char *key, void *buf, size_t *len, unsigned flags);
#define BNR_GET_NOWAIT 1u /* BNR_ERR_NOT_FOUND instead of waiting; no handler runs meanwhile */
#define BNR_GET_LATER  2u /* the same, and no other host is asked before this returns: a value
                           * unknown on this host is fetched meanwhile, for a later call.
                           * BNR_ERR_AGAIN until the owner's host has answered, then
                           * BNR_ERR_NOT_FOUND: it was not there. The value may be an older one that
                           * the owner has replaced since */

/* *news = a word of 32 bits in shared memory, which counts up when a key may be there that this process
 * has not found by BNR_GET_LATER, or is known not to be, or its owner has finalized without it. To
 * wait for the key, look at the word, or sleep on it as on a futex, and ask again once it has
 * changed. The word never moves. BNR_ERR_UNSUPPORTED in a back end that does not count: ask again
 * now and then. */
int BNR_Get_news(unsigned **news);

/* As BNR_Get, into memory that the caller releases with free(); a NUL that *len
 * does not count follows the value. */
int BNR_Get_alloc(BNR_Group g, int owner, const char *key, void **val, size_t *len, unsigned flags);

/* Wait until every member of g has called this as often as this process.
 * Collective over g. Calls the progress hook while it waits.
 * BNR_ERR_PROC_FAILED once a member that has not come has ended or finalized;
 * the fence is then over for this process, and later ones fail alike.
 * Puts need no fence to be seen: a fence only orders. */
int BNR_Fence(BNR_Group g);
/* The same, under the name of its purpose. */
int BNR_Barrier(BNR_Group g);

/* ---- calls under way ---- */

/*
 * Each call that waits has a form that does not: it begins the call, and gives a request. Its outputs are written when
 * the request is done. Calls of one group begin in their order.
 */

/* *done = whether it is; then *code = the outcome of the call, and *req = BNR_REQ_NULL. Does not wait. BNR_REQ_NULL is
 * done. */
int BNR_Test(BNR_Req *req, int *done, int *code);
/* Wait until it is. Calls the progress hook. */
int BNR_Wait(BNR_Req *req, int *code);
/* Give it up: it is done, with BNR_ERR_CANCELED, unless it is already. Members for which the call has not ended get the
 * same code; a group that it has made for others breaks. BNR_Test or BNR_Wait free it. */
int BNR_Cancel(BNR_Req *req);

/* A barrier of the job's own group, too, where that has BNR_CAP_LAZYGET; else its first call waits. */
int BNR_Ifence(BNR_Group g, BNR_Req *req);
/* As BNR_Get without flags. */
int BNR_Iget(BNR_Group g, int owner, const char *key, void *buf, size_t *len, BNR_Req *req);
int BNR_Imerge(BNR_Group local, BNR_Group remote, BNR_Info info, BNR_Group *joint, BNR_Req *req);
int BNR_Iunmerge(BNR_Group *joint, BNR_Req *req);
int BNR_Iopen_group(BNR_Group local, BNR_Info info, BNR_Group *fresh, BNR_Req *req);
int BNR_Iclose_group(BNR_Group fresh, int *errcodes, int nerr, BNR_Req *req);
int BNR_Iaccept(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint, BNR_Req *req);
int BNR_Iconnect(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint, BNR_Req *req);

/* ---- info ---- */

#define BNR_MAX_INFO_KEY   255 /* bytes, without the NUL */
#define BNR_MAX_INFO_VALUE 8191

/* Pairs of texts. Calls pass over keys that mean nothing to them. timeout_ms: a call is over after so many
 * milliseconds, with BNR_ERR_TIMEOUT, as if it had been cancelled. */
int BNR_Info_create(BNR_Info *info);
int BNR_Info_dup(BNR_Info info, BNR_Info *out);
/* Sets *info to BNR_INFO_NULL. Calls that were made with it need it no more. */
int BNR_Info_free(BNR_Info *info);
int BNR_Info_set(BNR_Info info, const char *key, const char *value);
/* BNR_ERR_NOT_FOUND, or BNR_ERR_TRUNC: the value with its NUL is longer than size. */
int BNR_Info_get(BNR_Info info, const char *key, char *value, size_t size);
/* *len = the length of the value, without its NUL. */
int BNR_Info_get_valuelen(BNR_Info info, const char *key, size_t *len);
int BNR_Info_delete(BNR_Info info, const char *key);
int BNR_Info_get_nkeys(BNR_Info info, int *count);
/* The n-th key, from 0. */
int BNR_Info_get_nthkey(BNR_Info info, int n, char key[BNR_MAX_INFO_KEY + 1]);

/* ---- abort ---- */

/* End the whole job: mpiexec prints msg (may be NULL; cut to 1023 bytes) with this rank's name,
 * ends all others, and exits with the low 8 bits of exit_code, or 1 if those are 0. Does not
 * return. Flushes no stdio buffer; a caller that wants that does it first. */
int BNR_Abort(BNR_Group g, int exit_code, const char *msg) __attribute__((noreturn));

/* on = 1: if this process fails, the job goes on, unless the user wants otherwise; 0, as at first: it is ended.
 * Processes that are left learn of the failure by an event. BNR_ERR_UNSUPPORTED: another launcher
 * decides. */
int BNR_Tolerate(int on);

/* ---- events ---- */

enum {
    BNR_EV_PROC_EXIT = 1,   /* ended well: exit 0, finalized if it had initialized */
    BNR_EV_PROC_FAILED = 2, /* ended otherwise */
    BNR_EV_PROC_ABORT = 4   /* called BNR_Abort; data = its message */
};

typedef struct {
    int type; /* one BNR_EV_ bit */
    BNR_Gid gid;
    int rank;
    int status;             /* as wait() gives it */
    unsigned long long seq; /* the same for every delivery of one event; > 0 */
    const void *data;       /* valid during the callback */
    size_t len;
    int joined; /* whether the process had called BNR_Init */
    int host_lost; /* whether nothing is heard of its host any more: it is lost with that */
} BNR_Event;

typedef void (*BNR_Event_fn)(const BNR_Event *event, void *arg);

/* Have fn called at each event in mask (BNR_EV_ bits) of g's members, once per event and
 * registration. Earlier events are delivered at the next BNR_Progress. *id names the registration,
 * > 0. */
int BNR_Event_register(unsigned mask, BNR_Group g, BNR_Event_fn fn, void *arg, int *id);
/* No callback of id follows. May be called from a callback, also for itself. */
int BNR_Event_unregister(int id);

/* ---- messages to many: xcast ---- */

#define BNR_MAX_XCAST        0x800000 /* bytes */
#define BNR_MAX_XCAST_RANGES 1024

/* How a message spreads over the hosts. */
enum {
    BNR_XCAST_AUTO = 0,     /* by the number of hosts and bytes, as the settings xcast_* say */
    BNR_XCAST_DIRECT = 1,   /* from mpiexec, a copy for each process */
    BNR_XCAST_LINEAR = 2,   /* from mpiexec, a copy for each host */
    BNR_XCAST_BINOMIAL = 3, /* along a binomial tree of the hosts */
    BNR_XCAST_RADIX = 4,    /* along the tree that the setting tree_radix makes */
    BNR_XCAST_BINARY = 5    /* along a tree in which each host has two below it */
};

typedef struct {
    size_t size; /* of this struct, as the caller knows it */
    int mode;
    /* For whom it is: the first and the last rank of each range. 0 ranges: for all. */
    const int (*ranges)[2];
    size_t range_count;
} BNR_Xcast_attr;

/* data is valid during the call. Where data is NULL and from is BNR_RANK_ANY, len messages of any
 * tags are missing here: they came while 32 MiB waited for this process. */
typedef void (*BNR_Xcast_fn)(BNR_Group g, int from, int tag, const void *data, size_t len,
                             void *arg);

/* Send len (at most BNR_MAX_XCAST) bytes to the handlers of tag (at least 0) in all members of g, or
 * those that attr (may be NULL) lists; this process too. All members handle all messages of g in the
 * same order, each once, even if a member dies meanwhile; one that has ended is left out. Returns
 * when the message is handed over, which may have to wait for room, but for no other rank. */
int BNR_Xcast(BNR_Group g, int tag, const void *data, size_t len, const BNR_Xcast_attr *attr);

/* Have fn called for each message of tag, by BNR_Progress and other calls that wait; NULL: no more.
 * BNR_ERR_EXISTS where tag has a handler. Messages of tags without one wait, 64 at most, then the
 * oldest is dropped. */
int BNR_Xcast_register(BNR_Group g, int tag, BNR_Xcast_fn fn, void *arg);

/* ---- spawning groups ---- */

/* *fresh = a group without members, to be spawned: BNR_Spawn says by which commands, and BNR_Close_group starts them.
 * Collective over local, which becomes the parent. info: timeout_ms. */
int BNR_Open_group(BNR_Group local, BNR_Info info, BNR_Group *fresh);

/* A process of a spawned group has ended; status as wait() has it. The returned value does not matter. */
typedef int (*BNR_Exit_fn)(BNR_Group g, int rank, int status);

/* Ask for count processes of a command in an open group. Not collective; any members of the parent may call it, several
 * times: ranks follow the parent's ranks, and the order of calls. argv (NULL-terminated, without the command), envp
 * (NULL-terminated, NAME=VALUE, added to the environment) and info may be NULL. info: wdir, path, host, hostfile,
 * map_by, bind_to, ppr, npernode, env (NAME=VALUE, one a line). notify (may be NULL) is called here, with the other
 * callbacks, for each of these processes that ends, while the parent's rank 0 has not finalized. BNR_ERR_STATE: the group is not open; BNR_ERR_ARG: the
 * command, or a word of its, is no such. */
int BNR_Spawn(BNR_Group fresh, int count, const char *command, char *const argv[], char *const envp[], BNR_Info info,
              BNR_Exit_fn notify);

/* Start all that has been asked for, as one job, and wait until its processes have been started. Collective over the
 * group that opened it. From here on it has a size, and can be merged with. All or none: BNR_ERR_SPAWN, and mpiexec has
 * written the reason to stderr. errcodes (nerr of them; may be NULL) get the code of each process. BNR_ERR_ARG: nothing
 * was asked for. */
int BNR_Close_group(BNR_Group fresh, int *errcodes, int nerr);

/* Send a signal to a process of g, or to all (BNR_RANK_ALL): of the own job, of one that g's members have spawned, or of
 * a joint group of these. sig 0 sends none. Not collective, and does not wait. BNR_ERR_PROC_FAILED: it is known to have
 * ended. BNR_ERR_UNSUPPORTED: another manager, or strangers, have started it. A process that is killed so has failed,
 * which may end its job. */
int BNR_Kill(BNR_Group g, int rank, int sig);

/* ---- ports ---- */

/*
 * A port is a place at which a group waits for others that it does not know. Its name tells the addresses, and a
 * secret, which the two roots prove to each other: nobody without it can connect.
 */

/* Write the name of a new port of this process (size bytes; BNR_MAX_PORT + 1 are enough; BNR_ERR_TRUNC). */
int BNR_Open_port(BNR_Info info, char *port, size_t size);
/* Callers that wait there are refused. BNR_ERR_NOT_FOUND: this process has none of that name. */
int BNR_Close_port(const char *port);
/* Wait for a group at a port of root's, and make a joint group with it. Collective over local. root is 0: another one
 * is BNR_ERR_UNSUPPORTED. port means something at root alone. info: timeout_ms; without it there is no limit.
 * May be called any number of times, also with the same groups: each makes another joint group. */
int BNR_Accept(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint);
/* Call a port, and make a joint group with the one that accepts there. The same otherwise, with ten minutes without
 * timeout_ms. BNR_ERR_NOT_FOUND: nobody has such a port open; BNR_ERR_ARG: port is no name, or a process is in both
 * groups. */
int BNR_Connect(const char *port, BNR_Group local, int root, BNR_Info info, BNR_Group *joint);

/* ---- starting jobs ---- */

/*
 * A job is started by an mpiexec of its own. Under this project's mpiexec that one runs it, and the
 * new job is a part of the first: it ends with it, its output comes out there, and its failure is
 * a failure of both while they are linked. Elsewhere this process starts it.
 */
typedef struct {
    size_t size;              /* of this struct, as the caller knows it */
    const char *const *words; /* of mpiexec's command line, behind its name; NULL-terminated */
    const char *note;         /* what each of the new processes gets by BNR_Get_note(); NULL: nothing */
} BNR_Job_attr;

/* Have a job started. Returns before it is. *id names it in this process. BNR_ERR_NOT_FOUND: there is no
 * mpiexec. */
int BNR_Start_job(const BNR_Job_attr *attr, int *id);
/* *ended = whether its mpiexec has ended, and then *status = the exit code, and id means nothing any
 * more. */
int BNR_Job_state(int id, int *ended, int *status);
/* The two jobs depend on each other, or do so no longer; at first they do not. BNR_Job_state() is not called for
 * this id any more; but for *asked (NULL: for none), until that has ended, as mpiexec has taken note then. */
int BNR_Job_link(int id, int is_linked, int *asked);
/* What the job's spawner has given it; NULL: it was not spawned. Valid until the process ends. */
int BNR_Get_note(const char **note);

/* ---- names ---- */

/*
 * A name stands for a text of the program's, such as an address. It is kept on all hosts of a job of this
 * project's mpiexec, and on mpiexec's; for other processes, on their own. It is looked for on the same hosts, so two jobs of a
 * user know each other's names if they have a host in common. It goes with the job, or with the process.
 */
enum BNR_Name_call {
    BNR_NAME_PUBLISH,   /* BNR_ERR_EXISTS: a living job has published it; BNR_ERR_PERM: the folder of
                         * names is not this user's alone; BNR_ERR_ARG: too long, or with a newline. It is then
                         * published on no host */
    BNR_NAME_UNPUBLISH, /* BNR_ERR_NOT_FOUND: this job has not published it */
    BNR_NAME_LOOKUP     /* BNR_ERR_NOT_FOUND */
};
#define BNR_MAX_NAME 1023 /* bytes of a name, and of its text, without the NUL */

/* Begin a call; text is for BNR_NAME_PUBLISH. *id is for BNR_Name_state(). */
int BNR_Name(enum BNR_Name_call call, const char *name, const char *text, int *id);
/* *done = whether it is over. Then *code = its outcome, text (size bytes; may be NULL) what was found, or the host where a name
 * cannot be published, and id means nothing any more. */
int BNR_Name_state(int id, int *done, int *code, char *text, size_t size);

/* The same, for ports, and waiting. info may be NULL. */
int BNR_Publish(const char *service, const char *port, BNR_Info info);
int BNR_Unpublish(const char *service);
/* In: *len = bytes that port holds; out: bytes of the name with its NUL, also with BNR_ERR_TRUNC. */
int BNR_Lookup(const char *service, char *port, size_t *len, BNR_Info info);

/* ---- being asked why it waits ---- */

#define BNR_MAX_ANSWER 0x10000 /* bytes */

/* mpiexec asks all ranks of a job that seems to hang what they wait for. Have fn called each time,
 * where callbacks run; NULL: no more. fn, or code that runs later, gives the answer. */
int BNR_Set_asked(void (*fn)(void *arg), void *arg);
/* Answer the last question with len bytes of text, which replaces the answer before; a text longer
 * than BNR_MAX_ANSWER is cut. BNR_ERR_UNSUPPORTED in a back end without questions. */
int BNR_Answer(const void *text, size_t len);

/* ---- streams ---- */

/*
 * A stream is a sequence of bytes with 64-bit offsets, named by a rank and a tag. A source is
 * written by the process that publishes it, and read by any number of subscribers. A sink is read
 * by the process that publishes it, and written by any number of those that push. The standard
 * streams of each rank are published by the launcher: stdout and stderr as sources, stdin, if the
 * rank has a pipe, as a sink.
 *
 * Descriptors are handed to the launcher, which serves them: bytes flow whatever this process does,
 * and what it has written before it dies is delivered. The caller keeps its own copy.
 *
 * A reliable reader gets all bytes, and a slow one holds the writer up. An observer holds nobody
 * up: if it falls behind, bytes are left out, and it is told so. The stream's policy says how a
 * writer goes on without a reliable reader.
 */

#define BNR_TAG_ANY (-1)
enum {
    BNR_STDIN = 0,
    BNR_STDOUT = 1,
    BNR_STDERR = 2,
    BNR_TAG_USER = 16 /* from here on tags are the programs' own */
};

enum {
    BNR_SOURCE = 0,
    BNR_SINK = 1
};

enum {
    BNR_POLICY_DEFAULT = 0, /* BNR_POLICY_RING for sources, BNR_POLICY_HOLD for sinks */
    BNR_POLICY_RING = 1,    /* the writer goes on; the last bytes are kept for readers that come */
    BNR_POLICY_HOLD = 2,    /* the writer waits; a reader that comes goes on where the last left */
    BNR_POLICY_DROP = 3     /* the writer goes on, and nothing is kept */
};

#define BNR_FROM_NOW    (~0ull)     /* bytes written from now on */
#define BNR_FROM_OLDEST (~0ull - 1) /* the bytes still kept, and all later ones */

typedef struct bnr_stream *BNR_Stream;

typedef struct {
    size_t size;             /* of this struct, as the caller knows it */
    int policy;              /* of a stream that is published */
    int is_observer;         /* of a reader */
    unsigned long long from; /* of a reader: an offset, or BNR_FROM_; where the stream does not keep
                                that byte any more, the reader is told of the gap */
} BNR_Stream_attr;

typedef struct {
    BNR_Gid gid;
    int rank, tag;          /* the stream's name */
    unsigned flags;         /* BNR_FRAG_ bits */
    unsigned long long off; /* of the first byte */
} BNR_Frag;
#define BNR_FRAG_EOF 1u /* the stream has ended; no bytes come with it */
#define BNR_FRAG_GAP 2u /* bytes before off were left out */
#define BNR_FRAG_TORN 4u /* at the end: the descriptor could not be read to its end */

/* Take bytes of a stream. Returns 0, or BNR_ERR_AGAIN to get the same bytes anew after
 * BNR_Stream_resume. */
typedef int (*BNR_Frag_fn)(const BNR_Frag *frag, const void *data, size_t len, void *arg);

/* Publish a descriptor as the stream of rank, often one's own, with this tag: to be read (SOURCE)
 * or written (SINK) by the launcher. attr may be NULL, here and below. Several may publish a source
 * of one name: their bytes follow each other as they come, and the stream ends with the last.
 * BNR_ERR_UNSUPPORTED: this process was not started by mpiexec, or the descriptor is of a kind that
 * cannot be waited for; BNR_ERR_NOMEM: there are too many streams. */
int BNR_Stream_publish(BNR_Group g, int rank, int mode, int tag, int fd,
                       const BNR_Stream_attr *attr, BNR_Stream *s);
/* End it. Bytes that the descriptor holds now are still delivered, then readers are told the end.
 * Does not wait for them. A sink leaves the bytes that it has not taken to the next sink. Sets *s
 * to NULL. */
int BNR_Stream_unpublish(BNR_Stream *s);

/* Write the bytes of fd to the sinks of these names; BNR_RANK_ANY and BNR_TAG_ANY: of all. As fast
 * as the slowest takes it. */
int BNR_Stream_push(BNR_Group g, int rank, int tag, int fd, BNR_Stream *s);
/* Write the bytes of the sources of these names to fd. If that is one stream, fd is closed with it.
 */
int BNR_Stream_pull(BNR_Group g, int rank, int tag, int fd, const BNR_Stream_attr *attr,
                    BNR_Stream *s);
/* End a push or a pull. Sets *s to NULL. */
int BNR_Stream_stop(BNR_Stream *s);

/* Have fn called, where callbacks run, with the bytes of the sources of these names. */
int BNR_Stream_subscribe(BNR_Group g, int rank, int tag, const BNR_Stream_attr *attr,
                         BNR_Frag_fn fn, void *arg, BNR_Stream *s);
/* End it. *next_off (may be NULL): where a later subscription to this stream goes on without gap
 * and without repetition; the last stream's, if there are several. Sets *s to NULL. */
int BNR_Stream_unsubscribe(BNR_Stream *s, unsigned long long *next_off);
/* fn may be called again after it has returned BNR_ERR_AGAIN. */
int BNR_Stream_resume(BNR_Stream s);

/* End all streams of this process that were opened with this name, or for BNR_RANK_ANY and
 * BNR_TAG_ANY with any, and in one of these ways. */
#define BNR_END_PUBLISHED  1u
#define BNR_END_TIED       2u /* pushed or pulled */
#define BNR_END_SUBSCRIBED 4u
int BNR_Stream_end(BNR_Group g, int rank, int tag, unsigned what);

/* Wait until all that has been written to a stream that this process publishes or pushes is taken
 * by every reliable reader, as far as it is there: accepted by its descriptor, or by its function.
 * One that is dead is not waited for. NULL: all of this process's. Calls the progress hook.
 * BNR_ERR_PROC_FAILED: bytes will never be taken, since their last sink is gone; BNR_ERR_TIMEOUT
 * after timeout_ms, unless that is negative. A descriptor that has ended by itself is not waited
 * for. */
int BNR_Stream_flush(BNR_Stream s, int timeout_ms);

typedef struct {
    unsigned long long written; /* offset behind the last byte of the stream */
    unsigned long long taken;   /* up to here all reliable readers have it; or this reader has */
    int readers;                /* observers too */
    int is_shut;                /* a push whose sinks are all gone; a descriptor that failed */
} BNR_Stream_state;
int BNR_Stream_stat(BNR_Stream s, BNR_Stream_state *state);

/* ---- hosts, and memory shared on one ---- */

typedef struct {
    const char *id;   /* equal for two processes exactly if they can share memory; no blanks */
    const char *name; /* host name, for people */
    int cpus;         /* processors that the ranks there may use together; at least 1 */
    int ranks;        /* ranks of the group there */
} BNR_Host;

/* Describe the host that rank runs on. The texts are valid until the process ends. */
int BNR_Get_host(BNR_Group g, int rank, BNR_Host *h);

/* The memory kept for rank (own or another on this host): map *size bytes of
 * *fd at *offset (a multiple of 2 MiB) shared. Zero at first, sparse, not
 * interpreted by BNR, one region a rank, all in the same descriptor, which
 * belongs to BNR: never close it. BNR_ERR_UNSUPPORTED in a singleton or for a
 * rank on another host. */
int BNR_Get_host_memory(BNR_Group g, int rank, int *fd, unsigned long long *offset,
                        unsigned long long *size);

/* 16 random bytes that the members of this job share and no other process knows. */
int BNR_Get_secret(BNR_Group g, unsigned char secret[16]);

/* Index of this process's program among those given to mpiexec, from 0;
 * BNR_ERR_NOT_FOUND in a singleton. */
int BNR_Get_appnum(int *appnum);
/* The ranks of g that run such a program: *first and the *size - 1 next ones. BNR_ERR_NOT_FOUND if
 * no rank does. */
int BNR_Get_app(BNR_Group g, int appnum, int *first, int *size);
/* How many processes the job may have in all; at least the group's size. */
int BNR_Get_universe_size(int *size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
