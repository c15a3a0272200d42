/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What is called while MPI ends. MPI_Finalize and the last MPI_Session_finalize run callbacks: of the
 * attributes of MPI_COMM_SELF, and of a tool that hears of a message which comes meanwhile. These
 * begin and end sessions, leave one behind, and use MPI_T. The argument says which end it is:
 *
 *   attributes  MPI_Finalize deletes attributes
 *   world       MPI_Finalize waits for a peer
 *   session     the last MPI_Session_finalize waits until a message is out
 *   buffer      the same, of a message that is in the attached buffer
 *
 * All but the first are for pairs of ranks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { LARGE = 4 << 20, SOON_US = 100000 };
enum { LEAVE = 1, HEARD = 2 }; /* tags */

static int calls;
static MPI_Session left_behind = MPI_SESSION_NULL;
static char *large, *attached;

static void begin(MPI_Session *session, const char *set, MPI_Comm *comm)
{
    MPI_Group group;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session));
    OK(MPI_Group_from_session_pset(*session, set, &group));
    OK(MPI_Comm_create_from_group(group, "ends", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm));
    OK(MPI_Group_free(&group));
}

/* One session that ends, one that stays, and MPI_T. */
static void use_all(void)
{
    MPI_Session session;
    MPI_T_pvar_session variables;
    MPI_Comm comm;
    int level, one = 1, sum = 0, value, count;
    MPI_T_cvar_handle setting;
    calls++;
    begin(&session, "mpi://SELF", &comm);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == 1);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    if (left_behind == MPI_SESSION_NULL)
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &left_behind));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    OK(MPI_T_pvar_session_create(&variables));
    (void)tool_read(variables, tool_handle(variables, "posted_receives", NULL, 1));
    OK(MPI_T_cvar_get_num(&count));
    CHECK(count > 0);
    OK(MPI_T_cvar_get_index("VIREO_EAGER_CREDIT", &value));
    OK(MPI_T_cvar_handle_alloc(value, NULL, &setting, &count));
    OK(MPI_T_cvar_handle_free(&setting));
    OK(MPI_T_pvar_session_free(&variables));
    OK(MPI_T_finalize());
}

static void end_what_is_left(void)
{
    MPI_Comm comm;
    MPI_Session session;
    CHECK(calls > 0 && left_behind != MPI_SESSION_NULL);
    begin(&session, "mpi://WORLD", &comm);
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    OK(MPI_Session_finalize(&left_behind));
}

/* ---- attributes ---- */

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int provided = -1;
    use_all();
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_OTHER, MPI_Finalize());
    FAILS(MPI_ERR_OTHER, MPI_Init(NULL, NULL));
    OK(MPI_Query_thread(&provided));
    CHECK(provided == MPI_THREAD_SINGLE);
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int keyval;
    OK(MPI_Init(NULL, NULL));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
        OK(MPI_Comm_free_keyval(&keyval));
    }
    OK(MPI_Finalize());
    CHECK(calls == 2);
    end_what_is_left();
}

/* ---- events ---- */

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void *arg)
{
    int tag = -1;
    OK(MPI_T_event_read(instance, 3, &tag));
    if (tag == HEARD)
        use_all();
}

static void listen(void)
{
    int level, type;
    MPI_T_event_registration made;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    OK(MPI_T_event_get_index("message_arrived", &type));
    OK(MPI_T_event_handle_alloc(type, NULL, MPI_INFO_NULL, &made));
    OK(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_message));
}

/* The even one of a pair ends while its message is under way; the odd one lets it hear of one of
 * its own before it takes that. */
static void send_and_leave(MPI_Comm comm, int with_buffer)
{
    MPI_Request request;
    int rank = check_rank(comm);
    if (rank % 2 == 0) {
        if (with_buffer) {
            attached = malloc(2 * LARGE);
            OK(MPI_Buffer_attach(attached, 2 * LARGE));
            OK(MPI_Bsend(large, LARGE, MPI_BYTE, rank + 1, LEAVE, comm));
        } else {
            OK(MPI_Isend(large, LARGE, MPI_BYTE, rank + 1, LEAVE, comm, &request));
            OK(MPI_Request_free(&request));
        }
        return;
    }
    usleep(SOON_US);
    use_all();
    OK(MPI_Send(NULL, 0, MPI_BYTE, rank - 1, HEARD, comm));
    usleep(SOON_US);
    OK(MPI_Recv(large, LARGE, MPI_BYTE, rank - 1, LEAVE, comm, MPI_STATUS_IGNORE));
}

static void world(void)
{
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    send_and_leave(MPI_COMM_WORLD, 0);
    OK(MPI_Finalize());
}

static void session(int with_buffer)
{
    MPI_Session last;
    MPI_Comm comm;
    begin(&last, "mpi://WORLD", &comm);
    OK(MPI_Barrier(comm));
    send_and_leave(comm, with_buffer);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&last));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "attributes";
    large = calloc(1, LARGE);
    if (!strcmp(what, "attributes")) {
        attributes();
        free(large);
        return 0;
    }
    listen();
    if (!strcmp(what, "world"))
        world();
    else
        session(!strcmp(what, "buffer"));
    end_what_is_left();
    OK(MPI_T_finalize());
    free(attached);
    free(large);
    return 0;
}
