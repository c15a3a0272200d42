/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Control variables are the settings: their values are those of the environment, each has the type
 * that its description says, takes what that setting takes and nothing else, as long as it can be
 * set, and what is set before MPI_Init counts. With "wrong", a variable of the environment that is
 * none keeps the tool from starting.
 */
#include <stdlib.h>

#include "tool.h"

enum {
    TEXT = 1 << 16,
    CREDIT = 4096
};

struct variable {
    int index, scope, count;
    MPI_Datatype type;
    MPI_T_enum words;
    MPI_T_cvar_handle handle;
    char name[256], about[1024];
};

static struct variable open_at(int index)
{
    struct variable v = {.index = index};
    int name_len = sizeof(v.name), about_len = sizeof(v.about), bind, verbosity, there = -1;
    OK(MPI_T_cvar_get_info(index, v.name, &name_len, &verbosity, &v.type, &v.words, v.about,
                           &about_len, &bind, &v.scope));
    OK(MPI_T_cvar_get_index(v.name, &there));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &v.handle, &v.count));
    CHECK(there == index && bind == MPI_T_BIND_NO_OBJECT);
    CHECK(verbosity == MPI_T_VERBOSITY_USER_BASIC || verbosity == MPI_T_VERBOSITY_TUNER_BASIC);
    CHECK(!strncmp(v.name, "VIREO_", 6) && strstr(v.about, "Default: "));
    CHECK(name_len == (int)strlen(v.name) + 1 && about_len == (int)strlen(v.about) + 1);
    return v;
}

static struct variable open_named(const char *name)
{
    int index = -1;
    OK(MPI_T_cvar_get_index(name, &index));
    return open_at(index);
}

static long long number(const struct variable *v)
{
    MPI_Count value = -77;
    CHECK(v->type == MPI_COUNT && v->count == 1);
    OK(MPI_T_cvar_read(v->handle, &value));
    return value;
}

static int item(const struct variable *v)
{
    int value = -77;
    CHECK(v->type == MPI_INT && v->count == 1 && v->words != MPI_T_ENUM_NULL);
    OK(MPI_T_cvar_read(v->handle, &value));
    return value;
}

/* Whether it can be set, and if so that it takes every word and no other number. */
static int words(const struct variable *v)
{
    int items, value, before = item(v), rc = MPI_T_cvar_write(v->handle, &before);
    OK(MPI_T_enum_get_info(v->words, &items, NULL, NULL));
    CHECK(before >= 0 && before < items);
    for (int i = -1; i <= items; i++) {
        int good = i >= 0 && i < items;
        OK(good ? MPI_T_enum_get_item(v->words, i, &value, NULL, NULL) : MPI_SUCCESS);
        CHECK(!good || value == i);
        CHECK(MPI_T_cvar_write(v->handle, &i) == (rc     ? rc
                                                  : good ? MPI_SUCCESS
                                                         : MPI_T_ERR_INVALID));
        CHECK(item(v) == (rc || i < 0 ? before : good ? i : items - 1));
    }
    CHECK(MPI_T_enum_get_item(v->words, items, &value, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_item(v->words, -1, &value, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_write(v->handle, &before) == rc);
    return rc;
}

static int numbers(const struct variable *v)
{
    MPI_Count before = number(v), value = 12345;
    int rc = MPI_T_cvar_write(v->handle, &value);
    CHECK(number(v) == (rc ? before : value));
    CHECK(MPI_T_cvar_write(v->handle, &before) == rc);
    CHECK(number(v) == before);
    return rc;
}

static int texts(const struct variable *v)
{
    static char before[TEXT], text[TEXT];
    CHECK(v->type == MPI_CHAR && v->count >= 512 && v->count < TEXT);
    OK(MPI_T_cvar_read(v->handle, before));
    int rc = MPI_T_cvar_write(v->handle, "a,b");
    memset(text, '#', sizeof(text));
    OK(MPI_T_cvar_read(v->handle, text));
    CHECK(!strcmp(text, rc ? before : "a,b") && text[v->count] == '#');
    memset(text, 'y', sizeof(text));
    CHECK(MPI_T_cvar_write(v->handle, text) == (rc ? rc : MPI_T_ERR_INVALID));
    CHECK(MPI_T_cvar_write(v->handle, before) == rc);
    OK(MPI_T_cvar_read(v->handle, text));
    CHECK(!strcmp(text, before));
    return rc;
}

/* While MPI runs, what is written is loaded: a channel that there is not is refused. */
static void channel_path(const struct variable *v)
{
    static char before[TEXT], text[TEXT];
    OK(MPI_T_cvar_read(v->handle, before));
    CHECK(MPI_T_cvar_write(v->handle, "a,b") == MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(v->handle, text));
    CHECK(!strcmp(text, before));
    OK(MPI_T_cvar_write(v->handle, before));
}

static int is_any_time(const char *name)
{
    return !strcmp(name, "VIREO_LOG") || !strcmp(name, "VIREO_REPORT") ||
           !strcmp(name, "VIREO_CONNECT_TIMEOUT_MS") || !strcmp(name, "VIREO_IO_REPORT") ||
           !strcmp(name, "VIREO_CHANNEL_PATH");
}

/* All of them, once before and once after the start of MPI. */
static void all(int started)
{
    int count, known = 0, ended = 0;
    OK(MPI_Finalized(&ended));
    OK(MPI_T_cvar_get_num(&count));
    for (int i = 0; i < count; i++) {
        struct variable v = open_at(i);
        if (started && !ended && !strcmp(v.name, "VIREO_CHANNEL_PATH")) {
            channel_path(&v);
            known++;
            OK(MPI_T_cvar_handle_free(&v.handle));
            continue;
        }
        int rc = v.type == MPI_INT ? words(&v) : v.type == MPI_COUNT ? numbers(&v) : texts(&v);
        CHECK((v.words != MPI_T_ENUM_NULL) == (v.type == MPI_INT));
        if (v.scope == MPI_T_SCOPE_READONLY)
            CHECK(rc == MPI_T_ERR_CVAR_SET_NEVER);
        else if (started)
            CHECK(rc == (is_any_time(v.name) ? MPI_SUCCESS : MPI_T_ERR_CVAR_SET_NEVER));
        else
            CHECK(rc == MPI_SUCCESS);
        known += is_any_time(v.name);
        OK(MPI_T_cvar_handle_free(&v.handle));
    }
    CHECK(known == 5);
}

/* What the environment says, in the library's own words. */
static void environment(void)
{
    static char text[TEXT];
    char name[32];
    int len = sizeof(name);
    struct variable v = open_named("VIREO_SPIN_US");
    CHECK(number(&v) == 17 && v.scope == MPI_T_SCOPE_LOCAL && strstr(v.about, "Unit: us."));
    v = open_named("VIREO_CONNECT_TIMEOUT_MS");
    CHECK(number(&v) == 20000 && strstr(v.about, "Default: 20000."));
    v = open_named("VIREO_REGION_AFTER");
    CHECK(v.scope == MPI_T_SCOPE_ALL_EQ);
    v = open_named("VIREO_EAGER_CREDIT");
    CHECK(number(&v) == 2 << 20 && v.scope == MPI_T_SCOPE_ALL_EQ);
    MPI_Count bad = -1;
    CHECK(MPI_T_cvar_write(v.handle, &bad) == MPI_T_ERR_INVALID && number(&v) == 2 << 20);
    v = open_named("VIREO_LOG");
    OK(MPI_T_enum_get_item(v.words, item(&v), NULL, name, &len));
    CHECK(!strcmp(name, "error") && v.scope == MPI_T_SCOPE_LOCAL);
    v = open_named("VIREO_SINGLE_COPY");
    CHECK(item(&v) == 0);
    v = open_named("VIREO_TCP_ADDRESSES");
    OK(MPI_T_cvar_read(v.handle, text));
    CHECK(!strcmp(text, "127.0.0.1"));
    v = open_named("VIREO_KILL_AFTER_MS");
    CHECK(number(&v) == 1000 && v.scope == MPI_T_SCOPE_READONLY);
}

/* With little credit, what is not received yet has to ask first. */
static void takes_effect(void)
{
    enum {
        MESSAGES = 10,
        BYTES = 1000
    };
    MPI_Request requests[MESSAGES];
    MPI_T_pvar_session session;
    char data[BYTES] = "";
    counted eager, asked;
    OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle sent = tool_handle(session, "eager_messages_sent", NULL, 1);
    MPI_T_pvar_handle rndv = tool_handle(session, "rendezvous_messages_sent", NULL, 1);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    for (int i = 0; i < MESSAGES; i++)
        OK(MPI_Isend(data, BYTES, MPI_BYTE, 0, i, MPI_COMM_SELF, &requests[i]));
    for (int i = 0; i < MESSAGES; i++)
        OK(MPI_Recv(data, BYTES, MPI_BYTE, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
    eager = tool_read(session, sent);
    asked = tool_read(session, rndv);
    SAME(eager + asked, MESSAGES);
    CHECK(eager > 0 && eager <= CREDIT / BYTES && asked > 0);
    OK(MPI_T_pvar_session_free(&session));
}

int main(int argc, char **argv)
{
    int level;
    MPI_Count credit = CREDIT;
    if (argc > 1) {
        setenv("VIREO_NONSENSE", "1", 1);
        CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_T_ERR_CANNOT_INIT);
        CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
        return 0;
    }
    setenv("VIREO_SPIN_US", "17", 1);
    setenv("VIREO_EAGER_CREDIT", "2M", 1);
    setenv("VIREO_LOG", "error", 1);
    setenv("VIREO_SINGLE_COPY", "no", 1);
    setenv("VIREO_TCP_ADDRESSES", "127.0.0.1", 1);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    environment();
    setenv("VIREO_SPIN_US", "nonsense", 1); /* too late */
    all(0);
    struct variable v = open_named("VIREO_EAGER_CREDIT");
    OK(MPI_T_cvar_write(v.handle, &credit));
    OK(MPI_Init(&argc, &argv));
    all(1);
    CHECK(number(&v) == CREDIT);
    takes_effect();
    OK(MPI_Finalize());
    all(1);
    OK(MPI_T_finalize());
    return 0;
}
