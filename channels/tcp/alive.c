/* SPDX-License-Identifier: BSD-3-Clause */

/* Whether a host answers; see alive.h. */
#include "channels/tcp/alive.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

bool alive_judge(struct alive *alive, const struct alive_signs *signs, uint64_t now_ns)
{
    uint64_t since_ms = (now_ns - alive->looked_ns) / 1000000u;
    bool answered = !alive->looked_ns || signs->silent_ms <= since_ms;
    alive->looked_ns = now_ns;
    if (answered || !signs->waits)
        alive->resent = signs->resent;
    /* The kernel asks less and less often, up to each two minutes: time alone proves nothing. */
    return !signs->waits || signs->silent_ms < ALIVE_SILENT_MS ||
           signs->probes + (signs->resent - alive->resent) < ALIVE_UNANSWERED;
}

bool alive_look(struct alive *alive, int fd, uint64_t now_ns)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
        return true; /* the next read tells its error */
    return alive_judge(alive,
                       &(struct alive_signs){.waits = info.tcpi_unacked || info.tcpi_probes,
                                             .silent_ms = info.tcpi_last_ack_recv,
                                             .probes = info.tcpi_probes,
                                             .resent = info.tcpi_total_retrans},
                       now_ns);
}
