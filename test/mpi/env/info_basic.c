/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects, also before MPI_Init and after MPI_Finalize. */
#include <string.h>

#include "check.h"

static void check_value(MPI_Info info, const char *key, const char *expect)
{
    char value[MPI_MAX_INFO_VAL] = "untouched";
    int len = sizeof(value), flag = -1;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag == (expect != NULL));
    if (expect)
        CHECK(!strcmp(value, expect) && len == (int)strlen(expect) + 1);
    else
        CHECK(!strcmp(value, "untouched") && len == sizeof(value));
}

static void use(void)
{
    char key[MPI_MAX_INFO_KEY], small[4];
    int n = -1, len, flag;
    MPI_Info info, dup;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n == 0);
    OK(MPI_Info_set(info, "one", "1"));
    OK(MPI_Info_set(info, "two", "second"));
    OK(MPI_Info_set(info, " a key ", ""));
    OK(MPI_Info_set(info, "one", "first"));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n == 3);
    OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK(!strcmp(key, "one"));
    OK(MPI_Info_get_nthkey(info, 2, key));
    CHECK(!strcmp(key, " a key "));
    check_value(info, "one", "first");
    check_value(info, " a key ", "");
    check_value(info, "three", NULL);
    OK(MPI_Info_dup(info, &dup));
    OK(MPI_Info_delete(info, "one"));
    check_value(info, "one", NULL);
    check_value(dup, "one", "first");
    OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK(!strcmp(key, "two"));
    /* Cut values, and lengths alone. */
    len = sizeof(small);
    OK(MPI_Info_get_string(info, "two", &len, small, &flag));
    CHECK(flag && len == 7 && !strcmp(small, "sec"));
    len = 0;
    OK(MPI_Info_get_string(info, "two", &len, NULL, &flag));
    CHECK(flag && len == 7);
    OK(MPI_Info_get(info, "two", 3, small, &flag));
    CHECK(flag && !strcmp(small, "sec"));
    OK(MPI_Info_get_valuelen(info, "two", &len, &flag));
    CHECK(flag && len == 6);
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    OK(MPI_Info_free(&dup));
}

static void many(void)
{
    char key[32], value[32];
    int n;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        snprintf(value, sizeof(value), "value %d", i * i);
        OK(MPI_Info_set(info, key, value));
    }
    for (int i = 0; i < 500; i += 2) {
        snprintf(key, sizeof(key), "key %d", i);
        OK(MPI_Info_delete(info, key));
    }
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n == 250);
    check_value(info, "key 77", "value 5929");
    check_value(info, "key 78", NULL);
    OK(MPI_Info_free(&info));
}

static void wrong(void)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info, null = MPI_INFO_NULL, env = MPI_INFO_ENV;
    int n;
    memset(key, 'k', sizeof(key));
    memset(value, 'v', sizeof(value));
    key[MPI_MAX_INFO_KEY] = value[MPI_MAX_INFO_VAL] = 0;
    OK(MPI_Info_create(&info));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, key, "x"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "x", value));
    OK(MPI_Info_set(info, key + 1, value + 1)); /* the longest that are allowed */
    check_value(info, key + 1, value + 1);
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "x"));
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "x"));
    FAILS(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 1, key));
    FAILS(MPI_ERR_INFO, MPI_Info_get_nkeys(MPI_INFO_NULL, &n));
    FAILS(MPI_ERR_INFO, MPI_Info_free(&null));
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_ENV, "x", "y"));
    FAILS(MPI_ERR_INFO, MPI_Info_free(&env));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    use();
    OK(MPI_Init(&argc, &argv));
    use();
    many();
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    wrong();
    OK(MPI_Finalize());
    use();
    return 0;
}
