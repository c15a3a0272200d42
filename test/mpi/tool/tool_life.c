/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The life of MPI_T, and what it says to those who call it wrongly: before MPI_Init, while MPI
 * runs, after MPI_Finalize, with MPI sessions, and (with "alone") without MPI at all. No handle
 * outlives its last MPI_T_finalize, and none that is freed, of another kind, or invented is taken
 * for one.
 *
 * With "attached", threads of a tool do all of it while MPI starts, runs and ends in another.
 *
 * With a second argument, the process is to use the channel that MPI_T has set, whatever the
 * environment says.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "tool.h"

enum {
    MOST = 512
};

static void *const inventions[] = {NULL,           (void *)1,       (void *)8,
                                   (void *)0x1000, (void *)0xfff8,  (void *)0x123456789ab0,
                                   (void *)-1l,    (void *)-8l,     (void *)0x7fffffffffffff8l,
                                   (void *)3,      (void *)0x100010};
enum {
    INVENTIONS = sizeof(inventions) / sizeof(inventions[0])
};

static void no_callback(MPI_T_event_instance instance, MPI_T_event_registration registration,
                        MPI_T_cb_safety safety, void *data)
{
}

/* ---- handles that are none ---- */

static void is_no_session(MPI_T_pvar_session session)
{
    MPI_T_pvar_session same = session;
    MPI_T_pvar_handle handle = MPI_T_PVAR_ALL_HANDLES;
    counted value;
    int count;
    CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_readreset(session, handle, &value) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &count) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_free(&same) == MPI_T_ERR_INVALID_SESSION && same == session);
}

static void is_no_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    MPI_T_pvar_handle same = handle;
    counted value;
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_readreset(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_handle_free(session, &same) == MPI_T_ERR_INVALID_HANDLE && same == handle);
    if (handle == MPI_T_PVAR_ALL_HANDLES)
        return;
    CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_INVALID_HANDLE);
}

static void is_no_cvar(MPI_T_cvar_handle handle)
{
    MPI_T_cvar_handle same = handle;
    long long value = 0;
    CHECK(MPI_T_cvar_read(handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_write(handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(&same) == MPI_T_ERR_INVALID_HANDLE && same == handle);
}

static void is_no_registration(MPI_T_event_registration handle)
{
    MPI_Info info;
    CHECK(MPI_T_event_register_callback(handle, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL,
                                        no_callback) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_handle_set_info(handle, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_handle_get_info(handle, &info) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_callback_set_info(handle, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL) ==
          MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_callback_get_info(handle, MPI_T_CB_REQUIRE_NONE, &info) ==
          MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_set_dropped_handler(handle, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_handle_free(handle, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

static void is_no_event(MPI_T_event_instance instance)
{
    MPI_Count time;
    int source, buffer[64];
    CHECK(MPI_T_event_read(instance, 0, buffer) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_copy(instance, buffer) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_get_timestamp(instance, &time) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_event_get_source(instance, &source) == MPI_T_ERR_INVALID_HANDLE);
}

static void is_no_enum(MPI_T_enum handle)
{
    int value;
    CHECK(MPI_T_enum_get_info(handle, &value, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_enum_get_item(handle, 0, &value, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

/* One of each kind. */
struct handles {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle pvar;
    MPI_T_cvar_handle cvar;
    MPI_T_event_registration registration;
};

static struct handles make(void)
{
    struct handles h;
    int count;
    OK(MPI_T_pvar_session_create(&h.session));
    h.pvar = tool_handle(h.session, "eager_messages_sent", NULL, 1);
    OK(MPI_T_cvar_handle_alloc(0, NULL, &h.cvar, &count));
    OK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &h.registration));
    OK(MPI_T_event_register_callback(h.registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL,
                                     no_callback));
    return h;
}

static void are_gone(struct handles *h)
{
    MPI_T_pvar_session session;
    is_no_session(h->session);
    OK(MPI_T_pvar_session_create(&session));
    is_no_pvar(session, h->pvar);
    OK(MPI_T_pvar_session_free(&session));
    is_no_cvar(h->cvar);
    is_no_registration(h->registration);
}

static void wrong_kinds(void)
{
    struct handles h = make();
    void *all[] = {h.session, h.pvar, h.cvar, h.registration};
    for (int i = 0; i < 4 + INVENTIONS; i++) {
        void *handle = i < 4 ? all[i] : inventions[i - 4];
        if (handle != h.session)
            is_no_session((MPI_T_pvar_session)handle);
        if (handle != h.pvar)
            is_no_pvar(h.session, (MPI_T_pvar_handle)handle);
        if (handle != h.cvar)
            is_no_cvar((MPI_T_cvar_handle)handle);
        if (handle != h.registration)
            is_no_registration((MPI_T_event_registration)handle);
        is_no_event((MPI_T_event_instance)handle);
        is_no_enum((MPI_T_enum)handle);
    }
    struct handles freed = h;
    OK(MPI_T_cvar_handle_free(&h.cvar));
    OK(MPI_T_pvar_handle_free(h.session, &h.pvar));
    OK(MPI_T_event_handle_free(h.registration, NULL, NULL));
    CHECK(h.cvar == MPI_T_CVAR_HANDLE_NULL && h.pvar == MPI_T_PVAR_HANDLE_NULL);
    is_no_pvar(h.session, freed.pvar);
    struct handles again = make(); /* may lie where the freed ones were */
    is_no_pvar(again.session, freed.pvar);
    is_no_cvar(freed.cvar);
    is_no_registration(freed.registration);
    OK(MPI_T_pvar_session_free(&h.session));
    is_no_session(freed.session);
    OK(MPI_T_pvar_session_free(&again.session));
    is_no_session(again.session);
    OK(MPI_T_cvar_handle_free(&again.cvar));
    OK(MPI_T_event_handle_free(again.registration, NULL, NULL));
    are_gone(&freed);
    for (int i = 0; i < 5000; i++) { /* and none of so many is the first again */
        struct handles more = make();
        CHECK(more.cvar != freed.cvar && more.session != freed.session && more.pvar != freed.pvar &&
              more.registration != freed.registration);
        OK(MPI_T_pvar_session_free(&more.session));
        OK(MPI_T_cvar_handle_free(&more.cvar));
        OK(MPI_T_event_handle_free(more.registration, NULL, NULL));
    }
}

/* ---- arguments ---- */

static void no_room(void)
{
    struct handles h = make();
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_handle pvar;
    MPI_T_event_registration registration;
    MPI_Info info;
    int count, index, bad[] = {-1, 100000, 0x7fffffff, -0x7fffffff - 1};
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_init_thread(77, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_source_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_changed(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_num_events(0, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_cvars(0, 1, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_pvars(0, -1, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_index(NULL, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_index("VIREO_LOG", NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_get_index(NULL, &index) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_get_index("vireo", NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_index("VIREO_NONE", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_index("", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_get_index("wakeups", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_index("wakeups", MPI_T_PVAR_CLASS_LEVEL, &index) ==
          MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_get_index("wakeups", 99, &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_session_create(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_session_free(NULL) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_handle_alloc(h.session, 0, NULL, NULL, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(h.session, 0, NULL, &pvar, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_free(h.session, NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, &cvar, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_free(NULL) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_read(h.cvar, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(h.cvar, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_handle_get_info(h.registration, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_callback_get_info(h.registration, MPI_T_CB_REQUIRE_NONE, NULL) ==
          MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_callback_get_info(h.registration, MPI_T_CB_REQUIRE_THREAD_SAFE, &info) ==
          MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_register_callback(h.registration, (MPI_T_cb_safety)77, MPI_INFO_NULL, NULL,
                                        no_callback) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_source_get_timestamp(0, NULL) == MPI_T_ERR_INVALID);
    for (int i = 0; i < 4; i++) {
        CHECK(MPI_T_pvar_handle_alloc(h.session, bad[i], NULL, &pvar, &count) ==
              MPI_T_ERR_INVALID_INDEX);
        CHECK(MPI_T_cvar_handle_alloc(bad[i], NULL, &cvar, &count) == MPI_T_ERR_INVALID_INDEX);
        CHECK(MPI_T_event_handle_alloc(bad[i], NULL, MPI_INFO_NULL, &registration) ==
              MPI_T_ERR_INVALID_INDEX);
        CHECK(MPI_T_category_get_categories(bad[i], 1, &index) == MPI_T_ERR_INVALID_INDEX);
        CHECK(MPI_T_category_get_events(bad[i], 1, &index) == MPI_T_ERR_INVALID_INDEX);
        MPI_Count time;
        CHECK(MPI_T_source_get_timestamp(bad[i], &time) == MPI_T_ERR_INVALID_INDEX);
    }
    OK(MPI_T_pvar_session_free(&h.session));
    OK(MPI_T_cvar_handle_free(&h.cvar));
    OK(MPI_T_event_handle_free(h.registration, NULL, NULL));
}

/* Of a text, what there is room for, and how much there should be. */
static void texts(void)
{
    char whole[MOST], part[MOST];
    int len = MOST, more = 0;
    OK(MPI_T_cvar_get_info(0, whole, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(len == (int)strlen(whole) + 1 && len > 4);
    for (int room = -1; room <= len + 1; room++) {
        memset(part, '#', sizeof(part));
        more = room;
        OK(MPI_T_cvar_get_info(0, part, &more, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        int kept = room < len ? room - 1 : len - 1;
        CHECK(more == len);
        CHECK(room <= 0 ? part[0] == '#' : !memcmp(part, whole, (size_t)kept) && !part[kept]);
        CHECK(part[kept < 0 ? 0 : kept + 1] == '#');
    }
    more = 7;
    OK(MPI_T_cvar_get_info(0, NULL, &more, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(more == len);
}

/* ---- categories ---- */

typedef int list_fn(int category, int len, int indices[]);

static int seen[4][MOST];

static void members(int category, list_fn *list, int kind, int count)
{
    int indices[MOST + 1];
    CHECK(count >= 0 && count < MOST);
    for (int room = 0; room <= count + 1; room++) {
        memset(indices, -1, sizeof(indices));
        OK(list(category, room, indices));
        for (int i = 0; i < room && i < count; i++)
            CHECK(indices[i] >= 0 && indices[i] < MOST);
        CHECK(indices[room < count ? room : count] == -1);
    }
    for (int i = 0; i < count; i++)
        seen[kind][indices[i]]++;
}

/* Each variable and each type of events is in one category, and all but one are in another. */
static void categories(void)
{
    int count, cvars, pvars, events, below, stamp, later, roots = 0, all[4] = {0};
    memset(seen, 0, sizeof(seen));
    OK(MPI_T_category_changed(&stamp));
    OK(MPI_T_category_get_num(&count));
    for (int i = 0; i <= count; i++) {
        char name[MOST], about[MOST];
        int name_len = MOST, about_len = MOST, index = -1;
        int rc =
            MPI_T_category_get_info(i, name, &name_len, about, &about_len, &cvars, &pvars, &below);
        CHECK(rc == (i < count ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX));
        CHECK(MPI_T_category_get_num_events(i, &events) == rc);
        if (rc)
            continue;
        OK(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        OK(MPI_T_category_get_index(name, &index));
        CHECK(index == i && about[0]);
        members(i, MPI_T_category_get_cvars, 0, cvars);
        members(i, MPI_T_category_get_pvars, 1, pvars);
        members(i, MPI_T_category_get_events, 2, events);
        members(i, MPI_T_category_get_categories, 3, below);
    }
    OK(MPI_T_cvar_get_num(&all[0]));
    OK(MPI_T_pvar_get_num(&all[1]));
    OK(MPI_T_event_get_num(&all[2]));
    all[3] = count;
    for (int kind = 0; kind < 4; kind++)
        for (int i = 0; i < MOST; i++) {
            int want = i < all[kind];
            roots += kind == 3 && want && !seen[kind][i];
            CHECK(seen[kind][i] == want || (kind == 3 && !seen[kind][i]));
        }
    CHECK(roots == 1);
    OK(MPI_T_category_changed(&later));
    CHECK(later == stamp);
}

/* ---- life ---- */

static void off(void)
{
    int n;
    MPI_T_pvar_session session;
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_event_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_source_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_category_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_category_changed(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_event_get_index("x", &n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL) == MPI_T_ERR_NOT_INITIALIZED);
}

/* All that there is to say, and handles, whether MPI runs or not. */
static void on(void)
{
    int level;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    CHECK(level == MPI_THREAD_SINGLE);
    struct handles h = make();
    OK(MPI_T_init_thread(MPI_THREAD_FUNNELED, &level));
    CHECK(level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SINGLE);
    categories();
    texts();
    no_room();
    wrong_kinds();
    OK(MPI_T_finalize());
    OK(MPI_T_pvar_start(h.session, h.pvar)); /* the first use goes on */
    OK(MPI_T_finalize());
    off();
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    are_gone(&h);
    OK(MPI_T_finalize());
    off();
}

/* Without MPI nothing has happened, and there is no communicator to bind a variable to. */
static void nothing_yet(void)
{
    int level, variables, bind, count;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_num(&variables));
    for (int i = 0; i < variables; i++) {
        counted value[2] = {77, 77};
        OK(MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                               NULL));
        int rc = MPI_T_pvar_handle_alloc(session, i, &world, &handle, &count);
        CHECK(rc == (bind == MPI_T_BIND_NO_OBJECT ? MPI_SUCCESS : MPI_T_ERR_INVALID));
        if (rc)
            continue;
        OK(MPI_T_pvar_read(session, handle, value));
        CHECK(count == 1 && value[0] == 0 && value[1] == 77); /* 0.0 has no bits either */
    }
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
}

/* Handles count on through as many epochs of MPI as there are. */
static void epochs(void)
{
    MPI_T_pvar_session counts;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    char byte = 1;
    int level;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    OK(MPI_T_pvar_session_create(&counts));
    MPI_T_pvar_handle bytes = tool_handle(counts, "channel_loopback_bytes_sent", NULL, 1);
    OK(MPI_T_pvar_start(counts, bytes));
    for (int i = 1; i <= 3; i++) {
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
        OK(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        counted before = tool_read(counts, bytes);
        OK(MPI_Sendrecv(&byte, 1, MPI_BYTE, 0, 1, &byte, 1, MPI_BYTE, 0, 1, comm,
                        MPI_STATUS_IGNORE));
        SAME(tool_read(counts, bytes), before + 1);
        OK(MPI_Group_free(&group));
        OK(MPI_Comm_free(&comm));
        OK(MPI_Session_finalize(&session));
        SAME(tool_read(counts, bytes), before + 1);
    }
    OK(MPI_T_finalize());
}

/* What is set before MPI_Init counts. */
static void set_channels(const char *channels)
{
    int index, level, count;
    MPI_T_cvar_handle handle;
    static char text[1 << 16];
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    OK(MPI_T_cvar_get_index("VIREO_CHANNELS", &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK(count < (int)sizeof(text));
    snprintf(text, sizeof(text), "%s", channels);
    OK(MPI_T_cvar_write(handle, text));
    memset(text, 'x', sizeof(text));
    OK(MPI_T_cvar_read(handle, text));
    CHECK(!strcmp(text, channels));
    memset(text, 'x', sizeof(text));
    CHECK(MPI_T_cvar_write(handle, text) == MPI_T_ERR_INVALID); /* it has no end */
    OK(MPI_T_finalize());
}

static void used_channel(const char *channels)
{
    int level, size, states[64], len = MOST;
    char name[MOST];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_session session;
    MPI_T_enum words;
    OK(MPI_Comm_size(world, &size));
    OK(MPI_Barrier(world));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle handle = tool_handle(session, "peer_channel", &world, size);
    OK(MPI_T_pvar_read(session, handle, states));
    OK(MPI_T_pvar_get_info(tool_pvar("peer_channel"), NULL, NULL, NULL, NULL, NULL, &words, NULL,
                           NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_enum_get_item(words, states[1 - check_rank(world)], NULL, name, &len));
    CHECK(!strncmp(channels, name, strlen(name)));
    OK(MPI_T_finalize()); /* with all that is left */
}

/* ---- a tool of its own thread ---- */

static _Atomic int over, rounds;

/* Comes and goes, and asks for everything, while MPI starts, runs and ends. */
static void *pester(void *arg)
{
    static _Thread_local char text[1 << 16];
    static _Thread_local counted values[64];
    while (!over) {
        int level, count, variables;
        MPI_T_pvar_session session;
        MPI_T_pvar_handle handle;
        MPI_T_cvar_handle cvar;
        MPI_Info info;
        OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
        CHECK(level == MPI_THREAD_MULTIPLE);
        struct handles h = make();
        OK(MPI_T_pvar_session_create(&session));
        OK(MPI_T_pvar_get_num(&variables));
        for (int i = 0; i < variables; i++)
            if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) == MPI_SUCCESS)
                OK(MPI_T_pvar_read(session, handle, values));
        OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_session_free(&session));
        OK(MPI_T_cvar_get_num(&variables));
        for (int i = 0; i < variables; i++) {
            OK(MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count));
            OK(MPI_T_cvar_read(cvar, text));
            int rc = MPI_T_cvar_write(cvar, text);
            CHECK(rc == MPI_SUCCESS || rc == MPI_T_ERR_CVAR_SET_NEVER);
            OK(MPI_T_cvar_handle_free(&cvar));
        }
        OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &info));
        OK(MPI_Info_free(&info));
        OK(MPI_T_pvar_session_free(&h.session));
        OK(MPI_T_cvar_handle_free(&h.cvar));
        OK(MPI_T_event_handle_free(h.registration, NULL, NULL));
        OK(MPI_T_finalize());
        rounds++;
    }
    return NULL;
}

static void wait_rounds(int more)
{
    for (int until = rounds + more; rounds < until;)
        usleep(1000);
}

/* MPI itself is asked for no threads. */
static void attached(int *argc, char ***argv)
{
    pthread_t threads[2];
    int level, rank, size, in, sum = 0;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&threads[i], NULL, pester, NULL));
    wait_rounds(2);
    OK(MPI_Init(argc, argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < 200; i++) {
        OK(MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
                        (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        sum += in;
    }
    CHECK(sum == 199 * 200 / 2);
    wait_rounds(2);
    OK(MPI_Finalize());
    wait_rounds(2);
    over = 1;
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_join(threads[i], NULL));
    OK(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    const char *channels = argc > 2 ? argv[2] : NULL;
    int alone = argc > 1 && !strcmp(argv[1], "alone");
    if (argc > 1 && !strcmp(argv[1], "attached")) {
        attached(&argc, &argv);
        return 0;
    }
    off();
    on();
    nothing_yet();
    if (alone)
        return 0;
    if (argc > 1 && !strcmp(argv[1], "epochs")) {
        epochs();
        on();
        return 0;
    }
    if (channels)
        set_channels(channels);
    OK(MPI_Init(&argc, &argv));
    if (channels)
        used_channel(channels);
    on();
    OK(MPI_Finalize());
    on();
    return 0;
}
