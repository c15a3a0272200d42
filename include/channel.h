/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The channel contract: the functions that a transport gives the device, and those that it may
 * call. This header, channel_help.h beside it, and doc/channel-howto.md are all that a porter
 * needs.
 *
 * A channel is part of the library, or a shared object that exports
 * vireo_channel and is loaded at run time; its source is the same for both.
 *
 * A channel moves packets between this process and its peers. A packet is a
 * head of 16 bytes, which the channel carries and does not read, and up to
 * max_data bytes of payload. The device never names a channel: it walks
 * chan_table[], compares cards, and binds each virtual connection to the
 * channel with the best verdict. Data flows up only through struct chan_sink,
 * which the device fills; a channel includes nothing from above.
 *
 * Invariants
 *   - Packets on one link arrive whole, once, and in the order sent. Packets that were sent while
 *     the link was forming arrive first.
 *   - No call blocks. Only progress() runs the sink's functions; send() never
 *     does. From within an upcall the device may call send(), link() and
 *     unlink() on any link.
 *   - All calls on one channel come from one thread at a time.
 *   - Between two processes there is at most one link a channel: link() on a
 *     peer whose link this channel has accepted already returns that link.
 *   - Everything read from a peer is hostile until checked: lengths, indices,
 *     identities. A peer that breaks the rules loses its link (lost(-EPROTO)).
 *
 * Life of a link
 *   link() or asked() makes it; opened() tells that the peer has answered and
 *   that it is the peer it should be; refused() that it will not be, lost()
 *   that it was and is no more. After refused() and lost() no upcall follows,
 *   and the device calls unlink(), which frees it. Data may be sent from the
 *   return of link() on: send() answers CHAN_AGAIN while it cannot take it.
 *   Where the process of the peer ends, the device says finish(): the channel
 *   brings what that process has sent, and ends the link behind it.
 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    CHAN_VERSION = 3,
    CHAN_CARD_MAX = 960,     /* bytes of one channel's parameters, NUL included */
    CHAN_SLOT_DYNAMIC = 1024 /* endpoint slots from here on lie in a peer's tail */
};

struct chan;
struct chan_env;
struct chan_link;

/* The head by which the device identifies a packet; 16 bytes, carried unchanged. */
struct chan_head {
    uint64_t word[2];
};

/* Name of a process group: 128 random bits; memcmp() orders them. */
struct chan_gid {
    uint8_t b[16];
};

/*
 * A peer, the first member of the device's virtual connection. Everything in it
 * is the device's, and read-only here, except what chan_slot_set() writes.
 *
 * A channel may have an endpoint slot in each peer: a pointer of its own, NULL until
 * it puts something there, which it takes out again in unlink(). The slots of the
 * channels that the library was built with lie behind this struct: slots.h calls
 * them ENDPOINT_SLOT_<NAME>. Those of channels loaded at run time lie in the tail,
 * which is allocated at their first use. env->endpoint_slot_register() tells either.
 */
struct chan_peer {
    struct chan_gid gid;
    uint32_t rank;
    uint32_t tail_len; /* slots in tail */
    void **tail;       /* NULL: none was used yet */
};

/* The value of a channel's slot. One load if the slot is known at compile time. */
static inline void *chan_slot_get(const struct chan_peer *peer, int slot)
{
    if (slot < CHAN_SLOT_DYNAMIC)
        return ((void *const *)(peer + 1))[slot];
    uint32_t at = (uint32_t)(slot - CHAN_SLOT_DYNAMIC);
    return at < peer->tail_len ? peer->tail[at] : NULL;
}

/* Outcomes of send() besides 0 (taken; the payload may be reused at once). */
enum chan_outcome {
    CHAN_AGAIN = 1,   /* nothing taken; offer it again after the next progress() */
    CHAN_PENDING = 2, /* taken; the payload stays in use until sent(cookie) */
    CHAN_UNABLE = 3   /* a one-sided operation cannot be done between these two, ever */
};

/* Flags of a packet's payload. */
enum {
    CHAN_MORE = 1u << 0 /* more packets follow soon: may wait for progress() */
};

/*
 * The payload of a packet. base is its bytes; where base is NULL and len is
 * not 0, read() copies any part of it out. cookie names the request that it
 * belongs to: only a packet with a cookie may become CHAN_PENDING, and only one
 * packet a cookie is pending at a time. Behind a cookie lies the space that the
 * channel has reserved with env->reserve(): at (char *)cookie + offset. A
 * channel that keeps a pending payload copies this struct: source and start
 * are read()'s own, and stay valid as long as the cookie's request.
 */
struct chan_data {
    const void *base;
    size_t len;
    void (*read)(const struct chan_data *data, size_t offset, void *to, size_t len);
    const void *source;
    size_t start;
    void *cookie;
    uint32_t flags;
};

/* How far a link has come that is forming. */
enum chan_stage {
    CHAN_STAGE_SAID,     /* the peer may have said yes, and rely on it */
    CHAN_STAGE_TAKEN,    /* the peer's host has answered, the peer itself has not */
    CHAN_STAGE_NOWHERE   /* nothing has answered: there may be no way in this direction */
};

/* One peer through one channel. Each channel embeds it in its own link and
 * fills it before link() returns or asked() is called. */
struct chan_link {
    /* Hand over one packet. 0, CHAN_AGAIN or CHAN_PENDING; never fails: a
     * broken link answers CHAN_AGAIN and reports lost() from progress(). */
    int (*send)(struct chan_link *link, const struct chan_head *head,
                const struct chan_data *data);
    const struct chan_ops *ops;
    struct chan_peer *peer;
    size_t eager_max; /* bytes: up to here sending at once beats asking first */
    size_t max_data;  /* bytes: the largest payload of one packet */
};

/* The device's answer to a stranger that asks for a link. */
enum chan_answer {
    CHAN_ACCEPT = 0,
    CHAN_REFUSE_CROSSING = 1, /* our own attempt survives: wait for it */
    CHAN_REFUSE_UNKNOWN = 2,  /* no such group here */
    CHAN_REFUSE_CLOSED = 3,   /* we are finalizing: no other channel is worth a try */
    CHAN_REFUSE_UNABLE = 4,   /* the channel's own: the peer can never answer over it */
    CHAN_REFUSE_FAILED = 5,   /* the connection to this peer has failed here, for good */
    CHAN_ANSWERS
};

/* Upcalls, implemented by the device. All run inside progress() only. */
struct chan_sink {
    size_t size; /* of this struct */

    /* A packet has arrived whole. data is valid during the call. */
    void (*arrived)(struct chan_peer *peer, const struct chan_head *head, const void *data,
                    size_t len);
    /* A packet's body of len bytes is still on its way. Returns a place for len bytes, valid until
     * landed(token), or until lost() or unlink(); or NULL: there is none. Then the channel ends the
     * link, by lost(), unless unlink() was called meanwhile. Optional to use: small packets are
     * better gathered and given to arrived(). A peer has one place at a time: after place() comes
     * landed(), before another place(). */
    void *(*place)(struct chan_peer *peer, const struct chan_head *head, size_t len,
                   void **token);
    void (*landed)(struct chan_peer *peer, void *token);
    /* The payload of a CHAN_PENDING packet is free again. */
    void (*sent)(struct chan_peer *peer, void *cookie);
    /* A one-sided operation that was CHAN_PENDING is over: rc is 0, or -errno. */
    void (*done)(struct chan_peer *peer, void *cookie, int rc);

    /* A process that gave the right secret asks for a link. Not while a link to it is open here: its
     * question may have been overtaken by the answer to ours, or be of a next link, whose last
     * packets are still to come. It waits until that link ends, or its sender gives it up. On CHAN_ACCEPT
     * *peer is the device's record of it, which the channel must put into the
     * link before anything else happens; the device then takes the link with
     * opened(). On a refusal the channel tells the stranger and forgets it. */
    enum chan_answer (*asked)(void *device, const struct chan_ops *ops,
                              const struct chan_gid *gid, uint32_t rank,
                              struct chan_peer **peer);
    /* The link is up; its peer's identity is proven. */
    void (*opened)(struct chan_link *link);
    /* The peer said no, or is certain not to come over this channel (answer > 0); or it could not
     * be reached, and may yet reach us (0). why is a sentence for people. */
    void (*refused)(struct chan_link *link, enum chan_answer answer, const char *why);
    /* Right before refused(): a packet that send() has taken, and that the peer will
     * not look at. Each of them is given back, the newest first; data as in arrived(). */
    void (*returned)(struct chan_link *link, const struct chan_head *head, const void *data,
                     size_t len);
    /* The link was open and is gone; rc is -errno. */
    void (*lost)(struct chan_link *link, int rc);
    /* This channel has lost something without which it cannot serve its peers, and they would wait
     * for ever: ends the job, and does not return. May also run inside link(). */
    void (*broken)(void *device, const struct chan_ops *ops, const char *why);
};

/* The environment that a channel gets when it opens; valid until close(). */
struct chan_env {
    uint32_t version; /* CHAN_VERSION */
    uint32_t size;    /* of this struct */
    void *device;
    const struct chan_sink *sink;
    struct chan_gid gid;  /* this process is ... */
    uint32_t rank;        /* ... this rank of this group */
    uint8_t secret[16];   /* proves to a peer of our group that one belongs to it */
    const char *host_id;  /* equal on two processes: same host, same memory */
    int local_rank;       /* index among ... */
    int ranks;            /* of our group, anywhere */
    int local_ranks;      /* ... the ranks of our group on this host */
    int cpus;             /* processors that they share */

    /* Reserve bytes in each request of the device. Returns the offset from the
     * request (the cookie), or -ENOSPC once the first request exists: a channel that is
     * loaded late gets none. */
    int (*reserve)(void *device, size_t size, size_t align);

    /* The endpoint slot of the channel with this name, or -ENOMEM. */
    int (*endpoint_slot_register)(void *device, const char *name);
    /* Give the peer a tail that has every slot registered. Returns 0 or -ENOMEM. */
    int (*grow_tail)(void *device, struct chan_peer *peer);

    /* The text of a parameter of this channel, which VIREO_CHANNEL_PARAMS sets, or its initial
     * text; NULL where ops->params does not name it. Valid until close(). */
    const char *(*param)(void *device, const struct chan_ops *ops, const char *name);

    /* The rank in our group whose index on this host is local_rank, below local_ranks; or
     * -EINVAL. */
    int64_t (*neighbor)(void *device, int local_rank);

    /* Shared memory of this host that belongs to a rank of a group: a part of
     * one sparse segment, at least 32 MiB of address space, zero at first. Pages are
     * taken when touched. Returns 0, or -ENOTSUP if the rank is on another host or the group is
     * unknown. The descriptor stays the device's. */
    int (*memory)(void *device, const struct chan_gid *gid, uint32_t rank, int *fd,
                  uint64_t *offset, uint64_t *size);

    /* Whether all that may call share memory with this process, by a channel that is open. Then a
     * channel that listens where strangers can call may wait with that until link() is called. */
    bool served;
    /* card() writes something else from now on: publish it. Inside link() alone. Returns 0 or
     * -errno. */
    int (*card_changed)(void *device);
    /* After finish(): whether the peer's process has ended properly. It waited until is_out(), so
     * all that it has sent arrives. progress() asks this. */
    bool (*ended_well)(void *device, const struct chan_peer *peer);
    /* What this process and one of another group prove to each other with, in the place of secret:
     * 16 bytes, valid during the call of the channel. NULL: the device does not know that process. May be
     * NULL itself: there is no other group. */
    const uint8_t *(*secret_with)(void *device, const struct chan_gid *gid, uint32_t rank);
};

/* The secret of this process and another one, of any group; NULL: that one is not known. */
static inline const uint8_t *chan_secret(const struct chan_env *env, const struct chan_gid *gid,
                                         uint32_t rank)
{
    if (!memcmp(gid, &env->gid, sizeof(*gid)))
        return env->secret;
    return env->secret_with ? env->secret_with(env->device, gid, rank) : NULL;
}

/* Whether a channel that was compiled with this header can use the device: open() asks first. */
static inline bool chan_env_fits(const struct chan_env *env)
{
    return env->version == CHAN_VERSION && env->size >= sizeof(*env) &&
           env->sink->size >= sizeof(*env->sink);
}

/* Put a value into a channel's slot. Returns 0; or -ENOMEM, which a slot that is known at compile
 * time never gives, nor the value NULL. */
static inline int chan_slot_set(const struct chan_env *env, struct chan_peer *peer, int slot,
                                void *value)
{
    if (slot < CHAN_SLOT_DYNAMIC) {
        ((void **)(peer + 1))[slot] = value;
        return 0;
    }
    uint32_t at = (uint32_t)(slot - CHAN_SLOT_DYNAMIC);
    if (at >= peer->tail_len && (!value || env->grow_tail(env->device, peer)))
        return value ? -ENOMEM : 0;
    peer->tail[at] = value;
    return 0;
}

/* Judgement over two cards. */
enum chan_fit {
    CHAN_NO,    /* cannot talk: why says the reason */
    CHAN_MAYBE, /* only trying tells */
    CHAN_YES    /* can talk */
};

struct chan_verdict {
    enum chan_fit fit;
    int score;       /* higher is better: loopback 100, shm 80, fabrics 50, tcp 20 */
    const char *why; /* static text */
};

/* Memory that peers may reach. Each channel embeds it in its own. */
struct chan_region {
    const struct chan_onesided *ops;
};

/* Memory of a peer: its own address, and the key that it has told; hostile, as all that it says. */
struct chan_remote {
    uint64_t address;
    const void *key; /* key_len bytes */
};

enum { CHAN_KEY_MAX = 32 };

/* What atomic() does to a word of 64 bits; operand has two. */
enum chan_atomic {
    CHAN_ATOMIC_ADD,    /* adds operand[0] */
    CHAN_ATOMIC_SWAP,   /* sets it to operand[0] */
    CHAN_ATOMIC_COMPARE /* sets it to operand[0] if it is operand[1] */
};

/*
 * One-sided operations: this process reads and writes a peer's memory. A channel that has none
 * leaves its ops' onesided at NULL; with the table come all of its functions, but atomic().
 *
 * get(), put() and atomic() return 0 when all len bytes are moved; CHAN_PENDING if
 * sink->done(cookie) will tell the end (the memory here stays in use until then); CHAN_AGAIN if
 * there is no room now; or CHAN_UNABLE: these two processes cannot do it, now or later, and the
 * contents of the target are undefined. The peer sees the effect of put() and atomic() when they
 * are over.
 *
 * unlink() ends no operation that is pending: done() follows, with 0 or -errno, as soon as nothing
 * reads or writes the memory here any more, and until then the peer's record stays. Such an operation is
 * not begun anew, nor are its further parts. Only close() ends all without a word.
 */
struct chan_onesided {
    uint32_t size;    /* of this struct */
    uint32_t key_len; /* bytes of a key, CHAN_KEY_MAX at most; 0: an address is enough, and nothing
                       * need be registered */
    bool at_once;     /* they are never pending, and cost this process's time alone */

    /* Let peers reach [base, base + len). Returns 0 or -errno. */
    int (*reg)(struct chan *chan, void *base, size_t len, struct chan_region **region);
    /* No longer; frees it. */
    void (*dereg)(struct chan_region *region);
    /* Write the key that peers need. */
    void (*key)(const struct chan_region *region, void *key);

    int (*get)(struct chan_link *link, void *to, const struct chan_remote *from, size_t len,
               void *cookie);
    int (*put)(struct chan_link *link, const void *from, const struct chan_remote *to, size_t len,
               void *cookie);

    /* Change a word, which is aligned, and write what it was to *before, which stays in use until
     * it is over. It is one with all other such operations over this channel, and with nothing
     * else. NULL: the channel has none. */
    int (*atomic)(struct chan_link *link, enum chan_atomic what, const uint64_t operand[2],
                  const struct chan_remote *at, uint64_t *before, void *cookie);

    /* Whether all operations of this link are over: 0, or CHAN_AGAIN where progress() has to go on
     * before the next look. */
    int (*flush)(struct chan_link *link);
};

/*
 * How the device sleeps. With CHAN_SLEEP_WORD it waits on chan->word of every channel
 * that has one; with CHAN_SLEEP_FD it polls chan->fd of every channel.
 */
enum chan_sleep {
    CHAN_SLEEP_WORD,
    CHAN_SLEEP_FD
};

/* The channel's own state; each channel embeds it first in its own struct. */
struct chan {
    const struct chan_ops *ops;
    int fd;                 /* readable when progress() has work, once armed; -1: none */
    _Atomic uint32_t *word; /* changes and is woken when progress() has work, once
                             * armed; NULL: none */
    bool deaf;              /* set by arm(): of some news fd will not tell, so look every ms */
    uint64_t rings; /* how often it has woken a peer that slept; 0 where the kernel does that */
    int links;              /* open or forming; the device skips progress() at 0
                             * unless fd or word says that strangers may come */
};

/* A parameter of a channel that users can set: VIREO_CHANNEL_PARAMS="wire.depth=8,...". */
struct chan_param {
    const char *name; /* NULL ends a list */
    const char *initial;
    const char *about; /* one sentence */
};

struct chan_ops {
    uint32_t version; /* CHAN_VERSION */
    uint32_t size;    /* sizeof(struct chan_ops) */
    const char *name; /* letters, digits and '_', at most 31 of them */
    const char *about; /* one sentence */
    const struct chan_param *params; /* NULL: none */

    /* Open. Returns 0, or -ENODEV if this channel cannot run here, with a sentence in why (which
     * mpiexec --report shows). Of a channel that is loaded at run time, a copy of the process, made
     * by fork(), may open and close it first, to see that it can. */
    int (*open)(struct chan **chan, const struct chan_env *env, char *why, size_t size);
    /* Release everything; every link has been unlinked. Accepts NULL. */
    void (*close)(struct chan *chan);

    /* Write this process's parameters, "key=value,..." (channel_help.h): all that
     * a peer needs to judge, without asking, whether it can reach us, and to do so. */
    int (*card)(struct chan *chan, char params[CHAN_CARD_MAX]);
    /* Judge two cards' parameters. Pure and symmetric, so both sides choose
     * alike. The strings come from peers: hostile. */
    struct chan_verdict (*match)(const char *mine, const char *theirs);

    /* Start a link to the peer that wrote this card. Returns 0 and the link at
     * once, before the peer has answered; or -errno: -ESHUTDOWN where the peer is
     * seen to have finished, so that no other channel is worth a try; -EAGAIN where the peer can
     * be called at no place yet, and can call this process: it is asked to. */
    int (*link)(struct chan *chan, struct chan_peer *peer, const char *theirs,
                struct chan_link **link);
    /* End a link and free it. Packets that it has taken still go out where possible. */
    void (*unlink)(struct chan_link *link);

    /* The process of the link's peer has ended. Takes no more packets, and has progress()
     * bring all that the peer has sent, however busy other links are, then call lost(); or, where
     * the peer has not answered, opened() and lost(), or refused(). Sent data may arrive late, as
     * the network holds them until they are read; if nothing comes for a long time, the link ends
     * all the same. Once a link is enough. NULL: no link leads to another process. */
    void (*finish)(struct chan_link *link);

    /* Move all that can move now: in, out, and connections. Returns the number of upcalls made, or
     * more while a long transfer moves without an upcall yet: waiting threads then keep polling. A
     * process that has ended may have begun a link, and sent packets over it, that nobody here
     * knows of: this call finds it, and calls asked(). */
    int (*progress)(struct chan *chan);

    /* Announce that this process is about to sleep. Returns 0, or CHAN_AGAIN
     * where something has come since the last progress(): then do not sleep.
     * After arm() returned 0, fd or word will tell of news; that is also room for what send() has
     * refused. While one thread sleeps so, others may call progress(), and arm() again. */
    int (*arm)(struct chan *chan, enum chan_sleep how);
    /* Take arm() back; also after CHAN_AGAIN. */
    void (*disarm)(struct chan *chan);

    /* Wake the process of our group with this index on this host, if it sleeps armed: memory that
     * both share has news for it, which was stored before this call. NULL: the channel cannot. */
    void (*wake)(struct chan *chan, uint32_t local_rank);

    const struct chan_onesided *onesided; /* NULL: none */

    /* Whether all that send() has taken has left this process's memory, so that its peers get it
     * although nobody calls progress() here. NULL: always. */
    bool (*is_out)(struct chan *chan);

    /* Called once in a child that fork() has made of this process, which has no part in the job:
     * close the child's descriptors, so that peers see when the parent closes its own. Touch nothing
     * that is shared with the parent, and allocate nothing. No other call follows. NULL: there
     * is nothing to close. */
    void (*forked)(struct chan *chan);

    /* How far a link has come that link() has begun and that is not open. Before CHAN_STAGE_SAID a
     * link that the peer begins takes its place; at CHAN_STAGE_NOWHERE the device asks the
     * peer, by way of the process manager, to begin one. NULL: CHAN_STAGE_SAID. */
    enum chan_stage (*stage)(const struct chan_link *link);

    /* Processes of other groups, on any host, may call from now on: listen to them, where that has not
     * begun (see served). Returns 0; 1, where card() writes something else from now on; or -errno.
     * NULL: it listens since it was opened, or none of them can come over this channel. */
    int (*serve)(struct chan *chan);

    /* A link takes something scarce, such as a descriptor: with many links, the device lets idle ones go. Both sides
     * agree by packets first, and unlink() follows on each. */
    bool scarce;

    /* Its links may lead to a process of the other byte order, in a job of network order (os/turn.h): heads cross in
     * that. All else is bytes to a channel. */
    bool turns;
};

/* Built-in channels, best first, NULL-terminated; the build writes it. */
extern const struct chan_ops *const chan_table[];

/* The symbol that a shared object exports to be a channel; the file may have any name. */
#define CHAN_ENTRY "vireo_channel"
#define CHAN_EXPORT __attribute__((visibility("default"))) extern
CHAN_EXPORT const struct chan_ops vireo_channel;

#endif
