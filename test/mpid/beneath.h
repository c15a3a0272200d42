/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The layers beneath the device, for its tests: a process manager of a job that
 * has no other process, and two channels, whose peers are the test. Packets of
 * the device are kept here; the test acts for peers by calling the sink. The second
 * channel is a worse one, and suits nobody unless the test says so.
 */
#ifndef TEST_MPID_BENEATH_H
#define TEST_MPID_BENEATH_H

#include <stdbool.h>

#include "include/channel.h"
#include "include/mpid.h"

enum {
    BENEATH_RANKS = 4,
    BENEATH_ME = 1
};

/* The card of a peer that has our byte order; channels is a literal. */
#define BENEATH_CARD(channels) \
    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "vireo2;arch=le64;" channels : "vireo2;arch=be64;" channels)

/* A packet that the device has sent. */
struct beneath_packet {
    struct beneath_packet *next;
    struct chan_head head;
    void *cookie; /* of one that is pending */
    size_t len;
    uint8_t data[];
};

struct beneath_link {
    struct chan_link base; /* first */
    struct beneath_packet *first, **last;
    bool taken; /* link() or asked() made it, unlink() has not been called */
    bool from_us;
    bool finishing; /* finish() has been called */
};

extern struct beneath {
    const struct chan_env *env;
    struct beneath_link link[BENEATH_RANKS];
    bool has_card[BENEATH_RANKS]; /* of each rank: has been published */
    const char *card;                 /* of all of them; a channel with a=none cannot be called */
    bool has_finished[BENEATH_RANKS]; /* has said so */
    const char *says[BENEATH_RANKS];  /* the words that it has put besides; or NULL */
    int unknown; /* so many looks for words that are not there come before the answer of their host */
    enum chan_fit fit;            /* verdict on every peer */
    enum chan_fit second_fit;     /* the same by the second channel */
    int refusal;                  /* what link() returns, if not 0 */
    enum chan_stage stage;        /* of all links by the first channel that are not open */
    bool hears;                   /* BNR_Xcast() works */
    bool tells;                   /* the process manager says that it tells of ends */
    int word[BENEATH_RANKS];      /* the last that it was to bring to a rank */
    int words;                    /* all of them */
    int notice_from, notice;      /* 1 + the rank whose word BNR_Progress() tells of next */
    int outcome;                  /* of the next sends: 0, CHAN_AGAIN or CHAN_PENDING */
    bool is_armed;                /* a thread sleeps on the channels, or is about to */
    int links, unlinks;           /* calls */
    bool keeps;                   /* packets of a link that is unlinked can still be taken */
    bool direct_fails;
    uint32_t key_len; /* of one-sided operations; 0: they are done at once */
    int regions;      /* registered */
    void *got;        /* the cookie of the get that is pending, unlinked or not; NULL: none */
    struct chan_peer *got_of;
    void (*during)(void); /* called within the next progress() */
    void (*linking)(void); /* called within the next link() */
    int turns;                    /* calls of progress() */
    int asked;                    /* calls of BNR_Get_alloc() */
    bool ends_well;               /* the next end is one after MPI_Finalize */
    bool ends_early;              /* and before MPI_Init */
    int end;                      /* 1 + the rank whose end BNR_Progress() tells of next */
    uint64_t end_ns;              /* when it does so, at the soonest */
    bool ends_elsewhere;          /* it is of the other group */
} beneath;

/* How many ranks the job of the next start has: BENEATH_RANKS, unless a test says more. Those beyond
 * have a card, and say nothing else. */
extern int beneath_ranks;
/* Whether the process manager of the next start counts news, and how often it has. */
extern bool beneath_counts;
extern unsigned beneath_news;
struct beneath_link *beneath_link(uint32_t rank);
/* Another group that the process manager knows, as large as ours. */
extern const struct chan_gid beneath_other;

/* Start the device over this; all peers have cards, and fit as CHAN_MAYBE. */
void beneath_start(void);
/* Break what links there are, and finish the device. */
void beneath_stop(void);

/* One-sided operations of the channel need keys, and are pending until the test ends them; or not. */
void beneath_use_keys(bool on);
/* End the one that is pending, if there is one. */
void beneath_end_get(int rc);

struct vc *beneath_vc(uint32_t rank);
/* The peer has answered, or asked and is let in: the link is up. */
void beneath_open(uint32_t rank);
/* Ask for a link as a peer does. */
enum chan_answer beneath_ask(uint32_t rank);
/* The next packet that was sent to a rank, to be freed; NULL: none. */
struct beneath_packet *beneath_sent(uint32_t rank);
/* The type of the next one, which is freed; 0: none. */
uint32_t beneath_sent_type(uint32_t rank);
/* Forget the packets sent, telling the device of the pending ones. */
void beneath_drain(uint32_t rank);
/* The link of a rank is refused: what it has taken goes back to the device. */
void beneath_refuse(uint32_t rank, enum chan_answer answer);
/* A word of a rank comes. */
void beneath_notify(uint32_t rank, int word);
/* A rank's process ends, and the device hears of it. */
void beneath_end(uint32_t rank);
/* A packet comes, whole. Nothing happens where the link is down. */
void beneath_arrive(uint32_t rank, struct chan_head head, const void *data, size_t len);

#endif
