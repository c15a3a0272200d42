/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The streams of bnr.h by the names of an older interface: a stream has an origin, a mask that says
 * how much of it counts, and a tag. Each function is a thin name over one of bnr.h, and returns its
 * codes. Here a push, a pull and a publication end by iof_unpublish(), a subscription by
 * iof_unsubscribe().
 */
#ifndef BNR_IOF_H
#define BNR_IOF_H

#include <stdlib.h>

#include "bnr.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    IOF_ANY = BNR_TAG_ANY,
    IOF_STDIN = BNR_STDIN,
    IOF_STDOUT = BNR_STDOUT,
    IOF_STDERR = BNR_STDERR
};

enum {
    IOF_SOURCE = BNR_SOURCE,
    IOF_SINK = BNR_SINK
};

/* Which processes are meant: all of the origin's job, or the origin alone. */
enum {
    IOF_CMP_JOB = 0x02,
    IOF_CMP_ALL = 0xff
};

typedef struct {
    BNR_Group group;
    int rank;
} iof_name_t;

typedef void (*iof_callback_fn_t)(const iof_name_t *origin, int tag, void *arg,
                                  const unsigned char *data, size_t count);

static inline int iof_rank(const iof_name_t *origin, int mask)
{
    return mask == IOF_CMP_ALL ? origin->rank : BNR_RANK_ANY;
}

static inline int iof_publish(const iof_name_t *origin, int mode, int tag, int fd)
{
    BNR_Stream s;
    return BNR_Stream_publish(origin->group, origin->rank, mode, tag, fd, NULL, &s);
}

static inline int iof_unpublish(const iof_name_t *origin, int mask, int tag)
{
    return BNR_Stream_end(origin->group, iof_rank(origin, mask), tag,
                          BNR_END_PUBLISHED | BNR_END_TIED);
}

static inline int iof_push(const iof_name_t *sink, int mask, int tag, int fd)
{
    BNR_Stream s;
    return BNR_Stream_push(sink->group, iof_rank(sink, mask), tag, fd, &s);
}

static inline int iof_pull(const iof_name_t *source, int mask, int tag, int fd)
{
    BNR_Stream s;
    return BNR_Stream_pull(source->group, iof_rank(source, mask), tag, fd, NULL, &s);
}

/* The callback of a subscription. It is kept until the process ends. */
struct iof_subscription {
    struct iof_subscription *next; /* all are kept */
    iof_name_t origin;
    iof_callback_fn_t fn;
    void *arg;
};

static inline int iof_take(const BNR_Frag *frag, const void *data, size_t len, void *arg)
{
    const struct iof_subscription *s = (const struct iof_subscription *)arg;
    iof_name_t origin = s->origin;
    origin.rank = frag->rank;
    if (len)
        s->fn(&origin, frag->tag, s->arg, (const unsigned char *)data, len);
    return BNR_SUCCESS;
}

static inline int iof_subscribe(const iof_name_t *origin, int mask, int tag, iof_callback_fn_t fn,
                                void *arg)
{
    static struct iof_subscription *all;
    BNR_Stream stream;
    struct iof_subscription *s = (struct iof_subscription *)malloc(sizeof(*s));
    if (!s)
        return BNR_ERR_NOMEM;
    s->origin = *origin;
    s->fn = fn;
    s->arg = arg;
    int rc = BNR_Stream_subscribe(origin->group, iof_rank(origin, mask), tag, NULL, iof_take, s,
                                  &stream);
    if (rc) {
        free(s);
        return rc;
    }
    s->next = all;
    all = s;
    return BNR_SUCCESS;
}

static inline int iof_unsubscribe(const iof_name_t *origin, int mask, int tag)
{
    return BNR_Stream_end(origin->group, iof_rank(origin, mask), tag, BNR_END_SUBSCRIBED);
}

static inline int iof_flush(void)
{
    return BNR_Stream_flush(NULL, -1);
}

#ifdef __cplusplus
}
#endif

#endif
