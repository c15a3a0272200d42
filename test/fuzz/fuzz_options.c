/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Command lines of mpiexec: any words. Each is taken, with everything in its bounds, or
 * refused in one line of text; some are made of the table's own words, so that they come far.
 *
 * usage: fuzz_options FILE...
 */
#include <errno.h>
#include <limits.h>

#include "bnr/options/option_table.h"
#include "bnr/options/options.h"
#include "test/fuzz/main.h"

enum {
    WORDS = 64,
    TEXT = 4096
};

/* A sentence that can go to a terminal. */
static void check_sentence(const char *why, size_t size)
{
    require(memchr(why, 0, size) != NULL, "a sentence without an end");
    require(why[0] != 0, "refused without a word");
    for (const char *c = why; *c; c++)
        require((unsigned char)*c >= ' ' && *c != 127, "a control character in a sentence");
}

static void check_files(const struct options *o)
{
    char name[PATH_MAX];
    for (int i = 0; i < 2; i++) {
        if (!o->plan.files.pattern[i])
            continue;
        int rc = outfile_name(&o->plan.files, o->plan.files.pattern[i], o->plan.nranks - 1, name, sizeof(name));
        require(rc == 0 || rc == -ENAMETOOLONG, "a pattern is taken that is none");
    }
}

static void check_options(const struct options *o)
{
    static char path[] = "PATH=/bin", odd[] = "ODD", own[] = "BNR_RANK=0";
    char *base[] = {path, odd, NULL}, *extra[] = {own, NULL};
    bool starts_none = o->help || o->version || o->attaches;
    int sum = 0;
    for (int i = 0; i < o->plan.napps; i++) {
        bool is_whole = o->plan.apps[i].count > 0 && o->plan.apps[i].argv[0];
        require(is_whole || starts_none, "a program without a name or a rank");
        sum += o->plan.apps[i].count;
        char **env = plan_environ(&o->plan, &o->plan.apps[i], base, extra);
        int found = 0;
        require(env != NULL, "no memory");
        for (char **e = env; *e; e++)
            found += !strncmp(*e, "BNR_RANK=", 9) && !strcmp(*e, "BNR_RANK=0");
        require(found == 1, "the launcher's own variable is lost");
        free(env);
    }
    require((sum == o->plan.nranks && sum <= 1 << 20) || starts_none, "ranks do not add up");
    require(starts_none || sum, "taken without a program");
    require(o->plan.timeout_s >= 0 || starts_none, "a time limit below zero");
    require(!sum || !o->plan.start.stdin_to || atoi(o->plan.start.stdin_to) < sum, "no such reader");
    require(!sum || !o->plan.universe_size || o->plan.universe_size >= sum, "a universe too small");
    if (sum)
        check_files(o);
}

static void parse(int argc, char **argv)
{
    struct options o;
    char why[256];
    for (size_t size = 1; size <= sizeof(why); size *= 16) {
        memset(why, 1, sizeof(why));
        why[0] = 0;
        int rc = options_parse(&o, argc, argv, why, size);
        require(rc == 0 || rc == -EINVAL, "another answer");
        if (rc && size > 1)
            check_sentence(why, size);
        if (!rc)
            check_options(&o);
        require(!rc || (!o.plan.apps && !o.plan.settings && !o.plan.files.pattern[0]),
                "a refusal leaves something");
        options_free(&o);
    }
}

/* Replace words by such as the table has, by the bytes that follow them. */
static void use_table(int argc, char **argv, char names[][256])
{
    for (int i = 1; i < argc; i++) {
        unsigned first = (unsigned char)argv[i][0];
        if (first < 0x80)
            continue;
        const char *at = option_table[first % (unsigned)option_table_count].names;
        snprintf(names[i], 256, "-%.*s%.200s", (int)strcspn(at, " "), at, argv[i] + 1);
        argv[i] = names[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static char text[TEXT + 1], names[WORDS][256];
    static char program[] = "mpiexec";
    char *argv[WORDS + 1] = {program};
    int argc = 1;
    size_t n = len < TEXT ? len : TEXT;
    memcpy(text, bytes, n);
    text[n] = 0;
    for (size_t at = 0; at < n && argc < WORDS; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    argv[argc] = NULL;
    parse(argc, argv);
    use_table(argc, argv, names);
    parse(argc, argv);
    return 0;
}
