/* SPDX-License-Identifier: BSD-3-Clause */

/* Where a debugger finds the device's queues; see include/queues.h. */
#include "include/queues.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"

#include <stddef.h>

_Static_assert(sizeof(struct chan_gid) == QUEUES_GID_LEN, "the name of a process group");

const struct queues_device mpid_queues = {
    .match = &device.match,
    .vcs = &vc_table,
    .in_match = {.alone = offsetof(struct match, alone),
                 .buckets = offsetof(struct match, posted.buckets),
                 .shift = offsetof(struct match, posted.shift),
                 .unexpected = offsetof(struct match, first)},
    .in_place = {.next = offsetof(struct mpid_place, next),
                 .chain = offsetof(struct mpid_place, chain),
                 .context = offsetof(struct mpid_place, env.context),
                 .rank = offsetof(struct mpid_place, env.rank),
                 .tag = offsetof(struct mpid_place, env.tag)},
    .in_request = {.place = offsetof(struct mpid_request, place),
                   .base = offsetof(struct mpid_request, bytes.base),
                   .len = offsetof(struct mpid_request, bytes.len),
                   .next = offsetof(struct mpid_request, next)},
    .in_unexpected = {.next = offsetof(struct unexpected, next),
                      .place = offsetof(struct unexpected, exact),
                      .total = offsetof(struct unexpected, total),
                      .data = offsetof(struct unexpected, data)},
    .in_vc = {.next = offsetof(struct vc, hh.next),
              .gid = offsetof(struct vc, peer.gid),
              .rank = offsetof(struct vc, peer.rank),
              .sends = {offsetof(struct vc, send_head), offsetof(struct vc, pending),
                        offsetof(struct vc, asked), offsetof(struct vc, bulk)}},
};
