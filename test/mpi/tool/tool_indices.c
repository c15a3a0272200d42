/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_T: every index below a number is good, the next is not; control variables can be read; it
 * may begin before MPI and end after it. */
#include <string.h>

#include "check.h"

enum {
    TEXT = 512
};

static char name[TEXT], text[TEXT];

static void cvars(void)
{
    int count, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum names;
    OK(MPI_T_cvar_get_num(&count));
    CHECK(count > 0);
    for (int i = 0; i <= count; i++) {
        int name_len = TEXT, text_len = TEXT, at;
        int rc = MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &names, text, &text_len,
                                     &bind, &scope);
        CHECK(rc == (i < count ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX));
        if (rc)
            continue;
        OK(MPI_T_cvar_get_index(name, &at));
        CHECK(at == i && name[0] && text[0]);
    }
}

static void pvars(void)
{
    int count, verbosity, class, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum names;
    OK(MPI_T_pvar_get_num(&count));
    CHECK(count > 0);
    for (int i = 0; i <= count; i++) {
        int name_len = TEXT, text_len = TEXT, at;
        int rc = MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &names, text,
                                     &text_len, &bind, &readonly, &continuous, &atomic);
        CHECK(rc == (i < count ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX));
        if (rc)
            continue;
        OK(MPI_T_pvar_get_index(name, class, &at));
        CHECK(at == i);
    }
}

int main(int argc, char **argv)
{
    int level, count;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    cvars();
    OK(MPI_Init(&argc, &argv));
    cvars();
    pvars();
    OK(MPI_T_category_get_num(&count));
    CHECK(count > 0);
    OK(MPI_T_event_get_num(&count));
    OK(MPI_Finalize());
    cvars();
    OK(MPI_T_finalize());
    CHECK(MPI_T_cvar_get_num(&count) == MPI_T_ERR_NOT_INITIALIZED);
    return 0;
}
