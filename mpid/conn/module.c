/* SPDX-License-Identifier: BSD-3-Clause */

/* Channels in shared objects; see module.h. */
#include "mpid/conn/module.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/mpid.h"
#include "os/clock.h"

enum {
    PATH_LEN = 4096,
    TRIAL_MS = 20000, /* until a channel that does not come back from open() is given up */
    WHY_LEN = 256
};

bool module_is_forbidden(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* ---- one file ---- */

static bool is_good_name(const char *name)
{
    size_t len = name ? strnlen(name, 32) : 0;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return len && len < 32 && strspn(name, plain) == len;
}

/* The name of the first function that every channel has and this one lacks, or NULL. */
static const char *missing_function(const struct chan_ops *ops)
{
    return !ops->open       ? "open"
           : !ops->close    ? "close"
           : !ops->card     ? "card"
           : !ops->match    ? "match"
           : !ops->link     ? "link"
           : !ops->unlink   ? "unlink"
           : !ops->progress ? "progress"
           : !ops->arm      ? "arm"
           : !ops->disarm   ? "disarm"
                            : NULL;
}

const char *module_misfit(const struct chan_ops *ops)
{
    static char text[96];
    if (ops->version != CHAN_VERSION)
        snprintf(text, sizeof(text), "it is made for version %u of the channel contract, not %d",
                 ops->version, CHAN_VERSION);
    else if (ops->size < sizeof(*ops))
        snprintf(text, sizeof(text), "its table has %u bytes, not %zu", ops->size, sizeof(*ops));
    else if (!is_good_name(ops->name))
        return "its name is not of letters, digits and '_', 31 at most";
    else if (!strcmp(ops->name, "ld") || !strcmp(ops->name, "inc") || !strcmp(ops->name, "equal") ||
             !strcmp(ops->name, "impi"))
        return "no channel may be called 'ld', 'inc' or 'equal', which cards use, or 'impi', which is reserved";
    else if (missing_function(ops))
        snprintf(text, sizeof(text), "its table has no %s(), which every channel has",
                 missing_function(ops));
    else
        return NULL;
    return text;
}

const char *module_lie(const struct chan_ops *ops, const char *card)
{
    size_t len = strnlen(card, CHAN_CARD_MAX);
    if (len == CHAN_CARD_MAX)
        return "its card has no end";
    for (size_t i = 0; i < len; i++)
        if (card[i] <= ' ' || card[i] >= 127 || strchr(";()", card[i]))
            return "its card holds what would break the cards of others";
    if (ops->match(card, card).why == NULL)
        return "it judges a card without a reason";
    return NULL;
}

int module_load(const char *file, const struct chan_ops **ops, char *why, size_t size)
{
    struct stat st;
    if (!stat(file, &st) && !S_ISREG(st.st_mode)) { /* reading a FIFO would wait for its writer */
        snprintf(why, size, "it cannot be loaded: %s",
                 S_ISDIR(st.st_mode) ? "nothing in this folder ends in .so" : "it is no regular file");
        return -EINVAL;
    }
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(why, size, "it cannot be loaded: %s", text ? text : "no reason is given");
        return -EINVAL;
    }
    const struct chan_ops *found = dlsym(handle, CHAN_ENTRY);
    const char *misfit = found ? module_misfit(found) : "it does not export " CHAN_ENTRY;
    if (misfit) {
        snprintf(why, size, "%s", misfit);
        dlclose(handle);
        return -EINVAL;
    }
    *ops = found;
    return 0;
}

/* ---- a trial ---- */

/* In the copy: the fault, or nothing. */
static void try_here(const char *file, const struct chan_env *env, char why[WHY_LEN])
{
    const struct chan_ops *ops;
    struct chan *chan = NULL;
    char card[CHAN_CARD_MAX];
    memset(card, 0, sizeof(card));
    if (module_load(file, &ops, why, WHY_LEN))
        return;
    snprintf(why, WHY_LEN, "it cannot run here");
    if (ops->open(&chan, env, why, WHY_LEN))
        return;
    const char *lie = ops->card(chan, card) ? "its card could not be written"
                                            : module_lie(ops, card);
    snprintf(why, WHY_LEN, "%s", lie ? lie : "");
    ops->close(chan);
}

static _Noreturn void run_trial(int to, const char *file, const struct chan_env *env)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    char why[WHY_LEN] = "";
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        signal(fatal[i], SIG_DFL);
    try_here(file, env, why);
    ssize_t rc = write(to, why, sizeof(why));
    _exit(rc == (ssize_t)sizeof(why) ? 0 : 1);
}

/* Read the verdict of the copy, or find out how it has ended. */
static void hear(int from, pid_t copy, char why[WHY_LEN])
{
    struct pollfd news = {.fd = from, .events = POLLIN};
    uint64_t end_ns = os_now_ns() + TRIAL_MS * 1000000ull;
    int status = 0, rc;
    do {
        uint64_t now = os_now_ns();
        rc = now < end_ns ? poll(&news, 1, (int)((end_ns - now) / 1000000u) + 1) : 0;
    } while (rc < 0 && errno == EINTR);
    ssize_t got = rc > 0 ? read(from, why, WHY_LEN) : -1;
    if (rc <= 0)
        kill(copy, SIGKILL);
    while (waitpid(copy, &status, 0) < 0 && errno == EINTR)
        ;
    if (got == WHY_LEN)
        why[WHY_LEN - 1] = 0;
    else if (rc <= 0)
        snprintf(why, WHY_LEN, "it does not come back from being opened");
    else if (WIFSIGNALED(status))
        snprintf(why, WHY_LEN, "it crashes while it is opened: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(why, WHY_LEN, "it ends the process while it is opened");
}

int module_try(const char *file, const struct chan_env *env, char *why, size_t size)
{
    char text[WHY_LEN] = "";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        snprintf(why, size, "it cannot be tried: %s", strerror(errno));
        return -EINVAL;
    }
    pid_t copy = fork();
    if (!copy)
        run_trial(ends[1], file, env);
    close(ends[1]);
    if (copy < 0)
        snprintf(text, sizeof(text), "it cannot be tried: %s", strerror(errno));
    else
        hear(ends[0], copy, text);
    close(ends[0]);
    snprintf(why, size, "%s", text);
    return text[0] ? -EINVAL : 0;
}

/* ---- folders ---- */

static int is_object(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > 3 && !strcmp(entry->d_name + len - 3, ".so");
}

static void each_of_folder(const char *folder, void (*visit)(const char *file, void *arg), void *arg)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_object, alphasort);
    for (int i = 0; i < count; i++) {
        char file[PATH_LEN];
        if (snprintf(file, sizeof(file), "%s/%s", folder, entries[i]->d_name) < PATH_LEN)
            visit(file, arg);
        free(entries[i]);
    }
    if (count <= 0)
        visit(folder, arg);
    if (count >= 0)
        free(entries);
}

void module_each(const char *path, void (*visit)(const char *file, void *arg), void *arg)
{
    for (; *path; path += strcspn(path, ":"), path += *path == ':') {
        char item[PATH_LEN];
        struct stat st;
        int len = (int)strcspn(path, ":");
        const char *here = memchr(path, '/', (size_t)len) ? "" : "./"; /* else it is sought elsewhere */
        if (!len || snprintf(item, sizeof(item), "%s%.*s", here, len, path) >= PATH_LEN)
            continue;
        if (!stat(item, &st) && S_ISDIR(st.st_mode))
            each_of_folder(item, visit, arg);
        else
            visit(item, arg);
    }
}

/* Whether this object is the one that this code lies in; its path goes to *path then. dladdr() would
 * tell, too, but it reads the object's symbols, which takes as long as the rest of opening. */
static int is_own(struct dl_phdr_info *object, size_t size, void *path)
{
    static const char here;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr, at = (uintptr_t)&here;
        if (part->p_type != PT_LOAD || at < start || at - start >= part->p_memsz)
            continue;
        *(const char **)path = object->dlpi_name;
        return 1;
    }
    return 0;
}

void mpid_own_file(const char *name, char *file, size_t size)
{
    const char *path = "";
    (void)dl_iterate_phdr(is_own, &path);
    const char *end = strrchr(path, '/');
    snprintf(file, size, "%.*s%s", end ? (int)(end + 1 - path) : 0, path, name);
}

void module_own_file(const char *name, char *file, size_t size)
{
    char own[64];
    snprintf(own, sizeof(own), "libvireo-channel-%s.so", name);
    mpid_own_file(own, file, size);
}

/* Whether the folder that the pattern begins with is there. It rarely is, and glob() takes longer. */
static bool has_folder(const char *pattern)
{
    char folder[PATH_LEN];
    int len = (int)strcspn(pattern, "*?[");
    while (len && pattern[len - 1] != '/')
        len--;
    return !len || snprintf(folder, sizeof(folder), "%.*s", len, pattern) >= PATH_LEN ||
           !access(folder, F_OK);
}

bool module_is_wanted(const char *const *patterns)
{
    for (; *patterns; patterns++) {
        glob_t found;
        int rc = has_folder(*patterns) ? glob(*patterns, GLOB_NOSORT, NULL, &found) : GLOB_NOMATCH;
        if (!rc)
            globfree(&found);
        if (!rc)
            return true;
    }
    return false;
}
