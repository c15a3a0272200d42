/* SPDX-License-Identifier: BSD-3-Clause */

/* Links of the ofi channel: one for each peer (link.c), and callers that have none yet (stranger.c). */
#ifndef OFI_LINK_H
#define OFI_LINK_H

#include <string.h>

#include "channels/ofi/ofi.h"
#include "os/hash.h"

/* What a process still has to say to another one. */
struct ofi_say {
    fi_addr_t to;
    uint64_t theirs; /* the other's name of the link; 0: not known */
    uint32_t kinds;  /* bits 1 << enum ofi_kind */
    uint32_t answer; /* with REFUSED */
};

enum ofi_state {
    OFI_CALLING,
    OFI_OPEN,
    OFI_OVER /* refused or lost was told, or is about to be */
};

struct ofi_link {
    struct chan_link base;
    struct ofi *ofi;
    struct ofi_link *next;
    struct ofi_say say;
    struct ofi_stranger *last_word; /* room for BYE, so that memory cannot be short for that */
    enum ofi_state state;
    UT_hash_handle hh; /* by name */
    uint64_t name;
    uint64_t called_as;   /* the name that the caller knew before WELCOME; 0: we are the caller */
    struct ofi_talk talk; /* while calling: we are the caller */
    uint64_t again_ns, again_step_ns; /* while calling, once HELLO was said: when it is said again, and then */
    uint32_t out, in;     /* numbers of the next packets */
    int credit;           /* packets that may be sent */
    int owed;             /* packets taken, and not told yet */
    int flying;           /* sends that are not complete */
    int transfers;        /* one-sided operations that are not over */
    uint32_t told;        /* by our last LAST: a packet of this number comes next */
    bool has_told;        /* we have said one, */
    bool has_last;        /* and the peer, and no packet since */
    bool injected;        /* something that no completion will tell of */
    bool ended;           /* its process has */
    bool tried;           /* to say HELLO, if in vain */
    bool leaving;         /* it is unlinked, and stays until transfers is 0 */
    int broken;           /* -errno: the fabric has lost it; 0: not */
    uint64_t begun_ns;
    uint64_t since_ns;    /* when HELLO was tried first, or it was last seen that the peer lives; where its process has
                           * ended, when it last brought something */
    uint64_t ask_ns;      /* once open: when to see next whether it lives; alive.c */
    uint64_t unsaid_ns;   /* once open: since when the fabric has no room for words; 0: it has */
    uint64_t quiet_ns;    /* where its process has ended otherwise than well: it is over after so long without news */
};

/* A caller that has no link yet, or a peer that still needs one last word. */
struct ofi_stranger {
    struct ofi_stranger *next;
    struct ofi_say say;
    struct ofi_talk talk; /* the stranger is the caller */
    uint64_t name;        /* ours for it; 0: nothing is awaited of it */
    uint64_t met_ns;
    bool proven; /* it waits until its older link has ended */
};

/* The secret of the two of a talk; the device may have forgotten the other one meanwhile, and then nothing that
 * this process says is right. */
static inline const uint8_t *ofi_secret(const struct ofi *ofi, const struct ofi_talk *talk)
{
    const struct chan_env *env = ofi->env;
    bool calls = talk->caller_rank == env->rank && !memcmp(&talk->caller, &env->gid, sizeof(env->gid));
    const uint8_t *secret = calls ? chan_secret(env, &talk->callee, talk->callee_rank)
                                  : chan_secret(env, &talk->caller, talk->caller_rank);
    return secret ? secret : env->secret;
}

/* ---- link.c ---- */

/* Make a link of zeroed memory, which is its own from now on. Returns 0; or -ENOMEM: it is to be freed as any. */
int ofi_link_begin(struct ofi_link *link, struct ofi *ofi, struct chan_peer *peer, fi_addr_t to);
/* The same, of new memory; NULL: there is none. */
struct ofi_link *ofi_link_make(struct ofi *ofi, struct chan_peer *peer, fi_addr_t to);
/* Begin to call. */
int ofi_link_call(struct ofi_link *link);
/* End it. It stays while a one-sided operation uses memory here. */
void ofi_link_free(struct ofi_link *link);
/* The last of those is over. */
void ofi_link_leave(struct ofi_link *link);
void ofi_link_close(struct ofi *ofi);
/* The fabric has lost it: progress() ends it. */
void ofi_link_break(struct ofi_link *link, int rc);
void ofi_link_finish(struct ofi_link *link);
/* The link with our name of it, or that to a process; or NULL. */
struct ofi_link *ofi_link_find(struct ofi *ofi, uint64_t name);
struct ofi_link *ofi_link_of(struct ofi *ofi, const struct chan_gid *gid, uint32_t rank);
/* It has a peer that has proven itself, and called at met_ns: they are one from now on. */
int ofi_link_accept(struct ofi_link *link, const struct ofi_say *say, uint64_t met_ns);
/* A message has come, from anybody. Returns the number of upcalls. */
int ofi_link_receive(struct ofi *ofi, const void *message, size_t len);
/* A frame to this link. Returns the number of upcalls; after one, the link may be gone. */
int ofi_link_take(struct ofi_link *link, const struct ofi_frame *frame, const void *body);
/* Say as many pending words as possible. Returns whether all are said. */
bool ofi_link_speak(struct ofi_link *link);
/* End links that are over. Returns the number of upcalls. */
int ofi_link_end_some(struct ofi *ofi);
/* When a link has to be looked at although nothing comes; UINT64_MAX: never. */
uint64_t ofi_link_deadline(struct ofi *ofi);
bool ofi_link_is_out(struct ofi_link *link);

/* A name of a link that no other has. */
uint64_t ofi_link_name(struct ofi *ofi);
/* Say the frames of say->kinds. link may be NULL. Returns 0, CHAN_AGAIN or -errno. */
int ofi_link_say(struct ofi *ofi, struct ofi_say *say, struct ofi_link *link,
                 const struct ofi_talk *talk, uint64_t name);

/* ---- alive.c ---- */

/* An open link begins, or was seen to: the next time is set. */
void ofi_alive_begin(struct ofi_link *link);
/* Whether it is seen to now and then that the process of this one lives. */
bool ofi_alive_asks(const struct ofi_link *link);
/* Whether its process has ended, by its address. Then its leftovers are removed. */
bool ofi_alive_has_ended(const struct ofi_link *link);
/* Take note of peers whose hosts have refused what was sent to them. */
void ofi_alive_hear(struct ofi *ofi);
/* When an open link is to be taken for lost, as the fabric has no room for its words; UINT64_MAX: never. */
uint64_t ofi_alive_limit(const struct ofi_link *link);
/* Whether a link, or a call, whose time is over goes on: the peer's kernel has taken a connection, so its process
 * lives, and has not looked at that yet. Its time begins anew then. */
bool ofi_alive_goes_on(struct ofi_link *link, uint64_t now_ns);

/* ---- stranger.c ---- */

/* Somebody calls. */
void ofi_stranger_meet(struct ofi *ofi, const struct ofi_hello *hello);
/* Let in strangers that have waited for the end of a link. Returns the number of upcalls. */
int ofi_stranger_welcome(struct ofi *ofi);
/* A link that we have begun is open: the call of its peer that has crossed it is no more. */
void ofi_stranger_is_linked(struct ofi *ofi, const struct ofi_link *link);
/* A frame to a stranger's name. Returns the number of upcalls. */
int ofi_stranger_take(struct ofi *ofi, const struct ofi_frame *frame, const void *body);
/* Room for the next one, to be freed by free(). NULL: no memory. */
struct ofi_stranger *ofi_stranger_make(void);
/* Say something to a peer without a link, and forget the peer. room is used up. */
void ofi_stranger_tell(struct ofi *ofi, struct ofi_stranger *room, const struct ofi_say *say);
bool ofi_stranger_speak(struct ofi *ofi);
void ofi_stranger_close(struct ofi *ofi);

#endif
