/* SPDX-License-Identifier: BSD-3-Clause */

/* A spawn by PMI-1; see pmi_spawn.h. */
#include "bnr/core/pmi/pmi_spawn.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of an info that are options of mpiexec; of_job: in front of all programs. */
static const struct {
    const char *key, *option;
    bool of_job;
} options[] = {
    {"wdir", "-wdir", false}, {"wd", "-wdir", false},      {"path", "-path", false},
    {"host", "-host", true},  {"hosts", "-host", true},    {"hostfile", "-hostfile", true},
};

static void refuse(struct pmi_spawn *s, const char *why)
{
    if (!s->why)
        s->why = why;
}

/* Append a word with its NUL. */
static void add_word(struct pmi_spawn *s, struct packing *to, const char *word)
{
    size_t len = strlen(word) + 1;
    s->len += len;
    if (s->len > PMI_SPAWN_MAX)
        refuse(s, "its_words_are_too_long");
    if (s->why)
        return;
    pack_raw(to, word, len);
    if (to->failed)
        refuse(s, "out_of_memory");
}

static void add_text(struct pmi_spawn *s, const char *text)
{
    s->len += strlen(text);
    if (s->len > PMI_SPAWN_MAX)
        refuse(s, "its_words_are_too_long");
    if (!s->why)
        pack_raw(&s->note, text, strlen(text));
}

/* ---- lines ---- */

/* The value of a line "NAME=VALUE", or "NAMEn=VALUE" where it is numbered; NULL: it is another one. */
static const char *value_of(const char *line, const char *name, bool is_numbered)
{
    size_t len = strlen(name);
    if (strncmp(line, name, len) != 0)
        return NULL;
    const char *at = line + len;
    if (is_numbered && !isdigit((unsigned char)*at))
        return NULL;
    while (is_numbered && isdigit((unsigned char)*at))
        at++;
    return *at == '=' ? at + 1 : NULL;
}

static void keep_key(struct pmi_spawn *s, char to[PMI_SPAWN_KEY], const char *key)
{
    if (strlen(key) >= PMI_SPAWN_KEY || strchr(key, '='))
        refuse(s, "a_key_is_not_good");
    else
        strcpy(to, key);
}

static void take_info(struct pmi_spawn *s, const char *value)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (strcmp(s->info_key, options[i].key) != 0)
            continue;
        struct packing *to = options[i].of_job ? &s->job : &s->options;
        add_word(s, to, options[i].option);
        add_word(s, to, value);
        s->has_folder |= !strcmp(options[i].option, "-wdir");
    }
    s->info_key[0] = 0;
}

/* A value that the children find from their begin on: the first program tells them all. */
static void take_put(struct pmi_spawn *s, const char *value)
{
    if (!s->told && s->put_key[0]) {
        add_text(s, s->put_key);
        add_text(s, "=");
        add_text(s, value);
        add_text(s, "\n");
    }
    s->put_key[0] = 0;
}

static void take_argument(struct pmi_spawn *s, const char *word)
{
    if (!strcmp(word, ":"))
        refuse(s, "an_argument_':'_cannot_be_passed_on");
    add_word(s, &s->arguments, word);
}

static void take_program(struct pmi_spawn *s, const char *name)
{
    free(s->program);
    s->program = NULL;
    if (!*name || *name == '-' || strlen(name) > PMI_SPAWN_MAX)
        refuse(s, "it_names_no_program");
    else if (!(s->program = strdup(name)))
        refuse(s, "out_of_memory");
}

void pmi_spawn_line(struct pmi_spawn *s, const char *line)
{
    const char *value;
    if ((value = value_of(line, "nprocs", false)))
        s->processes = atoi(value);
    else if ((value = value_of(line, "totspawns", false)))
        s->all = atoi(value);
    else if ((value = value_of(line, "execname", false)))
        take_program(s, value);
    else if ((value = value_of(line, "arg", true)))
        take_argument(s, value);
    else if ((value = value_of(line, "preput_key_", true)))
        keep_key(s, s->put_key, value);
    else if ((value = value_of(line, "preput_val_", true)))
        take_put(s, value);
    else if ((value = value_of(line, "info_key_", true)))
        keep_key(s, s->info_key, value);
    else if ((value = value_of(line, "info_val_", true)))
        take_info(s, value);
}

/* ---- the whole ---- */

static void drop(struct packing *p)
{
    bytes_unref(p->bytes);
    *p = (struct packing){0};
}

void pmi_spawn_begin(struct pmi_spawn *s)
{
    drop(&s->options);
    drop(&s->arguments);
    free(s->program);
    s->program = NULL;
    s->processes = 0;
    s->has_folder = false;
    if (!s->told)
        add_text(s, PMI_NOTE);
}

static void append(struct packing *to, const struct packing *from)
{
    if (from->bytes)
        pack_raw(to, from->bytes->at, from->bytes->len);
}

bool pmi_spawn_end(struct pmi_spawn *s, const char *folder)
{
    char number[16];
    if (s->processes < 1 || !s->program)
        refuse(s, "it_names_no_program");
    snprintf(number, sizeof(number), "%d", s->processes);
    if (s->told)
        add_word(s, &s->programs, ":");
    add_word(s, &s->programs, "-n");
    add_word(s, &s->programs, number);
    append(&s->programs, &s->options);
    if (!s->has_folder && *folder) {
        add_word(s, &s->programs, "-wdir");
        add_word(s, &s->programs, folder);
    }
    if (s->program)
        add_word(s, &s->programs, s->program);
    append(&s->programs, &s->arguments);
    return ++s->told >= s->all;
}

struct bytes *pmi_spawn_words(struct pmi_spawn *s)
{
    struct packing all = {0};
    add_word(s, &s->job, "-bind-to"); /* their processors may be those of running processes */
    add_word(s, &s->job, "none");
    if (s->why)
        return NULL;
    append(&all, &s->note);
    pack_raw(&all, "", 1);
    append(&all, &s->job);
    append(&all, &s->programs);
    bool has_failed = s->note.failed || s->job.failed || s->programs.failed || s->options.failed || s->arguments.failed;
    struct bytes *words = pack_end(&all);
    if (has_failed || !words) {
        bytes_unref(words);
        refuse(s, "out_of_memory");
        return NULL;
    }
    return words;
}

void pmi_spawn_reset(struct pmi_spawn *s)
{
    drop(&s->note);
    drop(&s->job);
    drop(&s->programs);
    drop(&s->options);
    drop(&s->arguments);
    free(s->program);
    *s = (struct pmi_spawn){0};
}
