/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of packet kinds: a module adds one of its own, whose packets come to it, whole or in
 * place; what fits no kind ends the connection and no other one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/turn.h"
#include "test/mpid/device_test.h"

enum {
    LOW = 0,
    HIGH = 2,
    OTHER = 3, /* not connected */
    WORDY = PACKET_KINDS - 1, /* two numbers that no kind of the device has */
    PLAIN = PACKET_KINDS - 2,
    LEAST = 8
};

static struct {
    int arrived, landed;
    size_t len;
    uint64_t word;
} got;
static char place[64];

static void on_arrived(struct vc *vc, const struct chan_head *head, const void *data, size_t len)
{
    assert_ptr_equal(vc, beneath_vc(LOW));
    got.arrived++;
    got.len = len;
    got.word = head->word[1];
    memcpy(place, data, len);
}

static void *on_place(struct vc *vc, const struct chan_head *head, struct landing *landing)
{
    (void)vc, (void)head;
    return landing->len <= sizeof(place) ? place : NULL;
}

static void on_landed(struct vc *vc, struct landing *landing)
{
    (void)vc;
    got.landed++;
    got.len = landing->len;
}

static const struct packet_kind wordy = {"WORDY", LEAST, on_arrived, on_place, on_landed};
static const struct packet_kind plain = {.name = "PLAIN", .arrived = on_arrived};

static int start(void **state)
{
    (void)state;
    beneath_start();
    assert_int_equal(packet_add(WORDY, &wordy), 0);
    assert_int_equal(packet_add(PLAIN, &plain), 0);
    assert_int_equal(beneath_ask(LOW), CHAN_ACCEPT);
    beneath_open(LOW);
    assert_int_equal(beneath_ask(HIGH), CHAN_ACCEPT);
    beneath_open(HIGH);
    memset(&got, 0, sizeof(got));
    return 0;
}

/* A packet comes over the lower peer's connection, which ends by it, or not. */
static void arrive(uint32_t type, size_t len, enum vc_state after)
{
    static const char zeros[64];
    beneath_arrive(LOW, packet_head((enum packet_type)type, 0, 7), zeros, len);
    assert_string_equal(vc_state_name(beneath_vc(LOW)->state), vc_state_name(after));
    assert_int_equal(beneath_vc(HIGH)->state, VC_OPEN);
}

static void test_own_kind(void **state)
{
    (void)state;
    arrive(WORDY, LEAST, VC_OPEN);
    assert_true(got.arrived == 1 && got.len == LEAST && got.word == 7);
    arrive(PLAIN, 0, VC_OPEN);
    assert_int_equal(got.arrived, 2);
}

static void test_short(void **state)
{
    (void)state;
    arrive(WORDY, LEAST - 1, VC_FAILED);
    assert_int_equal(got.arrived, 0);
}

static void test_short_of_each_kind(void **state)
{
    (void)state;
    arrive(PACKET_RTS, sizeof(struct packet_rts) - 1, VC_FAILED);
    assert_int_equal(got.arrived, 0);
}

static void test_unknown(void **state)
{
    (void)state;
    arrive(PACKET_KINDS - 3, 16, VC_FAILED);
}

static void test_beyond(void **state)
{
    (void)state;
    arrive(PACKET_KINDS + 1, 16, VC_FAILED);
}

static void test_none(void **state)
{
    (void)state;
    arrive(PACKET_NONE, 0, VC_FAILED);
}

static void *place_for(uint32_t type, size_t len, void **token)
{
    struct chan_head head = packet_head((enum packet_type)type, 0, 0);
    return beneath.env->sink->place(&beneath_vc(LOW)->peer, &head, len, token);
}

static void test_in_place(void **state)
{
    (void)state;
    void *token;
    assert_ptr_equal(place_for(WORDY, 40, &token), place);
    beneath.env->sink->landed(&beneath_vc(LOW)->peer, token);
    assert_true(got.landed == 1 && got.len == 40 && got.arrived == 0);
    assert_int_equal(beneath_vc(LOW)->state, VC_OPEN);
}

/* ---- notices ---- */

static int notices;
static struct mpid_notice last;
static char last_bytes[MPID_NOTICE_MAX];

static void on_notice(const struct mpid_notice *notice)
{
    notices++;
    last = *notice;
    memcpy(last_bytes, notice->data, notice->len);
}

static void on_look(void)
{
    notices += 100;
}

/* They come when progress is made, and not before; short ones, and long ones in place. */
static void test_notices(void **state)
{
    (void)state;
    void *token;
    notices = 0;
    mpid_set_notice(on_notice, on_look);
    beneath_arrive(LOW, packet_head(PACKET_NOTICE, 48, 9), "bytes", 5);
    assert_int_equal(notices, 0);
    (void)mpid_progress();
    assert_true(notices == 1 && last.context == 48 && last.word == 9 && last.len == 5);
    assert_true(last.from.rank == LOW && !memcmp(last_bytes, "bytes", 5));
    char *at = place_for(PACKET_NOTICE, MPID_NOTICE_MAX, &token);
    memset(at, 'x', MPID_NOTICE_MAX);
    beneath.env->sink->landed(&beneath_vc(LOW)->peer, token);
    (void)mpid_progress();
    assert_true(notices == 2 && last.len == MPID_NOTICE_MAX && last_bytes[MPID_NOTICE_MAX - 1] == 'x');
    beneath_end(HIGH);
    (void)mpid_progress();
    assert_int_equal(notices, 102);
    assert_true(mpid_is_gone((const struct mpid_gid *)&beneath_vc(HIGH)->peer.gid, HIGH));
    assert_false(mpid_is_gone((const struct mpid_gid *)&beneath_vc(LOW)->peer.gid, LOW));
    assert_int_equal(beneath_vc(LOW)->state, VC_OPEN);
    assert_null(place_for(PACKET_NOTICE, MPID_NOTICE_MAX + 1, &token));
    assert_int_equal(beneath_vc(LOW)->state, VC_FAILED);
    mpid_set_notice(NULL, NULL);
}

/* The layer above is to look where a peer is in MPI_Finalize. */
static void test_finalizing(void **state)
{
    const struct mpid_gid *gid = (const struct mpid_gid *)&beneath_vc(LOW)->peer.gid;
    (void)state;
    notices = 0;
    mpid_set_notice(on_notice, on_look);
    assert_false(mpid_is_finalizing(gid, LOW));
    beneath_arrive(LOW, packet_head(PACKET_CLOSE, 0, 0), NULL, 0);
    (void)mpid_progress();
    assert_int_equal(notices, 100);
    assert_true(mpid_is_finalizing(gid, LOW) && !mpid_is_finalizing(gid, HIGH));
    mpid_set_notice(NULL, NULL);
}

/* A notice that has no link yet waits for it, whatever its length. */
static void test_notice_waits(void **state)
{
    (void)state;
    static const char bytes[MPID_NOTICE_MAX] = {1};
    assert_int_equal(mpid_notify(beneath_vc(OTHER), 48, 7, bytes, sizeof(bytes)), 0);
    assert_int_equal(mpid_notify(beneath_vc(OTHER), 48, 7, bytes, sizeof(bytes) + 1), -EMSGSIZE);
    assert_int_equal(beneath_ask(OTHER), CHAN_ACCEPT);
    beneath_open(OTHER);
    (void)mpid_progress();
    assert_int_equal(beneath_sent_type(OTHER), PACKET_NOTICE);
    assert_int_equal(beneath_vc(OTHER)->state, VC_OPEN);
}

/* A kind that has no place, or none for so much, and a packet of no kind. */
static void test_no_place(void **state)
{
    (void)state;
    void *token;
    assert_null(place_for(WORDY, sizeof(place) + 1, &token));
    assert_int_equal(beneath_vc(LOW)->state, VC_FAILED);
    assert_int_equal(got.landed, 0);
}

static void test_never_in_place(void **state)
{
    (void)state;
    void *token;
    assert_null(place_for(PLAIN, 8, &token));
    assert_int_equal(beneath_vc(LOW)->state, VC_FAILED);
}

static void test_taken(void **state)
{
    (void)state;
    assert_int_equal(packet_add(WORDY, &plain), -EEXIST);
    assert_int_equal(packet_add(PACKET_EAGER, &plain), -EEXIST);
    assert_int_equal(packet_add(PACKET_NONE, &plain), -EEXIST);
    assert_int_equal(packet_add(PACKET_KINDS, &plain), -EEXIST);
    assert_int_equal(packet_add(WORDY, &wordy), 0); /* the device starts once more */
}

/* What a process that turns sends is in network order; heads are turned by channels. */
static void test_turned(void **state)
{
    (void)state;
    struct packet_rts rts = {.total = 0x0102030405060708, .addr = 0x1112131415161718, .id = 0x21222324, .flags = 1};
    struct packet_cts cts = {0x01020304, 0x11121314, 0x21222324, 0x31323334, 0x4142434445464748, 0x5152535455565758, 1};
    const struct packet_rts rts_before = rts;
    const struct packet_cts cts_before = cts;
    packet_turn(PACKET_RTS, &rts);
    assert_memory_equal(&rts, &rts_before, sizeof(rts)); /* this job is of the host's order */
    os_turns = true;
    packet_turn(PACKET_RTS, &rts);
    packet_turn(PACKET_CTS, &cts);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    assert_memory_equal(&rts, "\1\2\3\4\5\6\7\x8\x11\x12\x13\x14\x15\x16\x17\x18\x21\x22\x23\x24\0\0\0\1", sizeof(rts));
    assert_memory_equal(&cts, "\1\2\3\4\x11\x12\x13\x14\x21\x22\x23\x24\x31\x32\x33\x34"
                        "\x41\x42\x43\x44\x45\x46\x47\x48\x51\x52\x53\x54\x55\x56\x57\x58\0\0\0\0\0\0\0\1",
                        sizeof(cts));
#endif
    packet_turn(PACKET_RTS, &rts);
    packet_turn(PACKET_CTS, &cts);
    for (uint32_t type = PACKET_NONE; type < PACKET_TYPES; type++)
        if (type != PACKET_RTS && type != PACKET_CTS)
            packet_turn((enum packet_type)type, NULL); /* has no fields */
    os_turns = false;
    assert_memory_equal(&rts, &rts_before, sizeof(rts));
    assert_memory_equal(&cts, &cts_before, sizeof(cts));
}

#define DEVICE_TEST(test) cmocka_unit_test_setup_teardown(test, start, device_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_own_kind),
        DEVICE_TEST(test_short),
        DEVICE_TEST(test_short_of_each_kind),
        DEVICE_TEST(test_unknown),
        DEVICE_TEST(test_beyond),
        DEVICE_TEST(test_none),
        DEVICE_TEST(test_in_place),
        DEVICE_TEST(test_no_place),
        DEVICE_TEST(test_never_in_place),
        DEVICE_TEST(test_notices),
        DEVICE_TEST(test_finalizing),
        DEVICE_TEST(test_notice_waits),
        DEVICE_TEST(test_taken),
        cmocka_unit_test(test_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
