/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages of windows in network byte order; see win_wire.h. */
#include "mpi/win/win_wire.h"

#include <string.h>

#include "os/turn.h"

bool win_wire_is_network(void)
{
    return os_turn_network;
}

bool win_wire_turns(void)
{
    return os_turns;
}

void win_wire_turn_all(void *at, size_t size, size_t count)
{
    os_turn_all(at, size, count);
}

/* Turn the question that begins there. Returns how many bytes its head and runs have; 0: it is none. */
static size_t turn_one(unsigned char *message, size_t len, bool out)
{
    struct win_head head, turned;
    if (len < sizeof(head))
        return 0;
    memcpy(&head, message, sizeof(head));
    turned = head;
    os_turn_fields(&turned, "111144488");
    memcpy(message, &turned, sizeof(turned));
    uint64_t runs = out ? head.runs : turned.runs, room = (len - sizeof(head)) / sizeof(struct win_run);
    runs = runs < room ? runs : room;
    os_turn_all(message + sizeof(head), sizeof(uint64_t), 2 * runs);
    return sizeof(head) + runs * sizeof(struct win_run);
}

void win_wire_turn_question(void *message, size_t len, bool out)
{
    unsigned char *at = message;
    if (!os_turns)
        return;
    size_t done = turn_one(at, len, out);
    if (done && ((struct win_head *)message)->ask == WIN_EPOCH)
        (void)turn_one(at + done, len - done, out);
}
