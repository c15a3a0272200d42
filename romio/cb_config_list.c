/* SPDX-License-Identifier: BSD-3-Clause */

/* ROMIO's parser of the hint cb_config_list keeps its state in two variables of the file. Here each
 * thread has its own. */
static char **token_value(void);
static char **token_place(void);
#define yylval (*token_value())
#define token_ptr (*token_place())
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <adio/common/cb_config_list.c>
#undef yylval
#undef token_ptr

static char **token_value(void)
{
    static _Thread_local char *value;
    return &value;
}

static char **token_place(void)
{
    static _Thread_local char *place;
    return &place;
}
