/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hostile peers of windows: any questions, in any order, with the data of long puts or without; and
 * any answers to the questions of this side, before the true ones. The peer is this process, which
 * sends to itself what is no question of its own, and whose operations on its window are messages.
 * Nothing may crash, or access memory outside the window and the buffers of operations; errors have
 * classes; and an honest question is still answered after everything else.
 *
 * An input is a byte for the window, and a row of steps: a byte that chooses, and its operands, 0
 * where the input ends.
 *
 * usage: fuzz_win FILE...
 */
#include <mpi.h>
#include <stdbool.h>

#include "mpi/comm/context.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/type/op_kernels.h"
#include "mpi/win/win.h"
#include "mpi/win/win_serve.h"
#include "mpi/win/win_wire.h"
#include "test/fuzz/main.h"

enum {
    BYTES = 20000, /* of the window */
    GUARD = 64,
    STEPS = 60,
    SENT_MAX = 256, /* long puts whose data are due at the end, and messages under way */
    LAST_TAG = WIN_TAG_FIRST + WIN_TAGS - 1,
    ELEMENTS = 3000 /* 8 bytes each: more than a question carries */
};

static const uint8_t *input, *input_end;

static uint64_t take(int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes && input < input_end; i++)
        value |= (uint64_t)*input++ << 8 * i;
    return value;
}

/* A length or an offset: small ones, those about the edges, and any. */
static uint64_t take_number(void)
{
    static const uint64_t edges[] = {0,         8,         BYTES - 8,  BYTES,     BYTES + 1,
                                     8192,      8193,      1u << 20,   INT32_MAX, UINT32_MAX,
                                     INT64_MAX, INT64_MIN, UINT64_MAX, (uint64_t)-8};
    uint64_t how = take(1);
    return how < 14 ? edges[how] : how < 128 ? how : how < 240 ? take(2) : take(8);
}

/* ---- the window ---- */

static MPI_Win handle;
static struct win *win;
static unsigned char *area; /* guard, memory, guard */
static bool is_dynamic;

static void open_window(void)
{
    static const MPI_Aint units[] = {1, 8, 3};
    uint64_t how = take(1) % 6;
    area = malloc(BYTES + 2 * GUARD);
    require(area != NULL, "no memory");
    memset(area, 0x5e, GUARD);
    memset(area + GUARD, 0, BYTES);
    memset(area + GUARD + BYTES, 0x5e, GUARD);
    is_dynamic = how >= 3;
    if (!is_dynamic)
        require(!MPI_Win_create(area + GUARD, BYTES, (int)units[how], MPI_INFO_NULL, MPI_COMM_SELF,
                                &handle),
                "no window");
    else
        require(!MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &handle) &&
                    !MPI_Win_attach(handle, area + GUARD, 5000) &&
                    !MPI_Win_attach(handle, area + GUARD + 5000, BYTES - 5000),
                "no dynamic window");
    win = win_from(handle);
    require(!win_serve_begin(win), "nobody serves");
    (void)MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
    win->near[0].mapped = false; /* so that this process asks itself */
    win->near[0].place.fd = -1;
    win->near[0].reach.pid = 0;
    win_allow_all(win);
}

/* The displacement of a byte of the window, as the program says it. */
static int64_t place_of(int64_t at)
{
    return is_dynamic ? (int64_t)(uintptr_t)(area + GUARD) + at : at / win->unit;
}

static void check_memory(void)
{
    for (int i = 0; i < GUARD; i++)
        require(area[i] == 0x5e && area[GUARD + BYTES + i] == 0x5e, "written outside the window");
}

static void check_code(int code)
{
    int error_class = -1;
    require(!MPI_Error_class(code, &error_class) && error_class >= 0 &&
                error_class < MPI_ERR_LASTCODE,
            "a code that has no class");
}

/* ---- messages ---- */

static int due[SENT_MAX]; /* tags of long puts that have been asked */
static int due_count;

static struct p2p_side side(int tag)
{
    return (struct p2p_side){win->comm, win->comm->context + CONTEXT_WIN, 0, tag};
}

/* The send may last until somebody receives: the bytes are the request's. */
static void send(int tag, const void *bytes, size_t len)
{
    struct p2p_side to = side(tag);
    struct request *request;
    void *copy = malloc(len ? len : 1);
    require(copy != NULL, "no memory");
    memcpy(copy, bytes, len);
    require(!p2p_isend(&to, copy, (MPI_Count)len, MPI_BYTE, &request), "not sent");
    if (request == &request_done) {
        free(copy);
        return;
    }
    request->owned = copy;
    request_let_go(request);
}

/* Ask; the bytes may be anything. The last tag is this program's own. */
static void ask(void *bytes, size_t len)
{
    struct win_head *head = bytes;
    if (len >= sizeof(*head) && head->tag == LAST_TAG)
        head->tag--;
    if (len >= sizeof(*head) && head->ask == WIN_PUT_LONG) {
        if (due_count == SENT_MAX)
            return;
        due[due_count++] = (int)(head->tag % WIN_TAG_DATA);
    }
    win_wire_turn_question(bytes, len, true);
    send(WIN_TAG_ASK, bytes, len);
}

static void send_due(int i)
{
    static unsigned char data[BYTES];
    send(WIN_TAG_DATA | due[i], data, take_number() % sizeof(data));
    due[i] = due[--due_count];
}

static _Alignas(16) unsigned char message[WIN_MESSAGE_MAX + 64];

static void step_bytes(void)
{
    size_t len = take(2) % sizeof(message), left = (size_t)(input_end - input);
    memset(message, 0, len);
    memcpy(message, input, len < left ? len : left);
    input += len < left ? len : left;
    ask(message, len);
}

/* A row of runs in the place of single ones, which carries data where it has few. */
static void make_row(struct win_head *head, struct win_run *runs, bool free)
{
    struct win_run run = {(int64_t)take_number(), take_number()};
    struct win_row row = {(int64_t)take_number(), take_number()};
    if (!free) {
        run = (struct win_run){run.offset % 256, run.len % 16 + 1};
        row = (struct win_row){row.stride % 64, row.count % 500 + 1};
    }
    head->runs = 2;
    head->bytes = run.len * row.count;
    runs[0] = (struct win_run){run.offset, run.len | WIN_ROW};
    memcpy(&runs[1], &row, sizeof(row));
}

/* A question that is well formed but for what the input says. */
static void step_question(bool rows, bool epoch)
{
    struct win_head head = {.ask = (uint8_t)(take(1) % (WIN_ASKS + 2))};
    struct win_run *runs = (struct win_run *)(void *)(message + sizeof(head));
    uint8_t how = (uint8_t)take(1);
    head.op = (uint8_t)(how & 1 ? take(1) : OP_CODE_SUM);
    head.type = (uint8_t)take(1);
    head.tag = how & 2 ? (uint32_t)take(4) : WIN_TAG_FIRST + (uint32_t)take(1);
    head.disp = how & 4 ? (int64_t)take_number() : place_of((int64_t)(take(2) % BYTES));
    uint32_t count = rows ? 0 : how & 8 ? (uint32_t)take_number() % (WIN_RUNS_MAX + 2) : 1;
    for (head.runs = 0; head.runs < count; head.runs++) {
        struct win_run run = {(int64_t)take_number(), take_number()};
        runs[head.runs] = how & 16 ? run : (struct win_run){run.offset % 256, run.len % 64 + 1};
        head.bytes += runs[head.runs].len;
    }
    if (rows)
        make_row(&head, runs, how & 16);
    bool carries = head.ask == WIN_PUT || head.ask == WIN_ACCUMULATE || head.ask == WIN_FETCH;
    head.len = head.ask == WIN_COMPARE ? (uint32_t)head.bytes * 2 : (uint32_t)head.bytes * carries;
    size_t len = sizeof(head) + sizeof(*runs) * head.runs, most = sizeof(message) - len;
    size_t data = head.len < most ? head.len : most;
    for (size_t i = 0; i < data; i++)
        message[len + i] = (unsigned char)(i + how);
    if (how & 32)
        head.bytes = take_number();
    if (how & 64)
        head.len = (uint32_t)take_number();
    if (how & 128)
        head.runs = (uint32_t)take_number();
    memcpy(message, &head, sizeof(head));
    len += data;
    if (epoch) { /* whose question it is, so far as there is room */
        struct win_head outer = {.ask = WIN_EPOCH, .op = (uint8_t)(take(1) % 4), .tag = WIN_TAG_FIRST + how};
        len = len < sizeof(message) - sizeof(outer) ? len : sizeof(message) - sizeof(outer);
        outer.len = (uint32_t)len;
        memmove(message + sizeof(outer), message, len);
        memcpy(message, &outer, sizeof(outer));
        len += sizeof(outer);
    }
    ask(message, len);
}

/* ---- operations of this side ---- */

static void forge_answers(void)
{
    unsigned char bytes[512];
    for (uint64_t n = take(1) % 4; n; n--) {
        uint32_t next = (atomic_load(&win->tags) + (uint32_t)take(1) % 4) % (uint32_t)WIN_TAGS;
        size_t len = (size_t)take_number() % sizeof(bytes);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)take(1);
        send((int)(WIN_TAG_FIRST + next), bytes, len);
    }
}

/* Buffers have just the bytes that the operation names, so that access beyond them is seen. */
static void operate(MPI_Datatype there, int count, int64_t disp, uint64_t what)
{
    const long zero = 0;
    size_t len = (size_t)count * sizeof(long);
    long *mine = malloc(len ? len : 1), *got = malloc(len ? len : 1), one = 1, was;
    int spread = there == MPI_LONG ? count : count / 2;
    require(mine && got, "no memory");
    memset(mine, 1, len);
    memset(got, 0, len);
    int n = there == MPI_LONG ? count : spread * 2;
    switch (what % 5) {
    case 0: check_code(MPI_Put(mine, n, MPI_LONG, 0, disp, spread, there, handle)); break;
    case 1: check_code(MPI_Get(got, n, MPI_LONG, 0, disp, spread, there, handle)); break;
    case 2:
        check_code(MPI_Accumulate(mine, n, MPI_LONG, 0, disp, spread, there, MPI_SUM, handle));
        break;
    case 3:
        check_code(MPI_Get_accumulate(mine, n, MPI_LONG, got, n, MPI_LONG, 0, disp, spread, there,
                                      MPI_SUM, handle));
        break;
    default: check_code(MPI_Compare_and_swap(&one, &zero, &was, MPI_LONG, 0, disp, handle));
    }
    check_code(MPI_Win_flush(0, handle));
    free(mine);
    free(got);
}

/* All of its questions are answered, truly or not, before this returns; what the target waits for
 * has been sent. */
static void step_operation(MPI_Datatype gaps)
{
    uint64_t what = take(1);
    int count = (int)(take_number() % ELEMENTS);
    int64_t disp = what & 32 ? (int64_t)take_number() : place_of((int64_t)(take(2) % BYTES));
    while (due_count)
        send_due(0);
    forge_answers();
    operate(what & 64 ? gaps : MPI_LONG, count, disp, what);
}

/* ---- the end ---- */

/* What nobody has received. */
static void drain(void)
{
    struct mpid_probe probe = {.want = {win->comm->context + CONTEXT_WIN, MPID_ANY, MPID_ANY}};
    while (mpid_iprobe(&probe) == MPID_FOUND) {
        struct p2p_side from = side(probe.found.tag);
        (void)p2p_recv(&from, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

/* A question that must be answered with len bytes. */
static void ask_last(const struct win_head *head, const struct win_run *run, const void *data,
                     void *answer, size_t len)
{
    MPI_Status status;
    MPI_Count got;
    struct p2p_side from = side(LAST_TAG);
    memcpy(message, head, sizeof(*head));
    memcpy(message + sizeof(*head), run, sizeof(*run) * head->runs);
    if (head->len)
        memcpy(message + sizeof(*head) + sizeof(*run), data, head->len);
    size_t all = sizeof(*head) + sizeof(*run) * head->runs + head->len;
    win_wire_turn_question(message, all, true);
    send(WIN_TAG_ASK, message, all);
    if (!answer)
        return;
    require(!p2p_recv(&from, answer, (MPI_Count)len, MPI_BYTE, &status) &&
                !PMPI_Get_count_c(&status, MPI_BYTE, &got) && got == (MPI_Count)len,
            "an honest question has no answer");
}

static void ask_honestly(void)
{
    static const struct win_run none;
    const struct win_run run = {0, 8};
    int64_t value = 0x0123456789abcdef, got = 0;
    int32_t error = 0;
    struct win_head flush = {.ask = WIN_FLUSH, .tag = LAST_TAG};
    struct win_head head = {.ask = WIN_PUT, .runs = 1, .len = 8, .disp = place_of(0), .bytes = 8};
    ask_last(&flush, &none, NULL, &error, sizeof(error));
    ask_last(&head, &run, &value, NULL, 0);
    head = (struct win_head){
        .ask = WIN_GET, .tag = LAST_TAG, .runs = 1, .disp = place_of(0), .bytes = 8};
    ask_last(&head, &run, NULL, &got, sizeof(got));
    require(got == value, "what was put is not got");
    ask_last(&flush, &none, NULL, &error, sizeof(error));
    require(!error, "an honest put is refused");
}

static MPI_Datatype begin(void)
{
    static bool begun;
    static MPI_Datatype gaps;
    if (begun)
        return gaps;
    begun = true;
    setenv("VIREO_LOG", "error", 0); /* a line for each broken rule is too much */
    require(!MPI_Init(NULL, NULL), "MPI does not start");
    require(!MPI_Type_vector(2, 1, 2, MPI_LONG, &gaps) && !MPI_Type_commit(&gaps), "no type");
    return gaps;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    MPI_Datatype gaps = begin();
    input = bytes;
    input_end = bytes + len;
    due_count = 0;
    open_window();
    require(!MPI_Win_lock_all(0, handle), "no epoch");
    for (int i = 0; i < STEPS && input < input_end; i++)
        switch (take(1) % 8) {
        case 0: step_bytes(); break;
        case 1: step_operation(gaps); break;
        case 2:
            if (due_count)
                send_due((int)take(1) % due_count);
            break;
        case 3: send(take(1) & 1 ? WIN_TAG_POST : WIN_TAG_COMPLETE, message, take(1)); break;
        case 4: (void)mpid_progress(); break;
        case 6: step_question(take(1) & 1, true); break;
        case 7: step_question(true, false); break;
        default: step_question(false, false);
        }
    while (due_count)
        send_due(0);
    ask_honestly();
    check_code(MPI_Win_unlock_all(handle));
    drain();
    check_memory();
    require(!MPI_Win_free(&handle), "not freed");
    free(area);
    return 0;
}
