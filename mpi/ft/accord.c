/* SPDX-License-Identifier: BSD-3-Clause */

/* Agreements; see accord.h. */
#include "mpi/ft/accord.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/consensus.h"
#include "mpi/comm/context.h"
#include "mpi/request/request.h"
#include "os/log.h"
#include "os/turn.h"

enum {
    AHEAD = 2 /* agreements that another member may have begun beyond those that are complete here */
};

/* The engine of one round. Its key is the number of the agreement, times ACCORD_ROUNDS, plus that of
 * the round. */
struct accord {
    struct accord *next;
    struct crew *crew;
    uint32_t key;
    enum accord_kind kind;
    struct consensus consensus;
};

/* What a notice of an engine begins with; words follow. In the byte order of the job. */
struct accord_head {
    uint32_t key, ballot, accepted;
    uint16_t count;
    uint8_t kind, is_result;
};
_Static_assert(sizeof(struct accord_head) == 16, "on the wire");

uint32_t accord_rest(const struct crew *crew, enum accord_kind kind)
{
    return kind == ACCORD_AGREE ? crew_words(crew) : CONTEXT_LENT / 64;
}

static uint32_t words_of(const struct crew *crew, enum accord_kind kind)
{
    return kind == ACCORD_END ? 1 : 1 + 2 * crew_words(crew) + accord_rest(crew, kind);
}

static size_t length_of(uint32_t words)
{
    return sizeof(struct accord_head) + words * sizeof(uint64_t);
}

/* ---- engines ---- */

static bool is_failed(void *arg, uint32_t rank)
{
    const struct accord *accord = arg;
    return crew_bit(accord->crew->gone, rank);
}

/* Between the byte orders of this process and the job; each may be NULL. */
static void turn(struct accord_head *head, void *words, size_t count)
{
    if (head)
        os_turn_fields(head, "444211");
    if (os_turns && words)
        os_turn_all(words, sizeof(uint64_t), count);
}

static void send(void *arg, uint32_t to, const struct consensus_message *message)
{
    const struct accord *accord = arg;
    char bytes[MPID_NOTICE_MAX];
    struct accord_head head = {.key = accord->key,
                               .ballot = message->ballot,
                               .accepted = message->accepted,
                               .count = (uint16_t)accord->consensus.count,
                               .kind = (uint8_t)accord->kind,
                               .is_result = message->is_result};
    size_t count = head.count;
    memcpy(bytes + sizeof(head), message->words, count * sizeof(uint64_t));
    turn(&head, bytes + sizeof(head), count);
    memcpy(bytes, &head, sizeof(head));
    crew_send(accord->crew, to, CREW_ACCORD, 0, bytes, length_of((uint32_t)count));
}

static struct accord *find(const struct crew *crew, uint32_t key)
{
    struct accord *accord = crew->accords;
    while (accord && accord->key != key)
        accord = accord->next;
    return accord;
}

/* The engine of this key, made if need be; NULL: no memory. */
static struct accord *get(struct crew *crew, uint32_t key, enum accord_kind kind)
{
    struct accord *accord = find(crew, key), **end = &crew->accords;
    if (accord)
        return accord;
    accord = malloc(sizeof(*accord));
    if (!accord)
        return NULL;
    *accord = (struct accord){.crew = crew, .key = key, .kind = kind};
    struct consensus_owner owner = {is_failed, send, accord};
    if (consensus_init(&accord->consensus, &owner, crew->rank, crew->size, words_of(crew, kind))) {
        free(accord);
        return NULL;
    }
    while (*end)
        end = &(*end)->next;
    *end = accord;
    return accord;
}

/* Free the engines of earlier keys. */
static void drop_before(struct crew *crew, uint32_t key)
{
    struct accord **at = &crew->accords;
    while (*at) {
        struct accord *accord = *at;
        if (accord->key >= key) {
            at = &accord->next;
            continue;
        }
        *at = accord->next;
        consensus_fini(&accord->consensus);
        free(accord);
    }
}

/* ---- deeds ---- */

static void join(struct crew *crew, struct deed *deed, struct accord *accord)
{
    uint64_t words[MPID_NOTICE_MAX / sizeof(uint64_t)];
    uint32_t count = crew_words(crew);
    crew_update(crew);
    memset(words, 0xff, sizeof(words));
    words[1 + crew->rank / 64] &= ~(UINT64_C(1) << crew->rank % 64);
    for (uint32_t i = 0; i < count; i++)
        words[1 + count + i] = ~crew->failed[i];
    deed->give(deed, crew, &words[0], &words[1 + 2 * count]);
    deed->has_joined = true;
    consensus_join(&accord->consensus, words);
}

/* Returns whether that was the last round. */
static bool take(const struct crew *crew, struct deed *deed, const uint64_t *words)
{
    uint64_t left[MPID_NOTICE_MAX / sizeof(uint64_t)];
    uint32_t count = crew_words(crew);
    for (uint32_t i = 0; i < count; i++)
        left[i] = ~words[1 + i] & words[1 + count + i];
    if (!crew_bit(left, crew->rank))
        mpid_give_up("others have lost their connection with it, and an agreement has left it out");
    return deed->take(deed, crew, words[0], &words[1 + 2 * count], left);
}

/* Whether this process knows of all failures that the result tells of. A caller that acknowledges what it
 * knows has then acknowledged them; the launcher tells of each, sooner or later. */
static bool knows_all(struct crew *crew, const uint64_t *words)
{
    uint32_t count = crew_words(crew);
    crew_update(crew);
    for (uint32_t i = 0; i < crew->size; i++) {
        bool is_left = !crew_bit(&words[1], i) && crew_bit(&words[1 + count], i);
        if (!is_left && i != crew->rank && !crew_bit(crew->gone, i))
            return false;
    }
    return true;
}

static void finish(struct crew *crew)
{
    struct deed *deed = crew->deeds;
    crew->deeds = deed->next;
    crew->done++;
    crew_later(&deed->task);
}

/* Go on with the first deed, and those behind it. */
static void advance(struct crew *crew)
{
    struct deed *deed;
    while ((deed = crew->deeds)) {
        struct accord *accord = get(crew, deed->key, deed->kind);
        if (!accord || accord->kind != deed->kind) {
            deed->error_class = accord ? MPI_ERR_NOT_SAME : MPI_ERR_NO_MEM;
            finish(crew);
            continue;
        }
        if (!deed->has_joined)
            join(crew, deed, accord);
        const uint64_t *result = consensus_result(&accord->consensus);
        if (!result || !knows_all(crew, result))
            return;
        drop_before(crew, deed->key);
        if (take(crew, deed, result)) {
            finish(crew);
        } else if (++deed->round < ACCORD_ROUNDS) {
            deed->key++;
            deed->has_joined = false;
        } else {
            deed->error_class = MPI_ERR_OTHER;
            finish(crew);
        }
    }
}

int accord_begin(struct deed *deed, struct request **request, struct comm *comm)
{
    crew_enter();
    struct crew *crew = crew_of(comm);
    int rc = !crew ? MPI_ERR_NO_MEM
             : length_of(words_of(crew, deed->kind)) > MPID_NOTICE_MAX ? MPI_ERR_OTHER
                                                                       : MPI_SUCCESS;
    if (!rc && !(*request = deed->request = request_begin(comm)))
        rc = MPI_ERR_NO_MEM;
    if (!rc) {
        struct deed **end = &crew->deeds;
        while (*end)
            end = &(*end)->next;
        *end = deed;
        deed->next = NULL;
        deed->comm = comm;
        deed->round = 0;
        deed->has_joined = false;
        deed->error_class = MPI_SUCCESS;
        deed->key = crew->begun++ * ACCORD_ROUNDS;
        comm->keeps_context = true;
        advance(crew);
    }
    crew_leave();
    return rc;
}

/* ---- notices ---- */

/* Whether an engine of this key is there, or may come to be. */
static bool is_due(const struct crew *crew, uint32_t key)
{
    uint32_t number = key / ACCORD_ROUNDS;
    if (find(crew, key))
        return true;
    return number >= crew->done && number <= crew->done + AHEAD &&
           (!crew->deeds || key >= crew->deeds->key);
}

static void arrived(struct crew *crew, uint32_t from, const struct mpid_notice *notice)
{
    struct accord_head head;
    uint64_t words[MPID_NOTICE_MAX / sizeof(uint64_t)];
    if (notice->len < sizeof(head))
        return;
    memcpy(&head, notice->data, sizeof(head));
    turn(&head, NULL, 0);
    if (head.kind < ACCORD_AGREE || head.kind >= ACCORD_KINDS || !is_due(crew, head.key) ||
        head.count != words_of(crew, head.kind) || notice->len != length_of(head.count))
        return;
    struct accord *accord = get(crew, head.key, head.kind);
    if (!accord || accord->kind != head.kind)
        return;
    memcpy(words, (const char *)notice->data + sizeof(head), head.count * sizeof(uint64_t));
    turn(NULL, words, head.count);
    struct consensus_message message = {.is_result = head.is_result,
                                        .ballot = head.ballot,
                                        .accepted = head.accepted,
                                        .words = words};
    int rc = consensus_take(&accord->consensus, from, &message);
    if (rc)
        os_log(OS_LOG_WARN, "a part of an agreement is lost: %s", strerror(-rc));
    advance(crew);
}

static void lost(struct crew *crew)
{
    for (struct accord *accord = crew->accords; accord; accord = accord->next)
        if (accord->kind != ACCORD_END || !crew->left)
            consensus_failed(&accord->consensus);
    advance(crew);
}

/* ---- the end ---- */

static void leave(struct crew *crew)
{
    const uint64_t nothing = 0;
    struct accord *accord = crew->begun ? get(crew, crew->begun * ACCORD_ROUNDS, ACCORD_END) : NULL;
    if (accord && accord->kind == ACCORD_END && !crew->left)
        consensus_join(&accord->consensus, &nothing);
}

static uint32_t awaited(const struct crew *crew)
{
    const struct accord *accord = crew->begun ? find(crew, crew->begun * ACCORD_ROUNDS) : NULL;
    return accord && accord->kind == ACCORD_END ? consensus_awaited(&accord->consensus) : crew->rank;
}

static void free_all(struct crew *crew)
{
    drop_before(crew, UINT32_MAX);
}

static bool is_needed(const struct crew *crew)
{
    return crew->accords != NULL;
}

static __attribute__((constructor)) void begin(void)
{
    static const struct crew_ops ops = {.arrived = arrived,
                                        .lost = lost,
                                        .leave = leave,
                                        .awaited = awaited,
                                        .free = free_all,
                                        .is_needed = is_needed};
    crew_add_kind(CREW_ACCORD, &ops);
}
