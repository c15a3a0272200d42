/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups as objects of this process: the job's own (the world), groups of two others (joint), groups that are being
 * spawned (open), and groups that this process is not of (far), such as its parent's.
 *
 * A group with collective calls has a rally (bnr/group/rally.h), whose links are ties. The first call of a world makes
 * its links: rank r to (r - 1) / TEAM_RADIX. Joint groups have the links of both sides, and one between their roots.
 */
#ifndef BNR_CLIENT_TEAM_H
#define BNR_CLIENT_TEAM_H

#include "bnr/client/backend.h"
#include "bnr/client/tie.h"
#include "bnr/group/meet.h"
#include "bnr/group/rallies.h"

enum { TEAM_RADIX = 16 };

enum team_kind {
    TEAM_WORLD,
    TEAM_JOINT,
    TEAM_OPEN,
    TEAM_FAR
};

struct team_key;
struct team_command {
    struct team_command *next;
    int count, first; /* first: rank of the first process; -1: not known yet */
    uint8_t *words;
    size_t len;
    BNR_Exit_fn notify; /* NULL: nobody wants to know */
};


struct bnr_group {
    struct bnr_group *next;
    struct backend *backend; /* of the world; NULL for others */
    enum team_kind kind;
    int refs;
    BNR_Gid gid;
    int size, rank; /* rank -1: this process is none of it */
    struct rallies_member *rally; /* NULL: there are no calls; or not yet, of the world */
    int *tie, tie_count;          /* to which it has a reference */
    struct meet_part *part; /* as in struct meet */
    int part_count;
    struct bnr_group *side[2];   /* of a joint group: own and far; of an open or spawned one: its opener; counted */
    int first;                   /* of a joint group: which side has the first ranks */
    struct team_key *keys;      /* of a joint group */
    size_t key_bytes;            /* of own ones */
    enum meet_relation relation; /* of the world to a far group */
    char *door;                  /* of a far group's root; NULL: unknown */
    struct team_command *commands, **commands_end; /* of an open or spawned one: what this process has asked for */
    int job;                  /* of a spawned one, at its opener's root: as of orders.h; 0: none */
    bool is_over;             /* of a spawned one: it is known to be */
    unsigned char *ended;     /* of a spawned one: by rank; NULL: none has */
};

/* All groups. */
extern struct teams {
    struct rallies rallies;
    struct bnr_group *world; /* NULL: BNR is not initialized */
    struct bnr_group *parent;
    bool has_parent; /* or has looked for it in vain */
    bool is_on;
} teams;


/* Whether this is a group. */
bool team_is(const struct bnr_group *g);
struct bnr_group *team_find(const BNR_Gid *gid);
/* A new one with one reference; NULL: no memory. */
struct bnr_group *team_new(enum team_kind kind, const BNR_Gid *gid, int size, int rank);
void team_ref(struct bnr_group *g);
/* The last one tells the others that a joint group is broken here. */
void team_unref(struct bnr_group *g); /* takes NULL */
/* End the calls of a group, without a word. */
void team_part(struct bnr_group *g);
/* Release what is one's own, and, but for the world, itself. */
void team_free(struct bnr_group *g);
/* The parent's group; NULL: none has spawned this job. Returns 0 or a BNR code. */
int team_parent(struct bnr_group **parent);

/* Have the group take part in calls. Returns 0 or a BNR code. */
int team_ready(struct bnr_group *g);
/* The name of this process's door, where others call; *rc: why there is none. */
const char *team_door(int *rc);
/* Look at the door, and for members that are missing. */
void team_links_step(void);
/* A first frame has come over a tie that came in. Returns 0, or another value: it is to be lost. */
int team_links_heard(int tie, const BNR_Gid *gid, const struct rally_frame *frame);
bool team_is_stranger(int tie);
void team_links_lost(int tie);
void team_links_end(void);
/* A tie came in at another port than the door. */
int team_stranger(int fd);

/*
 * A merge between two groups is one arrival at the door of one root: the other one comes, or sends word that it will
 * not. So the attempts of both count alike, however they end.
 */

/* The tie over which the root of the group gid has come to meet the group wanted, and its words, to be released; -1:
 * none yet; -2: it will not come. */
int team_met(enum meet_why why, const BNR_Gid *gid, const BNR_Gid *wanted, struct meet *said);
/* An attempt of own's is over without having met other, which would come here: its arrival, now or later, is in vain. */
void team_shun(const BNR_Gid *own, const BNR_Gid *other);
/* Send word to the door of other's root that own's will not come. */
void team_refuse(const BNR_Gid *own, const BNR_Gid *other, const char *door);
/* As team_met(), of a tie that came in at a port, from whichever group. */
int team_met_at(int tie, struct meet *said);

/* ---- keys ---- */

struct team_key {
    struct team_key *next;
    int owner;
    enum { TEAM_KEY_OLD, TEAM_KEY_NEW, TEAM_KEY_SENT } news; /* whether others have got it; SENT: a fence is under way */
    size_t len;
    uint8_t *value;
    char key[];
};

/* Find a value of any group; flags are of BNR_Get. Returns 0 or a BNR code: of a joint group, or with BNR_GET_LATER, it does
 * not wait. */
int team_keys_look(struct bnr_group *g, int owner, const char *key, const void **value, size_t *len, unsigned flags);
/* Copy what has been found into a buffer of *len bytes; *len = found. Returns 0 or BNR_ERR_TRUNC. */
int team_keys_give(const void *value, size_t found, void *buf, size_t *len);

/* The others are for joint groups. */
int team_keys_put(struct bnr_group *g, const char *key, const void *value, size_t len, bool replace);
/* What this process has put since the last fence, to be freed, for the others. Returns 0 or a BNR code. */
int team_keys_pack(struct bnr_group *g, uint8_t **bytes, size_t *len);
/* Take what all have put, as it came from the root. Returns 0 or a BNR code. */
int team_keys_take(struct bnr_group *g, const struct rally_bytes *all, size_t at);
void team_keys_drop(struct bnr_group *g);

#endif
