/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads ask for what one thread changes all the time: each answer was true as a whole at some
 * moment, and no object is used that is gone. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "threads.h"

enum {
    ASKING = 8,
    ALL = ASKING + 1,
    ROUNDS = 3000,
    LETTERS = 20,
    CODES = 40,
    LEN_MAX = 6 * LETTERS
};

static _Atomic int asking = ASKING;
static MPI_Comm comm, named;
static MPI_Datatype type;
static MPI_Info info;
static MPI_Session session;
static _Atomic int codes[CODES]; /* even ones stay, the others come and go */
static int error_class, keyval;

/* ---- texts: of one letter, of which each has a length of its own ---- */

static const char *text_of(int i, char text[LEN_MAX + 1])
{
    int letter = i % LETTERS, len = 6 * (letter + 1);
    memset(text, 'a' + letter, (size_t)len);
    text[len] = 0;
    return text;
}

static bool is_whole(const char *text, int len)
{
    char right[LEN_MAX + 1];
    int letter = text[0] - 'a';
    return letter >= 0 && letter < LETTERS && !strcmp(text, text_of(letter, right)) &&
           len == (int)strlen(right);
}

static bool is_whole_or_empty(const char *text, int len)
{
    return (!text[0] && !len) || is_whole(text, len);
}

/* ---- error handlers ---- */

static void on_comm(MPI_Comm *on, int *code, ...)
{
    CHECK(*on == comm && *code == MPI_ERR_OTHER);
}

static void on_file(MPI_File *on, int *code, ...)
{
    CHECK(*on == MPI_FILE_NULL && *code == MPI_ERR_OTHER);
}

static void on_session(MPI_Session *on, int *code, ...)
{
    CHECK(*on == session && *code == MPI_ERR_OTHER);
}

/* The user's, of which only the object knows after this, or a predefined one. */
static void change_handlers(int i)
{
    MPI_Errhandler handler[3] = {MPI_ERRORS_RETURN, MPI_ERRORS_RETURN, MPI_ERRORS_RETURN};
    if (i % 3) {
        OK(MPI_Comm_create_errhandler(on_comm, &handler[0]));
        OK(MPI_File_create_errhandler(on_file, &handler[1]));
        OK(MPI_Session_create_errhandler(on_session, &handler[2]));
    }
    OK(MPI_Comm_set_errhandler(comm, handler[0]));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler[1]));
    OK(MPI_Session_set_errhandler(session, handler[2]));
    for (int k = 0; k < 3 && i % 3; k++)
        OK(MPI_Errhandler_free(&handler[k]));
}

static void ask_handlers(void)
{
    MPI_Errhandler handler[3];
    OK(MPI_Comm_get_errhandler(comm, &handler[0]));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &handler[1]));
    OK(MPI_Session_get_errhandler(session, &handler[2]));
    for (int k = 0; k < 3; k++) {
        CHECK(handler[k] != MPI_ERRHANDLER_NULL && handler[k] != MPI_ERRORS_ARE_FATAL);
        OK(MPI_Errhandler_free(&handler[k]));
    }
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER));
    OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
}

/* ---- names ---- */

static void change_names(int i)
{
    char text[LEN_MAX + 1];
    OK(MPI_Comm_set_name(named, text_of(i, text)));
    OK(MPI_Type_set_name(type, text_of(i + 1, text)));
}

/* An error's text has the name in it, while it is not too long ago. */
static void ask_names(int i)
{
    char text[MPI_MAX_ERROR_STRING], tag[32];
    int len = -1;
    OK(MPI_Comm_get_name(named, text, &len));
    CHECK(is_whole(text, len));
    OK(MPI_Type_get_name(type, text, &len));
    CHECK(is_whole(text, len));
    int code = MPI_Send(NULL, 0, MPI_INT, 0, -3 - i, named);
    FAILS(MPI_ERR_TAG, code);
    OK(MPI_Error_string(code, text, &len));
    snprintf(tag, sizeof(tag), "tag %d:", -3 - i);
    char *name = strchr(text, '\'');
    CHECK(len == (int)strlen(text));
    CHECK(!strncmp(text, name ? "MPI_Send: tag -" : "MPI_ERR_TAG: ", 12));
    if (name && strstr(text, tag)) {
        name[1 + strcspn(name + 1, "'")] = 0;
        CHECK(is_whole(name + 1, (int)strlen(name + 1)));
    }
}

/* ---- infos, and what they tell communicators ---- */

static void change_infos(int i)
{
    char text[LEN_MAX + 1];
    OK(MPI_Info_set(info, "key", text_of(i, text)));
    if (i % 2)
        OK(MPI_Info_set(info, "more", text_of(i + 1, text)));
    else
        OK(MPI_Info_delete(info, "more"));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", i % 4 ? "true" : "false"));
    OK(MPI_Comm_set_info(named, info));
}

static void ask_value(MPI_Info of, const char *key, bool always)
{
    char text[LEN_MAX + 1];
    int len = sizeof(text), flag = -1;
    OK(MPI_Info_get_string(of, key, &len, text, &flag));
    CHECK(flag ? is_whole(text, len - 1) : !always);
}

static void ask_infos(void)
{
    char text[MPI_MAX_INFO_VAL];
    int count = -1, len = sizeof(text), flag = -1;
    MPI_Info copy;
    ask_value(info, "key", true);
    ask_value(info, "more", false);
    OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count == 2 || count == 3);
    OK(MPI_Info_get_nthkey(info, 0, text));
    CHECK(!strcmp(text, "key"));
    OK(MPI_Info_get_valuelen(info, "key", &count, &flag));
    CHECK(flag && count % 6 == 0);
    OK(MPI_Info_dup(info, &copy));
    ask_value(copy, "key", true);
    ask_value(copy, "more", false);
    OK(MPI_Info_free(&copy));
    OK(MPI_Comm_get_info(named, &copy));
    OK(MPI_Info_get_string(copy, "mpi_assert_no_any_tag", &len, text, &flag));
    CHECK(flag && (!strcmp(text, "true") || !strcmp(text, "false")));
    OK(MPI_Info_free(&copy));
    len = sizeof(text);
    OK(MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &len, text, &flag));
    CHECK(flag && !strcmp(text, "MPI_THREAD_MULTIPLE"));
}

/* ---- codes and attributes of the user ---- */

static void change_codes(int i)
{
    char text[LEN_MAX + 1];
    int odd = 2 * (i % (CODES / 2)) + 1, even = odd - 1, code = codes[odd];
    if (code) {
        OK(MPI_Remove_error_string(code));
        OK(MPI_Remove_error_code(code));
        codes[odd] = 0;
    } else {
        OK(MPI_Add_error_code(error_class, &code));
        OK(MPI_Add_error_string(code, text_of(i, text)));
        codes[odd] = code;
    }
    if (!codes[even]) {
        OK(MPI_Add_error_code(MPI_ERR_IO, &code));
        codes[even] = code;
    }
    OK(MPI_Add_error_string(codes[even], text_of(i + 1, text)));
    if (i % 8 == 0)
        OK(MPI_Remove_error_string(codes[even]));
}

static void ask_codes(int i)
{
    char text[MPI_MAX_ERROR_STRING];
    int which = i % CODES, code = codes[which], of = -1, len = -1;
    if (!code)
        return;
    OK(MPI_Error_class(code, &of));
    if (which % 2 == 0) {
        CHECK(of == MPI_ERR_IO);
        OK(MPI_Error_string(code, text, &len));
        CHECK(is_whole_or_empty(text, len));
        return;
    }
    /* It may be gone, or be another's: of the same class, or of one that stays. */
    CHECK(of == error_class || of == MPI_ERR_IO || of == MPI_ERR_UNKNOWN);
    if (!MPI_Error_string(code, text, &len))
        CHECK(is_whole_or_empty(text, len));
}

/* Keyvals come and go beside one that is there, and that this communicator has nothing of. */
static void change_keyvals(int i)
{
    static int keyvals[64];
    int *slot = &keyvals[i % 64];
    if (i >= 64)
        OK(MPI_Comm_free_keyval(slot));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, slot, NULL));
}

static void ask_attributes(void)
{
    void *value = NULL;
    int flag = -1;
    OK(MPI_Comm_get_attr(named, keyval, &value, &flag));
    CHECK(!flag);
    OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    CHECK(flag && value == &asking);
}

/* ---- numbers of handles ---- */

/* Some objects stay, so that more and more have numbers. */
static void ask_numbers(MPI_Datatype kept[ROUNDS / 8], int i)
{
    int number = MPI_Comm_toint(comm);
    if (i % 8 == 0)
        OK(MPI_Type_dup(type, &kept[i / 8]));
    MPI_Datatype mine = kept[i / 8];
    CHECK(MPI_Comm_fromint(number) == comm && MPI_Comm_toint(comm) == number);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    CHECK(MPI_Type_toint(mine) != number && MPI_Type_fromint(MPI_Type_toint(mine)) == mine);
    CHECK(!MPI_Type_fromint(1000000000));
}

/* Fortran's kinds: predefined types that are made when they are asked for. */
static void ask_types(int i)
{
    MPI_Datatype one, two;
    int size = -1;
    OK(MPI_Type_create_f90_integer(1 + i % 9, &one));
    OK(MPI_Type_create_f90_integer(1 + i % 9, &two));
    OK(MPI_Type_size(one, &size));
    CHECK(one == two && size >= 1 && size <= 4);
    OK(MPI_Type_get_value_index(MPI_INT64_T, i % 2 ? MPI_INT8_T : MPI_INT16_T, &one));
    OK(MPI_Type_get_value_index(MPI_INT64_T, i % 2 ? MPI_INT8_T : MPI_INT16_T, &two));
    CHECK(one == two && one != MPI_DATATYPE_NULL);
}

/* ---- all ---- */

static void *work(void *arg)
{
    const struct thread *thread = arg;
    MPI_Datatype kept[ROUNDS / 8];
    if (thread->number == ASKING) {
        for (int i = 1; atomic_load(&asking); i++) {
            change_handlers(i);
            change_names(i);
            change_infos(i);
            change_codes(i);
            change_keyvals(i - 1);
        }
        return NULL;
    }
    for (int i = 0; i < ROUNDS; i++) {
        ask_handlers();
        ask_names(i);
        ask_infos();
        ask_codes(i + thread->number);
        ask_attributes();
        ask_numbers(kept, i);
        ask_types(i);
    }
    for (int i = 0; i < ROUNDS / 8; i++)
        OK(MPI_Type_free(&kept[i]));
    atomic_fetch_sub(&asking, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[ALL];
    threads_init(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &named));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Info_create(&info));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Add_error_class(&error_class));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_set_attr(comm, keyval, &asking));
    change_names(0);
    change_infos(1);
    threads_run(threads, ALL, work);
    for (int i = 0; i < CODES; i++)
        if (codes[i]) {
            (void)MPI_Remove_error_string(codes[i]); /* some have none */
            OK(MPI_Remove_error_code(codes[i]));
        }
    OK(MPI_Remove_error_class(error_class));
    OK(MPI_Session_finalize(&session));
    OK(MPI_Info_free(&info));
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&named));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Finalize());
    return 0;
}
