/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls of groups under way (BNR_Req): each begins when earlier ones of its group are over, and goes on in teams_step(). One that
 * the caller has given up goes on without it, as far as others need that.
 *
 * The bytes that a root decides on begin with 'g' and the id of a group that the call has made, or with '-'.
 */
#ifndef BNR_TEAM_CALLS_H
#define BNR_TEAM_CALLS_H

#include "bnr/client/team.h"

enum { CALL_HEAD = 17 }; /* of the root's bytes */

struct bnr_req;

/* What a kind of call does. Each function may be NULL. */
struct team_call_ops {
    uint8_t kind;   /* at all members the same */
    bool makes;     /* it makes a group */
    /* At each member, when it is its turn: set said. Returns 0 or a code, with which it fails for all. */
    int (*begin)(struct bnr_req *req);
    /* At the root, when all have said their bytes: returns BNR_ERR_AGAIN, or the outcome with *bytes (freed with free()). NULL: an empty
     * outcome. */
    int (*decide)(struct bnr_req *req, uint8_t **bytes, size_t *len);
    /* At each member: the call has ended with code, and the root's bytes. Returns the code for the caller. */
    int (*finish)(struct bnr_req *req, int code, const struct rally_bytes *bytes);
    /* A frame has come over the call's tie. Returns 0, or another value: the tie is to be lost. */
    int (*heard)(struct bnr_req *req, const BNR_Gid *gid, const struct rally_frame *frame);
    void (*drop)(struct bnr_req *req);
};

struct bnr_req {
    struct bnr_req *next;
    const struct team_call_ops *ops; /* NULL: it has been done from the beginning, or is a get */
    struct bnr_group *group;          /* that calls; counted */
    struct bnr_group *other;          /* counted; NULL: none */
    enum { REQ_QUEUED, REQ_CALLING, REQ_DONE } state;
    bool is_given_up; /* it is done for the caller, with this code */
    bool is_released; /* the caller has no handle any more */
    int code;
    uint64_t until_ns;   /* 0: no limit */
    uint64_t what;       /* of arguments that must be equal at all members */
    uint8_t *said;       /* this member's bytes */
    size_t said_len;
    struct bnr_group **made; /* the caller's; NULL: none */
    /* of merges and the like */
    int phase, tie;
    struct os_call *call;
    struct meet own, said_to; /* said_to: by the other root */
    bool has_met;
    char *port;
    int root;
    /* of closing */
    int *errcodes, errcode_count, job;
    struct close_state *close;
    /* of a get */
    char *key;
    int owner;
    void *buf;
    size_t *len;
};

/* Begin one; the group is taken a reference of. Once it is done, team_call_free() frees it. NULL: no memory. */
struct bnr_req *team_call_new(const struct team_call_ops *ops, struct bnr_group *g);
void team_call_start(struct bnr_req *req);
/* Whether it is done; then code is its outcome. */
bool team_call_is_done(struct bnr_req *req);
/* Free one that is done. */
void team_call_free(struct bnr_req *req);
/* Give one up, with a code. */
void team_call_give_up(struct bnr_req *req, int code);
bool team_call_is(const struct bnr_req *req);
void team_calls_go_on(void);

void team_calls_end(void);
/* Whether some call is under way. */
bool team_calls_are(void);
/* Returns as hook heard does; TEAM_CALLS_NONE: no call has to do with it. */
enum { TEAM_CALLS_NONE = 1 };
int team_calls_heard(int tie, const BNR_Gid *gid, const struct rally_frame *frame);
/* Whether a root's bytes tell of a group that was made. */
bool team_calls_made(const struct rally_bytes *bytes, BNR_Gid *gid);
/* The root's bytes of a call that has made no group, or has. To be freed; NULL: no memory. */
uint8_t *team_calls_outcome(const BNR_Gid *made, size_t more, size_t *len);

/* ---- the kinds ---- */

extern const struct team_call_ops team_call_fence, team_call_merge, team_call_again, team_call_connect, team_call_accept,
    team_call_unmerge, team_call_open, team_call_close;

/* A joint group of these two sides; NULL: there is none. */
struct bnr_group *team_joint(const struct bnr_group *own, const struct bnr_group *far);

/* ---- spawning ---- */

int team_spawn(struct bnr_group *open, int count, const char *command, char *const argv[], char *const envp[], BNR_Info info,
                struct team_command **made);
int team_kill(struct bnr_group *g, int rank, int sig);
/* Look at jobs that were started. */
void team_spawn_step(void);
void team_spawn_end(void);
int team_spawn_heard(int tie, const BNR_Gid *gid, const struct rally_frame *frame);

#endif
